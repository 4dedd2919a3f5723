"""What a page says of itself: title, language, author, dates and more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import chain
from typing import Final

import numpy as np

from dehusk import _kernel
from dehusk.answer.candidates import (
    AUTHOR_WEIGHTS,
    MIN_AUTHOR,
    MIN_PUBLISHED,
    PUBLISHED_WEIGHTS,
    Chosen,
    Gathered,
    choose,
    gather,
    taught,
)
from dehusk.answer.dates import is_plausible, iso_date, latest_day
from dehusk.answer.names import name_of, one_line
from dehusk.answer.shown import NO_PLACES, Candidate, Places, is_of_another
from dehusk.answer.stated import (
    DATE_NAMES,
    IMAGE_NAMES,
    MODIFIED_NAMES,
    PUBLISHED_NAMES,
    SITE_NAMES,
    SUMMARY_NAMES,
    TAG_NAMES,
    Labelled,
    Stated,
)
from dehusk.answer.titles import title_of
from dehusk.memory import Table
from dehusk.memory.tables import EMPTY
from dehusk.page import tags
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree
from dehusk.page.urls import base_of, is_web

_PLAIN: Final = pattern(r"https?://[a-z0-9.-]+/[A-Za-z0-9/._~%?=&+,@:-]*")
"""An address that is absolute and needs no change."""
_MAX_SUMMARY: Final = 2000
_MAX_TAGS: Final = 50
_MAX_TAG: Final = 80
"""Characters and tags beyond which a page describes no longer, but stuffs."""


@dataclass(frozen=True, slots=True)
class Description:
    """What a page says of itself; None for what it does not say, or not for sure."""

    title: str | None = None
    lang: str | None = None
    """A language tag, such as `en` or `pt-BR`."""
    canonical: str | None = None
    author: str | None = None
    """Names with commas between them."""
    published: str | None = None
    """A date or a time of ISO 8601; the month or the year alone where no more is stated."""
    modified: str | None = None
    """The same of its last change, where that is later."""
    summary: str | None = None
    """What the page is about, in its own words, which it states and need not show."""
    image: str | None = None
    """The address of the image that stands for the page."""
    site_name: str | None = None
    """What the site calls itself."""
    tags: tuple[str, ...] = ()
    """What the page is filed under."""


def describe(
    tree: Tree,
    labels: Labelled,
    url: str | None,
    fetched: str | None = None,
    places: Table = EMPTY,
) -> Description:
    """What the page says of itself; dates behind the day that it was fetched on are none.

    Without that day, as ISO 8601, it is today. `places` is what the site's pages have taught,
    this one among them.
    """
    latest = latest_day((fetched and _day(fetched)) or datetime.now(UTC).date())
    known = Places(places, tree.once(taught)) if len(places) else NO_PLACES
    gathered = gather(tree, labels, url, latest, known)
    stated = gathered.stated
    published = _published(tree, gathered, latest)
    return Description(
        title=title_of(stated, gathered.sites, gathered.headline, gathered.linked_title),
        lang=gathered.lang,
        canonical=_canonical(tree, stated, url),
        author=_author(tree, gathered),
        published=published,
        modified=_modified(tree, gathered, published, latest),
        summary=_summary(gathered),
        image=_image(tree, gathered, url),
        site_name=_site_name(gathered),
        tags=_tags(gathered),
    )


def _day(written: str) -> date | None:
    """The day of a time of ISO 8601; None for any other text."""
    with suppress(ValueError):
        return date.fromisoformat(written[:10])
    return None


def _canonical(tree: Tree, stated: Stated, url: str | None) -> str | None:
    """The address that the page wants to be known by, read as its links are."""
    for rel, href in stated.links:
        address = _address(tree, url, href) if "canonical" in rel.lower().split() else None
        if address:
            return address
    return None


def _address(tree: Tree, url: str | None, written: str) -> str | None:
    """An address of the web as the page means it; None for any other."""
    if written.startswith(("https://", "http://")) and _PLAIN.fullmatch(written):
        return written  # As nearly all are.
    address = base_of(tree, url).absolute(written)
    return address if address and is_web(address) else None


def _own(
    tree: Tree, gathered: Gathered, candidates: list[Candidate], weights: Mapping[str, float]
) -> Chosen | None:
    """The likeliest candidate that does not stand in a review or a comment; None for none."""
    while chosen := choose(candidates, weights):
        if _is_own(tree, gathered, chosen.candidate):
            break
        candidates = [each for each in candidates if each is not chosen.candidate]
    return chosen


def _is_own(tree: Tree, gathered: Gathered, candidate: Candidate) -> bool:
    """Is it stated, or shown elsewhere than in a review or a comment, as far as can be told?"""
    if candidate.node < 0 or not gathered.headline:
        return True
    return not is_of_another(tree, candidate.node, gathered.headline.node)


def _author(tree: Tree, gathered: Gathered) -> str | None:
    """Who has written the page, where that is sure enough."""
    chosen = _own(tree, gathered, gathered.authors, AUTHOR_WEIGHTS)
    return chosen.candidate.value if chosen and chosen.confidence >= MIN_AUTHOR else None


def _published(tree: Tree, gathered: Gathered, latest: str) -> str | None:
    """When the page was published, where that is sure enough; else the month that it states."""
    dates = [each for each in gathered.dates if "updated" not in each.signs]
    chosen = _own(tree, gathered, dates, PUBLISHED_WEIGHTS)
    if chosen and chosen.confidence >= MIN_PUBLISHED:
        day = chosen.candidate.value
        # What is stated may say the time as well.
        same = (each.value for each in dates if each.value[:10] == day[:10])
        return max(same, key=len)
    stated = _stated(gathered, ("datePublished",), PUBLISHED_NAMES + DATE_NAMES, latest)
    return next((month for month in stated if len(month) < len("2024-05-02")), None)


def _stated(
    gathered: Gathered, keys: tuple[str, ...], names: tuple[str, ...], latest: str
) -> Iterator[str]:
    """The dates that JSON-LD states under these keys and metas under these names, if plausible."""
    for value in chain(gathered.linked.texts(*keys), gathered.stated.all(names)):
        found = iso_date(value)
        if found and is_plausible(found, latest):
            yield found


def _modified(tree: Tree, gathered: Gathered, published: str | None, latest: str) -> str | None:
    """When the page was last changed, as it states or shows; None where that is not later."""
    updated = (each for each in gathered.dates if "updated" in each.signs)
    shown = (each.value for each in updated if _is_own(tree, gathered, each))
    for found in chain(_stated(gathered, ("dateModified",), MODIFIED_NAMES, latest), shown):
        return found if published is None or found[:10] >= published[:10] else None
    return None


def _summary(gathered: Gathered) -> str | None:
    """What the page says that it is about."""
    stated = gathered.stated.first(SUMMARY_NAMES) or next(gathered.linked.texts("description"), "")
    return one_line(stated)[:_MAX_SUMMARY] or None


def _image(tree: Tree, gathered: Gathered, url: str | None) -> str | None:
    """The image that stands for the page."""
    stated = gathered.stated.first(IMAGE_NAMES) or next(
        gathered.linked.texts("image", "thumbnailUrl"), ""
    )
    return _address(tree, url, stated.strip()) if stated.strip() else None


def _site_name(gathered: Gathered) -> str | None:
    """What the site calls itself: Open Graph's word, else that of JSON-LD."""
    stated = gathered.stated.first(SITE_NAMES)
    linked = (site.get("name") for site in gathered.linked.sites)
    return next(filter(None, map(name_of, chain((stated,), linked))), None)


def _tags(gathered: Gathered) -> tuple[str, ...]:
    """What the page is filed under, each once, in order."""
    metas = gathered.stated.metas
    stated = next((metas[name] for name in TAG_NAMES if metas.get(name)), ())
    written = stated or tuple(gathered.linked.texts("keywords"))
    if not written:
        return ()
    pieces = (piece for text in written[:_MAX_TAGS] for piece in _split(text))
    return tuple(dict.fromkeys(piece for piece in pieces if 0 < len(piece) <= _MAX_TAG))[:_MAX_TAGS]


def _split(text: str) -> Iterable[str]:
    """The keywords of a list with commas."""
    written = text[: _MAX_TAGS * _MAX_TAG]
    return map(one_line, written.replace(";", ",").replace("，", ",").split(","))


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
_SHELLS: Final = pattern(
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
