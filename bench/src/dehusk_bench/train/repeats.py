"""Sites made of the pages of others, on which content comes back.

A manual explains the same options on many pages, a class inherits what another one has: such
content looks like a template to a memory that counts. So pieces of a site's content are put into
the content of its other pages, as content. And since a disclaimer, or a box, stands within the
content too, prose of other sites is put there as well, as template, on most pages of a site.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

import numpy as np

from dehusk.page import tags
from dehusk.page.tree import Flags
from dehusk_bench.train.harder import ReadPage, dice_of, main_of, nodes_of, with_added
from dehusk_bench.train.lessons import GoldReading

_PIECES: Final = tags.numbers(
    "div", "section", "p", "dl", "table", "ul", "ol", "li", "pre", "blockquote", "article",
    "details",
)  # fmt: skip
_PROSE: Final = tags.numbers("p", "div", "blockquote")
_MIN_LENGTH, _MAX_LENGTH, _MAX_PROSE = 60, 2500, 600
_MIN_PAGES, _MAX_PAGES = 5, 14
"""Pages a site must have, and pages that are made of it."""
_SITES: Final = 0.5
"""The share of sites of which one is made where content comes back, and of which one is made where
template stands within it."""
_MOST_PIECES: Final = (9, 32)
"""Of content: what comes back is a part of each page, or most of it."""
_CONTENT_SHARES: Final = (0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 1.0)
_TEMPLATE_SHARES: Final = (0.6, 0.8, 1.0, 1.0)
"""On how many of the pages a piece is put. What most pages say within their content, in a short
piece of prose, is template; what a part of them says is not."""


def repeated_pages(
    pages: Sequence[GoldReading], fold: Sequence[int], seed: int
) -> list[tuple[GoldReading, int]]:
    """Pages into whose content some was put that other pages of the site have, or all.

    Each with its fold; those of a site stand together.
    """
    prose = _prose_of(pages, fold, seed)
    found: list[tuple[GoldReading, int]] = []
    of_site = groupby(zip(pages, fold, strict=True), lambda each: (each[0].corpus, each[0].site))
    for (_, site), group in of_site:
        own = [(page, int(number)) for page, number in group if _has_content(page)]
        if len(own) < _MIN_PAGES:
            continue
        dice = dice_of(f"repeats {seed} {site}")
        if dice.random() < _SITES:
            most = dice.choice(_MOST_PIECES)
            pool = [
                (piece, page.number)
                for page, _ in own[:: max(1, len(own) // 8)][:8]
                for piece in _pieces(page, _PIECES, _MAX_LENGTH, 3 + most // 8, seed)
            ]
            chosen = dice.sample(pool, min(len(pool), dice.randint(most // 4, most)))
            found += _made_site(
                own, "*", chosen, dice.choice(_CONTENT_SHARES), seed, is_content=True
            )
        if dice.random() < _SITES:
            foreign = [piece for other, piece in prose.get(own[0][1], []) if other != site]
            chosen = [(piece, -1) for piece in dice.sample(foreign, min(len(foreign), 2))]
            share = dice.choice(_TEMPLATE_SHARES)
            found += _made_site(
                own, "!", chosen[: dice.randint(1, 2)], share, seed, is_content=False
            )
    return found


def _has_content(page: GoldReading) -> bool:
    return not np.isnan(page.gold.content_words) and bool(page.gold.hits.any())


def _prose_of(
    pages: Sequence[GoldReading], fold: Sequence[int], seed: int
) -> dict[int, list[tuple[str, bytes]]]:
    """By fold, paragraphs of the first page of each site."""
    found: dict[int, list[tuple[str, bytes]]] = {}
    for page, number in zip(pages, fold, strict=True):
        if page.number == 1 and _has_content(page):
            pieces = _pieces(page, _PROSE, _MAX_PROSE, 1, seed)
            found.setdefault(int(number), []).extend((page.site, piece) for piece in pieces)
    return found


def _pieces(page: GoldReading, allowed: Flags, longest: int, most: int, seed: int) -> list[bytes]:
    """The HTML of some elements that hold nothing but content."""
    tree, gold = page.tree, page.gold
    read_page = ReadPage(tree, page.reading, gold)
    other = tree.sums(nodes_of(read_page, (gold.hits < 0.9 * gold.words) | ~gold.known))
    content = tree.sums(nodes_of(read_page, gold.hits > 0))
    length = tree.text_length
    fits = (other == 0) & (content > 0) & allowed[tree.tag] & tree.shown
    fits &= (length >= _MIN_LENGTH) & (length <= longest)
    outer: list[int] = []
    for node in np.flatnonzero(fits).tolist():
        if not outer or node >= tree.end[outer[-1]]:
            outer.append(node)
    chosen = dice_of(f"{seed} {tree.url}").sample(outer, min(most, len(outer)))
    return [tree.source[tree.start[node] : tree.close[node]] for node in sorted(chosen)]


def _made_site(
    pages: Sequence[tuple[GoldReading, int]],
    mark: str,
    pieces: Sequence[tuple[bytes, int]],
    share: float,
    seed: int,
    *,
    is_content: bool,
) -> list[tuple[GoldReading, int]]:
    """The pages with the pieces put in, each piece on that share of them, but not on its own page.

    Pages that get none stay as they are. At the end, in the middle, or anywhere: on all pages of a
    site alike.
    """
    if not pieces:
        return []
    site = pages[0][0].site
    style = dice_of(f"style {seed} {site}{mark}").choice(("end", "end", "middle", "spread"))
    found: list[tuple[GoldReading, int]] = []
    for page, fold in pages[:_MAX_PAGES]:
        read_page = ReadPage(page.tree, page.reading, page.gold)
        spots = _spots(read_page)
        dice = dice_of(f"{seed} {site}{mark} {page.number}")
        added: dict[int, bytes] = {}
        for html, own in pieces:
            if spots and own != page.number and dice.random() < share:
                spot = {"end": spots[-1], "middle": spots[len(spots) // 2]}.get(style)
                spot = dice.choice(spots) if spot is None else spot
                added[spot] = added.get(spot, b"") + html
        made = with_added(read_page, added, is_content=is_content) if added else read_page
        if made is not None:
            again = replace(page, site=f"{site}{mark}", number=len(found) + 1, tree=made.tree)
            found.append((replace(again, reading=made.reading, gold=made.gold), fold))
    return found


def _spots(page: ReadPage) -> list[int]:
    """Where something may be put between the parts of the content, and behind them."""
    tree = page.tree
    content = tree.sums(nodes_of(page, page.gold.hits > 0))
    inside = (tree.parent == main_of(page)) & (content > 0) & ~tree.is_text
    return [int(tree.close[node]) for node in np.flatnonzero(inside).tolist()]
