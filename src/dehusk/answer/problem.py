"""What is wrong with a page that nobody wanted: a wall, an error, or nothing at all.

A page that says much is never a problem. The title and the headline of a short one are compared
with what such pages are called, and its text with what they say. Words that content has as well
count only beside other evidence: a form for passwords, a challenge's script, or the same text at
other addresses of the site.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cache, cached_property
from typing import Final

import numpy as np
from msgspec import Struct

from dehusk import _kernel
from dehusk.answer.describe import needs_scripts
from dehusk.answer.labels import Label, LabelArray
from dehusk.answer.stated import read_said
from dehusk.answer.text import text
from dehusk.answer.walls import CAPTCHAS, CHALLENGES, NOT_WALLS, WALLS
from dehusk.methods.contract import Assessment
from dehusk.page import tags
from dehusk.page.patterns import pattern
from dehusk.page.tree import Flags, Tree


class Problem(StrEnum):
    """Why a page is not what anybody wanted. What two kinds could claim is of the first."""

    SOFT_404 = "soft_404"
    """It says that there is no such page, whatever its status says."""
    BOT_WALL = "bot_wall"
    """It asks whether its reader is human, or sends programs away."""
    CONSENT_WALL = "consent_wall"
    """It asks for consent before it shows anything."""
    LOGIN_WALL = "login_wall"
    """It asks its reader to log in."""
    PAYWALL = "paywall"
    """It shows the beginning, and sells the rest."""
    EMPTY_SEARCH = "empty_search"
    """It is a search that found nothing."""
    ERROR_PAGE = "error_page"
    """It says that something failed, or is being repaired."""
    EMPTY_PAGE = "empty_page"
    """It has neither text nor images, or only what frames all pages of its site."""


def counted(count: int, kind: str) -> str:
    """How many pages have this problem, for people: `2 bot walls`."""
    name = kind.replace("_", " ")
    many = "es" if name.endswith("ch") else "s"
    return f"{count:,} {name}{'' if count == 1 else many}"


MOST_SURE: Final = 0.2
"""The highest confidence of an answer on such a page: its text is not what was asked for."""
_MAX_TEASER: Final = 2_500
"""Characters of content of a page that may be a problem: the beginning that a paywall shows. This
and the next were chosen. With all of them half as large again, six more of 12,702 pages of seven
corpora have a problem, two of which are cut off by a paywall; as they are, 17 have one, and each is
what it is called."""
_MAX_CALLED: Final = 1_500
"""The same where the title tells the problem, and the text says it."""
_MAX_SAID: Final = 600
"""The same where the text alone says it, or the title tells it and the text has a hint."""
_MAX_BARE: Final = 250
"""The same where the title alone tells it, in words that are nothing else's name, or hints and
other evidence."""
_TAIL: Final = 300
"""Characters at the end of a longer page that are read: there is what sells the rest."""
_MAX_ALONE: Final = 60
"""Characters beside the title of a page that says nothing else."""
_MAX_FORM: Final = 400
"""Visible characters of a page that is hardly more than a form for a password."""
_MAX_FRAME: Final = 1_000
"""Visible characters of a page that has nothing but what frames all pages of its site."""
_MIN_CALLED: Final = 0.6
"""The share of a part of the title that the names of a problem make up."""
_MAX_HEADINGS: Final = 5
"""Headings of the content: a reference of errors has more."""
_MIN_CONSENT: Final = 3
"""Words on consent in a text that no title calls a wall."""
_SAME: Final = 1.3
"""How much more a page shows that says nothing beside its content."""
_WHOLE: Final = ""
"""Among names: one of them is all of a part of the title."""
_NEAR: Final = 40
"""Characters behind 'log in to' that say what for."""
_MAX_TITLE: Final = 200
_BY_STATUS: Final = {
    401: "login_wall", 402: "paywall", 403: "bot_wall", 404: "soft_404", 410: "soft_404",
    429: "bot_wall",
}  # fmt: skip
_NOT_FREE: Final = (False, "False", "false")
_FOUND, _ACCEPTED = 200, 202
"""Under the second some challenges come."""
_PARTS: Final = pattern(r"\s[-–—|·•»«:/~]+\s|\s*[|»:]\s*")
_SIGNS: Final = str.maketrans(dict.fromkeys('.!?…:;,–—"“”„«»()[]#¿¡。！', " "))
_PASSWORD: Final = b' type="password"'
_FIRST_WIDE: Final = "\u2e80"
"""From here on scripts set no spaces between words."""
_WIDE: Final = pattern("[\u2e80-\U0010ffff]")
_CODE: Final = tags.NUMBERS["pre"]
_IMAGE: Final = tags.NUMBERS["img"]
_FRAMES: Final = tags.numbers("a", "nav", "header", "footer", "aside", "form", "button")
_HEADLINE: Final = tags.numbers("h1")


def problem_of(
    tree: Tree,
    labels: LabelArray,
    content: str,
    characters: int,
    assessment: Assessment | None = None,
    status: int | None = None,
) -> Problem | None:
    """What is wrong with the page; None for one that may be what was wanted.

    `content` is its text, `characters` are all that it shows, and `status` came with it.
    """
    if len(content) > _MAX_TEASER:
        return None
    page = _Page(tree, content, characters, assessment, status)
    walls = _WALLS.items() if page.is_suspect else ()
    kind = next((kind for kind, is_wall in walls if is_wall(page, kind)), None)
    if kind is not None and (len(content) <= _MAX_BARE or not _has_structure(tree, labels)):
        return Problem(kind)
    if status in _BY_STATUS and len(content) <= _MAX_CALLED:
        return Problem(_BY_STATUS[status])
    return Problem.EMPTY_PAGE if _is_empty(page) else None


class _Page:
    """A short page as walls are looked for in it."""

    def __init__(
        self,
        tree: Tree,
        content: str,
        characters: int,
        assessment: Assessment | None,
        status: int | None,
    ) -> None:
        self.tree, self.characters, self.status = tree, characters, status
        self.is_guess = assessment is not None and assessment.is_guess
        self._addresses = assessment.addresses if assessment else None
        self.length = len(content)
        stated, linked = tree.once(read_said)
        self.is_sold = any(each.get("isAccessibleForFree") in _NOT_FREE for each in linked.objects)
        """Does it say to machines that it is not free?"""
        headings = stated.headings
        top = next((each.text for each in headings if each.level == 1 or len(headings) == 1), "")
        self.title = stated.title[:_MAX_TITLE].casefold()
        self.heading = top[:_MAX_TITLE].casefold()
        """The heading that stands for the page."""
        is_short = self.length <= _MAX_CALLED
        self.names = _names(self.title, self.heading) if is_short else {}
        """What they call the page, by kind."""
        is_read = self.names or self.length <= _MAX_SAID
        self.said = (content if is_read else content[-_TAIL:]).casefold()
        """The content; of a page that nothing calls a wall, the end of it."""
        found = _found(_index().texts, self.said)
        self.phrases = {kind for kind, phrase in found if phrase not in WALLS[kind].hints}
        """The kinds of which it says what such pages say."""
        self.hints = {kind for kind, phrase in found if self._is_beside_title(phrase)}
        """The kinds of which it has words that other pages have too, beside the title."""

    def _is_beside_title(self, phrase: str) -> bool:
        return self.said.count(phrase) > self.heading.count(phrase)

    @property
    def is_suspect(self) -> bool:
        """Is there anything that speaks for a wall?"""
        if self.names or self.phrases or self.hints or self.is_guess or self.is_sold:
            return True
        return self.status not in (None, _FOUND) or self.characters <= _MAX_FORM or self.is_little

    @property
    def is_little(self) -> bool:
        """Does it say so little that each line may tell what it is?"""
        return self.length <= _MAX_BARE

    @cached_property
    def source(self) -> bytes:
        """The page as HTML."""
        return self.tree.source

    @cached_property
    def has_copies(self) -> bool:
        """Is the same said at another address of the site?"""
        return self._addresses is not None and self._addresses() > 1

    @property
    def is_bare(self) -> bool:
        """Does it say next to nothing beside its title?"""
        return self.length <= _MAX_ALONE + max(len(self.title), len(self.heading))

    @cached_property
    def all_said(self) -> str:
        """All that the page shows, template too."""
        shown = np.where(self.tree.shown, Label.CONTENT.value, Label.HIDDEN.value)
        return text(self.tree, shown.astype(np.int8)).casefold()


def _has(said: str, phrases: Iterable[str]) -> bool:
    return any(phrase in said for phrase in phrases)


def _plain(written: str) -> str:
    """The text with single spaces and straight apostrophes."""
    return " ".join(written.replace("’", "'").split())


Keyed = dict[str, list[tuple[str, str]]]
"""Kinds and phrases by a word of theirs: a text without any of these words has no phrase."""


class _Index(Struct, frozen=True):
    """The words of all kinds, to be found quickly."""

    names: Keyed
    texts: Keyed
    """Phrases and hints."""


_ENDS: Final = ("", ".", ",", "!", "?", ":")
"""Signs behind a word."""


@cache
def _index() -> _Index:
    index = _Index({}, {})
    for kind, words in WALLS.items():
        for name in words.called:
            _put(index.names, kind, name)
        said = () if kind == Problem.CONSENT_WALL else words.said  # That is what buttons say.
        for phrase in (*said, *words.hints):
            _put(index.texts, kind, phrase)
    return index


def _put(keyed: Keyed, kind: str, phrase: str) -> None:
    """Have the phrase found by its longest word but the last; without spaces by its first sign."""
    *words, last = phrase.split()
    keys = [max(words, key=len)] if words else [last + end for end in _ENDS]
    for key in [phrase[0]] if phrase[0] >= _FIRST_WIDE else keys:
        keyed.setdefault(key, []).append((kind, phrase))


def _found(keyed: Keyed, said: str) -> list[tuple[str, str]]:
    """The kinds and phrases that a text in small letters has."""
    said = said.replace("’", "'")
    words: Iterable[str] = said.split()
    if not said.isascii() and _WIDE.search(said):
        words = {*words, *said}
    if keyed.keys().isdisjoint(words):
        return []
    keys = keyed.keys() & set(words)
    said = _plain(said)
    return [each for key in keys for each in keyed[key] if each[1] in said]


def _names(*heads: str) -> dict[str, set[str]]:
    """The names of problems that make up most of a title or of a part of it, by kind."""
    found: dict[str, set[str]] = {}
    named = _found(_index().names, " ".join(heads))
    for head in heads if named else ():
        for part in {head, *_PARTS.split(head)}:
            words = _plain(part.translate(_SIGNS))
            for kind, names in _names_in(words, named):
                if sum(map(len, names)) >= _MIN_CALLED * len(words):
                    found.setdefault(kind, set()).update(names)
                if words in names:
                    found[kind].add(_WHOLE)
    return found


def _names_in(words: str, named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, set[str]]]:
    """Which of these names stand in a part of a title, none inside another, by kind."""
    found: dict[str, set[str]] = {}
    for kind, name in named:
        if f" {name} " in f" {words} " or (name[0] >= _FIRST_WIDE and name in words):
            found.setdefault(kind, set()).add(name)
    for kind, names in found.items():
        yield kind, {name for name in names if not any(name in other != name for other in names)}


def _has_structure(tree: Tree, labels: LabelArray) -> bool:
    """Has the content several headings, or code?"""
    stated, _ = tree.once(read_said)
    is_content = labels == Label.CONTENT.value
    headings = sum(bool(is_content[each.node]) for each in stated.headings)
    return headings > _MAX_HEADINGS or bool((is_content & (tree.tag == _CODE)).any())


def _is_told(page: _Page, kind: str) -> bool:
    """Does the page say what it is, or look so and come under several addresses?"""
    if kind in page.names and _is_called(page, kind):
        return True
    if page.length <= _MAX_SAID and kind in page.phrases:
        return True
    return page.length <= _MAX_BARE and kind in page.hints and page.has_copies


def _is_empty_search(page: _Page, kind: str) -> bool:
    """Is it told as others are, or by a line of its own under the words that were looked for?"""
    lines = (_plain(line.translate(_SIGNS)) for line in page.said.splitlines())
    called = WALLS[kind].called
    return _is_told(page, kind) or (page.is_little and any(line in called for line in lines))


def _is_called(page: _Page, kind: str) -> bool:
    """Does nothing in the text speak against what the page is called?"""
    if page.is_bare or kind in page.phrases:
        return True
    names = page.names[kind]
    if all(name.isalnum() and name < _FIRST_WIDE for name in names - {_WHOLE}):
        return False  # One word may be the name of anything.
    if page.length <= _MAX_BARE:
        return True
    return page.length <= _MAX_SAID and (kind in page.hints or _WHOLE in names)


def _is_bot_wall(page: _Page, kind: str) -> bool:
    """A challenge is known by its script too, where the page shows little else."""
    if _is_told(page, kind):
        return True
    is_hinted = page.status == _ACCEPTED or kind in page.hints
    if page.characters > (_MAX_FRAME if page.is_guess or is_hinted else _MAX_BARE):
        return False
    marks = (*CHALLENGES, *CAPTCHAS) if is_hinted else CHALLENGES
    return any(mark in page.source for mark in marks)


def _is_consent_wall(page: _Page, kind: str) -> bool:
    """Consent is asked for with a button, and the page is about nothing else."""
    is_asked = page.is_guess or kind in page.hints
    if not is_asked or page.length > _MAX_CALLED:
        return False
    said = page.all_said if page.is_guess else page.said
    hints = [hint for hint in WALLS[kind].hints if hint in said]
    if not hints or not (kind in page.names or _is_on_consent(page, said, hints)):
        return False
    return _has(_plain(page.source.decode("utf-8", "replace").casefold()), WALLS[kind].said)


def _is_on_consent(page: _Page, said: str, hints: Iterable[str]) -> bool:
    """Is all that the page says on consent, and under no heading of its own?"""
    is_all = page.characters <= _SAME * len(said) + _MAX_ALONE
    count = sum(map(said.count, hints))
    return count >= _MIN_CONSENT and is_all and (not page.heading or _has(page.heading, hints))


def _is_login_wall(page: _Page, kind: str) -> bool:
    """Behind such a title is a form for a password. To write comments one logs in elsewhere."""
    if kind in page.names and (page.is_bare or _PASSWORD in page.source):
        return True
    is_form = page.length <= _MAX_ALONE and page.characters <= _MAX_FORM
    if is_form and not page.is_guess and _PASSWORD in page.source:
        return True
    is_hinted = kind in page.hints and page.length <= _MAX_BARE
    if page.length > _MAX_SAID or not (kind in page.phrases or is_hinted):
        return False
    return not _is_for_comments(page.said) and (kind in page.phrases or page.has_copies)


def _is_for_comments(said: str) -> bool:
    """Is all that one has to log in for an answer to what stands there?"""
    places = ((phrase, said.find(phrase)) for phrase in WALLS["login_wall"].said)
    return any(
        _has(said[at : at + len(phrase) + _NEAR], NOT_WALLS) for phrase, at in places if at >= 0
    )


def _is_paywall(page: _Page, kind: str) -> bool:
    """What sells the rest stands below the beginning."""
    if kind in page.phrases or (kind in page.names and _is_called(page, kind)):
        return True
    return page.is_sold and _has(_plain(page.all_said), WALLS[kind].said)


_WALLS: Final[dict[str, Callable[[_Page, str], bool]]] = {
    "soft_404": _is_told,
    "bot_wall": _is_bot_wall,
    "consent_wall": _is_consent_wall,
    "login_wall": _is_login_wall,
    "paywall": _is_paywall,
    "empty_search": _is_empty_search,
    "error_page": _is_told,
}


def _is_empty(page: _Page) -> bool:
    """Is there nothing to be read or seen, but for what frames all pages of the site?"""
    if not page.characters:
        return not _kernel.holders(page.tree.kernel)[1]
    if not page.is_guess or page.characters > _MAX_FRAME:
        return False
    return needs_scripts(page.tree) or (_is_frame(page.tree) and not _has_images(page.tree))


def _framed(tree: Tree) -> Flags:
    """Which nodes are links, or stand in the page's header, menu or footer."""
    framed = np.zeros(len(tree), np.bool_)
    for names, is_frame in ((_FRAMES, True), (_HEADLINE, False)):
        for node in np.flatnonzero(names[tree.tag]):
            framed[node : tree.end[node]] = is_frame
    return framed


def _has_images(tree: Tree) -> bool:
    """Does it show images elsewhere?"""
    return bool(((tree.tag == _IMAGE) & tree.shown & ~_framed(tree)).any())


def _is_frame(tree: Tree) -> bool:
    """Is all that is shown links, or what stands in the page's header, menu or footer?"""
    framed = _framed(tree)
    others = np.flatnonzero(tree.is_text & tree.shown & (tree.text_length > 0) & ~framed)
    return all(tree.text(int(node)).lstrip().startswith("©") for node in others)
