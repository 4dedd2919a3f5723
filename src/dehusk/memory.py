"""What a site has taught: tables of hashes with small counters, and their plain saved form.

Nothing here knows a method. A method decides which tables it fills and what their keys mean.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
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

    Sorted arrays rather than a dict: 16 bytes a key instead of a hundred, the same order on every
    run, and keys made to collide cannot slow it down.
    """

    keys: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    count: Counts = field(default_factory=lambda: np.empty(0, np.uint32))
    last: Counts = field(default_factory=lambda: np.empty(0, np.uint32))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def size_bytes(self) -> int:
        """What the table holds in memory, and in a saved state."""
        return self.keys.nbytes + self.count.nbytes + self.last.nbytes

    def counts_of(self, keys: Hashes) -> Counts:
        """On how many pages each of the keys was; 0 for one that is not in the table."""
        if not len(self.keys):
            return np.zeros(len(keys), np.uint32)
        place = np.searchsorted(self.keys, keys)
        place[place == len(self.keys)] = 0
        return np.where(self.keys[place] == keys, self.count[place], np.uint32(0))

    def with_page(self, keys: Hashes, page: int) -> Table:
        """The table after a page with these keys; a key that stands there twice counts once."""
        keys = np.unique(keys)
        place = np.searchsorted(self.keys, keys)
        known = np.zeros(len(keys), np.bool_)
        inside = place < len(self.keys)
        known[inside] = self.keys[place[inside]] == keys[inside]
        count, last = self.count.copy(), self.last.copy()
        count[place[known]] += np.uint32(1)
        last[place[known]] = page
        new, at = keys[~known], place[~known]
        return Table(
            np.insert(self.keys, at, new),
            np.insert(count, at, np.uint32(1)),
            np.insert(last, at, np.uint32(page)),
        )

    def only(self, kept: Flags) -> Table:
        """The rows where `kept` is true."""
        return self if kept.all() else Table(self.keys[kept], self.count[kept], self.last[kept])

    def plus(self, other: Table) -> Table:
        """Both tables added up, whichever comes first."""
        keys, place = np.unique(np.concatenate((self.keys, other.keys)), return_inverse=True)
        count, last = np.zeros(len(keys), np.uint32), np.zeros(len(keys), np.uint32)
        np.add.at(count, place, np.concatenate((self.count, other.count)))
        np.maximum.at(last, place, np.concatenate((self.last, other.last)))
        return Table(keys, count, last)


_EMPTY: Final = Table()


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What one site has taught one method: how many pages, and the method's tables by name."""

    pages: int = 0
    tables: Mapping[str, Table] = field(default_factory=lambda: MappingProxyType({}))

    def table(self, name: str) -> Table:
        """The table of that name; an empty one if nothing was learned yet."""
        return self.tables.get(name, _EMPTY)

    def after_page(self, **tables: Table) -> Memory:
        """The memory after one more page, with these tables replaced."""
        return Memory(self.pages + 1, MappingProxyType({**self.tables, **tables}))

    def plus(self, other: Memory) -> Memory:
        """Both memories added up: the memory of all their pages, if neither has forgotten any."""
        names = sorted({*self.tables, *other.tables})
        tables = {name: self.table(name).plus(other.table(name)) for name in names}
        return Memory(self.pages + other.pages, MappingProxyType(tables))

    @property
    def size_bytes(self) -> int:
        """What all tables hold."""
        return sum(table.size_bytes for table in self.tables.values())


def dump(memory: Memory, method: str) -> bytes:
    """The memory as bytes: a line of JSON that says what follows, the arrays, and a checksum.

    dehusk-memory\\n {"version": 1, "method": …, "pages": …, "tables": {name: rows}} \\n
    then per table, by name: keys (8 bytes), counts (4), last pages (4), little-endian; CRC-32 (4)
    """
    names = sorted(memory.tables)
    header = {
        "version": _VERSION,
        "method": method,
        "pages": memory.pages,
        "tables": {name: len(memory.tables[name]) for name in names},
    }
    body = [_MAGIC, json.dumps(header).encode(), b"\n"]
    for name in names:
        table = memory.tables[name]
        body += [table.keys.astype("<u8").tobytes(), table.count.astype("<u4").tobytes()]
        body += [table.last.astype("<u4").tobytes()]
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
    header = json.loads(line)
    if header["version"] != _VERSION:
        raise StateError(f"a memory of version {header['version']}; this dehusk reads {_VERSION}")
    if header["method"] != method:
        raise StateError(f"a memory of the method {header['method']}, not {method}")
    tables: dict[str, Table] = {}
    at = 0
    for name, rows in header["tables"].items():
        keys = np.frombuffer(rest, "<u8", rows, at).astype(np.uint64)
        count = np.frombuffer(rest, "<u4", rows, at + 8 * rows).astype(np.uint32)
        last = np.frombuffer(rest, "<u4", rows, at + 12 * rows).astype(np.uint32)
        tables[name] = Table(keys, count, last)
        at += 16 * rows
    return Memory(header["pages"], MappingProxyType(tables))
