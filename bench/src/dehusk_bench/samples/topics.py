"""Shops that all write of the same five topics, each in its own words, prices and frame."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from dehusk_bench.samples import frame, parts, shapes, weight
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import C, Desk, image
from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Card, Kind

_KEPT_SHARE: Final = 0.6
"""How much of a topic's words one shop uses, so that shops do not say the same of a topic."""
_BOXES: Final = 12
"""Boxes of template: a shop's terms, services and offers, on every page."""
_SHARED_SHARE: Final = 0.5
"""Sentences that could be said of any goods."""
_SLOT: Final = re.compile(r"\{([fqun])\}")
_LISTS: Final = {"f": "features", "q": "qualities", "u": "uses"}
_MAKER_ENDS: Final = ("lis", "ven", "dor", "mex", "rano", "velt", "sund", "nika")


@dataclass(frozen=True, slots=True)
class _Words:
    """What can be said of goods."""

    topics: Mapping[str, Mapping[str, Sequence[str]]]
    shared: Sequence[str]
    patterns: Sequence[str]


@cache
def _words() -> _Words:
    text = (files("dehusk_bench.samples") / "words" / "topics.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return _Words(table["topic"], table["shared"], table["patterns"])


def _topic(number: int) -> str:
    names = tuple(_words().topics)
    return names[number % len(names)]


def _title(prose: Prose, family: str, number: int) -> str:
    if family == "page":
        return shapes.page_title(prose, number)
    dice = prose.dice
    maker = dice.pick("BDFGKLMNPRSTV") + dice.pick("aeio") + dice.pick(_MAKER_ENDS)
    return f"{maker} {dice.pick(_words().topics[_topic(number)]['goods'])} {dice.between(1, 99)}0"


def _sentence(desk: Desk) -> str:
    """Something about the goods, in the words that this shop uses."""
    dice, words, topic = desk.dice, _words(), _topic(desk.card.number)
    is_shared = dice.chance(_SHARED_SHARE)
    pattern = dice.pick(words.shared if is_shared else words.patterns)

    def fill(slot: re.Match[str]) -> str:
        if slot[1] == "n":
            return str(dice.between(2, 9))
        everything = words.topics[topic][_LISTS[slot[1]]]
        own = Dice(*desk.site.key, topic, slot[1]).sample(
            everything, int(_KEPT_SHARE * len(everything))
        )
        return dice.pick(own)

    filled = _SLOT.sub(fill, pattern)
    return filled[0].upper() + filled[1:]


def _paragraph(desk: Desk) -> Element:
    return el("p", " ".join(_sentence(desk) for _ in range(desk.dice.between(2, 4))))


def _product(desk: Desk) -> Element:
    """A product: picture, price, words."""
    price = f"{desk.dice.between(19, 899)}.{desk.dice.pick(('00', '50', '90'))} €"
    top: list[Child] = [desk.e("h1", "product.title", desk.card.title)]
    top.append(desk.e("p", "product.price", price))
    picture = desk.e("div", "product.media", image(desk, "product.image", desk.card.title))
    text = [_paragraph(desk) for _ in range(desk.dice.between(1, 4))]
    whole = desk.e("div", "product", *top, picture, desk.e("div", "text", *text), label=C)
    boxes = weight.boxes(desk, _BOXES)
    half = weight.beside(desk, len(boxes))
    titles = [desk.main(number).title for number in range(40)]
    below = (weight.popular(desk, titles), parts.related(desk))
    return frame.document(desk, whole, *below, *boxes[half:], side=boxes[:half])


def _subject(card: Card) -> str:
    return _topic(card.number)


KIND: Final = Kind(
    name="topics",
    families={
        "H": ("home", "collection", shapes.listing),
        "L": ("listing", "listing", shapes.listing),
        "D": ("product", "product", _product),
        "P": ("page", "service", shapes.page),
    },
    first="HDDLDDPLDDLDPDLDDPLDDLD",
    cycle="DDDDDDDLDDDDDDD",
    sections="goods_sections",
    title=_title,
    subject=_subject,
)
