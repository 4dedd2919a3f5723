"""Which pages of a site share a template with a page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label
from dehusk.answer.nodes import holds
from dehusk.page import tags
from dehusk.page.tree import Flags, Tree

_MIN_LIKENESS: Final = 0.6
"""On sample sites nine in ten pairs of one family have 0.85 and more, nine in ten of two families
0.77 and less. Lower than between them, since pages of the web vary more, and since families that
are taken for one cost little."""

Shape = frozenset[str]
"""The kinds of elements of a page: tag and classes, of each element and of what it stands in."""
_IMAGE_INK: Final = 10
"""Letters that an image counts as: about two words, so that pictures count where there is no text
and hardly beside one."""
_MIN_PAGES_SHARE: Final = 0.5
"""Ids and classes on fewer pages of a family do not make a place: they name a page or a state."""
_MIN_AGREEMENT: Final = 0.9
"""Siblings are told apart by number if nine in ten of each number play the same part."""
MAX_ORDINAL: Final = 12
"""Siblings are counted up to here; those behind are one place."""
_MAX_PLACES: Final = 10_000
"""Beyond, places are not looked into any further; families of the corpora have up to some 2,000."""
_PLAIN: Final = re.compile(r"[^\s'\"<>\\]{1,100}")
"""Ids and classes that every tool can be given; others are passed over."""
_FRAME: Final = ("html", "body")
_IMAGES: Final = tags.numbers("img", "svg", "picture", "object", "embed", "image")
_DEVICES: Final = tags.numbers("input", "iframe", "video", "audio", "canvas")
"""What shows something without text; as template it stays in the template."""

LabelArray = NDArray[np.int8]
Instance = tuple[int, int]
"""A page's number and a node of it."""
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_WORDS: Final = (
    ("date", re.compile(r"(^|[-_])(date|time|published|posted|updated)([-_]|$)", re.IGNORECASE)),
    ("author", re.compile(r"(^|[-_])(author|byline|writer|by)([-_]|$)", re.IGNORECASE)),
    ("comments", re.compile(r"(^|[-_])(comments?|replies)([-_]|$)", re.IGNORECASE)),
    ("price", re.compile(r"(^|[-_])price([-_]|$)", re.IGNORECASE)),
)  # fmt: skip
"""Words in ids and classes that say what a slot holds, whatever it is made of."""
_TAGS: Final = (
    ("date", ("time",)),
    ("author", ("address",)),
    ("title", ("h1",)),
    ("heading", _HEADINGS),
    ("table", ("table", "tbody", "tr", "td")),
    ("list", ("ul", "ol", "dl", "li", "dd", "dt")),
    ("code", ("pre", "code")),
    ("image", ("img", "figure", "picture", "svg")),
    ("link", ("a",)),
)
_MIN_SHARE: Final = 0.6
"""A slot is called after a kind of element that shows this much of its content."""


def shape_of(tree: Tree) -> Shape:
    """The kinds of elements that show text on a page."""
    kinds: dict[int, str] = {}
    for node in np.flatnonzero(~tree.is_text & tree.shown & (tree.text_length > 0)).tolist():
        kinds[node] = f"{tree.name(node)} {tree.attributes(node).get('class', '')}"
    return frozenset(
        f"{kinds.get(int(tree.parent[node]), '')}/{kind}" for node, kind in kinds.items()
    )


def is_alike(one: Shape, other: Shape) -> bool:
    """Are pages of these shapes of one family? By the share of kinds that both have."""
    return len(one & other) >= _MIN_LIKENESS * len(one | other)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPage:
    """A page of the family with the verdict on its nodes."""

    tree: Tree
    labels: LabelArray
    """Numbers of `Label`, in document order."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the elements of a place have in common; '#text' is text that stands in the parent."""

    tag: str
    id: str = ""
    classes: tuple[str, ...] = ()
    ordinal: int = 0
    """The number among siblings of that tag, from the end if negative; 0 for any."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where elements of the family's pages stand, and how much content and template they show."""

    step: Step
    parent: int
    """The number of the place it stands in; -1 for the root."""
    content: int
    """Letters of content, on all pages."""
    template: int
    """Letters of template, on all pages."""
    pages: int
    content_pages: int
    """Pages on which it shows content."""
    rank: float
    """Its place among its siblings, on average."""
    instances: tuple[Instance, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Ink:
    """Letters of content and of template up to each node of a page."""

    content: NDArray[np.int64]
    template: NDArray[np.int64]


def merge(pages: Sequence[LabelledPage]) -> list[Place]:
    """The places of the pages, each behind the place it stands in; the first is `<html>`."""
    inks = [_ink_of(page) for page in pages]
    names = _common_names(pages)
    roots = tuple((number, 0) for number in range(len(pages)))
    places = [_place(Step("html"), -1, [(*root, 0.0) for root in roots], pages, inks)]
    done = 0
    while done < len(places) < _MAX_PLACES:
        if places[done].step.tag != "#text":
            for step, found in _children(places[done].instances, pages, inks, names):
                places.append(_place(step, done, found, pages, inks))
        done += 1
    return places


def content_alone(page: LabelledPage) -> Flags:
    """Which nodes of a page show content, and no template."""
    tree, labels = page.tree, page.labels
    ink = _letters(tree) > 0
    kept = (ink | (_DEVICES[tree.tag] & tree.shown)) & (labels == Label.TEMPLATE.value)
    content = ink & (labels == Label.CONTENT.value)
    return np.asarray(holds(tree.end, content) & ~holds(tree.end, kept))


def _letters(tree: Tree) -> NDArray[np.int64]:
    """How much each node shows by itself."""
    ink = np.where(tree.is_text, tree.text_length, 0) + _IMAGE_INK * _IMAGES[tree.tag]
    return np.where(tree.shown, ink, 0).astype(np.int64)


def _ink_of(page: LabelledPage) -> _Ink:
    ink = _letters(page.tree)
    sums = (
        np.concatenate(([0], np.cumsum(np.where(page.labels == label, ink, 0))))
        for label in (Label.CONTENT, Label.TEMPLATE)
    )
    return _Ink(*sums)


def _common_names(pages: Sequence[LabelledPage]) -> frozenset[str]:
    """The ids (with '#') and classes that name a place, since enough of the pages have them."""
    counts: Counter[str] = Counter()
    for page in pages:
        found: set[str] = set()
        for node in np.flatnonzero(~page.tree.is_text & page.tree.shown).tolist():
            found.update(_names(page.tree, node))
        counts.update(found)
    enough = max(_MIN_PAGES_SHARE * len(pages), min(2, len(pages)))
    is_alone = len(pages) == 1
    return frozenset(
        name
        for name, count in counts.items()
        if count >= enough and not (is_alone and any(map(str.isdigit, name)))
    )


def _names(tree: Tree, node: int) -> list[str]:
    start_tag = tree.source[tree.start[node] : tree.stop[node]]
    if b" id=" not in start_tag and b" class=" not in start_tag:
        return []
    attributes = tree.attributes(node)
    names = [f"#{attributes['id']}"] if attributes.get("id") else []
    names += attributes.get("class", "").split()
    return [name for name in names if _PLAIN.fullmatch(name)]


def _place(
    step: Step,
    parent: int,
    found: Sequence[tuple[int, int, float]],
    pages: Sequence[LabelledPage],
    inks: Sequence[_Ink],
) -> Place:
    content = template = 0
    content_pages: set[int] = set()
    for page, node, _ in found:
        end = pages[page].tree.end[node]
        inside = int(inks[page].content[end] - inks[page].content[node])
        content += inside
        template += int(inks[page].template[end] - inks[page].template[node])
        if inside:
            content_pages.add(page)
    return Place(
        step,
        parent,
        content,
        template,
        len({page for page, _, _ in found}),
        len(content_pages),
        sum(rank for _, _, rank in found) / len(found),
        tuple((page, node) for page, node, _ in found),
    )


@dataclass(frozen=True, slots=True)
class _Child:
    """An element or text below an instance of a place."""

    parent: Instance
    page: int
    node: int
    rank: float
    step: Step
    first: int
    """Its number among siblings of its tag."""
    last: int
    """The same, counted from the end, below 0."""
    is_template: bool


def _children(
    instances: Sequence[Instance],
    pages: Sequence[LabelledPage],
    inks: Sequence[_Ink],
    names: frozenset[str],
) -> Iterator[tuple[Step, list[tuple[int, int, float]]]]:
    """The places below one: what they have in common, and where they are on the pages."""
    groups: dict[Step, list[_Child]] = defaultdict(list)
    for instance in instances:
        for child in _children_of(instance, pages[instance[0]].tree, inks[instance[0]], names):
            groups[child.step].append(child)
    for step, children in groups.items():
        split: dict[Step, list[tuple[int, int, float]]] = defaultdict(list)
        for child, own in zip(children, _told_apart(step, children), strict=True):
            split[own].append((child.page, child.node, child.rank))
        yield from split.items()


def _children_of(
    instance: Instance, tree: Tree, ink: _Ink, names: frozenset[str]
) -> Iterator[_Child]:
    """What shows anything directly below a node."""
    page, parent = instance
    nodes: list[int] = []
    node, end = parent + 1, int(tree.end[parent])
    while node < end:
        nodes.append(node)
        node = int(tree.end[node])
    tag_names = [tree.name(node) for node in nodes]
    totals, seen = Counter(tag_names), Counter[str]()
    for rank, (node, tag) in enumerate(zip(nodes, tag_names, strict=True)):
        seen[tag] += 1
        end = int(tree.end[node])
        content = int(ink.content[end] - ink.content[node])
        template = int(ink.template[end] - ink.template[node])
        if not content + template:
            continue
        own = [] if tag in _FRAME else [name for name in _names(tree, node) if name in names]
        marks = sorted({name for name in own if not name.startswith("#")})
        mark = next((name[1:] for name in own if name.startswith("#")), "")
        step = Step(tag, mark, tuple(marks))
        first, last = seen[tag], seen[tag] - totals[tag] - 1
        yield _Child(instance, page, node, rank / len(nodes), step, first, last, not content)


def _told_apart(step: Step, children: Sequence[_Child]) -> list[Step]:
    """The step of each child, with its number where only that tells content from template."""
    roles: dict[Instance, set[bool]] = defaultdict(set)
    counts = Counter(child.parent for child in children)
    for child in children:
        roles[child.parent].add(child.is_template)
    several = [parent for parent, count in counts.items() if count > 1]
    mixed = sum(len(roles[parent]) == 2 for parent in several)
    if step.tag == "#text" or not mixed or 2 * mixed < len(several):
        return [step] * len(children)
    ways = [
        [min(child.first, MAX_ORDINAL) for child in children],
        [max(child.last, -MAX_ORDINAL) for child in children],
    ]
    best = max(ways, key=lambda numbers: _agreement(numbers, children))
    if _agreement(best, children) < _MIN_AGREEMENT:
        return [step] * len(children)
    return [Step(step.tag, step.id, step.classes, number) for number in best]


def _agreement(numbers: Sequence[int], children: Sequence[_Child]) -> float:
    """The share of children that play the part which most of their number play."""
    votes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for number, child in zip(numbers, children, strict=True):
        votes[number][child.is_template] += 1
    return sum(map(max, votes.values())) / len(children)


def slot_names(places: Sequence[Place], slots: Sequence[Sequence[int]]) -> list[str]:
    """A name for each slot: 'main' is the one with the most content, 'title' the page's heading.

    Names that come up again are numbered, those of slots on more pages first.
    """
    sizes = [sum(places[number].content for number in slot) for slot in slots]
    largest = max(range(len(slots)), key=lambda n: sizes[n], default=-1)
    plain = [
        "main" if n == largest else _name(places, slot, size)
        for n, (slot, size) in enumerate(zip(slots, sizes, strict=True))
    ]
    order = sorted(
        range(len(slots)), key=lambda n: -max(places[number].content_pages for number in slots[n])
    )
    names, counts = [""] * len(slots), defaultdict[str, int](int)
    for n in order:
        counts[plain[n]] += 1
        count = counts[plain[n]]
        names[n] = plain[n] if count == 1 else f"{plain[n]}-{count}"
    return names


def _name(places: Sequence[Place], slot: Sequence[int], size: int) -> str:
    first = places[slot[0]]
    own = places[first.parent] if first.step.tag == "#text" else first
    for name, pattern in _WORDS:
        if any(pattern.search(word) for word in (own.step.id, *own.step.classes)):
            return name
    if any(places[number].step.tag == "h1" for number in slot):
        return "title"
    weights: dict[str, int] = defaultdict(int)
    inside = set(slot)
    for number in slot:
        weights[places[number].step.tag] += places[number].content
    for number in range(min(slot), len(places)):
        if places[number].parent in inside:
            inside.add(number)
            weights[places[number].step.tag] += places[number].content
    if first.step.tag == "#text":
        weights[own.step.tag] += size
    for name, of_kind in _TAGS:
        if max(weights[tag] for tag in of_kind) >= _MIN_SHARE * size:
            return name
    return "text"
