"""What class, id and role say of an element: a few kinds of words, and a hash of its look."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.page import tags
from dehusk.page.hashing import TEXT_FACTOR, Hashes, hash_bytes, mix
from dehusk.page.tree import ATTRIBUTE, Tree

KINDS: Final[Mapping[str, str]] = {
    "navigation": "nav menu navbar navigation toc breadcrumb breadcrumbs pagination pager tabs"
    " skip",
    "header": "header head masthead topbar top logo brand banner",
    "footer": "footer foot bottom copyright legal",
    "side": "sidebar side aside widget rail secondary complementary column col left right",
    "related": "related recommended more teaser card cards promo popular trending latest recent"
    " also next prev previous headlines stories hot promos carousel most",
    "social": "share social follow subscribe newsletter signup login cookie consent gdpr popup"
    " modal overlay",
    "advertising": "ad ads advert advertisement sponsor sponsored promoted",
    "about": "meta byline author date tags tag category categories info caption credit",
    "comment": "comment comments reply replies respond discussion kommentar kommentare komentarz"
    " komentarze opinia opinie opinion opinions commentaire commentaires comentario comentarios"
    " commento commenti reactie reacties",
    "content": "content article post entry story body main text maincontent markdown prose"
    " description detail details documentation thread message messages",
    "control": "button btn search form input dropdown toggle hidden icon filter sort select",
}
"""Words that sites put into class names and ids, by what they name: common web vocabulary, mostly
English. None belongs to one site or generator; on a share of the training pages all are hidden."""

_BITS: Final = {
    word: sum(1 << place for place, words in enumerate(KINDS.values()) if word in words.split())
    for line in KINDS.values()
    for word in line.split()
}
# A match is one byte long: text may hold what looks like an attribute and reaches into a tag.
_READ: Final = (b"class", b"id", b"role")
_ATTRIBUTE: Final = re.compile(rb' (class|id|role)="')
_MAX_VALUE: Final = 2000
_CAMEL: Final = re.compile(rb"([a-z])([A-Z])")
_WORD: Final = re.compile(rb"[a-z]+")
_DIGIT: Final = re.compile(rb"[0-9]")
_MAX_CACHED: Final = 20_000
_MAX_CACHED_BYTES: Final = 200
"""Longer values are read anew each time: what is kept of them all stays within a few megabytes."""


class Names(NamedTuple):
    """Of each node: the kinds of words in its names, as bits, and a hash of its classes."""

    kinds: NDArray[np.uint32]
    look: Hashes


class _Meaning(NamedTuple):
    kinds: int
    look: int


_cache: dict[bytes, _Meaning] = {}


def read_names(tree: Tree) -> Names:
    """What class, id and role of every element say. Classes with a digit do not count as look."""
    kinds = np.zeros(len(tree), np.uint32)
    look = np.zeros(len(tree), np.uint64)
    place = np.array([found.start() for found in _ATTRIBUTE.finditer(tree.source)], np.int64)
    node = np.searchsorted(tree.start, place, "right") - 1
    # Text, and the value of another attribute, may hold what looks like one.
    inside = (place < tree.stop[node]) & (tree.tag[node] != tags.TEXT)
    for number in np.unique(node[inside]).tolist():
        start_tag = tree.source[tree.start[number] : tree.stop[number]]
        for name, value in ATTRIBUTE.findall(start_tag):
            if name not in _READ or not 0 < len(value) <= _MAX_VALUE:
                continue
            meaning = _meaning(value)
            kinds[number] |= meaning.kinds
            if name == b"class":
                look[number] = meaning.look
    return Names(kinds, look)


def _slots() -> tuple[Hashes, Hashes, NDArray[np.uint32]]:
    """The words in a table with open addressing, as the kernel reads it (`src/kernel/names.c`)."""
    low, high = np.zeros((2, _SLOTS), np.uint64)
    bits = np.zeros(_SLOTS, np.uint32)
    for word, kinds in _BITS.items():
        first, second = np.frombuffer(word.encode().ljust(16, b"\0"), "<u8").astype(np.uint64)
        slot = int(mix(np.array([first + second * np.uint64(TEXT_FACTOR)]))[0]) % _SLOTS
        while low[slot]:
            slot = (slot + 1) % _SLOTS
        low[slot], high[slot], bits[slot] = first, second, kinds
    return low, high, bits


_SLOTS: Final = 512
with np.errstate(over="ignore"):
    WORDS: Final = _slots()


def _meaning(value: bytes) -> _Meaning:
    """What an attribute's value says; the same values come again on every page of a site."""
    meaning = _cache.get(value)
    if meaning is None:
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        meaning = _Meaning(_kinds(value), _look(value))
        if len(value) <= _MAX_CACHED_BYTES:
            _cache[value] = meaning
    return meaning


def _kinds(value: bytes) -> int:
    """The kinds of words in a value, one bit each."""
    bits = 0
    for word in _WORD.findall(_CAMEL.sub(rb"\1 \2", value).lower()):
        bits |= _BITS.get(word.decode(), 0)
    return bits


def _look(value: bytes) -> int:
    """A hash of the classes without a digit, whatever their order."""
    kept = (name for name in value.split() if not _DIGIT.search(name))
    total = sum(hash_bytes(name) for name in kept) + 1
    return int(mix(np.array([total % 2**64], np.uint64))[0])
