"""What an answer from the web comes to: a page, a failure, a redirect, or something left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from dehusk.errors import (
    BadRedirect,
    BadResponse,
    ConnectionFailed,
    FetchTimeout,
    HttpStatus,
    NotHtml,
    PageError,
    Reserved,
)
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, SourceSettings, Wish
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import Entry
from dehusk.sources.crawl.links import PageLink, Reading, pack_links, read, unpack_links
from dehusk.sources.crawl.network import is_html, is_page
from dehusk.sources.crawl.places import key_of, normal_url
from dehusk.sources.crawl.scope import Found, Scope
from dehusk.sources.crawl.settings import LeftOut
from dehusk.sources.crawl.state import AGAIN, NO_VALIDATORS, PAGE, Answer, Earlier, Validators
from dehusk.sources.items import Failure, site_of

REDIRECT: Final = "redirect"
_BUSY: Final = (408, 425, 429, 500, 502, 503, 504)
"""Statuses that may be others the next time."""


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
        verdict = self._judge(entry, answer, earlier)
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
        return self._failed(entry, error, may_pass=answer.status in _BUSY)

    def _failed(self, entry: Entry, error: PageError, *, may_pass: bool = False) -> Verdict:
        """A failure, or another try where it may pass."""
        if may_pass and entry.attempts < self._settings.retries:
            return Verdict(AGAIN, again=self._scope.again(entry))
        return Verdict(error.code, Failure(entry.url, self.site_of(entry.url), error))

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
            return self._failed(entry, BadRedirect(entry.url, "redirected to where the web ends"))
        if key_of(normal) in self._chain(entry):
            return self._failed(entry, BadRedirect(entry.url, "redirects in a circle"))
        found = self._scope.admit_redirect(target, entry)
        if found is None:
            self._scope.left_out[LeftOut.KNOWN] += 1
            return Verdict(LeftOut.KNOWN.name)
        if found.reason is not None and entry.depth == 0:
            error = BadRedirect(entry.url, f"redirected to {normal}: {found.reason}")
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
