"""What may be the date and the author of a page, weighed by what speaks for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import repeat
from typing import Final, NamedTuple

import numpy as np

from dehusk.answer.dates import address_date, is_month_first, is_plausible, iso_date
from dehusk.answer.names import is_company, is_person, name_of, people
from dehusk.answer.shown import (
    ANYTHING,
    AUTHORS,
    DATES,
    IS_AUTHOR,
    IS_DATE,
    NO_PLACES,
    Candidate,
    Places,
    Where,
    key_at,
    lesson_of,
    read_marks,
    shown_authors,
    shown_dates,
)
from dehusk.answer.stated import (
    AUTHOR_NAMES,
    DATE_NAMES,
    LABEL_NAMES,
    PUBLISHED_NAMES,
    VALUE_NAMES,
    Heading,
    Labelled,
    Linked,
    Stated,
    authors_of,
    lang_of,
    read_said,
)
from dehusk.answer.titles import headline_of, key_of, site_keys
from dehusk.memory import Table
from dehusk.memory.tables import EMPTY
from dehusk.page.tree import Tree
from dehusk.page.urls import host_of

BIAS: Final = "any"
"""The sign that every candidate has."""
PUBLISHED_WEIGHTS: Final[Mapping[str, float]] = {
    BIAS: 1.3,
    "stated": 0.8, "meta date": -0.2, "address": 1.1,
    "where 0": -1.2, "where 1": 0.1, "where 2": 0.4, "where 3": 0.5, "where 4": -0.4,
    "label 0": -0.2, "label 1": -0.2, "first": 0.7, "long text": -2.0, "other": -3.0,
    "alone there": 0.2, "few there": 0.3, "many there": -1.0, "not first there": 0.1,
    "as address": 1.3, "not as address": -1.6, "as stated": 0.5, "not as stated": -1.9,
    "as in head": 0.6, "not as in head": -3.1,
    "place right": 2.0, "place wrong": -2.0, "place same": -1.0,
}  # fmt: skip
"""How much more likely each sign makes a day, as logarithms of odds.

Fitted by `dehusk bench metadata --fit` to 1,280 pages of articles-dev and snippets-dev, rounded;
`other` (copyright, members since) was seen too seldom to be fitted, and is chosen; so are the
weights of places, which need pages of one site.
"""
AUTHOR_WEIGHTS: Final[Mapping[str, float]] = {
    BIAS: 0.6,
    "person": 1.3, "one word": -0.3, "no names": 0.3, "company": -0.4, "site": -1.0, "house": -0.3,
    "part": -1.7, "several": -1.7, "many names": -0.1, "said 1": -0.7, "said 2": 0.5, "said 3": 0.8,
    "json-ld article": 1.0, "json-ld other": -0.3, "meta byline": 0.6, "meta author": -0.6,
    "meta creator": -0.5, "meta article:author": 0.2, "meta labelled": -0.3,
    "rel": 0.4, "itemprop": 0.8, "byline": 0.1, "named": 0.0, "link": 0.3, "other name": -0.3,
    "text": -0.8,
    "where 0": 0.1, "where 1": -0.9, "where 2": 0.4, "where 3": 0.9, "where 4": 0.1,
    "label 1": -0.4, "says by": 0.7, "long text": -1.0,
    "place right": 2.0, "place wrong": -2.0,
}  # fmt: skip
"""The same of authors, fitted to 1,062 pages."""
MIN_PUBLISHED: Final = 0.6
MIN_AUTHOR: Final = 0.45
"""Below it nothing is said. By folds of sites, so many are right and wrong from each on: days at
0.4 0.898 and 0.077, at 0.6 0.895 and 0.077, at 0.7 0.870 and 0.071 (on 0.06 of pages the right day
stands nowhere); authors at 0.3 0.755 and 0.120, at 0.45 0.737 and 0.105, at 0.6 0.724 and 0.097."""


class Chosen(NamedTuple):
    """The candidate that most speaks for, and how sure it is."""

    candidate: Candidate
    confidence: float
    """0 … 1: the share of such candidates that are right."""


def choose(candidates: Iterable[Candidate], weights: Mapping[str, float]) -> Chosen | None:
    """The likeliest candidate, the first of equal ones; None for none."""
    best: tuple[float, Candidate] | None = None
    for candidate in candidates:
        weight = weights[BIAS] + sum(map(weights.get, candidate.signs, repeat(0.0)))
        if best is None or weight > best[0]:
            best = weight, candidate
    if best is None:
        return None
    return Chosen(best[1], 1.0 / (1.0 + math.exp(-best[0])))


_DAY: Final = len("2024-05-02")
_IN_HEAD: Final = f"where {Where.IN_HEAD.value}"
_MAX_ITEMS: Final = 8
"""Objects of JSON-LD whose dates and authors may be the page's."""
_SPREAD: Final = 16
"""Nodes that one byline spreads over."""
_WRITTEN_BY: Final = ("writ", "verfass", "geschr", "by", "autor", "auteur", "escrit", "scritt")
_META_SIGNS: Final = {
    "author": "meta author", "article:author": "meta article:author", "dc.creator": "meta creator",
    "dcterms.creator": "meta creator", "dc:creator": "meta creator", "og:author": "meta author",
}  # fmt: skip


class Gathered(NamedTuple):
    """What a page states of itself, and where it may show more."""

    stated: Stated
    linked: Linked
    sites: frozenset[str]
    """What the site may call itself, as keys."""
    headline: Heading | None
    linked_title: str
    """What JSON-LD says of the headline; empty for nothing."""
    lang: str | None
    dates: list[Candidate]
    authors: list[Candidate]


def gather(
    tree: Tree, labels: Labelled, url: str | None, latest: str, places: Places = NO_PLACES
) -> Gathered:
    """All that speaks for a date up to that day, or for an author.

    The whole page is gone through only where neither its head nor what it states says both, or the
    site shows them elsewhere.
    """
    labels = np.ascontiguousarray(labels)
    stated, linked = tree.once(read_said)
    stated = stated.labelled(labels)
    host = host_of(url or "")
    sites = site_keys(stated.metas, host) | {
        key_of(name) for site in linked.sites if (name := name_of(site.get("name")))
    }
    linked_title, lang = linked.first("headline"), lang_of(stated)
    headline = headline_of(tree, labels, stated, sites, linked_title)
    page = _Page(tree, labels, headline, is_month_first(lang, host), latest)
    dates = [each for each in _stated_dates(stated, linked) if is_plausible(each.value, latest)]
    authors = list(_stated_authors(stated, linked))
    days, names = page.shown(is_head_only=True) if headline else ([], [])
    is_product = _is_product(stated, linked)
    wanted = 0 if dates or days or is_product else DATES
    if not any(_is_sure(author, sites) for author in (*authors, *names)):
        wanted |= AUTHORS
    if is_product:
        days = []
    elif not wanted and not dates and places.has_other(day.place for day in days):
        wanted = DATES
    if wanted:
        all_days, all_names = page.shown(is_head_only=False, wanted=wanted)
        days, names = all_days or days, all_names or names
    dates = _placed(_compared([*dates, *days], url, latest), places, IS_DATE)
    authors = _placed(_judged([*authors, *names], sites), places, IS_AUTHOR)
    return Gathered(stated, linked, sites, headline, linked_title, lang, dates, authors)


def _is_product(stated: Stated, linked: Linked) -> bool:
    """Does the page say that it is about a product? It then shows days of reviews and events."""
    if linked.articles:
        return False
    kinds = (item.get("@type") for item in linked.objects[:_MAX_ITEMS])
    return "Product" in kinds or (stated.first(("og:type",)) or "").startswith(
        ("product", "og:product")
    )


_ANY_DAY: Final = "9999"
_SURE: Final = 0.8
"""How sure a candidate must be to teach where nothing is stated."""
_MAX_TAUGHT: Final = 16
"""Places that one page teaches."""
_ONE_IN: Final = 6
"""Of so many pages one teaches places: what that takes would else be 12 % of the time to text."""


def teaches(tree: Tree) -> bool:
    """Is this one of the pages that teach places? The page alone decides, by its length."""
    return tree.kernel.source_size % _ONE_IN == 0


def taught(tree: Tree) -> Table:
    """What the page teaches of places: where it shows what it states, or else is sure of.

    It comes from the page alone, without labels, address and clock: lessons add up in any order.
    Empty for a page that does not teach.
    """
    if not teaches(tree):
        return EMPTY
    stated, linked = tree.once(read_said)
    sites = site_keys(stated.metas, "")
    labels = np.zeros(len(tree), np.int8)
    headline = headline_of(tree, labels, stated, sites, linked.first("headline"))
    dates = [each for each in _stated_dates(stated, linked) if each.signs[1] in PUBLISHED_KINDS]
    authors = [each for each in _stated_authors(stated, linked) if _is_sure(each, sites)]
    if not (headline or dates or authors):
        return EMPTY
    # Days that could be two teach nothing.
    page = _Page(tree, labels, headline, None, _ANY_DAY)
    days, names = page.shown(is_head_only=True) if headline else ([], [])
    day = _known(dates, list(_compared(days, None, _ANY_DAY)), PUBLISHED_WEIGHTS)
    name = _known(_judged(authors, sites), _judged(names, sites), AUTHOR_WEIGHTS)
    wanted = DATES if dates and not any(_is_same_day(each.value, day) for each in days) else 0
    if authors and not any(_is_same_name(each.value, name) for each in names):
        wanted |= AUTHORS
    if wanted:
        all_days, all_names = page.shown(is_head_only=False, wanted=wanted)
        days, names = all_days or days, all_names or names
    shown: dict[int, tuple[str, bool]] = {}
    for each in days if day else ():
        if "updated" not in each.signs:
            key = key_at(each.place, IS_DATE)
            shown.setdefault(key, (each.value, _is_same_day(each.value, day)))
    for each in names if name else ():
        key = key_at(each.place, IS_AUTHOR)
        shown.setdefault(key, (each.value, _is_same_name(each.value, name)))
    return lesson_of(dict(list(shown.items())[:_MAX_TAUGHT]))


PUBLISHED_KINDS: Final = frozenset(("json-ld article", "json-ld other", "meta published"))
"""The signs of stated days that are those of publication, and of nothing else."""


def _known(stated: list[Candidate], shown: list[Candidate], weights: Mapping[str, float]) -> str:
    """What the page states, else what it shows for sure; empty for neither."""
    chosen = choose(stated or shown, weights)
    is_known = chosen is not None and (stated or chosen.confidence >= _SURE)
    return chosen.candidate.value if chosen and is_known else ""


def _is_same_day(one: str, other: str) -> bool:
    """Are these the same day, or two that are one in another time zone?"""
    if not one or not other:
        return False
    return abs((date.fromisoformat(one[:_DAY]) - date.fromisoformat(other[:_DAY])).days) <= 1


def _is_same_name(one: str, other: str) -> bool:
    """Are these the same people?"""
    return {*map(key_of, one.split(", "))} == {*map(key_of, other.split(", "))}


def _placed(found: Iterable[Candidate], places: Places, kind: int) -> list[Candidate]:
    """The candidates with what other pages of the site say of their places."""
    if not places:
        return list(found)
    signs = [(each, each.place and places.sign(each.place, kind, each.value)) for each in found]
    return [each._replace(signs=(*each.signs, sign)) if sign else each for each, sign in signs]


class _Page(NamedTuple):
    """A page whose dates and authors are looked for."""

    tree: Tree
    labels: Labelled
    headline: Heading | None
    month_first: bool | None
    latest: str

    def shown(
        self, *, is_head_only: bool, wanted: int = ANYTHING
    ) -> tuple[list[Candidate], list[Candidate]]:
        """The days and the names that the page shows, in the article's head or anywhere."""
        tree, labels = self.tree, self.labels
        headline = self.headline.node if self.headline else -1
        marks = read_marks(tree, labels, headline, is_head_only=is_head_only, wanted=wanted)
        dates = shown_dates(tree, marks, month_first=self.month_first) if wanted & DATES else []
        authors = shown_authors(tree, marks) if wanted & AUTHORS else []
        return [each for each in dates if is_plausible(each.value, self.latest)], authors


def _stated_dates(stated: Stated, linked: Linked) -> Iterator[Candidate]:
    """The days that the page states, the first of each kind."""
    found: dict[str, str] = {}
    for number, item in enumerate(linked.objects[:_MAX_ITEMS]):
        kind = "json-ld article" if number < linked.articles else "json-ld other"
        for key, sign in (("datePublished", kind), ("dateCreated", "json-ld created")):
            _put_day(found, sign, (item.get(key),))
    for names, sign in ((PUBLISHED_NAMES, "meta published"), (DATE_NAMES, "meta date")):
        _put_day(found, sign, stated.all(names))
    return (Candidate(value, ("stated", sign)) for sign, value in found.items())


def _put_day(found: dict[str, str], sign: str, values: Iterable[object]) -> None:
    """Put the first day among the values under its sign, if there is none yet."""
    for value in () if sign in found else values:
        day = iso_date(value) if isinstance(value, str) else None
        if day and len(day) >= _DAY:
            found[sign] = day
            return


def _compared(dates: list[Candidate], url: str | None, latest: str) -> Iterator[Candidate]:
    """The candidates with what the others and the address say of their days."""
    address = address_date(url)
    if address and is_plausible(address, latest):
        dates = [*dates, Candidate(address, ("address",))]
    stated = {each.value[:_DAY] for each in dates if each.signs[0] == "stated"}
    heads = {each.value[:_DAY] for each in dates if _IN_HEAD in each.signs}
    for each in dates:
        day, kind = each.value[:_DAY], each.signs[0]
        signs = []
        if address and kind != "address":
            signs.append("as address" if address == day else "not as address")
        if kind != "stated" and stated:
            signs.append("as stated" if day in stated else "not as stated")
        if kind != "shown" and heads:
            signs.append("as in head" if day in heads else "not as in head")
        more = (*each.signs, *signs)
        yield Candidate(each.value, more, each.node, each.place) if signs else each


def _stated_authors(stated: Stated, linked: Linked) -> Iterator[Candidate]:
    """The authors that the page states; those of one object or one name of metas together."""
    for number, item in enumerate(linked.objects[:_MAX_ITEMS]):
        authors = authors_of(item, linked.names)
        kind = "json-ld article" if number < linked.articles else "json-ld other"
        yield from _named(authors.names, kind, *(("house",) if authors.is_house else ()))
    for name in AUTHOR_NAMES:
        if name not in stated.metas:
            continue
        named = filter(None, map(name_of, stated.metas[name]))
        plain = tuple(value for value in named if not value.startswith("@"))
        yield from _named(plain, _META_SIGNS.get(name, "meta byline"))
    for label, value in zip(LABEL_NAMES, VALUE_NAMES, strict=True):
        labels, values = stated.metas.get(label), stated.metas.get(value)
        if labels and values and any(word in labels[0].lower() for word in _WRITTEN_BY):
            yield from _named(tuple(filter(None, map(name_of, values[:1]))), "meta labelled")


def _named(names: tuple[str, ...], *signs: str) -> Iterator[Candidate]:
    """The candidate of these names, without what bylines say besides; none for no names."""
    if not names:
        return
    known = tuple(dict.fromkeys(each for name in names for each in people(name, is_marked=True)))
    more = () if known else ("no names",)
    yield Candidate(", ".join(known or names), ("stated", *signs, *more))


def _is_sure(author: Candidate, sites: frozenset[str]) -> bool:
    """Is this a person, and not the site?"""
    names = author.value.split(", ")
    return all(map(is_person, names)) and key_of(author.value) not in sites


def _shortened(authors: list[Candidate]) -> list[Candidate]:
    """The candidates without what stands behind a name that another place has alone.

    A title goes, and a second name stands behind a comma.
    """
    if len(authors) < 2:
        return authors
    alone = tuple(dict.fromkeys(each.value for each in authors if is_person(each.value)))
    found = []
    for each in authors:
        value = each.value
        for name in alone:
            if value.startswith(name) and value[len(name) : len(name) + 1] == " ":
                rest = value[len(name) + 1 :]
                each = each._replace(value=f"{name}, {rest}" if is_person(rest) else name)  # noqa: PLW2901
                break
        found.append(each)
    return found


def _judged(authors: list[Candidate], sites: frozenset[str]) -> list[Candidate]:
    """The candidates with what their names look like, and how many others say the same."""
    said: dict[str, set[object]] = {}
    authors = _shortened(authors)
    keys = [key_of(each.value) for each in authors]
    groups = {frozenset(each.value.split(", ")) for each in authors if ", " in each.value}
    for each, key in zip(authors, keys, strict=True):
        # An element and what is in it say the same once.
        origin = each.node // _SPREAD if each.node >= 0 else each.signs[1]
        said.setdefault(key, set()).add(origin)
    found = []
    for each, key in zip(authors, keys, strict=True):
        names = each.value.split(", ")
        signs = []
        if key in sites or (len(names) > 1 and not sites.isdisjoint(map(key_of, names))):
            signs.append("site")
        elif "house" not in each.signs and is_company(each.value):
            signs.append("company")
        elif all(map(is_person, names)):
            signs.append("person")
        elif all(" " not in name for name in names):
            signs.append("one word")
        if len(names) > 1:
            signs.append("several")
        if any(group.issuperset(names) and len(group) > len(names) for group in groups):
            signs.append("part")
        signs.append(f"said {min(len(said[key]), 3)}")
        found.append(Candidate(each.value, (*each.signs, *signs), each.node, each.place))
    return found
