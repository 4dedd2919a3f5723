"""What is kept of a page, by tag, and what each element holds of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dehusk.answer.render.nodes import holds
from dehusk.kernel import KERNEL
from dehusk.page import tags
from dehusk.page.tree import Flags, Ints, Tree

BLOCK: Final = 1
PREFORMATTED: Final = 2
BREAK: Final = 4
HEADING: Final = 8
"""What `Groups.held` says of a node that is such an element or holds one."""

_HELD: Final = (
    tags.BLOCK,
    ("pre", "listing", "xmp", "textarea", "plaintext"),
    ("br",),
    ("h1", "h2", "h3", "h4", "h5", "h6"),
)
INLINE: Final = (
    "#other", "abbr", "acronym", "applet", "bdi", "bdo", "big", "blink", "cite", "data", "dfn",
    "font", "ins", "label", "map", "mark", "marquee", "nobr", "object", "output", "q",
    "slot", "small", "span", "sub", "sup", "time", "tt", "u", "var",
)  # fmt: skip
"""What stands in a line by its tag, and may hold a block all the same."""
_ASKED: Final = (
    "a", "b", "br", "button", "caption", "center", "code", "dd", "del", "dialog", "dir", "dl", "dt",
    "em", "fieldset", "form", "h1", "h2", "h3", "h4", "h5", "h6", "hgroup", "i", "kbd", "legend",
    "li", "listing", "menu", "ol", "optgroup", "option", "plaintext", "pre", "rp", "s", "samp",
    "search", "select", "strike", "strong", "sup", "table", "tbody", "td", "textarea", "tfoot",
    "th", "thead", "tr", "xmp",
)  # fmt: skip
GROUP_KINDS: Final = np.zeros(len(tags.NAMES), np.uint8)
"""By tag number, what the kernel asks of tags, from the lowest bit on (`src/kernel/groups.c`)."""
for _place, _names in enumerate((*_HELD, INLINE, _ASKED)):
    GROUP_KINDS[tags.numbers(*_names)] |= np.uint8(1 << _place)
_INLINE_BIT, _ASKED_BIT = 1 << len(_HELD), 2 << len(_HELD)


def is_grouped(number: int) -> bool:
    """Are elements with the tag of this number in `Groups.by_tag`?"""
    return bool(GROUP_KINDS[number] & _ASKED_BIT)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The kept elements of a page."""

    by_tag: dict[int, list[int]]
    """In document order, of each tag that Markdown asks for and the page has."""
    held: bytearray
    """Of each node, the kinds of kept elements that it is or holds."""
    wrappers: list[int]
    """Those that are inline by their tag and hold a block."""


def groups_of(tree: Tree, ends: Ints, kept: Flags) -> Groups:
    """The groups of what is kept; the ends are those of the elements as they are written."""
    if KERNEL is not None:
        return _compiled(KERNEL, tree, ends, kept)
    kind = np.where(kept, GROUP_KINDS[tree.tag], 0)
    held = np.zeros(len(tree), np.uint8)
    for place in range(len(_HELD)):
        held[holds(ends, kind & (1 << place) > 0)] |= 1 << place
    asked = np.flatnonzero(kind & _ASKED_BIT)
    by_tag: dict[int, list[int]] = {}
    for node, tag in zip(asked.tolist(), tree.tag[asked].tolist(), strict=True):
        by_tag.setdefault(tag, []).append(node)
    wrappers: list[int] = np.flatnonzero((kind & _INLINE_BIT > 0) & (held & BLOCK > 0)).tolist()
    return Groups(by_tag, bytearray(held.tobytes()), wrappers)


def _compiled(kernel: Any, tree: Tree, ends: Ints, kept: Flags) -> Groups:
    """The same by the kernel."""
    return Groups(*kernel.groups(GROUP_KINDS, tree.tag, ends, kept))
