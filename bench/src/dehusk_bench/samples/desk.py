"""What the maker of one page has at hand: the site, the page's place in it, dice and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from dehusk.answer.labels import Label
from dehusk_bench.samples.build import Child, Element, attributes, el
from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Card, Site

Item = TypeVar("Item")

C: Final = Label.CONTENT
T: Final = Label.TEMPLATE

_EARLY: Final = 12
"""Every page may link to this many pages of the main family, wherever it stands itself."""
_BACK: Final = 60
"""How far back related links reach."""


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """The place where one page is made."""

    site: Site
    card: Card
    dice: Dice
    prose: Prose

    def e(
        self, tag: str, role: str, *children: Child, label: Label | None = None,
        **values: str | bool | None,
    ) -> Element:  # fmt: skip
        """An element dressed for its role."""
        written = self.site.dress(role)
        if values:
            written += attributes(values)
        return Element(tag, written, children, label)

    def say(self, key: str, **values: str) -> str:
        """The site's phrase for `key`."""
        return self.prose.phrase(key, **values)

    def has(self, part: str) -> bool:
        """Does the site have this part?"""
        return part in self.site.look.parts

    def habit(self, name: str, choices: Sequence[Item]) -> Item:
        """The one of several ways to do a thing that the site has made its own."""
        return choices[int(self.site.habits(name) * len(choices))]

    def href(self, card: Card) -> str:
        """A link to another page as this page writes it."""
        return self.site.href(card.path, self.card.path)

    def link(self, card: Card, text: str | None = None, role: str = "") -> Element:
        """A link to another page, by default with its title."""
        written = self.site.dress(role) + attributes({"href": self.href(card)})
        return Element("a", written, (card.title if text is None else text,))

    def wrap(self, role: str, count: int, *children: Child) -> Element:
        """The children in one or more <div>, as page builders nest them."""
        node = self.e("div", role, *children)
        for level in range(count):
            node = self.e("div", f"{role}.{('inner', 'container', 'layout')[level % 3]}", node)
        return node

    def tag(self, semantic: str) -> str:
        """The element for a part of the page: its own on sites that use those, else <div>."""
        return semantic if self.site.look.is_semantic else "div"

    def date(self, day: tuple[int, int, int] | None = None) -> str:
        """A date in words, by default the page's own."""
        return self.prose.date(*(day or self.card.day))

    def page_type(self) -> str:
        """The type of the page: article, product, listing…"""
        return self.site.kind.families[self.card.letter][1]

    def main(self, number: int) -> Card:
        """The page of the main family with this number."""
        return self.site.page_of("D", number)

    def section(self, number: int) -> Card:
        """The first list of a section."""
        return self.site.page_of("L", number)

    def related(self, count: int) -> list[Card]:
        """Different pages of the main family, none of them this one."""
        own = self.card.number if self.card.letter == "D" else -1
        limit = max(_EARLY, own)
        tries = range(2 * count + 2)
        numbers = {limit - 1 - self.dice.below(min(limit, _BACK)): None for _ in tries}
        return [self.main(number) for number in numbers if number != own][:count]

    def listed(self) -> Sequence[Card]:
        """The pages that this page lists: of its section and page if it is a list, else newest."""
        items, width = self.site.look.items, len(self.site.sections)
        if self.card.letter != "L":
            return [self.main(number) for number in range(items + 3)]
        first = self.card.number // width * items
        return [self.main(self.card.section + width * (first + k)) for k in range(items)]


def image(desk: Desk, role: str, alt: str, width: int = 640) -> Element:
    """A picture, which nobody has to load."""
    name = f"/media/{desk.dice.below(10**6):06}.jpg"
    written = desk.site.dress(role) + attributes({
        "src": desk.site.href(name, desk.card.path), "alt": alt, "width": str(width),
    })  # fmt: skip
    return Element("img", written, ())


def icon(drawing: str = "M4 6h16M4 12h16M4 18h16") -> Element:
    """A small vector drawing, as buttons have them."""
    return el(
        "svg", Element("path", attributes({"d": drawing, "fill": "none"}), ()),
        viewBox="0 0 24 24", width="16", height="16", aria_hidden="true",
    )  # fmt: skip
