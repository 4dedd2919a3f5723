"""Canonical HTML to the list of its tags and comments, in numpy.

Canonical HTML makes this possible without a parser: `<` and `>` in text and attribute values are
escaped, so outside raw text and comments each `>` ends a tag. What the text alone cannot tell is
handed in by the caller, who has the parser's tree: which elements only look void or raw because
they are SVG or MathML, and how long a raw text is that may hold its own end tag.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.page import tags
from dehusk.page.hashing import PATH_FACTOR, TEXT_FACTOR, Hashes, hash_bytes, mix
from dehusk.page.tree import Flags

Codes = NDArray[np.uint8]
Places = NDArray[np.int64]
Tags = NDArray[np.int16]

LOOK_AHEAD: Final = 32
"""How far behind the last byte words may be read."""
WORD: Final = 8
"""Bytes in a word. Tag names are read in two words at the most; HTML's longest have ten bytes."""
_ONES: Final = np.uint64(0x0101010101010101)
_TOP_BITS: Final = np.uint64(0x80) * _ONES
_SPACES: Final = np.uint64(ord(" ")) * _ONES
_BRACKETS: Final = np.uint64(ord(">")) * _ONES
_OPEN_OR_CLOSE: Final = np.uint8(ord("<") ^ ord(">"))
"""The bit in which the two brackets differ."""
_64_BITS: Final = 0xFFFFFFFFFFFFFFFF
_VOID: Final = tags.numbers(*tags.VOID)
_RAW: Final = tags.numbers(*tags.RAW)
_NEWLINE_EATERS: Final = tags.numbers(*tags.NEWLINE_EATERS)
_PLAINTEXT: Final = tags.NUMBERS["plaintext"]


class Text:
    """Bytes, the same as an array, and the word that begins at each byte."""

    def __init__(self, source: bytes) -> None:
        padded = source + bytes(LOOK_AHEAD + WORD)
        self.source = source
        self.codes: Codes = np.frombuffer(source, np.uint8)
        self.words: NDArray[np.uint64] = np.ndarray(
            len(source) + LOOK_AHEAD, np.dtype("<u8"), padded, strides=(1,)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tags and comments of a page, in the order they are written."""

    start: Places
    stop: Places
    is_close: Flags
    opener: Places
    """Which of the tokens are start tags. The arrays below are over these."""
    name: Hashes
    tag: Tags
    is_nested: Flags
    """Has an end tag: not a void element."""
    is_raw: Flags
    """The text behind it is raw: written without escapes."""
    eats_newline: Flags
    """A newline right behind it is written twice."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """What only the parser's tree can tell of the tags in canonical HTML."""

    raws: Set[int]
    """Which of the elements named in `tags.RAW`, counted in document order, are SVG or MathML, so
    that their text is escaped."""
    voids: Set[int]
    """Which of those named in `tags.VOID` are SVG or MathML, so that they have an end tag."""
    eaters: Set[int]
    """Which of those named in `tags.NEWLINE_EATERS` are SVG or MathML, so that they eat none."""
    raw_lengths: Callable[[], Sequence[int]]
    """The bytes of raw text in each of the elements named in `tags.RAW`."""


def find_tokens(text: Text, foreign: Foreign) -> Tokens:
    """Every tag and comment, without those that only stand in raw text or comments."""
    brackets = ((text.codes | _OPEN_OR_CLOSE) == ord(">")).nonzero()[0]
    is_open = text.codes[brackets] == ord("<")
    opens, closes = brackets[is_open], brackets[~is_open]
    head = text.codes[opens + 1]
    # What PHP left behind (`<?…>`) is written by the parser as it came.
    opener = ((head != ord("/")) & (head != ord("!")) & (head != ord("?"))).nonzero()[0]
    name, unread = _read_names(text, opens[opener] + 1)
    tag = _tag_numbers(name)

    comments = (head == ord("!")).nonzero()[0]
    odd = comments[~_is_plain(text, opens, closes, comments)]
    raws = _RAW[tag].nonzero()[0]
    raw_at = dict(zip(opens[opener[raws]].tolist(), tag[raws].tolist(), strict=True))
    special = np.sort(np.concatenate((odd, opener[raws])))
    inner = _inner_ranges(text, opens, special, raw_at, foreign)
    is_token = _outside(inner, opens)
    closes = closes[_outside(inner, closes)]
    if np.count_nonzero(is_token) != len(closes):
        # A name may hold '<': the tag begins at the first one behind the tag before.
        is_token &= _first_behind(opens, is_token, closes)
    kept = is_token[opener]
    for row in unread[kept[unread]].tolist():
        name[row] = _long_name_hash(text.source, int(opens[opener[row]]) + 1)
    name, tag = name[kept], tag[kept]
    opener = (is_token.cumsum() - 1)[opener[kept]]
    is_void, is_raw, eats = _VOID[tag], _RAW[tag], _NEWLINE_EATERS[tag]
    for flags, ranks in ((is_void, foreign.voids), (is_raw, foreign.raws), (eats, foreign.eaters)):
        if ranks:
            flags[flags.nonzero()[0][sorted(ranks)]] = False
    is_close = head[is_token] == ord("/")
    return Tokens(opens[is_token], closes + 1, is_close, opener, name, tag, ~is_void, is_raw, eats)


def _first_behind(opens: Places, is_token: Flags, closes: Places) -> Flags:
    """True for the first `<` behind each `>`, and for the first of all."""
    candidates = np.flatnonzero(is_token)
    rank = np.searchsorted(opens[candidates], np.concatenate(([0], closes[:-1] + 1)))
    first = np.zeros(len(opens), np.bool_)
    first[candidates[rank]] = True
    return first


def _read_names(text: Text, places: Places) -> tuple[Hashes, Places]:
    """The hash of the tag name that begins at each place, and the rows whose name is longer."""
    first, ended = _cut_name(text.words[places])
    hashes = mix(first * np.uint64(TEXT_FACTOR))
    long = (~ended).nonzero()[0]
    second, ended = _cut_name(text.words[places[long] + WORD])
    hashes[long] = mix(hashes[long] + second * np.uint64(PATH_FACTOR))
    return hashes, long[~ended]


def _cut_name(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Flags]:
    """Eight bytes each up to the first space or `>`, and whether there was one.

    The classic search for a zero byte in a word: its lowest mark is exact.
    """
    space, bracket = words ^ _SPACES, words ^ _BRACKETS
    marks = (((space - _ONES) & ~space) | ((bracket - _ONES) & ~bracket)) & _TOP_BITS
    lowest = marks & (~marks + np.uint64(1))
    return words & ((lowest >> np.uint64(7)) - np.uint64(1)), marks != 0


def _long_name_hash(source: bytes, place: int) -> int:
    """The hash of a name that fills more than two words, as texts are hashed."""
    return hash_bytes(source[place : source.index(b">", place)].split(b" ", 1)[0])


def _known_names() -> tuple[Hashes, Tags]:
    """The hash of each of HTML's tag names, and a table from a hash's top 16 bits to its number."""
    written = "".join(f"<{name}>" for name in tags.NAMES).encode()
    places = np.flatnonzero(np.frombuffer(written, np.uint8) == ord("<")) + 1
    hashes, _ = _read_names(Text(written), places)
    table = np.zeros(1 << 16, np.int16)
    table[hashes >> np.uint64(48)] = np.arange(len(hashes))
    assert np.count_nonzero(table) == len(hashes) - 1, "two tag names share a place in the table"
    return hashes, table


KNOWN_HASHES, KNOWN_NUMBERS = _known_names()


def _tag_numbers(names: Hashes) -> Tags:
    """The tag number of each name hash, `tags.OTHER` where it is not one of HTML's."""
    number = KNOWN_NUMBERS[names >> np.uint64(48)]
    return np.where(KNOWN_HASHES[number] == names, number, np.int16(tags.OTHER))


def _is_plain(text: Text, opens: Places, closes: Places, comments: Places) -> Flags:
    """True for the comments without `<` or `>` in them, which need no further look."""
    start, following = opens[comments], np.append(opens, len(text.codes))[comments + 1]
    stop = closes[closes.searchsorted(start)]
    ended = (text.codes[stop - 1] == ord("-")) & (text.codes[stop - 2] == ord("-"))
    return np.asarray(ended & (stop - start >= len("<!---->") - 1) & (stop < following))


def _inner_ranges(
    text: Text, opens: Places, special: Places, raw_at: dict[int, int], foreign: Foreign
) -> Places:
    """The insides of raw texts and comments as rows of (first byte, one behind the last).

    `special` are the comments and the start tags of raw elements, `raw_at` the tags of the latter.
    """
    source = text.source
    end_tags = {raw: _end_tags(text, opens, raw) for raw in set(raw_at.values())}
    comments = opens[text.codes[opens + 1] == ord("!")].tolist()
    ranges: list[tuple[int, int]] = []
    raw_seen = behind = 0
    for before, place in zip(opens[special - 1].tolist(), opens[special].tolist(), strict=True):
        # Inside another range, or in a tag: attributes may be named '<!--'.
        if place < behind or source.find(b">", before, place) < 0:
            continue
        raw = raw_at.get(place)
        if raw is None:
            behind = source.index(b"-->", place + 4) + 2
            ranges.append((place + 1, behind))
            continue
        raw_seen += 1
        if raw_seen - 1 in foreign.raws:
            continue
        first = source.index(b">", place) + 1
        behind = _next(end_tags[raw], first)
        if raw == _PLAINTEXT or _next(comments, first) < behind:
            # Plaintext, and a script with a comment in it, may hold their own end tag.
            behind = first + foreign.raw_lengths()[raw_seen - 1]
        ranges.append((first, behind))
    return np.array(ranges, np.int64).reshape(-1, 2)


def _end_tags(text: Text, opens: Places, tag: int) -> list[int]:
    """Where the end tags of a raw element stand, or what looks like them."""
    written = f"</{tags.NAMES[tag]}>".encode()
    places = opens
    for offset in range(0, len(written), WORD):
        part = written[offset : offset + WORD]
        mask = np.uint64(2 ** (8 * len(part)) - 1)
        word = np.uint64(int.from_bytes(part, "little"))
        places = places[(text.words[places + offset] & mask) == word]
    found: list[int] = places.tolist()
    return found


def _next(places: list[int], first: int) -> int:
    """The first of the places, in ascending order, that is not before `first`; else a huge one."""
    rank = bisect_left(places, first)
    return places[rank] if rank < len(places) else _64_BITS


def _outside(ranges: Places, places: Places) -> Flags:
    """True for the places, in ascending order, that lie in none of the ranges."""
    rank = places.searchsorted(ranges)
    rank = rank[rank[:, 1] > rank[:, 0]]
    step = np.zeros(len(places) + 1, np.int8)
    step[rank[:, 0]] += 1
    step[rank[:, 1]] -= 1
    return np.asarray(step[:-1].cumsum(dtype=np.int8) == 0)
