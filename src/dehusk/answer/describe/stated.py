"""Where a page says what it is: its title, its headings, and the elements that describe it."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.page.tree import Tree

AUTHOR_NAMES: Final = ("author", "article:author", "dc.creator", "dcterms.creator", "dc:creator")
DATE_NAMES: Final = (
    "article:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "dc:date",
    "dcterms.date", "dcterms.issued", "dcterms.created", "citation_publication_date",
    "citation_date", "publication_date", "publish-date", "publishdate", "pubdate",
)  # fmt: skip
LANGUAGE_NAMES: Final = ("content-language", "og:locale")
TITLE_NAME: Final = "og:title"
SITE_NAMES: Final = ("og:site_name", "application-name")
_ASKED: Final = frozenset((
    *AUTHOR_NAMES, *DATE_NAMES, *LANGUAGE_NAMES, TITLE_NAME, *SITE_NAMES,
))  # fmt: skip
"""The names of metas that are asked for, in small letters."""

MAX_TITLE: Final = 300
"""Characters beyond which something is no title."""
MAX_HEADINGS: Final = 5
"""Headings among which the one that `<title>` repeats is sought."""
_NAMES: Final = "\n".join(sorted(_ASKED)).encode()

Labelled = NDArray[np.int8]
Metas = dict[str, list[str]]
"""What each `<meta>` says, by its name in small letters; those of one name in order."""


class Stated(NamedTuple):
    """What the elements say that a page describes itself with, in document order."""

    languages: list[str]
    """The languages that `<html>` states, `lang` first."""
    metas: Metas
    """What metas say, by name; none but those that are asked for."""
    links: list[tuple[str, str]]
    """`rel` and `href` of every `<link>` that may be canonical."""
    has_marks: bool
    """May an element be marked as a date of publication?"""
    has_linked: bool
    """May a script be JSON-LD?"""
    title: str
    """What the first `<title>` says, in the head or, on broken pages, in the body; not in SVG."""
    headings: list[str]
    """What the first few `<h1>` of the content say, each in one line."""


def read_stated(tree: Tree, labels: Labelled) -> Stated:
    """What the page states; what it may state besides is looked for where this says so."""
    languages, metas, links, has_marks, has_linked, title, headings = _kernel.stated(
        tree.kernel, np.ascontiguousarray(labels), _NAMES, MAX_HEADINGS, MAX_TITLE
    )
    return Stated(languages, _asked(metas), links, has_marks, has_linked, title, headings)


def _asked(pairs: list[tuple[str, str]]) -> Metas:
    """The metas that are asked for, of names and contents; the kernel leaves most others out."""
    metas: Metas = {}
    for written, content in pairs:
        name = written.strip().lower()
        if name in _ASKED:
            metas.setdefault(name, []).append(content)
    return metas


def headings_of(tree: Tree, nodes: NDArray[np.intp]) -> list[str]:
    """What the first few of the headings say, each in one line."""
    return [_kernel.heading(tree.kernel, node) for node in nodes[:MAX_HEADINGS].tolist()]
