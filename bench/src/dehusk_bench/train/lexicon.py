"""Which words in names and in short texts tell content from template, and what they tell.

Each word gets a few numbers, fitted together with the page network, which reads their sums beside
the other page features. A network that was fitted to words that had been fitted before relied on
them too much: F1 by blocks of 0.869 instead of 0.897 on held-out sites of news-dev, and 0.924
instead of 0.932 on articles-dev.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from sys import intern
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.auto.model import Lexicon, Matrix, Network
from dehusk.page.tree import Tree
from dehusk_bench.train.fit import (  # fmt: skip
    FAR,
    Batches,
    Example,
    Fitting,
    Rows,
    Stepper,
    descend,
    load_jax,
    logits_of,
    loss_of,
    network_of,
    scaled,
    start,
    stepper_of,
)
from dehusk_bench.train.lessons import PAGE_COLUMNS, GoldReading
from dehusk_bench.train.word_kinds import NAMES, TEXTS

_NAMES, _TEXTS = PAGE_COLUMNS["names"], PAGE_COLUMNS["wording"]
_DECAY: Final = 0.8
_MAX_LEVELS: Final = 24
_MAX_WORDS: Final = 10
_MAX_VALUE: Final = 2000
"""As in the kernel, but for the levels: what is farther up counts less than a hundredth."""
MIN_NAME_SITES: Final = 25
MIN_TEXT_SITES: Final = 60
"""Sites, or generators, that have a word: fewer would tell of themselves."""

_READ: Final = ("class", "id", "role", "itemprop")
_NAME_WORD: Final = re.compile(r"[A-Z]*[a-z]+|[A-Z]+")
_LETTER: Final = (
    rb"[A-Za-z]|[\xc3-\xdf][\x80-\xbf]|[\xe0\xe1\xe4-\xee][\x80-\xbf]{2}|\xe3[\x81-\xbf][\x80-\xbf]"
    rb"|\xef[\x80-\xbb\xbe\xbf][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{3}"
)
_TEXT_WORD: Final = re.compile(rb"(?:" + _LETTER + rb")+")


class Said(NamedTuple):
    """Words of the blocks of a page: which, of which block, and how much they count there."""

    words: NDArray[Any]
    blocks: NDArray[np.int32]
    shares: NDArray[np.float16]


def name_words(value: str) -> list[str]:
    """The words in the value of an attribute, as the kernel finds them."""
    return (
        [intern(word.lower()) for word in _NAME_WORD.findall(value)]
        if len(value.encode()) <= _MAX_VALUE
        else []
    )


def text_words(text: str) -> list[str]:
    """The words of a text, as the kernel finds them."""
    return [
        intern(word.lower().decode())
        for word in _TEXT_WORD.findall(text.encode("utf-8", "replace"))
    ]


def _names(tree: Tree) -> Iterator[tuple[int, list[str]]]:
    """Of each element with names, the words in them."""
    for node in np.flatnonzero(~tree.is_text).tolist():
        attributes = tree.attributes(node)
        words = [
            word for name in _READ if name in attributes for word in name_words(attributes[name])
        ]
        if words:
            yield node, words


def _texts(page: GoldReading) -> list[list[str]]:
    """The words of each block; none of one that is not short."""
    found: list[list[str]] = [[] for _ in range(len(page.reading))]
    for segment, block in zip(
        np.asarray(page.reading.segments).tolist(),
        np.asarray(page.reading.owners).tolist(),
        strict=True,
    ):
        if len(found[block]) <= _MAX_WORDS:
            found[block] += text_words(page.tree.text(segment))
    return [words if len(words) <= _MAX_WORDS else [] for words in found]


class Vocabulary:
    """The words that stand on so many sites, numbered from 1 on; those of one kind share a number.

    Of words of a kind only those that stand on fewer sites share one, the others have their own.
    """

    def __init__(self, sites: Counter[str], least: int, kinds: Mapping[str, str]) -> None:
        words = sorted(word for word, count in sites.items() if count >= least)
        self.number = {word: number for number, word in enumerate(words, 1)}
        for shared, kind in enumerate(kinds.values(), len(words) + 1):
            for word in _forms(kind):
                self.number.setdefault(word, shared)
        self.rows = len(words) + len(kinds) + 1


def _forms(kind: str) -> list[str]:
    """The words of a kind, small and with capitals: the kernel knows those of ASCII only."""
    forms = (form for word in kind.split() for form in (word, word.capitalize(), word.upper()))
    return list(dict.fromkeys(form.encode().lower().decode() for form in forms))


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """What all pages say, in words that many sites have."""

    names: Vocabulary
    texts: Vocabulary
    said: list[tuple[Said, Said]]
    """Of each page that is used, in names and in texts; nothing of the others."""

    @classmethod
    def of_pages(
        cls,
        pages: Sequence[GoldReading],
        most: int,
        used: Sequence[bool],
        least: tuple[int, int] = (MIN_NAME_SITES, MIN_TEXT_SITES),
    ) -> Words:
        """Of the pages that are used; only the first so many say which words many sites have."""
        names = [
            list(_names(page.tree)) if own else [] for page, own in zip(pages, used, strict=True)
        ]
        texts = [_texts(page) if own else [] for page, own in zip(pages, used, strict=True)]
        name_list = _listed(pages[:most], ((w for _, row in own for w in row) for own in names))
        text_list = _listed(pages[:most], ((w for row in own for w in row) for own in texts))
        vocabularies = (
            Vocabulary(name_list, least[0], NAMES),
            Vocabulary(text_list, least[1], TEXTS),
        )
        said = [
            (_said_by_names(page, own, vocabularies[0]), _said_by_texts(own_texts, vocabularies[1]))
            for page, own, own_texts in zip(pages, names, texts, strict=True)
        ]
        return cls(*vocabularies, said)


def _listed(pages: Sequence[GoldReading], words: Iterator[Iterator[str]]) -> Counter[str]:
    """On how many sites each word stands; sites of one generator are one."""
    seen: set[tuple[str, str]] = set()
    for page, own in zip(pages, words, strict=False):
        seen.update((word, page.group) for word in own)
    return Counter(word for word, _ in seen)


def _said(words: list[int], blocks: list[int], shares: list[float]) -> Said:
    return Said(
        np.array(words, np.uint16), np.array(blocks, np.int32), np.array(shares, np.float16)
    )


def _said_by_names(
    page: GoldReading, names: list[tuple[int, list[str]]], vocabulary: Vocabulary
) -> Said:
    own = {
        node: [vocabulary.number[word] for word in words if word in vocabulary.number]
        for node, words in names
    }
    words, blocks, shares = list[int](), list[int](), list[float]()
    parent = page.tree.parent
    for block, node in enumerate(np.asarray(page.reading.container).tolist()):
        share = 1.0
        for _ in range(_MAX_LEVELS):
            numbers = own.get(node, ())
            words += numbers
            blocks += [block] * len(numbers)
            shares += [share] * len(numbers)
            node, share = int(parent[node]), share * _DECAY  # noqa: PLW2901  on the way up
            if node < 0:
                break
    return _said(words, blocks, shares)


def _said_by_texts(texts: list[list[str]], vocabulary: Vocabulary) -> Said:
    words, blocks, shares = list[int](), list[int](), list[float]()
    for block, own in enumerate(texts):
        numbers = [vocabulary.number[word] for word in own if word in vocabulary.number]
        words += numbers
        blocks += [block] * len(numbers)
        shares += [max(len(own), 1) ** -0.5] * len(numbers)
    return _said(words, blocks, shares)


class _Sums(NamedTuple):
    """The words of a batch, filled up to one size, as JAX wants them."""

    words: NDArray[np.int32]
    blocks: NDArray[np.int32]
    shares: Matrix


_MOST: Final = (28, 8)
"""Words in names, and in short texts, that there is room for, a block of a batch."""
_DECAY_OF_WORDS: Final = 1.0
"""How much a word is pulled to 0 at each step, times the rate. Without, words of few sites tell
what these sites are. F1 by blocks of the page network on held-out sites, with 0.001, 1 and 3:
articles 0.928, 0.933, 0.935; documentation 0.965, 0.961, 0.955; snippets 0.916, 0.926, 0.928;
values of swde-dev 0.92, 0.82, 0.78."""
_DROPPED: Final = 0.1


def fit_with_words(
    examples: Sequence[Example],
    rows: Rows,
    words: Words,
    said: Sequence[tuple[Said, Said]],
    settings: Fitting,
    hidden_names: float,
) -> tuple[Network, Lexicon]:
    """The network and what the words tell, after all epochs; `said` are those of the examples.

    What the words may come to is cut where it is far from what these pages have.
    """
    random = np.random.default_rng(settings.seed)
    batches = Batches(examples, rows, settings, unscaled=(_NAMES, _TEXTS))
    inputs, width = len(batches.scale[0]), settings.width
    values = [
        start(random, (words.names.rows, _NAMES.stop - _NAMES.start), 0.1),
        start(random, (words.texts.rows, _TEXTS.stop - _TEXTS.start), 0.1),
        start(random, (inputs, width), math.sqrt(2 / inputs)),
        np.zeros(width, np.float32),
        start(random, (width, 1), math.sqrt(1 / width)),
        np.zeros(1, np.float32),
    ]

    def sums(part: list[int]) -> tuple[list[_Sums]]:
        own = [(len(examples[place]), said[place]) for place in part]
        return (_sums(own, settings.batch, random, hidden_names),)

    stepper = _stepper(replace(settings, seed=0, epochs=0))
    names, texts, *weights = descend(stepper, values, batches, settings.seed, random, sums)
    network = network_of([weights], batches.scale)
    for columns, table, kind in ((_NAMES, names, 0), (_TEXTS, texts, 1)):
        far = FAR * _spread(table, [own[kind] for own in said], sum(map(len, examples)))
        network.floor[columns], network.ceiling[columns] = -far, far
    return network, Lexicon(_told(words.names, names), _told(words.texts, texts))


def _spread(table: Matrix, said: Sequence[Said], blocks: int) -> Matrix:
    """How far from 0 what words tell of blocks is, in the mean of squares."""
    total = np.zeros(table.shape[1])
    for own in said:
        if len(own.words):
            sums = np.zeros((int(own.blocks[-1]) + 1, table.shape[1]), np.float32)
            np.add.at(sums, own.blocks, table[own.words] * own.shares[:, None])
            total += (sums.astype(np.float64) ** 2).sum(0)
    return np.asarray(np.sqrt(total / max(blocks, 1)) + 1e-3, np.float32)


@lru_cache
def _stepper(settings: Fitting) -> Stepper:
    """How to fit the network and what words tell; compiled once."""
    jax, _ = load_jax()

    def told(table: Any, sums: _Sums, count: int) -> Any:
        each = table[sums.words] * sums.shares[:, None]
        return jax.ops.segment_sum(each, sums.blocks, count)

    def loss(values: Any, key: Any, scale: Any, batch: Any, sums: Sequence[_Sums]) -> Any:
        inputs = scaled(batch.rows, scale)
        for columns, table, own in zip((_NAMES, _TEXTS), values[:2], sums, strict=True):
            inputs = inputs.at[:, columns].add(told(table, own, len(batch.rows)))
        return loss_of(logits_of(values[2:], key, inputs, settings), batch, settings)

    return stepper_of(loss, [_DECAY_OF_WORDS] * 2 + [settings.decay] * 4)


def _told(vocabulary: Vocabulary, table: Matrix) -> dict[str, list[float]]:
    """What each word tells, rounded, so that a model reads as it is written."""
    return {
        word: [float(f"{value:.3g}") for value in table[number].tolist()]
        for word, number in sorted(vocabulary.number.items())
    }


def _sums(
    pages: Sequence[tuple[int, tuple[Said, Said]]],
    size: int,
    random: np.random.Generator,
    hidden_names: float,
) -> list[_Sums]:
    """The words of a batch: some are left out, and of some pages all that stand in names.

    Of each page how many blocks it has, and its words.
    """
    found = [
        _Sums(np.zeros(room, np.int32), np.zeros(room, np.int32), np.zeros(room, np.float32))
        for room in (size * most for most in _MOST)
    ]
    at, ends = 0, [0, 0]
    for blocks, said in pages:
        count = min(blocks, size)
        is_hidden = (random.random() < hidden_names, False)
        for kind, own in enumerate(said):
            kept = (random.random(len(own.words)) >= _DROPPED) & (own.blocks < count)
            kept &= not is_hidden[kind]
            first, last = ends[kind], min(ends[kind] + int(kept.sum()), size * _MOST[kind])
            chosen, sums, ends[kind] = np.flatnonzero(kept)[: last - first], found[kind], last
            sums.words[first:last] = own.words[chosen]
            sums.blocks[first:last] = own.blocks[chosen] + at
            sums.shares[first:last] = own.shares[chosen]
        at += count
    return found
