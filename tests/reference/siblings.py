"""Long rows of siblings are decided together."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from dehusk.page.tree import Floats
from reference.learning import Reading


def with_siblings(page: Reading, content: Floats) -> Floats:
    """Rows of a hundred blocks and more kept whole where .98 of their text is kept, but for what
    is surely template.
    """
    found, at = content.copy(), 0
    parents = np.maximum(page.tree.parent[page.blocks.container], 0).tolist()
    for _, row in groupby(parents):
        own = slice(at, at := at + len(list(row)))
        chars = page.blocks.chars[own]
        kept = (chars * (found[own] >= 0.5)).sum()
        if len(chars) >= 100 and kept >= 0.98 * chars.sum():
            found[own] = np.where(found[own] < 0.1, found[own], np.maximum(found[own], 0.5))
    return found
