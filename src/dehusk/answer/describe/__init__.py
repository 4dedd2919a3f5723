"""What a page says of itself: title, language, canonical URL, author and date of publication.

Only what the page states is taken, from JSON-LD, Open Graph, `<meta>` and a few elements; nothing
is guessed. A value that cannot be read is passed over for the next place that states one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document, Element

from dehusk.answer.describe.dates import iso_date
from dehusk.answer.describe.linked import NOT_LINKED, Linked, author_names, name_of, read_linked
from dehusk.answer.describe.stated import (
    AUTHOR_NAMES,
    DATE_NAMES,
    LANGUAGE_NAMES,
    Stated,
    read_stated,
)
from dehusk.answer.describe.title import title_of
from dehusk.page.tree import Tree
from dehusk.page.urls import base_of, is_web

__all__ = ["Description", "describe"]

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
