"""Families: pages of a site whose content stands at the same place, and when that place changes."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.kernel import KERNEL
from dehusk.memory import Memory, Table
from dehusk.methods.auto.reading import Reading
from dehusk.methods.auto.taught import usual_texts
from dehusk.methods.contract import FamilySeen
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Floats

MOST: Final = 0.7
"""The share of a page's content that the element naming its family holds at least."""
_NUMBERS: Final = 999_999
"""Two of 256 families have one number on one site in thirty."""
MAX_FAMILIES: Final = 256
"""Families that are remembered."""
_MIN_PAGES: Final = 8
_MIN_TEXTS: Final = 10
_USUAL: Final = 8
"""Pages a text must have been on to be usual; on a young site half of all."""
_ALIVE: Final = 16
"""Pages within which a usual text has come back: what an earlier template had is not missed."""
_MISSING_PAGES: Final = 3
_FEW: Final = 0.3
"""The share of the usual texts below which pages have another template."""


def family_of(page: Reading, verdict: Floats) -> Hashes:
    """The place of the smallest element around the page's main block that holds most content.

    It depends on the page alone, so that the families of two memories add up. Empty for a page
    without text.
    """
    blocks = page.blocks
    if not len(blocks):
        return page.places
    content = verdict * blocks.chars
    main = int(content.argmax())
    total = np.concatenate(([0.0], np.cumsum(content)))
    holds = total[blocks.high[main]] - total[blocks.low[main]] >= MOST * total[-1]
    level = int(holds.argmax()) if holds.any() else -1
    return page.surroundings[main, [level]]


def family_number(family: int) -> int:
    """A number that names the family of this key within its site, the same on every run."""
    return 1 + family % _NUMBERS


def families_seen(families: Table) -> tuple[FamilySeen, ...]:
    """What a table of families holds, that of most pages first; one number is one family."""
    found: dict[int, FamilySeen] = {}
    numbers = 1 + families.keys % np.uint64(_NUMBERS)
    columns = numbers.tolist(), families.count.tolist(), families.last.tolist()
    for number, pages, last in zip(*columns, strict=True):
        before = found.get(number, FamilySeen(number, 0, 0))
        found[number] = FamilySeen(number, before.pages + pages, max(before.last_page, last))
    return tuple(sorted(found.values(), key=lambda family: (-family.pages, family.number)))


def is_last_page(texts: Table, pages: int, own: Hashes) -> bool:
    """Was the page with these texts the last to be learned? Not so in the second of two passes."""
    place = np.minimum(np.searchsorted(texts.keys, own), max(len(texts) - 1, 0))
    return not len(texts) or bool((texts.last[place[texts.keys[place] == own]] == pages).all())


def is_template_new(memory: Memory) -> bool:
    """True on the page on which it shows that a site has a new template, and on that page only.

    That is the third page in a row without most of the texts that were usual before. The memory has
    learned the page last.
    """
    if memory.pages < _MIN_PAGES:
        return False
    usual, now, earlier = _usual_texts(memory, memory.pages - _MISSING_PAGES)
    return usual >= _MIN_TEXTS and now / usual < _FEW <= earlier / usual


def _usual_texts(memory: Memory, before: int) -> tuple[int, int, int]:
    """How many texts were usual up to a page, and how many of them came after it, or on it."""
    least = max(3, min(before / 2, _USUAL))
    if KERNEL is not None:
        return usual_texts(KERNEL, memory, least, before - _ALIVE, before)
    texts = memory.table("texts")
    is_usual = (texts.count >= least) & (texts.last.astype(np.int64) > before - _ALIVE)
    usual = texts.last[is_usual]
    return len(usual), int(np.sum(usual > before)), int(np.sum(usual >= before))
