"""Template in any amount: what a site says on all its pages, and lists that a section shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dehusk.samples import parts
from dehusk.samples.build import Child, Element, el
from dehusk.samples.desk import Desk
from dehusk.samples.dice import Dice

_SENTENCES: Final = 3
_POPULAR: Final = 5


def notices(desk: Desk, count: int, key: str = "sentences") -> list[Child]:
    """Boxes with the same words on every page of the site, each of a few sentences."""
    return [_notice(desk, number, key) for number in range(count)]


def _notice(desk: Desk, number: int, key: str) -> Element:
    """One box: its words depend on the site and its number alone."""
    prose = desk.prose.with_dice(Dice(*desk.site.key, "notice", number))
    title, text = prose.line("headlines"), prose.text(_SENTENCES, key)
    return parts.box(desk, f"notice{number}", title, el("p", text))


def popular(desk: Desk, titles: Sequence[str]) -> Element:
    """A list that is the same within a section and differs between sections.

    No page of another section has it, so that counting repetition over the site finds it late.
    """
    dice = Dice(*desk.site.key, "popular", desk.card.section)
    cards = [desk.main(dice.below(len(titles))) for _ in range(_POPULAR)]
    items = [el("li", desk.link(card, titles[card.number % len(titles)])) for card in cards]
    heading = f"{desk.say('most_read')}: {desk.site.sections[desk.card.section]}"
    return parts.box(desk, "popular-here", heading, desk.e("ol", "popular-here.list", *items))
