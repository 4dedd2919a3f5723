"""Rules for what the networks have seen too seldom, or cannot see block by block."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.methods.auto.columns import Matrix
from dehusk.methods.auto.evidence import COLUMNS, column
from dehusk.methods.auto.looks import CELLS, HEADINGS, HEADLINE, ITEMS
from dehusk.methods.auto.reading import Reading
from dehusk.page.tree import Flags, Floats

_SAME_PAGES: Final = 4
_SAME_CHARS: Final = 100
_SAME_AROUND: Final = 0.97
_SAME_TEXT: Final = 0.9
_SAME_LEVELS: Final = slice(1, 5)
"""Two to six levels up: a cell of a table needs four to get out of it, and what stands farther
around is more than one part of the page."""
_ROW_CHARS: Final = 300
_TABLE_ROWS: Final = 3
"""Rows of two cells or more that make a table of data."""
_LIST_ITEMS: Final = 3
_HEADING: Final = 0.5
_NEW: Final = 0.5
"""At most so many of the pages that have its place say the same as a headline."""

NUMBERS: Final = (
    _SAME_PAGES, _SAME_CHARS, _SAME_AROUND, _SAME_TEXT, _ROW_CHARS, _TABLE_ROWS, _LIST_ITEMS,
    _HEADING, _NEW,
)  # fmt: skip
KINDS: Final = tuple(
    np.array(columns, np.int32).tobytes() for columns in (CELLS, ITEMS, HEADINGS, HEADLINE)
)
"""The columns of looks that the rules ask, as the kernel takes them."""


def by_parts(page: Reading, content: Floats, told: Matrix, others: int) -> Floats:
    """The probabilities of blocks with those that belong together brought together.

    `content` is what the networks say, `told` what the `others`, the other pages, say.
    """
    content = _with_lists(page, _with_rows(page, content), told)
    content = _with_headings(page, content)
    is_same = _is_same_everywhere(page, told, others)
    # One page under several URLs is the same everywhere, and says what it says.
    return np.where(is_same, 0.0, content) if (content[~is_same] >= 0.5).any() else content


def with_headline(page: Reading, content: Floats, told: Matrix, threshold: float) -> Floats:
    """The probabilities with the headline kept where anything is kept.

    The headline is the first `<h1>` that says what `<title>` says and is new. Most gold of wcxb-dev
    lacks it, so the networks drop it on some pages; readers miss it. It costs 0.001 there, and wins
    as much of the values of swde-dev.
    """
    is_headline = page.looks[:, HEADLINE].all(axis=1) & (column(told, "given place") < _NEW)
    found = np.flatnonzero(is_headline)[:1]
    if not len(found) or not (content >= threshold).any():
        return content
    content = content.copy()
    content[found] = np.maximum(content[found], threshold)
    return content


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
    table[row] = blocks.levels[cells, 3]  # Above the head or body that the row stands in.
    _, table = np.unique(table, return_inverse=True)
    rows = np.bincount(table, is_row)
    mean = np.bincount(table, likely * is_row) / np.maximum(rows, 1)
    likely = np.where((rows >= _TABLE_ROWS)[table], np.maximum(likely, mean[table]), likely)
    content = content.copy()
    content[cells] = np.where(is_row[row], np.maximum(content[cells], likely[row]), content[cells])
    return content


def _with_lists(page: Reading, content: Floats, told: Matrix) -> Floats:
    """The probabilities with every item of a list at least as likely as the list on average.

    So that a list that is kept is kept whole; but for items that are the same on all pages. That
    keeps 0.008 more of the values of swde-dev in 2 words a page, and changes the F1 of no other
    corpus by more than 0.001.
    """
    items = np.flatnonzero(page.looks[:, ITEMS].any(axis=1))
    if not len(items):
        return content
    _, group = np.unique(page.blocks.levels[items, 1], return_inverse=True)
    chars = page.blocks.chars[items]
    mean = np.bincount(group, chars * content[items]) / np.bincount(group, chars)
    mean[np.bincount(group) < _LIST_ITEMS] = 0.0
    content = content.copy()
    is_new = column(told, "given place")[items] <= _SAME_TEXT
    content[items] = np.maximum(content[items], np.where(is_new, mean[group], 0.0))
    return content


def _with_headings(page: Reading, content: Floats) -> Floats:
    """The probabilities with those of headings half way to that of what they stand over.

    'Parameters' is on every page of a reference, and still belongs to the parameters: 0.001 more on
    docs-dev.
    """
    headings = np.flatnonzero(page.looks[:, HEADINGS].any(axis=1))
    likely = content.tolist()
    for block in headings[headings < len(likely) - 1][::-1].tolist():
        if (behind := likely[block + 1]) > likely[block]:
            likely[block] += _HEADING * (behind - likely[block])
    return np.array(likely)
