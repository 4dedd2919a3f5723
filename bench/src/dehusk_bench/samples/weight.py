"""Template in any amount: what a site says on all its pages, and lists that a section shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dehusk_bench.samples import parts
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import Desk
from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Side

_LINKS: Final = 7
_POPULAR: Final = 5
_LISTS_PER_NOTICE: Final = 3
"""Boxes of links to one of words: what fills the margins of sites is mostly links."""


def boxes(desk: Desk, count: int) -> list[Child]:
    """Boxes that are the same on every page of the site: lists of links, and now and then words."""
    return [
        _notice(desk, number) if number % (_LISTS_PER_NOTICE + 1) == 1 else _links(desk, number)
        for number in range(count)
    ]


def beside(desk: Desk, count: int) -> int:
    """How many of the boxes stand beside the content: half, or none without a side column."""
    return 0 if desk.site.look.side is Side.NONE else count // 2


def _prose(desk: Desk, number: int) -> Prose:
    """Words that depend on the site and the box's number alone."""
    return desk.prose.with_dice(Dice(*desk.site.key, "box", number))


def _notice(desk: Desk, number: int) -> Element:
    """A few sentences on the site's own business."""
    prose = _prose(desk, number)
    return parts.box(desk, f"notice{number}", prose.line("headlines"), el("p", prose.text(2)))


def _links(desk: Desk, number: int) -> Element:
    """Offers, partners, dossiers: links under a heading."""
    prose = _prose(desk, number)
    items = [
        el("li", el("a", prose.line("headlines"), href=f"#{number}-{place}"))
        for place in range(_LINKS)
    ]
    title = prose.word("tags").capitalize()
    return parts.box(desk, f"links{number}", title, desk.e("ul", f"links{number}.list", *items))


def popular(desk: Desk, titles: Sequence[str]) -> Element:
    """A list that is the same within a section and differs between sections.

    No page of another section has it, so that counting repetition over the site finds it late.
    """
    dice = Dice(*desk.site.key, "popular", desk.card.section)
    cards = [desk.main(dice.below(len(titles))) for _ in range(_POPULAR)]
    items = [el("li", desk.link(card, titles[card.number % len(titles)])) for card in cards]
    heading = f"{desk.say('most_read')}: {desk.site.sections[desk.card.section]}"
    return parts.box(desk, "popular-here", heading, desk.e("ol", "popular-here.list", *items))
