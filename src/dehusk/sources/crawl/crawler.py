"""A crawl: pages of a site one after another, in an order that the site alone decides.

Which URL comes next is settled when a page is done with, never when an answer happens to come in.
So the same answers give the same pages in the same order, however fast they come, however many are
asked for at a time, and however often the crawl was cut off in between.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Final, Self

from dehusk.errors import (
    AddressRefused,
    ConnectionFailed,
    FetchTimeout,
    PageError,
    SourceError,
)
from dehusk.page.page import Page
from dehusk.settings import CrawlSettings, SourceSettings
from dehusk.sources.crawl.fetch import Response
from dehusk.sources.crawl.frontier import (
    Entry,
    Frontier,
    Start,
    credentials_of,
    key_of,
    read_start,
)
from dehusk.sources.crawl.judge import Judge, Verdict
from dehusk.sources.crawl.network import Network
from dehusk.sources.crawl.scope import Found, LeftOut, Scope
from dehusk.sources.crawl.sitemaps import Sitemaps
from dehusk.sources.crawl.state import (
    PAGE,
    REDIRECT,
    UNLINKED,
    VERSION,
    Answer,
    Earlier,
    State,
)
from dehusk.sources.items import Failure

_MAX_SILENCE: Final = 10
"""Requests to a site in a row that nobody answers before it is given up until the crawl is
resumed. Others go on."""
_URLS_PER_PAGE: Final = 10
"""URLs of sitemaps that are read for each page wanted: many turn out to be left out."""
_MIN_SITEMAP_URLS: Final = 1000
_KEPT: Final = (PAGE, REDIRECT, LeftOut.KNOWN.name)
"""Outcomes of answers that are a part of the site as it is given: pages, and what leads to them."""
SITEMAP: Final = "sitemap"
"""The place of a link that a sitemap names."""

_DUE: Final = "sitemap_due"
"""The fact that a sitemap is read before the next page is looked at."""


class Crawl:
    """Pages of one or more sites as they come from the web. Use with `with`, then iterate.

    What was given counts as dealt with when the next is asked for: then `on_commit` is called, and
    what it writes to the state is kept together with the step, or lost together with it.
    `on_answer` is told of what a server answered for each page that is given, before it is, and of
    redirects to pages.
    """

    def __init__(
        self,
        urls: Sequence[str],
        settings: CrawlSettings,
        source_settings: SourceSettings,
        state: State,
        on_commit: Callable[[], None] = lambda: None,
        on_answer: Callable[[Response], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._source_settings = source_settings
        self._state = state
        self._on_commit = on_commit
        self._on_answer = on_answer
        self._starts = [read_start(url) for url in urls]
        self._network = Network(settings, credentials_of(self._starts))
        self._scope = Scope(settings, source_settings, self._network.manners)
        self._judge = Judge(settings, source_settings, self._scope)
        wanted = max(_MIN_SITEMAP_URLS, _URLS_PER_PAGE * settings.max_pages)
        self._sitemaps = Sitemaps(wanted)
        self._frontier = Frontier()
        self._window: deque[Entry] = deque()
        self._answers: dict[int, Answer] = {}
        self._earlier: dict[int, Earlier] = {}
        self._found: list[Found] = []
        self._asked: set[int] = set()
        self._taken = 0
        self._silence: Counter[str] = Counter()
        self._silent: set[str] = set()
        self._left = 0
        self._stack = ExitStack()
        self.pages = 0
        """Pages given, by this run and those before it."""
        self.errors: Counter[str] = Counter()
        """Failures by their code."""

    def __enter__(self) -> Self:
        self._stack.enter_context(self._network)
        return self

    def __exit__(self, *fault: object) -> None:
        self._stack.close()

    @property
    def left_out(self) -> Counter[LeftOut]:
        """How many URLs were left out, and why."""
        return self._scope.left_out

    @property
    def warnings(self) -> list[str]:
        """What went wrong without costing a page: sitemaps that cannot be read."""
        return self._sitemaps.warnings

    @property
    def has_unread(self) -> bool:
        """True where a robots.txt or a sitemap could not be read, or not to its end."""
        is_read = not self._sitemaps.is_cut and self._network.has_all_manners
        return not is_read or bool(self.warnings)

    @property
    def waiting(self) -> int:
        """URLs that wait to be asked for, those of sitemaps too."""
        return len(self._frontier) + len(self._window) + len(self._sitemaps) + self._left

    def __iter__(self) -> Iterator[Page | Failure]:
        """The pages, and a Failure for each that could not be had."""
        yield from self._begin()
        while self._window or self._wants_sitemap or self._wants_unlinked:
            if not self._window:
                self._read_sitemap() if self._wants_sitemap else self._visit_unlinked()
                continue
            entry = self._window[0]
            answer = self._await(entry)
            self._silence[entry.site] += 1
            if not _is_silence(answer):
                self._silence[entry.site] = 0
            if self._silence[entry.site] >= _MAX_SILENCE:
                yield Failure(None, entry.site, self._given_up(entry))
                self._give_up(entry.site)
                continue
            verdict = self._judge.judge(entry, answer, self._earlier.get(key_of(entry.url)))
            self._count(verdict)
            if isinstance(answer, Response) and verdict.outcome in _KEPT:
                self._on_answer(answer)
            if verdict.item is not None:
                yield verdict.item
            self._settle(entry, verdict)
            self._read_sitemap()

    def _begin(self) -> Iterator[Failure]:
        """Start, or go on where an earlier run was cut off."""
        urls = [start.url for start in self._starts]
        if self._state.fact("starts") is not None:
            self._restore()
        else:
            yield from self._first_urls()
            if self._found:
                self._start({"version": VERSION, "starts": urls} | self._extent)

    @property
    def _extent(self) -> dict[str, object]:
        """How far this run is to go, for telling later whether it was cut off before."""
        return {"max_pages": self._settings.max_pages}

    def _first_urls(self) -> Iterator[Failure]:
        """What the user named, what an earlier crawl found, and what sitemaps name."""
        for start in self._starts:
            error = self._first_url(start)
            if error is not None:
                self.errors[error.code] += 1
                yield Failure(start.url, self._judge.site_of(start.url), error)
        if not self._found:
            return
        self._remember()
        if self._settings.sitemaps:
            self._find_sitemaps()

    def _first_url(self, start: Start) -> PageError | None:
        """Let the crawl start at a URL; the reason where its host does not let it."""
        try:
            self._network.manners(start.url)
        except AddressRefused as refused:
            return AddressRefused(start.url, refused.reason)
        found = self._scope.admit_start(start.url)
        if found is None or found.reason is None:
            self._keep(found)
            return None
        self.left_out[found.reason] -= 1
        return self._scope.error(start.url, found.reason)

    def _remember(self) -> None:
        """Know the pages of an earlier crawl when links lead to them."""
        for key, entry, earlier in self._state.earlier():
            self._earlier[key] = earlier
            self._scope.known[key] = entry.url
            self._frontier.known.add(entry.url)

    @property
    def _wants_unlinked(self) -> bool:
        is_asked = self._state.fact(UNLINKED) is not None or not self._earlier
        return not is_asked and not self.waiting and self.pages < self._settings.max_pages

    def _visit_unlinked(self) -> None:
        """Let the pages of an earlier crawl wait that nothing has led to: they may be there.

        Behind all others, so that what is found from here on is known to be found only from them.
        """
        first = self._scope.next_number
        for _, entry, _ in self._state.earlier():
            self._keep(self._scope.admit_known(entry))
        self._start({UNLINKED: first})

    def _find_sitemaps(self) -> None:
        """Let the sitemaps of the start's hosts wait."""
        for start in self._starts:
            if any(found.entry and found.entry.url == start.url for found in self._found):
                named = self._network.manners(start.url).sitemaps
                self._sitemaps.add(start.origin, named or [f"{start.origin}/sitemap.xml"])

    def _read_sitemap(self) -> None:
        """Read the next sitemap, and let the pages wait that it names.

        One behind each page, so that neither holds the other up for long, and so that the order of
        the pages does not depend on how fast sitemaps come.
        """
        taken = self._sitemaps.take() if self._wants_sitemap else None
        if taken is None:
            return
        origin, budget, address = taken
        for url in self._sitemaps.read(origin, self._network.sitemap(address, budget)):
            self._keep(self._scope.admit(url, None, SITEMAP))
        if not self._window:
            self._start({})

    @property
    def _wants_sitemap(self) -> bool:
        return len(self._sitemaps) > 0 and self.pages < self._settings.max_pages

    def _keep(self, found: Found | None) -> None:
        """Let what was found wait, and be written with the step."""
        if found is not None:
            self._found.append(found)
            if found.entry is not None:
                self._frontier.put(found.entry)

    def _await(self, entry: Entry) -> Answer:
        """The answer to this URL. What comes for others meanwhile is kept safe for its turn.

        What comes from a site that was given up has none: it is asked for anew by the next run.
        """
        while entry.number not in self._answers:
            number, answer = self._network.next_answer()
            if any(number == waiting.number for waiting in self._window):
                self._answers[number] = answer
                self._state.keep_answer(number, answer)
        return self._answers.pop(entry.number)

    def _give_up(self, site: str) -> None:
        """Ask a site for nothing more until the crawl is resumed; what it was asked for waits."""
        self._silent.add(site)
        left = [entry.number for entry in self._window if entry.site == site]
        self._left += len(left)
        self._window = deque(entry for entry in self._window if entry.site != site)
        self._state.forget_answers(left)
        self._start({})

    def _given_up(self, entry: Entry) -> SourceError:
        return SourceError(
            f"{entry.site} no longer answers; {self.waiting} URLs wait, and --resume goes on"
        )

    def _count(self, verdict: Verdict) -> None:
        if verdict.outcome == PAGE:
            self.pages += 1
        elif isinstance(verdict.item, Failure):
            self.errors[getattr(verdict.item.error, "code", verdict.outcome)] += 1

    def _settle(self, entry: Entry, verdict: Verdict) -> None:
        """Put down what came of a URL, take the next, and ask for it: one step of the crawl."""
        self._window.popleft()
        for found in verdict.found:
            self._keep(found)
        again = [] if verdict.again is None else [verdict.again]
        for once_more in again:
            self._frontier.put(once_more)
        with self._state.transaction():
            self._state.settle(
                entry.number,
                verdict.outcome,
                verdict.validators,
                verdict.text_hash,
                verdict.links,
            )
            self._state.add(again, ())
            self._write({_DUE: True})
        self._ask()

    def _start(self, facts: dict[str, object]) -> None:
        """The first step: what was found before anything was asked for."""
        with self._state.transaction():
            self._write(facts | {_DUE: False})
        self._ask()

    def _write(self, facts: dict[str, object]) -> None:
        """Write what was found since the last step, what is taken next, and what a door adds."""
        entries = [found.entry for found in self._found if found.entry is not None]
        seen = [(found.key, found.reason.name if found.reason else None) for found in self._found]
        self._state.add(entries, seen)
        self._found = []
        self._take()
        counts = {
            "pages": self.pages,
            "errors": self.errors,
            "left_out": {reason.name: count for reason, count in self.left_out.items()},
        }
        self._state.set_facts(facts | counts | {"sitemaps": self._sitemaps.facts()})
        self._on_commit()

    def _take(self) -> None:
        """Take the URLs that may now be asked for, as many at a time as the sites are to bear."""
        at_once = self._settings.concurrency
        room = min(at_once * len(self._scope.sites), self._settings.max_pages - self.pages)
        while len(self._window) < room:
            busy = Counter(entry.site for entry in self._window)
            sites = self._scope.sites - self._silent
            entry = self._frontier.take(site for site in sites if busy[site] < at_once)
            if entry is None:
                return
            self._state.take(entry.number, self._taken)
            self._taken += 1
            key = self._scope.key_by_now(entry)
            if key in self._scope.seen:
                self.left_out[LeftOut.KNOWN] += 1
                self._state.settle(entry.number, LeftOut.KNOWN.name)
                continue
            if key is not None:
                self._scope.seen[key] = None
                self._state.add((), ((key, None),))
            self._window.append(entry)

    def _ask(self) -> None:
        """Ask for what was taken and has no answer yet."""
        for entry in self._window:
            if entry.number not in self._asked and entry.number not in self._answers:
                earlier = self._earlier.get(key_of(entry.url))
                headers = earlier.validators.headers if earlier else ()
                self._network.ask(entry.number, entry.url, headers)
                self._asked.add(entry.number)

    def _restore(self) -> None:
        """Be as the run before was after its last step."""
        state = self._state
        self._scope.seen = {key: LeftOut[name] if name else None for key, name in state.seen()}
        visits = list(state.visits())
        for visit in visits:
            self._scope.restore(visit.entry)
        self._remember()
        self._frontier.put_back((visit.entry, visit.taken is not None) for visit in visits)
        taken = sorted((v for v in visits if v.taken is not None), key=lambda v: v.taken or 0)
        for visit in taken:
            if visit.outcome is not None:
                self._judge.restore(visit.entry, visit.outcome, visit.text_hash)
        self._window.extend(visit.entry for visit in taken if visit.outcome is None)
        self._taken = len(taken)
        self._answers = state.answers()
        self._sitemaps.restore(state.fact("sitemaps", {}))
        self.pages = state.fact("pages", 0)
        self.errors = Counter(state.fact("errors", {}))
        kept = state.fact("left_out", {})
        self.left_out.update({LeftOut[name]: count for name, count in kept.items()})
        with state.transaction():
            self._write(self._extent)
        self._ask()
        if state.fact(_DUE):
            self._read_sitemap()


def _is_silence(answer: Answer) -> bool:
    return isinstance(answer, ConnectionFailed | FetchTimeout)
