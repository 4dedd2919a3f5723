"""The title of a page, without what its site adds to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.describe.one_line import one_line
from dehusk.answer.describe.stated import (
    MAX_TITLE,
    SITE_NAMES,
    TITLE_NAME,
    Metas,
    Stated,
    headings_of,
)
from dehusk.answer.labels import Label
from dehusk.page import tags
from dehusk.page.tree import Flags, Tree
from dehusk.page.urls import host_of

_HEADINGS: Final = tags.numbers("h1", "h2", "h3", "h4", "h5", "h6")
_SEPARATOR: Final = re.compile(r"\s+[-–—|·•»«:/~]+\s+|\s*[|»]\s*")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_ASCII_NO_LETTERS: Final = bytes(code for code in range(128) if not chr(code).isalnum())
_SMALL: Final = bytes(range(256)).lower()
_PERMALINK: Final = " ¶#§🔗"


def title_of(tree: Tree, labels: NDArray[np.int8], stated: Stated, url: str | None) -> str | None:
    """Open Graph's title, else a heading, else `<title>`; without the site's name."""
    sites = _site_names(stated.metas, url)
    shared = one_line(stated.metas.get(TITLE_NAME, ("",))[0])
    written = stated.title
    heading = _likeliest(_trimmed(stated.headings), written)
    candidates: tuple[Callable[[], str], ...] = (
        lambda: _without_site(shared, sites, heading),
        lambda: heading,
        lambda: _without_site(written, sites, heading),
        lambda: _first_heading(tree, labels == Label.CONTENT.value),
        lambda: written,
        lambda: shared,
        # A heading that was dropped, by a selector or as the site's own, is better than none.
        lambda: _first_heading(tree, None),
    )
    titles = (candidate() for candidate in candidates)
    return next((title for title in titles if 0 < len(title) <= MAX_TITLE), None)


def _first_heading(tree: Tree, chosen: Flags | None) -> str:
    """What the first of the chosen headings says, of any level; of all for None."""
    nodes = np.flatnonzero(_HEADINGS[tree.tag])
    length = tree.text_length[nodes]
    nodes = nodes[tree.shown[nodes] & (length > 0) & (length <= MAX_TITLE)]
    if chosen is not None:
        nodes = nodes[chosen[nodes]]
    return next(iter(_trimmed(headings_of(tree, nodes))), "")


def _trimmed(headings: list[str]) -> list[str]:
    """Headings without the signs of links to themselves; none that are empty then."""
    return [trimmed for heading in headings if (trimmed := heading.strip(_PERMALINK))]


def _likeliest(headings: list[str], written: str) -> str:
    """The heading that `<title>` begins with, else one that is in it, else the first."""
    if len(headings) < 2:
        return "".join(headings)
    title = _key(written)
    keyed = [(heading, _key(heading)) for heading in headings]
    begins = [heading for heading, key in keyed if key and title.startswith(key)]
    within = [heading for heading, key in keyed if key and key in title]
    return next(iter((*begins, *within, *headings)), "")


def _site_names(metas: Metas, url: str | None) -> frozenset[str]:
    """What the site may call itself, as keys: the names it states, and its host's."""
    stated = [site for name in SITE_NAMES for site in metas.get(name, ())]
    return _host_names(host_of(url or "")).union(filter(None, map(_key, stated)))


@lru_cache(maxsize=32)  # Pages of a site come in runs.
def _host_names(host: str) -> frozenset[str]:
    """What a site may call itself by its host, as keys."""
    labels = [label for label in host.split(".") if label != "www"]
    if len(labels) < 2:
        return frozenset()
    names = max(labels, key=len), "".join(labels), "".join(labels[-2:])
    return frozenset(filter(None, map(_key, names)))


def _key(text: str) -> str:
    """What two ways of writing the same name have in common."""
    if text.isascii():
        return text.encode().translate(_SMALL, _ASCII_NO_LETTERS).decode()
    return _NO_LETTERS.sub("", text.casefold())


def _without_site(stated: str, sites: frozenset[str], heading: str) -> str:
    """A title without the site's name at its ends; the heading if that is one end of it.

    Empty if nothing but the site's name is left.
    """
    breaks = [found.span() for found in _SEPARATOR.finditer(stated)]
    if not breaks:
        return "" if _key(stated) in sites else stated
    starts = [0, *(stop for _, stop in breaks)]
    stops = [*(start for start, _ in breaks), len(stated)]
    # Separators add nothing to a key, so that of several pieces is theirs in a row.
    keys = [_key(stated[start:stop]) for start, stop in zip(starts, stops, strict=True)]
    whole, wanted = "".join(keys), _key(heading)
    sizes = list(accumulate(map(len, keys)))
    for place in range(len(breaks) if wanted else 0):
        if sizes[place] == len(wanted) and whole.startswith(wanted):
            return stated[: stops[place]]
        if len(whole) - sizes[place] == len(wanted) and whole.endswith(wanted):
            return stated[starts[place + 1] :]
    first, last = 0, len(breaks)
    while first < last and keys[last] in sites:
        last -= 1
    while first < last and keys[first] in sites:
        first += 1
    return "" if "".join(keys[first : last + 1]) in sites else stated[starts[first] : stops[last]]
