"""One page's answer as the text that is written for it, in each format."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from dehusk.errors import DehuskError
from dehusk.kernel import KERNEL
from dehusk.output.as_warc import conversion

if TYPE_CHECKING:
    from dehusk.page.page import Capture

_FRONT_MATTER: Final = (
    "url",
    "site",
    "title",
    "lang",
    "author",
    "published",
    "template_share",
    "pages_seen",
    "fingerprint",
    "truncated",
    "needs_render",
)
_NOT_PLAIN: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON may hold as it is and YAML may not, or would take for the end of a line."""
_LINE_ENDS: Final = ("\x85", "\u2028", "\u2029")
"""What JSON does not escape, and some readers of lines take for the end of one."""

_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class Format(StrEnum):
    """The formats in which a page's answer can be written."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"
    TEXT = "text"
    HTML = "html"
    WARC = "warc"
    PARQUET = "parquet"


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

    def to_json(self, piece_tokens: int | None = None) -> dict[str, object]:
        """All fields of the page's JSON line, in order; `pieces` of so many tokens if asked for."""


def render(answer: Answer, output_format: Format, piece_tokens: int | None = None) -> str | None:
    """The text for one page, a line end behind it; None for a failed page, except as JSON."""
    if output_format is Format.JSONL:
        return _json_line(answer, piece_tokens)
    if answer.error is not None:
        return None
    if output_format is Format.MARKDOWN:
        return _front_matter(answer) + "\n" + _ended(answer.markdown)
    if output_format is Format.HTML:
        return _ended(answer.html)
    if output_format is Format.WARC:
        return conversion(answer, encode(answer.text or "").decode("utf-8"))
    # A form feed ends a page, so none may stand inside one.
    return _ended((answer.text or "").replace("\f", " "))


def encode(text: str) -> bytes:
    """The text as UTF-8. Half a surrogate pair, which has no UTF-8, becomes U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.encode("utf-8")


def _ended(text: str | None) -> str:
    """The text with one line end behind it."""
    return (text or "").rstrip("\n") + "\n"


def _json_line(answer: Answer, piece_tokens: int | None) -> str:
    """The page's JSON on one line, for every reader's idea of a line."""
    return json_line(answer.to_json(piece_tokens))


def json_line(fields: Mapping[str, object]) -> str:
    """JSON on one line, its end behind it. Raises ValueError for a number that is not finite."""
    if KERNEL is not None:
        written: str | None = KERNEL.json_line(fields)
        if written is not None:
            return written
    line = _JSON.encode(fields)
    if not line.isascii():
        for end in _LINE_ENDS:
            line = line.replace(end, f"\\u{ord(end):04x}")
    return line + "\n"


def _front_matter(answer: Answer) -> str:
    """What is known of the page as YAML: JSON values, which YAML reads as they are."""
    fields = answer.to_json()
    known = [
        f"{name}: {_yaml(fields[name])}\n" for name in _FRONT_MATTER if fields.get(name) is not None
    ]
    return "".join(("---\n", *known, "---\n"))


def _yaml(value: object) -> str:
    """A JSON value that is YAML too."""
    written = _JSON.encode(value)
    return _NOT_PLAIN.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
