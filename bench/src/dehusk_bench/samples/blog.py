"""A blog: posts, categories, an archive, and a side column about its author."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dehusk_bench.samples import blocks, frame, parts, shapes
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import C, Desk, T
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Kind

_BLOCKS: Final = (
    (blocks.paragraph,) * 7
    + (blocks.figure, blocks.quote, blocks.bullets, blocks.code, blocks.table, blocks.see_also)
)  # fmt: skip
_MONTHS_SHOWN: Final = 4


def _title(prose: Prose, family: str, number: int) -> str:
    if family == "page":
        return shapes.page_title(prose, number)
    if family == "archive":
        return f"{prose.phrase('archive')} {number + 1}"
    return prose.line("headlines" if prose.dice.chance(0.7) else "asks")


def _side(desk: Desk) -> Sequence[Child]:
    """What the author says of himself, new posts, months, other blogs."""
    about = parts.box(desk, "about", desk.say("about_me"), el("p", desk.say("about_me_text")))
    recent = parts.link_list(
        desk, "recent", desk.say("recent"), [desk.main(number) for number in range(5)]
    )
    months = desk.prose.language.words["months"][:_MONTHS_SHOWN]
    archive = [
        el("li", desk.link(desk.site.page_of("X", place), month))
        for place, month in enumerate(months)
    ]
    others = [el("li", el("a", name, href="https://blog.example/")) for name in ("Taviro", "Lemo")]
    return (
        about,
        recent,
        parts.box(desk, "archive", desk.say("archive"), desk.e("ul", "archive.list", *archive)),
        parts.box(desk, "blogroll", desk.say("blogroll"), desk.e("ul", "blogroll.list", *others)),
    )


def _home(desk: Desk) -> Element:
    """The newest posts, each with its beginning."""
    posts = []
    for card in desk.listed()[:5]:
        title = desk.e("h2", "post.title", desk.link(card))
        text = [blocks.paragraph(desk) for _ in range(desk.dice.between(1, 3))]
        more = desk.e("p", "post.more", desk.link(card, desk.say("more")), label=T)
        posts.append(desk.e(desk.tag("article"), "post", title, *text, more, label=C))
    turn = parts.pager(desk, desk.section(0), None, ("older", "newer"))
    return frame.document(desk, *posts, turn, side=_side(desk))


def _listing(desk: Desk) -> Element:
    return shapes.listing(desk, _side(desk))


def _post(desk: Desk) -> Element:
    return shapes.article(desk, _BLOCKS, _side(desk))


def _archive(desk: Desk) -> Element:
    """Post after post, month by month: nothing but links, and yet the content."""
    nodes: list[Child] = [desk.e("h1", "archive.title", desk.card.title)]
    months = desk.prose.language.words["months"]
    for month in range(desk.dice.between(2, 4)):
        first = (desk.card.number + month) * 4
        cards = [desk.main(number) for number in range(first, first + 4)]
        nodes.append(desk.e("h2", "archive.month", months[(desk.card.number + month) % 12]))
        nodes.append(desk.e("ul", "archive.posts", *(el("li", desk.link(card)) for card in cards)))
    return frame.document(desk, desk.e("div", "archive.all", *nodes, label=C), side=_side(desk))


def _page(desk: Desk) -> Element:
    return shapes.page(desk, _side(desk))


KIND: Final = Kind(
    name="blog",
    families={
        "H": ("home", "collection", _home),
        "L": ("category", "listing", _listing),
        "D": ("post", "article", _post),
        "X": ("archive", "listing", _archive),
        "P": ("page", "service", _page),
        "B": ("bare", "article", shapes.bare),
    },
    first="HDDLDPDDXLDBDLDXDLPDDLXDDLPX",
    cycle="DDDDLDDDXDDDBDDDDLDDDD",
    sections="blog_sections",
    title=_title,
)
