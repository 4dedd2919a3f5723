"""Small things that others keep in a store, committed together with what pages taught."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Final

from dehusk.errors import StoreDamaged, UsageError
from dehusk.memory.store.rows import Database, Row, checksum, site_id

_FETCHED: Final = 1000
"""Rows that are read at once."""
_ASKED: Final = 100
"""Keys that are asked for at once."""

_COUNTED: Final = (
    "SELECT found.site, found.key, own.site, own.key, own.checksum"
    " FROM shelf AS found JOIN shelf AS own ON own.rowid = found.rowid WHERE found.shelf = ?"
)
"""Every row of a shelf as the index has it, through which rows are found, and as it is itself."""

_Place = tuple[bytes, int]
"""A shelf's name and a site's number."""
_Alone = AbstractContextManager[object]
"""A lock that whoever holds it can take again."""
_NOBODY_ELSE: Final = nullcontext()


class Shelf:
    """Keys and values, both bytes, in the order of the keys; one shelf never sees another's.

    What is put is seen at once by whoever asks this store, and becomes lasting with the store's
    next commit, together with the pages learned up to then: all of it or nothing. So a crawler
    that puts away its frontier and the length of its output beside each page finds, after any
    crash, the three as they were at one and the same moment.

        frontier = memory.shelf("frontier")
        with memory.unit():                      # all of this or nothing
            result = memory.add(page)
            frontier.delete(place)
            frontier.put(next_place, b"https://…")

    Keys may be made so that they sort: numbers as `number.to_bytes(8, "big")`. Threads that share
    a session may share its shelves: one that asks waits for another's unit to end.
    """

    def __init__(self, shelves: Shelves, place: _Place, alone: _Alone = _NOBODY_ELSE) -> None:
        self._shelves = shelves
        self._place = place
        self._alone = alone

    def get(self, key: bytes) -> bytes | None:
        """The value of a key; None if there is none. Raises StoreDamaged."""
        with self._alone:
            return self._shelves.get(self._place, key)

    def put(self, key: bytes, value: bytes) -> None:
        """Set the value of a key. Raises UsageError for what is not bytes."""
        for given in (key, value):
            if not isinstance(given, bytes):
                kind = type(given).__name__
                raise UsageError(f"keys and values of a shelf are bytes, not {kind}")
        with self._alone:
            self._shelves.put(self._place, key, value)

    def delete(self, key: bytes) -> None:
        """Take a key away, if it is there."""
        with self._alone:
            self._shelves.put(self._place, key, None)

    def items(
        self, prefix: bytes = b"", *, after: bytes | None = None, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """The keys that begin with the prefix and come behind `after`, in order, with values.

        What is put or deleted behind the place that was reached is seen; it is safe to do so.
        """
        return islice(self._each(self._shelves.items(self._place, prefix, after)), limit)

    def _each(self, items: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        """The same, each read alone: between two others may work, and there may be many."""
        while True:
            with self._alone:
                item = next(items, None)
            if item is None:
                return
            yield item

    def all(self) -> list[tuple[bytes, bytes]]:
        """Every key with its value, in order: all that was put there, or StoreDamaged.

        A damaged file may not find a row, and then `items` cannot miss it. This counts them, and so
        reads the shelves of all sites that have the name: for shelves with little on them.
        """
        with self._alone:
            return self._shelves.all(self._place)


class Shelves:
    """All shelves of a store, and what was put on them since the last commit."""

    def __init__(self, database: Database, is_new: Callable[[int], bool] | None = None) -> None:
        """`is_new` says of which sites the database holds nothing, so that it is not asked."""
        self._database = database
        self._is_new = is_new or (lambda _number: False)
        self._pending: dict[_Place, dict[bytes, bytes | None]] = {}
        self._undo: list[tuple[_Place, bytes, bytes | None, bool]] | None = None
        self._counts: dict[bytes, dict[int, int]] = {}
        """By shelf, how many rows each site has there, where they were counted."""
        self.pending = 0
        """Changes that are not committed."""

    def shelf(self, name: str, site: str = "", alone: _Alone = _NOBODY_ELSE) -> Shelf:
        """The shelf of that name, of a site or of all; what is done with it is done `alone`."""
        return Shelf(self, (name.encode(), site_id(site)), alone)

    def begin_unit(self) -> None:
        """Remember how things are."""
        self._undo = []

    def end_unit(self, *, undo: bool) -> None:
        """Forget how things were, or make them so again."""
        for place, key, before, was_pending in reversed(self._undo or () if undo else ()):
            if was_pending:
                self._pending[place][key] = before
            else:
                del self._pending[place][key]
                self.pending -= 1
        self._undo = None

    def get(self, place: _Place, key: bytes) -> bytes | None:
        """The value of a key, committed or not."""
        pending = self._pending.get(place, {})
        if key in pending:
            return pending[key]
        if self._is_new(place[1]):
            return None
        found = self._database.rows(
            "SELECT value, checksum FROM shelf WHERE shelf = ? AND site = ? AND key = ?",
            (*place, key),
        )
        return _checked(place, key, *found[0]) if found else None

    def put(self, place: _Place, key: bytes, value: bytes | None) -> None:
        """Set a value, to be committed; None takes the key away."""
        pending = self._pending.setdefault(place, {})
        is_pending = key in pending
        if self._undo is not None:
            self._undo.append((place, key, pending.get(key), is_pending))
        self.pending += not is_pending
        pending[key] = value

    def items(
        self, place: _Place, prefix: bytes, after: bytes | None
    ) -> Iterator[tuple[bytes, bytes]]:
        """The keys in order, committed or not."""
        at = prefix if after is None or after < prefix else after + b"\0"
        while True:
            found = self._fetched(place, at)
            known: dict[bytes, bytes | None] = {}
            for key, value, written in found:
                assert isinstance(key, bytes)
                known[key] = _checked(place, key, value, written)
            is_last = len(found) < _FETCHED
            end = None if is_last else max(known)
            for key in sorted(self._pending.get(place, {})):
                if key >= at and (end is None or key <= end):
                    known[key] = self._pending[place][key]
            for key in sorted(known):
                if not key.startswith(prefix):
                    return
                # It may have been put or deleted since it was read.
                value = self._pending.get(place, {}).get(key, known[key])
                if value is not None:
                    yield key, value
            if end is None:
                return
            at = end + b"\0"

    def _fetched(self, place: _Place, at: bytes) -> list[Row]:
        """The next rows of a shelf, from that key on."""
        if self._is_new(place[1]):
            return []
        return self._database.rows(
            "SELECT key, value, checksum FROM shelf"
            " WHERE shelf = ? AND site = ? AND key >= ? ORDER BY key LIMIT ?",
            (*place, at, _FETCHED),
        )

    def all(self, place: _Place) -> list[tuple[bytes, bytes]]:
        """Every key of a shelf in order, committed or not. Raises StoreDamaged."""
        if self._is_new(place[1]) and place not in self._pending:
            return []
        is_counted = not (self._database.is_shared or self._is_new(place[1]))
        if is_counted and self._committed(place) != self._count(place):
            # Another process may have written since they were counted.
            with self._database.reading():
                self._counts.pop(place[0], None)
                is_whole = self._committed(place) == self._count(place)
            if not is_whole:
                raise StoreDamaged(f"rows of the shelf {_shown(place[0])} are not found")
        return list(self.items(place, b"", None))

    def _committed(self, place: _Place) -> int:
        """How many keys of a shelf are found."""
        found = self._database.rows("SELECT key FROM shelf WHERE shelf = ? AND site = ?", place)
        return len(found)

    def _count(self, place: _Place) -> int:
        """How many keys there are on a shelf, as its mark has it. Raises StoreDamaged."""
        name, site = place
        if name not in self._counts:
            self._counts[name] = self.counted(name)
        return self._counts[name].get(site, 0)

    def counted(self, name: bytes) -> dict[int, int]:
        """How many rows each site has on a shelf of a file, as many as its mark says.

        What a row holds is checked when it is asked for. Raises StoreDamaged where one is not
        found, was never written, or stands elsewhere in the index.
        """
        counts: dict[int, int] = {}
        change = 0
        for site, key, own_site, own_key, written in self._database.rows(_COUNTED, (name,)):
            if (site, key) != (own_site, own_key) or not isinstance(site, int):
                raise StoreDamaged(f"the index of the shelf {_shown(name)} is damaged")
            counts[site] = counts.get(site, 0) + 1
            change ^= written if isinstance(written, int) else 0
        # Not looked for by its name: the index may be what is damaged.
        marks = self._database.rows("SELECT shelf, rows, mark, checksum FROM shelf_mark")
        mark = next((_read_mark(name, *row[1:]) for row in marks if row[0] == name), (0, 0))
        if mark != (sum(counts.values()), change):
            raise StoreDamaged(
                f"rows of the shelf {_shown(name)} are missing, or not those written"
            )
        return counts

    def write(self) -> None:
        """Write what was put; to be called between `begin` and `commit`."""
        for name in sorted({name for name, _ in self._pending}):
            self._database.lock(site_id(f"shelf {name!r}"))
            rows, mark = self._mark(name)
            places = [(place, kept) for place, kept in self._pending.items() if place[0] == name]
            more, change = self._write_places(places)
            self._write_mark(name, rows + more, mark ^ change)

    def pending_sites(self) -> set[int]:
        """The sites for which something is to be committed."""
        return {site for _, site in self._pending}

    def lone_sites(self) -> set[int]:
        """The sites of which there is something on shelves, and nothing else in the database."""
        found = self._database.rows(
            "SELECT DISTINCT site FROM shelf WHERE site NOT IN (SELECT id FROM site)"
        )
        return {site for (site,) in found if isinstance(site, int)}

    def written(self) -> None:
        """Nothing is pending any more: it was committed."""
        for name, _ in self._pending:
            self._counts.pop(name, None)
        self._pending.clear()
        self.pending = 0

    def drop_site(self, number: int) -> bool:
        """Take out all that is kept of a site; False if that is nothing.

        To be called between `begin` and `commit`.
        """
        self._counts.clear()
        found = self._database.rows(
            "SELECT shelf, count(*) FROM shelf WHERE site = ? GROUP BY shelf ORDER BY shelf",
            (number,),
        )
        for name, _ in found:
            assert isinstance(name, bytes)
            self._database.lock(site_id(f"shelf {name!r}"))
            rows, mark = self._mark(name)
            # The values are not looked at: a damaged row must not keep its site from going.
            keys = self._database.rows(
                "SELECT key FROM shelf WHERE shelf = ? AND site = ?", (name, number)
            )
            gone = dict.fromkeys((key for (key,) in keys if isinstance(key, bytes)), None)
            more, change = self._write_places([((name, number), gone)])
            self._write_mark(name, rows + more, mark ^ change)
        return bool(found)

    def has_pending(self, number: int) -> bool:
        """True where something was put for a site and not committed."""
        return any(
            value is not None
            for place, pending in self._pending.items()
            if place[1] == number
            for value in pending.values()
        )

    def forget_pending(self, number: int) -> None:
        """Drop what was put for a site and not committed: the site was taken out."""
        self._pending = {place: kept for place, kept in self._pending.items() if place[1] != number}
        self.pending = sum(map(len, self._pending.values()))

    def _write_places(
        self, places: Iterable[tuple[_Place, dict[bytes, bytes | None]]]
    ) -> tuple[int, int]:
        """Write shelves; how many rows there are more, and what changes in the mark."""
        more = change = 0
        put: list[tuple[bytes, int, bytes, bytes, int]] = []
        gone: list[tuple[bytes, int, bytes]] = []
        for place, pending in places:
            found = [] if self._is_new(place[1]) else self._checksums(place, list(pending))
            more -= len(found)
            for before in found:
                change ^= before
            for key, value in pending.items():
                if value is None:
                    gone.append((*place, key))
                else:
                    put.append((*place, key, value, checksum(place, key, value)))
                    change ^= put[-1][-1]
        self._database.run("DELETE FROM shelf WHERE shelf = ? AND site = ? AND key = ?", gone)
        self._database.run(
            "INSERT INTO shelf VALUES (?, ?, ?, ?, ?) ON CONFLICT (shelf, site, key)"
            " DO UPDATE SET value = excluded.value, checksum = excluded.checksum",
            sorted(put),  # Neighbours in the index are on one page of the file.
        )
        return more + len(put), change

    def _checksums(self, place: _Place, keys: Sequence[bytes]) -> list[int]:
        """The checksums of those of the keys that are there."""
        found: list[int] = []
        for start in range(0, len(keys), _ASKED):
            some = keys[start : start + _ASKED]
            rows = self._database.rows(
                "SELECT checksum FROM shelf WHERE shelf = ? AND site = ?"  # noqa: S608
                f" AND key IN (?{', ?' * (len(some) - 1)})",
                (*place, *some),
            )
            found += (int(str(row[0])) for row in rows)
        return found

    def _mark(self, name: bytes) -> tuple[int, int]:
        """How many rows a shelf has, and all their checksums, xored. Raises StoreDamaged."""
        found = self._database.rows(
            "SELECT rows, mark, checksum FROM shelf_mark WHERE shelf = ?", (name,)
        )
        return _read_mark(name, *found[0]) if found else (0, 0)

    def _write_mark(self, name: bytes, rows: int, mark: int) -> None:
        self._database.run("DELETE FROM shelf_mark WHERE shelf = ?", [(name,)])
        values = (name, rows, mark, checksum(name, rows, mark))
        self._database.run("INSERT INTO shelf_mark VALUES (?, ?, ?, ?)", [values])


def _checked(place: _Place, key: bytes, value: object, written: object) -> bytes:
    """The value, if it is what was written."""
    if not isinstance(value, bytes) or checksum(place, key, value) != written:
        raise StoreDamaged(f"a row of the shelf {_shown(place[0])} is damaged")
    return value


def _read_mark(name: bytes, rows: object, mark: object, written: object) -> tuple[int, int]:
    """How many rows a shelf has, and all their checksums, xored, if that is what was written."""
    if checksum(name, rows, mark) != written:
        raise StoreDamaged(f"the mark of the shelf {_shown(name)} is damaged")
    return int(str(rows)), int(str(mark))


def _shown(name: bytes) -> str:
    return name.decode(errors="replace")
