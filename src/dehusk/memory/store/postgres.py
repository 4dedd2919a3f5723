"""A store in a PostgreSQL database, for many writers at once (install extra `postgres`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

from dehusk.errors import MissingExtra, NoMemory, StateError, StoreDamaged, StoreFull, StoreLocked
from dehusk.memory.store.rows import TABLES, Row, Values

_LOCKS: Final = 0x4855534B
"""'HUSK': the advisory lock under which a store's tables are made."""
_NAME: Final = "CREATE TABLE "


class PostgresDatabase:
    """A connection to the database. Each site has a lock of its own, held while it is written.

    The tables stand in a schema of their own, `dehusk`.
    """

    is_shared = True
    is_alone = False

    def __init__(
        self, address: str, *, writes: bool, makes: bool = False, is_synced: bool = True
    ) -> None:
        try:
            import psycopg  # noqa: PLC0415  an install extra
        except ImportError:
            raise MissingExtra("a memory in PostgreSQL", "postgres") from None
        self._psycopg = psycopg
        self.address = _without_password(address)
        with self._typed():
            self._connection = psycopg.connect(address, autocommit=True)
        try:
            self._set_up(writes=writes, makes=makes, is_synced=is_synced)
        except BaseException:  # Ctrl-C too: let go of the server
            self._connection.close()
            raise

    def _set_up(self, *, writes: bool, makes: bool, is_synced: bool) -> None:
        """Make the tables, if they are not there and it `makes` them; else UsageError."""
        with self._typed(), self._connection.cursor() as cursor:
            cursor.execute("BEGIN")
            if makes:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCKS,))
            cursor.execute("SELECT to_regclass('dehusk.store')")
            found = cursor.fetchone()
            if found is None or found[0] is None:
                if not makes:
                    raise NoMemory(self.address)
                cursor.execute("CREATE SCHEMA IF NOT EXISTS dehusk")
                for table in TABLES:
                    statement = table.format(int="BIGINT", blob="BYTEA")
                    cursor.execute(statement.replace(_NAME, f"{_NAME}dehusk.").encode())
            cursor.execute("COMMIT")
            if writes:
                # Off: a commit returns before it is on the disk, and a crash of the server may
                # undo the last ones, whole.
                cursor.execute(f"SET synchronous_commit = {'on' if is_synced else 'off'}".encode())
            cursor.execute("SET search_path = dehusk")

    @contextmanager
    def _typed(self) -> Iterator[None]:
        """Turns the driver's errors into ours."""
        errors = self._psycopg.errors
        try:
            yield
        except (errors.DiskFull, errors.OutOfMemory) as fault:
            raise StoreFull(f"{self.address}: no room on the server ({fault})") from fault
        except (errors.LockNotAvailable, errors.DeadlockDetected) as fault:
            raise StoreLocked(f"{self.address}: {fault}") from fault
        except (errors.DataCorrupted, errors.IndexCorrupted, errors.DataError) as fault:
            raise StoreDamaged(f"{self.address}: {fault}") from fault
        except self._psycopg.Error as fault:
            raise StateError(f"{self.address}: {fault}") from fault

    def rows(self, statement: str, values: Values = ()) -> list[Row]:
        """All rows of the answer."""
        with self._typed(), self._connection.cursor() as cursor:
            cursor.execute(_marked(statement), values or None)
            return [tuple(map(_plain, row)) for row in cursor.fetchall()]

    def run(self, statement: str, many: Iterable[Values]) -> None:
        """Run the statement with each of these values."""
        with self._typed(), self._connection.cursor() as cursor:
            cursor.executemany(_marked(statement), [tuple(values) for values in many])

    def begin(self) -> None:
        """Begin to write."""
        self._do(b"BEGIN")

    def commit(self) -> None:
        """Commit; on return it survives what the store was asked to survive."""
        self._do(b"COMMIT")

    def rollback(self) -> None:
        """Undo what was written since `begin`."""
        with suppress(self._psycopg.Error):
            self._connection.execute(b"ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read inside is of one moment."""
        self._do(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            self.rollback()

    def lock(self, number: int) -> None:
        """Keep other writers off the site until the commit."""
        with self._typed():
            self._connection.execute(b"SELECT pg_advisory_xact_lock(%s)", (number,))

    def compact(self) -> None:
        """Let the server give back the room that is not used."""
        for table in ("store", "site", "snapshot", "log", "shelf", "shelf_mark", "store_copy"):
            self._do(f"VACUUM FULL {table}".encode())

    def faults(self, count: int = 20) -> list[str]:
        """Nothing: the server looks after its own files."""
        del count
        return []

    def size_bytes(self) -> int:
        """What the tables take on the server's disk."""
        found = self.rows(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relnamespace = 'dehusk'::regnamespace AND relkind = 'r'"
        )
        return int(str(found[0][0] or 0))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _do(self, statement: bytes) -> None:
        with self._typed():
            self._connection.execute(statement)


def _marked(statement: str) -> bytes:
    """The statement with the driver's places for values."""
    return statement.replace("?", "%s").encode()


def _plain(value: Any) -> object:
    """A value as SQLite would give it: the server's sums are decimals."""
    if isinstance(value, bytes | str | int) or value is None:
        return value
    return int(value)


def _without_password(address: str) -> str:
    """The address as it may be shown."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
