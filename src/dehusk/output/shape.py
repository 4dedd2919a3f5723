"""How pages are written, as plain data: another process can render an answer for the writer."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from typing import Any, Final

from dehusk.output.formats import Answer, Format, encode, render

_SEPARATORS: Final = {Format.MARKDOWN: b"\n", Format.TEXT: b"\f"}
"""What stands between two pages in one stream."""
_COMMANDS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters: a page could give a terminal orders with them."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer that another process has rendered: its bytes, and what a run counts of it."""

    url: str | None
    site: str
    data: bytes | None
    """As `Shape.data` gives it."""
    pages_seen: int
    characters: int
    template_share: float
    template_changed: bool | None
    needs_render: bool
    text_digest: bytes = b""
    """What is noted of the text, where answers are noted."""
    page_key: bytes = b""
    """What the page is known by, where answers are noted."""
    sketch: tuple[int, ...] = ()
    """The sketch of the text, where near duplicates are looked for."""

    @property
    def revision(self) -> int:
        """Which state of the site's memory the answer comes from."""
        return self.pages_seen

    @property
    def error(self) -> None:
        """None: the page was read."""
        return None

    def to_json(self) -> dict[str, Any]:
        """The fields of the JSON line; ValueError for an answer that was rendered otherwise."""
        fields: dict[str, Any] = json.loads(self.data or b"")
        return fields


@dataclass(frozen=True, slots=True)
class Shape:
    """How each page is written: the format, and what the stream or file asks for besides."""

    format: Format = Format.JSONL
    piece_tokens: int | None = None
    is_terminal: bool = False
    is_packed: bool = False

    def data(self, answer: Answer | Rendered) -> bytes | None:
        """The bytes for one page; None for one that failed, in a format without a place for it.

        Packed, each page is a member of its own, with the separator before it: what is there can
        be unpacked, whenever the run ends. Otherwise the writer puts that in.
        """
        if isinstance(answer, Rendered):
            return answer.data
        if self.format is Format.PARQUET:
            return _json(whole_fields(answer.to_json(self.piece_tokens)))
        written = render(answer, self.format, self.piece_tokens)
        if written is None:
            return None
        if self.is_terminal:
            written = _COMMANDS.sub("\ufffd", written)
        return self.packed(self.separator + encode(written)) if self.is_packed else encode(written)

    @property
    def separator(self) -> bytes:
        """What stands between two pages in one stream."""
        return _SEPARATORS.get(self.format, b"")

    def behind(self, data: bytes, *, is_first: bool) -> bytes:
        """What `data` gave as it goes into a stream: a separator before all pages but the first."""
        has_it = self.is_packed
        if not self.separator or has_it is not is_first:
            return data
        if not has_it:
            return self.separator + data
        return self.packed(gzip.decompress(data).removeprefix(self.separator))

    @staticmethod
    def packed(data: bytes) -> bytes:
        """The bytes as a member of a gzip file."""
        return gzip.compress(data, mtime=0)


def _json(fields: dict[str, object]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, allow_nan=False).encode("utf-8")


def whole_fields(fields: dict[str, object]) -> dict[str, object]:
    """The fields with no half of a surrogate pair in their texts: Arrow takes none."""
    return {name: _whole(value) for name, value in fields.items()}


def _whole(value: object) -> object:
    if isinstance(value, str):
        return encode(value).decode("utf-8")
    if isinstance(value, dict):
        return {name: _whole(below) for name, below in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(below) for below in value]
    return value
