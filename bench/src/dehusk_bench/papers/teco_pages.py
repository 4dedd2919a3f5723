"""Key pages whose template is known, and the pages they link, out of JSON lines and TECO folders.

A folder in the form of the TECO suite:

    DIR/sites.json         optional: {"site": {"type": "shop", "key": "a/b.html"}}
    DIR/site/index.json    optional: {"a/b.html": "https://…"}, else links are read as files
    DIR/site/a/b.html      the key page, known by its marks, and all other pages

or the same below DIR/pages. Without `sites.json` the key pages and types of the suite's own sites
are those that the thesis prints (`teco.toml`); of other sites every page is looked at for marks.
The marks (`dehusk.doors.service.gold`) are taken off before anything looks at the page.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote
from zlib import crc32

from dehusk.doors.service.gold import NodeGold, is_marked, node_gold, nodes_inside, strip_marks
from dehusk.errors import PageError, SourceError, UsageError
from dehusk.methods.papers.hyperlink import normal_url
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Tree
from dehusk.settings import SourceSettings
from dehusk.sources.folders import file_url, find_files, read_file
from dehusk_bench.corpora import EVERYTHING, Caps, Corpus, open_corpus

NO_TYPE: Final = "–"
"""The type of a site that nobody told."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What the thesis prints of a key page of TECO; `teco.toml` says in which tables."""

    path: str
    type: str
    nodes: tuple[int, int, int]
    links: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class KeyPage:
    """A page whose template is known, and a way to load the pages of its site."""

    site: str
    type: str
    tree: Tree
    gold: NodeGold
    load: Callable[[str], Tree | None]
    not_template: Flags
    """True for all nodes that are neither template nor above what is not."""
    content: Flags | None = None
    """True for the nodes of the main content; None where nobody says which they are."""
    menu: Flags | None = None
    """The same for the main menu."""
    printed: Printed | None = None
    model: Path | None = None
    """A model of `auto` that has not seen the site, if there is one to judge it with."""


@cache
def printed_pages() -> Mapping[str, Sequence[Printed]]:
    """What the thesis prints of TECO's key pages, by the folder of their site."""
    rows = tomllib.loads(Path(__file__).with_name("teco.toml").read_text("utf-8"))["pages"]
    pages = [
        Printed(row["path"], row["type"], tuple(row["nodes"]), tuple(row["links"])) for row in rows
    ]
    folders = {page.path.partition("/")[0] for page in pages}
    return {name: [page for page in pages if page.path.startswith(f"{name}/")] for name in folders}


def read_key_pages(
    name: str,
    notes: list[str],
    caps: Caps = EVERYTHING,
    *,
    max_keys: int | None = None,
    stand_ins: bool = False,
) -> Iterator[KeyPage]:
    """The key pages of a TECO folder or of JSON lines; `notes` gets what had to be left out.

    Of JSON lines only the sites that `caps` leave are used, of a folder all. Of a site in JSON
    lines that names no key pages, `max_keys` are taken, spread evenly. With `stand_ins` a link to
    a page that JSON lines lack leads to another page of the site: so a site of which some pages
    were saved answers more like one on the web.

    Raises UsageError where there is no key page at all, SourceError for damaged JSON lines.
    """
    is_empty = True
    root = Path(name)
    is_folder = root.is_dir()
    pages = (
        _read_folders(root, notes)
        if is_folder
        else _read_records(open_corpus(name, caps), notes, max_keys, stand_ins=stand_ins)
    )
    for page in pages:
        is_empty = False
        yield page
    if is_empty:
        raise UsageError(f"{name}: no key page; TECO marks them with the class TECO_notTemplate")


def _read_records(
    corpus: Corpus, notes: list[str], max_keys: int | None, *, stand_ins: bool
) -> Iterator[KeyPage]:
    """The key pages of JSON lines, site by site; where a site names none, all its pages."""
    for site, group in groupby(corpus.records(), key=lambda record: str(record.get("site"))):
        if not corpus.has_site(site):
            continue
        records = list(group)
        makers = {record["url"]: _record_maker(record) for record in records}
        pages = _Pages(makers, stand_ins=stand_ins)
        judged = [record for record in records if record.get("content_nodes") is not None]
        for record in [record for record in judged if record.get("key")] or _spread(
            judged, max_keys
        ):
            tree = pages.load(record["url"])
            roots, excluded = record["content_nodes"], record.get("excluded_nodes") or ()
            gold = None if tree is None else node_gold(tree, roots, excluded)
            content = None if tree is None else nodes_inside(tree, roots, excluded)
            if tree is None or gold is None or content is None:
                notes.append(f"{record['url']}: its gold does not fit the page; left out")
                continue
            kinds = (record.get(name) for name in ("type", "genre", "generator"))
            kind = str(next(filter(None, kinds), NO_TYPE))
            yield KeyPage(site, kind, tree, gold, pages.load, content, content)


def _spread(records: Sequence[Any], most: int | None) -> Sequence[Any]:
    """So many of the records at most, evenly out of all."""
    count = len(records) if most is None else min(most, len(records))
    return [records[(2 * place + 1) * len(records) // (2 * count)] for place in range(count)]


def _record_maker(record: Mapping[str, Any]) -> Callable[[], Tree]:
    """A call that parses the page of a record."""
    return lambda: parse(Page(record["html"], record["url"], record.get("site"))).tree


class _Pages:
    """The pages of a site by URL, parsed when they are first asked for.

    Another page may stand in for one that is not there; the URL decides which, the same each time.
    """

    def __init__(
        self, makers: Mapping[str, Callable[[], Tree]], *, stand_ins: bool = False
    ) -> None:
        self._makers = {normal_url(url): maker for url, maker in makers.items()}
        self._stand_ins = tuple(self._makers) if stand_ins else ()
        self._trees: dict[str, Tree | None] = {}

    def load(self, url: str) -> Tree | None:
        """The page at the URL; None if there is none, or none that can be used."""
        address = normal_url(url)
        if self._stand_ins and address not in self._makers:
            address = self._stand_ins[crc32(address.encode()) % len(self._stand_ins)]
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
    told = _read_json(root / "sites.json")
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        if told:
            facts = told.get(folder.name) or {}
            keys = {facts["key"]: None} if facts.get("key") else {}
            yield from _read_site(folder, str(facts.get("type") or NO_TYPE), keys, notes)
        else:
            printed = printed_pages().get(folder.name, ())
            kind = printed[0].type if printed else NO_TYPE
            by_name = {page.path.partition("/")[2]: page for page in printed}
            yield from _read_site(folder, kind, by_name, notes)


def _read_site(
    folder: Path, kind: str, keys: Mapping[str, Printed | None], notes: list[str]
) -> Iterator[KeyPage]:
    """The key pages of one saved site: those named, or without one of these all that have marks."""
    urls = _read_json(folder / "index.json")
    names = [name for name in find_files(folder) if isinstance(name, str)]
    url_of = {name: str(urls.get(name) or file_url(name)) for name in names}
    pages = _Pages({url: _file_maker(folder, name, url) for name, url in url_of.items()})
    named = [name for name in names if unquote(name) in keys]
    missing = [key for key in keys if key not in map(unquote, named)]
    if missing:
        rest = "left out" if named else "all its pages are looked at for marks"
        notes.append(f"{folder}: no {', '.join(missing)} in it; {rest}")
    for name in named or names:
        try:
            key = _read_key(_read_page(folder, name, url_of[name]), kind, pages)
        except (PageError, SourceError) as fault:
            notes.append(f"{fault}; left out")
            continue
        if key is not None:
            yield replace(key, printed=keys.get(unquote(name)))
        elif named:
            notes.append(f"{folder / name}: no mark of the TECO suite on it; left out")


def _file_maker(folder: Path, name: str, url: str) -> Callable[[], Tree]:
    """A call that parses the page in a file, without marks."""
    return lambda: strip_marks(_read_page(folder, name, url))[0]


def _read_key(page: Page, kind: str, pages: _Pages) -> KeyPage | None:
    """The page with what its marks say; None without any.

    Raises PageError, SourceError for a page that is read otherwise without its marks.
    """
    if not is_marked(page):
        return None
    tree, marks = strip_marks(page)
    if not marks.not_template:
        return None
    gold = node_gold(tree, marks.not_template, ())
    rest, content, menu = (nodes_inside(tree, paths, ()) if paths else None for paths in marks)
    if gold is None or rest is None:
        raise SourceError(f"{page.site}: {page.url} is read otherwise without its marks")
    return KeyPage(page.site or "", kind, tree, gold, pages.load, rest, content, menu)


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
