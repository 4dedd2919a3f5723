"""A sample site's plan: which pages it has, where they are, how they look and how they link."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.dress import Dress
from dehusk_bench.samples.language import Language, Prose, load
from dehusk_bench.samples.write import Style

if TYPE_CHECKING:
    from dehusk_bench.samples.build import Element
    from dehusk_bench.samples.desk import Desk

_START_YEAR: Final = 2011
_YEARS: Final = 14
_DAYS_A_YEAR: Final = 336
"""Twelve months of 28 days: every date made of them exists."""
_DOCTYPES: Final = ("<!DOCTYPE html>\n", "<!doctype html>\n", "<!doctype html>")
_OLD_DOCTYPES: Final = ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">\n', "")
_FIRST_WITHOUT_ACCENTS: Final = "\u0400"
"""Latin and Greek lose their accents in URLs; in later scripts a mark makes another letter."""
_METADATA: Final = (
    "author", "canonical", "description", "icons", "json_ld", "open_graph", "styles",
)  # fmt: skip
_PAGE_NAMES: Final = ("about", "contact", "privacy", "help")
_PARTS: Final = {
    "ads": 0.5, "byline": 0.85, "comment_form": 0.5, "crumbs": 0.75, "footer_date": 0.4,
    "footer_nav": 0.8, "latest": 0.4, "login": 0.4, "most_read": 0.6, "newsletter": 0.4,
    "pager": 0.7, "print": 0.3, "related": 0.8, "search": 0.8, "share": 0.6, "skip": 0.5,
    "social": 0.5, "tag_cloud": 0.4, "tags": 0.5, "text_ads": 0.3, "text_related": 0.3,
    "toc": 0.6, "top": 0.4,
}  # fmt: skip
"""What a site may have around its content, and the share of sites that do."""
_ENTITIES: Final = {
    ord("\xa0"): "&nbsp;", ord("©"): "&copy;", ord("—"): "&mdash;", ord("–"): "&ndash;",
    ord("·"): "&middot;", ord("»"): "&raquo;", ord("«"): "&laquo;", ord("…"): "&hellip;",
    ord("“"): "&ldquo;", ord("”"): "&rdquo;", ord("’"): "&rsquo;", ord("é"): "&eacute;",
    ord("è"): "&egrave;", ord("à"): "&agrave;", ord("ü"): "&uuml;", ord("ö"): "&ouml;",
    ord("ä"): "&auml;", ord("ß"): "&szlig;", ord("×"): "&times;", ord("›"): "&#8250;",
}  # fmt: skip


class Side(Enum):
    """Where a site has its side column."""

    NONE = "none"
    LEFT = "left"
    RIGHT = "right"
    BOTH = "both"


class Href(Enum):
    """How a site writes its links."""

    ABSOLUTE = "absolute"
    ROOTED = "rooted"
    RELATIVE = "relative"


@dataclass(frozen=True, slots=True)
class Card:
    """What other pages of the site know of a page."""

    index: int
    letter: str
    """That of its family."""
    family: str
    number: int
    """How many pages of this family come before it."""
    section: int
    title: str
    path: str
    day: tuple[int, int, int]
    author: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of site: its families of pages and the order in which they come.

    A family has a letter: H home, L lists of a section, D what the site is about, P pages on the
    site itself, B bare pages, X whatever else the kind has. `first` and then `cycle`, again and
    again, give the families of the pages; what is only in `first` is not continued.
    """

    name: str
    families: Mapping[str, tuple[str, str, Callable[[Desk], Element]]]
    """By letter: the family's name, the type of its pages, and what makes one."""
    first: str
    cycle: str
    sections: str
    """The name of the word list that the sections come from."""
    title: Callable[[Prose, str, int], str]
    """A page's title, by family and number."""
    voice: str = "sentences"
    """What its paragraphs are made of: a list of sentence patterns."""
    points: str = "sentences"
    """What its lists are made of."""
    is_old: bool = False
    """Is its HTML that of the last century?"""
    subject: Callable[[Card], str] | None = None
    """What a page of the main family is about, for kinds whose sites share what they write of."""

    def place(self, index: int) -> tuple[str, int]:
        """The letter of a page's family, and how many pages of the family come before it."""
        if index < len(self.first):
            letter = self.first[index]
            return letter, self.first[:index].count(letter)
        rounds, place = divmod(index - len(self.first), len(self.cycle))
        letter = self.cycle[place]
        before = self.first.count(letter) + rounds * self.cycle.count(letter)
        return letter, before + self.cycle[:place].count(letter)

    def index(self, letter: str, number: int) -> int:
        """Where in the site a family's page of this number comes."""
        early = [place for place, other in enumerate(self.first) if other == letter]
        if number < len(early):
            return early[number]
        later = [place for place, other in enumerate(self.cycle) if other == letter]
        if not later:
            return early[number % len(early)]
        rounds, rest = divmod(number - len(early), len(later))
        return len(self.first) + rounds * len(self.cycle) + later[rest]


@dataclass(frozen=True, slots=True)
class Look:
    """What a site decides once, for all its pages."""

    style: Style
    doctype: str
    href: Href
    side: Side
    parts: frozenset[str]
    wrappers: int
    header: int
    footer: int
    cookie: int
    """Which of several variants; where there are fewer, the site has none."""
    is_semantic: bool
    """Does it use <header>, <nav>, <main> and the like?"""
    paths: int
    suffix: str
    """The end of file names in URLs."""
    items: int
    """Pages shown on a list."""
    title_mark: str
    """What stands between the page's title and the site's name."""
    metadata: frozenset[str]


class Habits:
    """Small choices that a site makes once: the same name always gives the same answer."""

    def __init__(self, *key: object) -> None:
        self._key = key
        self._shares: dict[str, float] = {}

    def __call__(self, name: str) -> float:
        """A number from 0 to below 1 that depends on the site and the name alone."""
        share = self._shares.get(name)
        if share is None:
            share = self._shares[name] = Dice(*self._key, "habit", name).random()
        return share


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A site as its pages see it."""

    kind: Kind
    key: tuple[object, ...]
    host: str
    name: str
    language: Language
    prose: Prose
    sections: tuple[str, ...]
    look: Look
    dress: Dress
    habits: Habits

    def card(self, index: int) -> Card:
        """What is known of the page at this place."""
        return _card(self, index)

    def page_of(self, letter: str, number: int) -> Card:
        """The page of a family with this number."""
        return _card(self, self.kind.index(letter, number))

    def href(self, path: str, base: str) -> str:
        """A link to `path` as the page at `base` writes it."""
        if self.look.href is Href.ABSOLUTE:
            return f"https://{self.host}{path}"
        if self.look.href is Href.ROOTED:
            return path
        return "../" * (base.count("/") - 1) + path[1:] or "./"


def plan_site(kind: Kind, seed: int, lang: str) -> Site:
    """The plan of a site; the same for the same kind, seed and language."""
    key = (kind.name, seed, lang)
    dice = Dice(*key, "site")
    language = load(lang)
    prose = Prose.of_site(language, dice)
    stem = f"{kind.name}-{seed}" if lang == "en" else f"{kind.name}-{seed}-{lang}"
    return Site(
        kind=kind,
        key=key,
        host=f"{stem}.example",
        name=_site_name(kind, prose),
        language=language,
        prose=prose,
        sections=tuple(dice.sample(language.words[kind.sections], dice.between(4, 6))),
        look=_look(dice, kind),
        dress=Dress(*key),
        habits=Habits(*key),
    )


def _site_name(kind: Kind, prose: Prose) -> str:
    dice = prose.dice
    place = prose.word("places")
    brand = "".join(dice.pick("bdfklmnprstv") + dice.pick("aeio") for _ in range(3)).title()
    if kind.name == "town":
        return place
    if kind.name in {"news", "tables"} or dice.chance(0.3):
        return f"{place} {brand}"
    return brand


def _style(dice: Dice, kind: Kind) -> Style:
    entities = _ENTITIES if dice.chance(0.4) else None
    indent = dice.pick(("  ", "    ", "\t", "", " ", None))
    if not kind.is_old:
        return Style(indent, entities=entities)
    open_ended = dice.pick(((), ("li", "p"), ("li", "p", "td", "th", "tr")))
    return Style(indent or "", dice.chance(0.6), frozenset(open_ended), entities)


def _look(dice: Dice, kind: Kind) -> Look:
    return Look(
        style=_style(dice, kind),
        doctype=dice.pick(_OLD_DOCTYPES if kind.is_old else _DOCTYPES),
        href=dice.pick(tuple(Href)),
        side=dice.pick(tuple(Side)),
        parts=frozenset(part for part, share in _PARTS.items() if dice.chance(share)),
        wrappers=dice.below(4),
        header=dice.below(4),
        footer=dice.below(4),
        cookie=dice.below(5),
        is_semantic=dice.chance(0.6),
        paths=dice.below(5),
        suffix=dice.pick((".html", "", "/", ".htm")),
        items=dice.between(4, 6),
        title_mark=dice.pick((" | ", " – ", " - ", " :: ", " · ")),
        metadata=frozenset(part for part in _METADATA if dice.chance(0.7)),
    )


@lru_cache(maxsize=4096)
def _card(site: Site, index: int) -> Card:
    letter, number = site.kind.place(index)
    dice = Dice(*site.key, "card", index)
    prose = site.prose.with_dice(dice)
    section = number % len(site.sections)
    family = site.kind.families[letter][0]
    start = int(site.habits("first day") * _YEARS * _DAYS_A_YEAR)
    days = (start + number * 3 + dice.below(3)) % (_YEARS * _DAYS_A_YEAR)
    day = (_START_YEAR + days // _DAYS_A_YEAR, days // 28 % 12 + 1, days % 28 + 1)
    if letter == "H":
        title = prose.phrase("home")
    elif letter == "L":
        title = site.sections[section]
    else:
        title = site.kind.title(prose, family, number)
    draft = Card(index, letter, family, number, section, title, "", day, prose.person())
    return replace(draft, path=_path(site, draft))


def _path(site: Site, card: Card) -> str:
    """Where a page is on its site; no two pages of a site are in the same place."""
    suffix, number, section = site.look.suffix, card.number, site.sections[card.section]
    if card.letter == "H":
        return "/"
    if card.letter == "P":
        name = _PAGE_NAMES[number] if number < len(_PAGE_NAMES) else f"info-{number}"
        return f"/{name}{suffix}"
    if card.letter == "L":
        place, rounds = slug(section, card.section), number // len(site.sections)
        return f"/{place}{suffix}" if rounds == 0 else f"/{place}/page-{rounds + 1}{suffix}"
    folder = "" if card.letter == "D" else f"/{card.family}"
    if site.look.paths == 0:
        place = slug(section, card.section)
        return f"{folder}/{place}/{slug(card.title, number)}-{number}{suffix}"
    if site.look.paths == 1:
        month = f"{card.day[0]}/{card.day[1]:02}"
        return f"{folder}/{month}/{slug(card.title, number)}-{number}{suffix}"
    if site.look.paths == 2:
        return f"/{card.family}/{number}{suffix}"
    if site.look.paths == 3:
        return f"/{card.family}.php?id={number}"
    return f"/{card.family}/{number // 100}/{number}{suffix}"


def slug(text: str, number: int) -> str:
    """The text as a part of a URL, or a number where it has too few letters to be one."""
    plain = text.lower().replace("ß", "ss")
    if max(plain) < _FIRST_WITHOUT_ACCENTS:
        letters = unicodedata.normalize("NFKD", plain)
        plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    words = "".join(letter if letter.isalnum() else " " for letter in plain).split()
    name = "-".join(words[:4])
    return quote(name[: 40 if name.isascii() else 12].strip("-")) or f"p{number}"
