"""What a site has taught: tables of hashes with small counters, and their plain saved form.

Nothing here knows a method. A method decides which tables it fills and what their keys mean.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.errors import StateError
from dehusk.hashing import Hashes
from dehusk.model import Flags

Counts = NDArray[np.uint32]

_MAGIC: Final = b"dehusk-memory\n"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Keys in ascending order, each with the pages it was on and the number of the last of them.

    A key may have an owner, another key that it belongs to, for tables that are asked 'what belongs
    to this?'. Sorted arrays rather than a dict: 16 bytes a key (24 with owners) instead of a
    hundred, the same order on every run, and keys made to collide cannot slow it down.
    """

    keys: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    count: Counts = field(default_factory=lambda: np.empty(0, np.uint32))
    last: Counts = field(default_factory=lambda: np.empty(0, np.uint32))
    owner: Hashes | None = None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def size_bytes(self) -> int:
        """What the table holds in memory, and in a saved state."""
        return len(self) * (16 if self.owner is None else 24)

    def counts_of(self, keys: Hashes) -> Counts:
        """On how many pages each of the keys was; 0 for one that is not in the table."""
        if not len(self.keys):
            return np.zeros(len(keys), np.uint32)
        place = np.searchsorted(self.keys, keys)
        place[place == len(self.keys)] = 0
        return np.where(self.keys[place] == keys, self.count[place], np.uint32(0))

    def with_page(self, keys: Hashes, page: int, owner: Hashes | None = None) -> Table:
        """The table after a page with these keys; a key that stands there twice counts once.

        Either all keys of a table have owners or none: StateError for a page that differs. Of two
        owners of one key the lesser stays, whichever came first.
        """
        if not len(keys):
            return self
        self._check_owners(is_owned=owner is not None)
        given, keys = keys, np.unique(keys)
        place = np.searchsorted(self.keys, keys)
        known = np.zeros(len(keys), np.bool_)
        inside = place < len(self.keys)
        known[inside] = self.keys[place[inside]] == keys[inside]
        count, last = self.count.copy(), self.last.copy()
        count[place[known]] += np.uint32(1)
        last[place[known]] = page
        new, at = keys[~known], place[~known]
        owners = None
        if owner is not None:
            least = _least_owners(keys, given, owner)
            owners = np.empty(0, np.uint64) if self.owner is None else self.owner.copy()
            owners[place[known]] = np.minimum(owners[place[known]], least[known])
            owners = np.insert(owners, at, least[~known])
        return Table(
            np.insert(self.keys, at, new),
            np.insert(count, at, np.uint32(1)),
            np.insert(last, at, np.uint32(page)),
            owners,
        )

    def only(self, kept: Flags) -> Table:
        """The rows where `kept` is true."""
        if kept.all():
            return self
        owner = None if self.owner is None else self.owner[kept]
        return Table(self.keys[kept], self.count[kept], self.last[kept], owner)

    def plus(self, other: Table) -> Table:
        """Both tables added up, whichever comes first. StateError if one has owners, one not."""
        if not len(self) or not len(other):
            return self if len(self) else other
        self._check_owners(is_owned=other.owner is not None)
        merged = np.concatenate((self.keys, other.keys))
        keys, place = np.unique(merged, return_inverse=True)
        count, last = np.zeros(len(keys), np.uint32), np.zeros(len(keys), np.uint32)
        np.add.at(count, place, np.concatenate((self.count, other.count)))
        np.maximum.at(last, place, np.concatenate((self.last, other.last)))
        owner = None
        if self.owner is not None and other.owner is not None:
            owner = _least_owners(keys, merged, np.concatenate((self.owner, other.owner)))
        return Table(keys, count, last, owner)

    def _check_owners(self, *, is_owned: bool) -> None:
        """Raise StateError where keys with owners would meet keys without."""
        if len(self) and is_owned != (self.owner is not None):
            raise StateError("keys with owners and keys without do not go into one table")


def _least_owners(keys: Hashes, given: Hashes, owner: Hashes) -> Hashes:
    """The least owner of each key, of all that were given with it."""
    least = np.full(len(keys), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, np.searchsorted(keys, given), owner)
    return least


_EMPTY: Final = Table()


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What one site has taught one method: how many pages, and the method's tables by name.

    `sequences` are for what has an order, such as a tree; memories that hold any do not add up.
    """

    pages: int = 0
    tables: Mapping[str, Table] = field(default_factory=dict)
    sequences: Mapping[str, Hashes] = field(default_factory=dict)

    def table(self, name: str) -> Table:
        """The table of that name; an empty one if nothing was learned yet."""
        return self.tables.get(name, _EMPTY)

    def after_page(
        self, *, sequences: Mapping[str, Hashes] | None = None, **tables: Table
    ) -> Memory:
        """The memory after one more page, with these tables and sequences replaced."""
        return Memory(
            self.pages + 1,
            {**self.tables, **tables},
            {**self.sequences, **(sequences or {})},
        )

    def plus(self, other: Memory) -> Memory:
        """Both memories added up: the memory of all their pages, if neither has forgotten any."""
        if self.sequences or other.sequences:
            raise StateError("memories of this method do not add up")
        names = sorted({*self.tables, *other.tables})
        tables = {name: self.table(name).plus(other.table(name)) for name in names}
        return Memory(self.pages + other.pages, tables)

    @property
    def size_bytes(self) -> int:
        """What all tables and sequences hold."""
        tables = sum(table.size_bytes for table in self.tables.values())
        return tables + sum(sequence.nbytes for sequence in self.sequences.values())


def dump(memory: Memory, method: str) -> bytes:
    """The memory as bytes: a line of JSON that says what follows, the arrays, and a checksum.

    dehusk-memory\\n
    {"version": 1, "method": …, "pages": …, "tables": {name: [rows, has owners]},
     "sequences": {name: length}}\\n
    then by name, little-endian, per table: keys (8 bytes each), counts (4), last pages (4), owners
    (8, if any); per sequence: its numbers (8); at the end the CRC-32 of all before it (4)
    """
    tables = {name: memory.tables[name] for name in sorted(memory.tables)}
    sequences = {name: memory.sequences[name] for name in sorted(memory.sequences)}
    header = {
        "version": _VERSION,
        "method": method,
        "pages": memory.pages,
        "tables": {name: [len(t), t.owner is not None] for name, t in tables.items()},
        "sequences": {name: len(sequence) for name, sequence in sequences.items()},
    }
    body = [_MAGIC, json.dumps(header).encode(), b"\n"]
    for table in tables.values():
        body += [table.keys.astype("<u8").tobytes(), table.count.astype("<u4").tobytes()]
        body += [table.last.astype("<u4").tobytes()]
        body += [] if table.owner is None else [table.owner.astype("<u8").tobytes()]
    body += [sequence.astype("<u8").tobytes() for sequence in sequences.values()]
    whole = b"".join(body)
    return whole + zlib.crc32(whole).to_bytes(4, "little")


def load(data: bytes, method: str) -> Memory:
    """The memory that `dump` wrote for this method; StateError for anything else."""
    whole, checksum = data[:-4], data[-4:]
    if not data.startswith(_MAGIC):
        raise StateError("not a saved memory")
    if zlib.crc32(whole).to_bytes(4, "little") != checksum:
        raise StateError("a damaged memory: its checksum is wrong")
    line, _, rest = whole[len(_MAGIC) :].partition(b"\n")
    header = _read_header(line, method)
    # Before anything is read: the header could promise more than there is memory for.
    if len(rest) != header.body_bytes:
        raise StateError("a damaged memory: not as long as it says")
    read = _Reader(rest)
    tables = {
        name: Table(
            read.longs(rows),
            read.ints(rows),
            read.ints(rows),
            read.longs(rows) if is_owned else None,
        )
        for name, (rows, is_owned) in header.tables.items()
    }
    if any((table.keys[1:] <= table.keys[:-1]).any() for table in tables.values()):
        raise StateError("a damaged memory: keys out of order")
    sequences = {name: read.longs(length) for name, length in header.sequences.items()}
    return Memory(header.pages, tables, sequences)


@dataclass(frozen=True, slots=True)
class _Header:
    """What a saved memory says of itself."""

    pages: int
    tables: Mapping[str, tuple[int, bool]]
    """Of each table the rows, and whether they have owners."""
    sequences: Mapping[str, int]

    @property
    def body_bytes(self) -> int:
        """The length of all arrays."""
        tables = sum(rows * (24 if is_owned else 16) for rows, is_owned in self.tables.values())
        return tables + sum(8 * length for length in self.sequences.values())


def _read_header(line: bytes, method: str) -> _Header:
    """What the first line says, if it is of this version and method. Raises StateError."""
    try:
        written = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise StateError("a damaged memory: its first line is not JSON") from fault
    match written:
        case {"version": int(version)} if version != _VERSION:
            raise StateError(f"a memory of version {version}; this dehusk reads {_VERSION}")
        case {"method": str(name)} if name != method:
            raise StateError(f"a memory of the method {name}, not {method}")
        case {
            "version": version,
            "method": str(),
            "pages": pages,
            "tables": dict(tables),
            "sequences": dict(sequences),
            **others,
        } if (
            not others
            and _is_count(version)
            and _is_count(pages)
            and all(map(_is_shape, tables.values()))
            and all(map(_is_count, sequences.values()))
        ):
            shapes = {name: (rows, is_owned) for name, (rows, is_owned) in tables.items()}
            return _Header(pages, shapes, sequences)
    raise StateError("a damaged memory: its first line does not say what follows")


def _is_shape(value: object) -> bool:
    """True for what stands for a table: its rows, and whether they have owners."""
    match value:
        case [rows, bool()]:
            return _is_count(rows)
    return False


def _is_count(value: object) -> bool:
    """True for a number of pages or rows; JSON's true is none, though Python counts with it."""
    return type(value) is int and 0 <= value <= np.iinfo(np.uint32).max


class _Reader:
    """Takes arrays off bytes, one behind another."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def longs(self, count: int) -> Hashes:
        """The next numbers of eight bytes."""
        self._at += 8 * count
        return np.frombuffer(self._data, "<u8", count, self._at - 8 * count).astype(np.uint64)

    def ints(self, count: int) -> Counts:
        """The next numbers of four bytes."""
        self._at += 4 * count
        return np.frombuffer(self._data, "<u4", count, self._at - 4 * count).astype(np.uint32)
