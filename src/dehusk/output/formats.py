"""The formats in which answers are written: each is one row of a table.

To add a format: a function that writes a page, and a row of `Format` that names it. The choices
and the help of `--format`, the writers and what can be resumed follow from the row; docs/outputs.md
has a line for each, which a test asks for.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeVar

from msgspec import Struct

from dehusk.errors import DehuskError
from dehusk.output.pieces import PIECE_TOKENS, page_pieces
from dehusk.page.patterns import pattern

if TYPE_CHECKING:
    from pathlib import Path

    from dehusk.output.writers import Writer
    from dehusk.page.page import Capture

_FRONT_MATTER: Final = (
    "url",
    "site",
    "title",
    "lang",
    "author",
    "published",
    "modified",
    "summary",
    "image",
    "site_name",
    "tags",
    "template_share",
    "pages_seen",
    "confidence",
    "problem",
    "site_removed",
    "fingerprint",
    "truncated",
    "needs_render",
)
_NOT_PLAIN: Final = pattern("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON may hold as it is and YAML may not, or would take for the end of a line."""
_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_COMMANDS: Final = pattern(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
"""Control characters: a terminal takes some for orders, and a form feed stands between pages."""
_LONG_COMMANDS: Final = pattern(rb"\xc2[\x80-\x9f]")
_PLAIN: Final = bytes((9, 10, *range(32, 127), *range(128, 256)))
"""Bytes that are no control character by themselves."""


Made = TypeVar("Made")


class Answer(Protocol):
    """What a writer needs to know of a page. Only what the format asks for is looked at."""

    @property
    def url(self) -> str | None:
        """The page's URL."""

    @property
    def site(self) -> str | None:
        """The site that the page belongs to."""

    @property
    def text(self) -> str | None:
        """The content as plain text."""

    @property
    def markdown(self) -> str | None:
        """The content as Markdown."""

    @property
    def html(self) -> str | None:
        """The whole page as HTML, template and content marked."""

    @property
    def error(self) -> DehuskError | None:
        """Why there is no answer; None where there is one."""

    @property
    def capture(self) -> Capture | None:
        """How an archive or a crawl came to the page."""

    def to_json(
        self, piece_tokens: int | None = None, *, has_structured: bool = False
    ) -> dict[str, object]:
        """All fields of the page's JSON line, in order, with what is asked for besides."""


def encode(text: str) -> bytes:
    """The text as UTF-8. Half a surrogate pair, which has no UTF-8, becomes U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.encode("utf-8")


def _ended(text: str | None) -> bytes:
    """The text with one line end behind it, and without control characters."""
    written = encode((text or "").rstrip("\n") + "\n")
    # Few pages have any, and to look for them one by one takes longer than to write the page.
    if written.translate(None, _PLAIN) or _LONG_COMMANDS.search(written):
        return _COMMANDS.sub(lambda m: b" " if m[0] == b"\f" else b"\xef\xbf\xbd", written)
    return written


def json_line(fields: Mapping[str, object]) -> bytes:
    """JSON on one line, its end behind it, as UTF-8; TypeError for what is no data.

    A number that is not finite becomes null. Control characters, U+2028 and U+2029 are escaped:
    some readers of lines take them for the end of one, and terminals for orders.
    """
    # A sixth of the time of the standard library. Loaded by who writes JSON.
    from msgspec import json as quick  # noqa: PLC0415

    from dehusk import _kernel  # noqa: PLC0415

    try:
        written = quick.encode(fields, enc_hook=_plain)
    except UnicodeEncodeError:
        written = quick.encode(whole_fields(fields), enc_hook=_plain)
    return _kernel.one_line(written)


def _plain(value: object) -> object:
    """A text or a number of a class of its own, as data frames have them, without that class."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _front_matter(answer: Answer) -> str:
    """What is known of the page as YAML: JSON values, which YAML reads as they are."""
    fields = answer.to_json()
    known = [
        f"{name}: {yaml_value(fields[name])}\n"
        for name in _FRONT_MATTER
        if fields.get(name) is not None
    ]
    return "".join(("---\n", *known, "---\n"))


def yaml_value(value: object) -> str:
    """A JSON value that is YAML too."""
    written = _JSON.encode(value)
    return _NOT_PLAIN.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def whole_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields with no half of a surrogate pair in their texts: JSON and Arrow take none."""
    return {str(_whole(name)): _whole(value) for name, value in fields.items()}


def _whole(value: object) -> object:
    if isinstance(value, str):
        return encode(value).decode("utf-8")
    if isinstance(value, dict):
        return whole_fields(value)
    if isinstance(value, (list, tuple)):
        return [_whole(below) for below in value]
    return value


def _json_page(answer: Answer, shape: Shape) -> bytes:
    from dehusk.answer.result import Result  # noqa: PLC0415  the help needs no numpy

    if type(answer) is Result:  # Its links need not become objects first.
        return json_line(
            answer.to_json(shape.piece_tokens, is_raw=True, has_structured=shape.has_structured)
        )
    return json_line(answer.to_json(shape.piece_tokens, has_structured=shape.has_structured))


def _markdown_page(answer: Answer, shape: Shape) -> bytes:
    if shape.is_bare:
        return _ended(answer.markdown)
    return encode(_front_matter(answer) + "\n") + _ended(answer.markdown)


def _text_page(answer: Answer, _: Shape) -> bytes:
    return _ended(answer.text)


def _html_page(answer: Answer, _: Shape) -> bytes:
    return _ended(answer.html)


def _warc_page(answer: Answer, _: Shape) -> bytes:
    from dehusk.output.warc import conversion  # noqa: PLC0415  one format needs it

    return conversion(answer, encode(answer.text or ""))


def _pieces_page(answer: Answer, shape: Shape) -> bytes | None:
    pieces = page_pieces(answer.to_json(shape.piece_tokens or PIECE_TOKENS))
    return b"".join(map(json_line, pieces)) or None


def _open_parquet(path: Path, shape: Shape, is_folder: bool) -> Writer:  # noqa: FBT001
    from dehusk.output.parquet import open_parquet  # noqa: PLC0415  only who asks for it

    return open_parquet(path, shape, is_folder=is_folder)


@dataclass(frozen=True, slots=True)
class Row:
    """All that is to be known of a format."""

    name: str
    help: str
    """What the help of `--format` says of it, its name included."""
    suffix: str
    """Of the file of a page, in a folder."""
    write: Callable[[Answer, Shape], bytes | None]
    """What is written for a page; None for nothing."""
    separator: bytes = b""
    """What stands between two pages in one stream."""
    is_named: bool = False
    """May a file whose name ends so be in no other format? It could not be read."""
    is_lines: bool = False
    """Is each page one JSON line? Then a run can go on behind those of an earlier one."""
    has_failures: bool = False
    """Has it a place for pages that failed?"""
    has_pieces: bool = False
    """Has it a place for the content in pieces?"""
    has_markdown: bool = True
    has_front_matter: bool = False
    """Does a page begin with what is known of it?"""
    has_structured: bool = False
    """Has it a place for what the page states for machines?"""
    open: Callable[[Path, Shape, bool], Writer] | None = None
    """A writer of its own to a path, True for a folder. What it writes is whole only at the end of
    a run, so that no other run can go on with it."""


class Format(StrEnum):
    """The formats in which a page's answer can be written."""

    row: Row

    @classmethod
    def named(cls, name: str) -> str:
        """The format's own name, for that and for `md`."""
        return cls.MARKDOWN if name == "md" else name

    def __new__(cls, row: Row) -> Self:
        """The format that the row describes, known by its name."""
        member = str.__new__(cls, row.name)
        member._value_ = row.name
        member.row = row
        return member

    JSONL = Row(
        name="jsonl",
        help="jsonl (JSON lines)",
        suffix=".json",
        write=_json_page,
        is_lines=True,
        has_failures=True,
        has_pieces=True,
        has_structured=True,
    )
    MARKDOWN = Row(
        name="markdown",
        help="markdown (or md)",
        suffix=".md",
        write=_markdown_page,
        separator=b"\f\n",
        has_front_matter=True,
    )
    TEXT = Row(
        name="text",
        help="text",
        suffix=".txt",
        write=_text_page,
        has_markdown=False,
        separator=b"\f",
    )
    HTML = Row(
        name="html",
        help="html (the whole page, marked)",
        suffix=".html",
        write=_html_page,
        has_markdown=False,
    )
    WARC = Row(
        name="warc",
        help="warc",
        suffix=".warc",
        write=_warc_page,
        has_markdown=False,
        is_named=True,
    )
    PIECES = Row(
        name="pieces",
        help="pieces (jsonl, a line for each)",
        suffix=".jsonl",
        write=_pieces_page,
        has_pieces=True,
    )
    PARQUET = Row(
        name="parquet",
        help="parquet",
        suffix=".parquet",
        write=_json_page,
        is_named=True,
        has_failures=True,
        has_pieces=True,
        has_structured=True,
        open=_open_parquet,
    )


class Rendered(Struct, frozen=True):
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
    confidence: float | None = None
    site_removed: float | None = None
    problem: str | None = None

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
    has_structured: bool = False
    is_packed: bool = False
    is_bare: bool = False
    """Are pages written without their front matter?"""

    def data(self, answer: Answer | Rendered) -> bytes | None:
        """The bytes for one page; None for one that failed, in a format without a place for it.

        Packed, each page is a member of its own, with the separator before it: what is there can
        be unpacked, whenever the run ends. Otherwise the writer puts that in.
        """
        if isinstance(answer, Rendered):
            return answer.data
        row = self.format.row
        is_refused = answer.error is not None and not row.has_failures
        written = None if is_refused else row.write(answer, self)
        if written is None:
            return None
        return self.packed(self.separator + written) if self.is_packed else written

    @property
    def separator(self) -> bytes:
        """What stands between two pages in one stream."""
        return self.format.row.separator

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


class Ahead(Generic[Made]):
    """What an answer becomes in writing, made while its page is answered on.

    So a fault in that is the page's, not the writer's, and its time is the page's too.
    """

    def __init__(self, make: Callable[[Answer | Rendered], Made]) -> None:
        self._make = make
        self._ready: tuple[Answer, Made] | None = None

    def prepare(self, answer: Answer) -> None:
        """Make what `take` gives if this answer is the next to be written.

        The text is always asked for: near duplicates and changed answers are told by it.
        """
        _ = answer.text
        self._ready = answer, self._make(answer)

    def take(self, answer: Answer | Rendered) -> Made:
        """What the answer becomes."""
        ready, self._ready = self._ready, None
        return ready[1] if ready is not None and ready[0] is answer else self._make(answer)
