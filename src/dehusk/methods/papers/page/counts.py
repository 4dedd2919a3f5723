"""What a page's text and links hold, counted for all nodes at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page import tags
from dehusk.page.tree import Flags, Floats, Tree
from dehusk.page.urls import host_of

_SPACE: Final = 32
_PUNCTUATION: Final = np.zeros(256, np.bool_)
_PUNCTUATION[list(b",.;:!?")] = True
_IDEOGRAPH: Final = np.zeros(256, np.bool_)
_IDEOGRAPH[0xE3:0xEE] = True
"""First bytes, in UTF-8, of Chinese, Japanese and Korean characters (and few others)."""
_CHARACTERS_PER_WORD: Final = 2.0
"""Of a Chinese or Japanese word, which no space ends: most have one or two characters."""
_TITLE: Final = tags.NUMBERS["title"]
_LINK: Final = tags.NUMBERS["a"]
_WORD: Final = re.compile(r"\w{3,}")
_MAX_TITLE_WORDS: Final = 16
_MAX_HITS: Final = 1000
"""Of one title word on a page: what is found more often says nothing."""
_HREF: Final = re.compile(rb' href="([^"]*)"')


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The shown texts of a page, one behind another, each ended by a space."""

    size: int
    """How many nodes the page has."""
    nodes: NDArray[np.intp]
    written: bytes
    bounds: NDArray[np.int64]
    """Where each text begins in `written`, and where the last one ends."""

    @classmethod
    def of(cls, tree: Tree) -> Texts:
        """The texts of a page: what is never shown would be most of it to search."""
        nodes = np.flatnonzero(tree.is_text & (tree.text_length > 0))
        start, stop = tree.start[nodes], tree.stop[nodes]
        source = tree.source
        written = [source[a:b] for a, b in zip(start.tolist(), stop.tolist(), strict=True)]
        bounds = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(stop - start + 1, out=bounds[1:])
        return cls(len(tree), nodes, b" ".join([*written, b""]), bounds)

    def count(self, marked: Flags) -> Floats:
        """How many marked bytes each node's own text has; 0 for elements."""
        total = np.concatenate(([0], np.cumsum(marked)))
        counts = np.zeros(self.size)
        counts[self.nodes] = np.diff(total[self.bounds])
        return counts


def count_words(texts: Texts) -> tuple[Floats, Floats]:
    """The words and the punctuation marks in each node's own text."""
    codes = np.frombuffer(texts.written, np.uint8)
    is_written = codes > _SPACE
    begins = is_written.copy()
    begins[1:] &= ~is_written[:-1]
    words = texts.count(begins)
    ideographs = _IDEOGRAPH[codes]
    if ideographs.any():
        words += texts.count(ideographs) / _CHARACTERS_PER_WORD
    return words, texts.count(_PUNCTUATION[codes])


def count_title_words(tree: Tree, texts: Texts) -> Floats:
    """How often words of the page's title stand in each node's own text."""
    hits: list[int] = []
    lower = texts.written.lower()
    for word in _title_words(tree):
        found = _find_all(lower, word.encode("utf-8", "surrogatepass"))
        hits += found if len(found) < _MAX_HITS else []
    if not hits:
        return np.zeros(len(tree))
    place = np.searchsorted(texts.bounds, hits, side="right") - 1
    return np.bincount(texts.nodes[place], minlength=len(tree)).astype(np.float64)


def _title_words(tree: Tree) -> list[str]:
    """The first different words of the title, in lower case as far as ASCII goes."""
    for node in np.flatnonzero(tree.tag == _TITLE).tolist():
        if tree.end[node] > node + 1:
            title = tree.text(node + 1).encode("utf-8", "surrogatepass").lower()
            words = _WORD.findall(title.decode("utf-8", "surrogatepass"))
            return list(dict.fromkeys(words))[:_MAX_TITLE_WORDS]
    return []


def _find_all(source: bytes, word: bytes) -> list[int]:
    """Where the word stands, up to the limit."""
    found: list[int] = []
    place = source.find(word)
    while place >= 0 and len(found) < _MAX_HITS:
        found.append(place)
        place = source.find(word, place + len(word))
    return found


def mark_links(tree: Tree) -> tuple[Flags, Flags, Flags]:
    """The links, those of them that stay on the site, and those that stay on the page."""
    host = host_of(tree.url or "").encode("utf-8", "replace")
    is_link, on_site, on_page = (np.zeros(len(tree), np.bool_) for _ in range(3))
    nodes = np.flatnonzero((tree.tag == _LINK) & tree.shown)
    for node in nodes.tolist():
        written = _HREF.search(tree.source, tree.start[node], tree.stop[node])
        if written is None:
            continue
        target = written[1].strip()
        is_link[node] = True
        on_page[node] = target.startswith(b"#")
        on_site[node] = not on_page[node] and _stays(target, host)
    return is_link, on_site, on_page


def _stays(target: bytes, host: bytes) -> bool:
    """Does a link lead to a page of the same host?"""
    scheme, has_scheme, rest = target.partition(b":")
    if target.startswith(b"//"):
        rest = target
    elif not has_scheme or b"/" in scheme or b"?" in scheme:
        return True
    elif scheme.lower() not in (b"http", b"https"):
        return False
    name = rest.removeprefix(b"//").partition(b"/")[0].partition(b":")[0].lower()
    return bool(host) and name.removeprefix(b"www.") == host.removeprefix(b"www.")
