"""What a site calls its elements: class names in one of the conventions found on the web."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dehusk_bench.samples.build import attributes
from dehusk_bench.samples.dice import Dice

_SYNONYMS: Final = {
    "header": ("header", "masthead", "top", "banner", "page-head", "topbar"),
    "nav": ("nav", "menu", "navigation", "mainmenu", "links"),
    "main": ("main", "content", "primary", "page", "center", "wrap"),
    "article": ("article", "story", "post", "entry", "node", "content"),
    "text": ("text", "body", "copy", "richtext", "prose", "content"),
    "sidebar": ("sidebar", "aside", "rail", "secondary", "column", "side"),
    "footer": ("footer", "bottom", "colophon", "page-foot", "legal"),
    "related": ("related", "recommended", "more", "teasers", "more-from"),
    "share": ("share", "social", "tools", "actions"),
    "crumbs": ("breadcrumb", "crumbs", "path", "trail", "location"),
    "cookie": ("cookie", "consent", "notice", "gdpr", "overlay"),
    "teaser": ("teaser", "card", "item", "tile", "preview"),
    "title": ("title", "headline", "heading", "name"),
    "list": ("list", "items", "collection", "results"),
    "item": ("item", "entry", "element", "row"),
    "box": ("box", "widget", "block", "panel", "module"),
    "pager": ("pager", "pagination", "pages", "prevnext"),
}
"""Other words for the first part of a role; a site chooses one for all its pages."""

_UTILITIES: Final = (
    "flex", "block", "grid", "items-center", "justify-between", "gap-4", "px-4", "py-2", "mt-6",
    "mb-4", "mx-auto", "text-sm", "text-lg", "text-gray-700", "font-bold", "leading-6", "border-b",
    "bg-white", "rounded", "shadow-sm", "w-full", "max-w-screen-lg", "md:w-2/3", "lg:px-8",
    "hover:underline", "space-y-2", "tracking-tight", "relative", "overflow-hidden", "p-0",
)  # fmt: skip
_BOOTSTRAP: Final = {
    "banner": "navbar navbar-expand-lg navbar-light",
    "menu": "navbar-nav mr-auto",
    "primary": "col-md-8 col-12",
    "side": "col-md-4 d-none d-md-block",
    "legal": "container-fluid bg-light py-4",
    "card": "card mb-3",
    "breadcrumb": "breadcrumb",
    "pagination": "pagination justify-content-center",
    "button": "btn btn-primary",
    "notice": "alert alert-info fixed-bottom",
    "table": "table table-striped",
    "panel": "card card-body",
    "wrap": "container",
    "columns": "row",
    "items": "list-unstyled",
    "element": "list-group-item",
}
"""What Bootstrap has for the last word of a role; other roles keep their words."""
_SINGLE: Final = frozenset(("header", "main", "footer", "sidebar", "nav"))
"""Roles that a page has once, so that they can have an id."""
_HEX: Final = "0123456789abcdef"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORD_CHARACTERS: Final = _LETTERS + "0123456789"


def _bem(words: Sequence[str], dice: Dice, prefix: str) -> str:
    name = prefix + words[0] + "".join(f"__{word}" for word in words[1:])
    return f"{name} {name}--{dice.pick(('large', 'dark', 'wide'))}" if dice.chance(0.15) else name


def _utility(_words: Sequence[str], dice: Dice, _prefix: str) -> str:
    return " ".join(dice.sample(_UTILITIES, dice.between(2, 6)))


def _bootstrap(words: Sequence[str], _dice: Dice, prefix: str) -> str:
    return _BOOTSTRAP.get(words[-1]) or prefix + "-".join(words)


def _hashed(words: Sequence[str], dice: Dice, _prefix: str) -> str:
    block = words[0].title().replace("-", "")
    return f"{block}_{'-'.join(words[1:]) or 'root'}__{dice.letters(_WORD_CHARACTERS, 5)}"


def _styled(_words: Sequence[str], dice: Dice, _prefix: str) -> str:
    return f"sc-{dice.letters(_HEX, 6)}-{dice.below(9)} {dice.letters(_LETTERS, 6)}"


def _cms(words: Sequence[str], dice: Dice, _prefix: str) -> str:
    name = "-".join(words)
    return dice.pick((
        name, f"block block-{name}", f"field field--name-{name}", f"{name} clearfix",
        f"wp-block-{name}", f"region-{name} view-{name}",
    ))  # fmt: skip


def _camel(words: Sequence[str], _dice: Dice, _prefix: str) -> str:
    name = "".join(part.title() for word in words for part in word.split("-"))
    return name[0].lower() + name[1:]


def _plain(words: Sequence[str], dice: Dice, _prefix: str) -> str:
    return "" if dice.chance(0.4) else "_".join(words).replace("-", "_")


_CONVENTIONS: Final = (_bem, _utility, _bootstrap, _hashed, _styled, _cms, _camel, _plain)


class Dress:
    """The class and id attributes of a site, by role: words joined by dots, like `nav.item`.

    What a role is called depends on the site and the role alone, not on what was asked before.
    """

    def __init__(self, *key: object) -> None:
        dice = Dice(*key, "dress")
        self._key = key
        self._written: dict[str, str] = {"": ""}
        self._convention = dice.pick(_CONVENTIONS)
        self._prefix = dice.pick(("", "", "c-", "o-", "m-", "t-", f"{dice.letters(_LETTERS, 2)}-"))
        self._scope = f" data-v-{dice.letters(_HEX, 8)}" if dice.chance(0.1) else ""
        self._has_ids = dice.chance(0.5)
        self._has_data = dice.chance(0.3)
        self._words = {word: dice.pick(words) for word, words in _SYNONYMS.items()}

    def __call__(self, role: str) -> str:
        """The attributes of an element in this role, as they are written; none for no role."""
        written = self._written.get(role)
        if written is None:
            written = self._written[role] = self._write(role)
        return written

    def _write(self, role: str) -> str:
        dice = Dice(*self._key, "role", role)
        words = [self._words.get(word, word) for word in role.split(".")]
        has_data = self._has_data and dice.chance(0.3)
        return self._scope + attributes(
            {
                "id": "-".join(words) if self._has_ids and role in _SINGLE else None,
                "class": self._convention(words, dice, self._prefix) or None,
                "data_component": "".join(words) if has_data else None,
            }
        )
