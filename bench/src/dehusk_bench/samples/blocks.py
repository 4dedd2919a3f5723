"""What content is made of: paragraphs, lists, tables, quotes, code, pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dehusk_bench.samples import parts
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import Desk, T, image

_EMPTY: Final = ("NULL", "NULL", "n/a", "—", "0")
_CODE: Final = {
    "python": (
        "def {f}(value, limit={n}):\n    return value - limit if value < limit else None\n",
        "with open('{f}.txt') as lines:\n    for line in lines:\n        print(line.strip())\n",
    ),
    "javascript": (
        "const {f} = await load('{f}.json');\n{f}.items.forEach(item => show(item));\n",
        "export function {f}(a, b) {{\n  return a && b ? a + b : {n};\n}}\n",
    ),
    "sql": (
        "SELECT name, {f}\n  FROM entries\n WHERE {f} IS NOT NULL\n ORDER BY name LIMIT {n};\n",
        "UPDATE entries SET {f} = NULL WHERE id > {n};\n",
    ),
    "bash": ("$ {f} --limit {n} input.txt > output.txt\n$ echo done\n",),
}
_NAMES: Final = ("load", "merge", "split", "count", "limit", "route", "flush", "index", "token")

Block = Callable[[Desk], Element]


def lead(desk: Desk) -> Element:
    """The first paragraph, which sums up."""
    text = desk.prose.text(desk.dice.between(1, 2), desk.site.kind.voice)
    return desk.e("p", "article.lead", text)


def paragraph(desk: Desk) -> Element:
    """A paragraph of a few sentences; in some a word is a link or stands out."""
    dice, prose = desk.dice, desk.prose
    voice = desk.site.kind.voice
    text = prose.text(dice.between(1, 5), voice)
    if not dice.chance(0.35):
        return el("p", text)
    space = prose.language.space
    before, noun, behind = prose.parts(voice)
    tag = dice.pick(("a", "a", "strong", "em"))
    marked = desk.link(desk.related(1)[0], noun) if tag == "a" else el(tag, noun)
    end = behind + space + prose.text(dice.between(1, 2), voice)
    return el("p", text + space + before, marked, end)


def heading(desk: Desk, text: str | None = None, place: int | None = None) -> Element:
    """A heading between paragraphs."""
    anchor = None if place is None else f"s{place}"
    return desk.e("h2", "text.heading", text or desk.prose.line("headlines"), id=anchor)


def bullets(desk: Desk) -> Element:
    """A list, sometimes with a list in it."""
    dice, prose = desk.dice, desk.prose
    sort = desk.site.kind.points
    items: list[Child] = [el("li", prose.line(sort)) for _ in range(dice.between(2, 5))]
    if dice.chance(0.4):
        inner = el(dice.pick(("ul", "ol")), *(el("li", prose.word("tags")) for _ in range(3)))
        items.append(el("li", prose.line(sort), inner))
    return el(dice.pick(("ul", "ul", "ol")), *items)


def quote(desk: Desk) -> Element:
    """What somebody said."""
    said = el("p", desk.prose.text(desk.dice.between(1, 2)))
    return desk.e("blockquote", "text.quote", said, el("cite", desk.prose.person()))


def figure(desk: Desk) -> Element:
    """A picture with its caption."""
    prose = desk.prose
    caption = f"{prose.line('sentences')} {prose.phrase('photo', p=prose.person())}"
    if desk.habit("figure", (True, True, False)):
        below = desk.e("figcaption", "figure.caption", caption)
        return desk.e("figure", "figure", image(desk, "figure.image", prose.word("tags")), below)
    below = desk.e("p", "figure.caption", caption)
    return desk.e("div", "figure", image(desk, "figure.image", prose.word("tags")), below)


def table(desk: Desk) -> Element:
    """A table of data in which values are missing, so that the same words come back."""
    dice, prose = desk.dice, desk.prose
    names = dice.sample(prose.language.words["columns"], dice.between(3, 4))
    rows = []
    for _ in range(dice.between(3, 7)):
        cells = [el("td", prose.word("tags"))]
        for _ in names[1:]:
            known = str(dice.between(1, 2900))
            cells.append(el("td", known if dice.chance(0.6) else dice.pick(_EMPTY)))
        rows.append(el("tr", *cells))
    top = el("thead", el("tr", *(el("th", name) for name in names)))
    return desk.e("table", "table", top, el("tbody", *rows))


def definitions(desk: Desk) -> Element:
    """Words and what they mean."""
    children: list[Child] = []
    for word in desk.dice.sample(desk.prose.language.words["tags"], desk.dice.between(2, 4)):
        children += [el("dt", word), el("dd", desk.prose.line(desk.site.kind.voice))]
    return el("dl", *children)


def code(desk: Desk, language: str | None = None) -> Element:
    """Lines of a program, with the button to copy them that some sites add."""
    language = language or desk.dice.pick(tuple(_CODE))
    pattern = desk.dice.pick(_CODE[language])
    text = pattern.format(f=desk.dice.pick(_NAMES), n=desk.dice.below(90))
    inner = el("code", text, class_=f"language-{language}")
    if not desk.habit("copy button", (True, False)):
        return desk.e("pre", f"code.{language}", inner)
    button = el("button", desk.say("copy"), label=T, type="button")
    return desk.e("div", "code", desk.e("pre", f"code.{language}", inner), button)


def see_also(desk: Desk) -> Element:
    """A pointer inside the content, in words that the template uses too."""
    return el("p", f"{desk.say('also')}: ", desk.link(desk.related(1)[0]))


def divider(_desk: Desk) -> Element:
    """A line across."""
    return el("hr")


PROSE: Final[tuple[Block, ...]] = (paragraph,) * 9 + (figure, quote, bullets, see_also)
TECHNICAL: Final[tuple[Block, ...]] = (
    paragraph, paragraph, paragraph, code, code, table, bullets, definitions, see_also, divider,
)  # fmt: skip


def body(desk: Desk, blocks: Sequence[Block], *, titles: Sequence[str] = ()) -> list[Child]:
    """The blocks of a text, of very different length from page to page, under the given titles."""
    dice = desk.dice
    count = dice.pick((1, 3, 4, 5, 6, 7, 8, 9, 14, 24))
    nodes: list[Child] = [paragraph(desk)]
    nodes.extend(dice.pick(blocks)(desk) for _ in range(count))
    step = len(nodes) // (len(titles) + 1) or 1
    for place, title in reversed(list(enumerate(titles))):
        nodes.insert(min(len(nodes), (place + 1) * step), heading(desk, title, place))
    if desk.has("text_ads") and len(nodes) > 3:
        nodes.insert(2, parts.advert(desk))
    if desk.has("text_related") and len(nodes) > 5:
        nodes.insert(
            len(nodes) - 2, parts.link_list(desk, "inline", desk.say("also"), desk.related(2))
        )
    return nodes
