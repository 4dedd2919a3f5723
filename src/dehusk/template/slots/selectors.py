"""Selectors that find a place on every page of the family, as CSS and as XPath."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

import numpy as np

from dehusk.page import tags
from dehusk.page.tree import Tree
from dehusk.template.slots.places import MAX_ORDINAL, Place, Step

_MAX_STRAY: Final = 0.01
"""What a selector may select besides its place, as a share of what the place shows."""
_MAX_ANCESTORS: Final = 8
"""Ancestors that are tried as the beginning of a selector, the nearest first."""
_TAG: Final = re.compile(r"[a-z][a-z0-9-]*")
_MEANING: Final = frozenset(
    ("article", "aside", "dl", "figure", "footer", "form", "h1", "header", "main", "nav", "pre",
     "table", "time", "address", "blockquote")
)  # fmt: skip
"""Tags that say by themselves what an element is for."""
_HEAD, _TITLE, _SCRIPT = (tags.NUMBERS[name] for name in ("head", "title", "script"))
_CODE: Final = tags.numbers("script", "style")
_OWN: Final = ("canonical", "alternate", "prev", "next", "shortlink", "author", "description")
_OWN_STARTS: Final = ("og:title", "og:url", "og:desc", "og:image", "article:", "twitter:")
_SEPARATORS: Final = " -–—|·•»«:/~"
"""What stands between a page's title and its site's name."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A chain of steps, each the parent of the next; behind the first any depth may lie."""

    steps: tuple[Step, ...]
    is_deep: bool = False
    is_text: bool = False
    """Only the text that stands directly in the last element; CSS cannot say this."""

    @property
    def css(self) -> str:
        """The selector as CSS."""
        head, *rest = map(_css_step, self.steps)
        if not rest:
            return head
        return " > ".join(
            (f"{head} {rest[0]}" if self.is_deep else f"{head} > {rest[0]}", *rest[1:])
        )

    @property
    def xpath(self) -> str:
        """The selector as XPath 1.0."""
        head, *rest = map(_xpath_step, self.steps)
        path = f"//{head}"
        if rest:
            path += ("//" if self.is_deep else "/") + "/".join(rest)
        return path + ("/text()" if self.is_text else "")


def _css_step(step: Step) -> str:
    written = "" if step.id or not _TAG.fullmatch(step.tag) else step.tag
    if step.id:
        written += f"#{css_name(step.id)}"
    written += "".join(f".{css_name(name)}" for name in step.classes)
    if step.ordinal:
        kind = "nth-of-type" if step.ordinal > 0 else "nth-last-of-type"
        number = abs(step.ordinal)
        written += f":{kind}({'n+' if number == MAX_ORDINAL else ''}{number})"
    return written or "*"


def css_name(name: str) -> str:
    """An id or class as CSS writes it."""
    written = []
    for place, character in enumerate(name):
        is_control = ord(character) < 0x20 or ord(character) == 0x7F
        if is_control or (
            character.isdigit() and character.isascii() and (place == 0 or name[:place] == "-")
        ):
            written.append(f"\\{ord(character):x} ")
        elif character.isalnum() or character in "-_" or ord(character) >= 0x80:
            written.append(character)
        else:
            written.append(f"\\{character}")
    return "\\-" if written == ["-"] else "".join(written)


def _xpath_step(step: Step) -> str:
    tag = step.tag if _TAG.fullmatch(step.tag) and not step.id else "*"
    written = tag
    if step.id:
        written += f"[@id='{step.id}']"
    for name in step.classes:
        written += f"[contains(concat(' ',normalize-space(@class),' '),' {name} ')]"
    if step.ordinal:
        axis = "preceding" if step.ordinal > 0 else "following"
        number = abs(step.ordinal)
        sign = ">=" if number == MAX_ORDINAL else "="
        written += f"[count({axis}-sibling::{step.tag}){sign}{number - 1}]"
    return written


def find_selector(
    places: Sequence[Place], target: int, strays: Sequence[int], wanted: frozenset[int]
) -> Selector:
    """The simplest selector of the place that selects next to nothing of `strays` elsewhere.

    `strays` says of each place how much it hurts to select it; of the `wanted` places, and of what
    stands in them, nothing does. An id comes first, then a class, then a tag that has a meaning,
    then two classes, then the same below a named ancestor, then the chain from there.
    """
    is_text = places[target].step.tag == "#text"
    element = places[target].parent if is_text else target
    allowed = _MAX_STRAY * max(places[target].content + places[target].template, 1)
    free = _with_below(places, wanted | {target})
    best: tuple[float, Selector] | None = None
    for steps, is_deep in _candidates(places, element):
        selector = Selector(steps, is_deep, is_text)
        hurt = sum(strays[found] for found in select(places, selector) if found not in free)
        if hurt <= allowed:
            return selector
        if best is None or hurt < best[0]:
            best = hurt, selector
    assert best is not None, "every place has its chain"
    return best[1]


def _with_below(places: Sequence[Place], marked: frozenset[int]) -> set[int]:
    found = set(marked)
    for number, place in enumerate(places):
        if place.parent in found:
            found.add(number)
    return found


def _candidates(places: Sequence[Place], target: int) -> Iterator[tuple[tuple[Step, ...], bool]]:
    """Chains of steps that select the place, the most robust first."""
    own = places[target].step
    simple = list(_simple(own))
    yield from (((step,), False) for step in simple)
    ancestors = list(_ancestors(places, target))[:_MAX_ANCESTORS]
    for ancestor in ancestors:
        for head in _simple(places[ancestor].step):
            yield from (((head, step), True) for step in (*simple, *_bare(own)))
    chain: tuple[Step, ...] = (own,)
    for ancestor in _ancestors(places, target):
        for head in _simple(places[ancestor].step):
            yield (head, *chain), False
        chain = (places[ancestor].step, *chain)
    yield chain, False


def _ancestors(places: Sequence[Place], target: int) -> Iterator[int]:
    while (target := places[target].parent) >= 0:
        yield target


def _simple(step: Step) -> Iterator[Step]:
    """What names the step without its number: its id, each class, its tag, two classes, all."""
    if step.id:
        yield Step(step.tag, step.id)
    if not step.ordinal:
        yield from (Step(step.tag, "", (name,)) for name in step.classes)
        if step.tag in _MEANING:
            yield Step(step.tag)
        if len(step.classes) > 1:
            yield from (
                Step(step.tag, "", step.classes[n : n + 2]) for n in range(len(step.classes) - 1)
            )
            yield replace(step, id="")


def _bare(step: Step) -> Iterator[Step]:
    if not step.ordinal:
        yield Step(step.tag)
    else:
        yield replace(step, id="")


def select(places: Sequence[Place], selector: Selector) -> list[int]:
    """The places that a selector selects."""
    last = selector.steps[-1]
    return [
        n
        for n, place in enumerate(places)
        if place.step.tag == last.tag and _fits(places, n, place.step, selector)
    ]


def _fits(places: Sequence[Place], number: int, step: Step, selector: Selector) -> bool:
    *above, last = selector.steps
    if not _is_like(step, last):
        return False
    up = places[number].parent
    while above:
        wanted = above.pop()
        if not above and selector.is_deep:
            while up >= 0 and not _is_like(places[up].step, wanted):
                up = places[up].parent
            return up >= 0
        if up < 0 or not _is_like(places[up].step, wanted):
            return False
        up = places[up].parent
    return True


def _is_like(step: Step, wanted: Step) -> bool:
    return (
        step.tag == wanted.tag
        and (not wanted.id or step.id == wanted.id)
        and (not wanted.ordinal or step.ordinal in (wanted.ordinal, 0))
        and all(name in step.classes for name in wanted.classes)
    )


def own_nodes(trees: Sequence[Tree]) -> list[int]:
    """What the first page never shows, and is not on half of its family's other pages.

    A page without a family is judged by what elements are for: a canonical URL is always its own,
    and so is a script that is written on the page, since it may hold the page's data. The
    `<title>` is always among them.
    """
    page, *others = trees
    counts = Counter(written for tree in others for written in set(_unseen(tree).values()))
    return [
        node
        for node, written in _unseen(page).items()
        if (page.tag[node] == _TITLE and is_in_head(page, node))
        or (2 * counts[written] < len(others) if others else _is_own(page, node))
    ]


def is_in_head(tree: Tree, node: int) -> bool:
    """Does the node stand right below `<head>`?"""
    return bool(tree.tag[tree.parent[node]] == _HEAD)


def shared_title(trees: Sequence[Tree]) -> str:
    """The words that all titles of a family begin or end with; of a page alone none."""
    titles = [title for tree in trees if (title := _title(tree))]
    if len(titles) < 2:
        return ""
    words = [title.split() for title in titles]
    first = _common_start(words)
    last = _common_start([row[::-1] for row in words])[::-1]
    return " ".join(first if len(first) >= len(last) else last).strip(_SEPARATORS)


def _common_start(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """What all rows begin with."""
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
    return [column[0] for column in columns]


def _unseen(tree: Tree) -> dict[int, bytes]:
    """What is never shown, each piece as it is written.

    The elements right below `<head>`; behind it scripts, styles, and in other hidden elements each
    text and each element that holds nothing.
    """
    numbers = np.arange(len(tree))
    is_head = (tree.tag[tree.parent] == _HEAD) & ~tree.is_text
    heads = np.flatnonzero(tree.tag == _HEAD)
    behind = numbers >= (tree.end[heads[0]] if len(heads) else 0)
    is_code = _CODE[tree.tag]
    is_piece = ~tree.shown & behind & (is_code | (tree.end == numbers + 1)) & ~is_code[tree.parent]
    return {
        node: written
        for node in np.flatnonzero(is_head | is_piece).tolist()
        if (written := tree.source[tree.start[node] : tree.close[node]].strip())
    }


def _title(tree: Tree) -> str:
    for node in np.flatnonzero((tree.tag == _TITLE) & (tree.tag[tree.parent] == _HEAD)).tolist():
        return " ".join("".join(map(tree.text, range(node + 1, int(tree.end[node])))).split())
    return ""


def _is_own(tree: Tree, node: int) -> bool:
    """True for what describes one page only, by what it is for."""
    attributes = tree.attributes(node)
    said = [attributes.get(key, "").lower() for key in ("rel", "name", "property", "type")]
    if tree.tag[node] == _SCRIPT and "src" not in attributes:
        return True
    return any(value in _OWN or value.startswith(_OWN_STARTS) for value in said)
