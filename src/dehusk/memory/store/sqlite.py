"""A store in one SQLite file: one process writes, any number read."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from shutil import disk_usage
from typing import IO, Final

from dehusk.errors import (
    NoMemory,
    NotAMemory,
    StateError,
    StoreDamaged,
    StoreFull,
    StoreLocked,
    UsageError,
)
from dehusk.memory.store.rows import (
    FORMAT,
    INSERT_STORE,
    TABLES,
    Database,
    Row,
    SiteRow,
    Statements,
    StoreRow,
    Values,
    checksum,
)
from dehusk.output.whole import clear_parts, part_of, sync, unwritable

_YOURS: Final = "name a memory in a folder that is yours"


class WriterLock:
    """Held from when it is made until it is released, or the process ends, however it ends.

    SQLite before 3.51.3 can corrupt its log of writes when two connections move it into the file at
    once, so it is not enough that SQLite locks each write. The lock is a file beside the store, not
    the store's own: closing that a second time would let go of SQLite's locks on it.
    """

    def __init__(self, path: Path) -> None:
        real = Path(os.path.realpath(path))  # A store of two names has one lock.
        self._path = real.with_name(real.name + "-lock")
        self._file: IO[bytes] | None = None
        while self._file is None:
            try:
                file = self._path.open("ab")
            except OSError as fault:
                raise unwritable(path, fault, _YOURS) from fault
            if not _take(file):
                file.close()
                raise StoreLocked(f"{path}: another process is writing to it: wait for it to end")
            # Its last holder may have taken the file away between opening and locking.
            if _is_there(self._path, file):
                self._file = file
            else:
                file.close()

    def release(self) -> None:
        """Let others write."""
        if self._file is not None:
            with suppress(OSError):
                # A lock is empty: what is not may be a store that had the name before.
                if not os.fstat(self._file.fileno()).st_size:
                    self._path.unlink()
            self._file.close()
            self._file = None


def _is_there(path: Path, file: IO[bytes]) -> bool:
    """True where the open file is the one of that name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> bool:
        """Lock the open file; False where somebody else has."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(file: IO[bytes]) -> bool:
        """Lock the open file; False where somebody else has."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


_FIRST_SITE = "name, pages, folded, snapshot_bytes, log_bytes, changed"


def upgrade(database: Database) -> None:
    """Bring a store of format 1 to format 2, which knows families and revisions.

    To be called between `begin` and `commit`. A row that is damaged stays so.
    """
    statements = Statements(database)
    found = database.rows(f"SELECT id, {_FIRST_SITE}, checksum FROM site")  # noqa: S608
    for column in ("families", "revision"):
        database.run(f"ALTER TABLE site ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0", [()])
    for number, name, *numbers, written in found:
        is_good = checksum(number, name, *numbers) == written
        if is_good and isinstance(name, bytes):
            row = SiteRow(name.decode("utf-8", "surrogatepass"), *(int(str(n)) for n in numbers))
            statements.write_sites([row])
    statements.write_store(replace(statements.read_store(), format=FORMAT))


_APPLICATION: Final = 0x4855534B
"""'HUSK': marks the file as ours, so that nobody else's is written to."""
_MAGIC: Final = b"SQLite format 3\0"
"""What every database of SQLite begins with, and none of its logs."""
_PAGE_BYTES: Final = 8192
_FAULTS: Final = (sqlite3.Error, OSError, UnicodeDecodeError)
"""What SQLite and the system raise; the last for names that come out of a damaged file."""
_TIMEOUT_S: Final = 30.0
"""How long a reader or writer waits for the other: writes take milliseconds."""


class SqliteDatabase:
    """A connection to the file. A writer holds the lock; a reader never changes the file."""

    is_shared = False

    def __init__(
        self,
        path: Path,
        *,
        writes: bool,
        make_row: Callable[[], StoreRow] | None = None,
        is_synced: bool = True,
        takes_old: bool = False,
    ) -> None:
        self.address = str(path)
        self._path = path
        self._takes_old = takes_old
        self._is_logged = False
        if not path.exists() and make_row is None:
            raise NoMemory(path)
        if path.exists() and not path.is_file():
            raise UsageError(f"{path}: not a file")
        if not path.absolute().parent.is_dir():
            raise UsageError(f"{path}: there is no folder {path.parent}; make it first")
        if path.exists() and not os.access(path, os.R_OK):
            raise UsageError(f"{path}: no permission to read it; ask its owner")
        if writes and path.exists() and not os.access(path, os.W_OK):
            raise unwritable(path, PermissionError(errno.EACCES, "no permission"), _YOURS)
        self._lock = WriterLock(path) if writes else None
        try:
            with self._typed():
                if writes:
                    _settle(path)
                    if make_row is not None and _is_empty(path):
                        _create(path, make_row())
                self._connection = _connect(path, writes=writes)
                self._set_up(writes=writes, is_synced=is_synced)
        except BaseException:  # Ctrl-C too: let go of the lock
            if self._lock is not None:
                self._lock.release()
            raise

    def _set_up(self, *, writes: bool, is_synced: bool) -> None:
        """Check that the file is ours, and say how it is written to."""
        run = self._read_first()
        if _is_empty(self._path):
            raise NoMemory(self._path)
        if run("PRAGMA application_id").fetchone() != (_APPLICATION,):
            raise UsageError(f"{self._path}: not a memory of dehusk")
        (written,) = run("PRAGMA user_version").fetchone()
        if written > FORMAT:
            raise StateError(
                f"{self._path}: written by a newer dehusk (format {written}); this one reads up to"
                f" format {FORMAT}: pip install --upgrade dehusk"
            )
        if written < FORMAT and not self._takes_old:
            self._upgrade(writes=writes)
        run(f"PRAGMA synchronous = {'FULL' if is_synced else 'NORMAL'}")
        # A commit must never wait for room that an old peak keeps.
        run("PRAGMA journal_size_limit = 4000000")

    def _read_first(self) -> Callable[[str], sqlite3.Cursor]:
        """What runs a statement, once something could be read.

        A reader cannot undo what a killed writer had begun: that is done for it, under the lock.
        """
        try:
            self._connection.execute("PRAGMA application_id")
        except sqlite3.OperationalError as fault:
            if self._lock is not None or _kind(fault) != sqlite3.SQLITE_READONLY:
                raise
            lock = WriterLock(self._path)
            try:
                _settle(self._path)
            finally:
                lock.release()
        return self._connection.execute

    def _upgrade(self, *, writes: bool) -> None:
        """Bring an older file to the present format, whole or not at all."""
        if not writes:
            raise StateError(
                f"{self._path}: of an older format; `dehusk sites upgrade --memory {self._path}`"
                " brings it to this one"
            )
        self.begin()
        try:
            upgrade(self)
            self._connection.execute(f"PRAGMA user_version = {FORMAT}")
            self.commit()
        except BaseException:  # Ctrl-C too: no transaction may stay open
            self.rollback()
            raise

    @property
    def is_alone(self) -> bool:
        """True for the writer, who holds the lock."""
        return self._lock is not None

    @contextmanager
    def _typed(self) -> Iterator[None]:
        """Turns SQLite's errors into ours."""
        try:
            yield
        except _FAULTS as fault:
            raise _typed_error(self.address, fault) from fault

    def rows(self, statement: str, values: Values = ()) -> list[Row]:
        """All rows of the answer."""
        try:  # Not with `_typed`: to enter and leave it takes as long as to find a row.
            return self._connection.execute(statement, values).fetchall()
        except _FAULTS as fault:
            raise _typed_error(self.address, fault) from fault

    def run(self, statement: str, many: Iterable[Values]) -> None:
        """Run the statement with each of these values."""
        with self._typed():
            self._connection.executemany(statement, many)

    def begin(self) -> None:
        """Begin to write. Before the first time nothing of the file is changed."""
        with self._typed():
            if not self._is_logged:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._is_logged = True
            self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Commit; on return it survives what the store was asked to survive."""
        with self._typed():
            self._connection.execute("COMMIT")

    def rollback(self) -> None:
        """Undo what was written since `begin`."""
        # SQLite undoes by itself after some faults, and then there is nothing left to undo.
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read inside is of one moment."""
        with self._typed():
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self.rollback()

    def lock(self, number: int) -> None:
        """Nothing: whoever has begun to write is alone."""

    def compact(self) -> None:
        """Rewrite the file without the room that is not used."""
        with self._typed():
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def faults(self, count: int = 20) -> list[str]:
        """What SQLite finds wrong with the file, at most so much."""
        try:
            rows = self.rows(f"PRAGMA integrity_check({count})")
        except StateError as fault:
            return [str(fault)]
        return [f"SQLite: {message}" for (message,) in rows if message != "ok"]

    def size_bytes(self) -> int:
        """What the file and its log of writes take."""
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Close the file; what was committed is moved into it."""
        try:
            if self._lock is not None:
                # At rest the store is one plain file, which can be read without making others.
                with suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA synchronous = FULL")
                    self._connection.execute("PRAGMA busy_timeout = 100")
                    self._connection.execute("PRAGMA journal_mode = DELETE")
            self._connection.close()
        finally:
            if self._lock is not None:
                self._lock.release()


def _settle(path: Path) -> None:
    """Undo what a killed writer had begun and not committed; whoever calls holds the lock."""
    if path.exists():
        with closing(_connect(path, writes=True)) as connection:
            connection.execute("SELECT 1 FROM sqlite_master")


def _is_empty(path: Path) -> bool:
    """True for a file that is not there, or that nothing was ever committed to."""
    return not path.exists() or path.stat().st_size == 0


def _create(path: Path, row: StoreRow) -> None:
    """Make a file, its tables and its row. It gets its name once whole: a kill leaves no half."""
    path = Path(os.path.realpath(path))
    _clear_logs(path)
    clear_parts(path.parent)
    with part_of(path) as part:
        part.unlink(missing_ok=True)  # A killed process may have had this one's number.
        part.touch()
        with closing(_connect(part, writes=True)) as connection:
            run = connection.execute
            run(f"PRAGMA page_size = {_PAGE_BYTES}")
            run("PRAGMA journal_mode = OFF")
            run("PRAGMA synchronous = FULL")
            run("BEGIN IMMEDIATE")
            run(f"PRAGMA application_id = {_APPLICATION}")
            run(f"PRAGMA user_version = {FORMAT}")
            for table in TABLES:
                run(table.format(int="INTEGER", blob="BLOB"))
            for statement in INSERT_STORE:
                run(statement, row.values())
            run("COMMIT")
    sync(path.parent)


def _clear_logs(path: Path) -> None:
    """Take away logs of another file that had the name: they must not be taken for this one's.

    Raises UsageError where a database has the name of a log.
    """
    logs = [path.with_name(path.name + suffix) for suffix in ("-journal", "-wal", "-shm")]
    for log in filter(Path.is_file, logs):
        with log.open("rb") as file:
            if file.read(len(_MAGIC)) == _MAGIC:
                raise UsageError(f"{path}: its log would overwrite {log.name}, which is a database")
    for log in logs:
        log.unlink(missing_ok=True)


def _connect(path: Path, *, writes: bool) -> sqlite3.Connection:
    """A connection that begins and ends transactions only when told to."""
    mode = "rw" if writes else "ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    # A damaged file must be noticed, and must never make SQLite run what stands in it.
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA mmap_size = 0")
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _is_full(address: str) -> bool:
    """True where the disk has no room: SQLite calls some of its failures 'disk I/O error'."""
    try:
        return disk_usage(Path(address).absolute().parent).free < _PAGE_BYTES
    except OSError:
        return False


def _kind(fault: Exception) -> int:
    """The number of SQLite's error, without what says more of it."""
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF


def _typed_error(address: str, fault: Exception) -> StateError:
    """Our error for one of SQLite's or of the system."""
    if isinstance(fault, OSError):
        if fault.errno in (errno.ENOSPC, errno.EDQUOT):
            return StoreFull(f"{address}: no room on the disk")
        return StateError(f"{address}: {fault.strerror}")
    if isinstance(fault, UnicodeDecodeError):
        return StoreDamaged(f"{address}: damaged ({fault})")
    kind = _kind(fault)
    is_io = kind in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
    if kind == sqlite3.SQLITE_FULL or (is_io and _is_full(address)):
        return StoreFull(f"{address}: no room on the disk")
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(f"{address}: locked by another process")
    if kind == sqlite3.SQLITE_NOTADB:
        return NotAMemory(f"{address}: not a memory of dehusk, or damaged in its first bytes")
    if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH):
        return StoreDamaged(f"{address}: damaged ({fault})")
    if isinstance(fault, sqlite3.DataError | sqlite3.IntegrityError | sqlite3.InterfaceError):
        return StoreDamaged(f"{address}: damaged ({fault})")
    return StateError(f"{address}: {fault}")
