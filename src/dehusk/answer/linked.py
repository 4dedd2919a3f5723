"""What a page says of itself for machines (JSON-LD), and dates as pages write them."""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from turbohtml import Document

_MIN_YEAR: Final = 1000
_DATE: Final = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)"
    r"(?:[T\s]\s?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?$)?",
    re.IGNORECASE,
)
_MONTH_OR_YEAR: Final = re.compile(r"(\d{4})(?:[-/](\d{1,2}))?")
_COMPACT_DATE: Final = re.compile(r"(\d{4})(\d{2})(\d{2})")
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sep sept", "october oct", "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_DAY: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH: Final = r"([a-z]{3,9})\.?"
_DAY_MONTH: Final = re.compile(rf"{_DAY}\s{_MONTH},?\s(\d{{4}})", re.IGNORECASE)
_MONTH_DAY: Final = re.compile(rf"{_MONTH}\s{_DAY},?\s(\d{{4}})", re.IGNORECASE)
_MAIL_DATE: Final = re.compile(r"(?:[a-z]{3}, )?\d{1,2} [a-z]{3} \d{4} \d{2}:\d{2}", re.IGNORECASE)


def iso_date(stated: str) -> str | None:
    """A time, day, month or year of ISO 8601, as stated; None where it cannot be told for sure."""
    stated = stated.strip()
    if not 4 <= len(stated) <= 64:
        return None
    try:
        return _month_or_year(stated) or _year_first(stated) or _month_by_name(stated)
    except (ValueError, OverflowError):
        return None


def _month_or_year(stated: str) -> str | None:
    """A month of a year, or a year, where nothing else is stated."""
    found = _MONTH_OR_YEAR.fullmatch(stated)
    if not found:
        return None
    day = _iso(datetime(int(found[1]), int(found[2] or 12), 1), has_time=False)
    return day and day[: len("2024-05") if found[2] else len("2024")]


def _year_first(stated: str) -> str | None:
    """A date that begins with its year, with its time if that can be read."""
    found = _COMPACT_DATE.fullmatch(stated)
    if found:
        return _iso(datetime(int(found[1]), int(found[2]), int(found[3])), has_time=False)
    found = _DATE.match(stated)
    if not found:
        return None
    year, month, day = int(found[1]), int(found[3]), int(found[4])
    if not found[5]:
        return _iso(datetime(year, month, day), has_time=False)
    clock = (int(found[5]), int(found[6]), int(found[7] or 0))
    return _iso(datetime(year, month, day, *clock, tzinfo=_zone(found[8])), has_time=True)


def _zone(written: str | None) -> timezone | None:
    """The offset from UTC that `Z`, `+0200`, `+02:00` or `+02` say."""
    if not written:
        return None
    if written in "Zz":
        return UTC
    digits = written[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if written[0] == "-" else offset)


def _month_by_name(stated: str) -> str | None:
    """A date that names its month in English, as mail does, or as people do."""
    found = _DAY_MONTH.fullmatch(stated)
    day, month, year = found.groups() if found else ("", "", "")
    if not found and (found := _MONTH_DAY.fullmatch(stated)):
        month, day, year = found.groups()
    if found:
        number = _MONTHS.get(month.lower())
        return _iso(datetime(int(year), number, int(day)), has_time=False) if number else None
    if not _MAIL_DATE.match(stated):
        return None
    # With it come sockets and the like, and hardly any page has such a date.
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    return _iso(parsedate_to_datetime(stated), has_time=True)


def _iso(moment: datetime, *, has_time: bool) -> str | None:
    """The date or time as ISO 8601; None for the zeros that programs write for no date."""
    if moment.year < _MIN_YEAR or (moment.year, moment.month, moment.day) == (1970, 1, 1):
        return None
    return moment.isoformat() if has_time else moment.date().isoformat()


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


def one_line(text: str) -> str:
    """The text in one line; half surrogate pairs, which JSON can hold, become U+FFFD."""
    text = " ".join(text.split())
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def name_of(stated: object) -> str | None:
    """A name in one line; None for what is none, such as an address."""
    name = one_line(html.unescape(stated)) if isinstance(stated, str) else ""
    is_name = 0 < len(name) <= _MAX_NAME and "://" not in name and any(map(str.isalpha, name))
    return name if is_name else None
