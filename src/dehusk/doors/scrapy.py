"""The Scrapy add-on: every page that a spider meets is learned, and items carry its answer.

ADDONS = {"dehusk.scrapy.Addon": 500}
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final, Self

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.project import data_path
from w3lib.encoding import http_content_type_encoding

from dehusk.answer.fingerprint import Seen
from dehusk.answer.result import Refusal, Result
from dehusk.errors import UsageError
from dehusk.memory.opening import open as open_session
from dehusk.memory.session import Session
from dehusk.methods import DEFAULT
from dehusk.page.page import Page
from dehusk.pipeline import site_of
from dehusk.settings import Durable, MarkdownSettings, is_server
from dehusk.workers.answering import answer_on

KEY: Final = "dehusk"
"""What answers are called in `response.meta` and in items."""
_DROPPED: Final = "dehusk_dropped"
"""The key in `response.meta` of why the page's items are dropped."""
_PLACE: Final = 550
"""Behind the middleware that keeps HTTP errors from spiders, before those that look at requests."""
_PREFIX: Final = "DEHUSK_"
_SETTINGS: Final = ("MEMORY", "METHOD", "SETTINGS", "DURABLE", "UNIQUE", "REVISE", "MARKDOWN")


class NearDuplicate(DropItem):
    """The page nearly repeats an earlier one of the run."""


class Unchanged(DropItem):
    """The answer on the page is the one that an earlier run gave."""


class Addon:
    """Puts `Answers` between Scrapy and the spider."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Register the middleware, unless the user has."""
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", Answers, _PLACE)


class Answers(BaseSpiderMiddleware):
    """Answers on each HTML page before its spider sees it, and hands the answer on to the items."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        _check_names(settings)
        self._seen = Seen() if settings.getbool("DEHUSK_UNIQUE") else None
        self._revises = settings.getbool("DEHUSK_REVISE")
        self._open = _opened(crawler)
        self._sites = self._open.__enter__()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The middleware of a crawl; the memory is closed when the spider is."""
        made = cls(crawler)
        crawler.signals.connect(made.spider_closed, signal=signals.spider_closed)
        return made

    def process_spider_input(self, response: Response) -> None:
        """Put the answer into `response.meta`; what is no HTML page has none."""
        for key in (KEY, _DROPPED):
            response.meta.pop(key, None)  # A spider may hand its meta on from page to page.
        if isinstance(response, HtmlResponse):
            page = _page(response)
            before = self._pages_seen(page)
            answer = answer_on(page, self._sites)
            response.meta[KEY] = answer.to_json()
            self._count(answer, before)
            if isinstance(answer, Result) and (why := self._dropped(page, answer)):
                response.meta[_DROPPED] = why

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """The item with the answer on its page in the field `dehusk`; None where it is dropped."""
        answer = None if response is None else response.meta.get(KEY)
        if response is None or answer is None or not ItemAdapter.is_item(item):
            return item
        if why := response.meta.get(_DROPPED):
            self._drop(item, response, why)
            return None
        fields = ItemAdapter(item)
        try:
            if fields.get(KEY) is None:
                fields[KEY] = dict(answer)
        except (KeyError, AttributeError, ValueError):
            # A class of items that has no such field does not want it; one that is frozen (of
            # pydantic with a ValueError) cannot be given it. The page's other items go on.
            self._add("items_without_field")
        return item

    def spider_closed(self) -> None:
        """Make what was learned lasting."""
        if self._sites.is_lasting:
            self._sites.commit()
            self.crawler.stats.set_value(f"{KEY}/memory_bytes", self._sites.size_bytes)
        self._open.__exit__(None, None, None)

    def _dropped(self, page: Page, answer: Result) -> type[DropItem] | None:
        """Why the items of the page are to be dropped, if they are."""
        is_changed = True
        if self._sites.is_lasting:
            is_changed = self._sites.note(page, answer)
        if self._seen is not None and self._seen.add(answer.text):
            return NearDuplicate
        return Unchanged if self._revises and not is_changed else None

    def _drop(self, item: Any, response: Response, why: type[DropItem]) -> None:
        """Tell everybody that the item is dropped, as Scrapy does of its pipelines."""
        self.crawler.signals.send_catch_log(
            signals.item_dropped,
            item=item,
            response=response,
            spider=self.crawler.spider,
            exception=why(why.__doc__ or ""),
        )

    def _pages_seen(self, page: Page) -> int:
        """How many pages of the page's site were learned before it."""
        return self._sites.memory(site_of(page)).pages

    def _count(self, answer: Result | Refusal, before: int) -> None:
        """Put the answer into Scrapy's stats."""
        if isinstance(answer, Refusal):
            self._add(f"failed/{getattr(answer.error, 'code', 'source')}")
            return
        self._add("pages")
        self._add("pages_learned", answer.pages_seen - before)
        self._add("content_chars", len(answer.text))
        if answer.template_changed:
            self._add("template_changed")

    def _add(self, name: str, count: int = 1) -> None:
        if count:
            self.crawler.stats.inc_value(f"{KEY}/{name}", count)


def _page(response: HtmlResponse) -> Page:
    """The page as it came over the wire, with the charset that the server stated."""
    header = response.headers.get("Content-Type")
    charset = http_content_type_encoding(header.decode("latin-1")) if header else None
    return Page(response.body, response.url, charset=charset)


def _check_names(settings: BaseSettings) -> None:
    """Raise UsageError for a setting of ours that means nothing: it may be a misspelt one."""
    for name in settings:
        if str(name).startswith(_PREFIX) and name.removeprefix(_PREFIX) not in _SETTINGS:
            there = ", ".join(_PREFIX + known for known in _SETTINGS)
            raise UsageError(f"{name}: no such setting; there are {there}")


def _markdown_settings(settings: BaseSettings) -> MarkdownSettings:
    """How Markdown is written. Raises UsageError for a name that means nothing."""
    try:
        return MarkdownSettings(**settings.getdict("DEHUSK_MARKDOWN"))
    except TypeError:
        names = ", ".join(MarkdownSettings.__slots__)
        raise UsageError(f"DEHUSK_MARKDOWN: there are {names}") from None


def _opened(crawler: Crawler) -> AbstractContextManager[Session]:
    """The sites to learn, as the settings say. Raises DehuskError, which ends the crawl."""
    settings = crawler.settings
    method, its_settings = settings.get("DEHUSK_METHOD"), settings.getdict("DEHUSK_SETTINGS")
    its_settings["markdown"] = _markdown_settings(settings)
    name = crawler.spider.name if crawler.spider else crawler.spidercls.name
    address = settings.get("DEHUSK_MEMORY", data_path(Path(KEY) / f"{name}.husk"))
    if not address:
        if settings.getbool("DEHUSK_REVISE"):
            raise UsageError("DEHUSK_REVISE needs a memory, and DEHUSK_MEMORY is empty")
        return nullcontext(Session(method=method or DEFAULT, **its_settings))
    if not is_server(address):
        Path(address).parent.mkdir(parents=True, exist_ok=True)
    durable = settings.get("DEHUSK_DURABLE", Durable.BATCH)
    return open_session(address, durable=durable, method=method, **its_settings)
