"""The method `site-hash`: nodes that come back on a share of a site's pages.

SiteLevel(θ) of Chakrabarti, Kumar and Punera, *Page-level Template Detection via Isotonic
Smoothing*, WWW 2007, section 3, step 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np

from dehusk.errors import SettingError
from dehusk.memory import Memory, Table
from dehusk.methods.papers.forget import trim
from dehusk.page import tags
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Flags, Floats, Ints, Tree

_IMAGES: Final = tags.numbers("area", "embed", "image", "img", "input", "object", "picture", "svg")


@dataclass(frozen=True, slots=True)
class SiteHash:
    """A node that is on at least a share of the site's pages is template, wherever it stands.

    The paper only says that a node is hashed. Here two nodes are the same if their tags and texts
    are, and those of all that is below them; of attributes only those of images count, which have
    nothing else to tell them apart. The paper draws pages at random and judges them when all are
    known; here a page is judged by the pages up to it, which is why a node must also be on
    `min_count` of them: by the share alone, all of a site's first page would be template.
    """

    share: float = 0.1
    """θ: the least share of pages. The paper's value (sections 5.1 and 6.2)."""
    min_count: int = 3
    """The least number of pages; 1 is the paper's algorithm to the letter."""
    max_keys: int = 100_000
    """Nodes that are remembered, 16 bytes each; beyond it rare ones that have not come back go."""

    name = "site-hash"

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise SettingError("site-hash: share must be above 0 and at most 1")
        if self.min_count < 1 or self.max_keys < 4:
            raise SettingError("site-hash: min_count must be at least 1 and max_keys at least 4")

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        """The memory with this page's nodes added, each counted once."""
        return self.limit(memory.then(self.lesson(tree)))

    def lesson(self, tree: Tree) -> Memory:
        """What this page alone teaches: its nodes, each counted once."""
        return Memory.of_page(nodes=Table.of_page(_node_hashes(tree)[_judged(tree)]))

    def limit(self, memory: Memory) -> Memory:
        """The memory with no more than `max_keys` nodes."""
        # A node on a share θ of pages comes back every 1/θ pages: so long is it worth waiting for.
        nodes = trim(memory.table("nodes"), self.max_keys, 1 / self.share)
        return memory.with_tables(nodes=nodes)

    def score(self, memory: Memory, tree: Tree) -> Floats:
        """The score of each node: how many pages it is on, stretched.

        Above 0.5 from the least number of pages on that makes it template, 1 if it is on all; nan
        for what shows neither text nor image.
        """
        judged = _judged(tree)
        count = memory.table("nodes").counts_of(_node_hashes(tree)[judged]).astype(np.float64)
        need = self.pages_needed(memory.pages)
        high = 0.5 + 0.5 * (count - need + 1) / max(memory.pages - need + 1, 1)
        scores = np.full(len(tree), np.nan)
        scores[judged] = np.where(count >= need, high, 0.5 * count / need)
        return scores

    def pages_needed(self, pages: int) -> int:
        """On how many of so many pages a node must be to be template."""
        # Rounded first: 0.1 · 30 is 3.0000000000000004, but at least a tenth of 30 pages are 3.
        return max(self.min_count, math.ceil(round(self.share * pages, 9)))


def _judged(tree: Tree) -> Flags:
    """Nodes that carry or hold shown text or an image."""
    images = tree.sums(_IMAGES[tree.tag] & tree.shown)
    return np.asarray(tree.shown & ((tree.text_length > 0) | (images > 0)))


def _node_hashes(tree: Tree) -> Hashes:
    """The hash of each node: tags and texts, and of images the whole start tag, below it too."""
    images = np.flatnonzero(_IMAGES[tree.tag] & tree.shown)
    if not len(images):
        return tree.subtree_hash
    own = tree.own_hash.copy()
    own[images] = _start_tag_hashes(tree, tree.start[images], tree.stop[images])
    return tree.subtree_hashes(own)


def _start_tag_hashes(tree: Tree, start: Ints, stop: Ints) -> Hashes:
    """The hash of each element's start tag as canonical HTML writes it."""
    written = (tree.source[a:b] for a, b in zip(start.tolist(), stop.tolist(), strict=True))
    digests = b"".join(blake2b(tag, digest_size=8).digest() for tag in written)
    return np.frombuffer(digests, "<u8").astype(np.uint64)
