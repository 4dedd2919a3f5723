"""What each format asks of a page's answer, so that a fault in it is the page's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dehusk.output.formats import Format
from dehusk.result import Result

RENDERINGS: Final[dict[Format, Callable[[Result], object]]] = {
    Format.JSONL: Result.to_json,
    Format.MARKDOWN: Result.to_json,
    Format.TEXT: lambda result: result.text,
    Format.HTML: lambda result: (result.html, result.text),
    Format.WARC: lambda result: result.text,
    Format.PARQUET: Result.to_json,
}
"""What each format asks of a result: a fault in it is the page's, not the writer's. The text is
always asked for, because near duplicates and changed answers are told by it."""
