"""The footnotes of a page: what refers to them, where they stand, and what leads back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from dehusk import _kernel
from dehusk.answer.nodes import written_attribute
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree

REFERENCE, NOTE, GONE = 0, 1, 2
"""What a node is, as the kernel takes it (`Footnote` in `markdown.h`)."""
_ID: Final = pattern(rb' (?:id|name)="([^"]+)"')
_LABEL: Final = pattern(r"\s*+[\[(]?\s*+(?:\d{1,4}|[a-z]|[*†‡§]{1,3})\s*+[\])]?\s*+", re.IGNORECASE)
_TERM: Final = pattern(rf"{_LABEL.pattern}(?:\([\d,\s]++\)\s*+)?", re.IGNORECASE)
"""A label, and the ways back where there are several."""
_BLOCKS: Final = frozenset(("li", "p", "div", "aside", "section", "dd", "td"))
_READ_BEHIND: Final = (b"(", b":")
"""What would make a link, or another note, of a reference right before it."""
_MAX_ABOVE: Final = 3
"""How far above a link its own id may stand, and above what it leads to the note."""
_MAX_BRACKETS: Final = 4
_BRACKETS: Final = " \t\n[]()."
_ARROWS: Final = _BRACKETS + "^↑↩⏎⤴\ufe0e,;"
"""What stands around links that lead back."""
_CLOSING: Final = frozenset(".)]")
"""What ends a sentence or a bracket of the note, and is no sign of the link behind it."""
_MAX_NODES: Final = 400
"""Nodes of a note that are looked at for the way back."""


class _Note(NamedTuple):
    node: int
    back: tuple[int, ...]
    """The nodes that lead back."""
    targets: frozenset[int]
    """Where they lead to."""


def footnotes(tree: Tree) -> bytes:
    """Three int32 for each node that is part of a footnote: node, number, and what it is.

    A link is a reference if it leads to a block behind it from which another link leads back.
    """
    return tree.once(_find)


def _find(tree: Tree) -> bytes:
    anchors = np.frombuffer(_kernel.short_anchors(tree.kernel), np.int32).tolist()
    signs = [link for link in anchors if _LABEL.fullmatch(_text(tree, link))]
    if not signs:
        return b""
    places = _places(tree)
    notes: dict[int, _Note | None] = {}
    numbers: dict[int, int] = {}
    taken: set[int] = set()
    free = count(1)
    found: list[tuple[int, int, int]] = []
    leads = list(_leads(tree, signs, places))
    # Several notes in one block cannot be told apart.
    targets = Counter(block for block, _ in {(block, target) for _, target, block in leads})
    for link, target, block in leads:
        if targets[block] > 1 or not _is_at_front(tree, target, block):
            continue
        if block not in notes:
            notes[block] = _note(tree, block, min(target, block), places)
        note = notes[block]
        reference = _raised(tree, link)
        behind = int(tree.close[reference])
        if note is None or tree.source[behind : behind + 1] in _READ_BEHIND:
            continue
        if not _is_led_back(tree, link, note.targets):
            continue
        if block not in numbers:
            numbers[block] = _number(_text(tree, link), taken, free)
            found.append((block, numbers[block], NOTE))
            gone = _ways_back(tree, note) | _named(tree, block, _text(tree, link))
            found += [(node, numbers[block], GONE) for node in gone]
        found.append((reference, numbers[block], REFERENCE))
    rows = sorted(dict.fromkeys(found))
    return np.array(rows, np.int32).tobytes()


def _leads(
    tree: Tree, signs: list[int], places: dict[bytes, int]
) -> Iterator[tuple[int, int, int]]:
    """The links that may refer to a note, with what they lead to and the block that it is in."""
    for link in signs:
        target = places.get(_target(tree, link) or b"")
        block = None if target is None else _block(tree, target)
        if target is not None and block is not None and link < tree.end[link] <= block:
            yield link, target, block


def _number(label: str, taken: set[int], free: Iterator[int]) -> int:
    """The number that the page gives a note, or the first free one; it is taken then."""
    digits = label.strip(_BRACKETS)
    number = int(digits) if digits.isascii() and digits.isdigit() else 0
    if not number or number in taken:
        number = next(other for other in free if other not in taken)
    taken.add(number)
    return number


def _places(tree: Tree) -> dict[bytes, int]:
    """The element of each id, the first of several; ids as canonical HTML writes them."""
    found = [(match.start(), match[1]) for match in _ID.finditer(tree.source)]
    starts = np.array([start for start, _ in found], np.int64)
    nodes = np.searchsorted(tree.start, starts, "right") - 1
    is_id = (nodes >= 0) & (starts < tree.stop[nodes]) & ~tree.is_text[nodes]
    places = [
        (name, node)
        for (_, name), node, is_one in zip(found, nodes.tolist(), is_id.tolist(), strict=True)
        if is_one
    ]
    return dict(reversed(places))


def _target(tree: Tree, link: int) -> bytes | None:
    """The id that a link on the page leads to."""
    href = written_attribute(tree.source[tree.start[link] : tree.stop[link]], b"href") or b""
    return href[1:] if href.startswith(b"#") and len(href) > 1 else None


def _text(tree: Tree, node: int) -> str:
    return "".join(tree.text(i) for i in range(node, int(tree.end[node])) if tree.is_text[i])


def _block(tree: Tree, target: int) -> int | None:
    """The block that an id stands for: its element, or the one around it; of a term its meaning."""
    node = target
    for _ in range(_MAX_ABOVE):
        if tree.name(node) in _BLOCKS:
            return node
        if tree.name(node) == "dt":
            return _meaning(tree, node)
        node = int(tree.parent[node])
        if node < 0:
            break
    return None


def _meaning(tree: Tree, term: int) -> int | None:
    """The `<dd>` behind a term that is only a label."""
    behind = int(tree.end[term])
    stop = int(tree.end[tree.parent[term]])
    if behind < stop and tree.is_text[behind] and not tree.text_length[behind]:
        behind += 1
    is_note = behind < stop and tree.name(behind) == "dd" and _TERM.fullmatch(_text(tree, term))
    return behind if is_note else None


def _is_at_front(tree: Tree, target: int, block: int) -> bool:
    """Does nothing stand before it in the block but a number and signs?"""
    if target - block > _MAX_NODES:
        return False
    before = "".join(tree.text(i) for i in range(block, target) if tree.is_text[i])
    return not before.strip(_ARROWS) or _LABEL.fullmatch(before) is not None


def _note(tree: Tree, block: int, first: int, places: dict[bytes, int]) -> _Note | None:
    """The note that a block is, with the term `first` before it; None if nothing leads back."""
    back = {}
    while first < block and tree.name(first) != "dt":
        first = int(tree.parent[first])
    for node in range(first, min(int(tree.end[block]), first + _MAX_NODES)):
        if tree.is_text[node] or tree.name(node) != "a":
            continue
        target = places.get(_target(tree, node) or b"")
        if target is not None and target < first:
            back[node] = target
    gone = dict.fromkeys(first if node < block else node for node in back)
    return _Note(block, tuple(gone), frozenset(back.values())) if back else None


def _named(tree: Tree, block: int, label: str) -> set[int]:
    """The first element of a note, if it only says the label that refers to it."""
    first = block + 1
    while first < tree.end[block] and tree.is_text[first] and not tree.text_length[first]:
        first += 1
    is_label = first < tree.end[block] and tree.text_length[first] <= len(label) + _MAX_BRACKETS
    if not is_label or tree.is_text[first]:
        return set()
    said = _text(tree, first).strip(_BRACKETS)
    return {first} if said and said == label.strip(_BRACKETS) else set()


def _is_led_back(tree: Tree, link: int, targets: frozenset[int]) -> bool:
    """Is the reference, or what is right around it, among what the note's links lead to?"""
    node = link
    for _ in range(_MAX_ABOVE):
        if node in targets:
            return True
        node = int(tree.parent[node])
        if node < 0:
            break
    # Some pages put the id on an empty anchor beside the link.
    return bool(targets & {link - 1, link - 2, int(tree.end[link])})


def _raised(tree: Tree, link: int) -> int:
    """The link, or what raises it and holds nothing else but brackets."""
    above = int(tree.parent[link])
    if above < 0 or tree.name(above) not in ("sup", "span"):
        return link
    more = tree.text_length[above] - tree.text_length[link]
    return above if more <= _MAX_BRACKETS and _says_same(tree, above, link) else link


def _ways_back(tree: Tree, note: _Note) -> set[int]:
    """The nodes that only lead back: links, what holds nothing else, and signs before them."""
    links = {_label_of(tree, back, note.node) for back in note.back}
    around = {int(tree.parent[node]) for node in links if tree.parent[node] > note.node}
    signs = {
        node - 1
        for node in links
        if note.node < node - 1 and tree.is_text[node - 1]
        if not (text := tree.text(node - 1)).strip(_ARROWS) and _CLOSING.isdisjoint(text)
    }
    return links | signs | {node for node in around if not _left(tree, node, links)}


def _left(tree: Tree, node: int, gone: set[int]) -> str:
    """What an element says besides nodes that are gone, and signs around them."""
    said, inner = [], node + 1
    while inner < min(int(tree.end[node]), node + _MAX_NODES):
        if inner in gone:
            inner = int(tree.end[inner])
            continue
        said.append(tree.text(inner) if tree.is_text[inner] else "")
        inner += 1
    return "".join(said).strip(_ARROWS) + ("…" if inner < tree.end[node] else "")


def _label_of(tree: Tree, back: int, block: int) -> int:
    """The link back with the brackets and marks around it."""
    node = back
    while (above := int(tree.parent[node])) != block and above > block:
        more = tree.text_length[above] - tree.text_length[back]
        if more > _MAX_BRACKETS or not _says_same(tree, above, back):
            break
        node = above
    return node


def _says_same(tree: Tree, around: int, node: int) -> bool:
    """Does an element say only what a node in it says, but for brackets?"""
    return _text(tree, around).strip(_BRACKETS) == _text(tree, node).strip(_BRACKETS)
