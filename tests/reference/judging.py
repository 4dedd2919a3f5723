"""From what the page and the site say of each block to one number per block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk import _kernel
from dehusk.methods.auto.features import EVIDENCE, PAGE_FEATURES, columns_by_name
from dehusk.methods.auto.model import Model, Network
from dehusk.page import tags
from dehusk.page.tree import Flags, Floats, Tree
from reference.learning import Reading, Table, Tables, evidence, find_family, mean_around
from reference.page_features import Matrix
from reference.reading import MUCH_TEXT, Blocks
from reference.siblings import with_siblings
from reference.steps import exp, log1p, probability


def outputs(network: Network, rows: Matrix) -> Floats:
    """What a network with one hidden layer says of each row, inputs cut to what training saw."""
    inputs = np.clip(rows, network.floor, network.ceiling)
    active = np.maximum(_products(inputs, network.hidden, network.hidden_bias), 0)
    return np.asarray(_products(active, network.output, network.output_bias), np.float64)


def _products(inputs: Matrix, weights: Matrix, bias: Matrix) -> Matrix:
    """Inputs times weights, added to the bias one input after another.

    A product of matrices would add them up in an order of its own, which differs from machine to
    machine.
    """
    total = np.repeat(bias[None], len(inputs), axis=0)
    for place in np.flatnonzero(inputs.any(axis=0)).tolist():
        total += inputs[:, place, None] * weights[place]
    return total


# --- what the site network reads ---

_PAGE = columns_by_name(PAGE_FEATURES)
PARTS = tuple(
    _PAGE[group]
    for group in (
        "text", "place", "container", "names", "wording", "alike", "rows", "main", "copies",
        "title", "stated",
    )
)  # fmt: skip
"""The page features that the site network reads too. With those of a block's surroundings it
remembered the sites that it was fitted to: without, held-out sites have 0.002 more on docs-dev,
0.003 more on news-dev and 0.006 more of the values of swde-dev. What surrounds a block has its say
by the opinions there."""
_NEAR = (2, 1, 0, 4, 5, 6)
"""The neighbours of a block among the seven blocks around it."""
_SURE = 0.8
"""A probability from which on a block is surely content."""


def site_features(
    page: Reading, logits: Floats, found: Matrix, before: Floats, types: Floats
) -> Matrix:
    """Some page features, the site's evidence, the page network's opinion, and the page's types.

    The opinion on the block, its six neighbours, its surroundings at each level, and on the blocks
    that stood at its place on other pages, alone and in its surroundings.
    """
    content = probability(logits)
    padded = np.concatenate((np.zeros(3), content, np.zeros(3)))
    near = [padded[at : at + len(content)] for at in _NEAR]
    columns = (
        *(page.features[:, part] for part in PARTS),
        found,
        np.stack((logits / 3, content, before, *near), axis=1),
        mean_around(page, content),
        mean_around(page, before),
        _ranks(page.blocks, content),
        _in_family(page, content),
        np.tile(types, (len(content), 1)),
    )
    return np.concatenate(columns, axis=1, dtype=np.float32)


def _ranks(blocks: Blocks, content: Floats) -> Floats:
    """How the opinion compares with that on the other blocks of the page.

    The share of the content to be expected that is likelier, how much is surely content, in all and
    as a share of the page, and the probability as a share of the highest.
    """
    expected = blocks.chars * content
    order = np.argsort(-content, kind="stable")
    total = np.cumsum(expected[order])
    above = np.empty(len(content))
    above[order] = total - expected[order]
    sure = float(blocks.chars[content >= _SURE].sum())
    columns = (
        above / max(float(total[-1]), 1e-9),
        np.full(len(content), log1p(min(sure, MUCH_TEXT)) / 8),
        np.full(len(content), sure / max(float(blocks.chars.sum()), 1.0)),
        content / max(float(content.max()), 1e-6),
    )
    return np.stack(columns, axis=1)


def _in_family(page: Reading, content: Floats) -> Floats:
    """Does each block stand in the element that names the page's family, or behind it?"""
    at = find_family(page, content)
    low, high = page.blocks.low[at], page.blocks.high[at]
    order = np.arange(len(content))
    return np.stack(((order >= low) & (order < high), order >= high), axis=1).astype(np.float64)


# --- what is carried along the page ---


def context_rows(model: Model, features: Matrix) -> Matrix:
    """What the context network reads of each block.

    What has been carried to it from before, and from behind, and the block's own numbers. Of each
    block the site network gives gates and fresh numbers for both directions: what is carried takes
    up the fresh numbers as far as the gate is open.
    """
    given = outputs(model.site, features).astype(np.float32)
    read = len(model.context.floor)
    count = (given.shape[1] - read) // 2
    forth, back, own = given[:, :count], given[:, count : 2 * count], given[:, 2 * count : read]
    fresh_forth, fresh_back = given[:, read : read + count], given[:, read + count :]
    carried = _carried(forth, fresh_forth), _carried(back[::-1], fresh_back[::-1])[::-1]
    return np.concatenate((*carried, own), axis=1)


def _carried(gates: Matrix, fresh: Matrix) -> Matrix:
    """What is carried after each row."""
    half, one = np.float32(0.5), np.float32(1)
    opened = half + half * (gates / (one + np.abs(gates)))
    state, rows = np.zeros(gates.shape[1], np.float32), np.empty_like(gates)
    for row in range(len(gates)):
        state = state * (one - opened[row]) + opened[row] * fresh[row]
        rows[row] = state
    return rows


# --- judgement ---


@dataclass(frozen=True, eq=False)
class Judgement:
    """Probabilities of being content, one per block, and what they come to."""

    evidence: Matrix
    features: Matrix
    """What the site network reads."""
    content: Floats
    """The probabilities of being content."""
    comments: Floats
    """The probabilities of being what readers wrote below the content."""
    scores: Floats
    """0 content … 1 template, the threshold at 0.5."""
    threshold: float


def judge(
    model: Model,
    tables: Tables,
    pages: int,
    page: Reading,
    logits: Floats,
    shift: float,
    known_type: int = -1,
    lean: Floats | float = 0.0,
    copies: int = 1,
) -> Judgement:
    """What page and site come to; `shift` is added to the logits, above 0 to keep more.

    `lean` is what the atlas of themes says, and is added where the networks have spoken.

    The networks read the types as they were fitted to them: not flattened, or what the user knows.
    """
    found, before = evidence(tables, pages, page, probability(logits), copies)
    types = page_types(model, page, probability(logits), 1.0)
    if known_type >= 0:
        types = np.eye(len(types))[known_type]
    features = site_features(page, logits, found, before, types)
    decided = outputs(model.context, context_rows(model, features))
    likely = decided[:, 0] + lean + shift
    if pages > copies:
        nothing, own = evidence(dict.fromkeys(tables, Table()), 1, page, probability(logits))
        rows = context_rows(model, site_features(page, logits, nothing, own, types))
        alone = outputs(model.context, rows)[:, 0] + lean + shift
        marks = _at_stake(page, probability(logits), found, likely, pages - copies)
        likely = np.where(marks, np.maximum(likely, alone), likely)
    content = probability(likely)
    if pages - copies < _FEW_OTHERS and _is_bare(page):
        content = np.maximum(content, 0.5)
    content = _with_rows(page, _with_heads(page, content))
    content = with_siblings(page, _with_sequences(page, content))
    content = _with_headings(page, content)
    # The likeliest where none is likely: a page with text does not come out empty.
    threshold = min(0.5, float(content.max()))
    scores = _scores(content, threshold)
    return Judgement(found, features, content, probability(decided[:, 1]), scores, threshold)


_PARTS = ("nav", "header", "footer", "aside", "form", "button", "a")
_BARE_BLOCKS, _FEW_OTHERS = 8, 3


def _is_bare(page: Reading) -> bool:
    """Is it a fragment: a few blocks without links, headings and parts of a page?"""
    framed = [page.features[:, _PAGE[f"tags.{part}"].start] > 0 for part in _PARTS]
    is_few = len(page.features) <= _BARE_BLOCKS
    return is_few and not (np.any(framed) or page.blocks.link_chars.any() or any(_levels(page)))


_EVIDENCE = columns_by_name(EVIDENCE)
_HALF, _MAY_BE, _FEW_PAGES, _KNOWN = np.float32(0.5), 0.02, np.float32(2.5), np.float32(0.9)


def _at_stake(page: Reading, opinion: Floats, found: Matrix, likely: Floats, others: int) -> Flags:
    """Which blocks the site would take though only the page alone may drop them.

    What stands in the main element and on other pages too, but on two of them at most, or on no
    more than half; tables of data, lists of terms and code with some text of their own; what stands
    in one small element with text of the page's own that is kept; what stands under a heading that
    is kept, if nothing of it is; and headings of what is kept.
    """
    known, anywhere = (
        found[:, _EVIDENCE[f"evidence.{name}"].start] for name in ("known_anywhere", "anywhere")
    )
    marks = np.zeros(len(known), np.bool_)
    is_own = (anywhere <= _HALF) | (known < _KNOWN)
    for heading, body, stop in _sections(page):
        if likely[heading] >= 0:
            marks[body:stop] |= (likely[body:stop] < 0).all()
    for inside in _wholes(page):
        marks[inside] |= is_own[inside].any()
    for block in range(len(known)):
        low, high = _item(page, block)
        is_small = page.blocks.chars[low:high].sum() <= _ITEM_CHARS
        marks[block] |= is_small and (is_own & (likely >= 0))[low:high].any()
    is_few = (anywhere <= _HALF) | (anywhere * np.float32(others) < _FEW_PAGES)
    marks |= (page.features[:, _PAGE["main.inside"].start] > 0) & (known > 0) & is_few
    may_be_kept, chars = marks | (likely >= 0), page.blocks.chars
    for heading, body, stop in _sections(page):
        own = chars[body:stop]
        marks[heading:body] |= (own * may_be_kept[body:stop]).sum() > 0.5 * own.sum()
    return np.asarray(marks & (likely < 0) & (opinion >= _MAY_BE))


def _sections(page: Reading) -> Iterator[tuple[int, int, int]]:
    """The headings of a page: where each begins, and what it heads up to the next one."""
    levels, block = _levels(page), 0
    while block < len(levels):
        stop = block + 1
        if levels[block]:
            body = stop = _end_of_heading(page, block)
            while stop < len(levels) and not levels[stop]:
                stop += 1
            yield block, body, stop
        block = stop


_ITEM_CHARS = 200


def _item(page: Reading, block: int) -> tuple[int, int]:
    """The blocks of the smallest element around one that holds another too."""
    for low, high in zip(page.blocks.low[block], page.blocks.high[block], strict=True):
        if high - low > 1:
            return int(low), int(high)
    return block, block + 1


def _wholes(page: Reading) -> Iterator[Flags]:
    """The blocks of each table of data, list of terms, and code."""
    first, tree = page.blocks.segments[page.blocks.first], page.tree
    for table in np.flatnonzero(tree.tag == tags.NUMBERS["table"]).tolist():
        rows = _rows_of_data(tree, table)
        runs = [(first >= row) & (first < tree.end[row]) for row in rows]
        yield np.any(runs, axis=0) if runs else np.zeros(len(first), np.bool_)
    for node in _sequences(page):
        if tree.tag[node] not in (tags.NUMBERS["ul"], tags.NUMBERS["ol"]):
            yield (first >= node) & (first < tree.end[node])


_HEAD, _TABLE_LEVEL = columns_by_name(PAGE_FEATURES)["container.th"].start, 3


def _with_heads(page: Reading, content: Floats) -> Floats:
    """The heads of tables as likely as their other cells, if these are content.

    They come back with every such table, which the networks take for template.
    """
    is_head = page.features[:, _HEAD] > 0
    chars = np.where(is_head, 0.0, page.blocks.chars)
    means = (
        page.blocks.around(chars * content)[:, _TABLE_LEVEL]
        / np.maximum(page.blocks.around(chars), 1)[:, _TABLE_LEVEL]
    )
    names = page.tree.tag[page.blocks.levels[:, _TABLE_LEVEL]]
    is_lifted = is_head & (names == tags.NUMBERS["table"]) & (means >= 0.5)
    return np.where(is_lifted, np.maximum(content, means), content)


_STRUCTURE = tags.numbers(*_kernel.TAG_SETS["STRUCTURE"])
_CELL = tags.numbers(*_kernel.TAG_SETS["CELL"])
_MAX_CELL, _MIN_ROWS, _MIN_FULL = 1000, 3, 2
"""With fewer rows it may be the links to the pages before and behind, around the title: with two
as the least, F1 on docs-dev is 0.973 instead of 0.974."""


def _with_rows(page: Reading, content: Floats) -> Floats:
    """The cells of tables of data, kept whole if most of their text is content, else by rows.

    What names rows and columns comes back with every such table, which the networks take for
    template. F1 on docs-dev and wcxb-dev gains 0.0002 by it, the values of swde-dev 0.002.
    """
    found = content.copy()
    first = page.blocks.segments[page.blocks.first]
    tree = page.tree
    for table in np.flatnonzero(tree.tag == tags.NUMBERS["table"]).tolist():
        rows = _rows_of_data(tree, table)
        runs = [(first >= row) & (first < tree.end[row]) for row in rows]
        inside = np.any(runs, axis=0) if runs else np.zeros(len(first), np.bool_)
        chars = page.blocks.chars[inside]
        if (chars * found[inside]).sum() / max(chars.sum(), 1) >= 0.5:
            runs.append(inside)
        for run in runs:
            if run is inside or (found[run] >= 0.5).any():
                found[run] = np.maximum(found[run], 0.5)
    return found


def _rows_of_data(tree: Tree, table: int) -> list[int]:
    """The rows of a table that holds data; none of one that lays out a page."""
    inside = np.arange(table + 1, tree.end[table])
    inside = inside[tree.shown[inside] & (tree.text_length[inside] > 0) & ~tree.is_text[inside]]
    cells = inside[_CELL[tree.tag[inside]]]
    rows = inside[tree.tag[inside] == tags.NUMBERS["tr"]].tolist()
    full = [int(((cells > row) & (cells < tree.end[row])).sum()) for row in rows]
    is_data = (
        tree.shown[table]
        and not _STRUCTURE[tree.tag[inside]].any()
        and not (tree.text_length[cells] > _MAX_CELL).any()
        and len(rows) >= _MIN_ROWS
        and max(full) >= _MIN_FULL
    )
    return rows if is_data else []


_SEQUENCES = tags.numbers("ul", "ol", "dl", "pre")
_FEW, _DROPPED = 0.3, 0.49


def _with_sequences(page: Reading, content: Floats) -> Floats:
    """Lists that hold no more than items, and code, kept or dropped whole with the lists in them,
    where most of their text is content or template.
    """
    found, first = content.copy(), page.blocks.segments[page.blocks.first]
    for node in _sequences(page):
        inside = (first >= node) & (first < page.tree.end[node])
        chars = page.blocks.chars[inside]
        mean = (chars * found[inside]).sum() / max(chars.sum(), 1)
        if mean >= 0.5:
            found[inside] = np.maximum(found[inside], 0.5)
        elif mean < _FEW:
            found[inside] = np.minimum(found[inside], _DROPPED)
    return found


def _sequences(page: Reading) -> Iterator[int]:
    """The outermost lists that hold no more than items, and code."""
    tree, end = page.tree, 0
    for node in np.flatnonzero(_SEQUENCES[tree.tag]).tolist():
        if node >= end and not _STRUCTURE[tree.tag[node + 1 : tree.end[node]]].any():
            end = int(tree.end[node])
            yield node


_HEADINGS = [tags.NUMBERS[f"h{level}"] for level in range(1, 7)]
_POSSIBLE, _MOST = 0.2, 0.8


def _levels(page: Reading) -> list[int]:
    """The level of the heading that each block is; 0 for another block."""
    names = page.tree.tag[page.blocks.container].tolist()
    return [1 + _HEADINGS.index(name) if name in _HEADINGS else 0 for name in names]


def _end_of_heading(page: Reading, block: int) -> int:
    """The block behind the last one of a heading, which may be of several lines."""
    containers = page.blocks.container.tolist()
    stop = block + 1
    while stop < len(containers) and containers[stop] == containers[block]:
        stop += 1
    return stop


def _with_headings(page: Reading, content: Floats) -> Floats:
    """Headings that may be content kept where most of what they head is."""
    found, tree, levels = content.copy(), page.tree, _levels(page)
    first = page.blocks.segments[page.blocks.first]
    block = 0
    while block < len(levels):
        level, own = levels[block], slice(block, block + 1)
        if level > 1:
            own = slice(block, _end_of_heading(page, block))
            holder = max(tree.parent[page.blocks.container[block]], 0)
            end = tree.end[max(tree.parent[holder], 0)]
            stop = own.stop
            while stop < len(levels) and first[stop] < end and not 0 < levels[stop] <= level:
                stop += 1
            chars = page.blocks.chars[own.stop : stop]
            kept = (chars * (found[own.stop : stop] >= 0.5)).sum()
            if found[own].max() >= _POSSIBLE and kept / max(chars.sum(), 1) >= _MOST:
                found[own] = np.maximum(found[own], 0.5)
        block = own.stop
    return found


def _scores(content: Floats, threshold: float) -> Floats:
    """0 content … 1 template, the threshold at 0.5."""
    kept = 0.5 * (1 - content) / max(1 - threshold, 1e-9)
    dropped = 0.5 + 0.5 * (threshold - content) / threshold
    scores = np.where(content >= threshold, np.minimum(kept, 0.5), dropped)
    return np.minimum(np.maximum(scores, 0.0), 1.0)


def spread(page: Reading, values: Floats) -> Floats:
    """The blocks' numbers at their text nodes, and for each element the mean below it, by length.

    What has none, nan, does not count; an element with nothing that counts has none either.
    """
    tree, segments, own = page.tree, page.blocks.segments, values[page.blocks.owner]
    is_known = ~np.isnan(own)
    sums = np.zeros((2, len(tree) + 1))
    sums[0, segments + 1] = np.where(is_known, own, 0.0) * page.blocks.lengths
    sums[1, segments + 1] = is_known * page.blocks.lengths
    totals = np.cumsum(sums, axis=1)
    score, length = totals[:, tree.end] - totals[:, :-1]
    means = np.full(len(tree), np.nan)
    holds = tree.shown & (length > 0.5)
    means[holds] = np.clip(score[holds] / length[holds], 0.0, 1.0)
    means[segments] = own
    return means


# --- the page as a whole ---


def pooled(page: Reading, content: Floats) -> Matrix:
    """One row of numbers for the whole page: the features of its content, and of all its blocks."""
    weight = content * page.blocks.chars + 1e-6
    # Added up one after another. A product of matrices would have an order of its own.
    rows = page.features.astype(np.float64)
    sums = np.cumsum(weight[:, None] * rows, axis=0)[-1] / np.cumsum(weight)[-1]
    return np.concatenate((sums, np.cumsum(rows, axis=0)[-1] / len(rows)), dtype=np.float32)


_TYPE_SCALE = 0.7
"""The type network is surer than it is right: on held-out sites of wcxb-dev it is right on 0.76 of
the pages, and says 0.84 of itself; so flattened, 0.79."""


def page_types(model: Model, page: Reading, content: Floats, scale: float = _TYPE_SCALE) -> Floats:
    """The probabilities of the page's types; `content` is what the page network says."""
    logits = outputs(model.type, pooled(page, content)[None])[0]
    shares = exp(np.maximum(scale * (logits - logits.max()), -30))
    return np.asarray(shares / np.cumsum(shares)[-1])


def is_last_page(contents: Table, pages: int, own: Sequence[int]) -> bool:
    """Was the page that says this the last to be learned? Not so in the second of two passes."""
    known = [contents.last[key] for key in own if key in contents.last]
    return 2 * known.count(pages) > len(known)


def is_template_new(segments: Table, pages: int) -> bool:
    """Is this the third page of a new template?

    Half of the texts that it has at a place in common with other pages are on three pages only, few
    are on four, and of what was usual before, the last three pages have less than half. Usual is
    what was on eight pages, on a young site on half of all, and on one of the last 16: what an
    earlier template had is not missed.
    """
    if pages < 8:
        return False
    before = pages - 3
    least = max(3, min(before / 2, 8))
    rows = [(segments.count[key], last) for key, last in segments.last.items()]
    usual = [last for count, last in rows if count >= least and last > before - 16]
    left = sum(last > before for last in usual)
    shared = [count for count, last in rows if last == pages and count >= 3]
    told = sum(count == 4 and last >= pages - 1 for count, last in rows)
    if len(usual) < 3 or left / len(usual) >= 0.5 or told >= 3:
        return False
    fresh = shared.count(3)
    return fresh >= 3 and fresh / len(shared) >= 0.5


_LEVELS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)


def confidence_features(
    content: Floats,
    comments: Floats,
    chars: Floats,
    types: Sequence[float],
    threshold: float,
    removed: float,
) -> Floats:
    """One row of a page: the F1 to be expected if the probabilities are right, what it is made of,
    how much the site took away, how the page's characters lie between sure template and sure
    content, and its types.
    """
    kept = content >= threshold
    total, length = chars.sum(), chars[kept].sum()
    hits, some = (chars * content)[kept].sum(), max(total, 1.0)
    expected = 2 * hits / max(length + chars @ content, 1.0)
    level = np.searchsorted(_LEVELS, content, side="right")
    levels = np.bincount(level, chars, len(_LEVELS) + 1) / some
    commented = chars[comments >= 0.5].sum() / some
    numbers = (
        expected, hits / max(length, 1.0), np.log1p(length) / 8, np.log1p(total) / 8,
        length / some, commented, content.max(initial=0.0), removed, *levels, *types,
    )  # fmt: skip
    return np.array(numbers)
