"""The method `rtdm`: what a few pages have in common, found again in every other page.

After Vieira, da Silva, Pinto, de Moura, Cavalcanti and Freire, *A Fast and Robust Method for Web
Page Template Detection and Removal*, CIKM 2006, and the restricted top-down mapping of de Castro
Reis, Golgher, da Silva and Laender, *Automatic Web News Extraction Using Tree Edit Distance*, WWW
2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np

from dehusk.errors import SettingError, StateError
from dehusk.memory import Memory
from dehusk.methods.papers.rtdm.mapping import Nodes, Outline, map_trees
from dehusk.page import tags
from dehusk.page.hashing import mix
from dehusk.page.tree import Floats, Tree

_IMAGE: Final = tags.numbers("img")
_LABELS: Final = "labels"
_SIZES: Final = "sizes"
_MERGED: Final = "merged"
_MIN_MERGED: Final = 2
"""Pages from which there is something in common to speak of."""


@dataclass(frozen=True, slots=True)
class Rtdm:
    """What the first pages have in common is the template; it is removed wherever it is found.

    The first page is the template to begin with. Each further page of the sample is mapped onto it,
    and only what is identical stays. After that the template is fixed, and each page is asked where
    it has it. A node is a shown element or a shown text; a node above it is always mapped too
    (top-down), in order; of two mapped nodes that differ, nothing below is mapped (restricted); and
    of all such mappings it is one with the fewest insertions, deletions and replacements.

    Decided here, where the papers are open:

    * An element is identical by its tag alone, an image by its whole tag, a text by its words. With
      all attributes only 0.20 of the template's elements are found on ten sites, instead of 0.37:
      menus mark the current entry.
    * Each edit of a node costs 1; of mappings with as few edits, one that keeps the most nodes is
      taken.
    * The sample is the first pages as they come, since nobody is there to choose. A page without
      text is passed over, and so is one that shares too little with the template (`min_kept`).
      Before two pages were compared there is no opinion.

    The time is bounded. Equal subtrees are recognised by hash, and equal children at both ends are
    mapped at once, which costs nothing and loses nothing. The other children are aligned by edit
    distance, top levels first, until `max_cells` is used up; from there on in linear time, by those
    that are equal and unique, and by place between these.

    The memory holds the template only, 16 bytes a node, never more nodes than the first page has.
    Memories of this method do not add up.
    """

    sample_pages: int = 25
    """Pages whose common part is the template. The paper needs 25 for an F1 of 0.95, as quoted by
    Alarte et al. (2016). With 10, on docs-dev, content F1 is the same and the F1 of template
    elements 0.56 instead of 0.54."""
    min_kept: float = 0.3
    """From the third page on, a page that has less than this share of the template's nodes is not
    merged: one page of another kind would wipe the template out. 0 is the papers' way. On sample
    sites, which have such pages, content F1 is 0.75 at 0, 0.83 from 0.3 to 0.4, 0.84 at 0.5; on
    docs-dev it stays at 0.95."""
    max_cells: int = 5_000
    """Steps of exact alignment for each mapping. From 1,000 to 20,000 content F1 stays the same on
    docs-dev and rises by 0.005 on news-dev, at five times the time."""
    max_nodes: int = 20_000
    """Nodes of the template; of a larger first page the first so many count."""

    name = "rtdm"

    def __post_init__(self) -> None:
        if self.sample_pages < _MIN_MERGED:
            raise SettingError(f"rtdm: sample_pages must be at least {_MIN_MERGED}")
        if not 0 <= self.min_kept <= 1:
            raise SettingError("rtdm: min_kept must be from 0 to 1")
        if self.max_cells < 0 or self.max_nodes < 1:
            raise SettingError("rtdm: max_cells must be at least 0 and max_nodes at least 1")

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        """The memory with this page added: merged into the template, or only counted."""
        merged = _merged(memory)
        nodes = _nodes_of(tree)
        if merged >= self.sample_pages or not tree.is_text[nodes].any():
            return memory.after_page()
        outline = outline_of(tree, nodes)
        if merged:
            template = _template(memory)
            kept = map_trees(template, outline, self.max_cells).nodes >= 0
            if merged >= _MIN_MERGED and kept.mean() < self.min_kept:
                return memory.after_page()
            outline = template.only(kept)
        outline = outline.first(self.max_nodes)
        return memory.after_page(
            sequences={
                _LABELS: outline.label,
                _SIZES: outline.size.astype(np.uint64),
                _MERGED: np.array([merged + 1], np.uint64),
            }
        )

    def score(self, memory: Memory, tree: Tree) -> Floats:
        """1 for the nodes where the page has the template, 0 for other shown nodes.

        nan for white space and what is not shown, and for all until two pages were compared.
        """
        scores = np.full(len(tree), np.nan)
        if _merged(memory) < _MIN_MERGED:
            return scores
        nodes = _nodes_of(tree)
        scores[nodes] = 0.0
        found = map_trees(_template(memory), outline_of(tree, nodes), self.max_cells).nodes
        scores[nodes[found[found >= 0]]] = 1.0
        return scores


def _nodes_of(tree: Tree) -> Nodes:
    """The nodes that a reader can see: shown elements, and shown text but for white space."""
    return np.flatnonzero(tree.shown & (~tree.is_text | (tree.text_length > 0)))


def outline_of(tree: Tree, nodes: Nodes) -> Outline:
    """The tree of these nodes of a page, each labelled with all that makes it identical."""
    label = tree.own_hash[nodes]
    # A text that reads like a tag's name is no element.
    label = np.where(tree.is_text[nodes], mix(label), label)
    for place in np.flatnonzero(_IMAGE[tree.tag[nodes]]).tolist():
        node = nodes[place]
        start_tag = tree.source[tree.start[node] : tree.stop[node]]
        label[place] = int.from_bytes(blake2b(start_tag, digest_size=8).digest(), "little")
    return Outline(label, np.searchsorted(nodes, tree.end[nodes]) - np.arange(len(nodes)))


def _merged(memory: Memory) -> int:
    """How many pages the template is the common part of."""
    return int(memory.sequences[_MERGED].sum()) if _MERGED in memory.sequences else 0


def _template(memory: Memory) -> Outline:
    """The common part of the pages merged so far. Raises StateError for what is no tree."""
    nothing = np.empty(0, np.uint64)
    label, size = (memory.sequences.get(name, nothing) for name in (_LABELS, _SIZES))
    template = Outline(label, size.astype(np.int64))
    if not template.is_tree():
        raise StateError("a damaged memory: its template is no tree")
    return template
