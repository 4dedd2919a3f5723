"""In which format a client wants its answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from dehusk.output.formats import Format

KINDS: Final[Mapping[str, Format]] = {
    "application/json": Format.JSONL,
    "text/markdown": Format.MARKDOWN,
    "text/plain": Format.TEXT,
}
"""The media types of answers on a page, the usual one first."""
_QUALITY: Final = re.compile(r";\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*(?:;|$)", re.IGNORECASE)


def preferred(accept: Iterable[str]) -> str:
    """The media type of `KINDS` that headers `Accept` like best; the usual one if they like none.

    The highest q-value decides. Among equal ones a type by its name comes before one that a
    wildcard allows, and what is named first before the rest.

    >>> preferred(["text/html, text/plain;q=0.5, text/markdown"])
    'text/markdown'
    >>> preferred(["application/json, text/plain, */*"])
    'application/json'
    """
    ranges: dict[str, tuple[float, int]] = {}
    for place, written in enumerate(",".join(accept).lower().split(",")):
        quality = _QUALITY.search(written)
        name = written.partition(";")[0].strip()
        ranges.setdefault(name, (min(float(quality[1]), 1.0) if quality else 1.0, -place))

    def liking(kind: str) -> tuple[float, int, int]:
        names = (kind, f"{kind.partition('/')[0]}/*", "*/*")
        for vagueness, name in enumerate(names):
            if name in ranges:
                quality, place = ranges[name]
                return quality, -vagueness, place
        return 0.0, 0, 0

    best = max(KINDS, key=liking)
    return best if liking(best)[0] else next(iter(KINDS))
