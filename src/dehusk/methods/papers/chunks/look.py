"""How a page looks, in 64 bits, and which pages look alike.

After the features that the paper takes from Crescenzi and others (section 2): distance from the
home page, tag probability, tag periodicity, URL similarity. It prints no formulas; these are ours.
A look depends on its page alone, so that counts kept by look add up in any order; which looks
belong together is decided when a page is asked about.
"""

from __future__ import annotations

import re
import zlib
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray

from dehusk.memory import Table
from dehusk.page import tags
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Ints, Tree

_KINDS: Final = tuple(
    tags.numbers(*names)
    for names in (
        ("a",),
        ("li", "dt", "dd"),
        ("p",),
        ("td", "th"),
        ("img",),
        ("h1", "h2", "h3", "h4", "h5", "h6"),
        ("button", "input", "label", "select", "textarea"),
        ("code", "pre"),
        ("b", "em", "i", "small", "strong", "time"),
    )
)
"""Elements whose share of the page is looked at."""
_REPEATING: Final = 4
"""Of these, so many are looked at for how regularly they come: links, items, paragraphs, cells."""
_BITS: Final = 4
_FIELDS: Final = 16
_NAMES: Final = 2
"""The last fields hold names, which are equal or not; all others hold sizes."""
_MAX_DEPTH: Final = 5
_MIN_GAPS: Final = 3
_MAX_GAP: Final = 255
_MAX_URL: Final = 2000
_DIGITS: Final = re.compile(r"\d+")
_MASK: Final = np.uint64(2**_BITS - 1)
_SHIFTS: Final = np.arange(_FIELDS, dtype=np.uint64) * np.uint64(_BITS)


def look_of(tree: Tree) -> np.uint64:
    """The look of a page: sixteen fields of four bits.

    Nine tag probabilities, each the share of a kind of element among all shown ones (0 for none,
    then by powers of two); four tag periodicities, each the share of the most frequent gap among
    the gaps between two elements of a kind (in quarters); the distance from the home page, in
    steps of the URL's path; and two names out of the URL, hashed.
    """
    elements = np.flatnonzero(~tree.is_text & tree.shown)
    tag = tree.tag[elements]
    fields = [_level(int(np.count_nonzero(kind[tag])), len(tag)) for kind in _KINDS]
    fields += [_periodicity(np.flatnonzero(kind[tag])) for kind in _KINDS[:_REPEATING]]
    fields += _url_fields(tree.url or "")
    packed = np.bitwise_or.reduce(np.array(fields, np.uint64) << _SHIFTS)
    return np.uint64(packed)


def distances(look: np.uint64, others: Hashes) -> Ints:
    """How far each of the other looks is: the sum over fields of the difference; of names, 2."""
    mine = (look >> _SHIFTS) & _MASK
    theirs = (others[:, None] >> _SHIFTS) & _MASK
    steps: NDArray[np.int64] = np.abs(theirs.astype(np.int64) - mine.astype(np.int64))
    steps[:, -_NAMES:] = np.minimum(steps[:, -_NAMES:], 1) * 2
    return np.asarray(steps.sum(axis=1), np.int32)


def alike(
    look: np.uint64, looks: Table, max_distance: int, max_looks: int, min_pages: int
) -> Hashes:
    """The looks in the table that are near this one, the nearest first, and of these the commonest.

    Farther ones are taken in until there are `min_pages` pages. No more than `max_looks`: a site
    that never repeats a look cannot make a page expensive.
    """
    far = distances(look, looks.keys)
    order = np.lexsort((looks.keys, -looks.count.astype(np.int64), far))[:max_looks]
    before = np.cumsum(looks.count[order], dtype=np.int64) - looks.count[order]
    return looks.keys[order[(far[order] <= max_distance) | (before < min_pages)]]


def _level(count: int, total: int) -> int:
    """0 for none, 1 for up to 1 %, then one more for each doubling, up to 7."""
    return 0 if not count else min(7, 1 + int(np.log2(1 + 100 * count / total)))


def _periodicity(places: NDArray[np.int64]) -> int:
    """How often the most frequent gap comes, in quarters of all gaps; 0 if there are few."""
    gaps = np.minimum(np.diff(places), _MAX_GAP)
    if len(gaps) < _MIN_GAPS:
        return 0
    return round(4 * int(np.bincount(gaps).max()) / len(gaps))


def _url_fields(url: str) -> list[int]:
    """The steps of the path, and hashes of its first directory and of the shape of what is left."""
    try:
        parts = urlsplit(url[:_MAX_URL])
    except ValueError:
        return [0, 0, 0]
    steps = [step for step in parts.path.split("/") if step]
    query = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)})
    depth = len(steps) + bool(query)
    file = steps[-1] if steps and not parts.path.endswith("/") else ""
    stem, dot, suffix = file.rpartition(".")
    digits = "9" if _DIGITS.search(stem if dot else file) else ""
    shape = "&".join((digits, suffix if dot else "", *query))
    directory = _DIGITS.sub("9", steps[0]) if len(steps) > 1 else ""
    return [min(depth, _MAX_DEPTH), _hash(directory), _hash(shape)]


def _hash(name: str) -> int:
    """A few bits of a name; 0 for none."""
    return zlib.crc32(name.encode("utf-8", "surrogatepass")) >> (32 - _BITS) if name else 0
