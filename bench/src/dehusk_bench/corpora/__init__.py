"""Pages with gold, out of files of JSON lines and out of the sample sites, one page at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from dehusk.errors import SourceError, UsageError
from dehusk.page.page import Page
from dehusk.sources.compression import check_supported, open_unpacked, unpacked_name

_SAMPLES: Final = "samples"
_SAMPLE_SEED: Final = 1
_SAMPLE_PAGES: Final = 30
_SAMPLE_LANG: Final = "en"


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A page, and what people or the page's own markup say of it; None where nobody says."""

    page: Page
    site: str
    number: int
    """Its place in the site, from 1."""
    content: str | None = None
    content_nodes: tuple[tuple[int, ...], ...] | None = None
    excluded_nodes: tuple[tuple[int, ...], ...] = ()
    must_keep: tuple[str, ...] = ()
    must_drop: tuple[str, ...] | None = None
    lang: str | None = None
    type: str | None = None
    generator: str | None = None
    subject: str | None = None
    """What the page is about, where several sites write of the same things."""
    genre: str | None = None
    """What kind of site it is."""
    source: str | None = None
    """Whose gold it is, where a corpus has that of several."""
    headline: str | None = None
    page_title: str | None = None
    """What `<title>` says."""
    captions: str | None = None
    comments: str | None = None
    """What readers wrote below the content."""
    comments_nodes: tuple[tuple[int, ...], ...] = ()
    comments_snippets: tuple[str, ...] = ()
    authors: str | None = None
    date: str | None = None
    gold_has: Mapping[str, bool | float | None] = field(default_factory=dict)
    """Does `content` include the `title`, the `byline`, …? Of some, the share of words."""

    @property
    def html(self) -> str:
        """The page's HTML, which records hold as text."""
        assert isinstance(self.page.html, str)
        return self.page.html


@dataclass(frozen=True, slots=True)
class Caps:
    """How much of a corpus is used: so many sites, and so many pages of each; None for all."""

    sites: int | None = None
    pages: int | None = None

    def __post_init__(self) -> None:
        if any(cap is not None and cap < 1 for cap in (self.sites, self.pages)):
            raise UsageError("--sites and --pages take numbers from 1 on")


EVERYTHING: Final = Caps()


@dataclass(frozen=True)
class Corpus:
    """Pages with gold. They can be read any number of times and are never all held."""

    name: str
    records: Callable[[], Iterator[dict[str, Any]]]
    caps: Caps = EVERYTHING

    def pages(self) -> Iterator[GoldPage]:
        """The pages in order, site by site.

        Raises SourceError for a record that is not in the format, and where a site's pages do not
        stand together.
        """
        met: set[str] = set()
        site, number = "", 0
        for place, record in enumerate(self.records(), 1):
            name = _text(record, "site", f"{self.name}: page {place}")
            if name != site and name in met:
                raise SourceError(
                    f"{self.name}: page {place}: site {name!r} comes back; its pages"
                    " must stand together"
                )
            number = number + 1 if name == site else 1
            site = name
            met.add(site)
            if not self.has_site(site):
                continue
            if self.caps.pages is None or number <= self.caps.pages:
                yield _gold_page(record, site, number, f"{self.name}: page {place}")

    def has_site(self, site: str) -> bool:
        """Is the site among those that are used?"""
        return self._chosen_sites is None or site in self._chosen_sites

    @cached_property
    def _chosen_sites(self) -> set[str] | None:
        """The sites that are used: evenly spread over the corpus. None for all.

        This reads the corpus once more: how many sites there are stands nowhere.
        """
        if self.caps.sites is None:
            return None
        met: dict[str, None] = {}
        with suppress(SourceError):  # It comes again when the pages are read.
            for record in self.records():
                met[str(record.get("site"))] = None
        sites = list(met)
        count = min(self.caps.sites, len(sites))
        return {sites[place * len(sites) // count] for place in range(count)}


Watcher = Callable[[str, int], None]
"""Is told the corpus and the number of pages done in it."""


def watch_nothing(_corpus: str, _pages: int) -> None:
    """Nothing happens."""


def open_corpus(name: str, caps: Caps = EVERYTHING) -> Corpus:
    """The corpus of that name: a file of JSON lines, packed or not, or sample sites.

    `samples` is one site of each kind, `samples:KIND:SEED:PAGES:LANG` one site; parts at the end
    may be left out, and an empty part stands for its default. Raises UsageError for what does not
    exist, and MissingExtra.
    """
    if name.partition(":")[0] == _SAMPLES:
        return Corpus(name, _sample_records(name), caps)
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"{name}: no such file, and not `{_SAMPLES}`")
    check_supported(path.name)
    return Corpus(Path(unpacked_name(path.name)).stem, lambda: _file_records(path), caps)


def _file_records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file of JSON lines. Raises SourceError, UsageError for another file."""
    with open_unpacked(path, str(path)) as stream:
        for number, line in enumerate(io.BufferedReader(stream), 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as fault:
                if number == 1 and not line.lstrip().startswith(b"{"):
                    raise UsageError(f"{path}: not a corpus: its first line is no JSON") from fault
                raise SourceError(f"{path}:{number}: not JSON ({fault})") from fault
            if not isinstance(record, dict):
                raise SourceError(f"{path}:{number}: a record is a JSON object")
            yield record


def _sample_records(name: str) -> Callable[[], Iterator[dict[str, Any]]]:
    """A reader of the sample sites that the name stands for. Raises UsageError."""
    from dehusk_bench.samples import (  # noqa: PLC0415  slow, and seldom needed
        KINDS,
        LANGS,
        OTHER_KINDS,
        SHARED_KINDS,
        sample_site,
    )

    _, kind, seed, pages, lang, *rest = [*name.split(":"), "", "", "", ""]
    try:
        numbers = {"seed": int(seed or _SAMPLE_SEED), "pages": int(pages or _SAMPLE_PAGES)}
    except ValueError as fault:
        raise UsageError(f"{name}: SEED and PAGES are whole numbers") from fault
    kinds = (*KINDS, *OTHER_KINDS, *SHARED_KINDS)
    if any(rest) or kind not in ("", *kinds) or lang not in ("", *LANGS):
        raise UsageError(
            f"{name}: not samples:KIND:SEED:PAGES:LANG; the kinds are {', '.join(kinds)},"
            f" the languages {', '.join(LANGS)}"
        )

    def read() -> Iterator[dict[str, Any]]:
        for each in [kind] if kind else KINDS:
            for sample in sample_site(each, **numbers, lang=lang or _SAMPLE_LANG):
                yield sample.record()

    return read


def _gold_page(record: dict[str, Any], site: str, number: int, place: str) -> GoldPage:
    """The page that a record holds. Raises SourceError."""
    html = _text(record, "html", place)
    url, dropped = record.get("url"), record.get("must_drop")
    nodes = record.get("content_nodes")
    authors = record.get("authors")
    try:
        return GoldPage(
            page=Page(html, url if isinstance(url, str) else None, site),
            site=site,
            number=number,
            content=record.get("content"),
            content_nodes=None if nodes is None else _paths(nodes),
            excluded_nodes=_paths(record.get("excluded_nodes") or ()),
            must_keep=tuple(map(str, record.get("must_keep") or ())),
            must_drop=None if dropped is None else tuple(map(str, dropped)),
            lang=record.get("lang"),
            type=record.get("type"),
            generator=record.get("generator"),
            subject=record.get("subject"),
            genre=record.get("genre"),
            source=record.get("source"),
            headline=record.get("headline"),
            page_title=record.get("page_title"),
            captions=record.get("captions"),
            comments=record.get("comments"),
            comments_nodes=_paths(record.get("comments_nodes") or ()),
            comments_snippets=tuple(map(str, record.get("comments_snippets") or ())),
            authors=", ".join(map(str, authors)) if isinstance(authors, list) else authors,
            date=record.get("date"),
            gold_has=dict(record.get("gold_has") or {}),
        )
    except (TypeError, ValueError) as fault:
        raise SourceError(f"{place}: gold that is not in the format ({fault})") from fault


def _paths(nodes: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The paths as tuples of whole numbers."""
    return tuple(tuple(map(int, path)) for path in nodes)


def _text(record: dict[str, Any], name: str, place: str) -> str:
    """The text in a field. Raises SourceError where there is none."""
    value = record.get(name)
    if not isinstance(value, str):
        raise SourceError(f"{place}: no `{name}` with text")
    return value
