"""Sites that print the same stories, as papers do with what an agency sends them.

Story n is page n of the main family of every such site. A site puts a line of its own before it,
now and then writes a paragraph anew, and now and then leaves out the end. Its template is light,
middling or heavy: seed modulo 3.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from dehusk_bench.samples import frame, parts, shapes, weight
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import C, Desk
from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.language import Prose, load
from dehusk_bench.samples.site import Card, Kind

_BOXES: Final = (0, 2, 6)
"""Boxes of template by weight. With them full text finds about a third of the duplicates, as
in the paper's collection (`dehusk bench duplicates`)."""
_CUT_SHARE: Final = 0.15
"""How often a site leaves out the last paragraph."""
_ANEW_SHARE: Final = 0.03
"""How many paragraphs a site writes anew."""


@cache
def _story(number: int) -> tuple[str, tuple[str, ...]]:
    """The title and the paragraphs of a story, the same for all sites."""
    dice = Dice("story", number)
    prose = Prose.of_site(load("en"), Dice("agency")).with_dice(dice)
    title = prose.line("headlines")
    return title, tuple(prose.text(dice.between(2, 5)) for _ in range(dice.between(4, 9)))


def _title(prose: Prose, family: str, number: int) -> str:
    return _story(number)[0] if family == "story" else shapes.page_title(prose, number)


def _page(desk: Desk) -> Element:
    """A story with what this site puts around it."""
    title, sent = _story(desk.card.number)
    kept = sent[:-1] if desk.dice.chance(_CUT_SHARE) else sent
    anew = [desk.prose.text(3) if desk.dice.chance(_ANEW_SHARE) else "" for _ in kept]
    paragraphs = [own or each for own, each in zip(anew, kept, strict=True)]
    place = f"{desk.prose.word('places')}, {desk.date()}. "
    text = [el("p", place + paragraphs[0]), *(el("p", each) for each in paragraphs[1:])]
    top = desk.e("h1", "article.title", title)
    body = desk.e("div", "text", *text)
    whole = desk.e(desk.tag("article"), "article", top, parts.byline(desk), body, label=C)
    boxes = weight.boxes(desk, _BOXES[_weight(desk)])
    if not _weight(desk):
        return frame.document(desk, whole)
    titles = [desk.main(number).title for number in range(40)]
    below: list[Child] = [weight.popular(desk, titles), parts.related(desk)]
    half = weight.beside(desk, len(boxes))
    return frame.document(desk, whole, *below, *boxes[half:], side=boxes[:half])


def _weight(desk: Desk) -> int:
    """How heavy the site's template is: 0, 1 or 2."""
    seed = desk.site.key[1]
    assert isinstance(seed, int)
    return seed % len(_BOXES)


def _subject(card: Card) -> str:
    return f"story-{card.number}"


KIND: Final = Kind(
    name="stories",
    families={
        "H": ("home", "collection", shapes.listing),
        "L": ("listing", "listing", shapes.listing),
        "D": ("story", "article", _page),
        "P": ("page", "service", shapes.page),
    },
    first="HDDLDDPLDDLDPDLDDPLDDLD",
    cycle="DDDDDDDLDDDDDDD",
    sections="news_sections",
    title=_title,
    subject=_subject,
)
