"""What a crawl has done and has before it, in a file that survives being cut off at any moment.

    visits    every URL that was or will be asked for, in the order found
    seen      64 bits of every URL met, and why it was left out, where it was
    answers   what came from the web and has not had its turn yet
    earlier   what an earlier, finished crawl found, for conditional requests
    facts     single values: version, seeds, whether it is over, and what a door wants to keep

A step of the crawl is one transaction. What a door has to remember (how far it has written, what a
site has taught) goes into the same one.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Final

from dehusk import errors
from dehusk.errors import PageError, StateError, UsageError
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import Entry
from dehusk.sources.crawl.scope import LeftOut

VERSION: Final = 3
_MAGIC: Final = b"SQLite format 3\0"
_COLUMNS: Final = ", ".join(field.name for field in fields(Entry))
_FACTS: Final = "create table if not exists crawl_facts (name text primary key, value text)"
_SCHEMA: Final = f"""
{_FACTS};
create table if not exists crawl_visits (
    number integer primary key, url text, site text, depth integer, shape text, place text,
    hops integer, dates integer, attempts integer, parent integer,
    taken integer, outcome text, etag text, modified text, text_hash integer, links blob
);
create table if not exists crawl_seen (key integer primary key, reason text);
create table if not exists crawl_answers (number integer primary key, head text, body blob);
create table if not exists crawl_earlier (
    number integer primary key, key integer, url text, site text, depth integer, shape text,
    place text, etag text, modified text, text_hash integer, links blob
);
"""

PAGE: Final = "page"
"""The outcome of a URL that gave a page. Others are the name of a `LeftOut`, or an error's code."""
REDIRECT: Final = "redirect"
GONE: Final = "gone"
"""The outcome of a URL that the server says has no page, or no longer (404, 410)."""
BUSY: Final = "busy"
"""The outcome of a URL that failed as often as it was tried, but may not fail the next time."""
UNLINKED: Final = "unlinked"
"""The fact that says from which entry on URLs were found that no link and no sitemap led to."""
AGAIN: Final = "again"
"""The outcome of a URL that is asked for again, as another entry."""

Answer = Response | PageError


@dataclass(frozen=True, slots=True)
class Visit:
    """A URL as the state knows it: when it was taken, and what came of it."""

    entry: Entry
    taken: int | None
    outcome: str | None
    text_hash: int | None


@dataclass(frozen=True, slots=True)
class Validators:
    """What an earlier answer said of itself, for asking whether it still holds."""

    etag: str = ""
    modified: str = ""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of a conditional request."""
        said = (("If-None-Match", self.etag), ("If-Modified-Since", self.modified))
        return tuple((name, value) for name, value in said if value)


NO_VALIDATORS: Final = Validators()


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of a page from an earlier crawl."""

    validators: Validators
    text_hash: int | None
    links: bytes = b""
    """Packed."""


@contextmanager
def open_state(
    path: Path | None, *, is_fresh: bool = False, kept: Sequence[str] = ()
) -> Iterator[State]:
    """The state in this file, made where it is not there; in memory without a file.

    With `is_fresh` an earlier crawl in it is forgotten, but for the `kept` facts. Raises UsageError
    for a file that cannot be used, or that another crawl is using.
    """
    if path is not None:
        _check_magic(path)
    try:
        connection = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=1.0)
    except sqlite3.Error as fault:
        raise UsageError(f"{path}: cannot keep the state of the crawl there: {fault}") from fault
    try:
        connection.execute("pragma locking_mode = exclusive")
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        _check_tables(connection, path)
        if is_fresh:
            _forget(connection, kept)
        yield State(connection)
    except sqlite3.OperationalError as fault:
        if fault.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise UsageError(f"{path}: another dehusk is crawling into it; wait for it") from fault
        raise UsageError(f"{path}: cannot keep the state of a crawl there: {fault}") from fault
    except sqlite3.DatabaseError as fault:
        raise StateError(f"{path}: not the state of a crawl, or damaged: {fault}") from fault
    finally:
        connection.close()


def _check_magic(path: Path) -> None:
    """Raise UsageError for a file that is no database, before one is made of it."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except FileNotFoundError:
        return
    except OSError as fault:
        raise UsageError(f"{path}: cannot keep the state of a crawl there: {fault}") from fault
    if head and head != _MAGIC:
        raise UsageError(f"{path}: not the state of a crawl")


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("select name from sqlite_master")}


def _check_tables(connection: sqlite3.Connection, path: Path | None) -> None:
    """Raise UsageError for a database of something else, such as a memory."""
    tables = _tables(connection)
    if tables and "crawl_facts" not in tables:
        raise UsageError(f"{path}: a database of something else, not the state of a crawl")


def _forget(connection: sqlite3.Connection, kept: Sequence[str]) -> None:
    """Take an earlier crawl out, with what a door kept of it, but for these facts."""
    connection.execute("begin immediate")
    facts = []
    if "crawl_facts" in _tables(connection):
        rows = connection.execute("select name, value from crawl_facts").fetchall()
        facts = [(name, value) for name, value in rows if name in kept]
    for name in _tables(connection):
        if name.startswith("crawl_"):
            connection.execute(f"drop table {name}")
    if facts:
        connection.execute(_FACTS)
        connection.executemany("insert into crawl_facts values (?, ?)", facts)
    connection.execute("commit")


class State:
    """The tables of a crawl, in a database that may hold other things too."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        with self.transaction():
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
        if self.fact("version", VERSION) != VERSION:
            raise StateError(
                "the state of a crawl by another version of dehusk; --fresh starts over"
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside is there at the end, or nothing of it. Raises StateError."""
        # An interrupt may come between any two lines: none may leave a transaction open.
        try:
            self.connection.execute("begin immediate")
            yield
            self.connection.execute("commit")
        except sqlite3.OperationalError as fault:
            self._roll_back()
            if fault.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise
            raise StateError(f"the state of the crawl cannot be written: {fault}") from fault
        except BaseException:  # Ctrl-C too
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):  # A disk that failed may fail again; the file is whole.
            if self.connection.in_transaction:
                self.connection.execute("rollback")

    def fact(self, name: str, default: Any = None) -> Any:
        """A single value; the default where it was never set."""
        rows = self.connection.execute("select value from crawl_facts where name = ?", (name,))
        row = rows.fetchone()
        return default if row is None else json.loads(row[0])

    def set_facts(self, values: Mapping[str, object]) -> None:
        """Write single values."""
        rows = [(name, json.dumps(value)) for name, value in values.items()]
        self.connection.executemany("insert or replace into crawl_facts values (?, ?)", rows)

    def visits(self) -> Iterator[Visit]:
        """Every URL in the order found."""
        query = f"select {_COLUMNS}, taken, outcome, text_hash from crawl_visits order by number"  # noqa: S608
        for *values, taken, outcome, text_hash in self.connection.execute(query):
            yield Visit(Entry(*values), taken, outcome, text_hash)

    def seen(self) -> Iterator[tuple[int, str | None]]:
        """The key of every URL met, and why it was left out before it was asked for."""
        return iter(self.connection.execute("select key, reason from crawl_seen"))

    def add(self, entries: Iterable[Entry], seen: Iterable[tuple[int, str | None]]) -> None:
        """Write new URLs."""
        marks = ", ".join("?" * len(fields(Entry)))
        self.connection.executemany(
            f"insert into crawl_visits ({_COLUMNS}) values ({marks})",  # noqa: S608
            map(astuple, entries),
        )
        self.connection.executemany("insert or replace into crawl_seen values (?, ?)", seen)

    def take(self, number: int, order: int) -> None:
        """Note that a URL was taken, as the so-manieth."""
        self.connection.execute(
            "update crawl_visits set taken = ? where number = ?", (order, number)
        )

    def settle(
        self,
        number: int,
        outcome: str,
        validators: Validators = NO_VALIDATORS,
        text_hash: int | None = None,
        links: bytes = b"",
    ) -> None:
        """Note what came of a URL, and let its answer go."""
        self.connection.execute(
            "update crawl_visits set outcome = ?, etag = ?, modified = ?, text_hash = ?, links = ?"
            " where number = ?",
            (outcome, validators.etag, validators.modified, text_hash, links, number),
        )
        self.connection.execute("delete from crawl_answers where number = ?", (number,))

    def keep_answer(self, number: int, answer: Answer) -> None:
        """Keep what came until its turn, so that it need not be asked for again."""
        head, body = _packed(answer)
        with self.transaction():
            self.connection.execute(
                "insert or replace into crawl_answers values (?, ?, ?)", (number, head, body)
            )

    def forget_answers(self, numbers: Iterable[int]) -> None:
        """Let answers go that say nothing, so that their URLs are asked for again."""
        rows = [(number,) for number in numbers]
        with self.transaction():
            self.connection.executemany("delete from crawl_answers where number = ?", rows)

    def answers(self) -> dict[int, Answer]:
        """What came and has not had its turn."""
        rows = self.connection.execute("select number, head, body from crawl_answers")
        return {number: _unpacked(head, body) for number, head, body in rows}

    def waiting(self) -> int:
        """URLs of which nothing has come yet."""
        rows = self.connection.execute("select count(*) from crawl_visits where outcome is null")
        return int(rows.fetchone()[0])

    def begin_again(self, key_of: Callable[[str], int], facts: Mapping[str, object]) -> None:
        """Keep of a finished crawl what a second visit needs, and these facts; forget the rest."""
        query = (
            "select url, site, depth, shape, place, etag, modified, text_hash, links"
            " from crawl_visits where outcome in (?, ?) order by taken"
        )
        rows = self.connection.execute(query, (PAGE, LeftOut.UNCHANGED.name)).fetchall()
        with self.transaction():
            for table in ("earlier", "visits", "seen", "answers", "facts"):
                self.connection.execute(f"delete from crawl_{table}")  # noqa: S608 - five names
            self.connection.executemany(
                "insert into crawl_earlier values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                ((number, key_of(row[0]), *row) for number, row in enumerate(rows)),
            )
            self.set_facts(facts)

    def earlier(self) -> Iterator[tuple[int, Entry, Earlier]]:
        """The pages of an earlier crawl in their order: key, what to ask for, what it said."""
        query = (
            "select key, number, url, site, depth, shape, place, etag, modified, text_hash, links"
            " from crawl_earlier order by number"
        )
        for key, *values, etag, modified, text_hash, links in self.connection.execute(query):
            yield key, Entry(*values), Earlier(Validators(etag, modified), text_hash, links)


def _packed(answer: Answer) -> tuple[str, bytes]:
    """An answer as a line of JSON and a packed body."""
    if isinstance(answer, PageError):
        said = {"error": type(answer).__name__, "url": answer.url, "reason": answer.reason}
        return json.dumps(said), b""
    head = {
        "url": answer.url,
        "status": answer.status,
        "headers": answer.headers,
        "answered_at": answer.answered_at,
    }
    return json.dumps(head), zlib.compress(answer.body, 1)


def _unpacked(head: str, body: bytes) -> Answer:
    """The answer that `_packed` wrote."""
    said = json.loads(head)
    if "error" in said:
        kind: type[PageError] = getattr(errors, said["error"])
        return kind(said["url"], said["reason"])
    headers = tuple((name, value) for name, value in said["headers"])
    return Response(
        said["url"], said["status"], headers, zlib.decompress(body), said.get("answered_at", 0.0)
    )
