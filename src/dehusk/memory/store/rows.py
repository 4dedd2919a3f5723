"""The rows of a store, each with a checksum of its own, and the statements on them.

A damaged database can lose rows or serve others without a word, so every row can be checked, and
what belongs together says how much there is of it: a site's row says how many pages there are in
its snapshot and in its log, the store's row how many sites there are.

    store, store_copy   the StoreRow, twice: apart, so that one damage does not hit both
    site                a SiteRow for each site
    snapshot            a site's memory after its first `folded` pages, as `memory.dump` writes it
    log                 for each page behind those, what it taught, written the same way
    shelf               small things that others keep in the store (see `Shelf`)
    shelf_mark          for each shelf, how many rows it has and all their checksums, xored

The layout was measured against a row for each hash: an append is one small write, and a site is
read in one go.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final, Protocol

from dehusk.errors import StateError, StoreDamaged

Values = Sequence[bytes | int | str | None]
Row = tuple[object, ...]


class Database(Protocol):
    """A connection. Statements have `?` where values go. Raises StateError and its kinds."""

    @property
    def address(self) -> str:
        """What people call it: a file's name, or an address without its password."""

    @property
    def is_shared(self) -> bool:
        """True where other processes may write too."""

    @property
    def is_alone(self) -> bool:
        """True where nobody but this connection can write."""

    def rows(self, statement: str, values: Values = ()) -> list[Row]:
        """All rows of the answer."""

    def run(self, statement: str, many: Iterable[Values]) -> None:
        """Run the statement with each of these values."""

    def begin(self) -> None:
        """Begin to write; nobody sees it before the commit."""

    def commit(self) -> None:
        """Make what was written last, as durably as the store was asked to."""

    def rollback(self) -> None:
        """Undo what was written since `begin`; never raises."""

    def reading(self) -> AbstractContextManager[None]:
        """All that is read inside is of one moment, whoever writes meanwhile."""

    def lock(self, number: int) -> None:
        """Keep other writers off what the number stands for, until the commit."""

    def compact(self) -> None:
        """Give back the room that is not used."""

    def faults(self, count: int = 20) -> list[str]:
        """What the database finds wrong with itself, at most so much; nothing raises."""

    def size_bytes(self) -> int:
        """What the database takes on its disk."""

    def close(self) -> None:
        """Let go of it."""


FORMAT: Final = 2
"""The version of the layout in `statements`; 1 had no families and revisions."""


@lru_cache(maxsize=8192)
def site_id(name: str) -> int:
    """The number of a site: 63 bits of its name's digest; 0 stands for no site."""
    if not name:
        return 0
    return int.from_bytes(blake2b(encode(name), digest_size=8).digest(), "little") >> 1


def encode(name: str) -> bytes:
    """A name as bytes; names out of pages may hold what UTF-8 does not know."""
    return name.encode("utf-8", "surrogatepass")


def checksum(*values: object) -> int:
    """The CRC-32 of plain values."""
    return zlib.crc32(repr(values).encode())


@dataclass(frozen=True, slots=True)
class SiteRow:
    """What a store says of a site without reading its memory."""

    name: str
    pages: int = 0
    """Pages learned in all."""
    folded: int = 0
    """Pages in the snapshot; those behind them are in the log."""
    snapshot_bytes: int = 0
    log_bytes: int = 0
    changed: int = 0
    """When a page was last learned, in seconds since 1970."""
    families: int = 0
    """Templates that the method tells apart; 0 where it does not."""
    revision: int = 0
    """How often the method saw the template change; 0 where it does not look."""

    @property
    def id(self) -> int:
        """The site's number."""
        return site_id(self.name)

    @property
    def size_bytes(self) -> int:
        """What the store holds of the site."""
        return self.snapshot_bytes + self.log_bytes

    def values(self) -> tuple[bytes | int, ...]:
        """The row as it is written, its checksum last."""
        plain = (
            encode(self.name),
            self.pages,
            self.folded,
            self.snapshot_bytes,
            self.log_bytes,
            self.changed,
            self.families,
            self.revision,
        )
        return (*plain, checksum(self.id, *plain))

    @classmethod
    def read(cls, number: int, values: tuple[object, ...]) -> SiteRow:
        """The row that was written under that number. Raises StoreDamaged."""
        name, *numbers, written = values
        try:
            assert isinstance(name, bytes)
            row = cls(name.decode("utf-8", "surrogatepass"), *(int(str(n)) for n in numbers))
        except (AssertionError, ValueError) as fault:
            raise StoreDamaged(f"the row of site number {number} is damaged") from fault
        if row.values()[-1] != written or row.id != number:
            raise StoreDamaged(f"the row of site {row.name!r} is damaged", row.name)
        return row


@dataclass(frozen=True, slots=True)
class StoreRow:
    """What a store says of itself."""

    method: str
    settings: Mapping[str, object]
    format: int = FORMAT
    sites: int = 0
    mark: int = 0
    """All sites' numbers, xored: tells which set of sites there is."""
    forgotten: int = 0
    """Sites that left because the whole was too large."""

    def text(self) -> str:
        """The row as JSON."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps(fields | {"settings": dict(self.settings)}, sort_keys=True)

    def values(self) -> tuple[str, int]:
        """The row as it is written, its checksum last."""
        text = self.text()
        return text, checksum(text)

    @classmethod
    def read(cls, text: object, written: object) -> StoreRow:
        """The row out of its JSON. Raises StoreDamaged, and StateError for a newer format."""
        if not isinstance(text, str) or checksum(text) != written:
            raise StoreDamaged("the store's own row is damaged")
        fields = json.loads(text)
        if fields["format"] > FORMAT:
            raise StateError(
                f"written by a newer dehusk (format {fields['format']}); this one reads up to"
                f" format {FORMAT}: pip install --upgrade dehusk"
            )
        return cls(**fields)


TABLES: Final = tuple(
    f"CREATE TABLE {name} ({columns})"
    for name, columns in {
        "store": "body TEXT NOT NULL, checksum {int} NOT NULL",
        "site": "id {int} PRIMARY KEY, name {blob} NOT NULL, pages {int} NOT NULL,"
        " folded {int} NOT NULL, snapshot_bytes {int} NOT NULL, log_bytes {int} NOT NULL,"
        " changed {int} NOT NULL, families {int} NOT NULL, revision {int} NOT NULL,"
        " checksum {int} NOT NULL",
        "snapshot": "site {int} PRIMARY KEY, body {blob} NOT NULL",
        "log": "site {int} NOT NULL, page {int} NOT NULL, body {blob} NOT NULL,"
        " PRIMARY KEY (site, page)",
        "shelf": "shelf {blob} NOT NULL, site {int} NOT NULL, key {blob} NOT NULL,"
        " value {blob} NOT NULL, checksum {int} NOT NULL, PRIMARY KEY (shelf, site, key)",
        "shelf_mark": "shelf {blob} PRIMARY KEY, rows {int} NOT NULL, mark {int} NOT NULL,"
        " checksum {int} NOT NULL",
        "store_copy": "body TEXT NOT NULL, checksum {int} NOT NULL",
    }.items()
)
INSERT_STORE: Final = ("INSERT INTO store VALUES (?, ?)", "INSERT INTO store_copy VALUES (?, ?)")
_FIELDS: Final = (
    "name", "pages", "folded", "snapshot_bytes", "log_bytes", "changed", "families", "revision",
    "checksum",
)  # fmt: skip
_SITE: Final = ", ".join(_FIELDS)
_READ_SITE: Final = f"SELECT {_SITE} FROM site WHERE id = ?"  # noqa: S608
_WRITE_SITE: Final = (
    f"INSERT INTO site (id, {_SITE}) VALUES (?{', ?' * len(_FIELDS)})"  # noqa: S608
    f" ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _FIELDS)}"
)


class Statements:
    """Reads and writes a store's rows. Whatever is read was checked: StoreDamaged if it is not."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def read_store(self) -> StoreRow:
        """The store's row, or where that is damaged, its copy."""
        try:
            return self.read_copy("store")
        except StoreDamaged:
            return self.read_copy("store_copy")

    def read_copy(self, table: str) -> StoreRow:
        """The store's row as it stands in `store` or in `store_copy`."""
        found = self.database.rows(f"SELECT body, checksum FROM {table}")  # noqa: S608
        return StoreRow.read(*(found[0] if len(found) == 1 else (None, None)))

    def is_empty(self) -> bool:
        """True for a store that nothing was ever written to."""
        return not any(
            self.database.rows(f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608
            for table in ("store", "store_copy", "site")
        )

    def write_store(self, row: StoreRow) -> None:
        """Write the store's row."""
        for table in ("store", "store_copy"):
            self.database.run(f"DELETE FROM {table}", [()])  # noqa: S608
        for statement in INSERT_STORE:
            self.database.run(statement, [row.values()])

    def site(self, number: int) -> SiteRow | None:
        """The row of a site; None if there is none."""
        found = self.database.rows(_READ_SITE, (number,))
        return SiteRow.read(number, found[0]) if found else None

    def site_named(self, name: str) -> SiteRow | None:
        """The row of the site of that name; None if there is none."""
        return self.site(site_id(name))

    def has_site(self, row: SiteRow) -> bool:
        """Is the row there as it was written? Quicker than to read it."""
        return self.database.rows(_READ_SITE, (row.id,)) == [row.values()]

    def site_numbers(self) -> list[int]:
        """The numbers of all sites."""
        return [_number(row[0]) for row in self.database.rows("SELECT id FROM site ORDER BY id")]

    def sites(self, damaged: Callable[[StoreDamaged], object] | None = None) -> Iterator[SiteRow]:
        """The rows of all sites; `damaged` is told of those that are, else they raise."""
        for number, *values in self.database.rows(f"SELECT id, {_SITE} FROM site"):  # noqa: S608
            try:
                yield SiteRow.read(_number(number), tuple(values))
            except StoreDamaged as fault:
                if damaged is None:
                    raise
                damaged(fault)

    def write_sites(self, rows: Iterable[SiteRow]) -> None:
        """Write the rows of sites, over those that are there."""
        self.database.run(_WRITE_SITE, [(row.id, *row.values()) for row in rows])

    def snapshot(self, number: int) -> bytes | None:
        """A site's memory as it was folded; None if it was not yet."""
        found = self.database.rows("SELECT body FROM snapshot WHERE site = ?", (number,))
        return _bytes(found[0][0]) if found else None

    def write_snapshot(self, number: int, body: bytes, pages: int) -> None:
        """Write a site's memory after so many pages, in place of their log."""
        self.database.run(
            "INSERT INTO snapshot VALUES (?, ?)"
            " ON CONFLICT (site) DO UPDATE SET body = excluded.body",
            [(number, body)],
        )
        self.database.run("DELETE FROM log WHERE site = ? AND page <= ?", [(number, pages)])

    def log(self, number: int, after: int = 0) -> list[tuple[int, bytes]]:
        """The pages in a site's log behind this one, each with what it taught, in order."""
        found = self.database.rows(
            "SELECT page, body FROM log WHERE site = ? AND page > ? ORDER BY page", (number, after)
        )
        return [(_number(page), _bytes(body)) for page, body in found]

    def write_log(self, pages: Iterable[tuple[int, int, bytes]]) -> None:
        """Append to logs: site, number of the page, and what it taught."""
        self.database.run("INSERT INTO log VALUES (?, ?, ?)", pages)

    def drop_site(self, number: int) -> None:
        """Take out all there is of a site, its shelves aside."""
        for table, column in (("log", "site"), ("snapshot", "site"), ("site", "id")):
            self.database.run(f"DELETE FROM {table} WHERE {column} = ?", [(number,)])  # noqa: S608

    def total_bytes(self) -> int:
        """What all sites hold together."""
        found = self.database.rows("SELECT sum(snapshot_bytes + log_bytes) FROM site")
        return _number(found[0][0] or 0)

    def longest_unchanged(self, count: int) -> list[SiteRow]:
        """The sites that have not changed for longest."""
        found = self.database.rows(
            f"SELECT id, {_SITE} FROM site ORDER BY changed, id LIMIT ?",  # noqa: S608
            (count,),
        )
        return [SiteRow.read(_number(number), tuple(values)) for number, *values in found]


def _number(value: object) -> int:
    """The number that a column holds; a damaged one may hold anything."""
    try:
        return int(str(value))
    except ValueError as fault:
        raise StoreDamaged("a column that holds numbers holds something else") from fault


def _bytes(value: object) -> bytes:
    """The bytes that a column holds."""
    if not isinstance(value, bytes):
        raise StoreDamaged("a column that holds bytes holds something else")
    return value
