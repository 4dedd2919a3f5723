"""From what the page and the site say of each block to one number per block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from dehusk.kernel import KERNEL
from dehusk.memory import Memory
from dehusk.methods.auto.columns import Matrix
from dehusk.methods.auto.evidence import COLUMNS, column, lesson
from dehusk.methods.auto.looks import CELLS, ITEMS
from dehusk.methods.auto.network import Model
from dehusk.methods.auto.reading import Reading
from dehusk.methods.auto.taught import Rules, judge_blocks, look_at
from dehusk.methods.auto.weighing import Look, probability, weigh
from dehusk.model import Flags, Floats

_SCALE: Final = 0.6
"""The site network is surer of itself than it is right: its logits are flattened before they count
as probabilities. On held-out sites 0.6 instead gains 0.003 on news-dev and 0.001 on wcxb-dev, and
loses 0.002 on docs-dev and 0.007 of the values of swde-dev."""
_STRICTNESS: Final = (np.arange(20) + 0.5) / 20
_LEAST: Final = 0.2
"""A block that is content with less probability is not kept beside better ones, nor where the page
says nothing that its site does not say elsewhere."""
_SAID: Final = 0.9
"""The share of a page's text on other pages from which on it says nothing of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Probabilities of being content, one per block."""

    page: Floats
    """What the page alone says."""
    networks: Floats
    """What page and site say together."""
    site: Floats
    """The same after the rules of `decide`."""
    scores: Floats
    """0 content … 1 template, the threshold at 0.5."""
    threshold: float
    """From which probability on a block is kept."""
    evidence: Matrix
    """What the other pages say, as `evidence` gives it."""


def judge(model: Model, memory: Memory, page: Reading, shift: float) -> Judgement:
    """The verdict on every block; `shift` is added to the logits, above 0 to keep more."""
    look = page_look(model, page)
    told, rows = weigh(memory, page, look)
    others = max(memory.pages - 1, 0)
    if KERNEL is not None:
        rules = Rules(shift, others, _COLUMNS_OF_CELLS, _COLUMNS_OF_ITEMS, _NUMBERS)
        found = judge_blocks(KERNEL, page, (told, rows), model.site.arrays, rules)
        return Judgement(look.verdict, *found, told)
    content = softened(model.site(rows)[:, 0], shift)
    decided, threshold = decide(page, content, told, others)
    scores = _scores(decided, threshold)
    return Judgement(look.verdict, content, decided, scores, threshold, told)


def decide(page: Reading, content: Floats, told: Matrix, others: int) -> tuple[Floats, float]:
    """The probabilities after the rules for what the networks see too seldom, and the threshold.

    `content` is what the networks say, `told` what the `others`, the other pages, say.
    """
    chars = page.blocks.chars
    # Added up one after another, as the kernel does: the order of a sum shows in its last digit.
    said = float(np.cumsum(chars * column(told, "known anywhere"))[-1] / chars.sum())
    is_same = _is_same_everywhere(page, told, others)
    # One page under several URLs is the same everywhere, and says what it says.
    if (content[~is_same] >= 0.5).any():
        content = np.where(is_same, 0.0, content)
    content = _with_lists(page, _with_rows(page, content))
    return content, best_threshold(content, chars, may_be_empty=said > _SAID)


@lru_cache(maxsize=1)
def page_look(model: Model, page: Reading) -> Look:
    """What the page alone says and teaches; a page is learned, asked about and described."""
    if KERNEL is not None:
        return Look(*look_at(KERNEL, page, model.page.arrays))
    logits = model.page(page.looks)[:, 0]
    verdict = probability(logits)
    return Look(logits, verdict, lesson(page, verdict))


_SAME_PAGES: Final = 4
_SAME_CHARS: Final = 100
_SAME_AROUND: Final = 0.97
_SAME_TEXT: Final = 0.9
_SAME_LEVELS: Final = slice(1, 4)
"""Two to four levels up: what stands farther around is more than one part of the page."""


def _is_same_everywhere(page: Reading, told: Matrix, others: int) -> Flags:
    """Which blocks stand in a part of the page that is the same on all pages that have it.

    Whatever it looks like, it is template: a box of prose on every page is what the networks have
    seen too seldom. Four other pages must have it, and it must have some length: what repeats in
    tables of content is shorter. Of the words that this drops three levels up, an eighth is content
    on docs-dev and one in a thousand on news-dev and wcxb-dev; F1 of the three changes by 0.0003 at
    most.
    """
    pages = column(told, "place share") * others
    around = told[:, COLUMNS["given place around"]][:, _SAME_LEVELS]
    chars = page.blocks.around(page.blocks.chars)[:, _SAME_LEVELS]
    is_part = ((around > _SAME_AROUND) & (chars >= _SAME_CHARS)).any(axis=1)
    is_same = column(told, "given place") > _SAME_TEXT
    return np.asarray(is_part & is_same & (pages > _SAME_PAGES - 0.5))


_ROW_CHARS: Final = 300
_TABLE_ROWS: Final = 3
"""Rows of two cells or more that make a table of data."""


def _with_rows(page: Reading, content: Floats) -> Floats:
    """The probabilities with those of table rows made one: a label stays with its value.

    A short row that is no list of links is as likely as its likeliest cell, and at least as likely
    as the rows of its table on average. That keeps 0.007 more of the values of swde-dev, in 20
    words a page, and costs 0.001 on docs-dev.
    """
    blocks = page.blocks
    cells = np.flatnonzero(page.looks[:, CELLS].any(axis=1))
    if not len(cells):
        return content
    nodes, row = np.unique(blocks.levels[cells, 1], return_inverse=True)
    chars = np.bincount(row, blocks.chars[cells])
    is_row = (np.bincount(row) >= 2) & (chars <= _ROW_CHARS)
    is_row &= np.bincount(row, blocks.link_chars[cells]) < 0.5 * chars
    likely, table = np.zeros(len(nodes)), np.zeros(len(nodes), np.intp)
    np.maximum.at(likely, row, content[cells])
    table[row] = blocks.levels[cells, 2]
    _, table = np.unique(table, return_inverse=True)
    rows = np.bincount(table, is_row)
    mean = np.bincount(table, likely * is_row) / np.maximum(rows, 1)
    likely = np.where((rows >= _TABLE_ROWS)[table], np.maximum(likely, mean[table]), likely)
    content = content.copy()
    content[cells] = np.where(is_row[row], np.maximum(content[cells], likely[row]), content[cells])
    return content


_LIST_ITEMS: Final = 3

_NUMBERS: Final = np.array(
    (_SCALE, _LEAST, _SAID, _SAME_PAGES, _SAME_CHARS, _SAME_AROUND, _SAME_TEXT, _ROW_CHARS,
     _TABLE_ROWS, _LIST_ITEMS), np.float64
)  # fmt: skip
_COLUMNS_OF_CELLS, _COLUMNS_OF_ITEMS = (np.array(columns, np.int32) for columns in (CELLS, ITEMS))
"""The numbers of this module as the kernel takes them (`src/kernel/judge.c`)."""


def _with_lists(page: Reading, content: Floats) -> Floats:
    """The probabilities with every item of a list at least as likely as the list on average.

    So that a list that is kept is kept whole. That keeps 0.010 more of the values of swde-dev in 2
    words a page, and changes the F1 of no other corpus by more than 0.001.
    """
    items = np.flatnonzero(page.looks[:, ITEMS].any(axis=1))
    if not len(items):
        return content
    _, group = np.unique(page.blocks.levels[items, 1], return_inverse=True)
    chars = page.blocks.chars[items]
    mean = np.bincount(group, chars * content[items]) / np.bincount(group, chars)
    is_list = np.bincount(group) >= _LIST_ITEMS
    content = content.copy()
    content[items] = np.maximum(content[items], np.where(is_list, mean, 0.0)[group])
    return content


def _scores(content: Floats, threshold: float) -> Floats:
    """0 content … 1 template, the threshold at 0.5."""
    kept = 0.5 * (1 - content) / max(1 - threshold, 1e-9)
    dropped = 0.5 + 0.5 * (threshold - content) / threshold
    scores = np.where(content >= threshold, np.minimum(kept, 0.5), dropped)
    return np.minimum(np.maximum(scores, 0.0), 1.0)


def softened(logits: Floats, shift: float = 0.0) -> Floats:
    """The probability that a logit of the site network stands for, by `_SCALE`."""
    return probability(_SCALE * logits + shift)


def best_threshold(probabilities: Floats, chars: Floats, *, may_be_empty: bool = True) -> float:
    """From which probability on to keep blocks, for the best F1 to be expected on this page.

    What a page calls content differs in how strict it is, not block by block: all its comments are,
    or none. So the truth is taken to be one of twenty, from 'only the likeliest blocks' to 'nearly
    all', and the threshold to be the best on average. (With blocks that are content independently
    of each other, many unlikely comments outweigh a short article: 0.011 less on news-dev.)
    """
    best, likeliest = _best(probabilities, chars)
    return best if likeliest < _LEAST and not may_be_empty else max(best, _LEAST)


def _best(probabilities: Floats, chars: Floats) -> tuple[float, float]:
    """The threshold that is best on average over all degrees of strictness, and the highest."""
    if KERNEL is not None:
        found: tuple[float, float] = KERNEL.threshold(probabilities, chars)
        return found
    order = np.argsort(-probabilities, kind="stable")
    likely, kept = probabilities[order], np.cumsum(chars[order])
    count = np.searchsorted(-likely, -_STRICTNESS, "right")
    content = np.concatenate(([0.0], kept))[count]
    f1 = 2 * np.minimum(kept[:, None], content) / (kept[:, None] + content)
    return float(likely[np.argmax(np.cumsum(f1, axis=1)[:, -1])]), float(likely[0])


def pooled(page: Reading, content: Floats) -> Matrix:
    """One row of numbers for the whole page: the looks of its content, and of all its blocks."""
    weight = content * page.blocks.chars + 1e-6
    if KERNEL is not None:
        return np.frombuffer(KERNEL.pool(page.looks, weight), np.float32)
    # Added up one after another, as the kernel does. A product of matrices would have an order of
    # its own, and threads that cost more than they do.
    rows = page.looks.astype(np.float64)
    sums = np.cumsum(weight[:, None] * rows, axis=0)[-1] / np.cumsum(weight)[-1]
    return np.concatenate((sums, np.cumsum(rows, axis=0)[-1] / len(rows)), dtype=np.float32)


_TYPE_SCALE: Final = 0.7
"""The type network is surer than it is right as well: on held-out sites of wcxb-dev it is right on
0.78 of the pages, and says 0.84 of itself; so flattened, 0.76."""
_UNSURE: Final = 0.35
"""A type of lower probability is no better than a guess among seven: `other`."""


def page_type(model: Model, page: Reading, content: Floats) -> tuple[str, float]:
    """The likeliest type of the page and its probability; `other` where none is likely."""
    logits = _TYPE_SCALE * model.type(pooled(page, content)[None])[0]
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    best = int(shares.argmax())
    confidence = float(shares[best])
    if confidence < _UNSURE:
        return "other", 1 - confidence
    return model.types[best], confidence
