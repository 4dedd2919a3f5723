"""What the pages of a family say together about texts that they all have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.page.tree import Flags
from dehusk.template.slots.places import (
    LabelArray,
    LabelledPage,
    Place,
    Shape,
    content_alone,
    is_alike,
    merge,
    shape_of,
    slot_names,
)
from dehusk.template.slots.selectors import (
    Selector,
    find_selector,
    is_in_head,
    own_nodes,
    shared_title,
)

_MIN_PAGES: Final = 4
_MIN_PAGES_SHARE: Final = 0.8
"""A text on so many pages of the family, at the same path, belongs to all of them."""
_MIN_TEMPLATE_SHARE: Final = 0.2
"""It is template if it was so on this share of them: methods learn, and know less at first. What
no page calls template, such as 'Parameters' above a table, stays content."""
__all__ = [
    "Family",
    "LabelledPage",
    "Rules",
    "Selector",
    "Shape",
    "Slot",
    "find_family",
    "is_alike",
    "is_in_head",
    "own_nodes",
    "shape_of",
    "shared_title",
]

_MAX_TEMPLATE_IN_SLOT: Final = 0.05
"""A place with no more template than this is a slot as a whole, unless a piece of template stands
in it on most of its pages: the frame around a long article is a small share of it."""
_MIN_CONTENT_PAGES: Final = 0.05
"""A place with content on fewer of its pages is template, unless the page asked about is one."""
_MIN_ONLY_CHILD: Final = 0.95
"""A rule goes down to a place that has this much of the content of the one around it."""
_MAX_TEMPLATE_IN_RULE: Final = 0.4
"""A rule takes a place as a whole, and strips the template in it, up to this share of template."""
_MIN_RULE: Final = 0.005
"""What shows less of all content, or of all template in what is kept, gets no rule of its own."""
_MAX_STRIPS: Final = 40
_MIN_REPEATS: Final = 1.2
"""A slot that comes this often on the average page is a repeated one."""
_MAX_SELECTORS: Final = 30
"""Selectors of a slot that is many places side by side: those with the most content."""
_MAX_SLOTS: Final = 100
"""Slots that are told apart; those with the least content beyond are one, `other`."""


def agreed(pages: Sequence[LabelledPage]) -> list[LabelledPage]:
    """The pages with texts that all have, and that are template on some, made template on all."""
    if len(pages) < _MIN_PAGES:
        return list(pages)
    keys = [page.tree.own_hash ^ (page.tree.path_hash << np.uint64(1)) for page in pages]
    texts = [page.tree.is_text & page.tree.shown & (page.tree.text_length > 0) for page in pages]
    is_template = [page.labels == Label.TEMPLATE.value for page in pages]
    everywhere = _on_pages([key[text] for key, text in zip(keys, texts, strict=True)])
    template = _on_pages(
        [key[text & own] for key, text, own in zip(keys, texts, is_template, strict=True)]
    )
    common = [
        key
        for key, count in everywhere.items()
        if count >= _MIN_PAGES_SHARE * len(pages)
        and template.get(key, 0) >= _MIN_TEMPLATE_SHARE * count
    ]
    turned = np.array(sorted(common), np.uint64)
    return [
        replace(page, labels=np.where(text & np.isin(key, turned), Label.TEMPLATE, page.labels))
        for page, key, text in zip(pages, keys, texts, strict=True)
    ]


def _on_pages(keys: Sequence[np.ndarray[tuple[int], np.dtype[np.uint64]]]) -> dict[int, int]:
    """On how many pages each key is."""
    if not keys:
        return {}
    found, counts = np.unique(np.concatenate([np.unique(own) for own in keys]), return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A place, or several side by side, that content fills."""

    name: str
    selectors: tuple[Selector, ...]
    pages: int
    """Pages of the family that have it."""
    nodes: tuple[tuple[int, ...], ...]
    """By page: the nodes that fill it."""
    is_repeated: bool
    """It comes several times on a page."""


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What to select and what to strip from it, to get the content of any page of the family."""

    content: tuple[Selector, ...]
    strip: tuple[Selector, ...]
    title: Selector | None
    named: tuple[tuple[str, Selector], ...]
    """Selectors of slots that hold one thing: 'author', 'date'."""


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """What pages that share a template have in common."""

    slots: tuple[Slot, ...]
    rules: Rules
    repeats: tuple[int, ...]
    """Nodes of the first page that only repeat a piece of template with a slot in it."""
    labels: tuple[LabelArray, ...]
    """By page: the labels of its nodes on which the pages agreed."""


def find_family(pages: Sequence[LabelledPage], titles: Sequence[str | None]) -> Family:
    """The slots and rules of pages that share a template; the first is the one asked about."""
    pages = agreed(pages)
    places = merge(pages)
    below = _below(places)
    is_slot = _slots(places)
    runs = _runs(places, below, is_slot)
    largest = sorted(runs, key=lambda run: -sum(places[number].content for number in run))
    told_apart = [run for run in runs if run in largest[:_MAX_SLOTS]]
    alone = [content_alone(page) for page in pages]
    slots = [
        _slot(name, places, run, _nodes(places, run, pages, alone))
        for name, run in zip(slot_names(places, told_apart), told_apart, strict=True)
    ]
    others = [number for run in largest[_MAX_SLOTS:] for number in run]
    if others:
        nodes = _nodes(places, others, pages, alone)
        slots.append(replace(_slot("other", places, others, nodes), selectors=()))
    rules = _rules(places, below, slots, _title(places, pages, titles))
    repeats = _repeats(places, is_slot, pages[0])
    return Family(tuple(slots), rules, repeats, tuple(page.labels for page in pages))


def _slot(
    name: str,
    places: Sequence[Place],
    run: Sequence[int],
    nodes: tuple[tuple[int, ...], ...],
) -> Slot:
    everything = [place.content + place.template for place in places]
    wanted = frozenset(run)
    most = sorted(run, key=lambda number: -places[number].content)[:_MAX_SELECTORS]
    chosen = [number for number in run if number in most]
    selectors = (find_selector(places, number, everything, wanted) for number in chosen)
    return Slot(
        name,
        _distinct(selectors),
        max(places[number].content_pages for number in run),
        nodes,
        any(len(places[number].instances) > _MIN_REPEATS * places[number].pages for number in run),
    )


def _below(places: Sequence[Place]) -> list[list[int]]:
    """The places directly in each place, in the order of the pages."""
    below: list[list[int]] = [[] for _ in places]
    for number, place in enumerate(places[1:], 1):
        below[place.parent].append(number)
    return [sorted(numbers, key=lambda number: places[number].rank) for numbers in below]


def _is_template(place: Place) -> bool:
    is_rare = place.content_pages < _MIN_CONTENT_PAGES * place.pages
    return is_rare and not any(page == 0 for page, _ in place.instances) if place.content else True


def _slots(places: Sequence[Place]) -> list[bool]:
    """Which places content fills as a whole, with no piece of template on most of their pages."""
    walls = [0] * len(places)
    for number in range(len(places) - 1, 0, -1):
        place = places[number]
        own = place.pages if place.template > place.content else 0
        walls[place.parent] = max(walls[place.parent], walls[number], own)
    return [
        place.step.tag == "#text"
        or (
            place.template <= _MAX_TEMPLATE_IN_SLOT * (place.content + place.template)
            and 2 * pages < place.pages
        )
        for place, pages in zip(places, walls, strict=True)
    ]


def _runs(
    places: Sequence[Place], below: Sequence[Sequence[int]], is_slot: Sequence[bool]
) -> list[list[int]]:
    """The slots: places side by side that content fills, with nothing else between them."""
    runs: list[list[int]] = []
    waiting = [0]
    while waiting:
        run: list[int] = []
        for number in below[waiting.pop()]:
            place = places[number]
            is_leaf = all(places[child].step.tag == "#text" for child in below[number])
            if not _is_template(place) and (is_slot[number] or is_leaf):
                run.append(number)
                continue
            is_wall = 2 * place.pages >= places[place.parent].pages
            if not _is_template(place):
                waiting.append(number)
            if run and is_wall:
                runs.append(run)
                run = []
        if run:
            runs.append(run)
    return sorted(runs, key=lambda run: min(places[run[0]].instances))


def _nodes(
    places: Sequence[Place],
    run: Sequence[int],
    pages: Sequence[LabelledPage],
    alone: Sequence[Flags],
) -> tuple[tuple[int, ...], ...]:
    """By page, what fills a slot: the outermost nodes that show content and no template."""
    found: list[list[int]] = [[] for _ in pages]
    for number in run:
        for page, node in places[number].instances:
            below = np.arange(node, pages[page].tree.end[node])
            is_inner = alone[page][pages[page].tree.parent[below]]
            is_inner[0] = False
            found[page] += below[alone[page][below] & ~is_inner].tolist()
    return tuple(tuple(sorted(nodes)) for nodes in found)


def _title(
    places: Sequence[Place], pages: Sequence[LabelledPage], titles: Sequence[str | None]
) -> int | None:
    """The place whose text is the page's title on most pages."""
    votes: list[tuple[int, int]] = []
    for number, place in enumerate(places):
        if place.step.tag == "#text" or place.content + place.template > 400 * len(place.instances):
            continue
        hits = {
            page
            for page, node in place.instances
            if titles[page] and _text(pages[page], node) == " ".join((titles[page] or "").split())
        }
        if 2 * len(hits) > len(pages):
            votes.append((len(hits), number))
    # Of places as good as each other the deepest but for inline ones: the first that has it.
    best = max(votes, default=(0, 0))[0]
    headings = [n for hits, n in votes if places[n].step.tag in ("h1", "h2", "h3")]
    return next(iter(headings), next((n for hits, n in votes if hits == best), None))


def _text(page: LabelledPage, node: int) -> str:
    tree = page.tree
    texts = [
        tree.text(below)
        for below in range(node, int(tree.end[node]))
        if tree.is_text[below] and tree.shown[below]
    ]
    return " ".join(" ".join(texts).split())


def _rules(
    places: Sequence[Place],
    below: Sequence[Sequence[int]],
    slots: Sequence[Slot],
    title: int | None,
) -> Rules:
    """The places that hold the content, and those in them that are template."""
    roots = _roots(places, below)
    strips = _strips(places, below, roots)
    template = [place.template for place in places]
    content = [place.content for place in places]
    everything = [place.content + place.template for place in places]
    wanted = frozenset(roots)
    return Rules(
        _distinct(find_selector(places, root, template, wanted) for root in roots),
        _distinct(find_selector(places, strip, content, frozenset()) for strip in strips),
        None if title is None else find_selector(places, title, everything, frozenset()),
        tuple(
            (slot.name, slot.selectors[0])
            for slot in slots
            if slot.name in ("author", "date") and len(slot.selectors) == 1
        ),
    )


def _distinct(selectors: Iterable[Selector]) -> tuple[Selector, ...]:
    return tuple(dict.fromkeys(selectors))


def _roots(places: Sequence[Place], below: Sequence[Sequence[int]]) -> list[int]:
    """The outermost places that are content for the most part."""
    roots: list[int] = []
    waiting = list(below[0]) or [0]
    while waiting:
        number = waiting.pop()
        place = places[number]
        share = place.template / max(place.content + place.template, 1)
        inner = [child for child in below[number] if places[child].step.tag != "#text"]
        only = [n for n in inner if places[n].content >= _MIN_ONLY_CHILD * place.content]
        if only and share > _MAX_TEMPLATE_IN_SLOT:
            waiting.append(only[0])
        elif share <= _MAX_TEMPLATE_IN_SLOT:
            roots.append(_tightest(places, below, number))
        elif share <= _MAX_TEMPLATE_IN_RULE or not inner:
            roots.append(number)
        else:
            enough = _MIN_RULE * places[0].content
            waiting.extend(n for n in inner if places[n].content > enough)
    return sorted(roots, key=lambda number: min(places[number].instances))


def _tightest(places: Sequence[Place], below: Sequence[Sequence[int]], number: int) -> int:
    """The place or one inside it: less template around is worth as much content left out."""
    chain = [number]
    while inner := below[chain[-1]]:
        chain.append(max(inner, key=lambda n: places[n].content))
    return max(
        (n for n in chain if places[n].step.tag != "#text"),
        key=lambda n: places[n].content - places[n].template,
    )


def _strips(
    places: Sequence[Place], below: Sequence[Sequence[int]], roots: Sequence[int]
) -> list[int]:
    """The outermost places of template in the roots, those that show most first."""
    found: list[int] = []
    waiting = list(roots)
    enough = _MIN_RULE * sum(places[root].template for root in roots)
    while waiting:
        for number in below[waiting.pop()]:
            place = places[number]
            if place.step.tag == "#text" or place.template <= enough:
                continue
            if place.content <= _MAX_TEMPLATE_IN_SLOT * place.template:
                found.append(number)
            else:
                waiting.append(number)
    return sorted(found, key=lambda number: -places[number].template)[:_MAX_STRIPS]


def _repeats(
    places: Sequence[Place], is_slot: Sequence[bool], page: LabelledPage
) -> tuple[int, ...]:
    """Nodes of the first page behind one at the same place that holds slots and says the same."""
    tree = page.tree
    is_said = tree.is_text & (tree.text_length > 0) & (page.labels == Label.TEMPLATE.value)
    found: list[int] = []
    for number, place in enumerate(places):
        if _is_template(place) or is_slot[number] or place.step.ordinal:
            continue
        said: set[int] = set()
        own = sorted(node for number, node in place.instances if number == 0)
        for node in own:
            inside = slice(node, int(tree.end[node]))
            words = set(tree.own_hash[inside][is_said[inside]].tolist())
            if node != own[0] and words <= said:
                found.append(node)
            said |= words
    return tuple(found)
