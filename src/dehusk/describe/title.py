"""The title of a page, without what its site adds to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk import tags
from dehusk.describe.one_line import one_line
from dehusk.model import Label, Tree
from dehusk.urls import host_of

_H1, _TITLE = tags.NUMBERS["h1"], tags.NUMBERS["title"]
_TITLE_PARENTS: Final = tags.numbers("head", "body")
_HEADINGS: Final = tags.numbers("h1", "h2", "h3", "h4", "h5", "h6")
_BREAKS: Final = tags.numbers(*tags.BLOCK, "br")
_MAX_TITLE: Final = 300
"""Characters beyond which something is no title."""
_MAX_HEADINGS: Final = 5
"""Headings among which the one that `<title>` repeats is sought."""
_SEPARATOR: Final = re.compile(r"\s+[-–—|·•»«:/~]+\s+|\s*[|»]\s*")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_PERMALINK: Final = " ¶#§🔗"


def title_of(
    tree: Tree, labels: NDArray[np.int8], metas: Mapping[str, Sequence[str]], url: str | None
) -> str | None:
    """Open Graph's title, else a heading, else `<title>`; without the site's name."""
    sites = _site_names(metas, url)
    stated = one_line(metas.get("og:title", ("",))[0])
    written = _title_element(tree)
    headings = np.flatnonzero(_HEADINGS[tree.tag])
    length = tree.text_length[headings]
    shown_headings = headings[tree.shown[headings] & (length > 0) & (length <= _MAX_TITLE)]
    is_content = labels[shown_headings] == Label.CONTENT.value
    is_first = is_content & (tree.tag[shown_headings] == _H1)
    shown, content, first = (
        shown_headings[chosen].tolist() for chosen in (slice(None), is_content, is_first)
    )
    heading = _likeliest(_headings(tree, first), written)
    candidates: tuple[Callable[[], str], ...] = (
        lambda: _without_site(stated, sites, heading),
        lambda: heading,
        lambda: _without_site(written, sites, heading),
        lambda: next(iter(_headings(tree, content)), ""),
        lambda: written,
        lambda: stated,
        # A heading that was dropped, by a selector or as the site's own, is better than none.
        lambda: next(iter(_headings(tree, shown)), ""),
    )
    titles = (candidate() for candidate in candidates)
    return next((title for title in titles if 0 < len(title) <= _MAX_TITLE), None)


def _title_element(tree: Tree) -> str:
    """What the first `<title>` says, in the head or, on broken pages, in the body; not in SVG."""
    for node in np.flatnonzero(tree.tag == _TITLE).tolist():
        if _TITLE_PARENTS[tree.tag[tree.parent[node]]]:
            return one_line("".join(map(tree.text, range(node + 1, int(tree.end[node])))))
    return ""


def _headings(tree: Tree, nodes: Sequence[int]) -> list[str]:
    """What the first few of the headings say, each in one line."""
    found: list[str] = []
    for node in nodes[:_MAX_HEADINGS]:
        pieces: list[str] = []
        for inner in range(node + 1, int(tree.end[node])):
            tag = tree.tag[inner]
            if tag == tags.TEXT and tree.shown[inner] and tree.tag[tree.parent[inner]] != _TITLE:
                pieces.append(tree.text(inner))
            elif _BREAKS[tag]:
                pieces.append(" ")
        found.append(one_line("".join(pieces)).strip(_PERMALINK))
    return [heading for heading in found if heading]


def _likeliest(headings: list[str], written: str) -> str:
    """The heading that `<title>` begins with, else one that is in it, else the first."""
    title = _key(written)
    keyed = [(heading, _key(heading)) for heading in headings]
    begins = [heading for heading, key in keyed if key and title.startswith(key)]
    within = [heading for heading, key in keyed if key and key in title]
    return next(iter((*begins, *within, *headings)), "")


def _site_names(metas: Mapping[str, Sequence[str]], url: str | None) -> frozenset[str]:
    """What the site may call itself, as keys: the names it states, and its host's."""
    names = [*metas.get("og:site_name", ()), *metas.get("application-name", ())]
    labels = [label for label in host_of(url or "").split(".") if label != "www"]
    if len(labels) > 1:
        names += [max(labels, key=len), "".join(labels), "".join(labels[-2:])]
    return frozenset(filter(None, map(_key, names)))


def _key(text: str) -> str:
    """What two ways of writing the same name have in common."""
    return _NO_LETTERS.sub("", text.casefold())


def _without_site(stated: str, sites: frozenset[str], heading: str) -> str:
    """A title without the site's name at its ends; the heading if that is one end of it.

    Empty if nothing but the site's name is left.
    """
    breaks = [found.span() for found in _SEPARATOR.finditer(stated)]
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
