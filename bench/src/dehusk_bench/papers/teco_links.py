"""Which links of key pages are chosen, and what the links of their menus lead to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Final

import numpy as np

from dehusk.methods.papers.hyperlink import Equality, Hyperlink, detect, normal_url
from dehusk.methods.papers.hyperlink.addresses import Addresses, host_of
from dehusk.methods.papers.hyperlink.links import (
    find_links,
    find_menu,
    hyperlink_distance,
    hyperlink_words,
    sort_links,
)
from dehusk.methods.papers.hyperlink.mapping import Mapper
from dehusk.methods.papers.hyperlink.vote import mapped_nodes, same_nodes
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import Watcher, watch_nothing
from dehusk_bench.papers.teco_pages import KeyPage
from dehusk_bench.tables import number, table

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


_HEAD: Final = tags.NUMBERS["head"]
_MIN_WHOLE: Final = 0.95
"""Share of the template that a page must have to have it whole: people, who made table 6.3, do not
see an element that maps to nothing because its classes name the open page."""
_MIN_PART: Final = 0.1
"""Share below which it has none of it: `<html>`, `<body>` and a frame map to those of any page."""


@dataclass(frozen=True, slots=True)
class Menu:
    """One line of table 6.3 of the thesis: links of the menu, by what they lead to."""

    site: str
    url: str
    is_marked: bool
    """By TECO's mark; else it is the element that `hyperlink` takes for the menu."""
    links: int = 0
    """VL: pages of the site that the menu links, without the key page."""
    whole: int = 0
    """TT: those that have the template of the key page, all of it."""
    part: int = 0
    """PT: some of it."""
    none: int = 0
    """DT: none of it."""
    absent: int = 0
    """Those that are not there to be looked at."""
    printed: tuple[int, ...] = ()
    """VL, TT, PT and DT in the thesis."""


def menu_links(
    keys: Iterable[KeyPage], method: Hyperlink, *, on_page: Watcher = watch_nothing
) -> list[Menu]:
    """The menu of each key page that has template, its links by kind."""
    found = []
    for done, key in enumerate(keys, 1):
        if key.gold.template.any():
            found.append(_menu(key, method))
        on_page(key.site, done)
    return found


def _menu(key: KeyPage, method: Hyperlink) -> Menu:
    """The links of one key page's menu. Two nodes are the same as the method has it."""
    tree, domain = key.tree, host_of(key.tree.url or "")
    urls = [url for url in _menu_targets(key, method) if host_of(url) == domain]
    mapper = Mapper(tree, method.rules) if method.equality == Equality.PAPER else None
    kinds: Counter[str] = Counter(links=len(urls))
    for url in urls:
        page = key.load(url)
        if page is None:
            kinds["absent"] += 1
            continue
        if mapper is None:
            has = same_nodes(tree, page)
        else:
            has = mapped_nodes(mapper, tree, page, moved=method.moved)
        share = np.count_nonzero(has & key.gold.template) / np.count_nonzero(key.gold.template)
        kinds["whole" if share >= _MIN_WHOLE else "part" if share >= _MIN_PART else "none"] += 1
    printed = key.printed.links if key.printed else ()
    return Menu(key.site, tree.url or "", key.menu is not None, **kinds, printed=printed)


def _menu_targets(key: KeyPage, method: Hyperlink) -> dict[str, int]:
    """The pages that the menu links. A link that stands elsewhere too counts as the menu's."""
    tree, menu = key.tree, key.menu
    if menu is None:
        menu = np.zeros(len(tree), np.bool_)
        found = find_menu(tree, find_links(tree, Addresses()).inside, method.size + 1)
        menu[found.start : found.stop] = True
    roots = menu & ~np.concatenate((menu[:1] & False, menu[tree.parent[1:]]))
    # With the page's head: a `<base>` in it says what links are relative to.
    nodes = np.flatnonzero(roots | (tree.tag == _HEAD)).tolist()
    html = b"".join(tree.source[tree.start[node] : tree.close[node]] for node in nodes)
    return Addresses().targets(parse(Page(html, tree.url, key.site, "utf-8")).tree)


def menu_table(menus: Sequence[Menu], *, with_rows: bool, markdown: bool) -> str:
    """Table 6.3 of the thesis: all menus, then each if asked for, with what it prints itself."""
    names = ("links", "whole", "part", "none", "absent")
    rows = [["all", *(str(sum(getattr(menu, name) for menu in menus)) for name in names)]]
    if with_rows:
        rows += [
            [f"{menu.site} {place}", *(str(getattr(menu, name)) for name in names)]
            for place, menu in enumerate(menus, 1)
        ]
    header = ["menu of", "VL", "TT", "PT", "DT", "absent"]
    if any(menu.printed for menu in menus):
        header += [f"{name} in 000" for name in header[1:5]]
        lines = [
            tuple(map(sum, zip(*(menu.printed for menu in menus if menu.printed), strict=True)))
        ]
        lines += [menu.printed for menu in menus] if with_rows else []
        for row, printed in zip(rows, lines, strict=True):
            row.extend(map(str, printed) if printed else ["–"] * 4)
    return table(header, rows, markdown=markdown)
