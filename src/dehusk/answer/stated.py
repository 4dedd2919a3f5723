"""What a page states of itself for machines: metas, links, title, headings, and JSON-LD."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.answer.labels import Label
from dehusk.answer.names import name_of
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree

AUTHOR_NAMES: Final = (
    "parsely-author", "sailthru.author", "citation_author", "byl", "article:author_name",
    "author", "dc.creator", "dcterms.creator", "dc:creator", "article:author", "og:author",
)  # fmt: skip
PUBLISHED_NAMES: Final = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished",
    "parsely-pub-date", "sailthru.date", "citation_publication_date", "citation_online_date",
    "dc.date.issued", "dcterms.issued", "dc.date.created", "dcterms.created", "publication_date",
    "publish-date", "publish_date", "publishdate", "pubdate", "article.published", "bt:pubdate",
    "cxenseparse:recs:publishtime", "originalpublicationdate", "article_date_original",
)  # fmt: skip
"""Metas that say when a page was published, and nothing else."""
DATE_NAMES: Final = (
    "date", "dc.date", "dc:date", "dcterms.date", "citation_date", "article:created_time",
)  # fmt: skip
"""Metas that state a date of some kind."""
MODIFIED_NAMES: Final = (
    "article:modified_time", "og:updated_time", "og:modified_time", "dcterms.modified",
    "dc.date.modified", "datemodified", "last-modified", "revised",
)  # fmt: skip
LANGUAGE_NAMES: Final = ("content-language", "og:locale", "dc.language", "dcterms.language")
TITLE_NAMES: Final = ("og:title", "twitter:title")
SITE_NAMES: Final = ("og:site_name", "application-name", "apple-mobile-web-app-title")
SUMMARY_NAMES: Final = (
    "og:description", "description", "twitter:description", "dc.description", "dcterms.abstract",
)  # fmt: skip
IMAGE_NAMES: Final = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image",
                      "twitter:image:src", "parsely-image-url")  # fmt: skip
TAG_NAMES: Final = ("article:tag", "keywords", "news_keywords", "parsely-tags", "dc.subject",
                    "citation_keywords")  # fmt: skip
LABEL_NAMES: Final = ("twitter:label1", "twitter:label2")
"""What the `twitter:data` of the same number says: WordPress tells the author so."""
VALUE_NAMES: Final = ("twitter:data1", "twitter:data2")
_ASKED: Final = frozenset((
    *AUTHOR_NAMES, *PUBLISHED_NAMES, *DATE_NAMES, *MODIFIED_NAMES, *LANGUAGE_NAMES, *TITLE_NAMES,
    *SITE_NAMES, *SUMMARY_NAMES, *IMAGE_NAMES, *TAG_NAMES, *LABEL_NAMES, *VALUE_NAMES, "og:type",
))  # fmt: skip
"""The names of metas that are asked for, in small letters."""
_NAMES: Final = "\n".join(sorted(_ASKED)).encode()

MAX_TITLE: Final = 300
"""Characters beyond which something is no title."""
MAX_HEADINGS: Final = 20
"""Headings among which that of the article is sought."""
_MAX_READ: Final = 3 * MAX_HEADINGS
"""Headings that are read, before it is known which of them are content."""
_MAX_SCRIPT: Final = 1_000_000
"""Bytes of JSON-LD beyond which it is not read. The largest of articles-dev has 0.3 MB."""

_CONTENT: Final = Label.CONTENT.value

Labelled = NDArray[np.int8]
Metas = dict[str, list[str]]
"""What each `<meta>` says, by its name in small letters; those of one name in order."""


class Heading(NamedTuple):
    """A heading that is shown."""

    node: int
    level: int
    """1 for `<h1>` … 4."""
    text: str
    """In one line."""
    label: int = _CONTENT


_HEADING: Final = partial(tuple.__new__, Heading)
"""A heading as the kernel gives it: a call of the class takes as long as all else."""


class Stated(NamedTuple):
    """What the elements say that a page describes itself with, in document order."""

    languages: list[str]
    """The languages that `<html>` states, `lang` first."""
    metas: Metas
    """What metas say, by name; none but those that are asked for."""
    links: list[tuple[str, str]]
    """`rel` and `href` of every `<link>` that may be canonical."""
    scripts: list[str]
    """JSON-LD as it is written."""
    title: str
    """What the first `<title>` says, in the head or, on broken pages, in the body; not in SVG."""
    headings: list[Heading]

    def first(self, names: tuple[str, ...]) -> str | None:
        """What the first of these metas says that says anything."""
        for name in names:
            for value in self.metas.get(name, ()):
                if said := value.strip():
                    return said
        return None

    def all(self, names: tuple[str, ...]) -> list[str]:
        """What these metas say, in the order of the names."""
        metas = self.metas
        return [value for name in names if name in metas for value in metas[name]]

    def labelled(self, labels: Labelled) -> Stated:
        """The same with the labels of its headings; small ones of the template are of lists."""
        label_at, found = labels.data, []  # A view gives plain numbers, and quickly.
        for heading in self.headings:
            node, level, text, _ = heading
            label = label_at[node]
            if label == _CONTENT:
                found.append(heading)
            elif level <= 2:
                found.append(_HEADING((node, level, text, label)))
        return _STATED((*self[:-1], found[:MAX_HEADINGS]))


_STATED: Final = partial(tuple.__new__, Stated)
"""The same; its headings are last."""


def read_stated(tree: Tree) -> Stated:
    """What the page states; all its headings count as content."""
    languages, metas, links, scripts, title, headings = _kernel.stated(
        tree.kernel, _NAMES, _MAX_READ, MAX_TITLE, _MAX_SCRIPT
    )
    return Stated(languages, _asked(metas), links, scripts, title, [*map(_HEADING, headings)])


def _asked(pairs: list[tuple[str, str]]) -> Metas:
    """The metas that are asked for, of names and contents; the kernel leaves most others out."""
    metas: Metas = {}
    for written, content in pairs:
        name = written.strip().lower()
        if name in _ASKED:
            metas.setdefault(name, []).append(content)
    return metas


_LANGUAGE: Final = pattern(
    r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|[0-9]{3}))?(?:[-_.@].*)?", re.IGNORECASE
)
_MAX_LANGUAGE: Final = 50
"""What is looked at of a language's name: the longest of BCP 47 have 35 characters."""
_NO_LANGUAGE: Final = ("und", "zxx", "mul", "mis")


def lang_of(stated: Stated) -> str | None:
    """The language that the page says it is written in."""
    for language in (*stated.languages, *stated.all(LANGUAGE_NAMES)):
        found = _language_tag(language.strip()[:_MAX_LANGUAGE]) if language else None
        if found:
            return found
    return None


@lru_cache(maxsize=64)
def _language_tag(stated: str) -> str | None:
    """A language as `en`, `zh-Hant` or `en-GB`; None for what is no language."""
    found = _LANGUAGE.fullmatch(stated.partition(",")[0].rstrip())
    if not found or found[1].lower() in _NO_LANGUAGE:
        return None
    language, script, region = found.groups()
    parts = (language.lower(), (script or "").title(), (region or "").upper())
    return "-".join(filter(None, parts))


_MAX_OBJECTS: Final = 2000
"""Objects of JSON-LD that are looked at: a page needs a few, a hostile one has millions."""
_OTHER_KEYS: Final = frozenset((
    "aggregaterating", "comment", "comments", "haspart", "image", "ispartof", "itemlistelement",
    "publisher", "review", "reviews", "suggestedanswer", "video", "author", "creator", "about",
    "mentions", "potentialaction", "breadcrumb", "offers",
))  # fmt: skip
"""Where JSON-LD tells of other things than the page."""
_OTHER_TYPES: Final = frozenset((
    "answer", "comment", "imageobject", "organization", "person", "review", "usercomments",
    "videoobject", "website", "newsmediaorganization", "breadcrumblist", "sitenavigationelement",
))  # fmt: skip
_SITE_TYPES: Final = frozenset(("website",))
_HOUSES: Final = ("organization", "corporation", "business")
_MAX_AUTHORS: Final = 50
_AROUND: Final = " \t\r\n;"


class Authors(NamedTuple):
    """Who has written something, as JSON-LD says."""

    names: tuple[str, ...]
    is_house: bool
    """True where one of them is an organisation."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A page's JSON-LD: the objects that tell of the page, articles first, and names by id."""

    objects: list[dict[str, object]]
    names: Mapping[str, str]
    articles: int = 0
    """How many of the objects are articles."""
    sites: list[dict[str, object]] = field(default_factory=list)
    """Objects that tell of the site, and of who publishes the page."""

    def texts(self, *keys: str) -> Iterator[str]:
        """What the objects say under these keys, in order; in lists too."""
        for item in self.objects:
            for key in keys:
                yield from _texts(item.get(key))

    def first(self, *keys: str) -> str:
        """The first name that the objects say under these keys; empty for none."""
        if not self.objects:
            return ""
        return next(filter(None, map(name_of, self.texts(*keys))), "")


NOT_LINKED: Final = Linked([], {})
"""What a page without JSON-LD says in it."""


def _texts(value: object) -> Iterator[str]:
    """The texts that a value is, or that a list of texts and objects holds."""
    for each in value[:_MAX_OBJECTS] if isinstance(value, list) else (value,):
        stated = each
        if isinstance(each, dict):
            stated = each.get("url") or each.get("name") or each.get("@value")
        if isinstance(stated, str):
            yield stated


def read_said(tree: Tree) -> tuple[Stated, Linked]:
    """What the page states, in elements and in JSON-LD."""
    stated = read_stated(tree)
    return stated, read_linked(stated.scripts) if stated.scripts else NOT_LINKED


def read_linked(scripts: Sequence[str]) -> Linked:
    """The page's JSON-LD; what is no JSON, or nests too deep for any, is passed over."""
    queue: deque[object] = deque(map(parsed, scripts))
    found: list[dict[str, object]] = []
    sites: list[dict[str, object]] = []
    names: dict[str, str] = {}
    for _ in range(_MAX_OBJECTS):
        if not queue:
            break
        value = queue.popleft()
        if isinstance(value, list):
            queue.extend(value[:_MAX_OBJECTS])
        if not isinstance(value, dict):
            continue
        identity, name = value.get("@id"), value.get("name")
        if isinstance(identity, str) and isinstance(name, str):
            names[identity] = name
        types = _types(value)
        if types.isdisjoint(_OTHER_TYPES):
            found.append(value)
            if isinstance(value.get("publisher"), dict):
                sites.append(value["publisher"])
        elif not types.isdisjoint(_SITE_TYPES):
            sites.insert(0, value)
        queue.extend(
            inner
            for key, inner in value.items()
            if isinstance(inner, dict | list) and key.lower() not in _OTHER_KEYS
        )
    found.sort(key=lambda item: not _is_article(item))
    return Linked(found, names, sum(map(_is_article, found)), sites)


def parsed(script: str) -> object:
    """The JSON of a script, without the signs that pages hide it from old browsers with."""
    written = script.strip(_AROUND)
    if not written.startswith(("{", "[")):
        written = written.replace("<![CDATA[", "").replace("]]>", "")
        start = min((at for at in (written.find("{"), written.find("[")) if at >= 0), default=-1)
        written = written[start : max(written.rfind("}"), written.rfind("]")) + 1]
    try:
        found: object = json.loads(written, strict=False)
    except (ValueError, RecursionError):
        return None
    return found


def _types(item: Mapping[str, object]) -> set[str]:
    """The types of a JSON-LD object, in small letters."""
    stated = item.get("@type")
    types = stated if isinstance(stated, list) else [stated]
    return {name.rpartition("/")[2].lower() for name in types if isinstance(name, str)}


def _is_article(item: Mapping[str, object]) -> bool:
    """Is this something that somebody writes and publishes?"""
    return any(name.endswith(("article", "posting", "report")) for name in _types(item))


def authors_of(item: Mapping[str, object], names: Mapping[str, str]) -> Authors:
    """Who has written what the object tells of."""
    stated = item.get("author") or item.get("creator")
    listed = stated if isinstance(stated, list) else [stated]
    found: list[str] = []
    is_house = False
    for author in listed[:_MAX_AUTHORS]:
        found += filter(None, map(name_of, _author_texts(author, names)))
        is_house |= isinstance(author, dict) and any(
            name.endswith(_HOUSES) for name in _types(author)
        )
    return Authors(tuple(dict.fromkeys(found)), is_house)


def _author_texts(author: object, names: Mapping[str, str]) -> list[str]:
    """The names of an author: a text, an object, or the id of an object."""
    if not isinstance(author, dict):
        return list(_texts(author))
    identity = author.get("@id")
    known = names.get(identity) if isinstance(identity, str) else None
    return list(_texts(author.get("name") or known))
