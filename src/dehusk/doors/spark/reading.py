"""Files that executors read: each by one task, into rows that know their place in the input."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from pyarrow import ArrowException
from pyarrow.fs import FileSystem
from pyspark.sql import DataFrame, SparkSession

from dehusk import sources
from dehusk.answer.result import Refusal
from dehusk.doors.spark.rows import (
    PAGE,
    Row,
    moved,
    plain,
    read_rows,
    row_of,
    write_rows,
    written_schema,
)
from dehusk.errors import PageError, SourceError, UsageError
from dehusk.output.formats import Shape
from dehusk.settings import SourceSettings
from dehusk.sources import Failure

_FILE_PAGES: Final = 1 << 40
"""Places that each file has in the order of all pages."""
_PATHS: Final = "file bigint, path string"
_REMOTE: Final = "://"


def read_pages(
    session: SparkSession,
    paths: Sequence[str],
    settings: SourceSettings = SourceSettings(),
    *,
    spread: bool | None = None,
    tasks: int | None = None,
) -> DataFrame:
    """The pages of all files in order, each file read by one task, wherever that runs.

    A path is what `dehusk clean` takes for a source, as the executors see it: on a file system
    that all of them share, or remote (`s3://`, `hdfs://`, `gs://`), which is fetched to the
    executor's disk first. Few files give few tasks: with `spread`, which is the default for fewer
    files than two for each core, their pages are dealt out to all cores, to so many `tasks`.
    """
    if not paths:
        raise UsageError("no files to read")
    cores = session.sparkContext.defaultParallelism
    numbered = session.sparkContext.parallelize(list(enumerate(paths)), len(paths))
    files = session.createDataFrame(numbered, _PATHS)
    pages = files.mapInArrow(_Reader(settings), written_schema(PAGE))
    if spread is None:
        spread = len(paths) < 2 * cores
    # By place, not at random: a task that is run again must find the same pages.
    return moved(pages, tasks, "order") if spread else pages


class _Reader:
    """Reads files, as a task of Spark."""

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows of the files that the batches name."""
        rows = (row for file in read_rows(batches) for row in self._rows(file))
        return write_rows(rows, PAGE)

    def _rows(self, file: Row) -> Iterator[Row]:
        """The rows of one file; one with a failure where it cannot be read."""
        place = file["file"] * _FILE_PAGES
        for number, item in enumerate(self._items(file["path"])):
            if isinstance(item, Failure):
                yield _failed(item, place + number)
            else:
                yield row_of(item, place + number)

    def _items(self, path: str) -> Iterator[Any]:
        if _REMOTE not in path:
            yield from _local(path, self._settings)
            return
        with tempfile.TemporaryDirectory(prefix="dehusk-") as folder:
            # Named as it is there: pages without a URL are of the site that the folder names.
            *_, parent, name = ("pages", "pages", *path.rstrip("/").split("/"))
            copy = Path(folder) / (parent.rstrip(":") or "pages") / name
            copy.parent.mkdir()
            try:
                _fetch(path, copy)
            except (OSError, ValueError, ArrowException) as fault:
                yield Failure(None, None, SourceError(f"{path}: {fault}"))
                return
            for item in _local(str(copy), self._settings):
                yield _renamed(item, str(copy), path) if isinstance(item, Failure) else item


def _fetch(path: str, copy: Path) -> None:
    """Copy a remote file to this machine. Raises what its file system raises."""
    system, inside = FileSystem.from_uri(path)
    remote = system.open_input_stream(inside, compression=None)
    with remote, copy.open("wb") as local:
        shutil.copyfileobj(remote, local, 1 << 20)


def _renamed(failure: Failure, copy: str, path: str) -> Failure:
    """The failure as said of the remote file, not of its copy."""
    error = failure.error
    if isinstance(error, PageError):
        error = type(error)(error.url, error.reason.replace(copy, path))
    elif isinstance(error, SourceError):
        error = SourceError(str(error).replace(copy, path))
    return Failure(failure.url, failure.site, error)


def _local(path: str, settings: SourceSettings) -> Iterator[Any]:
    """The items of a source on this machine; a Failure where it is none."""
    try:
        yield from sources.read_pages([path], settings)
    except UsageError as error:
        yield Failure(None, None, SourceError(str(error)))


def _failed(failure: Failure, order: int) -> Row:
    """What could not be read, with the line that is written for it."""
    refusal = Refusal(failure.url, failure.site, failure.error)
    line = (Shape().data(refusal) or b"").decode().rstrip("\n")
    row: Row = dict.fromkeys(PAGE)
    told = {"order": order, "url": plain(failure.url), "site": plain(failure.site)}
    return row | told | {"is_text": False, "failure": plain(line)}
