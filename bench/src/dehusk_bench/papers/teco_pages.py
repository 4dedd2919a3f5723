"""Key pages whose template is known, and the pages they link, out of JSON lines and TECO folders.

A folder in the form of the TECO suite:

    DIR/sites.json         optional: {"site": {"type": "shop", "key": "a/b.html"}}
    DIR/site/index.json    optional: {"a/b.html": "https://…"}, else links are read as files
    DIR/site/a/b.html      the key page, known by its marks, and all other pages

or the same below DIR/pages. The marks (`dehusk.doors.service.gold`) are taken off before anything
looks at the page.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

from dehusk.doors.service.gold import NodeGold, is_marked, node_gold, strip_marks
from dehusk.errors import PageError, SourceError, UsageError
from dehusk.methods.papers.hyperlink import Hyperlink, detect, normal_url
from dehusk.methods.papers.hyperlink.addresses import Addresses
from dehusk.methods.papers.hyperlink.links import (
    find_links,
    hyperlink_distance,
    hyperlink_words,
    sort_links,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.settings import SourceSettings
from dehusk.sources.folders import file_url, find_files, read_file
from dehusk_bench.corpora import EVERYTHING, Caps, Corpus, Watcher, open_corpus, watch_nothing
from dehusk_bench.tables import number, table

NO_TYPE: Final = "–"
"""The type of a site that nobody told."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyPage:
    """A page whose template is known, and a way to load the pages of its site."""

    site: str
    type: str
    tree: Tree
    gold: NodeGold
    load: Callable[[str], Tree | None]


def read_key_pages(name: str, notes: list[str], caps: Caps = EVERYTHING) -> Iterator[KeyPage]:
    """The key pages of a TECO folder or of JSON lines; `notes` gets what had to be left out.

    Of JSON lines only the sites that `caps` leave are used, of a folder all.

    Raises UsageError where there is no key page at all, SourceError for damaged JSON lines.
    """
    is_empty = True
    root = Path(name)
    is_folder = root.is_dir()
    pages = (
        _read_folders(root, notes) if is_folder else _read_records(open_corpus(name, caps), notes)
    )
    for page in pages:
        is_empty = False
        yield page
    if is_empty:
        raise UsageError(f"{name}: no key page; TECO marks them with the class TECO_notTemplate")


def _read_records(corpus: Corpus, notes: list[str]) -> Iterator[KeyPage]:
    """The key pages of JSON lines, site by site; where a site names none, all its pages."""
    for site, group in groupby(corpus.records(), key=lambda record: str(record.get("site"))):
        if not corpus.has_site(site):
            continue
        records = list(group)
        pages = _Pages({record["url"]: _record_maker(record) for record in records})
        judged = [record for record in records if record.get("content_nodes") is not None]
        for record in [record for record in judged if record.get("key")] or judged:
            tree = pages.load(record["url"])
            gold = None if tree is None else _record_gold(tree, record)
            if tree is None or gold is None:
                notes.append(f"{record['url']}: its gold does not fit the page; left out")
                continue
            kind = str(record.get("type") or record.get("generator") or NO_TYPE)
            yield KeyPage(site, kind, tree, gold, pages.load)


def _record_gold(tree: Tree, record: Mapping[str, Any]) -> NodeGold | None:
    """The gold of a record's nodes; None where it does not fit the page."""
    return node_gold(tree, record["content_nodes"], record.get("excluded_nodes") or ())


def _record_maker(record: Mapping[str, Any]) -> Callable[[], Tree]:
    """A call that parses the page of a record."""
    return lambda: parse(Page(record["html"], record["url"], record.get("site"))).tree


class _Pages:
    """The pages of a site by URL, parsed when they are first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], Tree]]) -> None:
        self._makers = {normal_url(url): maker for url, maker in makers.items()}
        self._trees: dict[str, Tree | None] = {}

    def load(self, url: str) -> Tree | None:
        """The page at the URL; None if there is none, or none that can be used."""
        address = normal_url(url)
        if address not in self._trees:
            maker = self._makers.get(address)
            try:
                self._trees[address] = maker() if maker else None
            except (PageError, SourceError):
                self._trees[address] = None
        return self._trees[address]


def _read_folders(root: Path, notes: list[str]) -> Iterator[KeyPage]:
    """The key pages of a folder in TECO's form, by the names of the sites."""
    root = root / "pages" if (root / "pages").is_dir() else root
    known = _read_json(root / "sites.json")
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        facts = known.get(folder.name) or {}
        yield from _read_site(folder, str(facts.get("type") or NO_TYPE), facts.get("key"), notes)


def _read_site(folder: Path, kind: str, key: str | None, notes: list[str]) -> Iterator[KeyPage]:
    """The key pages of one saved site: those with marks, or the one that is named."""
    urls = _read_json(folder / "index.json")
    names = [name for name in find_files(folder) if isinstance(name, str)]
    url_of = {name: str(urls.get(name) or file_url(name)) for name in names}

    def maker(name: str) -> Callable[[], Tree]:
        return lambda: strip_marks(_read_page(folder, name, url_of[name]))[0]

    pages = _Pages({url: maker(name) for name, url in url_of.items()})
    for name in names if key is None else [key]:
        try:
            page = _read_page(folder, name, url_of.get(name, ""))
            if not is_marked(page):
                continue
            tree, paths = strip_marks(page)
            if not paths:
                continue
        except (PageError, SourceError) as fault:
            notes.append(f"{fault}; left out")
            continue
        gold = node_gold(tree, paths, ())
        if gold is None:
            notes.append(f"{folder / name}: it is read otherwise without its marks; left out")
        else:
            yield KeyPage(folder.name, kind, tree, gold, pages.load)


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty without one. Raises UsageError."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_bytes())
    except ValueError as fault:
        raise UsageError(f"{path}: not JSON ({fault})") from fault
    if not isinstance(found, dict):
        raise UsageError(f"{path}: not a JSON object")
    return found


def _read_page(folder: Path, name: str, url: str) -> Page:
    """The page in a file. Raises PageError or SourceError."""
    page = read_file(folder / name, url, folder.name, SourceSettings())
    if isinstance(page, Page):
        return page
    raise SourceError(f"{folder / name}: {page.error}")


_REGIONS: Final = ("nav", "header", "footer", "aside", "main", "article", "table")


@dataclass(slots=True)
class Chosen:
    """Links of all key pages, and those of them that were chosen, by what they are."""

    links: Counter[str] = field(default_factory=Counter)
    chosen: Counter[str] = field(default_factory=Counter)
    ranks: list[int] = field(default_factory=list)
    """The places of the chosen ones in the order of Algorithm 1, from 1."""
    sizes: Counter[int] = field(default_factory=Counter)
    """How many pages that link each other were found, by key page."""

    def figures(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "links": dict(self.links),
            "chosen": dict(self.chosen),
            "sizes": dict(self.sizes),
            "ranks": self.ranks,
        }


def choose_links(
    keys: Iterable[KeyPage], method: Hyperlink, *, on_page: Watcher = watch_nothing
) -> Chosen:
    """What is chosen on each key page, counted."""
    found = Chosen()
    for done, key in enumerate(keys, 1):
        detection = detect(replace(method, loader=key.load), key.tree)
        pages = {normal_url(url) for url in detection.pages}
        found.sizes[len(pages)] += 1
        links = find_links(key.tree, Addresses()).inside
        for rank, link in enumerate(sort_links(key.tree, links, key.tree.url or ""), 1):
            is_chosen = normal_url(link.url) in pages
            found.ranks += [rank] if is_chosen else []
            for kind in _kinds(key, link.url, link.node):
                found.links[kind] += 1
                found.chosen[kind] += is_chosen
        on_page(key.site, done)
    return found


def _kinds(key: KeyPage, url: str, node: int) -> Iterator[str]:
    """What a link is: by where it leads, by the element it stands in, by the gold."""
    distance = hyperlink_distance(hyperlink_words(key.tree.url or ""), hyperlink_words(url))
    if distance == 0:
        yield "leads to the same folder"
    else:
        yield f"leads {'below it' if distance > 0 else 'out of it'}"
    yield f"stands in {_region(key, node)}"
    yield "is template" if key.gold.template[node] else "is in the content"


def _region(key: KeyPage, node: int) -> str:
    """The nearest element around a link that says what it is for."""
    while node >= 0:
        name = key.tree.name(node)
        if name in _REGIONS:
            return f"<{name}>"
        node = int(key.tree.parent[node])
    return "no such element"


def links_table(found: Chosen, *, markdown: bool) -> str:
    """A row for each kind of link, then the subdigraphs that were found."""
    rows = []
    for kind in sorted(found.links):
        group = kind.split()[0]
        of = [name for name in found.links if name.split()[0] == group]
        links, chosen = found.links[kind], found.chosen[kind]
        share = links / sum(found.links[name] for name in of)
        chosen_share = chosen / max(sum(found.chosen[name] for name in of), 1)
        cells = (str(links), f"{share:.1%}", str(chosen), f"{chosen_share:.1%}")
        rows.append([kind, *cells, number(chosen_share / share, 2)])
    header = ("a link that", "links", "share", "chosen", "share of chosen", "times as often")
    total = max(sum(found.sizes.values()), 1)
    sizes = [
        [str(size), str(count), f"{count / total:.1%}"]
        for size, count in sorted(found.sizes.items())
    ]
    shown = table(header, rows, markdown=markdown)
    shown += "\n" + table(("pages that vote", "key pages", "share"), sizes, markdown=markdown)
    if found.ranks:
        middle, late = np.percentile(found.ranks, (50, 90))
        shown += (
            f"\nThe chosen links stand at place {fmean(found.ranks):.1f} in the order of Algorithm"
            f" 1 on average, half of them up to {middle:.0f}, nine in ten up to {late:.0f}.\n"
        )
    return shown
