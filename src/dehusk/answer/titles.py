"""The title of a page: its headline, without what the site adds to it."""

from __future__ import annotations

import html
from functools import lru_cache
from typing import Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.names import one_line
from dehusk.answer.stated import (
    MAX_TITLE,
    SITE_NAMES,
    TITLE_NAMES,
    Heading,
    Labelled,
    Metas,
    Stated,
)
from dehusk.page import tags
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree

_SEPARATOR: Final = pattern(r"\s+[-–—|·•»«:/~]+\s+|\s*[|»]\s*|:\s+|\s+:|^[»:|]\s*")
_NO_LETTERS: Final = pattern(r"[\W_]+")
_ASCII_NO_LETTERS: Final = bytes(code for code in range(128) if not chr(code).isalnum())
_SMALL: Final = bytes(range(256)).lower()
_PERMALINK: Final = " ¶#§🔗"
_MIN_KEY: Final = 3
"""Letters that may be at the end of a title by chance."""
_MAX_READ: Final = 10 * MAX_TITLE
"""Characters of a text that make its key: keys are kept, and a page may state megabytes."""
_IN_CONTENT: Final = 0.65
_BY_LEVEL: Final = (0.5, 0.3, 0.1, 0.0)
"""What speaks for a heading besides its words: that it is content, and its level."""
_MOST_BY_WORDS: Final = 1.0 + (_IN_CONTENT + _BY_LEVEL[0])
"""What a heading is worth at most that is no end of what is stated."""
_SURE: Final = 3.55
"""What an `<h1>` of the content is worth that makes up nearly half of what is stated, or more."""
_CONTENT: Final = Label.CONTENT.value
_MIN_PIECE: Final = 12
"""Letters of a piece of a title that no page shows by chance."""
_MAX_PIECES: Final = 3
_MAX_PLACES: Final = 8
"""Pieces that are looked for, the longest, and places where each is: a page may have thousands."""
_SHARED: Final = 0.5
"""The share of a heading's words that what the page states of its title must have too."""


def key_of(text: str) -> str:
    """What two ways of writing the same name have in common; of long texts, their beginnings."""
    return _key_of(text[:_MAX_READ])


@lru_cache(maxsize=512)
def _key_of(text: str) -> str:
    if text.isascii():
        return text.encode().translate(_SMALL, _ASCII_NO_LETTERS).decode()
    return _NO_LETTERS.sub("", text.casefold())


def site_keys(metas: Metas, host: str) -> frozenset[str]:
    """What the site may call itself, as keys: the names it states, and its host's."""
    stated = [site for name in SITE_NAMES for site in metas.get(name, ())]
    return _host_names(host).union(filter(None, map(key_of, stated)))


@lru_cache(maxsize=32)  # Pages of a site come in runs.
def _host_names(host: str) -> frozenset[str]:
    """What a site may call itself by its host, as keys."""
    labels = [label for label in host.split(".") if label != "www"]
    if len(labels) < 2:
        return frozenset()
    names = max(labels, key=len), "".join(labels), "".join(labels[-2:])
    return frozenset(filter(None, map(key_of, names)))


def headline_of(
    tree: Tree, labels: Labelled, stated: Stated, sites: frozenset[str], linked: str
) -> Heading | None:
    """The heading that the page is known by; None where no heading is sure to be.

    It is one that `<title>`, Open Graph or JSON-LD say too, whole or in good part; else a text of
    the page that is a piece of these; else the only `<h1>` of the content.
    """
    sources = [stated.title, one_line(stated.first(TITLE_NAMES) or ""), linked]
    keys = [key for key in map(key_of, sources) if key]
    words: set[str] = set()
    best: tuple[float, Heading] | None = None
    tops = 0
    for heading in stated.headings:
        key = key_of(heading.text)
        if not key or key in sites:
            continue
        is_content = heading.label == _CONTENT
        tops += heading.level == 1 and is_content
        worth = _end_worth(key, keys)
        if not worth and best is not None and best[0] >= _MOST_BY_WORDS:
            continue
        if not worth:
            words = (
                words or {word for source in sources for word in source.casefold().split()} - sites
            )
            own = heading.text.casefold().split()
            worth = sum(map(words.__contains__, own)) / len(own) if own else 0.0
        if worth < _SHARED and not (heading.level == 1 and is_content):
            continue
        worth += (_IN_CONTENT if is_content else 0.0) + _BY_LEVEL[heading.level - 1]
        if best is None or worth > best[0]:
            best = worth, heading
            if worth >= _SURE:
                break
    if best is None or best[0] < 1.15 + _SHARED:
        shown = _shown_piece(tree, labels, sources, sites)
        if shown or best is None or (best[1].level == 1 and tops > 1):
            return shown
    return best[1]


def _shown_piece(
    tree: Tree, labels: Labelled, sources: list[str], sites: frozenset[str]
) -> Heading | None:
    """The longest piece of what is stated that the page shows as a text of its own; else None."""
    known = (source[:_MAX_READ] for source in dict.fromkeys(sources))
    found = (piece.strip() for source in known for piece in _pieces(source, sites))
    pieces = {piece for piece in found if len(piece) >= _MIN_PIECE and key_of(piece) not in sites}
    for piece in sorted(pieces, key=lambda piece: (-len(piece), piece))[:_MAX_PIECES]:
        node = _node_of(tree, labels, piece)
        if node is not None:
            return Heading(node, 1, piece)
    return None


def _pieces(stated: str, sites: frozenset[str]) -> list[str]:
    """What stands between the separators of a title, and the title without the site's name."""
    return [without_site(stated, sites), *_SEPARATOR.split(stated)]


def _node_of(tree: Tree, labels: Labelled, text: str) -> int | None:
    """The first node of the content that is a text; None for none among the first few places."""
    written = html.escape(text, quote=False).encode("utf-8", "replace")
    source, at = tree.source, 0
    for _ in range(_MAX_PLACES):
        at = source.find(written, at + 1)
        if at < 0:
            return None
        behind = at + len(written)
        around = (
            source[max(at - 99, 0) : at].rstrip()[-1:] + source[behind : behind + 99].lstrip()[:1]
        )
        node = int(np.searchsorted(tree.start, at, "right")) - 1
        if (
            around == b"><"
            and tree.shown[node]
            and tree.tag[node] == tags.TEXT
            and labels[node] == _CONTENT
        ):
            return node
    return None


def _end_worth(key: str, keys: list[str]) -> float:
    """2 … 3 for a heading that is one end of what the page states elsewhere, by its share; else 0.

    Of others it counts how many of their words are stated: 0 … 1.
    """
    if len(key) > _MIN_KEY:
        for stated in keys:
            if stated.startswith(key) or stated.endswith(key):
                return 2.0 + len(key) / len(stated)
    return 0.0


def title_of(
    stated: Stated, sites: frozenset[str], headline: Heading | None, linked: str
) -> str | None:
    """The headline as the page shows it, else as it is stated, without the site's name."""
    shown = headline.text.strip(_PERMALINK) if headline else ""
    shared = one_line(stated.first(TITLE_NAMES) or "")
    for title in filter(None, (shared, linked, stated.title) if shown else ()):
        if _is_rest(title, shown):
            return title
    if shown:
        return shown
    # A heading that was dropped, by a selector or as the site's own, is better than none.
    headings = sorted(stated.headings, key=lambda heading: heading.label != _CONTENT)
    first = next(filter(None, (heading.text.strip(_PERMALINK) for heading in headings)), "")
    titles = (
        without_site(shared, sites),
        linked,
        without_site(stated.title, sites),
        "" if headings and headings[0].label != _CONTENT else first,
        stated.title,
        shared,
        first,
    )
    return next((title for title in titles if 0 < len(title) <= MAX_TITLE), None)


def _is_rest(title: str, shown: str) -> bool:
    """Is this the headline without the line that stands above it, in one element with it?"""
    key, whole = key_of(title), key_of(shown)
    return whole.endswith(key) and len(whole) > len(key) >= len(whole) / 2


def without_site(stated: str, sites: frozenset[str]) -> str:
    """A title without the site's name at its ends; empty if nothing else is left."""
    breaks = [found.span() for found in _SEPARATOR.finditer(stated)]
    if not breaks:
        return "" if key_of(stated) in sites else stated
    starts = [0, *(stop for _, stop in breaks)]
    stops = [*(start for start, _ in breaks), len(stated)]
    # Separators add nothing to a key, so that of several pieces is theirs in a row.
    keys = [key_of(stated[start:stop]) for start, stop in zip(starts, stops, strict=True)]
    first, last = 0, len(breaks)
    while first < last and keys[last] in sites:
        last -= 1
    while first < last and (keys[first] in sites or not keys[first]):
        first += 1
    return "" if "".join(keys[first : last + 1]) in sites else stated[starts[first] : stops[last]]
