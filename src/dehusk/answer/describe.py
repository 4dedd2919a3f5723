"""What a page says of itself: title, language, canonical URL, author, date of publication."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document, Element

from dehusk import _kernel
from dehusk.answer.labels import Label
from dehusk.answer.linked import (
    NOT_LINKED,
    Linked,
    author_names,
    iso_date,
    name_of,
    one_line,
    read_linked,
)
from dehusk.page import tags
from dehusk.page.tree import Flags, Tree
from dehusk.page.urls import base_of, host_of, is_web

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


_LANGUAGE: Final = re.compile(
    r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|[0-9]{3}))?(?:[-_.@].*)?", re.IGNORECASE
)
_NO_LANGUAGE: Final = ("und", "zxx", "mul", "mis")

_OTHER_SCOPES: Final = ("review", "comment", "usercomments")
"""Ends of the types of things on a page that are not the page, and have dates of their own."""


_MAX_MARKED: Final = 50
"""Elements marked with a date that are looked at; each may stand deep in others."""


@dataclass(frozen=True, slots=True)
class Description:
    """What a page states of itself; None for what it does not state."""

    title: str | None
    lang: str | None
    """A language tag, such as `en` or `pt-BR`."""
    canonical: str | None
    author: str | None
    """Names with commas between them."""
    published: str | None
    """A date or a time of ISO 8601; the month or the year alone where no more is stated."""


def describe(
    tree: Tree, document: Document, labels: NDArray[np.int8], url: str | None
) -> Description:
    """What the page says of itself. The document must be whole: ask before rendering Markdown."""
    stated = read_stated(tree, labels)
    # The parser's document is only gone through where something is to be found in it.
    linked = read_linked(document) if stated.has_linked else NOT_LINKED
    return Description(
        title=title_of(tree, labels, stated, url),
        lang=_lang(stated),
        canonical=_canonical(tree, stated, url),
        author=_author(stated, linked),
        published=_published(document, stated, linked),
    )


def _lang(stated: Stated) -> str | None:
    """The language that the page says it is written in."""
    named = (language for name in LANGUAGE_NAMES for language in stated.metas.get(name, ()))
    languages = chain(stated.languages, named)
    return next(filter(None, map(_language_tag, filter(None, languages))), None)


def _language_tag(stated: str) -> str | None:
    """A language as `en`, `zh-Hant` or `en-GB`; None for what is no language."""
    found = _LANGUAGE.fullmatch(stated.partition(",")[0].strip()[:35])
    if not found or found[1].lower() in _NO_LANGUAGE:
        return None
    language, script, region = found.groups()
    parts = (language.lower(), (script or "").title(), (region or "").upper())
    return "-".join(filter(None, parts))


def _canonical(tree: Tree, stated: Stated, url: str | None) -> str | None:
    """The address that the page wants to be known by, read as its links are."""
    for rel, href in stated.links:
        if "canonical" in rel.lower().split():
            address = base_of(tree, url).absolute(href)
            if address and is_web(address):
                return address
    return None


def _author(stated: Stated, linked: Linked) -> str | None:
    """Who the page says has written it."""
    named = (name_of(name) for key in AUTHOR_NAMES for name in stated.metas.get(key, ()))
    return author_names(linked) or next(filter(None, named), None)


def _published(document: Document, stated: Stated, linked: Linked) -> str | None:
    """When the page says it was published."""
    dates: list[object] = [item.get("datePublished") for item in linked.objects]
    dates += [date for name in DATE_NAMES for date in stated.metas.get(name, ())]
    for value in dates:
        date = iso_date(value) if isinstance(value, str) else None
        if date:
            return date
    marked = _marked_dates(document) if stated.has_marks else ()
    return next(filter(None, map(iso_date, marked)), None)


def _marked_dates(document: Document) -> Iterator[str]:
    """What elements are marked with as the date of publication, but for those of reviews."""
    for element in islice(_marked(document), _MAX_MARKED):
        scopes = (
            scope.attr("itemtype") for scope in element.ancestors if isinstance(scope, Element)
        )
        if not any((scope or "").lower().endswith(_OTHER_SCOPES) for scope in scopes):
            yield element.attr("datetime") or element.attr("content") or ""


def _marked(document: Document) -> Iterator[Element]:
    """The elements that are marked as a date of publication."""
    for element in document.iter_elements(("time", "meta")):
        marks = (element.attr("itemprop") or "").lower().split()
        if "datepublished" in marks or element.attr("pubdate") is not None:
            yield element


_FEW_CHARACTERS: Final = 100
_SOME_CHARACTERS: Final = 1000
"""Visible text below which a page may be a shell, with any sign of it and with a sure one. Of the
8,217 pages of docs-dev, linked-dev, news-dev, swde-dev and wcxb-dev 9 lack their content without
scripts, and show at most 56 characters: 8 are found (one came without its scripts), and no other
page is called so. No page there has a framework's empty root and less than 11,000 characters."""
_MIN_CODE_BYTES: Final = 1000
"""Script below it only counts visits or leads elsewhere."""
_MIN_MESSAGE: Final = 20
"""Characters of a message for readers without scripts; images that count visits have none."""
_SHELLS: Final = re.compile(
    rb' id="(?:root|app|__next|__nuxt|___gatsby|q-app|svelte|(?:react|app|vue|ember)-?root'
    rb'|react-app|vue-app|app-container|app-mount)"',
    re.IGNORECASE,
)
"""What the elements are called that common frameworks put a page into."""
_SCRIPT: Final = tags.NUMBERS["script"]
_NOSCRIPT: Final = tags.NUMBERS["noscript"]


def needs_scripts(tree: Tree) -> bool:
    """True for a page whose text only its scripts would make.

    It shows fewer than 100 characters and no image, and has scripts, a message for those without,
    or an empty element to be filled; or fewer than 1,000, and a framework's empty root element.
    """
    shown = int(tree.text_length[0])
    if tree.layout is not None or shown >= _SOME_CHARACTERS:
        return False
    # Elements with an id that are meant to hold something, and hold neither text nor an image.
    empty, has_image = _kernel.holders(tree.kernel)
    if any(_SHELLS.search(tree.source, tree.start[i], tree.stop[i]) for i in empty):
        return True
    if shown >= _FEW_CHARACTERS or has_image:
        return False
    return len(empty) > 0 or _has_code(tree) or _has_message(tree)


def _has_code(tree: Tree) -> bool:
    """True where scripts are loaded, or stand in the page and are not small."""
    code = 0
    for i in np.flatnonzero(tree.tag == _SCRIPT):
        if tree.source.find(b' src="', tree.start[i], tree.stop[i]) >= 0:
            return True
        code += int(tree.close[i] - tree.stop[i])
    return code >= _MIN_CODE_BYTES


def _has_message(tree: Tree) -> bool:
    """True where the page has words for those who run no scripts."""
    for i in np.flatnonzero(tree.tag == _NOSCRIPT):
        inside = np.arange(i + 1, tree.end[i])
        texts = inside[tree.is_text[inside] & ~tree.raw[inside]]
        if sum(len(tree.text(int(node)).strip()) for node in texts) >= _MIN_MESSAGE:
            return True
    return False
