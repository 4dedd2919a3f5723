"""Real pages in each other's templates: the content of one page in the place of another's.

Nobody has the same texts on many real sites, nor sites that write of several topics under one
template, which tables 2 and 3 of 003 ask for. Both can be made of real pages whose gold says where
their content stands: a *host* gives the page, a *story* its content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

import numpy as np

from dehusk.doors.service.gold import nodes_inside
from dehusk.errors import PageError, UsageError
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk_bench.corpora import EVERYTHING, Corpus, GoldPage
from dehusk_bench.quality.scoring import words

_MIN_WORDS: Final = 50
"""A story has so many words at least: a page of one line is like every other."""

Site = Sequence[GoldPage]


def dress_stories(corpus: Corpus, hosts: int) -> Corpus:
    """So many sites that all print the same stories, one of each other site, under its own address.

    Raises UsageError where the corpus has too few sites for that.
    """
    sites = list(_sites(corpus))
    if len(sites) < 2 * hosts:
        raise UsageError(
            f"--dressed {hosts}: {corpus.name} has {len(sites)} sites that can be used"
        )
    sites.sort(key=len, reverse=True)
    chosen, others = sites[:hosts], sites[hosts:]
    count = min(len(others), *map(len, chosen))
    stories = [site[number % len(site)] for number, site in enumerate(others[:count])]
    dressed = [
        [(page, story, story.site) for page, story in zip(host, stories, strict=False)]
        for host in chosen
    ]
    return _corpus(corpus, dressed)


def dress_topics(corpus: Corpus, hosts: int) -> Corpus:
    """So many sites that all write of the same topics, which are the genres of other sites.

    What a host prints of a genre comes from one site, which no other host has: no word of a story
    is in another's template or text. Genres without a site for each host give the hosts. Raises
    UsageError where there are too few of either.
    """
    by_genre: dict[str, list[Site]] = {}
    for site in _sites(corpus):
        if site[0].genre is not None:
            by_genre.setdefault(site[0].genre, []).append(site)
    topics = {genre: sites for genre, sites in by_genre.items() if len(sites) >= hosts}
    rest = [site for genre, sites in by_genre.items() if genre not in topics for site in sites]
    chosen = sorted(rest, key=len, reverse=True)[:hosts]
    if len(topics) < 2 or len(chosen) < hosts:
        raise UsageError(
            f"--dressed {hosts}: {corpus.name} has {len(topics)} genres of so many sites, and"
            f" {len(rest)} sites of others"
        )
    each = min(map(len, chosen)) // len(topics)
    dressed = []
    for number, host in enumerate(chosen):
        stories = [
            (page, genre) for genre, sites in topics.items() for page in sites[number][:each]
        ]
        pairs = zip(host, stories, strict=False)
        dressed.append([(page, story, genre) for page, (story, genre) in pairs])
    return _corpus(corpus, dressed)


def _sites(corpus: Corpus) -> Iterator[Site]:
    """The pages of each site that have enough content, and whose gold can be found in them."""
    for _, pages in groupby(corpus.pages(), attrgetter("site")):
        site = [page for page in pages if page.content_nodes and _is_long(page) and _is_sound(page)]
        if site:
            yield site


def _is_long(page: GoldPage) -> bool:
    return page.content is not None and len(words(page.content)) >= _MIN_WORDS


def _is_sound(page: GoldPage) -> bool:
    """Can the page be read, and do the paths of its gold lead anywhere?"""
    try:
        tree = parse(page.page).tree
    except PageError:
        return False
    return nodes_inside(tree, page.content_nodes or (), page.excluded_nodes) is not None


def _corpus(corpus: Corpus, dressed: Sequence[Sequence[tuple[GoldPage, GoldPage, str]]]) -> Corpus:
    """The dressed pages as a corpus; each is made when it is read."""

    def records() -> Iterator[dict[str, Any]]:
        for pairs in dressed:
            for host, story, subject in pairs:
                yield {
                    "site": host.site, "url": host.page.url, "html": dress(host, story),
                    "content": story.content, "subject": subject,
                }  # fmt: skip

    return replace(corpus, name=f"{corpus.name}, dressed", records=records, caps=EVERYTHING)


def dress(host: GoldPage, story: GoldPage) -> str:
    """The host's page with the story's content instead of its own.

    What the host shows among its content without it being content (buttons, links to other pages)
    stays, behind the story; what the story's page shows so goes.
    """
    tree = parse(host.page).tree
    roots = sorted(_node(tree, path) for path in host.content_nodes or ())
    kept = [tree.source[slice(*_span(tree, path))] for path in host.excluded_nodes]
    pieces, done = [], 0
    for number, root in enumerate(roots):
        start, end = int(tree.start[root]), int(tree.close[root])
        if number == 0:
            start, end = int(tree.stop[root]), tree.source.rfind(b"</", 0, end)
        pieces.append(tree.source[done:start])
        pieces += [_content(story), *kept] if number == 0 else []
        done = end
    return b"".join([*pieces, tree.source[done:]]).decode("utf-8", "replace")


def _content(story: GoldPage) -> bytes:
    """The HTML of a page's content, without what is excluded from it."""
    tree = parse(story.page).tree
    holes = sorted(_span(tree, path) for path in story.excluded_nodes)
    pieces = []
    for start, end in sorted(_span(tree, path) for path in story.content_nodes or ()):
        done = start
        for hole, hole_end in holes:
            if done <= hole < end:
                pieces.append(tree.source[done:hole])
                done = hole_end
        pieces.append(tree.source[done:end])
    return b"".join(pieces)


def _span(tree: Tree, path: tuple[int, ...]) -> tuple[int, int]:
    """Where an element begins and ends in the tree's source."""
    node = _node(tree, path)
    return int(tree.start[node]), int(tree.close[node])


def _node(tree: Tree, path: tuple[int, ...]) -> int:
    """The element at a path that leads somewhere."""
    inside = nodes_inside(tree, [path], ())
    assert inside is not None
    return int(np.argmax(inside))
