"""The language that a text is written in, by its script and by the words that its language needs.

Scripts that one language mostly has to itself tell it alone. The others are told by their commonest
words: articles, pronouns, conjunctions, the forms of 'be'. A word that several languages use counts
less for each of them.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from functools import cache
from typing import Final

from dehusk.page.patterns import pattern

_READ: Final = ((400, 3.0), (2000, 1.2))
"""Characters of a text that are looked at, and how much more their words must speak for a language
than for the next: the more where the fewer are sure."""
_MIN_LETTERS: Final = 60
"""Letters of a text that is too short to tell."""
_MIN_SHARE: Final = 0.05
"""The share of a language's words in a text below which the text is in none of the languages: lists
of names, tables and code are not. Chosen on the development corpora, as the lead is: with 0.08 and
1.5, 0.02 of the pages lose their answer, and 0.001 a wrong one."""
_DENSE: Final = frozenset(("Han", "ko"))
_LETTERS_IN_DENSE: Final = 3
"""Letters of other scripts that say as much as one of these."""
_MIN_WORDS: Final = 3
"""Different words that a language must have in the text."""
_MIN_KANA: Final = 0.05
"""The share of kana in Han and kana from which a text is Japanese."""
_WORD: Final = pattern(r"(?:[^\W\d_]|[\u0900-\u0903\u093a-\u094f])+")
"""Letters, and the vowels that Devanagari sets on them."""
_KANA: Final = pattern(r"[\u3041-\u30ff]")

_SCRIPTS: Final = (
    (0x0000, "Latin"), (0x0370, "el"), (0x0400, "Cyrillic"), (0x0530, "hy"), (0x0590, "he"),
    (0x0600, "Arabic"), (0x0700, ""), (0x0900, "Devanagari"), (0x0980, "bn"), (0x0A00, "pa"),
    (0x0A80, "gu"), (0x0B00, "or"), (0x0B80, "ta"), (0x0C00, "te"), (0x0C80, "kn"), (0x0D00, "ml"),
    (0x0D80, "si"), (0x0E00, "th"), (0x0E80, "lo"), (0x0F00, ""), (0x1000, "my"), (0x10A0, "ka"),
    (0x1100, "ko"), (0x1200, "am"), (0x1380, ""), (0x1780, "km"), (0x1800, ""), (0x1E00, "Latin"),
    (0x1F00, "el"), (0x2000, ""), (0x3040, "Han"), (0x3130, "ko"), (0x3190, ""), (0x3400, "Han"),
    (0xA000, ""), (0xAC00, "ko"), (0xD7B0, ""), (0xF900, "Han"), (0xFB00, ""), (0x20000, "Han"),
)  # fmt: skip
"""The first letter of each block, and its script, or the language that has it to itself."""
_STARTS: Final = [start for start, _ in _SCRIPTS]
_WORDS: Final = """
en the of and to in is that for with you are was this have from they not his her been which would
    on at be by or as it can if we will all your
de der die und das den von mit ist des sich auf nicht im am zum vom ein eine dem auch wird werden
    sind für wir ich du hier noch nur bei nach oder aber als wie dieser
fr le la les au aux il elle leur plus tout des et du une est pour dans que qui pas sur par avec ce
    sont nous vous été cette ou ne se en comme votre ont même
es el la los de que las del una por con para como más pero sus este ha fue son está también muy se
    su lo al si un ser en nos le
pt os que do da em um uma para com não mais dos das no na por se foi são você também ao pela
it il di che lo si nella ed dal sono come anche tutti sul la per una del della con non gli le dei
    nel alla più questo ha degli
nl de het een van en dat niet zijn voor met ook maar bij worden wordt deze naar heeft uit je werd
    dit aan te door of ze ik zo
sv och att det som på är av för den inte med till har ett jag om vi från kan eller så hade var
da og at det er på som af til med ikke den for har jeg et fra der blev eller også efter kan hvad
    være noget sig nu
no og å det er på som av til med ikke den for har jeg et fra ble eller også etter kan være hva noe
    seg nå
fi ja on ei että se oli joka mutta kun myös hän ovat niin sen tai mitä voi ole kuin mukaan jos
is og að er í á sem til við en það um var ekki með af fyrir hann þessi eru ég hefur
pl nie na się do to że jest jak ale po co za od przez tak są dla jego oraz może był tym jako ich
    ten było
cs se na je že do to jako za by ve které jsou pro také být není podle který si když až
sk sa na je že do to aj ako za by vo ktoré sú pre tiež byť nie podľa ktorý si keď až
hu az és hogy nem is egy ez meg csak volt még már vagy mint lehet azt ezt lesz pedig után
ro și în de la cu care pe nu din este pentru mai sunt că fi au un ce sau prin după acest
hr je na se će ima sve kako nas vas smo su godine koja koje kod ne da za od kao koji što ili biti
    nije te iz samo može bio ako prema tijekom
sr je na se da za su od kao koji što ili biti nije iz samo šta pre posle gde sa će vreme
sl in je na se da za so od kot ki pa tudi ali ne bi bil pri po iz še ter zaradi lahko
lt ir kad yra su į tai iš bet ne kaip buvo per apie po ar nuo jo jau dar tik taip pat
lv un ir ar no uz par kas ka tas bet arī ne lai gan vai pēc kā to tika savu pie
et ja on ei et see oli kui ka mis ta ning või oma aga siis nii selle olid kes mida pole veel
tr ve bir bu için da de ile olarak çok daha olan gibi sonra kadar ne var değil ancak ise oldu her
id yang dan di dengan untuk dari ini pada tidak itu dalam akan juga adalah ke oleh bisa karena
    saya
ms yang dan di dengan untuk dari ini pada tidak itu dalam akan juga adalah ke oleh boleh kerana
    ialah
vi và của là có không được cho một trong các người những với đã này khi đến để từ ở ra như
ca el la els de que les del una per amb és com més però són aquest ha va també al dels seva
cy yn ar yr mae wedi gan am bod ei eu hyn ond fel oedd sydd nid rhai roedd
af die van en het in is dat nie vir met op te wat hy was as ek om sy ook aan deur hulle kan
sw na ya wa kwa ni katika za la kuwa hii cha kama yake watu hiyo pia kwamba baada lakini
tl ang ng sa na mga at ay ito ni si para hindi kung niya siya nang may ko ako mo rin
ru и в не на что с по как это он из к за от для но его так же у был или бы все о я мы было
uk і в не на що з та як це він із до за від для але його так у був або є про ще має й її які
be і ў не на што з як гэта ён да за ад для але яго так у быў або ёсць пра яшчэ яна якія
bg и в не на че с по как това той от за но като се да е са или към ще със при има му
sr и у је на се да за су од као који што или није из само шта пре после где са ће
mk и во не на дека со по како тоа тој од за но се да е или што ќе при има му биде
ar في من على إلى أن عن التي هذا مع الذي هذه كان ما لا بعد ذلك بين كما قد وقال كل
fa در از به که این را با است برای آن یک می تا بر شده بود خود ها شد کرد نیز او
ur کے میں کی ہے اور سے کا کو نے کہ پر ہیں اس بھی یہ کر ہو نہیں تھا ان جو
hi के में की है और से को का ने कि पर हैं इस भी यह कर हो नहीं था एक तो
mr आणि आहे या हे ते तो च्या होते मध्ये करून आहेत नाही असे त्या एक झाले केला
ne छ र को मा ले पनि हो छन् गरेको भएको यो गर्न लागि तथा एक भने
"""
"""A line for each language, with what is indented below it: its tag and its commonest words."""


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages that need a word, by the word."""
    found: dict[str, dict[str, None]] = {}
    for line in _WORDS.replace("\n    ", " ").strip().split("\n"):
        lang, *words = line.split()
        for word in words:
            found.setdefault(word, {})[lang] = None
    return {word: tuple(langs) for word, langs in found.items()}


def language_of(text: str) -> str | None:
    """The language of a text, such as `en`; None for a short text, or where it is not sure."""
    found = (_language_of(text[:size].lower(), lead) for size, lead in _READ)
    return next(filter(None, found), None)


def _language_of(start: str, min_lead: float) -> str | None:
    """The language of the beginning of a text, in small letters."""
    words = Counter(_WORD.findall(start))
    letters = {"Latin": len(start)}
    if not start.isascii():
        letters = _letters(words)
    script = max(letters, key=letters.__getitem__, default="")
    most = letters.get(script, 0)
    if most < max(_MIN_LETTERS, sum(letters.values()) / 2):
        return None
    if script == "Han":
        kana = _LETTERS_IN_DENSE * len(_KANA.findall(start))
        return "ja" if kana >= _MIN_KANA * most else "zh"
    return script if len(script) == len("en") else _by_words(words, min_lead)


def _letters(words: Counter[str]) -> dict[str, int]:
    """How many letters the words have in each script."""
    letters: dict[str, int] = {}
    for word, times in words.items():
        script = "Latin" if word < "\x80" else _SCRIPTS[bisect(_STARTS, ord(word[0])) - 1][1]
        letters[script] = letters.get(script, 0) + len(word) * times
    for script in _DENSE & letters.keys():
        letters[script] *= _LETTERS_IN_DENSE
    return letters


def _by_words(words: Counter[str], min_lead: float) -> str | None:
    """The language whose commonest words are the most of these; None where two are as likely."""
    known = _languages()
    worth = {"": 0.0}
    own: dict[str, list[int]] = {"": []}
    for word in filter(known.__contains__, words):
        langs, times = known[word], words[word]
        share = times / len(langs) ** 2
        for lang in langs:
            worth[lang] = worth.get(lang, 0.0) + share
            own.setdefault(lang, []).append(times)
    best = max(worth, key=worth.__getitem__)
    lead = worth.pop(best)
    is_sure = len(own[best]) >= _MIN_WORDS and sum(own[best]) >= _MIN_SHARE * words.total()
    return best if is_sure and lead >= min_lead * max(worth.values(), default=0.0) else None
