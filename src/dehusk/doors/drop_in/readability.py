"""readability-lxml's Document, answered by dehusk: `from dehusk.readability import Document`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from dehusk.answer.result import Refusal, Result
from dehusk.answer.stated import read_stated
from dehusk.doors.drop_in.given import html_of
from dehusk.errors import PageError, UsageError
from dehusk.memory.opening import Site
from dehusk.page.page import Page
from dehusk.workers.answering import answer_on

Unparseable = PageError
"""What a page raises that cannot be used, under the name that it has there."""


class Document:
    """A page, read when it is first asked about; each call raises PageError if it cannot be used.

    `min_text_length`, `retry_length` and `handle_failures` tune what dehusk does not do, and mean
    nothing here. Raises UsageError for keywords and `xpath`, which would be missed.
    """

    def __init__(
        self,
        input: Any,
        positive_keywords: Any = None,
        negative_keywords: Any = None,
        url: str | None = None,
        min_text_length: int = 25,
        retry_length: int = 250,
        xpath: bool = False,
        handle_failures: str | None = "discard",
    ) -> None:
        del min_text_length, retry_length, handle_failures
        if positive_keywords or negative_keywords:
            raise UsageError(
                "keywords: dehusk takes CSS: dehusk.extract(html, keep='.story', drop='.ads')"
            )
        if xpath:
            raise UsageError("xpath: dehusk.extract(html).nodes says where each node stands")
        self.input = input
        self.url = url

    @cached_property
    def _result(self) -> Result:
        page = Page(html_of(self.input), self.url)
        answer = answer_on(page, Site(), lambda result: (result.safe_html, result.description))
        if isinstance(answer, Refusal):
            raise answer.error
        return answer

    def summary(self, html_partial: bool = False, keep_all_images: bool = False) -> str:
        """The content as HTML without anything that runs; `html_partial` without html and body."""
        del keep_all_images  # All images of the content are kept.
        content = f"<div>{self._result.safe_html}</div>"
        return content if html_partial else f"<html><body>{content}</body></html>"

    def title(self) -> str:
        """The text of `<title>`, or `[no-title]`."""
        return read_stated(self._result.tree).title or "[no-title]"

    def short_title(self) -> str:
        """The page's own title, without what the site adds; empty where it has none."""
        return self._result.title or ""

    def author(self) -> str:
        """Who has written the page, or `[no-author]`."""
        return self._result.author or "[no-author]"

    def content(self) -> str:
        """The whole page as HTML, its elements marked `data-dehusk="template|content"`."""
        return self._result.html
