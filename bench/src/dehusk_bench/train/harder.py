"""Pages made harder on purpose: menus, comments, teasers and footers of other sites put into them,
or whole articles behind their own.

What is put in is template, all else keeps its gold. A page and what is put into it come from the
same fold, or a network would be tested on what it was fitted to.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from html import escape
from typing import Final

import numpy as np

from dehusk import _kernel
from dehusk.errors import PageError
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Tree
from dehusk_bench.quality.scoring import words
from dehusk_bench.train.gold import BlockGold
from dehusk_bench.train.lessons import GoldReading, read_plain


@dataclass(frozen=True, slots=True)
class Donor:
    """A piece of a page: one that holds no content, or its article."""

    html: bytes
    lang: str | None
    is_linked: bool
    """It is links for the most part, as a menu is."""
    url: str | None = None
    """Of the page whose article it is: it gets no copy of that."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage:
    """A page, as `auto` reads it, and its gold."""

    tree: Tree
    reading: _kernel.Reading
    gold: BlockGold


class Donors:
    """Donors by fold."""

    def __init__(self) -> None:
        self._of_fold: dict[int, list[Donor]] = {}

    def add(self, fold: int, donors: Iterable[Donor]) -> None:
        """Let pages of the fold have these."""
        self._of_fold.setdefault(fold, []).extend(donors)

    def pick(
        self, fold: int, lang: str | None, count: int, seed: str, url: str = ""
    ) -> list[Donor]:
        """So many donors of the fold at most, in the language where there are as many.

        None is the article of the page of that address.
        """
        donors = [donor for donor in self._of_fold.get(fold, []) if donor.url != url]
        same = [donor for donor in donors if donor.lang == lang]
        donors = same if len(same) >= count else donors
        return dice_of(seed).sample(donors, min(count, len(donors)))


_DONOR_PAGES: Final = 4
"""Pages of a site that give pieces: its later ones have the same."""
_NAMED_KINDS: Final = ("documentation", "reference")
"""Kinds of pages that get other names, and no pieces of other sites, which do not stand there."""
_ARTICLE_KINDS: Final = ("article", "news", "blog")
"""Kinds of pages behind which a site may append further articles."""
_FURTHER_SHARE, _COMMENTED_SHARE = 0.12, 0.3
"""The share of these that get some; and of the others, that get another page's comments."""


def harder_pages(
    pages: Sequence[GoldReading], fold: Sequence[int], seed: int
) -> list[tuple[GoldReading, int]]:
    """Of a third of each site's pages harder ones, each with its fold, as pages of sites anew."""
    donors, articles, comments = Donors(), Donors(), Donors()
    for page, own in zip(pages, fold, strict=True):
        if page.number <= _DONOR_PAGES:
            read_page = ReadPage(page.tree, page.reading, page.gold)
            donors.add(int(own), donors_of(read_page, page.lang, 3, seed))
            comments.add(int(own), comments_of(read_page, page.lang))
            if page.kind in _ARTICLE_KINDS:
                articles.add(int(own), article_of(read_page, page.lang))
    found = []
    for page, own in zip(pages, fold, strict=True):
        if (page.number - 1) % 3 == 0 and not np.isnan(page.gold.content_words):
            made = _with_behind(page, int(own), articles, comments, seed)
            made = made or _made(page, int(own), donors, seed)
            found += [(made, int(own))] if made is not None else []
    # Those of a site stand together, or it would be learned anew with each.
    return sorted(found, key=lambda each: (each[0].corpus, each[0].site))


def _with_behind(
    page: GoldReading, fold: int, articles: Donors, comments: Donors, seed: int
) -> GoldReading | None:
    """The page with further articles, or with comments, behind its own, as the dice have it."""
    own = f"{seed} further {page.site} {page.number}"
    dice = dice_of(own)
    if page.kind not in _ARTICLE_KINDS:
        return None
    if dice.random() < _FURTHER_SHARE:
        behind = articles.pick(fold, page.lang, dice.randint(1, 3), own, page.tree.url or "")
    elif dice.random() < _COMMENTED_SHARE:
        behind = comments.pick(fold, page.lang, 1, own, page.tree.url or "")
    else:
        return None
    made = append_pieces(ReadPage(page.tree, page.reading, page.gold), behind, seed)
    if made is None:
        return None
    return replace(page, site=f"{page.site}+", tree=made.tree, reading=made.reading, gold=made.gold)


def _made(page: GoldReading, fold: int, donors: Donors, seed: int) -> GoldReading | None:
    """The page with pieces put in, or with other names, or nothing, as the dice have it."""
    dice = dice_of(f"{seed} {page.site} {page.number}")
    read_page, site = ReadPage(page.tree, page.reading, page.gold), page.site
    if page.kind not in _NAMED_KINDS and dice.random() < 0.6:
        # Some of the pieces come again on the other pages of the site, as its own do.
        pieces = donors.pick(fold, page.lang, dice.randint(1, 2), f"{seed} {page.site}")
        pieces += donors.pick(
            fold, page.lang, dice.randint(1, 2), f"{seed} {page.site} {page.number}"
        )
        made, site = make_harder(read_page, pieces, seed), f"{page.site}+"
    elif dice.random() < 0.5:
        made, site = scramble_names(read_page, f"{seed} {page.site}"), f"{page.site}~"
    else:
        return None
    if made is None:
        return None
    return replace(page, site=site, tree=made.tree, reading=made.reading, gold=made.gold)


_BLOCKS: Final = tags.numbers(*tags.BLOCK)
_PIECES: Final = tags.numbers("div", "ul", "ol", "nav", "aside", "footer", "header", "section")
_PARENTS: Final = tags.numbers("div", "body", "main", "article", "section", "aside")
_SHORTEST, _LONGEST = 60, 6000
"""Characters of a piece: with less it is a label, with more the page would be another one."""


def donors_of(page: ReadPage, lang: str | None, most: int = 3, seed: int = 0) -> list[Donor]:
    """Pieces of a page without content: the largest elements of which all blocks are template."""
    tree, gold = page.tree, page.gold
    if np.isnan(gold.content_words):
        return []
    doubtful = nodes_of(page, (gold.hits > 0) | ~gold.known)
    is_free = tree.sums(doubtful) == 0
    length = tree.text_length
    fits = is_free & _PIECES[tree.tag] & (length >= _SHORTEST) & (length <= _LONGEST) & tree.shown
    places: list[int] = []
    for node in np.flatnonzero(fits).tolist():
        if not places or node >= tree.end[places[-1]]:
            places.append(node)
    places = dice_of(f"{seed} {tree.url}").sample(places, min(most, len(places)))
    return [
        Donor(
            tree.source[tree.start[node] : tree.close[node]],
            lang,
            bool(tree.link_length[node] > length[node] / 2),
        )
        for node in sorted(places)
    ]


_LARGEST_PIECE: Final = 30_000
"""Bytes of an article that is appended, or of all comments."""
_FEWEST_WORDS: Final = 40
"""Of all comments of a page that gives them to others."""
_APPENDED_AT: Final = 3
"""Elements behind one of which they are appended, from the main one upwards."""
_JOINTS: Final = re.compile(r"\s+[|–—·-]\s+")


def article_of(page: ReadPage, lang: str | None) -> list[Donor]:
    """The main element with an h1, which is made of the title where it has none; or nothing."""
    tree, gold = page.tree, page.gold
    if np.isnan(gold.content_words) or not gold.hits.any():
        return []
    node = main_of(page)
    start, stop, close = int(tree.start[node]), int(tree.stop[node]), int(tree.close[node])
    if tree.tag[node] == tags.NUMBERS["body"] or not 0 < close - start <= _LARGEST_PIECE:
        return []
    heading = b""
    if not np.any(tree.tag[node : tree.end[node]] == tags.NUMBERS["h1"]):
        titles = np.flatnonzero(tree.tag[tree.parent] == tags.NUMBERS["title"])
        says = max(_JOINTS.split(tree.text(int(titles[0]))), key=len) if len(titles) else ""
        if not says.strip():
            return []
        heading = f"<h1>{escape(says.strip())}</h1>".encode("utf-8", "replace")
    piece = tree.source[start:stop] + heading + tree.source[stop:close]
    return [Donor(piece, lang, is_linked=False, url=tree.url)]


def comments_of(page: ReadPage, lang: str | None) -> list[Donor]:
    """The smallest element that holds all comments, if it holds no content; or nothing."""
    tree, gold = page.tree, page.gold
    is_comment = gold.comments == 1
    if gold.words[is_comment].sum() < _FEWEST_WORDS:
        return []
    comments = tree.sums(nodes_of(page, is_comment))
    node = int(np.flatnonzero((comments == comments[0]) & ~tree.is_text)[-1])
    start, close = int(tree.start[node]), int(tree.close[node])
    has_content = tree.sums(nodes_of(page, gold.hits > 0))[node] > 0
    if has_content or not _PIECES[tree.tag[node]] or not 0 < close - start <= _LARGEST_PIECE:
        return []
    return [Donor(tree.source[start:close], lang, is_linked=False, url=tree.url)]


def make_harder(page: ReadPage, donors: Sequence[Donor], seed: int) -> ReadPage | None:
    """The page with these pieces put in, before, between, behind and below its content.

    Half of them with other names. None where a page without content, or one that reads otherwise
    than expected, cannot be made harder.
    """
    tree = page.tree
    dice = dice_of(f"{seed} {tree.url}")
    spots = _spots(page)
    if not spots:
        return None
    added: dict[int, bytes] = {}
    for donor in donors:
        piece = donor.html
        if dice.random() < 0.5:
            piece = _renamed(piece, f"{seed} {tree.url}")
        spot = dice.choice(spots)
        added[spot] = added.get(spot, b"") + piece
    return with_added(page, added)


def append_pieces(page: ReadPage, pieces: Sequence[Donor], seed: int) -> ReadPage | None:
    """The page with these behind its content: articles, as sites do whose pages scroll on without
    end, or comments.

    They stand behind the main element, or behind what that stands in. None as `make_harder`.
    """
    tree = page.tree
    if np.isnan(page.gold.content_words) or not page.gold.hits.any() or not pieces:
        return None
    node = main_of(page)
    last = int(np.flatnonzero(nodes_of(page, page.gold.hits > 0))[-1])
    spots: list[int] = []
    while (parent := int(tree.parent[node])) > 0 and len(spots) < _APPENDED_AT:
        if _PARENTS[tree.tag[parent]] and tree.end[node] > last:
            spots.append(int(tree.close[node]))
        node = parent
    if not spots:
        return None
    spot = dice_of(f"{seed} {tree.url}").choice(spots)
    return with_added(page, {spot: b"".join(piece.html for piece in pieces)})


def with_added(
    page: ReadPage, added: dict[int, bytes], *, is_content: bool = False
) -> ReadPage | None:
    """The page with HTML put in at these places of its source: as template, or as content."""
    tree = page.tree
    pieces, ranges, at, length = [], [], 0, 0
    for spot in sorted(added):
        pieces += [tree.source[at:spot], added[spot]]
        length += spot - at
        ranges.append((length, length + len(added[spot])))
        length += len(added[spot])
        at = spot
    return _read_again(page, b"".join((*pieces, tree.source[at:])), ranges, is_content=is_content)


def scramble_names(page: ReadPage, seed: str) -> ReadPage | None:
    """The page with all classes and ids replaced by others, the same name always by the same.

    `seed` should be the site's, so that its pages still share their names.
    """
    return _read_again(page, _renamed(page.tree.source, seed), [])


def dice_of(seed: str) -> random.Random:
    """Dice that fall the same on every run."""
    return random.Random(seed)  # noqa: S311  the same on every run, no secret


def nodes_of(page: ReadPage, blocks: Flags) -> Flags:
    """True for the text nodes of these blocks."""
    found = np.zeros(len(page.tree), np.bool_)
    found[np.asarray(page.reading.segments)] = blocks[np.asarray(page.reading.owners)]
    return found


_MOST: Final = 0.8


def main_of(page: ReadPage) -> int:
    """The smallest element that may hold others and holds most of the content, of which is some."""
    tree = page.tree
    content = tree.sums(np.where(nodes_of(page, page.gold.hits > 0), tree.text_length, 0))
    main = int(np.flatnonzero((content >= _MOST * content[0]) & ~tree.is_text)[-1])
    while not _PARENTS[tree.tag[main]] and tree.parent[main] > 0:
        main = int(tree.parent[main])
    return main


def _spots(page: ReadPage) -> list[int]:
    """Where something may be put in: around the content, and between its parts."""
    tree, gold = page.tree, page.gold
    if np.isnan(gold.content_words) or not gold.hits.any():
        return []
    content, main = tree.sums(nodes_of(page, gold.hits > 0)), main_of(page)
    inside = (tree.parent == main) & (content > 0) & _BLOCKS[tree.tag]
    spots = [int(tree.close[node]) for node in np.flatnonzero(inside).tolist()]
    parent = int(tree.parent[main])
    if parent > 0 and _PARENTS[tree.tag[parent]]:
        spots += [int(tree.start[main]), int(tree.close[main])] * 2
    return spots


_NAMES: Final = re.compile(rb'( (?:class|id)=")([^"]*)')
_TAG: Final = re.compile(rb"<[a-zA-Z][^<>]*>")


def _renamed(html: bytes, seed: str) -> bytes:
    """The HTML with other classes and ids."""
    key = blake2b(seed.encode(), digest_size=16).digest()

    def rename(match: re.Match[bytes]) -> bytes:
        names = [
            b"n" + blake2b(name, digest_size=4, key=key).hexdigest().encode()
            for name in match[2].split()
        ]
        return match[1] + b" ".join(names)

    return _TAG.sub(lambda tag: _NAMES.sub(rename, tag[0]), html)


def _read_again(
    page: ReadPage, html: bytes, added: list[tuple[int, int]], *, is_content: bool = False
) -> ReadPage | None:
    """The page as it reads with this HTML, of which what stands in the ranges was added."""
    try:
        tree = parse(Page(html, page.tree.url, charset="utf-8")).tree
    except PageError:
        return None
    reading = read_plain(tree)
    if tree.source != html:
        return None
    first = tree.start[np.asarray(reading.segments)[np.asarray(reading.first)]]
    is_added = np.zeros(len(reading), np.bool_)
    for start, stop in added:
        is_added |= (first >= start) & (first < stop)
    old = np.flatnonzero(~is_added)
    if len(old) != len(page.reading):
        return None
    gold = _spread(page, tree, reading, is_added)
    if is_content:
        said = np.where(is_added, gold.words, 0)
        comments = np.where(is_added, 0.0, gold.comments)
        content_words = gold.content_words + float(said.sum())
        gold = gold._replace(hits=gold.hits + said, comments=comments, content_words=content_words)
    return ReadPage(tree, reading, gold)


def _spread(page: ReadPage, tree: Tree, reading: _kernel.Reading, is_added: Flags) -> BlockGold:
    """The gold of the blocks that were there, and of those that were added."""
    gold, old = page.gold, np.flatnonzero(~is_added)
    counts = np.zeros(len(is_added))
    counts[old] = gold.words
    owner, segments = np.asarray(reading.owners), np.asarray(reading.segments)
    for place in np.flatnonzero(is_added[owner]).tolist():
        counts[owner[place]] += len(words(tree.text(int(segments[place]))))
    hits = np.zeros(len(is_added))
    known, counted = is_added.copy(), is_added.copy()
    comments = np.full(len(is_added), np.nan)
    hits[old], known[old], counted[old], comments[old] = (
        gold.hits, gold.known, gold.counted, gold.comments,
    )  # fmt: skip
    return gold._replace(
        words=counts,
        hits=hits,
        known=known,
        counted=counted,
        comments=comments,
        values=tuple(old[holders] for holders in gold.values),
        dropped=tuple(old[holders] for holders in gold.dropped),
    )
