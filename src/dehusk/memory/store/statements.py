"""The tables of a store, and the statements on them.

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

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from dehusk.errors import StoreDamaged
from dehusk.memory.store.database import Database
from dehusk.memory.store.rows import SiteRow, StoreRow, checksum

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
            values = [(row.text(), checksum(row.text()))]
            self.database.run(f"INSERT INTO {table} VALUES (?, ?)", values)  # noqa: S608

    def site(self, number: int) -> SiteRow | None:
        """The row of a site; None if there is none."""
        found = self.database.rows(_READ_SITE, (number,))
        return SiteRow.read(number, found[0]) if found else None

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
