"""Sources in, answers out: what `dehusk clean` does, as one call."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

from dehusk.answer.result import Refusal, Result
from dehusk.memory.opening import open as open_session
from dehusk.memory.session import Render
from dehusk.settings import CrawlSettings, SourceSettings
from dehusk.sources import fetching, names_of, read_pages
from dehusk.workers.answering import noted_answer

Answers = Generator[Result | Refusal, None, None]


def clean(
    *sources: str | os.PathLike[str],
    memory: str | os.PathLike[str] | None = None,
    settings: SourceSettings = SourceSettings(),
    crawl: CrawlSettings = CrawlSettings(),
    render: Render | None = None,
    **options: Any,
) -> Answers:
    """Answers for the pages of any source that the command line reads, in order.

    A web address is that one page; `dehusk.crawl` takes a site. Sites are learned as their pages
    come, in the `memory` if there is one. What cannot be read or used gives a Refusal, and the next
    page follows. `render` is called with each Result, within the time limit of the page, to compute
    what you want of it. `options` are those of `dehusk.open`.
    Raises UsageError at once for a source that does not exist, MissingExtra for one that needs an
    extra; what `dehusk.open` raises comes with the first page.
    """
    items = read_pages(names_of(sources), settings, fetch=fetching(crawl, settings))

    def answers() -> Answers:
        with open_session(memory, **options) as session:
            for item in items:
                yield noted_answer(item, session, render)

    return answers()
