"""Crawls of a site that something disturbs: pages that do not belong to it, copies, and the like.

Each disturbance is a function that makes a page of what there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from random import Random
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from dehusk.errors import PageError
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk_bench.corpora import GoldPage
from dehusk_bench.quality.scoring import WORD, find_phrases, words

SHARES: Final = (0.1, 0.25, 0.5, 0.75)
MANY: Final = (0.5, 0.75, 0.9)
PLANTED_SHARES: Final = (0.05, 0.2)
_NOISE_LINES: Final = 60
_NOISE_WORDS: Final = 12
_COPIED, _VARIED, _NEXT_VERSION = 0.1, 0.25, 0.03
"""The share of a page's words that is changed in a copy, a variant and a version of it."""
_VERSIONS: Final = 10
_SECTIONS, _SECTION_WORDS = 6, 80
_PARAGRAPH: Final = tags.numbers("p")


class Kind(StrEnum):
    """What is mixed in."""

    NONE = "none"
    FOREIGN = "foreign"
    NOISE = "noise"
    COPIES = "copies"
    VARIANTS = "variants"
    VERSIONS = "versions"
    SECTIONS = "sections"
    PLANTED = "planted"
    """The texts of the next page in reverse order: what it says stands where menus and footers do,
    and these stand where it says something."""


Mix = tuple[Kind, float]


class MixedPage(NamedTuple):
    """A page of a disturbed crawl."""

    page: Page
    gold: GoldPage | None = None
    """The own page whose content it has; None where it has that of none."""
    is_own: bool = False
    changed: Mapping[str, str] = {}
    """What it says instead of which words, wherever they stand."""
    added: Sequence[str] = ()
    """Words that it says besides, as content."""


MIXES: Final[tuple[Mix, ...]] = (
    (Kind.NONE, 0.0),
    *((kind, share) for kind in (Kind.FOREIGN, Kind.NOISE) for share in SHARES),
    *((kind, share) for kind in (Kind.COPIES, Kind.VARIANTS, Kind.VERSIONS) for share in MANY),
    *((Kind.SECTIONS, share) for share in SHARES[1:]),
    *((Kind.PLANTED, share) for share in PLANTED_SHARES),
)


class Scene(NamedTuple):
    """What a page that does not belong is made of."""

    golds: Sequence[GoldPage]
    others: Sequence[GoldPage]
    """The pages of another site."""
    following: GoldPage
    """The own page that comes next."""
    number: int
    """How many pages that do not belong there are so far, this one included."""
    dice: Random

    def page(self, gold: GoldPage, html: str) -> Page:
        """The HTML at a URL of its own."""
        return replace(gold.page, html=html, url=f"https://{gold.site}/?number={self.number}")


def mixed(golds: Sequence[GoldPage], others: Sequence[GoldPage], mix: Mix) -> Iterator[MixedPage]:
    """The site's pages with others before them, so many that these have their share of all so far,
    rounded; or with each of some sections on that share of them."""
    kind, share = mix
    dice = Random(5)  # noqa: S311  nothing secret
    if kind is Kind.SECTIONS:
        sections = _sections(others)
        yield from (_with_sections(gold, sections, share, dice) for gold in golds)
        return
    due = 0.5
    number = 0
    for gold in golds:
        due += share / (1 - share)
        while kind is not Kind.NONE and due >= 1:
            due -= 1
            number += 1
            yield _MAKERS[kind](Scene(golds, others, gold, number, dice))
        yield MixedPage(gold.page, gold, is_own=True)


def _foreign(scene: Scene) -> MixedPage:
    other = scene.others[scene.number % len(scene.others)]
    return MixedPage(scene.page(scene.following, other.html))


def _noise(scene: Scene) -> MixedPage:
    lines = (
        " ".join(f"{scene.dice.getrandbits(40):x}" for _ in range(_NOISE_WORDS))
        for _ in range(_NOISE_LINES)
    )
    html = "<!doctype html><title>x</title><p>" + "<p>".join(lines)
    return MixedPage(scene.page(scene.following, html))


def _copy(scene: Scene) -> MixedPage:
    """Some page of the site again, often one of the first: as it is, or with a counter, a date or
    other words; at times at its own URL."""
    number = scene.number
    gold = scene.golds[int(len(scene.golds) * scene.dice.random() ** 3)]
    html = gold.html
    changed: dict[str, str] = {}
    if number % 4 == 1:
        html = _with_piece(gold, f"<p>{number:,} views</p>") or html
    elif number % 4 == 2:
        html = _with_piece(gold, f"<p>{2000 + number}-05-{1 + number % 28:02}</p>") or html
    elif number % 4 == 3:
        html, changed = _with_other_words(gold, _COPIED, scene.dice)
    page = scene.page(gold, html)
    if number % 3 == 0:
        page = replace(page, url=gold.page.url)
    return MixedPage(page, gold, changed=changed)


def _variant(scene: Scene) -> MixedPage:
    gold = scene.following
    html, changed = _with_other_words(gold, _VARIED, scene.dice)
    return MixedPage(scene.page(gold, html), gold, changed=changed)


def _version(scene: Scene) -> MixedPage:
    gold = scene.following
    html, changed = _with_other_words(gold, _NEXT_VERSION, scene.dice)
    path = urlsplit(gold.page.url or "").path or "/"
    url = f"https://{gold.site}/v{scene.number % _VERSIONS + 1}{path}"
    return MixedPage(replace(gold.page, html=html, url=url), gold, changed=changed)


def _planted(scene: Scene) -> MixedPage:
    """The texts of the next page in reverse order."""
    tree = _tree(scene.following)
    texts = _texts(tree)
    moved = {
        node: tree.source[tree.start[other] : tree.stop[other]]
        for node, other in zip(texts, reversed(texts), strict=True)
    }
    return MixedPage(scene.page(scene.following, _with_texts(tree, moved)))


_MAKERS: Final[Mapping[Kind, Callable[[Scene], MixedPage]]] = {
    Kind.FOREIGN: _foreign, Kind.NOISE: _noise, Kind.COPIES: _copy, Kind.VARIANTS: _variant,
    Kind.VERSIONS: _version, Kind.PLANTED: _planted,
}  # fmt: skip


def _sections(others: Sequence[GoldPage]) -> list[list[str]]:
    """Words that pages of another site say, in pieces."""
    said = (word for gold in others for word in words(gold.content or ""))
    return [list(islice(said, _SECTION_WORDS)) for _ in range(_SECTIONS)]


def _with_sections(
    gold: GoldPage, sections: Sequence[Sequence[str]], share: float, dice: Random
) -> MixedPage:
    """An own page, which has each of the sections with this probability."""
    chosen = [section for section in sections if dice.random() < share]
    html = _with_piece(
        gold,
        "".join(f"<h2>{' '.join(each[:4])}</h2><p>{' '.join(each[4:])}.</p>" for each in chosen),
    )
    if html is None:
        return MixedPage(gold.page, gold, is_own=True)
    added = [word for section in chosen for word in section]
    return MixedPage(replace(gold.page, html=html), gold, is_own=True, added=added)


def _tree(gold: GoldPage) -> Tree:
    """The page as a tree; an empty one if it cannot be read."""
    try:
        return parse(gold.page).tree
    except PageError:
        return parse(Page("")).tree


def _texts(tree: Tree) -> list[int]:
    """The texts that are shown."""
    shown = tree.is_text & tree.shown & (tree.text_length > 0) & ~tree.raw
    return [int(node) for node in np.flatnonzero(shown)]


def _with_texts(tree: Tree, texts: Mapping[int, bytes]) -> str:
    """The page with these texts, as HTML, in place of its own."""
    pieces, at = [], 0
    for node, text in sorted(texts.items()):
        pieces += [tree.source[at : tree.start[node]], text]
        at = tree.stop[node]
    return b"".join([*pieces, tree.source[at:]]).decode()


def _with_piece(gold: GoldPage, piece: str) -> str | None:
    """The page with a piece of HTML behind the longest paragraph of its content; None if there is
    no such paragraph."""
    tree, content = _tree(gold), words(gold.content or "")
    paragraphs = [node for node in _texts(tree) if _PARAGRAPH[tree.tag[tree.parent[node]]]]
    for node in sorted(paragraphs, key=tree.text_length.__getitem__, reverse=True):
        if find_phrases((tree.text(node),), content).found:
            at = tree.close[tree.parent[node]]
            return (tree.source[:at] + piece.encode() + tree.source[at:]).decode()
    return None


def _with_other_words(gold: GoldPage, share: float, dice: Random) -> tuple[str, dict[str, str]]:
    """The page with this share of its content's words written backwards, and what became of which.

    Words that its template has too stay, and so do letters of scripts that count as words.
    """
    tree, content = _tree(gold), Counter(words(gold.content or ""))
    texts = {
        node: tree.source[tree.start[node] : tree.stop[node]].decode() for node in _texts(tree)
    }
    shown = Counter(word for text in texts.values() for word in words(text))
    own = [word for word, count in content.items() if shown[word] == count]
    dice.shuffle(own)
    changed: dict[str, str] = {}
    left = share * content.total()
    for word in own:
        if left > 0:
            changed[word] = word[::-1]
            left -= content[word]
    written = {
        node: WORD.sub(lambda found: changed.get(found[0].lower(), found[0]), text).encode()
        for node, text in texts.items()
    }
    return _with_texts(tree, written), changed
