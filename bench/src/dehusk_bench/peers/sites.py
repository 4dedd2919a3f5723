"""Peers that look at a whole site: deboiler, and the removal of what repeats over a crawl.

The removals are what data engineers do instead of finding a template, over all visible text: lines
that were there before (as the makers of C4 and CCNet do), lines that stand on two pages, runs of
three sentences that were there before (as datatrove does). Each is written here after what these
projects say of theirs, and sees one site at a time: what sites share with each other is little
beside what pages of a site share.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dehusk.page.page import Page
from dehusk_bench.peers.pages import Peer, import_quietly, load_all_text

_RUN: Final = 3
"""Sentences of a run that must have been there before, as in C4 and datatrove."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")


@dataclass(frozen=True, slots=True)
class SitePeer:
    """What gives a peer for the pages of one site, in order.

    One that looks at all pages before it answers on the first `needs_pages`.
    """

    start: Callable[[Sequence[Page]], Peer]
    needs_pages: bool = False


def _load_lines_once() -> SitePeer:
    """All text but the lines that stood on an earlier page, or earlier on this one."""
    all_text = load_all_text()

    def start(_: Sequence[Page]) -> Peer:
        seen: set[str] = set()

        def extract(html: str, url: str | None) -> str:
            kept = []
            for line in all_text(html, url).splitlines():
                key = plain_line(line)
                if key and key not in seen:
                    seen.add(key)
                    kept.append(line)
            return "\n".join(kept)

        return extract

    return SitePeer(start)


def _load_lines_unique() -> SitePeer:
    """All text but the lines that stand on two pages or more, which must all be read before."""
    all_text = load_all_text()

    def start(pages: Sequence[Page]) -> Peer:
        counts: Counter[str] = Counter()

        def extract(html: str, url: str | None) -> str:
            if not counts:  # On the first page, so that its cost is counted there.
                for page in pages:
                    text = all_text(str(page.html), page.url)
                    counts.update({plain_line(line) for line in text.splitlines()})
            lines = all_text(html, url).splitlines()
            return "\n".join(line for line in lines if counts[plain_line(line)] < 2)

        return extract

    return SitePeer(start, needs_pages=True)


def _load_runs_once() -> SitePeer:
    """All text but the sentences in runs of three that stood there before."""
    all_text = load_all_text()

    def start(_: Sequence[Page]) -> Peer:
        seen: set[tuple[str, ...]] = set()
        return lambda html, url: without_known_runs(all_text(html, url), seen)

    return SitePeer(start)


def without_known_runs(text: str, seen: set[tuple[str, ...]]) -> str:
    """The text without the sentences of known runs; its runs are `seen` from then on."""
    sentences = [part for part in _SENTENCE_END.split(text) if part and part.strip()]
    keys = [plain_line(sentence) for sentence in sentences]
    runs = [tuple(keys[start : start + _RUN]) for start in range(len(keys) - _RUN + 1)]
    known = set(_places(runs, seen))
    seen.update(runs)
    return "\n".join(each for place, each in enumerate(sentences) if place not in known)


def _places(runs: Sequence[tuple[str, ...]], seen: set[tuple[str, ...]]) -> Iterator[int]:
    """The places of sentences that are in a known run."""
    for start, run in enumerate(runs):
        if run in seen:
            yield from range(start, start + _RUN)


def plain_line(line: str) -> str:
    """A line as it is compared: lower case, every digit 0, without accents, signs and spaces.

    >>> plain_line("© 2026 Café – Öffnungszeiten: 9–17 Uhr")
    '0000cafeoffnungszeiten000uhr'
    """
    folded = unicodedata.normalize("NFD", line.lower())
    return "".join("0" if each.isdigit() else each for each in folded if each.isalnum())


def _load_deboiler() -> SitePeer:
    """deboiler, as it comes: what two pages next to each other by URL share is boilerplate."""
    deboiler, dataset = import_quietly("deboiler"), import_quietly("deboiler.dataset")
    for name in ("deboiler", "Deboiler", "ParsedPage", "ListDataset"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    def start(pages: Sequence[Page]) -> Peer:
        by_html = {str(page.html): page.url or str(n) for n, page in enumerate(pages)}
        records = [{"url": url, "content": html} for html, url in by_html.items()]
        fitted: list[Any] = []

        def extract(html: str, url: str | None) -> str:  # noqa: ARG001
            if not fitted:  # On the first page, so that its cost is counted there.
                given = dataset.ListDataset(
                    records, status_key=None, content_type_key=None, verbose=False
                )
                model = deboiler.Deboiler(verbose=False)
                model.fit(given)
                fitted.extend((model, given))
            text: str = fitted[0].transform_page(by_html[html], fitted[1]).cleaned_text
            return text

        return extract

    return SitePeer(start, needs_pages=True)


SITE_PEERS: Final[dict[str, Callable[[], SitePeer]]] = {
    "lines-once": _load_lines_once,
    "lines-unique": _load_lines_unique,
    "runs-once": _load_runs_once,
    "deboiler": _load_deboiler,
}
"""Every peer that looks at a site by its name, and how to load it."""
