"""The keys of a style tree's tables, and how rows of one element are found.

    style node   | 36 bits: element | 28 bits: its sequence of children, 0 for none |
    feature      | 36 bits: element | 28 bits: a word, an image's name, a link's target |

Tables are sorted by key, so that all rows of an element stand together.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.memory import Table
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Flags

Places = NDArray[np.int64]

KIND_BITS: Final = np.uint64(28)
"""So two elements collide on one in a hundred sites of 40,000 elements, two styles or features in
one of a hundred elements that have 2,000."""
KIND: Final = np.uint64((1 << 28) - 1)


def group_starts(groups: NDArray[np.int64] | Hashes) -> Flags:
    """True where another group begins."""
    starts = np.ones(len(groups), np.bool_)
    starts[1:] = groups[1:] != groups[:-1]
    return starts


def place_in_group(starts: Flags) -> Places:
    """How far each row is from the start of its group."""
    place = np.arange(len(starts))
    return place - np.maximum.accumulate(np.where(starts, place, 0))


def ranges(table: Table, elements: Hashes) -> tuple[Places, Places]:
    """Where the rows of each element begin and end in a table."""
    low = elements << KIND_BITS
    return np.searchsorted(table.keys, low), np.searchsorted(table.keys, low | KIND, "right")


def find(keys: Hashes, wanted: Hashes) -> tuple[Places, Flags]:
    """The first row of each wanted key among sorted ones, and whether it is there.

    Where it is not, the place is one behind the last row.
    """
    place = np.searchsorted(keys, wanted)
    found = np.append(keys, np.uint64(0))[place] == wanted
    found &= place < len(keys)
    return np.where(found, place, len(keys)), found
