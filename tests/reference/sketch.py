"""What a page seems to say, as a few numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from dehusk.methods.auto.features import PAGE_FEATURES, columns_by_name
from dehusk.page.hashing import Hashes, hash_bytes, mix
from dehusk.page.tree import Flags, Floats, Tree
from reference.page_features import Matrix
from reference.reading import Blocks

_BUCKET_BITS, _LONG_BLOCK, _MOST_LINKED, _FEW_WORDS, _FEW_KEYS = 5, 40, 0.5, 40, 7
_LIKELIEST: Final = 0.5
_LINKED: Final = columns_by_name(PAGE_FEATURES)["text.link_share"].start
_WIDE: Final = rb"[\xe3-\xed]"
_WORD: Final = re.compile(
    rb"(?s:" + _WIDE + rb".{0,2})|(?:(?!" + _WIDE + rb")[0-9A-Za-z\x80-\xff])+"
)
"""One of Kana, Han and Hangul, as UTF-8 writes them, or a run of other letters and digits."""
_FACTOR: Final = 0x9E3779B97F4A7C15
_ALL: Final = 2**64 - 1


def sketch(tree: Tree, blocks: Blocks, features: Matrix, content: Floats) -> Hashes:
    """Of each bucket of three words in a row those with the least hash; of few also one of all."""
    least: dict[int, int] = {}
    first = second = every = _ALL
    for word in _words(tree, blocks, features, content):
        own = hash_bytes(word)
        three = ((first * _FACTOR + second) * _FACTOR + own) & _ALL
        three = int(mix(np.array([three], np.uint64))[0])
        bucket = three >> (64 - _BUCKET_BITS)
        least[bucket] = min(least.get(bucket, _ALL), three)
        every = (every * _FACTOR + three) & _ALL
        first, second = second, own
    few = [every] if 0 < len(least) < _FEW_KEYS else []
    return np.array(sorted([*least.values(), *few]), np.uint64)


def _words(tree: Tree, blocks: Blocks, features: Matrix, content: Floats) -> list[bytes]:
    """Running text that looks like content; where that is little, all that does; else what may."""
    likely = content >= 0.5
    running = likely & (blocks.chars >= _LONG_BLOCK) & (features[:, _LINKED] < _MOST_LINKED)
    words = _words_of(tree, blocks, np.asarray(running))
    if len(words) < _FEW_WORDS:
        words = _words_of(tree, blocks, likely)
    return words or _words_of(tree, blocks, content >= _LIKELIEST * content.max(initial=0.0))


def _words_of(tree: Tree, blocks: Blocks, is_read: Flags) -> list[bytes]:
    return [
        word
        for node, owner in zip(blocks.segments.tolist(), blocks.owner.tolist(), strict=True)
        if is_read[owner]
        for word in _WORD.findall(tree.source[tree.start[node] : tree.stop[node]])
    ]


_SHARED, _SHARED_LESS, _TOGETHER = 0.3125, 0.03, 0.75


def copies(counts: Sequence[int], lasts: Sequence[int]) -> int:
    """How many pages have a sketch, by what is known of its numbers: on how many pages each was,
    and on which last.
    """
    size, known = len(counts), list(zip(lasts, counts, strict=True))
    least = math.ceil(size * max(_SHARED, 1 - _SHARED_LESS * size))
    if sum(count > 0 for count in counts) < least:
        return 0
    pages: dict[int, list[int]] = {}
    for last, count in sorted(known):
        if count:
            pages.setdefault(last, []).append(count)
    most = max(map(len, pages.values()), default=0)
    if most < _TOGETHER * least:
        return 0
    return max((own[most // 2] for own in pages.values() if len(own) == most), default=0)
