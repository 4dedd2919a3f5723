"""Sources as documents for retrieval: texts, each with flat facts about its page.

The same for all frameworks that have documents; a door of one makes its own kind of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from enum import StrEnum
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from dehusk.answer.fingerprint import Seen
from dehusk.answer.result import Refusal, Result
from dehusk.errors import MissingExtra, SettingError, UsageError
from dehusk.workers.cleaning import clean

Fact = str | int | float
_LOG: Final = logging.getLogger("dehusk")
_PLAIN: Final = (
    "url", "site", "title", "author", "published", "modified", "lang", "summary", "site_name",
    "image", "type", "fingerprint", "pages_seen", "problem",
)  # fmt: skip


class Text(StrEnum):
    """What a document's text becomes."""

    TEXT = "text"
    MARKDOWN = "markdown"


def chosen_text(name: str) -> Text:
    """The text that is asked for. Raises UsageError for one that nobody makes."""
    if name not in list(Text):
        raise UsageError(f"text={name!r}: a document's text becomes {' or '.join(Text)}")
    return Text(name)


def check_installed(module: str, door: str, extra: str) -> None:
    """Raise MissingExtra where the framework of a door is not installed."""
    package, _, rest = module.partition(".")
    if find_spec(package) is None or (rest and find_spec(module) is None):
        raise MissingExtra(door, extra)


class Document(NamedTuple):
    """The content of a page, or a piece of it, and what is known of the page."""

    text: str
    facts: dict[str, Fact]
    """What is not known is left out: many stores of documents take no nulls and no lists."""


class Documents:
    """Makes documents of sources, as often as it is asked to.

    `text` is `markdown` or `text`. With `piece_tokens` a page is several documents, each of at most
    so many tokens. `unique` leaves out pages that nearly repeat an earlier one. `failed` is told of
    whatever could not be read or used; without it that is logged. `options` are those of
    `dehusk.clean`. Raises UsageError.
    """

    def __init__(
        self,
        *,
        text: str = Text.MARKDOWN,
        piece_tokens: int | None = None,
        unique: bool = False,
        failed: Callable[[Refusal], object] | None = None,
        **options: Any,
    ) -> None:
        self._text = chosen_text(text)
        if piece_tokens is not None and piece_tokens < 1:
            raise SettingError(f"piece_tokens={piece_tokens}: a piece has at least 1 token")
        self._piece_tokens = piece_tokens
        self._is_unique = unique
        self._failed = failed or (lambda refusal: _LOG.warning("%s", refusal.error))
        self._options = options

    def read(self, *sources: str | os.PathLike[str]) -> Iterator[Document]:
        """The documents of all sources, in order; a page without content gives none."""
        seen = Seen() if self._is_unique else None
        made: list[Document] = []

        def make(result: Result) -> None:
            made[:] = self._documents(result)

        for answer in clean(*sources, render=make, **self._options):
            if isinstance(answer, Refusal):
                self._failed(answer)
            elif not made:
                _LOG.warning("%s: no content", answer.url)
            elif seen is None or not seen.add(answer.text):
                yield from made

    def _documents(self, result: Result) -> Iterator[Document]:
        """The documents of a page."""
        if self._piece_tokens is None:
            if text := getattr(result, self._text):
                yield Document(text, facts_of(result))
            return
        for number, piece in enumerate(result.pieces(self._piece_tokens)):
            place: dict[str, Fact] = {"piece": number, "address": piece.address}
            if piece.headings:
                place["headings"] = " > ".join(piece.headings)
            yield Document(getattr(piece, self._text), facts_of(result) | place)


def facts_of(result: Result) -> dict[str, Fact]:
    """What is known of a page, as text and numbers."""
    facts: dict[str, Fact | None] = {name: getattr(result, name) for name in _PLAIN}
    facts["tags"] = ", ".join(result.tags) or None
    facts["template_share"] = round(result.template_share, 4)
    for name in ("confidence", "site_removed"):
        value = getattr(result, name)
        facts[name] = None if value is None else round(value, 3)
    return {name: fact for name, fact in facts.items() if fact is not None}
