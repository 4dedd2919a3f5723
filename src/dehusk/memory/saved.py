"""The forms of a memory as bytes: one to be kept, and one for another process of the same run.

`dump` writes a line of JSON, arrays and a checksum, small and plain. `carry` takes a third of the
time and is not to be kept: it has no checksum, and says neither method nor site.

    4 bytes   length of the JSON, little-endian as all that follows
    JSON      [pages, {table: its shape}, {sequence: length}]
    arrays    as `dump` writes them, in the order of the JSON
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import json as quick
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.errors import StateError, WrongMemory
from dehusk.memory.memory import HISTORY, Memory
from dehusk.memory.tables import Table
from dehusk.page.hashing import Hashes, digest

_MAGIC: Final = b"dehusk-memory\n"
_VERSION: Final = 2
_FIRST_VERSION: Final = 1
"""Without sums, settings, sites and widths; still read."""
_WIDTHS: Final = (1, 2, 4, 8)
_CHECKSUM_BYTES: Final = 4

Settings = Mapping[str, object]


class _Shape(NamedTuple):
    """What a saved table looks like: its rows, and how many bytes each number of a row takes."""

    rows: int
    is_owned: bool
    columns: int = 0
    """Sums in each row."""
    count_bytes: int = 4
    last_bytes: int = 4
    """0 where all are 1, as in the memory of one page."""
    sum_bytes: int = 0

    @property
    def body_bytes(self) -> int:
        """The length of the table's arrays."""
        row = 8 + self.count_bytes + self.last_bytes + 8 * self.is_owned
        return self.rows * (row + self.columns * self.sum_bytes)


class _Header(NamedTuple):
    """What a saved memory says of itself."""

    pages: int
    tables: Mapping[str, _Shape]
    sequences: Mapping[str, int]
    seed: np.uint64

    @property
    def body_bytes(self) -> int:
        """The length of all arrays."""
        tables = sum(shape.body_bytes for shape in self.tables.values())
        return tables + sum(8 * length for length in self.sequences.values())


def dump(memory: Memory, method: str, *, settings: Settings | None = None, site: str = "") -> bytes:
    """The memory as bytes: a line of JSON that says what follows, the arrays, and a checksum.

    dehusk-memory\\n
    {"version": 2, "method": …, "settings": …, "site": …, "pages": …, "tables": {name: [rows, has
     owners, sums, bytes of a count, of a last page, of a sum]}, "sequences": {name: length}}\\n
    then by name, little-endian, per table: keys (8 bytes each), counts, last pages, owners (8, if
    any), rows of sums; per sequence: its numbers (8); at the end the CRC-32 of all before it (4)

    Counts take as few bytes as the largest needs, none where all are 1. Keys, owners and sequences
    are seeded with the site's name: the same text on two sites is not the same number, and what one
    site has taught is never taken for another's.
    """
    seed = seed_of(site)
    found = {**memory.tables, **memory.settled().history}
    tables = {name: found[name].saved(int(seed)) for name in sorted(found)}
    sequences = {name: memory.sequences[name] for name in sorted(memory.sequences)}
    header = {
        "version": _VERSION,
        "method": method,
        "settings": None if settings is None else dict(settings),
        "site": site,
        "pages": memory.pages,
        "tables": {name: shape for name, (shape, _) in tables.items()},
        "sequences": {name: len(sequence) for name, sequence in sequences.items()},
    }
    body = [_MAGIC, _line(header)]
    body += [arrays for _, arrays in tables.values()]
    body += [(sequence ^ seed).astype("<u8").tobytes() for sequence in sequences.values()]
    whole = b"".join(body)
    return whole + zlib.crc32(whole).to_bytes(_CHECKSUM_BYTES, "little")


def load(data: bytes, method: str, *, settings: Settings | None = None, site: str = "") -> Memory:
    """The memory that `dump` wrote for this method and site; StateError for anything else.

    Settings are compared where both sides name them.
    """
    whole, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if not data.startswith(_MAGIC):
        raise StateError("not a saved memory")
    if zlib.crc32(whole).to_bytes(_CHECKSUM_BYTES, "little") != checksum:
        raise StateError("a damaged memory: its checksum is wrong")
    line, _, rest = whole[len(_MAGIC) :].partition(b"\n")
    header = _read_header(line, method, settings, site)
    return _read(header, rest)


def _read(header: _Header, rest: bytes) -> Memory:
    """The memory of these arrays. Raises StateError where they are not as the header says."""
    # Before anything is read: the header could promise more than there is memory for.
    if len(rest) != header.body_bytes or header.pages >= _MAX_NUMBER:
        raise StateError("a damaged memory: not as long as it says")
    read = _Reader(rest, header.seed)
    try:
        tables = {name: read.table(shape) for name, shape in header.tables.items()}
    except ValueError as fault:
        raise StateError("a damaged memory: keys out of order") from fault
    if any(
        int(tables[name].last.max(initial=0)) > header.pages
        for name, shape in header.tables.items()
        if shape.last_bytes or not header.pages
    ):
        raise StateError("a damaged memory: it counts pages that it has not learned")
    sequences = {name: read.hashes(length) for name, length in header.sequences.items()}
    history = {name: tables.pop(name) for name in HISTORY if name in tables}
    return Memory(header.pages, tables, sequences, history)


def _line(header: Mapping[str, object]) -> bytes:
    """The header as a line of JSON, as the standard library writes it, in a tenth of its time."""
    try:
        return _kernel.one_line(quick.encode(header))
    except UnicodeEncodeError:  # Half a surrogate pair in the name of a site.
        return json.dumps(header).encode() + b"\n"


@lru_cache(maxsize=256)
def seed_of(site: str) -> np.uint64:
    """What the digests of a site are seeded with; 0 for a site without a name."""
    return np.uint64(int.from_bytes(digest(site), "little") if site else 0)


def check_settings(method: str, written: Settings, wanted: Settings) -> None:
    """Raise StateError, naming the first setting that differs, where two are not the same."""
    plain = json.loads(json.dumps(dict(wanted)))
    for name in sorted({*written, *plain}):
        if name not in written or name not in plain or written[name] != plain[name]:
            has, asked = (
                f"{name}={_shown(values[name])}" if name in values else f"no {name}"
                for values in (written, plain)
            )
            raise WrongMemory(f"a memory of {method} with {has}; asked for {asked}")


def _shown(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else json.dumps(value)


def _read_header(line: bytes, method: str, settings: Settings | None, site: str) -> _Header:
    """What the first line says, if it is of this method, site and settings. Raises StateError."""
    try:
        written = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise StateError("a damaged memory: its first line is not JSON") from fault
    version = written.get("version") if isinstance(written, dict) else None
    if version == _FIRST_VERSION and _is_count(version):
        written = _as_second(written, site)
    match written:
        case {"version": int(other)} if other != _VERSION:
            raise StateError(f"a memory of version {other}; this dehusk reads up to {_VERSION}")
        case {"method": str(name)} if name != method:
            raise WrongMemory(f"a memory of the method {name}, not {method}")
        case {"site": str(name)} if name != site:
            raise StateError(f"a memory of the site {name!r}, not {site!r}")
        case {
            "version": _,
            "method": str(),
            "settings": dict() | None as learned_with,
            "site": str(),
            "pages": pages,
            "tables": dict(tables),
            "sequences": dict(sequences),
            **others,
        } if (
            not others
            and _is_count(version)
            and _is_count(pages)
            and pages < _MAX_NUMBER
            and all(map(_is_shape, tables.values()))
            and all(map(_is_count, sequences.values()))
        ):
            if settings is not None and learned_with is not None:
                check_settings(method, learned_with, settings)
            seed = seed_of("" if version == _FIRST_VERSION else site)
            shapes = {name: _Shape(*fields) for name, fields in tables.items()}
            return _Header(pages, shapes, sequences, seed)
    raise StateError("a damaged memory: its first line does not say what follows")


def _as_second(written: dict[str, Any], site: str) -> dict[str, Any]:
    """The first line of version 1 as version 2 would have written it, but for the seed."""
    if not written.keys().isdisjoint(("settings", "site")):
        raise StateError("a damaged memory: its first line does not say what follows")
    tables = written.get("tables")
    if isinstance(tables, dict):
        tables = {
            name: [*shape, 0, 4, 4, 0] if isinstance(shape, list) and len(shape) == 2 else None
            for name, shape in tables.items()
        }
    return {**written, "version": _VERSION, "settings": None, "site": site, "tables": tables}


def _is_shape(value: object) -> bool:
    """True for what stands for a table: the fields of a `_Shape`."""
    match value:
        case [rows, bool(), columns, count_bytes, last_bytes, sum_bytes] if all(
            map(_is_count, (rows, columns, count_bytes, last_bytes, sum_bytes))
        ):
            widths_fit = {count_bytes, last_bytes} <= {0, 1, 2, 4}
            return widths_fit and (sum_bytes in _WIDTHS if columns else sum_bytes == 0)
    return False


def _is_count(value: object) -> bool:
    """True for a number of pages or rows; JSON's true is none, though Python counts with it."""
    return type(value) is int and 0 <= value <= _MAX_COUNT


class _Reader:
    """Takes arrays off bytes, one behind another."""

    def __init__(self, data: bytes, seed: np.uint64) -> None:
        self._data = data
        self._seed = seed
        self._at = 0

    def table(self, shape: _Shape) -> Table:
        """The next table."""
        rows, columns = shape.rows, shape.columns
        return Table(
            self.hashes(rows),
            self._numbers(rows, shape.count_bytes).astype(np.uint32, copy=False),
            self._numbers(rows, shape.last_bytes).astype(np.uint32, copy=False),
            self.hashes(rows) if shape.is_owned else None,
            self._numbers(rows * columns, shape.sum_bytes).astype(np.uint64).reshape(rows, columns)
            if columns
            else None,
        )

    def hashes(self, count: int) -> Hashes:
        """The next numbers of eight bytes that are seeded."""
        numbers = self._numbers(count, 8).astype(np.uint64)
        return numbers ^ self._seed if self._seed else numbers

    def _numbers(self, count: int, width: int) -> NDArray[Any]:
        """The next numbers of so many bytes; ones where they take none."""
        if not width:
            return np.ones(count, np.uint32)
        self._at += width * count
        return np.frombuffer(self._data, f"<u{width}", count, self._at - width * count)


_LENGTH: Final = 4
_MAX_COUNT: Final = int(np.iinfo(np.uint32).max)
_MAX_NUMBER: Final = 1 << 31
"""Counts are below this: pages are counted in four bytes, and a product of two fits into eight."""


def carry(memory: Memory) -> bytes:
    """The memory as bytes that `carried` reads."""
    shapes, arrays = {}, []
    for name, table in {**memory.tables, **memory.settled().history}.items():
        shapes[name], body = table.saved(0)
        arrays.append(body)
    lengths = {name: len(sequence) for name, sequence in memory.sequences.items()}
    arrays += [sequence.astype("<u8").tobytes() for sequence in memory.sequences.values()]
    text = quick.encode([memory.pages, shapes, lengths])
    return b"".join((len(text).to_bytes(_LENGTH, "little"), text, *arrays))


def carried(data: bytes) -> Memory:
    """The memory that `carry` made these bytes of; StateError for anything else."""
    at = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    try:
        pages, shapes, lengths = quick.decode(data[_LENGTH:at])
        numbers = [pages, *lengths.values()]
        if not all(map(_is_count, numbers)) or not all(map(_is_shape, shapes.values())):
            raise ValueError("no counts")
        tables = {name: _Shape(*fields) for name, fields in shapes.items()}
    except (ValueError, TypeError, AttributeError, RecursionError) as fault:
        raise StateError("a process was given something that is not a memory") from fault
    return _read(_Header(pages, tables, lengths, np.uint64(0)), data[at:])
