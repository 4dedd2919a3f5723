"""Writers of Parquet: one file, or a folder of files that others may already read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from dehusk.errors import MissingExtra, UsageError
from dehusk.output.formats import Ahead, Answer, Rendered, Shape, json_line, whole_fields
from dehusk.output.whole import clear_parts, naming, part_of

if TYPE_CHECKING:
    import pyarrow

_ROWS: Final = 1000
"""Pages in a row group, unless they are large."""
_CHARACTERS: Final = 16_000_000
"""Characters of text and Markdown in a row group: what is held in memory until it is written."""


def _schema(pa: Any, *, has_pieces: bool) -> Any:
    """The columns: the fields of the JSON line."""
    text, link = pa.string(), [("url", pa.string()), ("text", pa.string())]
    columns = dict.fromkeys(("url", "site", "title", "text", "markdown"), text)
    columns |= {"template_share": pa.float64(), "pages_seen": pa.int64(), "family": pa.int64()}
    columns |= {"revision": pa.int64(), "template_changed": pa.bool_(), "type": text}
    columns |= {"type_confidence": pa.float64()}
    columns |= dict.fromkeys(("lang", "author", "published", "modified", "summary"), text)
    columns |= {"image": text, "site_name": text, "tags": pa.list_(text)}
    columns |= {"structured": text, "comments": text, "confidence": pa.float64()}
    columns |= {"problem": text, "site_removed": pa.float64()}
    columns["fingerprint"] = text
    columns["links"] = pa.list_(pa.struct([*link, ("template", pa.bool_())]))
    columns["error"] = pa.struct([("code", text), ("message", text)])
    columns |= {"truncated": text, "needs_render": pa.bool_()}
    if has_pieces:
        piece = {"text": text, "markdown": text, "headings": pa.list_(text), "address": text}
        piece |= dict.fromkeys(("node", "tokens", "start", "end"), pa.int64())
        columns["pieces"] = pa.list_(pa.struct(list(piece.items())))
    return pa.schema(list(columns.items()))


class ParquetWriter:
    """Writes pages as rows, with the columns of the JSON line; notes on a page are always there.

    A Parquet file can be read once it is closed. So one file is written under another name until
    the run ends, and is whole then; a folder gets a file for every group of pages, and a later run
    adds to those that are there.
    """

    size = 0

    def __init__(self, path: Path, shape: Shape, *, is_folder: bool) -> None:
        try:
            import pyarrow as pa  # noqa: PLC0415  an extra, so it may be missing
            import pyarrow.parquet as pq  # noqa: PLC0415
        except ImportError as missing:
            raise MissingExtra("writing Parquet", "parquet") from missing
        self._pa, self._pq = pa, pq
        self._path = path
        self.shape = shape
        self._ahead = Ahead(self._row)
        self.prepare = self._ahead.prepare
        self._schema = _schema(pa, has_pieces=shape.piece_tokens is not None)
        self._is_folder = is_folder
        self._rows: list[dict[str, object]] = []
        self._characters = 0
        self._file: pyarrow.parquet.ParquetWriter | None = None
        self._part = self._next_part() if is_folder else path.with_name(f".{path.name}.part")
        if is_folder:
            clear_parts(path)
        else:
            try:
                self._file = pq.ParquetWriter(self._part, self._schema, compression="zstd")
            except BaseException:  # Ctrl-C too: leave no part behind
                self._part.unlink(missing_ok=True)
                raise

    def write(self, answer: Answer | Rendered) -> None:
        """Write one page's answer, together with others."""
        row = self._ahead.take(answer)
        self._rows.append(row)
        self._characters += len(str(row.get("text"))) + len(str(row.get("markdown")))
        if len(self._rows) >= _ROWS or self._characters > _CHARACTERS:
            self.sync()

    def _row(self, answer: Answer | Rendered) -> dict[str, object]:
        if isinstance(answer, Rendered):
            row = answer.to_json()
        else:
            row = whole_fields(
                answer.to_json(self.shape.piece_tokens, has_structured=self.shape.has_structured)
            )
        # Its fields differ from page to page, so its column is JSON.
        if row["structured"] is not None:
            row["structured"] = json_line(row["structured"]).decode().rstrip("\n")
        return row

    def holds_next(self, url: str | None, site: str | None) -> bool:
        """False: a file that was cut off is not there."""
        del url, site
        return False

    def sync(self) -> None:
        """Write what is held: into a folder as a file that is whole, else behind what is there."""
        if not self._rows:
            return
        table = self._pa.Table.from_pylist(self._rows, self._schema)
        if self._file is not None:
            with naming(self._path):
                self._file.write_table(table)
        else:
            with part_of(self._part) as part, naming(self._part):
                self._pq.write_table(table, part, compression="zstd")
            self._part = self._next_part()
        self._rows, self._characters = [], 0

    def _next_part(self) -> Path:
        """The first file of the folder that is not there."""
        number = 0
        if self._path.is_dir():
            names = (path.stem.removeprefix("part-") for path in self._path.glob("part-*.parquet"))
            number = max((int(name) + 1 for name in names if name.isdecimal()), default=0)
        return self._path / f"part-{number:05}.parquet"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        """Write the rest; one file gets its name now."""
        try:
            self.sync()
            if self._file is not None:
                with naming(self._path):
                    self._file.close()
                self._part.replace(self._path)
        except BaseException:  # Ctrl-C too: leave no part behind
            if not self._is_folder:
                with suppress(OSError):
                    self._part.unlink()
            raise


def open_parquet(path: Path, shape: Shape, *, is_folder: bool) -> ParquetWriter:
    """A writer of Parquet to a file or a folder. Raises UsageError."""
    if is_folder:
        path.mkdir(parents=True, exist_ok=True)
    if not os.access(path if is_folder else path.parent, os.W_OK | os.X_OK):
        raise UsageError(
            f"cannot write to {path}: no permission to make files in it; name another place with -o"
        )
    return ParquetWriter(path, shape, is_folder=is_folder)
