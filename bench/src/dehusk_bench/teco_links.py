"""Which links Algorithms 1 and 2 of 000 choose: where they lead, and where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Final

import numpy as np

from dehusk.methods.papers.hyperlink import Hyperlink, detect, normal_url
from dehusk.methods.papers.hyperlink.addresses import Addresses
from dehusk.methods.papers.hyperlink.links import (
    find_links,
    hyperlink_distance,
    hyperlink_words,
    sort_links,
)
from dehusk_bench.corpora import Watcher, watch_nothing
from dehusk_bench.tables import number, table
from dehusk_bench.teco_pages import KeyPage

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
