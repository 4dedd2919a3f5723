"""A step for datatrove's pipelines: documents of HTML in, documents of content out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep
from datatrove.utils.typeshelper import StatHints

from dehusk.answer.fingerprint import Seen
from dehusk.answer.result import Refusal, Result
from dehusk.doors.documents import Text, chosen_text
from dehusk.errors import DamagedRecord, NotHtml
from dehusk.memory.opening import open as open_session
from dehusk.memory.session import Session
from dehusk.methods import DEFAULT
from dehusk.page.page import Page
from dehusk.sources import Failure
from dehusk.workers.answering import answer_on

__all__ = ["Clean", "Text"]

KEY: Final = "dehusk"
"""What answers are called in a document's metadata."""


class Clean(PipelineStep):  # type: ignore[misc]  # datatrove is not typed
    """Learns each document's site and puts its content in the place of its HTML.

    A document's URL is `metadata["url"]`; `metadata["site"]` names its site where its host does
    not. All that is known of the page but its text goes into `metadata["dehusk"]`. With `memory`,
    a folder, each rank keeps what it has learned in a file of its own there; without it a run
    starts empty and forgets. What cannot be read, has no content or, with `unique`, nearly repeats
    an earlier document of the rank is dropped and counted.
    """

    type = "🌾 - CLEAN"
    name = "dehusk"

    def __init__(
        self,
        memory: str | None = None,
        *,
        text: str = Text.TEXT,
        unique: bool = False,
        method: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.memory = memory
        self.text = chosen_text(text)
        self.unique = unique
        self.method = method
        self.settings = settings

    def run(
        self, data: Iterator[Document], rank: int = 0, world_size: int = 1
    ) -> Iterator[Document]:
        """The documents with their content; `rank` names the file of the memory."""
        del world_size  # A rank is given its documents: it need not know how many others there are.
        seen = Seen() if self.unique else None
        with self._opened(rank) as sites:
            for document in data:
                self.stat_update(StatHints.total)
                with self.track_time():
                    answer = answer_on(_page(document), sites)
                    cleaned = self._cleaned(document, answer, seen)
                if cleaned is not None:
                    self.stat_update(StatHints.forwarded)
                    self.update_doc_stats(cleaned)
                    yield cleaned

    def _cleaned(
        self, document: Document, answer: Result | Refusal, seen: Seen | None
    ) -> Document | None:
        """The document with its content; None where it is dropped, which is counted by reason."""
        known = answer.to_json()
        if (reason := _refused(answer, seen)) is not None:
            self.stat_update(StatHints.dropped)
            self.stat_update(f"{StatHints.dropped}_{reason}")
            return None
        more = {name: value for name, value in known.items() if name not in {*Text, "url", "error"}}
        return Document(
            text=str(known[self.text]),
            id=document.id,
            media=document.media,
            metadata={**document.metadata, KEY: more},
        )

    def _opened(self, rank: int) -> AbstractContextManager[Session]:
        """The sites to learn, in the rank's own file if there is a folder for it."""
        if self.memory is None:
            return nullcontext(Session(method=self.method or DEFAULT, **self.settings))
        folder = Path(self.memory)
        folder.mkdir(parents=True, exist_ok=True)
        return open_session(folder / f"{rank:05d}.husk", method=self.method, **self.settings)


def _page(document: Document) -> Page | Failure:
    """The document as a page; a Failure where it is none, or its URL or site is no text."""
    url, site = (document.metadata.get(name) for name in ("url", "site"))
    for name, value in (("url", url), ("site", site)):
        if not isinstance(value, str | None):
            return Failure(None, None, DamagedRecord(None, f"metadata[{name!r}] is not text"))
    if not isinstance(document.text, str | bytes):
        return Failure(url, site, NotHtml(url, "its text is not text"))
    return Page(document.text, url, site)


def _refused(answer: Result | Refusal, seen: Seen | None) -> str | None:
    """Why a document is dropped, in a word; None for one that goes on."""
    if isinstance(answer, Refusal):
        return f"failed_{getattr(answer.error, 'code', 'source')}"
    if not answer.text:
        return "empty"
    return "near_duplicate" if seen is not None and seen.add(answer.text) else None
