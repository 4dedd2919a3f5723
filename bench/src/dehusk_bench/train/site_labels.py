"""Training labels without a hand: what SiteLevel finds on the pages of a site.

Section 5.1 of Chakrabarti, Kumar and Punera, *Page-level Template Detection via Isotonic
Smoothing*, WWW 2007.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.memory import Memory
from dehusk.methods.papers.site_hash import SiteHash
from dehusk.page.tree import Flags, Tree

SITE_SHARE: Final = 0.1
SITE_COUNT: Final = 3
MIN_HTML_SHARE: Final = 0.85
"""The paper's numbers: nodes on a tenth of the pages, and nodes with more than 85 % of their HTML
in such. Three pages are a tenth of the smallest site that is taken."""
SITE_LEVEL: Final = SiteHash(share=SITE_SHARE, min_count=SITE_COUNT, max_keys=5_000_000)


def site_labels(memory: Memory, tree: Tree) -> Flags:
    """True for nodes that are template by the pages of their site, all of them learned before."""
    on_pages = SITE_LEVEL.score(memory, tree) > 0.5
    written = (tree.close - tree.start).astype(np.float64)
    below = np.bincount(np.maximum(tree.parent[1:], 0), written[1:], len(tree))
    steps = on_pages.astype(np.int32)
    steps -= np.bincount(tree.end[on_pages], minlength=len(tree) + 1)[:-1].astype(np.int32)
    covered = np.cumsum(steps) > 0
    total = np.concatenate(([0.0], np.cumsum(np.where(covered, written - below, 0.0))))
    share = (total[tree.end] - total[:-1]) / np.maximum(written, 1)
    return np.asarray(on_pages | (share > MIN_HTML_SHARE))
