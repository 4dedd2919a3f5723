"""A page's content in pieces of about one size, for retrieval."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from dehusk.answer.labels import LabelArray
from dehusk.answer.markdown import CODE, ROW, Part, markdown_parts
from dehusk.answer.nodes import inside
from dehusk.answer.text import lines
from dehusk.errors import SettingError
from dehusk.page import tags
from dehusk.page.tree import Ints, Tree
from dehusk.settings import MarkdownSettings

CHARACTERS_PER_TOKEN: Final = 4
"""What a token is taken for, here and wherever dehusk counts tokens."""
_MIN_SHARE: Final = 4
"""A heading begins a new piece once the one before it has this part of its size. A rule of thumb:
with none a page of short sections falls into crumbs, with all headings end up at ends."""
_HEADINGS: Final = tuple(tags.numbers(f"h{level}") for level in range(1, 7))
_MAX_HEADING: Final = 200
"""Characters of a heading in the trail: each piece repeats it, and a long one would multiply."""
_PATH: Final = " > "
"""Between the headings in front of a text."""
_FENCE: Final = re.compile(r"(`{3,})([^\n]*)")
_PLAIN_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")


@dataclass(frozen=True, slots=True)
class ContentPiece:
    """A part of a page's content: its text, the headings that it stands under, and its place."""

    text: str
    markdown: str
    """The same in Markdown. A fence or a table that was begun before it is begun again."""
    headings: tuple[str, ...]
    """The headings above its first line, the highest first; one that begins it included, and those
    right below that. Of each at most 200 characters."""
    address: str
    """A CSS selector of the element in which it begins."""
    node: int
    """The number of the node with which it begins, in document order."""
    tokens: int
    """Its text's characters / 4, rounded up."""
    start: int
    """Where it begins in the page's Markdown, in characters."""
    end: int
    """One behind its last character there. Parts of one block have the place of the block."""


class _Unit(NamedTuple):
    """What is not parted unless it is too long: lines of text of one block, or row, of Markdown."""

    lines: list[str]
    node: int
    level: int
    """Of a heading."""
    kind: int
    """Of the block."""
    start: int
    end: int
    path: tuple[tuple[int, str], ...] = ()
    """The levels and texts of the headings that it stands under, itself included."""


@dataclass(frozen=True, slots=True)
class _Block:
    """One unit, or a part of one, with the headings that lead to it."""

    text: str
    headings: tuple[str, ...]
    above: tuple[str, ...]
    """Those of them that its text does not begin with."""
    node: int
    begins_section: bool
    start: int
    end: int
    kind: int
    part: str | None = None
    """Of a unit that was cut: this part of it in Markdown."""


class _Written(NamedTuple):
    """A page's Markdown, and where its blocks and rows begin."""

    markdown: str
    parts: list[Part]


def pieces(
    tree: Tree,
    labels: LabelArray,
    max_tokens: int,
    base_url: str | None = None,
    settings: MarkdownSettings = MarkdownSettings(),
) -> list[ContentPiece]:
    """The content in pieces of at most so many tokens of text, cut at headings and between blocks.

    Only a block that is longer is cut inside, code between lines and other text between words. A
    heading stays with what follows. Raises SettingError for a size that is no whole number of at
    least 1.
    """
    if type(max_tokens) is not int or max_tokens < 1:
        raise SettingError(
            f"the tokens of a piece must be a whole number of at least 1, not {max_tokens!r}"
        )
    limit = max_tokens * CHARACTERS_PER_TOKEN
    positions = _positions(tree)
    written = _Written(*markdown_parts(tree, labels, base_url, settings))
    groups: list[list[_Block]] = []
    size = 0
    for block in _blocks(_units(tree, lines(tree, labels), written), written.markdown, limit):
        is_new = size + len(block.text) > limit
        is_new |= block.begins_section and size * _MIN_SHARE >= limit
        if is_new or not groups:
            groups.append([])
            size = 0
        groups[-1].append(block)
        size += len(block.text) + 1
    begin = _PATH.join if settings.heading_path else lambda _: ""
    return [_piece(tree, positions, group, written, begin(group[0].above)) for group in groups]


def _piece(
    tree: Tree, positions: Ints, group: list[_Block], written: _Written, beginning: str
) -> ContentPiece:
    """The piece that holds these blocks, with that line in front of its text, or none if empty."""
    text = "\n".join(filter(None, (beginning, *(block.text for block in group))))
    first, last = group[0], group[-1]
    place = written.markdown[first.start : last.end].rstrip()
    return ContentPiece(
        text=text,
        markdown=_markdown(group, written),
        headings=first.headings,
        address=_address(tree, positions, first.node),
        node=first.node,
        tokens=-(-len(text) // CHARACTERS_PER_TOKEN),
        start=first.start,
        end=first.start + len(place),
    )


def _markdown(group: list[_Block], written: _Written) -> str:
    """The Markdown of these blocks, readable by itself."""
    said: list[str] = []
    if group[0].kind == ROW and group[0].part is None:
        said.append(_table_head(written, group[0].start) + "\n")
    at = 0
    while at < len(group):
        if (part := group[at].part) is not None:
            said.append(("\n\n" if said else "") + part)
            at += 1
            continue
        behind = at
        while behind < len(group) and group[behind].part is None:
            behind += 1
        whole = written.markdown[group[at].start : group[behind - 1].end].rstrip()
        said.append(("\n\n" if said and at else "") + whole)
        at = behind
    return "".join(said)


def _table_head(written: _Written, start: int) -> str:
    """The first two lines of the table that a row stands in: its heads, and what is below them."""
    place = bisect_right(written.parts, start, key=lambda part: part.start) - 1
    while written.parts[place].kind == ROW:
        place -= 1
    return "\n".join(written.markdown[written.parts[place].start :].split("\n", 2)[:2])


def _units(tree: Tree, written_lines: list[tuple[int, str]], written: _Written) -> Iterator[_Unit]:
    """The lines of the content, those of one block or row together."""
    levels = np.zeros(len(tree), np.int8)
    for level, is_heading in enumerate(_HEADINGS, 1):
        levels[inside(tree.end, is_heading[tree.tag])] = level
    parts, at = written.parts, 0
    unit: _Unit | None = None
    for node, line in written_lines:
        before = at
        while at + 1 < len(parts) and parts[at + 1].node <= node:
            at += 1
        # The title of a callout stands before the block that Markdown makes of it.
        if at + 1 < len(parts) and parts[at].kind == CODE and node >= tree.end[parts[at].node]:
            at += 1
        if unit is not None and at == before and unit.level == levels[node]:
            unit.lines.append(line)
            continue
        if unit is not None:
            yield unit
        # What Markdown does not have as a block, such as the title of a callout, begins at one.
        first = min(before + 1, at) if unit is not None else 0
        start = parts[first].start if parts else 0
        end = parts[at + 1].start if at + 1 < len(parts) else len(written.markdown)
        kind = parts[at].kind if parts else 0
        unit = _Unit([line], node, int(levels[node]), kind, start, end)
    if unit is not None:
        yield unit


def _blocks(units: Iterable[_Unit], markdown: str, limit: int) -> Iterator[_Block]:
    """The units, none longer than the limit, headings put to what follows them."""
    path: tuple[tuple[int, str], ...] = ()
    above: list[_Unit] = []
    size = 0
    for unit in units:
        if unit.level:
            own = (unit.level, "\n".join(unit.lines)[:_MAX_HEADING])
            path = (*(each for each in path if each[0] < unit.level), own)
        above.append(unit._replace(path=path))
        size += sum(map(len, unit.lines))
        if not unit.level or size > limit:
            yield from _cut(above, markdown, limit, begins_section=len(above) > 1)
            above, size = [], 0
    if above:
        yield from _cut(above, markdown, limit, begins_section=True)


def _cut(
    above: list[_Unit], markdown: str, limit: int, *, begins_section: bool
) -> Iterator[_Block]:
    """A unit with the headings before it, in parts no longer than the limit."""
    texts = ["\n".join(unit.lines) for unit in above]
    rest = "\n".join(texts)
    first, last = above[0], above[-1]
    place = (first.start, last.end, first.kind)
    if len(rest) <= limit:
        yield _Block(rest, *_headings(above), first.node, begins_section, *place)
        return
    opening, closing = _fences(markdown, last) if last.kind == CODE else ("", "")
    code = sum(map(len, last.lines)) + len(last.lines) - 1 if opening else len(rest)
    above_code = rest[: len(rest) - code]
    if len(above_code) * 2 > limit:
        opening, closing, above_code = "", "", ""
    lead = markdown[first.start : last.start] if above_code else ""
    begins = list(accumulate((len(text) + 1 for text in texts), initial=0))
    for at, text in _parts_of(rest, limit, len(above_code), is_code=bool(opening)):
        part = lead + opening + text.removeprefix(above_code) + closing
        units = above[bisect_right(begins, at, hi=len(above)) - 1 :]
        yield _Block(text, *_headings(units), units[0].node, begins_section, *place, part)
        begins_section, lead, above_code = False, "", ""


def _headings(units: list[_Unit]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The headings of a text that begins with the first of these, and those above that.

    Headings one right below the other lead to it together; one that begins another section does
    not.
    """
    first = path = units[0].path
    for unit in units[1:]:
        if unit.path[: len(path)] != path:
            break
        path = unit.path
    above = first[:-1] if units[0].level else first
    return tuple(text for _, text in path), tuple(text for _, text in above)


def _parts_of(rest: str, limit: int, above: int, *, is_code: bool) -> Iterator[tuple[int, str]]:
    """A text in parts no longer than the limit, each with its place in it; code cut between lines
    if it can be.

    The first part is longer than what stands `above` the text.
    """
    at = 0
    while len(rest) - at > limit:
        space = -1 if is_code else rest.rfind(" ", at + limit // 2, at + limit)
        end = max(space, rest.rfind("\n", at + (0 if at else above), at + limit))
        if end <= at and is_code:
            end = rest.rfind(" ", at + limit // 2, at + limit)
        end = end + 1 if end > at else at + limit
        yield at, rest[at:end].rstrip()
        at = end
    yield at, rest[at:]


def _fences(markdown: str, unit: _Unit) -> tuple[str, str]:
    """What begins and ends the fence of a block of code, a line each."""
    found = _FENCE.search(markdown, unit.start, unit.end)
    return (f"{found[1]}{found[2]}\n", f"\n{found[1]}") if found else ("", "")


def _positions(tree: Tree) -> Ints:
    """Of each element, its place among the elements of its parent, from 1."""
    elements = np.flatnonzero(~tree.is_text)
    order = elements[np.argsort(tree.parent[elements], kind="stable")]
    parents = tree.parent[order]
    is_first = np.concatenate(([True], parents[1:] != parents[:-1]))
    places = np.arange(len(order))
    first = np.maximum.accumulate(np.where(is_first, places, 0))
    positions = np.zeros(len(tree), np.int32)
    positions[order] = places - first + 1
    return positions


def _address(tree: Tree, positions: Ints, node: int) -> str:
    """A CSS selector of the element that the node is, or stands in."""
    steps = []
    while node >= 0:
        if not tree.is_text[node]:
            name = tree.name(node)
            step = name if _PLAIN_NAME.fullmatch(name) else "*"
            steps.append(
                step if name in ("html", "body") else f"{step}:nth-child({positions[node]})"
            )
        node = int(tree.parent[node])
    return " > ".join(reversed(steps))
