"""JSON-LD: what a page says of itself for machines."""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from turbohtml import Document

from dehusk.answer.describe.one_line import one_line

_MAX_OBJECTS: Final = 2000
"""Objects of JSON-LD that are looked at: a page needs a few, a hostile one has millions."""
_OTHER_KEYS: Final = frozenset((
    "aggregaterating", "comment", "comments", "haspart", "image", "ispartof", "itemlistelement",
    "publisher", "review", "reviews", "suggestedanswer", "video",
))  # fmt: skip
"""Where JSON-LD tells of other things than the page."""
_OTHER_TYPES: Final = frozenset((
    "answer", "comment", "imageobject", "organization", "person", "review", "usercomments",
    "videoobject", "website",
))  # fmt: skip

_MAX_AUTHORS: Final = 50
_MAX_NAME: Final = 200
"""Characters beyond which something is no name."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A page's JSON-LD: the objects that tell of the page, articles first, and names by id."""

    objects: list[dict[str, object]]
    names: dict[str, str]


NOT_LINKED: Final = Linked([], {})
"""What a page without JSON-LD says in it."""


def read_linked(document: Document) -> Linked:
    """The page's JSON-LD; what is no JSON, or nests too deep for any, is passed over."""
    queue: deque[object] = deque(document.json_ld())
    found: list[dict[str, object]] = []
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
        if _types(value).isdisjoint(_OTHER_TYPES):
            found.append(value)
        queue.extend(
            inner
            for key, inner in value.items()
            if isinstance(inner, dict | list) and key.lower() not in _OTHER_KEYS
        )
    found.sort(key=lambda item: not any(map(_is_article, _types(item))))
    return Linked(found, names)


def _types(item: Mapping[str, object]) -> set[str]:
    """The types of a JSON-LD object, in small letters."""
    stated = item.get("@type")
    types = stated if isinstance(stated, list) else [stated]
    return {name.rpartition("/")[2].lower() for name in types if isinstance(name, str)}


def _is_article(name: str) -> bool:
    """Is this the type of something that somebody writes and publishes?"""
    return name.endswith(("article", "posting", "report"))


def author_names(linked: Linked) -> str | None:
    """Who has written the page, with commas between the names."""
    for item in linked.objects:
        authors = item.get("author")
        listed = authors if isinstance(authors, list) else [authors]
        names = [_person(author, linked.names) for author in listed[:_MAX_AUTHORS]]
        unique = list(dict.fromkeys(filter(None, names)))
        if unique:
            return ", ".join(unique)
    return None


def _person(author: object, names: Mapping[str, str]) -> str | None:
    """The name of an author as JSON-LD gives it: a text, an object, or the id of an object."""
    if isinstance(author, dict):
        identity = author.get("@id")
        known = names.get(identity) if isinstance(identity, str) else None
        return name_of(author.get("name") or known)
    return name_of(author)


def name_of(stated: object) -> str | None:
    """A name in one line; None for what is none, such as an address."""
    name = one_line(html.unescape(stated)) if isinstance(stated, str) else ""
    is_name = 0 < len(name) <= _MAX_NAME and "://" not in name and any(map(str.isalpha, name))
    return name if is_name else None
