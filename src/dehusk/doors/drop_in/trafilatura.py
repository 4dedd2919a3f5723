"""trafilatura's calls, answered by dehusk: `from dehusk.trafilatura import extract`.

Options mean what they mean there. What dehusk has no answer to is refused with a UsageError, unless
nothing is lost without it; docs/moving.md has them all. What trafilatura discards is None here too.
The functions that are long are so by trafilatura's parameters.
"""

from __future__ import annotations

import json
import logging
from configparser import ConfigParser
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, Final

import turbohtml

from dehusk.answer.result import Refusal, Result
from dehusk.doors.drop_in.given import html_of
from dehusk.doors.drop_in.options import Options, read_date_params, read_options, read_sizes
from dehusk.errors import PageError, UsageError
from dehusk.memory.opening import Site
from dehusk.output.formats import yaml_value
from dehusk.page.page import Page
from dehusk.page.urls import host_of
from dehusk.settings import CrawlSettings, Favour, Images, Limits, Links, MarkdownSettings
from dehusk.workers.answering import answer_on

_LOG: Final = logging.getLogger("dehusk")
_PYTHON: Final = "python"
_HEADER: Final = (
    *("title", "author", "url", "hostname", "description", "sitename", "date", "categories"),
    *("tags", "fingerprint", "id", "license"),
)
_NAMES_IN_JSON: Final = {"url": "source", "sitename": "source-hostname", "description": "excerpt"}
_DAY: Final = len("2026-01-31")
_FAVOURS: Final = {
    "precision": Favour.PRECISION,
    "balanced": Favour.BALANCE,
    "recall": Favour.RECALL,
}


@dataclass
class Document:
    """What is known of a page, under trafilatura's names."""

    title: str | None = None
    author: str | None = None
    url: str | None = None
    hostname: str | None = None
    description: str | None = None
    sitename: str | None = None
    date: str | None = None
    categories: list[str] | None = None
    """Empty: dehusk has tags only."""
    tags: list[str] | None = None
    fingerprint: str | None = None
    id: str | None = None
    license: str | None = None
    """None: dehusk does not look for one."""
    body: None = None
    """None: dehusk makes no tree of lxml."""
    comments: str | None = None
    commentsbody: None = None
    raw_text: str | None = None
    text: str | None = None
    language: str | None = None
    image: str | None = None
    pagetype: str | None = None
    """As `Result.type` names it."""
    filedate: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """All that is known, by name."""
        return asdict(self)


def extract(
    filecontent: Any,
    url: str | None = None,
    record_id: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "txt",
    tei_validation: bool = False,
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: Any = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: set[str] | None = None,
    author_blacklist: set[str] | None = None,
    settingsfile: str | None = None,
    prune_xpath: Any = None,
    config: ConfigParser | None = None,
    options: Any = None,
) -> str | None:
    """The content in the format asked for; None where the page has none, or is not wanted.

    Raises UsageError for an option that dehusk has no answer to.
    """
    chosen = read_options(locals())
    if chosen.format not in _WRITERS:
        raise UsageError(f"output_format={chosen.format!r}: there are {', '.join(_WRITERS)}")
    found = _found(filecontent, chosen)
    if found is None:
        return None
    document, result = found
    named = replace(document, id=record_id, fingerprint=result.fingerprint)
    return _WRITERS[chosen.format](named, result, chosen)


def bare_extraction(
    filecontent: Any,
    url: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = _PYTHON,
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: Any = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: set[str] | None = None,
    author_blacklist: set[str] | None = None,
    as_dict: bool = False,
    prune_xpath: Any = None,
    config: ConfigParser | None = None,
    options: Any = None,
) -> Document | dict[str, Any] | None:
    """The content and what is known of the page; None as `extract` gives it. Raises UsageError."""
    found = _found(filecontent, read_options(locals()))
    if found is None:
        return None
    document, _ = found
    return document.as_dict() if as_dict else document


def extract_metadata(
    filecontent: Any,
    default_url: str | None = None,
    date_config: dict[str, Any] | None = None,
    extensive: bool = True,
    author_blacklist: set[str] | None = None,
) -> Document:
    """What the page says of itself. Raises PageError for one that cannot be used."""
    del extensive  # All that a page says of itself is always read.
    chosen = Options(
        url=default_url,
        author_blacklist=author_blacklist or set(),
        date_params=read_date_params(date_config),
    )
    result = _answer(filecontent, chosen)
    if isinstance(result, Refusal):
        raise result.error
    return _metadata(result, chosen)


def fetch_url(
    url: str, no_ssl: bool = False, config: ConfigParser | None = None, options: Any = None
) -> str | None:
    """The page at the URL as text; None where it cannot be had, and the log says why.

    It is asked for as in a crawl: robots.txt is obeyed, addresses that are not public are refused,
    and certificates are checked. Raises UsageError for `no_ssl`, MissingExtra without `crawl`.
    """
    from dehusk.sources.crawl.linked import LinkedPages  # noqa: PLC0415  an extra

    if no_ssl:
        raise UsageError("no_ssl: dehusk asks no server whose certificate cannot be checked")
    sizes = options if options is not None else Options(**read_sizes(config))
    try:
        with LinkedPages(url, CrawlSettings(max_bytes=sizes.max_file_size)) as pages:
            page = pages.fetch(pages.url)
    except (PageError, UsageError) as error:
        _LOG.warning("%s", error)
        return None
    assert isinstance(page.html, bytes), "the web gives bytes"
    try:
        charset = turbohtml.parse(page.html, encoding=page.charset).encoding
        return page.html.decode(charset or "utf-8", "replace")
    except LookupError:
        return page.html.decode("utf-8", "replace")


def _answer(filecontent: Any, chosen: Options) -> Result | Refusal:
    """The answer on the page, with all that is asked for made within the page's time."""
    markdown = MarkdownSettings(
        links=Links.KEEP if chosen.links else Links.TEXT,
        images=Images.KEEP if chosen.images else Images.NONE,
    )
    site = Site(
        limits=Limits(max_bytes=chosen.max_file_size),
        drop=() if chosen.tables else "table",
        markdown=markdown,
        favour=_FAVOURS[chosen.focus],
    )

    def render(result: Result) -> None:
        _document(result, chosen)
        if chosen.format == "html":
            _ = result.safe_html

    return answer_on(Page(html_of(filecontent), chosen.url), site, render)


def _found(filecontent: Any, chosen: Options) -> tuple[Document, Result] | None:
    """The page and its answer; None for one that cannot be used or is not wanted: it is logged.

    `fetch_url` gives None for a page that it cannot load: there is nothing to be found in that.
    """
    if filecontent is None:
        return None
    result = _answer(filecontent, chosen)
    if isinstance(result, Refusal):
        _LOG.warning("%s", result.error)
        return None
    document = _document(result, chosen)
    reason = _unwanted(document, result, chosen)
    if reason:
        _LOG.warning("%s: %s", chosen.url or "page", reason)
    return None if reason else (document, result)


def _unwanted(document: Document, result: Result, chosen: Options) -> str | None:
    """Why the page is to be discarded; None for one that is wanted."""
    if document.url is not None and document.url in chosen.url_blacklist:
        return "its URL is not wanted"
    if chosen.only_with_metadata and not (document.date and document.title and document.url):
        return "no date, title or URL"
    if max(len(document.text or ""), len(document.comments or "")) < chosen.min_output_size:
        return "too little content"
    lang = (result.lang or "").partition("-")[0].lower()
    if chosen.lang and lang and lang != chosen.lang.lower():
        return f"in {lang}, not in {chosen.lang}"
    return None


def _document(result: Result, chosen: Options) -> Document:
    """The content, and what is known of the page where that is asked for."""
    about = _metadata(result, chosen) if chosen.with_metadata else Document()
    text = result.markdown if chosen.is_markdown else result.text
    comments = (result.comments or "") if chosen.comments else None
    return replace(about, text=text, raw_text=text, comments=comments)


def _metadata(result: Result, chosen: Options) -> Document:
    """What the page says of itself."""
    told = result.description
    url = told.canonical or chosen.url
    names = [name for name in (told.author or "").split(", ") if name]
    dates = chosen.date_params
    published = told.published if dates.get("original_date") else told.modified or told.published
    day = (published or "")[:10]
    latest = str(dates.get("max_date") or day)[:10]
    return Document(
        title=told.title,
        author="; ".join(name for name in names if name not in chosen.author_blacklist) or None,
        url=url,
        hostname=host_of(url or "") or None,
        description=told.summary,
        sitename=told.site_name,
        date=day if len(day) == _DAY and day <= latest else None,
        categories=[],
        tags=list(told.tags),
        language=result.lang,
        image=told.image,
        pagetype=result.type,
    )


def _as_text(document: Document, result: Result, chosen: Options) -> str:
    """The text, with the comments behind it."""
    del result
    header = ""
    if chosen.with_metadata:
        known = ((name, getattr(document, name)) for name in _HEADER)
        lines = "".join(f"{name}: {yaml_value(value)}\n" for name, value in known if value)
        header = f"---\n{lines}---\n"
    return f"{header}{document.text}\n{document.comments or ''}".strip()


def _as_json(document: Document, result: Result, chosen: Options) -> str:
    """Text and comments without marks, and what is known of the page where that is asked for."""
    texts = {"text": result.text, "comments": document.comments or ""}
    if not chosen.with_metadata:
        return json.dumps(texts, ensure_ascii=False)
    known = document.as_dict() | {
        "categories": ";".join(document.categories or ()),
        "tags": ";".join(document.tags or ()),
    }
    del known["body"], known["commentsbody"]
    named = {_NAMES_IN_JSON.get(name, name): value for name, value in known.items()}
    return json.dumps(named | texts, ensure_ascii=False)


def _as_html(document: Document, result: Result, chosen: Options) -> str:
    """The content as a page without anything that runs."""
    head = ""
    if chosen.with_metadata:
        known = {name: getattr(document, name) for name in _HEADER}
        metas = (
            f'<meta name="{name}" content="{escape(_joined(value))}">'
            for name, value in known.items()
            if value
        )
        head = f"<head>{''.join(metas)}</head>"
    return f"<html>{head}<body>{result.safe_html}</body></html>"


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ";".join(value)


_WRITERS: Final = {"html": _as_html, "json": _as_json, "markdown": _as_text, "txt": _as_text}
