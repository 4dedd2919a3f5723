"""Answers into what a user names: standard output, a file, or a folder with a file a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from dehusk.errors import UsageError
from dehusk.output.formats import Answer, Format, Rendered, Shape
from dehusk.output.llms import write_llms_txt
from dehusk.output.names import INDEX, is_page_name
from dehusk.output.whole import unwritable
from dehusk.output.writers import (
    NOTHING,
    FolderWriter,
    GrowingFile,
    OpenStream,
    StreamWriter,
    Writer,
    Written,
    WrittenLines,
)
from dehusk.settings import SAVED

__all__ = [
    "NOTHING",
    "Answer",
    "FolderWriter",
    "Format",
    "Rendered",
    "Shape",
    "Writer",
    "Written",
    "check_database",
    "is_folder",
    "is_markdown_folder",
    "named_format",
    "open_writer",
    "write_llms_txt",
]

_STANDARD: Final = "-"
"""Standard output as a target, standard input as a source."""
_SLASHES: Final = ("/", os.sep)
_PACKED: Final = ".gz"
_NOT_WRITTEN: Final = (".zst", ".xz", ".bz2", ".zip")
"""Ways to pack that are read only: a plain file of such a name could not be."""
_DATABASE: Final = b"SQLite format 3\0"
"""How memories and the states of crawls begin."""


def open_writer(
    target: str | None,
    output_format: Format | None,
    stdout: BinaryIO,
    *,
    sources: Sequence[str] = (),
    piece_tokens: int | None = None,
    is_bare: bool = False,
    has_structured: bool = False,
    written: Written = NOTHING,
    resumes: bool = False,
) -> Writer:
    """A writer to the target: standard output (None or `-`), a file, or a folder.

    An existing folder, or a name that ends in a slash, gets one file for each page. Without a
    format: what the name of the file ends in (`.jsonl`, `.parquet`), else Markdown. A file whose
    name ends in `.gz` is packed. `piece_tokens` adds the content in pieces of at most so many
    tokens, and `has_structured` what pages state for machines, where the format has a place for
    them; `is_bare` leaves out the front matter. Raises UsageError for a target that cannot be
    written, or where that would change what is read of the `sources`. With what an earlier run has
    `written` it goes on behind that; with `resumes` it finds out itself what a run over the same
    pages has written, and tells by `holds_next`.
    """
    if target is None or target == _STANDARD:
        chosen = output_format or Format.MARKDOWN
        if chosen.row.open is not None:
            raise UsageError(f"{chosen.title()} cannot go into a pipe; name a file with -o")
        shape = Shape(chosen, piece_tokens, has_structured, is_bare=is_bare)
        _check_places(shape)
        return StreamWriter(OpenStream(stdout), shape)
    if not target:
        raise UsageError("cannot write to a file without a name")
    path = Path(target)
    read = [Path(source) for source in sources if source != _STANDARD]
    try:
        into_folder = is_folder(target)
        named = named_format(target)
        chosen = output_format or named or Format.MARKDOWN
        if named and named.row.is_named and chosen is not named:
            raise UsageError(f"cannot write {chosen} to {target}: its name stands for {named}")
        if not into_folder and path.name.lower().endswith(_NOT_WRITTEN):
            raise UsageError(f"cannot write {target}: of packed files only {_PACKED} is written")
        is_packed = not into_folder and path.name.lower().endswith(_PACKED)
        if is_packed and chosen.row.open is not None:
            raise UsageError(f"cannot write {target}: {chosen.title()} is packed by itself")
        shape = Shape(chosen, piece_tokens, has_structured, is_packed, is_bare)
        _check_places(shape)
        if resumes:
            _check_resumable(shape, in_folder=into_folder)
        open_one = _open_folder if into_folder else _open_file
        return open_one(path, shape, read, written, resumes=resumes)
    except (OSError, ValueError) as fault:
        raise unwritable(target, fault) from fault


def check_database(path: Path) -> None:
    """Raise UsageError for a file that writing must not destroy: a memory, or a crawl's state."""
    try:
        if not path.is_file():  # Opening a pipe would wait for whoever reads it.
            return
        with path.open("rb") as file:
            is_database = file.read(len(_DATABASE)) == _DATABASE
    except (OSError, ValueError):
        return  # Writing says why it cannot be.
    if is_database:
        raise UsageError(
            f"cannot write to {path}: it is a memory, or the state of a crawl; choose another name"
        )


def is_markdown_folder(target: str | None, output_format: Format | None) -> bool:
    """Would a writer to this target write a folder of Markdown, which `write_llms_txt` reads?"""
    is_markdown = output_format in (None, Format.MARKDOWN)
    return is_markdown and is_folder(target)


def is_folder(target: str | None) -> bool:
    """Is the target a folder, or called one?"""
    # Unlike a path's own question, this one takes names that no file can have.
    return bool(target) and (str(target).endswith(_SLASHES) or os.path.isdir(str(target)))  # noqa: PTH112


def named_format(target: str | None) -> Format | None:
    """The format that the end of a file's name states: `.md`, `.md.gz`; None for a folder."""
    if not target or is_folder(target):
        return None
    plain = target.lower().removesuffix(_PACKED)
    for ending, form in ((".htm", Format.HTML), (".ndjson", Format.JSONL)):
        if plain.endswith(ending):
            return form
    # JSON lines come first: `.jsonl` is also the ending of pieces, which are asked for by name.
    return next((form for form in Format if plain.endswith((f".{form}", form.row.suffix))), None)


def _check_places(shape: Shape) -> None:
    """Raise UsageError for a format that has no place for what it is to have."""
    if shape.piece_tokens is not None and not shape.format.row.has_pieces:
        raise UsageError(
            f"pieces go into JSON lines, Parquet and the format pieces, not into {shape.format}"
        )
    if shape.has_structured and not shape.format.row.has_structured:
        raise UsageError(
            f"--structured goes into JSON lines and Parquet, not into {shape.format};"
            " add --format jsonl"
        )


def _check_resumable(shape: Shape, *, in_folder: bool) -> None:
    """Raise UsageError for an output of which nobody can tell which pages are in it."""
    row = shape.format.row
    is_lines = row.is_lines and not shape.is_packed
    if row.open is not None or not (in_folder or is_lines):
        what = f"packed {shape.format}" if shape.is_packed else str(shape.format)
        raise UsageError(
            f"--resume goes on with JSON lines or a folder, not with one file of {what}"
        )


def _open_file(
    path: Path, shape: Shape, sources: Sequence[Path], written: Written, *, resumes: bool
) -> Writer:
    """A writer to one file, which must be neither a source nor read with one."""
    # Where a link leads is what opening would write over.
    real = _real(path)
    check_database(real)
    for source in sources:
        if _is_same_file(real, source):
            raise UsageError(f"cannot write to {path}: it is one of the sources")
        if _is_read_with(real, source):
            raise UsageError(
                f"cannot write to {path}: it would be read as a part of {source};"
                " choose another name or folder"
            )
    if shape.format.row.open is not None:
        # It is renamed into place at its end, which would put a file where a device or a link was.
        if os.path.lexists(real) and not real.is_file():
            kind = shape.format.title()
            raise UsageError(f"cannot write {kind} to {path}: not a regular file")
        return shape.format.row.open(real, shape, False)
    if written.size > (path.stat().st_size if path.exists() else 0):
        raise UsageError(f"cannot continue {path}: it is shorter than before")
    earlier = WrittenLines(path) if resumes else None
    sink = GrowingFile(path, earlier.size if earlier else written.size)
    return StreamWriter(sink, shape, earlier=earlier)


def _open_folder(
    path: Path, shape: Shape, sources: Sequence[Path], written: Written, *, resumes: bool
) -> Writer:
    """A writer into a folder, in which no file can have the name of what a source reads."""
    suffix = shape.format.row.suffix
    for source in sources:
        if is_page_name(f"page{suffix}") and _may_hold_html(source, path):
            raise UsageError(f"cannot write HTML to {path}: files of {source} could be overwritten")
        # Pages go into folders named after their sites, and so may the folder of a source be.
        is_below = source.is_dir() and _is_inside(_real(source).parent, path)
        if INDEX.endswith(suffix) and is_below:
            raise UsageError(f"cannot write JSON to {path}: {source / INDEX} could be overwritten")
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise UsageError(
            f"cannot write to {path}: no permission to make files in it; name another place with -o"
        )
    if shape.format.row.open is not None:
        return shape.format.row.open(path, shape, True)
    return FolderWriter(path, shape, written, resumes=resumes)


def _is_same_file(path: Path, source: Path) -> bool:
    """True where both names are of one regular file; a device or a pipe can be both."""
    return path.exists() and source.is_file() and path.samefile(source)


def _is_read_with(path: Path, source: Path) -> bool:
    """True where the source is a folder that reads the file as a page or as its index."""
    if not source.is_dir() or not _is_inside(path, source):
        return False
    # Some systems do not tell names apart that differ only in case.
    return path.name.lower() in (INDEX, SAVED) or is_page_name(path.name)


def _may_hold_html(source: Path, folder: Path) -> bool:
    """True where HTML files written to the folder could be those that the source reads."""
    if source.is_dir():
        return _is_inside(source, folder) or _is_inside(folder, source)
    return is_page_name(source.name) and _is_inside(source, folder)


def _is_inside(path: Path, folder: Path) -> bool:
    """True where the path is the folder or leads through it, however the two are spelled."""
    real = _real(path)
    return folder.exists() and any(
        place.exists() and place.samefile(folder) for place in (real, *real.parents)
    )


def _real(path: Path) -> Path:
    """Where a path leads, through all links; unlike `resolve` it takes links in a circle too."""
    return Path(os.path.realpath(path))
