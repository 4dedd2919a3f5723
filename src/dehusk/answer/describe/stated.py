"""Where a page says what it is: its title, its headings, and the elements that describe it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.describe.one_line import one_line
from dehusk.answer.labels import Label
from dehusk.kernel import KERNEL
from dehusk.page import tags
from dehusk.page.tree import TREE_PACKING, Tree

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

_META, _LINK, _TIME = (tags.NUMBERS[name] for name in ("meta", "link", "time"))
_SCRIPT, _TITLE, _H1 = (tags.NUMBERS[name] for name in ("script", "title", "h1"))
_TITLE_PARENTS: Final = tags.numbers("head", "body")
_BREAKS: Final = tags.numbers(*tags.BLOCK, "br")
_BITS: Final = (
    ("meta",), ("link",), ("time",), ("script",), ("title",), ("head", "body"), ("h1",),
    (*tags.BLOCK, "br"),
)  # fmt: skip
STATED_KINDS: Final = np.zeros(len(tags.NAMES), np.uint8)
"""By tag number, what the kernel asks of tags, from the lowest bit on (`src/kernel/stated.c`)."""
for _place, _tags in enumerate(_BITS):
    STATED_KINDS[tags.numbers(*_tags)] |= np.uint8(1 << _place)
_WALKED: Final = TREE_PACKING.wanted(
    "parent", "end", "start", "stop", "text_length", "tag", "shown", "raw",
)  # fmt: skip
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
    if KERNEL is not None:
        return _compiled(KERNEL, tree, labels)
    root = tree.attributes(0)
    metas, links, has_marks = _read_elements(tree)
    h1 = tree.shown & (tree.tag == _H1) & (labels == Label.CONTENT.value)
    h1 &= (tree.text_length > 0) & (tree.text_length <= MAX_TITLE)
    return Stated(
        languages=[root[name] for name in ("lang", "xml:lang") if name in root],
        metas=_asked(metas),
        links=links,
        has_marks=has_marks,
        has_linked=any(
            b"ld+json" in tree.source[tree.start[node] : tree.stop[node]].lower()
            for node in np.flatnonzero(tree.tag == _SCRIPT)
        ),
        title=_title(tree),
        headings=headings_of(tree, np.flatnonzero(h1)),
    )


def _compiled(kernel: Any, tree: Tree, labels: Labelled) -> Stated:
    """The same by the kernel, which leaves out most metas that are not asked for."""
    languages, metas, *more = kernel.stated(
        _NAMES, tree.source, STATED_KINDS, tree.cut(_WALKED), np.ascontiguousarray(labels)
    )
    return Stated(languages, _asked(metas), *more)


def _asked(pairs: list[tuple[str, str]]) -> Metas:
    """The metas that are asked for, of names and contents."""
    metas: Metas = {}
    for written, content in pairs:
        name = written.strip().lower()
        if name in _ASKED:
            metas.setdefault(name, []).append(content)
    return metas


def _read_elements(tree: Tree) -> tuple[list[tuple[str, str]], list[tuple[str, str]], bool]:
    """What metas say, canonical links, and whether something may be marked as a date."""
    metas: list[tuple[str, str]] = []
    links: list[tuple[str, str]] = []
    has_marks = False
    for node in np.flatnonzero(np.isin(tree.tag, (_META, _LINK, _TIME))).tolist():
        stated, tag = tree.attributes(node), tree.tag[node]
        if tag == _LINK:
            rel = stated.get("rel", "")
            if "href" in stated and "canonical" in rel.lower():
                links.append((rel, stated["href"]))
            continue
        mark = stated.get("itemprop", "").lower()
        has_marks |= "pubdate" in stated or "datepublished" in mark
        names = (stated.get(name) for name in ("property", "name", "http-equiv"))
        if tag == _META and stated.get("content"):
            metas += [(name, stated["content"]) for name in names if name]
    return metas, links, has_marks


def _title(tree: Tree) -> str:
    """What the title says, in one line; empty without one."""
    for node in np.flatnonzero(tree.tag == _TITLE).tolist():
        if _TITLE_PARENTS[tree.tag[tree.parent[node]]]:
            return one_line("".join(map(tree.text, range(node + 1, int(tree.end[node])))))
    return ""


def headings_of(tree: Tree, nodes: NDArray[np.intp]) -> list[str]:
    """What the first few of the headings say, each in one line."""
    found: list[str] = []
    for node in nodes[:MAX_HEADINGS].tolist():
        pieces: list[str] = []
        for inner in range(node + 1, int(tree.end[node])):
            tag = tree.tag[inner]
            if tag == tags.TEXT and tree.shown[inner] and tree.tag[tree.parent[inner]] != _TITLE:
                pieces.append(tree.text(inner))
            elif _BREAKS[tag]:
                pieces.append(" ")
        found.append(one_line("".join(pieces)))
    return found
