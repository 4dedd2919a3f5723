"""Answers into what a user names: standard output, a file, or a folder with a file a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from dehusk.errors import UsageError
from dehusk.output.formats import Answer, Format
from dehusk.output.writers import (
    FolderWriter,
    GrowingFile,
    OpenStream,
    StreamWriter,
    Writer,
)

__all__ = ["Answer", "Format", "Writer", "open_writer"]

_STANDARD: Final = "-"
"""Standard output as a target, standard input as a source."""
_SLASHES: Final = ("/", os.sep)


def open_writer(
    target: str | None,
    output_format: Format | None,
    stdout: BinaryIO,
    *,
    is_terminal: bool,
    sources: Sequence[str] = (),
) -> Writer:
    """A writer to the target: standard output (None or `-`), a file, or a folder.

    An existing folder, or a name that ends in a slash, gets one file for each page. Without a
    format: Markdown on a terminal or into a folder, else JSON lines. Raises UsageError for a
    target that cannot be written, or that would be written over one of the `sources`.
    """
    if target is None or target == _STANDARD:
        usual = Format.MARKDOWN if is_terminal else Format.JSONL
        return StreamWriter(OpenStream(stdout), output_format or usual, is_terminal=is_terminal)
    if not target:
        raise UsageError("cannot write to a file without a name")
    path = Path(target)
    read = [Path(source) for source in sources if source != _STANDARD]
    try:
        if target.endswith(_SLASHES) or path.is_dir():
            return _open_folder(path, output_format or Format.MARKDOWN, read)
        return _open_file(path, output_format or Format.JSONL, read)
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise UsageError(f"cannot write to {target}: {reason}") from fault


def _open_file(path: Path, output_format: Format, sources: Sequence[Path]) -> Writer:
    """A writer to one file, which must not be one of the sources."""
    if path.exists() and any(_is_same_file(path, source) for source in sources):
        raise UsageError(f"cannot write to {path}: it is one of the sources")
    return StreamWriter(GrowingFile(path), output_format)


def _open_folder(path: Path, output_format: Format, sources: Sequence[Path]) -> Writer:
    """A writer into a folder. HTML must not go where the HTML files of a source are."""
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write to {path}: no permission to make files in it")
    if output_format is Format.HTML:
        for source in sources:
            if _overlap(path.resolve(), source.resolve()):
                raise UsageError(
                    f"cannot write HTML to {path}: files of {source} could be written over"
                )
    return FolderWriter(path, output_format)


def _is_same_file(path: Path, source: Path) -> bool:
    """True where both names are of one regular file; a device or a pipe can be both."""
    return source.is_file() and path.samefile(source)


def _overlap(path: Path, source: Path) -> bool:
    """True where one of the two is inside the other."""
    return path.is_relative_to(source) or source.is_relative_to(path)
