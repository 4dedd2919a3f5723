"""Pages out of Parquet files, a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dehusk.errors import DamagedRecord, MissingExtra, NotHtml, PageError, PageTooLarge, SourceError
from dehusk.page.page import Page
from dehusk.page.urls import site_of
from dehusk.settings import SourceSettings
from dehusk.sources.items import Failure
from dehusk.sources.records import field_hint, named_fields, warn_of_fields

_ROWS: Final = 16
"""Rows read at a time: pages of the largest size allowed then take 320 MB, usual ones a few."""
_MAX_METADATA: Final = 1 << 26
"""Bytes of text, and of lists, that the file's own description may have."""


def check_parquet() -> None:
    """Raise MissingExtra where Parquet cannot be read."""
    _library()


def _library() -> Any:
    """What reads Parquet. Raises MissingExtra."""
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415  an extra, so it may be missing
    except ImportError as missing:
        raise MissingExtra("reading Parquet", "parquet") from missing
    return pq


def read_parquet(path: Path, folder: str, settings: SourceSettings) -> Iterator[Page | Failure]:
    """The pages of a Parquet file in order, and a Failure for each row that holds none.

    The columns are called as the fields of JSON lines are. Raises SourceError for a file that is
    damaged or has no column of pages, and MissingExtra.
    """
    pq = _library()
    try:
        with pq.ParquetFile(
            path,
            memory_map=False,
            pre_buffer=False,
            thrift_string_size_limit=_MAX_METADATA,
            thrift_container_size_limit=_MAX_METADATA,
        ) as file:
            names = file.schema_arrow.names
            if settings.html_field not in names:
                missing = f"{path}: no column `{settings.html_field}`"
                raise SourceError(missing + field_hint(names))
            wanted = (settings.html_field, settings.url_field, settings.site_field)
            named = named_fields(settings).items()
            warn_of_fields(str(path), {name: option for name, option in named if name not in names})
            columns = [name for name in dict.fromkeys(wanted) if name in names]
            number = 0
            for batch in file.iter_batches(_ROWS, columns=columns, use_threads=False):
                for row in range(batch.num_rows):
                    number += 1
                    yield _read_row(batch, row, f"{path}, row {number}", folder, settings)
    except (OSError, ValueError, NotImplementedError, MemoryError) as fault:
        raise SourceError(f"{path}: cannot be read to its end: {_first_line(fault)}") from fault


def _first_line(fault: BaseException) -> str:
    return str(fault).partition("\n")[0] or type(fault).__name__


def _read_row(
    batch: Any, row: int, place: str, folder: str, settings: SourceSettings
) -> Page | Failure:
    """The page that a row holds, or why it holds none."""
    url = stated = None
    try:
        url = _optional_text(batch, row, settings.url_field, place)
        stated = _optional_text(batch, row, settings.site_field, place)
        html = batch.column(settings.html_field)[row].as_py()
        if not isinstance(html, (str, bytes)):
            raise NotHtml(url, f"{place}: no `{settings.html_field}` with text")
        if len(html) > settings.max_bytes:
            raise PageTooLarge(url, f"{place}: more than {settings.max_bytes} bytes")
        return Page(html, url, site_of(url, stated, folder, settings))
    except PageError as fault:
        return Failure(url, site_of(url, stated, folder, settings), fault)
    except UnicodeDecodeError:
        error = DamagedRecord(url, f"{place}: not UTF-8")
        return Failure(url, site_of(url, stated, folder, settings), error)


def _optional_text(batch: Any, row: int, field: str, place: str) -> str | None:
    """The text in a column; None where there is none."""
    if field not in batch.schema.names:
        return None
    value = batch.column(field)[row].as_py()
    if value is None or isinstance(value, str):
        return value or None
    raise DamagedRecord(None, f"{place}: `{field}` is not text")
