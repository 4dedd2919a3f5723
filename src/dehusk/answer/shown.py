"""Where a page shows its dates and its authors, and what its site has taught of such places."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from enum import IntEnum, IntFlag
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from dehusk import _kernel
from dehusk.answer.dates import Written, first_date, iso_date
from dehusk.answer.names import has_byline, people
from dehusk.answer.stated import Labelled
from dehusk.memory import Table
from dehusk.memory.tables import EMPTY
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree

_MAX_TEXT: Final = 150
"""Characters beyond which a text is more than a date or a byline."""
_MAX_MARKS: Final = 120
"""Places that are looked at: a page needs a few, a hostile one has millions."""
_AUTHOR_NAMES: Final = (
    "author", "autor", "auteur", "verfass", "writer", "redak", "byline", "creator", "contrib",
)  # fmt: skip
_DATE_NAMES: Final = ("date", "datum", "publi", "fecha", "posted", "time")
"""Pieces of names of elements that hold authors, and dates."""
_STARTS: Final = (
    "by ", "by:", "by&", "von ", "von:", "von&", "par ", "por ", "di ", "da ", "door ", "przez ",
    "av ", "af ", "posted", "written", "geschrieben", "verfasst", "text:", "texte", "texto",
    "autor", "autho", "auteur", "redak", "reporter", "bericht", "ein beitrag", "ein artikel",
    "words by", "interview:", "interview von", "(责", "（责", "责任", "责编", "著者", "автор",
    "Автор", "作者", "记者", "記者", "文/", "文：", "글",
)  # fmt: skip
"""What bylines begin with."""
_INSIDE: Final = (" von ", " by ", " par ", " por ", "作者", "记者", "記者")
"""What stands before an author behind a date."""
_LINKS: Final = ("/author", "/autor", "/writer", "/reporter", "/redakt", "/auteur")
"""What the addresses of pages about authors hold."""
_UPDATED: Final = (
    "updat", "aktualis", "geändert", "modif", "bearbeit", "actuali", "mis à jour", "zuletzt",
    "changed", "edited", "aggiorn", "atualiz", "bijgewerkt", "revised", "reviewed", "обновл",
    "更新", "ενημ",
)  # fmt: skip
_OTHER: Final = ("©", "(c)", "copyright", "joined", "registriert", "beigetreten", "mitglied")
"""What stands before dates of changes, and with dates of other things."""
_OTHER_NAMES: Final = (
    "comment", "kommentar", "social", "share", "avatar", "image", "caption", "credit", "bio",
    "desc", "related", "widget", "teaser",
)  # fmt: skip
"""Pieces of names of elements that hold authors of other things."""
_ITEM_TYPE: Final = b' itemtype="'
_OTHER_TYPES: Final = (b"review", b"comment", b"usercomments")
"""Ends of the types of things on a page that are not the page, and have dates of their own."""
_OF_READERS: Final = pattern(
    rb' (?:class|id)="(?:[^"]* )?(?:(?:customer|user|product)[-_]?)?'
    rb"(?:review|comment|testimonial|kommentar)(?:s|e|er)?(?![a-z])",
    re.IGNORECASE,
)
"""A start tag whose names begin with what readers write; `date-comments` holds the page's own."""


def _lines(words: tuple[str, ...]) -> bytes:
    """The words as the kernel takes them."""
    return "".join(f"{word}\n" for word in words).encode()


_SOUGHT: Final = (
    _lines(_AUTHOR_NAMES), _lines(_DATE_NAMES), _lines(_STARTS), _lines(_LINKS),
)  # fmt: skip


class Where(IntEnum):
    """Where a mark stands, seen from the headline; as the kernel says."""

    UNKNOWN = 0
    FAR_BEFORE = 1
    JUST_BEFORE = 2
    IN_HEAD = 3
    LATER = 4


class Has(IntFlag):
    """What a mark has; as the kernel says."""

    DATE = 1
    BYLINE = 2
    AUTHOR_NAME = 4


_DATE, _BYLINE, _AUTHOR_NAME = (int(each) for each in Has)
DATES: Final = _DATE
AUTHORS: Final = _BYLINE | _AUTHOR_NAME
ANYTHING: Final = DATES | AUTHORS
"""What may be wanted of marks."""


class Mark(NamedTuple):
    """A place that may hold a date or an author."""

    node: int
    label: int
    path: int
    """A hash of the tags from `<html>` down to it."""
    place: int
    """The same with the classes of the nearest elements."""
    has: int
    where: int
    names: tuple[str, ...]
    """Class, id, itemprop, rel, the address of an author and the name for tests of an element;
    empty for a text."""
    value: str
    """What its `datetime`, `content` or `title` says."""
    text: str


_MARK: Final = partial(tuple.__new__, Mark)
"""A mark as the kernel gives it: a call of the class takes longer than to find it."""


class Candidate(NamedTuple):
    """Something that a fact may be, what speaks for it and against it, and where it is shown."""

    value: str
    signs: tuple[str, ...]
    node: int = -1
    """-1 for what is stated and not shown."""
    place: int = 0
    """Where a page shows it; 0 for what is stated."""


def read_marks(
    tree: Tree, labels: Labelled, headline: int, *, is_head_only: bool, wanted: int = ANYTHING
) -> list[Mark]:
    """The places that may hold what is wanted, in the head of the article or anywhere."""
    found = _kernel.marked(
        tree.kernel, labels, *_SOUGHT, headline, is_head_only, wanted, _MAX_TEXT, _MAX_MARKS
    )
    return [*map(_MARK, found)]


_MAX_THERE: Final = 3
"""Dates at places of one path that are looked at: more are those of a list."""


def shown_dates(tree: Tree, marks: list[Mark], *, month_first: bool | None) -> list[Candidate]:
    """The days that the page shows at its marks, the first few at places of one path, in order."""
    texts_at: dict[int, dict[str, None]] = {}
    found: list[tuple[Mark, str, Written | None, dict[str, None]]] = []
    for mark in marks:
        if not mark.has & _DATE:
            continue
        there = texts_at.setdefault(mark.path, {})
        said = mark.value or mark.text
        if said in there or len(there) >= _MAX_THERE:
            there[said] = None
            continue
        if mark.names and mark.names[2] and _is_of_another(tree, mark.node):
            continue
        stated = iso_date(mark.value) if mark.value else None
        if stated and len(stated) >= len("2024-05-02"):
            found.append((mark, stated, None, there))
        elif written := first_date(mark.text, month_first):
            found.append((mark, written.day, written, there))
        else:
            continue
        there[said] = None
    return [
        Candidate(
            day,
            (
                "shown",
                *_date_signs(mark, written),
                f"label {mark.label}",
                _crowd(len(there)),
                "" if number or len(there) > _MAX_THERE else "first",
                "" if next(iter(there)) == (mark.value or mark.text) else "not first there",
            ),
            mark.node,
            mark.place,
        )
        for number, (mark, day, written, there) in enumerate(found)
    ]


def is_of_another(tree: Tree, node: int, headline: int) -> bool:
    """Does a place belong to a review or a comment on the page, and not to the page?"""
    kernel, source = tree.kernel, tree.source
    start, stop, end, parent = kernel.start, kernel.stop, kernel.end, kernel.parent
    while node >= 0 and not node <= headline < end[node]:
        tag = source[start[node] : stop[node]]
        # Far quicker than the pattern, which few tags come to.
        is_near = b"omment" in tag or b"eview" in tag or b"estimonial" in tag
        if is_near and _OF_READERS.search(tag):
            return True
        node = parent[node]
    return False


def _is_of_another(tree: Tree, node: int) -> bool:
    """Does the element describe a review or a comment on the page, and not the page?"""
    while node >= 0:
        start, stop = int(tree.start[node]), int(tree.stop[node])
        at = tree.source.find(_ITEM_TYPE, start, stop)
        if at >= 0:
            named = tree.source[at + len(_ITEM_TYPE) : stop].partition(b'"')[0]
            if named.lower().endswith(_OTHER_TYPES):
                return True
        node = int(tree.parent[node])
    return False


def _crowd(texts: int) -> str:
    """How many dates the page shows at places of one path: lists and comments show many."""
    return "alone there" if texts == 1 else "few there" if texts <= _MAX_THERE else "many there"


def _holds(text: str, words: tuple[str, ...]) -> bool:
    """Is any of the words in the text? For short texts a loop is far quicker than a pattern."""
    for word in words:  # noqa: SIM110  and than a generator
        if word in text:
            return True
    return False


def _date_signs(mark: Mark, written: Written | None) -> list[str]:
    """What a mark that holds a date looks like; `written` is where its text has the date."""
    signs = [f"where {mark.where}"]
    low = mark.text.lower()
    before = low[max(0, written.start - 30) : written.start] if written else low
    if _holds(before, _UPDATED) or (mark.names and _holds(mark.names[0].lower(), _UPDATED)):
        signs.append("updated")
    if _holds(low, _OTHER):
        signs.append("other")
    if len(low) > 60 and written and 2 * (written.stop - written.start) < len(low):
        signs.append("long text")
    return signs


def shown_authors(tree: Tree, marks: list[Mark]) -> list[Candidate]:
    """The names that the page shows at its marks; those at one kind of place go together."""
    groups: dict[tuple[int, str, int], tuple[list[str], Mark]] = {}
    for mark in marks:
        kind = _author_kind(mark)
        if kind is None or (kind == "itemprop" and _is_of_another(tree, mark.node)):
            continue
        text = mark.value if kind == "itemprop" and not mark.text else mark.text
        names = people(text, is_marked=kind not in ("text", "element"))
        if not names:
            continue
        key = (mark.path, kind, mark.where)
        known, last = groups.get(key, ([], mark))
        if mark.node - last.node <= _NEAR:
            groups[key] = [*known, *(name for name in names if name not in known)], mark
    return [
        Candidate(", ".join(names), _author_signs(names, kind, mark), mark.node, mark.place)
        for (_, kind, _), (names, mark) in groups.items()
    ]


_NEAR: Final = 40
"""Nodes between two authors of one article."""


def _author_kind(mark: Mark) -> str | None:
    """What makes a mark a byline; None for what is none."""
    if not mark.has & _AUTHOR_NAME:
        is_byline = mark.has & _BYLINE or _holds(mark.text, _INSIDE)
        return ("element" if mark.names else "text") if is_byline else None
    names = " ".join(mark.names[:4]).lower() + mark.names[5].lower()
    if "author" in mark.names[3].lower().split():
        return "rel"
    if "author" in mark.names[2].lower() or "creator" in mark.names[2].lower():
        return "itemprop"
    if _holds(names, _OTHER_NAMES):
        return "other name" if mark.where == Where.IN_HEAD else None
    if mark.names[4]:
        return "link"
    return "byline" if "byline" in names else "named"


def _author_signs(names: list[str], kind: str, mark: Mark) -> tuple[str, ...]:
    """What a mark that holds names looks like."""
    signs = ["shown", kind, f"where {mark.where}", f"label {mark.label}"]
    if has_byline(mark.text):
        signs.append("says by")
    if len(mark.text) > 60:
        signs.append("long text")
    if len(names) > 3:
        signs.append("many names")
    return tuple(signs)


# --- what other pages of the site say of places ---
#
# A row of the table is a place: on how many pages it showed something while it was known what is
# right, on how many of these that was right, and the sum of short hashes of what it showed, which
# tells a place that always says the same. The last bit of a key says what is shown there.

IS_DATE: Final = 0
IS_AUTHOR: Final = 1
_MIN_PAGES: Final = 2
"""Other pages from which on a place is known."""
_MIN_SAME: Final = 4
"""Other pages that must all show the same before that is no chance."""
_RIGHT, _WRONG = 0.7, 0.3
"""Shares of right pages above and below which a place is a good or a bad one. Chosen, as the counts
above, and not swept; `dehusk bench metadata --hide-stated` shows what they come to."""


class Seen(NamedTuple):
    """What a place showed on pages: how many, on how many what is right, and a sum of hashes."""

    pages: int
    right: int
    hashes: int


_UNSEEN: Final = Seen(0, 0, 0)


def key_at(place: int, kind: int) -> int:
    """The key of a place that shows a date or an author."""
    return place & ~1 | kind


def value_hash(value: str) -> int:
    """A short hash of what a place shows."""
    return zlib.crc32(value.encode("utf-8", "replace")) & 0xFFFF


def lesson_of(shown: Mapping[int, tuple[str, bool]]) -> Table:
    """The table of a page that shows these values at the places of these keys; True where right."""
    if not shown:
        return EMPTY
    sums = [(int(is_right), value_hash(value)) for value, is_right in shown.values()]
    return Table.of_page(np.array(list(shown), np.uint64), sums=np.array(sums, np.uint64))


class Places(NamedTuple):
    """What the other pages of a site have taught of places."""

    site: Table = EMPTY
    own: Table = EMPTY
    """What the page that is asked about has taught itself, which says nothing of it."""

    def __bool__(self) -> bool:
        return len(self.site) > 0

    def sign(self, place: int, kind: int, value: str) -> str | None:
        """What the other pages say of a value at a place; None for nothing."""
        key = key_at(place, kind)
        seen, own = _row(self.site, key), _row(self.own, key)
        pages, right = seen.pages - own.pages, seen.right - own.right
        if pages < _MIN_PAGES:
            return None
        is_same = seen.hashes - own.hashes == pages * value_hash(value)
        if kind == IS_DATE and pages >= _MIN_SAME and is_same:
            return "place same"
        share = (right + 0.5) / (pages + 1)
        return "place right" if share > _RIGHT else "place wrong" if share < _WRONG else None

    def has_other(self, places: Iterable[int]) -> bool:
        """Does the site show its dates at a place that is none of these?"""
        if not self or self.site.sums is None:
            return False
        good = (self.site.count > _MIN_PAGES) & (self.site.keys & np.uint64(1) == IS_DATE)
        good &= self.site.sums[:, 0] + 0.5 > _RIGHT * (self.site.count + 1.0)
        known = set(self.site.keys[good].tolist())
        return bool(known) and known.isdisjoint(key_at(place, IS_DATE) for place in places)


NO_PLACES: Final = Places()


def _row(table: Table, key: int) -> Seen:
    """What a table says of a key."""
    row = table.row(key)
    return Seen(*row) if row and len(row) == len(Seen._fields) else _UNSEEN
