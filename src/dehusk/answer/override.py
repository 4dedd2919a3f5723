"""What the user decides about parts of a page, whatever a method says: CSS selectors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from dehusk.answer.labels import Label
from dehusk.errors import PageTimeout, SelectorError
from dehusk.page.tree import Choices, Tree

if TYPE_CHECKING:
    import turbohtml

_MAX_ELEMENTS_OF_HAS: Final = 10_000
"""The parser asks `:has()` again for every element below; with 10,000 of them that takes 2 s, and
with twice as many four times as long."""


class Overrides(Struct, frozen=True):
    """Selectors of what is content (`keep`) and of what is template (`drop`), with all below it.

    Where selected elements stand in each other, the innermost decides; of one element that both
    select, `drop`. Raises SelectorError for what is not CSS.

    >>> Overrides(keep=("main",), drop=(".advert",))
    Overrides(keep=('main',), drop=('.advert',))
    """

    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for selector in (*self.keep, *self.drop):
            _check(selector)

    def __bool__(self) -> bool:
        return bool(self.keep or self.drop)


NO_OVERRIDES: Final = Overrides()


def overrides(keep: str | Iterable[str] = (), drop: str | Iterable[str] = ()) -> Overrides:
    """The overrides of one selector or of several."""
    keep, drop = ((given,) if isinstance(given, str) else tuple(given) for given in (keep, drop))
    return Overrides(keep, drop)


@cache
def _check(selector: str) -> None:
    """Raise SelectorError for a selector that the parser does not understand."""
    import turbohtml  # noqa: PLC0415  for those who have selectors

    try:
        turbohtml.parse("").select(selector)
    except turbohtml.SelectorSyntaxError as error:
        raise SelectorError(selector, str(error)) from None


def choose(tree: Tree, document: turbohtml.Document, wanted: Overrides) -> Choices:
    """Of each node the `Label` that the user wants, -1 where they said nothing."""
    kept, dropped = (
        _selected(tree, document, selectors) for selectors in (wanted.keep, wanted.drop)
    )
    choices = np.full(len(tree), -1, np.int8)
    if not (kept or dropped):
        return choices
    nodes, labels = [], []
    for rank, element in enumerate(document.iter_elements()):
        if element in kept or element in dropped:
            nodes.append(rank)
            labels.append(Label.TEMPLATE if element in dropped else Label.CONTENT)
    numbers = np.flatnonzero(~tree.is_text)[nodes].tolist()
    # Elements so deep that the tree made siblings of what they hold still hold it.
    ends = np.searchsorted(tree.start, tree.close)[numbers].tolist()
    for first, end, label in _innermost(numbers, ends, labels):
        choices[first:end] = label
    return choices


def _selected(
    tree: Tree, document: turbohtml.Document, selectors: tuple[str, ...]
) -> set[turbohtml.Element]:
    """The elements that any of the selectors selects. Raises PageTimeout before it takes long."""
    for selector in selectors:
        if ":has(" in selector.lower() and len(tree) - tree.is_text.sum() > _MAX_ELEMENTS_OF_HAS:
            reason = f"{selector!r} on more than {_MAX_ELEMENTS_OF_HAS:,} elements takes too long"
            raise PageTimeout(tree.url, reason)
    return {element for selector in selectors for element in document.select(selector)}


def _innermost(
    numbers: list[int], ends: list[int], labels: list[Label]
) -> Iterable[tuple[int, int, Label]]:
    """The stretches of nodes whose innermost selected element is the same; each node in one."""
    open_elements: list[tuple[int, Label]] = []
    done = 0
    for number, end, label in zip(numbers, ends, labels, strict=True):
        while open_elements and open_elements[-1][0] <= number:
            until, outer = open_elements.pop()
            yield done, until, outer
            done = until
        if open_elements:
            yield done, number, open_elements[-1][1]
        done = number
        open_elements.append((end, label))
    while open_elements:
        until, outer = open_elements.pop()
        yield done, until, outer
        done = until
