"""Tables of hashes with small counters: what a memory is made of.

Nothing here knows a method. A method decides which tables it fills and what their keys mean. The
kernel owns their arrays and adds them up (`src/kernel/tables.c`): sorted arrays rather than a dict,
10 to 16 bytes a key (8 more for an owner and for each sum) instead of a hundred, the same order on
every run, and keys made to collide cannot slow them down.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk._kernel import Table

Counts = NDArray[np.uint32]
Sums = NDArray[np.uint64]

EMPTY: Final = Table()

__all__ = ["EMPTY", "Counts", "Sums", "Table"]
