"""When a title, an author or a date counts as right: the rules of `dehusk bench metadata`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import numpy as np

from dehusk.answer.candidates import (
    AUTHOR_WEIGHTS,
    PUBLISHED_KINDS,
    PUBLISHED_WEIGHTS,
    choose,
    gather,
)
from dehusk.answer.stated import (
    AUTHOR_NAMES,
    DATE_NAMES,
    LABEL_NAMES,
    MODIFIED_NAMES,
    PUBLISHED_NAMES,
    VALUE_NAMES,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import GoldPage
from dehusk_bench.quality.scoring import words

FIELDS: Final = ("title", "author", "published")
"""What there is gold for, by the names of the JSON line."""
Facts = dict[str, str]
"""What is known, or said, of a page by field; a field that is not there is unknown."""


class Outcome(StrEnum):
    """What an answer is worth."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSING = "missing"


_UNKNOWN: Final = frozenset(("", "unknown", "none", "null"))
_DAY: Final = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
_BETWEEN: Final = re.compile(
    r"\s*(?:[,;|/&、，；·•\n]|\b(?:and|und|et|y|e|en|i|и|και)\b)\s*", re.IGNORECASE
)
_BEFORE: Final = re.compile(
    r"^(?:by|von|par|por|di|da|door|przez|автор|text|texto|作者|记者|文)\b[\s:：]*", re.IGNORECASE
)
_TITLES: Final = frozenset(("dr", "prof", "professor", "phd", "md", "mag", "dipl", "ing"))


def gold_facts(gold: GoldPage) -> Facts:
    """What is known of a page: its headline, else what its `<title>` says of it; authors, day."""
    known = {
        "title": gold.headline or gold.page_title,
        "author": gold.authors,
        "published": gold.date,
    }
    facts = {name: value.strip() for name, value in known.items() if isinstance(value, str)}
    if _day(facts.get("published", "")) is None:
        facts.pop("published", None)
    return {name: value for name, value in facts.items() if value.casefold() not in _UNKNOWN}


_ANY_DAY: Final = "9999"
_LINKED: Final = re.compile(r"<script[^>]*ld\+json[^>]*>.*?</script\s*>", re.DOTALL | re.IGNORECASE)
_META: Final = re.compile(r"<meta\b[^>]*>", re.IGNORECASE)
_META_NAME: Final = re.compile(r"(?:name|property|http-equiv)\s*=\s*[\"']?([^\"'\s>]+)")
_HIDDEN: Final = frozenset(
    (*AUTHOR_NAMES, *PUBLISHED_NAMES, *DATE_NAMES, *MODIFIED_NAMES, *LABEL_NAMES, *VALUE_NAMES)
)


def stated_facts(page: Page) -> Facts:
    """The day of publication and the person that a page states for machines, as far as it does."""
    tree = parse(page).tree
    found = gather(tree, np.zeros(len(tree), np.int8), page.url, _ANY_DAY)
    dates = [each for each in found.dates if not PUBLISHED_KINDS.isdisjoint(each.signs)]
    people = [
        each for each in found.authors if each.signs[0] == "stated" and "person" in each.signs
    ]
    known = (
        ("published", choose(dates, PUBLISHED_WEIGHTS)), ("author", choose(people, AUTHOR_WEIGHTS)),
    )  # fmt: skip
    return {field: chosen.candidate.value for field, chosen in known if chosen}


def without_stated(page: Page) -> Page:
    """The page without what it states of its date and its author for machines alone."""
    return replace(page, html=_META.sub(_unless_hidden, _LINKED.sub("", str(page.html))))


def _unless_hidden(meta: re.Match[str]) -> str:
    written = meta[0].lower()
    is_hidden = "itemprop" in written or not _HIDDEN.isdisjoint(_META_NAME.findall(written))
    return "" if is_hidden else meta[0]


def outcome(field: str, said: str | None, known: str) -> Outcome:
    """What an answer is worth against what is known.

    title: the same words in the same order, whatever their case and the signs between them.
    author: the same set of names, in any order and case, without accents, titles and 'by'.
    published: the same day as written, or as UTC where both say their offset; a month or a year
    alone is missing, not wrong.
    """
    if not said or (field == "published" and _day(said) is None):
        return Outcome.MISSING
    return Outcome.RIGHT if _SAME[field](said, known) else Outcome.WRONG


def _same_title(said: str, known: str) -> bool:
    return words(_plain(said)) == words(_plain(known))


def names_of(written: str) -> frozenset[str]:
    """The names in a byline, each as its words in small letters, in the order of the alphabet."""
    parts = (_BEFORE.sub("", part) for part in _BETWEEN.split(_plain(written)))
    named = (
        " ".join(sorted(word for word in words(part) if word not in _TITLES)) for part in parts
    )
    return frozenset(filter(None, named))


def _same_authors(said: str, known: str) -> bool:
    return names_of(said) == names_of(known) or "".join(sorted(words(_plain(said)))) == "".join(
        sorted(words(_plain(known)))
    )


def _same_day(said: str, known: str) -> bool:
    if _day(said) == _day(known):
        return True
    moments = _moment(said), _moment(known)
    return None not in moments and moments[0] == moments[1]


def _day(written: str) -> tuple[int, int, int] | None:
    """The day that is written; None for less than a day."""
    found = _DAY.match(written.strip())
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _moment(written: str) -> tuple[int, int, int] | None:
    """The day in UTC; None where no offset is written."""
    try:
        moment = datetime.fromisoformat(written.strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    moment = moment.astimezone(UTC)
    return moment.year, moment.month, moment.day


def _plain(text: str) -> str:
    """The text without accents and in the common form of its letters."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part))


_SAME: Final = {"title": _same_title, "author": _same_authors, "published": _same_day}
