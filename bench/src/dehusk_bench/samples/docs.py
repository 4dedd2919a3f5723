"""The documentation of a program: reference, guides, chapters; and of a library, by classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dehusk_bench.samples import blocks, frame, parts, shapes
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import C, Desk, T
from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Kind

_CALLS: Final = ("load", "merge", "split", "flush", "close", "open", "find", "reset", "copy")
_PARAMETERS: Final = ("name", "limit", "path", "mode", "key", "value", "timeout", "encoding")
_TYPES: Final = ("string", "int", "bool", "list", "NULL", "object")


def _title(prose: Prose, family: str, number: int) -> str:
    if family == "page":
        return shapes.page_title(prose, number)
    if family == "guide":
        return prose.line("guide_titles")
    return f"{prose.dice.pick(prose.slots['m'])}.{prose.dice.pick(_CALLS)}{number // 7 or ''}()"


def _heading(desk: Desk, tag: str, text: str, place: int) -> Element:
    """A heading with the mark to link to it, which belongs to the site."""
    mark = desk.habit("permalink", ("¶", "#", ""))
    children: list[Child] = [text]
    if mark:
        children.append(desk.e("a", "permalink", mark, label=T, href=f"#s{place}"))
    return desk.e(tag, "text.heading", *children, id=f"s{place}")


def _side(desk: Desk) -> list[Child]:
    """The tree of all chapters, open where the page is."""
    items = []
    for number, name in enumerate(desk.site.sections):
        children: list[Child] = [desk.link(desk.section(number), name, "tree.link")]
        if number == desk.card.section and desk.card.letter != "H":
            width = len(desk.site.sections)
            cards = [desk.main(number + width * k) for k in range(6)]
            inner = [desk.e("li", "tree.item", desk.link(card)) for card in cards]
            children.append(desk.e("ul", "tree.list", *inner))
        items.append(desk.e("li", "tree.item", *children))
    version = el("select", el("option", "2.1"), el("option", "2.0"), el("option", "1.9"))
    tree = desk.e("ul", "tree", *items)
    return [parts.box(desk, "tree.box", desk.say("version", n="2.1"), version, tree)]


def _parameters(desk: Desk) -> Element:
    """A table of parameters, in which NULL comes back on every page."""
    keys = ("name", "type", "default", "description")
    rows = []
    for name in desk.dice.sample(_PARAMETERS, desk.dice.between(1, 5)):
        kind, value = desk.dice.pick(_TYPES), desk.dice.pick(("NULL", "NULL", "0", "true"))
        rows.append(el("tr", el("td", el("code", name)), el("td", kind), el("td", value),
                       el("td", desk.prose.line("manual"))))  # fmt: skip
    top = el("thead", el("tr", *(el("th", desk.say(key)) for key in keys)))
    return desk.e("table", "table", top, el("tbody", *rows))


def _note(desk: Desk) -> Element:
    title = desk.e("p", "note.title", desk.say(desk.dice.pick(("note", "warning"))))
    return desk.e("div", "note", title, el("p", desk.prose.line("manual")))


def _reference(desk: Desk) -> Element:
    """One function: signature, parameters, result, example."""
    nodes: list[Child] = [_heading(desk, "h1", desk.card.title, 0)]
    version = f"{desk.dice.between(1, 2)}.{desk.dice.below(9)}"
    nodes.append(desk.e("p", "since", desk.say("since", n=version)))
    nodes += [blocks.paragraph(desk) for _ in range(desk.dice.between(1, 3))]
    headings = [desk.say("parameters"), desk.say("result"), desk.say("example")]
    nodes += [_heading(desk, "h2", headings[0], 1), _parameters(desk)]
    nodes += [_heading(desk, "h2", headings[1], 2), el("p", desk.prose.line("manual"))]
    if desk.dice.chance(0.5):
        nodes.append(_note(desk))
    nodes += [_heading(desk, "h2", headings[2], 3), blocks.code(desk)]
    if desk.dice.chance(0.4):
        other = el("li", desk.link(desk.related(1)[0]))
        nodes += [_heading(desk, "h2", desk.say("also"), 4), el("ul", other)]
    return _around(desk, nodes, headings, 1)


def _guide(desk: Desk) -> Element:
    """How to do something, step by step."""
    titles = [desk.prose.line("guide_titles") for _ in range(desk.dice.between(1, 4))]
    nodes: list[Child] = [_heading(desk, "h1", desk.card.title, 99)]
    nodes += blocks.body(desk, blocks.TECHNICAL, titles=titles)
    return _around(desk, nodes, titles)


def _around(desk: Desk, nodes: list[Child], headings: list[str], first: int = 0) -> Element:
    """The text with what the site adds: contents, links to edit it, neighbours, a question."""
    around: list[Child] = [desk.e(desk.tag("article"), "article", *nodes, label=C)]
    if desk.has("toc"):
        place = desk.habit("toc place", (True, False))
        around.insert(0 if place else 1, parts.contents(desk, headings, first))
    edit = el("a", desk.say("edit"), href=f"https://code.example/edit{desk.card.path}")
    around.append(desk.e("p", "edit", edit, label=T))
    if desk.has("pager"):
        around.append(parts.neighbours(desk))
    if desk.habit("feedback", (True, False)):
        buttons = [el("button", desk.say(key), type="button") for key in ("yes", "no")]
        asked = el("span", desk.say("feedback"))
        around.append(desk.e("div", "feedback", asked, *buttons, label=T))
    return frame.document(desk, *around, side=_side(desk), intro=desk.card.title)


def _chapter(desk: Desk) -> Element:
    """What a chapter holds, with a line on each page."""
    items = [el("li", desk.link(card), f" — {desk.prose.line('manual')}") for card in desk.listed()]
    nodes: list[Child] = [_heading(desk, "h1", desk.card.title, 0), blocks.paragraph(desk)]
    nodes.append(desk.e("ul", "chapter", *items))
    return _around(desk, nodes, [desk.card.title])


KIND: Final = Kind(
    name="docs",
    families={
        "H": ("home", "documentation", _chapter),
        "L": ("chapter", "documentation", _chapter),
        "D": ("reference", "documentation", _reference),
        "X": ("guide", "documentation", _guide),
        "P": ("page", "service", shapes.page),
        "B": ("bare", "documentation", shapes.bare),
    },
    first="HDXLDDXLDPDXLDBDLDXDLDXDLDPXP",
    cycle="DDXDLDDXDDDXDDLDXDDBDDX",
    sections="docs_sections",
    title=_title,
    voice="technical",
    points="manual",
)


def _class_title(prose: Prose, family: str, number: int) -> str:
    if family != "class":
        return _title(prose, family, number)
    return f"{_class_name(prose.dice)}{number}"


def _class_name(dice: Dice) -> str:
    return f"{dice.pick(_CALLS)}{dice.pick(_PARAMETERS)}".title()


_BASES: Final = (1, 2, 4)
"""How many classes of a library hand down members; where it is one, all pages repeat them."""


def _class(desk: Desk) -> Element:
    """One class: its own members, then all that it inherits, in full, as on the pages before."""
    nodes: list[Child] = [_heading(desk, "h1", desk.card.title, 0), blocks.paragraph(desk)]
    own = [_member(desk, desk.prose) for _ in range(desk.dice.between(1, 4))]
    headings = [desk.say("parameters")]
    nodes += [_heading(desk, "h2", headings[0], 1), *_members(desk, own)]
    for base in desk.dice.sample(range(desk.habit("bases", _BASES)), desk.dice.between(1, 2)):
        dice = Dice(*desk.site.key, "base", base)
        headings.append(_class_name(dice))
        prose = desk.site.prose.with_dice(dice)
        inherited = [_member(desk, prose) for _ in range(dice.between(3, 12))]
        place = len(headings)
        nodes += [_heading(desk, "h2", headings[-1], place), *_members(desk, inherited)]
    return _around(desk, nodes, headings, 1)


def _member(desk: Desk, prose: Prose) -> tuple[str, str]:
    """A member's signature, and what it is for."""
    dice = prose.dice
    taken = ", ".join(dice.sample(_PARAMETERS, dice.between(0, 3)))
    count = dice.between(1, desk.habit("wordy", (1, 2, 4)))
    text = prose.text(count, dice.pick(("manual", "technical")))
    return f"{dice.pick(_CALLS)}_{dice.pick(_PARAMETERS)}({taken})", text


def _members(desk: Desk, members: list[tuple[str, str]]) -> list[Child]:
    """Members in the site's shape: a list of definitions, boxes, a table or paragraphs."""
    shape = desk.habit("members", ("dl", "div", "table", "p"))
    nodes: list[Child] = []
    for signature, text in members:
        code = el("code", signature)
        if shape == "dl":
            nodes += [el("dt", code), el("dd", text)]
        elif shape == "table":
            nodes.append(el("tr", el("td", code), el("td", text)))
        elif shape == "div":
            name = desk.e("h3", "member.name", signature.partition("(")[0])
            nodes.append(desk.e("div", "member", name, el("pre", code), el("p", text)))
        else:
            nodes += [desk.e("p", "member.code", code), el("p", text)]
    if shape == "table":
        nodes = [el("tbody", *nodes)]
    return [desk.e(shape, "members", *nodes)] if shape in ("dl", "table") else nodes


CLASSES: Final = replace(
    KIND,
    name="classes",
    families={**KIND.families, "D": ("class", "documentation", _class)},
    title=_class_title,
)
"""References whose pages repeat what a class inherits: repetition that is content."""
