"""What an answer comes to: a page, its links, or why neither."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from http import HTTPStatus
from typing import Final
from urllib.parse import urljoin, urlsplit

import turbohtml

from dehusk.errors import (
    BadRedirect,
    BadResponse,
    ConnectionFailed,
    FetchTimeout,
    HttpStatus,
    NoAddress,
    NotHtml,
    PageError,
    PageFault,
    Reserved,
)
from dehusk.page.page import Page
from dehusk.page.urls import site_of
from dehusk.settings import CrawlSettings, SourceSettings, Wish
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import Entry, key_of, normal_url
from dehusk.sources.crawl.network import is_html, is_page
from dehusk.sources.crawl.robots import Asked, by_headers, by_meta
from dehusk.sources.crawl.scope import Found, LeftOut, Scope
from dehusk.sources.crawl.state import (
    AGAIN,
    BUSY,
    GONE,
    NO_VALIDATORS,
    PAGE,
    REDIRECT,
    Answer,
    Earlier,
    Validators,
)
from dehusk.sources.items import Failure

_MAX_LINKS: Final = 5000
"""Links that are taken from a page. Site maps for people have some thousand."""
_ANCESTORS: Final = 6
"""Tags above a link that say where on the page it stands."""
_UNUSABLE: Final = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:|\s*#|\s*\Z", re.IGNORECASE)
_PLAIN: Final = re.compile(r"https?://[\w.:-]+(?:/[\w~%-][\w~%.-]*)*/?(?:\?[\w~%.=&-]*)?", re.ASCII)
"""A link that needs no joining: most are written so by systems that write them."""
_HEADER_LINK: Final = re.compile(r'<([^<>]{1,2000})>\s*;\s*rel="?canonical"?', re.IGNORECASE)
_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_BUSY: Final = (408, 425, 429, 500, 502, 503, 504)
"""Statuses that may be others the next time."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """One link as it leads from a page."""

    url: str
    place: str
    """The tags above it, innermost first: links that stand alike on pages lead to alike pages."""
    nofollow: bool


def pack_links(links: Iterable[PageLink]) -> bytes:
    """Links as bytes, to be kept for a visit at which the server only says 'unchanged'."""
    rows = [(link.url, link.place, link.nofollow) for link in links]
    return zlib.compress(json.dumps(rows).encode("ascii"), 1)


def unpack_links(packed: bytes) -> tuple[PageLink, ...]:
    """The links that `pack_links` packed; none out of nothing."""
    return tuple(PageLink(*row) for row in json.loads(zlib.decompress(packed))) if packed else ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page tells a crawler."""

    links: tuple[PageLink, ...]
    canonical: str | None
    asked: Asked
    text_hash: int


def read(response: Response, url: str, token: str) -> Reading:
    """What the page and its headers tell the crawler of this name."""
    document = _parse(response)
    base = _base(document, url)
    asked = by_headers(response.values("x-robots-tag"), response.header("tdm-reservation"), token)
    for meta in document.iter_elements(("meta",)):
        asked |= by_meta(_text(meta, "name"), _text(meta, "content"), token)
    root = document.root
    assert root is not None, "an HTML parser always makes <html>"
    written = " ".join(root.text.split()).encode("utf-8", "surrogatepass")
    text_hash = int.from_bytes(blake2b(written, digest_size=8).digest(), "big", signed=True)
    return Reading(_links(document, base), _canonical(document, base, response), asked, text_hash)


def _parse(response: Response) -> turbohtml.Document:
    """The parser's document; a charset that nobody knows is passed over, as browsers do."""
    try:
        return turbohtml.parse(
            response.body,
            encoding=response.charset,
            positions=False,
            allow_declarative_shadow_roots=False,
        )
    except LookupError:
        return turbohtml.parse(response.body, positions=False, allow_declarative_shadow_roots=False)


def _base(document: turbohtml.Document, url: str) -> str:
    """What the page's links are relative to."""
    for element in document.iter_elements(("base",)):
        if written := _text(element, "href"):
            return _joined(url, written) or url
    return url


def _links(document: turbohtml.Document, base: str) -> tuple[PageLink, ...]:
    """Each link once, in document order, the meta refresh last."""
    found: dict[str, PageLink] = {}
    for element in document.iter_elements(("a", "area")):
        written = _text(element, "href")
        if _UNUSABLE.match(written[:60]) or not (url := _joined(base, written)):
            continue
        nofollow = "nofollow" in _text(element, "rel").lower().split()
        # Of two links to one page the one that may be followed counts.
        if url not in found or (found[url].nofollow and not nofollow):
            found[url] = PageLink(url, _place(element), nofollow)
        if len(found) >= _MAX_LINKS:
            break
    for meta in document.iter_elements(("meta",)):
        if _text(meta, "http-equiv").lower() == "refresh":
            _, _, written = _text(meta, "content")[:2000].partition("=")
            url = _joined(base, written.strip(" '\""))
            if url and written:
                found.setdefault(url, PageLink(url, "refresh", nofollow=False))
    return tuple(found.values())


def _canonical(document: turbohtml.Document, base: str, response: Response) -> str | None:
    """The URL that the page, or its Link header, names as its own."""
    for element in document.iter_elements(("link",)):
        if "canonical" in _text(element, "rel").lower().split() and _text(element, "href"):
            return _joined(base, _text(element, "href"))
    found = _HEADER_LINK.search(response.header("link")[:10_000])
    return _joined(base, found[1]) if found else None


def _place(element: turbohtml.Element) -> str:
    """The tags above an element, innermost first."""
    names: list[str] = []
    above = element.parent
    while isinstance(above, turbohtml.Element) and len(names) < _ANCESTORS:
        names.append(above.tag)
        above = above.parent
    return ">".join(names)


def _text(element: turbohtml.Element, name: str) -> str:
    """An attribute as it is written; empty where it is not there."""
    value = element.attrs.get(name)
    if value is None:
        return ""
    return value if isinstance(value, str) else " ".join(value)


def _joined(base: str, written: str) -> str | None:
    """The URL made absolute; None for what cannot be read."""
    if _PLAIN.fullmatch(written):
        return written
    try:
        return urljoin(base, written.strip())
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one URL, and what follows from it."""

    outcome: str
    item: Page | Failure | None = None
    found: tuple[Found, ...] = ()
    again: Entry | None = None
    validators: Validators = NO_VALIDATORS
    text_hash: int | None = None
    links: bytes = b""
    """The page's links, packed: a later visit may find it unchanged, and its links must be known
    then."""


class Judge:
    """Judges answers, in the order in which their URLs were taken."""

    def __init__(
        self, settings: CrawlSettings, source_settings: SourceSettings, scope: Scope
    ) -> None:
        self._settings = settings
        self._source_settings = source_settings
        self._scope = scope
        self._outcomes: dict[int, str] = {}
        self._redirected: dict[int, Entry] = {}

    def restore(self, entry: Entry, outcome: str, text_hash: int | None) -> None:
        """Take note of what came of a URL in an earlier run. In the order they were taken."""
        self._outcomes[key_of(entry.url)] = outcome
        if outcome == REDIRECT:
            self._redirected[entry.number] = entry
        if text_hash is not None:
            self._scope.traps.learn(entry.url, text_hash)

    def site_of(self, url: str) -> str:
        """The site that a page at this URL belongs to."""
        return site_of(url, None, "", self._source_settings)

    def judge(self, entry: Entry, answer: Answer, earlier: Earlier | None) -> Verdict:
        """What the answer comes to."""
        try:
            verdict = self._judge(entry, answer, earlier)
        except Exception as fault:  # noqa: BLE001 - of one page: the crawl of others goes on
            error = PageFault(entry.url, f"{type(fault).__name__}: {fault}")
            verdict = self._failed(entry, error)
        self._outcomes[key_of(entry.url)] = verdict.outcome
        if verdict.outcome == REDIRECT:
            self._redirected[entry.number] = entry
        return verdict

    def _judge(self, entry: Entry, answer: Answer, earlier: Earlier | None) -> Verdict:
        if isinstance(answer, PageError):
            may_pass = isinstance(answer, ConnectionFailed | FetchTimeout | BadResponse)
            return self._failed(entry, answer, may_pass=may_pass)
        if answer.status == HTTPStatus.NOT_MODIFIED:
            return self._unchanged(entry, answer, earlier)
        try:
            target = answer.redirect
        except BadRedirect as bad:
            return self._failed(entry, bad)
        if target is not None:
            return self._redirect(entry, target)
        if is_page(answer):
            return self._page(entry, answer, earlier)
        if answer.status == HTTPStatus.OK and not is_html(answer):
            kind = NotHtml(entry.url, f"{answer.media_type[:100]}, not HTML")
            return self._left_out(entry, LeftOut.NOT_HTML, kind)
        error = HttpStatus(entry.url, _status_line(answer.status))
        if answer.status in _GONE:
            return replace(self._failed(entry, error), outcome=GONE)
        return self._failed(entry, error, may_pass=answer.status in _BUSY)

    def _failed(self, entry: Entry, error: PageError, *, may_pass: bool = False) -> Verdict:
        """A failure, or another try where it may pass."""
        if may_pass and entry.attempts < self._settings.retries:
            return Verdict(AGAIN, again=self._scope.again(entry))
        outcome = BUSY if may_pass else error.code
        return Verdict(outcome, Failure(entry.url, self.site_of(entry.url), error))

    def _left_out(self, entry: Entry, reason: LeftOut, error: PageError) -> Verdict:
        """Left out, and counted; the start of the crawl, which was asked for by name, fails."""
        if entry.depth == 0:
            return self._failed(entry, error)
        self._scope.left_out[reason] += 1
        return Verdict(reason.name)

    def _unchanged(self, entry: Entry, answer: Response, earlier: Earlier | None) -> Verdict:
        """Left out, but its links are followed: they may not have been asked for yet."""
        self._scope.left_out[LeftOut.UNCHANGED] += 1
        before = earlier or Earlier(NO_VALIDATORS, None)
        validators = _validators(answer)
        return Verdict(
            LeftOut.UNCHANGED.name,
            found=self._follow(entry, unpack_links(before.links)),
            validators=validators if validators.headers else before.validators,
            text_hash=before.text_hash,
            links=before.links,
        )

    def _redirect(self, entry: Entry, target: str) -> Verdict:
        """A redirect: its target takes its place, if it is new, wanted and not one too many."""
        if entry.hops >= self._settings.max_redirects:
            most = self._settings.max_redirects
            return self._failed(entry, BadRedirect(entry.url, f"more than {most} redirects"))
        normal = normal_url(target, self._scope.traps.dropped)
        if normal is None:
            return self._failed(
                entry, BadRedirect(entry.url, "redirected to something that is not a web address")
            )
        if key_of(normal) in self._chain(entry):
            reason = f"redirects in a circle, back to {normal}"
            return self._failed(entry, BadRedirect(entry.url, reason))
        found = self._scope.admit_redirect(target, entry)
        if found is None:
            self._scope.left_out[LeftOut.KNOWN] += 1
            return Verdict(LeftOut.KNOWN.name)
        if found.reason is not None and entry.depth == 0:
            error = self._scope.error(normal, found.reason)
            if not isinstance(error, NoAddress):  # Told as a private address there is.
                error = BadRedirect(entry.url, f"redirected to {normal}: {error.reason}")
            return Verdict(error.code, Failure(entry.url, self.site_of(entry.url), error), (found,))
        outcome = found.reason.name if found.reason else REDIRECT
        return Verdict(outcome, found=(found,))

    def _chain(self, entry: Entry) -> set[int]:
        """The keys of all URLs that redirected to this one, and its own."""
        keys = {key_of(entry.url)}
        while entry.parent is not None and entry.parent in self._redirected:
            entry = self._redirected[entry.parent]
            keys.add(key_of(entry.url))
        return keys

    def _page(self, entry: Entry, answer: Response, earlier: Earlier | None) -> Verdict:
        """A page that came: its links are followed, and it is given if nothing speaks against."""
        reading = read(answer, entry.url, self._settings.robots_token)
        links = reading.links
        if reading.asked.nofollow:
            links = tuple(replace(link, nofollow=True) for link in links)
        found = self._follow(entry, links)
        kept = self._keep(entry, answer, reading, earlier)
        validators = _validators(answer)
        self._scope.traps.learn(entry.url, reading.text_hash)
        return Verdict(
            kept.outcome,
            kept.item,
            found + kept.found,
            validators=validators,
            text_hash=reading.text_hash,
            links=pack_links(links) if validators.headers else b"",
        )

    def _follow(self, entry: Entry, links: Iterable[PageLink]) -> tuple[Found, ...]:
        """What the page's links lead to that was not known."""
        obeys = self._settings.obeys(Wish.NOFOLLOW)
        admitted = (
            self._scope.admit(link.url, entry, link.place, nofollow=obeys and link.nofollow)
            for link in links
        )
        return tuple(found for found in admitted if found is not None)

    def _keep(
        self, entry: Entry, answer: Response, reading: Reading, earlier: Earlier | None
    ) -> Verdict:
        """The page, or why it is not given."""
        obeys = self._settings.obeys
        if reading.asked.noindex and obeys(Wish.NOINDEX):
            return self._left_out(entry, LeftOut.NOINDEX, Reserved(entry.url, "asks for noindex"))
        if obeys(Wish.TDM) and (reading.asked.tdm or self._scope.is_reserved(entry.url)):
            return self._left_out(entry, LeftOut.TDM, Reserved(entry.url, str(LeftOut.TDM)))
        if earlier is not None and earlier.text_hash == reading.text_hash:
            self._scope.left_out[LeftOut.UNCHANGED] += 1
            return Verdict(LeftOut.UNCHANGED.name)
        found: tuple[Found, ...] = ()
        if obeys(Wish.CANONICAL) and (url := self._other_url(entry, reading.canonical or "")):
            admitted = self._scope.admit(url, entry, entry.place)
            found = (admitted,) if admitted else ()
            if self._scope.seen.get(key_of(url)) is None:
                self._scope.left_out[LeftOut.CANONICAL] += 1
                return Verdict(LeftOut.CANONICAL.name, found=found)
        page = Page(answer.body, entry.url, self.site_of(entry.url), answer.charset)
        return Verdict(PAGE, page, found)

    def _other_url(self, entry: Entry, written: str) -> str | None:
        """The URL that the page names as its own, if that is another worth asking for.

        It is not if it is of another site, was not to be had, or is the home page, which careless
        templates name on every page.
        """
        url = normal_url(written, self._scope.traps.dropped)
        if url is None or self._scope.site_of(url) not in self._scope.sites:
            return None
        key = key_of(url)
        is_known_bad = self._outcomes.get(key) not in (None, PAGE, AGAIN)
        is_own = key == key_of(entry.url)
        return None if is_own or is_known_bad or urlsplit(url).path == "/" else url


def _validators(answer: Response) -> Validators:
    return Validators(answer.header("etag")[:1000], answer.header("last-modified")[:100])


def _status_line(status: int) -> str:
    """A status with its name, where it has one."""
    try:
        return f"status {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"status {status}"
