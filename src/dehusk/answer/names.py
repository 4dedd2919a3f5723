"""Names of people as pages write them: in bylines, in metas, in JSON-LD."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import Final

from dehusk.page.patterns import pattern

MAX_NAME: Final = 200
"""Characters beyond which something is no name."""
_MAX_PEOPLE: Final = 20
_MAX_WORDS: Final = 5
_BY: Final = pattern(
    r"^(?:(?:(?:this )?(?:article|post|story|artikel|beitrag|photos?|fotos?)\W+)?"
    r"(?:(?:posted|written|published|reported|reviewed|submitted|created|geschrieben|verfasst|"
    r"veröffentlicht|eingestellt|gepostet|erstellt|escrito|publicado|publié|écrit|scritto|"
    r"geschreven|napisane|ein (?:beitrag|artikel|gastbeitrag|text|kommentar|interview))\s+)?"
    r"(?:by|von|vom|par|por|di|da|door|przez|av|af|от|από|tarafından)\b|"
    r"(?:(?:about |about the |über den |über die )?(?:authors?|autors?|autor(?:en|in|es|i|ka)?|"
    r"auteurs?|autore|redacteur|redakteur(?:in)?|verfasser(?:in)?|writers?|written|words|texte?|"
    r"texto|testo|tekst|bericht|reporter|автор(?:ы)?|текст|συντάκτης|κείμενο|yazar|redaktion|"
    r"de|a cura di|interview)\b\s*[:|\-–—/]+)"
    r"|(?:作者|记者|記者|責任編輯|责任编辑|责编|編輯|编辑|著者|投稿者|執筆者?)[\s:：/|]\s*"
    r"|(?:文|글)\s*[:：/|])"
    r"[\s:|\-–—]*",
    re.IGNORECASE,
)
"""What stands before a name."""
_CUT: Final = pattern(
    r"\s*(?:\||·|•|–|—| - |@|//|\d|»|›|\b(?:on|am|vom|at|in|for|für|updated|published|shares?|"
    r"veröffentlicht|follow|via|clock)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
"""Where the names in a byline end."""
_INSIDE: Final = pattern(
    r"(?:作者|记者|記者|著者|投稿者)[\s:：]\s*([^\s:：,，。|()（）\d\"'=]{2,8})"
    r"|\d\W+(?:uhr\W+)?(?:(?:geschrieben|posted|written)\s)?(?:von|by|par|por|door)\s+(.{2,60})$",
    re.IGNORECASE,
)
"""Bylines behind a date, and in Chinese and Japanese, where all stands in one line."""
_AFTER: Final = pattern(
    r"(?:,?\s+(?:M\.?[ASD]|MBA|Ph\.?D\.?|RDN?|LD|JD|Esq|CEO|CTO|Mo|Di|Mi|Do|Fr|Sa|So|Mon|Tue|Wed|Thu"
    r"|Fri|Sat|Sun|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|January|February|August"
    r"|September|October|November|December|Stand|Publiziert|Redakteur(?:in)?|Redaktion|Corresponsal"
    r"|Senior|Staff|Columnist|Politics|Editor|Writer|Reporter|Correspondent|Contributor)\.?)+$"
)
"""Degrees, days, months and desks behind a name."""
_BRACKETS: Final = pattern(r"\s*[(\[（【]([^)\]）】]*)[)\]）】]\s*")
_MAX_CJK: Final = 4
_CJK_AFTER: Final = pattern(r"(?<=\w)\s*(?:著|監訳|訳|文|氏|さん|記者|记者|編集長|기자)$")
"""What a person has done, or how people are spoken of, behind a name."""
_BETWEEN: Final = pattern(
    r"\s*[,;/&、，；\n]\s*|\s+(?:and|und|et|y|og|och|en|и|και|oraz|ve)\s+(?=\S)", re.IGNORECASE
)
_PARTICLES: Final = frozenset(
    [
        "von",
        "van",
        "de",
        "der",
        "den",
        "del",
        "della",
        "di",
        "da",
        "do",
        "dos",
        "das",
        "du",
        "la",
        "le",
        "el",
        "al",
        "bin",
        "ben",
        "ibn",
        "abu",
        "zu",
        "zum",
        "zur",
        "af",
        "av",
        "y",
        "e",
        "i",
        "ten",
        "ter",
        "vom",
        "und",
        "st",
        "mac",
        "mc",
        "o",
        "d",
        "l",
    ]
)
_NO_NAMES: Final = """
admin administrator administrador redaktion redaktionsteam redaction redacción redakcja editor
editors editorial staff team unknown anonymous anonym author autor guest gast user webmaster
website online news home contact kontakt about more mehr share facebook twitter email print
comments kommentare comment reply agencies agenturen read lesen profile profil subscribe follow
login anmelden impressum all alle posts beiträge articles artikel view show blog archive the this
here hier published updated posted photo foto bild image source quelle copyright newsroom presse
press service gastautor gastbeitrag contributor contributors written text by von today heute
minutes minuten name says search submit write download save menu close open next previous help size
suche suchen buscar rechercher cerca weiter zurück nachrichten contactar publiziert dec sept ceo
january february march april june july august september october november
december
"""
"""Words that stand where names do, and are in none."""
_NO_NAME: Final = frozenset(_NO_NAMES.split())
_ROLES: Final = pattern(
    r"(?:editor|redakteur|redaktion|correspondent|korrespondent|reporter|writer|journalist|staff|"
    r"contributor|columnist|director|manager|author|autor|professor|mitarbeiter|chef|producer|"
    r"blogger|analyst|expert|fellow|president|officer|leiter|phd|ph\.d|ma|msc|rdn?|md|ms|ld|mba|"
    r"jd|bsc|dr\.? h\. ?c\.|freelance|special to|intern|guest|columnista|periodista|redactor|ceo|"
    r"cto|founder|gründer|sprecher|pressesprecher)s?\b",
    re.IGNORECASE,
)
_COMPANY: Final = pattern(
    r"\b(?:gmbh|e\.? ?v\.?|ag|inc|ltd|llc|corp|verlag|verein|stiftung|universität|university|"
    r"magazin|magazine|zeitung|news|media|medien|online|press|presse|redaktion|blog|team|agentur|"
    r"agency|agencies|institut|institute|verband|bund|ministerium|studio|group|radio|tv|times|"
    r"post|journal|network|foundation|portal|service|shop|store|club|report|sports?|daily|tribune|"
    r"herald|gazette|associated)\b|\.(?:com|de|org|net|at|ch|cn|cl|info|eu)\b|^www\.",
    re.IGNORECASE,
)
"""What is in the names of houses and sites."""


_FIRST_WORDS: Final = frozenset((*_PARTICLES, "by", "por", "par", "door", "przez", "by", "text"))


def one_line(text: str) -> str:
    """The text in one line; half surrogate pairs, which JSON can hold, become U+FFFD."""
    text = " ".join(text.split())
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def name_of(stated: object) -> str | None:
    """A name in one line; None for what is none, such as an address."""
    name = one_line(html.unescape(stated)) if isinstance(stated, str) else ""
    is_name = 0 < len(name) <= MAX_NAME and "://" not in name and any(map(str.isalpha, name))
    return name if is_name else None


@lru_cache(maxsize=512)
def is_company(name: str) -> bool:
    """True for what looks like the name of a house, a site or a desk."""
    return _COMPANY.search(name) is not None


def has_byline(text: str) -> bool:
    """True for a text that begins as bylines do."""
    return _BY.match(text.lstrip("(（[【")) is not None or _INSIDE.search(text) is not None


@lru_cache(maxsize=512)  # A site's authors come again, and each stands at several places of a page.
def people(text: str, *, is_marked: bool) -> tuple[str, ...]:
    """The names in a byline, in order; empty where it is none.

    What is marked as an author may be one word, of any case: many sign so.
    """
    text = text[: 2 * MAX_NAME]
    if _is_plain(text):
        return (text,)
    inside = _INSIDE.search(text)
    if inside and inside[1]:
        named = _names(text[inside.start() :], is_marked=False)
        return named if len(named) > 1 else (inside[1],)
    return _names(inside[2] if inside else text, is_marked=is_marked)


def _names(text: str, *, is_marked: bool) -> tuple[str, ...]:
    """The names in a text that begins with a byline."""
    whole = _BRACKETS.fullmatch(text)
    rest = whole[1] if whole else _BRACKETS.sub(" ", text)
    for _ in range(2):  # Some say who has written it twice.
        by = _BY.match(rest)
        rest = rest[by.end() :] if by else rest
    cut = _CUT.sub("", rest).strip(" ,;:.-–—|/*\"'“”„")
    found: list[str] = []
    for part in _parts(cut)[:_MAX_PEOPLE]:
        name = part.strip(" ,;:-–—|/*\"'“”„")
        shorter = _AFTER.sub("", name)
        name = shorter if is_person(shorter) else name
        if found and (not is_person(name) or _ROLES.search(name) or is_company(name)):
            continue
        if not is_person(name) and not (is_marked and _is_sign(name)):
            return ()
        found.append(name)
    return tuple(dict.fromkeys(found))


def _parts(text: str) -> list[str]:
    """What a byline has between commas and the like; of what it says twice, one half."""
    parts = _BETWEEN.split(text)
    words = text.split()
    half = len(words) // 2
    if len(words) > 1 and words[:half] == words[half:]:
        return _BETWEEN.split(" ".join(words[:half]))
    found = []
    for part in parts:
        name = _CJK_AFTER.sub("", part)
        # Names of Han have two to four signs; a space stands between names, or in one of four.
        is_row = _is_cjk(name) and len(name.replace(" ", "")) > _MAX_CJK
        found += name.split() if is_row else [name]
    return found


def _is_plain(text: str) -> bool:
    """Is this a name of two words, without any doubt? Most are."""
    first, _, last = text.partition(" ")
    return (
        first.isalpha() and last.isalpha() and first.istitle() and last.istitle()
        and first.lower() not in _FIRST_WORDS and last.lower() not in _NO_NAME
        and first.lower() not in _NO_NAME and _ROLES.search(text) is None
    )  # fmt: skip


@lru_cache(maxsize=512)
def is_person(name: str) -> bool:
    """True for two to five words that are written as names are; for CJK, two to four characters."""
    words = name.split()
    if _is_cjk(name):
        return 2 <= len("".join(words)) <= _MAX_CJK and len(words) <= 2
    if not 2 <= len(words) <= _MAX_WORDS or not words[-1][0].isupper():
        return False
    return all(map(_is_name_word, words)) and any(len(word) > 1 for word in words)


def _is_name_word(word: str) -> bool:
    """True for a word that may be in a name."""
    low = word.lower().strip(".,'’")
    if low in _PARTICLES:
        return True
    letters = word.replace("-", "").replace("'", "").replace("’", "").replace(".", "")
    is_word = letters.isalpha() and word[0].isupper() and low not in _NO_NAME
    return is_word and not low.endswith((".com", ".de"))


def _is_sign(name: str) -> bool:
    """True for what somebody may sign with: a word or two that say nothing else."""
    words = name.split()
    if "admin" in name.lower():
        return False
    is_short = 1 <= len(words) <= 3 and 2 <= len(name) <= 30 and name[0].isalnum()
    return is_short and not any(word.lower().strip(".:") in _NO_NAME for word in words)


def _is_cjk(name: str) -> bool:
    """True for a name in Han, Kana or Hangul."""
    letters = name.replace(" ", "").replace("·", "")
    return bool(letters) and all("\u3040" <= char <= "\ud7a3" for char in letters)
