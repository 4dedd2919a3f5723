"""The tags of a page to its tree: a node for each start tag and for each text between two tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page import tags
from dehusk.page.hashing import PATH_POWERS, TEXT_POWERS, Hashes, mix
from dehusk.page.parse.tokens import LOOK_AHEAD, WORD, Codes, Places, Text, Tokens
from dehusk.page.tree import ATTRIBUTE, Flags, Ints, Tree

_NEVER_SHOWN: Final = tags.numbers(*tags.NEVER_SHOWN)
_NOSCRIPT: Final = tags.NUMBERS["noscript"]
_STILL_HIDDEN: Final = _NEVER_SHOWN & (np.arange(len(tags.NAMES)) != _NOSCRIPT)
_MIN_NOSCRIPT_FACTOR: Final = 3.0
_MIN_NOSCRIPT_LENGTH: Final = 200
"""`<noscript>` counts as shown if the text grows to so many times by it, and it is so long. Notices
('please enable JavaScript') do not reach the length; threads of forums exceed both by far."""
_LINK: Final = tags.numbers("a")
_INT16_MAX: Final = 32767
"""Numpy sorts 16-bit numbers in linear time; only a hostile page is deeper."""
_SPACE: Final = 32
_WHITE: Final = bytes(range(_SPACE + 1))
_STEPS: Final = np.arange(0, LOOK_AHEAD, WORD)
_ROUNDS: Final = 8
"""How often all texts are trimmed at once; what has still more white space is rare."""
_ONES: Final = np.uint64(0x0101010101010101)
_TOP_BITS: Final = np.uint64(0x80) * _ONES
_LOW_BITS: Final = np.uint64(0x7F) * _ONES
_TO_TOP_BIT: Final = np.uint64(0x7F - _SPACE) * _ONES
"""Added to a byte's low bits, carries into the top bit if they are above white space."""
_BYTE_NUMBERS: Final = np.uint64(0x0001020304050607)
"""Multiplied by 256**k, has k in its top byte."""
_TAIL_MASKS: Final = np.array(
    [2**64 - 1] + [2 ** (8 * size) - 1 for size in range(1, WORD)], np.uint64
)
"""By the bytes of a run in its last word, 0 for all eight: what of the word belongs to the run."""
_AMPERSANDS: Final = np.uint64(ord("&")) * _ONES
_ESCAPE_EXCESS: Final = np.zeros(256, np.uint64)
_ESCAPE_EXCESS[[ord("a"), ord("l"), ord("g"), ord("n")]] = 4, 3, 3, 6
"""Bytes too many, by the letter behind `&`: &amp; &lt; &gt;, and &nbsp;, which is white space."""


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Which node comes from which token, and where each stands.

    A start tag makes an element; text behind a token makes a text node, numbered right after it.
    """

    size: int
    """How many nodes there are."""
    number: Places
    """Nodes so far, two entries a token: up to the token, and up to the text behind it."""
    element: Places
    """The node of each start tag."""
    text: Places
    """The node of each text."""
    before: Places
    """The token before each text."""
    text_start: Places
    text_stop: Places
    level: Ints
    """How many elements are open behind each token."""

    def spread(self, of_element: NDArray[Any], of_text: NDArray[Any] | int) -> NDArray[Any]:
        """One array over all nodes from one over the elements and one over the texts."""
        whole = np.empty(self.size, of_element.dtype)
        whole[self.element] = of_element
        whole[self.text] = of_text
        return whole


def build(written: Text, tokens: Tokens, max_depth: int, url: str | None = None) -> Tree:
    """The tree of a page's tokens; what lies deeper than `max_depth` becomes siblings there."""
    plan = _plan(written.codes, tokens)
    tag = plan.spread(tokens.tag, tags.TEXT)
    start = plan.spread(tokens.start[tokens.opener].astype(np.int32), plan.text_start)
    stop = plan.spread(tokens.stop[tokens.opener].astype(np.int32), plan.text_stop)
    depth = plan.spread(plan.level[tokens.opener] - tokens.is_nested, plan.level[plan.before])
    opener, closer = _pairs(tokens, plan)
    end, close = _ends(tokens, plan, opener, closer, stop)
    shown = _shown(written.source, tag, start, stop, end, _NEVER_SHOWN)
    raw = np.zeros(len(tokens.start), np.bool_)
    raw[tokens.opener] = tokens.is_raw
    raw = plan.spread(np.zeros(len(plan.element), np.bool_), raw[plan.before])
    text_hash, length = _read_texts(written, plan, raw[plan.text], shown[plan.text])
    if (tokens.tag == _NOSCRIPT).any():
        included = _shown(written.source, tag, start, stop, end, _STILL_HIDDEN)
        shown = _choose_noscript(plan, length, shown, included)
    length[~shown[plan.text]] = 0
    linked = _covered(tag, end, _LINK)[plan.text]
    if plan.level.max() > max_depth:
        deep = np.flatnonzero(depth >= max_depth)
        depth[deep] = max_depth
        end[deep] = deep + 1
    return Tree(
        written.source, _parents(depth, end), end, depth, tag, start, stop, close, shown, raw,
        text_length=_sums(plan, end, length),
        link_length=_sums(plan, end, length * linked),
        own_hash=plan.spread(tokens.name, text_hash),
        path_hash=_path_hashes(tokens, plan, opener, closer, max_depth),
        url=url,
    )  # fmt: skip


def _plan(codes: Codes, tokens: Tokens) -> _Plan:
    """Number the nodes."""
    text_start, text_stop = tokens.stop[:-1], tokens.start[1:]
    eaters = tokens.opener[tokens.eats_newline]
    if len(eaters):
        # A newline behind <pre> is written twice, since a parser drops the first.
        text_start = text_start.copy()
        text_start[eaters] += codes[text_start[eaters]] == ord("\n")
    exists = np.zeros(2 * len(tokens.start), np.bool_)
    exists[2 * tokens.opener] = True
    exists[1:-1:2] = text_stop > text_start
    number = exists.cumsum()
    before = exists[1::2].nonzero()[0]
    step = -tokens.is_close.astype(np.int32)
    step[tokens.opener] = tokens.is_nested
    return _Plan(
        size=int(number[-1]),
        number=number,
        element=number[2 * tokens.opener] - 1,
        text=number[2 * before + 1] - 1,
        before=before,
        text_start=text_start[before],
        text_stop=text_stop[before],
        level=step.cumsum(dtype=np.int32),
    )


def _pairs(tokens: Tokens, plan: _Plan) -> tuple[Places, Places]:
    """The nested start tags, as ranks among the start tags, and the end token of each.

    At one level start and end tags take turns, so the k-th of one belongs to the k-th of the other.
    """
    level = plan.level if plan.level.max() > _INT16_MAX else plan.level.astype(np.int16)
    opener, closer = tokens.is_nested.nonzero()[0], tokens.is_close.nonzero()[0]
    opener = opener[level[tokens.opener[opener]].argsort(kind="stable")]
    closer = closer[level[closer].argsort(kind="stable")]
    return opener, closer


def _ends(
    tokens: Tokens, plan: _Plan, opener: Places, closer: Places, stop: Ints
) -> tuple[Ints, Ints]:
    """Of each node: one behind the last node below it, and one behind its last byte."""
    end = np.arange(1, plan.size + 1, dtype=np.int32)
    close = stop.copy()
    node = plan.element[opener]
    end[node] = plan.number[2 * closer]
    close[node] = tokens.stop[closer]
    return end, close


def _parents(depth: Ints, end: Ints) -> Ints:
    """The parent of each node.

    In order of depth, the children of one element stand together, and such groups stand in the
    order of their parents.
    """
    order = depth.astype(np.int16).argsort(kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    with_child = order[end[order] > order + 1]
    begins = np.zeros(len(order), np.int64)
    begins[rank[with_child + 1]] = 1
    parent = np.empty(len(order), np.int32)
    parent[order] = np.concatenate((with_child, [-1]))[begins.cumsum() - 1]
    return parent


def _covered(tag: NDArray[np.int16], end: Ints, table: Flags) -> Flags:
    """True for the nodes with one of the table's tags, and for all below them."""
    member = table[tag]
    left = np.bincount(end[member], minlength=len(tag) + 1)
    return np.asarray((member - left[: len(tag)]).cumsum() > 0)


def _shown(
    source: bytes, tag: NDArray[np.int16], start: Ints, stop: Ints, end: Ints, never: Flags
) -> Flags:
    """Which nodes a browser shows: not those in one of the tags `never`, nor what is `hidden`."""
    shown = ~_covered(tag, end, never)
    places = []
    place = source.find(b" hidden=")
    while place >= 0:
        places.append(place)
        place = source.find(b" hidden=", place + 1)
    if places:
        node = start.searchsorted(places, "right") - 1
        in_tag = (tag[node] != tags.TEXT) & (np.array(places) < stop[node])
        for i in np.unique(node[in_tag]).tolist():
            if shown[i] and _is_hidden(source[start[i] : stop[i]]):
                shown[i : end[i]] = False
    return shown


def _is_hidden(start_tag: bytes) -> bool:
    """Is the element `hidden`? Not if it is hidden until found, since a reader can find it."""
    return any(
        name == b"hidden" and value.lower() != b"until-found"
        for name, value in ATTRIBUTE.findall(start_tag)
    )


def _choose_noscript(plan: _Plan, length: Ints, without: Flags, included: Flags) -> Flags:
    """Which nodes to call shown: with `<noscript>` if nearly all of the page's text is in it.

    Forums that build their pages in the browser put the whole thread there for those who do not.
    """
    usual, whole = length[without[plan.text]].sum(), length[included[plan.text]].sum()
    is_needed = whole >= max(_MIN_NOSCRIPT_FACTOR * usual, usual + _MIN_NOSCRIPT_LENGTH)
    return included if is_needed else without


def _read_texts(written: Text, plan: _Plan, raw: Flags, shown: Flags) -> tuple[Hashes, Ints]:
    """Of each text, less white space at its ends: its hash and how many characters it has.

    Raw text that is not shown (scripts, which cost the most) gets hash and length 0.
    """
    hashes, counts = np.zeros(len(raw), np.uint64), np.zeros(len(raw), np.int32)
    read = (shown | ~raw).nonzero()[0]
    stop = plan.text_stop[read]
    first = _trim_left(written, plan.text_start[read], stop)
    filled = (first < stop).nonzero()[0]
    if len(filled):
        read, first = read[filled], first[filled]
        behind = _trim_right(written, first, stop[filled])
        hashes[read], excess = _hash_runs(written, first, behind)
        counts[read] = behind - first - excess
        for row in raw[read].nonzero()[0].tolist():
            # Nothing is escaped in raw text.
            counts[read[row]] = len(written.source[first[row] : behind[row]].decode())
    return hashes, counts


def _trim_left(written: Text, start: Places, stop: Places) -> Places:
    """Where the first byte of each run stands that is not white space, or where the run stops."""
    first = start.copy()
    left = (written.codes[start] <= _SPACE).nonzero()[0]
    for _ in range(_ROUNDS):
        marks = _ink(written.words[first[left][:, None] + _STEPS])
        column = (marks != 0).argmax(axis=1)
        marks = marks[np.arange(len(left)), column]
        lowest = (marks & (~marks + np.uint64(1))) >> np.uint64(7)
        inside = ((lowest * _BYTE_NUMBERS) >> np.uint64(56)).astype(np.int64)
        first[left] += np.where(marks, WORD * column + inside, LOOK_AHEAD)
        left = left[(marks == 0) & (first[left] < stop[left])]
        if not len(left):
            break
    for run in left.tolist():
        rest = written.source[first[run] : stop[run]]
        first[run] += len(rest) - len(rest.lstrip(_WHITE))
    return np.minimum(first, stop)


def _trim_right(written: Text, first: Places, stop: Places) -> Places:
    """One behind the last byte of each run that is not white space; each run has one."""
    behind = stop.copy()
    left = (written.codes[stop - 1] <= _SPACE).nonzero()[0]
    for _ in range(_ROUNDS):
        marks = _ink(written.words[behind[left] - WORD])
        highest = np.log2(np.maximum(marks, 1).astype(np.float64)).astype(np.int64) // 8
        behind[left] -= np.where(marks, WORD - 1 - highest, WORD)
        left = left[marks == 0]
        if not len(left):
            return behind
    for run in left.tolist():
        behind[run] = first[run] + len(written.source[first[run] : behind[run]].rstrip(_WHITE))
    return behind


def _ink(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The top bit of each byte that is not white space."""
    return (((words & _LOW_BITS) + _TO_TOP_BIT) | words) & _TOP_BITS


def _hash_runs(written: Text, first: Places, behind: Places) -> tuple[Hashes, Places]:
    """The hash of each run of bytes, read in words, and its bytes that are no characters."""
    length = behind - first
    words = (length + (WORD - 1)) // WORD
    ends = words.cumsum()
    base = ends - words
    offset = np.arange(int(ends[-1])) - base.repeat(words)
    places = first.repeat(words) + WORD * offset
    values = written.words[places]
    values[ends - 1] &= _TAIL_MASKS[length % WORD]
    weights = TEXT_POWERS.up_to(int(words.max()))
    sums = np.add.reduceat((values ^ (values >> np.uint64(32))) * weights[offset], base)
    # UTF-8 continues a character with bytes 10……: the top bit set, the next one not.
    marks = (values & ~(values << np.uint64(1)) & _TOP_BITS) >> np.uint64(7)
    excess = (marks * _ONES) >> np.uint64(56)
    gap = values ^ _AMPERSANDS
    marks = ~(((gap & _LOW_BITS) + _LOW_BITS) | gap) & _TOP_BITS
    hits = marks.nonzero()[0]
    if len(hits):
        excess[hits] += _escape_excess(written, places[hits], marks[hits])
    return mix(sums + length.astype(np.uint64)), np.add.reduceat(excess, base).astype(np.int64)


def _escape_excess(written: Text, places: Places, marks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """How many bytes only escape others, in the escapes that begin in each word; all of &nbsp;."""
    lanes = np.arange(WORD)
    begins = (marks[:, None] >> (8 * lanes + 7).astype(np.uint64)) & np.uint64(1)
    letters = written.words[places[:, None] + lanes + 1] & np.uint64(0xFF)
    return np.asarray((_ESCAPE_EXCESS[letters] * begins).sum(axis=1, dtype=np.uint64))


def _sums(plan: _Plan, end: Ints, of_text: Ints) -> Ints:
    """Of each node, the sum over it and all below it."""
    own = np.zeros(plan.size + 1, np.int32)
    own[plan.text + 1] = of_text
    total = own.cumsum(dtype=np.int32)
    return np.asarray(total[end] - total[:-1])


def _path_hashes(
    tokens: Tokens, plan: _Plan, opener: Places, closer: Places, max_depth: int
) -> Hashes:
    """The hash of each node's path: a sum over the open elements, which start and end tags move."""
    depth = np.minimum(plan.level[tokens.opener] - tokens.is_nested, max_depth)
    part = tokens.name * PATH_POWERS.up_to(int(depth.max()) + 1)[depth]
    step = np.zeros(len(tokens.start), np.uint64)
    step[tokens.opener] = part * tokens.is_nested
    step[closer] = -part[opener]
    total = step.cumsum()
    return mix(plan.spread(total[tokens.opener] + part * ~tokens.is_nested, total[plan.before]))
