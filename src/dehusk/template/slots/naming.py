"""What a slot is called: a word for what it holds, the same for all pages of the family."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from dehusk.template.slots.places import Place

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_WORDS: Final = (
    ("date", re.compile(r"(^|[-_])(date|time|published|posted|updated)([-_]|$)", re.IGNORECASE)),
    ("author", re.compile(r"(^|[-_])(author|byline|writer|by)([-_]|$)", re.IGNORECASE)),
    ("comments", re.compile(r"(^|[-_])(comments?|replies)([-_]|$)", re.IGNORECASE)),
    ("price", re.compile(r"(^|[-_])price([-_]|$)", re.IGNORECASE)),
)  # fmt: skip
"""Words in ids and classes that say what a slot holds, whatever it is made of."""
_TAGS: Final = (
    ("date", ("time",)),
    ("author", ("address",)),
    ("title", ("h1",)),
    ("heading", _HEADINGS),
    ("table", ("table", "tbody", "tr", "td")),
    ("list", ("ul", "ol", "dl", "li", "dd", "dt")),
    ("code", ("pre", "code")),
    ("image", ("img", "figure", "picture", "svg")),
    ("link", ("a",)),
)
_MIN_SHARE: Final = 0.6
"""A slot is called after a kind of element that shows this much of its content."""


def slot_names(places: Sequence[Place], slots: Sequence[Sequence[int]]) -> list[str]:
    """A name for each slot: 'main' is the one with the most content, 'title' the page's heading.

    Names that come up again are numbered, those of slots on more pages first.
    """
    sizes = [sum(places[number].content for number in slot) for slot in slots]
    largest = max(range(len(slots)), key=lambda n: sizes[n], default=-1)
    plain = [
        "main" if n == largest else _name(places, slot, size)
        for n, (slot, size) in enumerate(zip(slots, sizes, strict=True))
    ]
    order = sorted(
        range(len(slots)), key=lambda n: -max(places[number].content_pages for number in slots[n])
    )
    names, counts = [""] * len(slots), defaultdict[str, int](int)
    for n in order:
        counts[plain[n]] += 1
        count = counts[plain[n]]
        names[n] = plain[n] if count == 1 else f"{plain[n]}-{count}"
    return names


def _name(places: Sequence[Place], slot: Sequence[int], size: int) -> str:
    first = places[slot[0]]
    own = places[first.parent] if first.step.tag == "#text" else first
    for name, pattern in _WORDS:
        if any(pattern.search(word) for word in (own.step.id, *own.step.classes)):
            return name
    if any(places[number].step.tag == "h1" for number in slot):
        return "title"
    weights: dict[str, int] = defaultdict(int)
    inside = set(slot)
    for number in slot:
        weights[places[number].step.tag] += places[number].content
    for number in range(min(slot), len(places)):
        if places[number].parent in inside:
            inside.add(number)
            weights[places[number].step.tag] += places[number].content
    if first.step.tag == "#text":
        weights[own.step.tag] += size
    for name, tags in _TAGS:
        if max(weights[tag] for tag in tags) >= _MIN_SHARE * size:
            return name
    return "text"
