"""Pages out of WACZ files: zip files that hold WARC files in their folder `archive`."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from typing import Final

from dehusk.errors import SourceError
from dehusk.page.page import Page
from dehusk.settings import SourceSettings
from dehusk.sources.compression import ByteStream, Compression, found_compression, unpacked_name
from dehusk.sources.settings import Failure
from dehusk.sources.sites import site_of
from dehusk.sources.warc import read_warc

_ARCHIVE: Final = "archive/"
_WARC: Final = ".warc"
_FAULTS: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""What `zipfile` raises: RuntimeError for files that are locked, or packed in unknown ways."""
_MAX_READ: Final = 1 << 24
"""Bytes that are read at once. The list of files is, and takes some 20 times as much memory."""


class _Bounded(io.BufferedReader):
    """A file of which nobody can read too much at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes. BadZipFile where they are too many."""
        limit = _MAX_READ + 1
        data = super().read(limit if size is None or size < 0 else min(size, limit))
        if len(data) == limit:
            raise zipfile.BadZipFile(f"more than {_MAX_READ} bytes at once")
        return data


def read_wacz(
    path: Path, folder: str, settings: SourceSettings, left_out: Counter[str]
) -> Iterator[Page | Failure]:
    """The pages of all WARC files in a WACZ file, in the order in which it lists them.

    One whose list of files is damaged is searched for records as a damaged WARC file is: the files
    in it are there, usually as they were. Nothing is ever written. Raises SourceError.
    """
    try:
        file = _Bounded(io.FileIO(path))
    except OSError as fault:
        raise SourceError(f"{path}: {fault.strerror or fault}") from fault
    with file:
        try:
            archive = zipfile.ZipFile(file)
        except _FAULTS as fault:
            error = SourceError(f"{path}: its list of files is damaged ({fault})")
            yield Failure(None, site_of(None, None, folder, settings), error)
            file.seek(0)
            stream = ByteStream(str(path), file.read1)
            records = read_warc(stream, Compression.GZIP, folder, settings, left_out)
            # What stands before the first record was said to be damaged already.
            yield from dropwhile(lambda item: isinstance(item, Failure), records)
            return
        for entry in archive.infolist():
            if entry.filename.startswith(_ARCHIVE) and unpacked_name(entry.filename).endswith(
                _WARC
            ):
                yield from _read_entry(archive, entry, path, folder, settings, left_out)


def _read_entry(
    archive: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    path: Path,
    folder: str,
    settings: SourceSettings,
    left_out: Counter[str],
) -> Iterator[Page | Failure]:
    """The pages of one WARC file in it, and a last Failure where that cannot be read on."""
    name = f"{path}/{entry.filename}"
    try:
        with archive.open(entry) as file:
            stream = ByteStream(name, file.read)
            packing = found_compression(stream)
            yield from read_warc(stream, packing, folder, settings, left_out)
    except SourceError as fault:
        yield Failure(None, site_of(None, None, folder, settings), fault)
    except _FAULTS as fault:
        error = SourceError(f"{name}: cannot be read: {fault}")
        yield Failure(None, site_of(None, None, folder, settings), error)
