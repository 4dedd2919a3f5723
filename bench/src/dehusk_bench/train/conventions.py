"""Golds made alike: what counts as content whoever made the gold.

Headline and captions are content, what readers write below the content is not, except where the
discussion is the page. The line that says who wrote an article, and when, is content for some and
not for others, so nothing is learned of it unless the gold has it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from dehusk.doors.service.gold import nodes_inside
from dehusk.page import tags
from dehusk.page.tree import Flags, Floats, Ints, Tree
from dehusk_bench.corpora import GoldPage
from dehusk_bench.quality.scoring import words


class Verdict(NamedTuple):
    """What is said of each block."""

    hits: Floats
    """How many of its words are content."""
    known: Flags
    """False where nobody can say."""
    counted: Flags
    """False where it does not count how it is judged."""

    @classmethod
    def of_hits(cls, hits: Floats) -> Verdict:
        """All is known, and counts."""
        return cls(hits, np.ones(len(hits), np.bool_), np.ones(len(hits), np.bool_))


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of a page: their words, and where they stand."""

    texts: list[list[str]]
    tree: Tree
    container: Ints

    @cached_property
    def counts(self) -> Floats:
        """How many words each has."""
        return np.array([len(text) for text in self.texts], np.float64)

    @cached_property
    def lines(self) -> list[str]:
        """The words of each as one text, with a space at both ends."""
        return [f" {' '.join(text)} " for text in self.texts]

    def above(self, place: int, levels: int) -> list[int]:
        """The elements that a block stands in, from the nearest."""
        found: list[int] = []
        node = int(self.container[place])
        while node >= 0 and len(found) < levels:
            found.append(node)
            node = int(self.tree.parent[node])
        return found

    def is_in(self, place: int, names: frozenset[str], levels: int) -> bool:
        """Does it stand in an element of one of these names?"""
        return any(self.tree.name(node) in names for node in self.above(place, levels))

    def is_called(self, place: int, pattern: re.Pattern[str], levels: int) -> bool:
        """Has one of the elements around it such a class?"""
        return any(
            pattern.search(self.tree.attributes(node).get("class", "").lower())
            for node in self.above(place, levels)
        )


HEADINGS: Final = frozenset(f"h{level}" for level in range(1, 7))
_FORUM: Final = "forum"
_SURE: Final = 0.5
"""The share of content from which on a gold has a block, below which it lacks it."""


def made_alike(gold: GoldPage, blocks: Blocks, verdict: Verdict) -> Verdict:
    """What the gold says, with the conventions of all golds."""
    hits, known, counted = verdict.hits.copy(), verdict.known.copy(), verdict.counted.copy()
    alike = Verdict(hits, known, counted)
    is_forum = _is_forum(gold)
    if not is_forum:
        comments = _comments(gold, blocks)
        hits[comments], known[comments] = 0, True
    first, last = _span(blocks, hits)
    head = _with_headline(gold, blocks, alike, first)
    lacking = known & counted & (hits < _SURE * np.maximum(blocks.counts, 1))
    captions = f" {' '.join(words(gold.captions or ''))} "
    for place in np.flatnonzero(lacking[: last + _BEHIND]).tolist():
        is_named = blocks.counts[place] >= _CAPTION and blocks.lines[place] in captions
        if place >= head - _BEFORE and (is_named or _is_caption(blocks, place)):
            known[place], counted[place] = is_named, False
            hits[place] = blocks.counts[place] if is_named else 0
    if not (is_forum or _is_documentation(gold)):
        for place in range(max(head - _BEFORE, 0), min(max(first, head) + _BEFORE, len(hits))):
            if lacking[place] and _is_byline(gold, blocks, place):
                known[place] = counted[place] = False
    return alike


def _is_forum(gold: GoldPage) -> bool:
    return _FORUM in (gold.type, gold.genre)


def comment_targets(gold: GoldPage, blocks: Blocks, alike: Verdict) -> Floats:
    """1 for comments, 0 for what is none, nan where nobody can say.

    What is content is none, and neither is anything else on a page whose comments are known.
    """
    found = np.full(len(blocks.texts), np.nan)
    found[alike.known & (alike.hits > _SURE * blocks.counts)] = 0
    if not _is_forum(gold) and (gold.comments or gold.comments_nodes):
        found[:] = 0
        found[_comments(gold, blocks)] = 1
    return found


def _is_documentation(gold: GoldPage) -> bool:
    return gold.type == "documentation" or (gold.generator is not None and gold.genre is None)


_BEFORE, _BEHIND, _CAPTION = 4, 8, 4


def _span(blocks: Blocks, hits: Floats) -> tuple[int, int]:
    """The first block of content that is more than a line, and the last."""
    content = np.flatnonzero(hits > 0)
    if not len(content):
        return 0, 0
    long = content[blocks.counts[content] >= _LINE]
    return int((long if len(long) else content)[0]), int(content[-1])


_LINE: Final = 15


def _comments(gold: GoldPage, blocks: Blocks) -> Flags:
    """Blocks that readers wrote, for sure."""
    found = np.zeros(len(blocks.texts), np.bool_)
    inside = nodes_inside(blocks.tree, gold.comments_nodes, ()) if gold.comments_nodes else None
    if inside is not None:
        found |= inside[blocks.container]
    if gold.comments:
        comments, content = (
            f" {' '.join(words(text or ''))} " for text in (gold.comments, gold.content)
        )
        found |= [
            len(text) >= _CAPTION and line in comments and line not in content
            for text, line in zip(blocks.texts, blocks.lines, strict=True)
        ]
    return found


_FIRST: Final = frozenset({"h1"})
_PARTS: Final = re.compile(r"\s+[-–—:·•/]+\s+|\s*[|»«]\s*")
_ALIKE: Final = 0.75


def _with_headline(gold: GoldPage, blocks: Blocks, verdict: Verdict, first: int) -> int:
    """Where the head of the page begins; what is said of its headline is made alike.

    A gold that has one of the headings that may be the headline has it; the others are something
    else.
    """
    hits, known, counted = verdict
    near = range(max(first - _HEAD, 0), min(first + _BEHIND, len(blocks.texts)))
    headline, alike = _headline(gold, blocks, near)
    tops = [place for place in range(near.stop) if blocks.is_in(place, _FIRST, 3)]
    if gold.content_nodes is None:
        if headline is not None and blocks.counts[headline] >= _CAPTION - 1:
            others = [place for place in range(near.stop) if place not in alike]
            _take_from_copies(gold, blocks, hits, headline, others)
        # Figures of quality leave the first `<h1>` out of account where the gold lacks it.
        for place in tops[:1]:
            counted[place] &= hits[place] >= _SURE * blocks.counts[place]
    elif headline is None:
        return first
    if not any(hits[place] > _SURE * blocks.counts[place] for place in {*alike, *tops}):
        for place in alike:
            known[place], counted[place] = place == headline, False
            hits[place] = blocks.counts[place] if place == headline else 0
    return min((*alike, first))


def _take_from_copies(
    gold: GoldPage, blocks: Blocks, hits: Floats, headline: int, others: list[int]
) -> None:
    """Let the headline be content if the content has its words, and not what repeats it before.

    A way through the site that ends with the headline may have been taken for it.
    """
    line, count = blocks.lines[headline], blocks.counts[headline]
    copies = [
        place
        for place in others
        if line in blocks.lines[place] and blocks.counts[place] < count + _LINE
    ]
    content = f" {' '.join(words(gold.content or ''))} "
    if line in content or (hits[copies] >= _SURE * count).any():
        hits[copies], hits[headline] = 0, count


def _headline(gold: GoldPage, blocks: Blocks, near: range) -> tuple[int | None, list[int]]:
    """The block that is the headline, if that is sure, and all that may be."""
    title = gold.page_title or _title(blocks.tree)
    parts = [words(part) for part in (title, *_PARTS.split(title))]
    names = [words(gold.headline)] if gold.headline else [part for part in parts if part]
    alike = [place for place in near if any(_alike(blocks.texts[place], name) for name in names)]
    headings = [place for place in alike if blocks.is_in(place, HEADINGS, 3)]
    first_headings = [place for place in headings if blocks.is_in(place, _FIRST, 3)]
    found = first_headings or headings
    if not found:
        return None, alike
    # The name of the site may be a heading too, but stands farther from the content.
    headline = max((len(blocks.texts[place]), place) for place in found)[1]
    is_name = not gold.headline and len(blocks.texts[headline]) < _CAPTION - 1
    if is_name and not (first_headings and headline >= near.stop - _BEFORE - _BEHIND):
        return None, headings
    return headline, headings


_HEAD: Final = 40


def _alike(text: list[str], name: list[str]) -> bool:
    """Are the words of a block those of a name, but for a few?"""
    if min(len(text), len(name)) < _CAPTION - 1:
        return text == name
    common = (Counter(text) & Counter(name)).total()
    return 2 * common >= _ALIKE * (len(text) + len(name))


def _title(tree: Tree) -> str:
    """What `<title>` says."""
    for node in np.flatnonzero(tree.tag == tags.NUMBERS["title"])[:1].tolist():
        return "".join(tree.text(text) for text in range(node + 1, int(tree.end[node])))
    return ""


_CAPTIONS: Final = frozenset({"figcaption"})
_CAPTION_NAME: Final = re.compile(r"caption")


def _is_caption(blocks: Blocks, place: int) -> bool:
    return blocks.is_in(place, _CAPTIONS, 4) or blocks.is_called(place, _CAPTION_NAME, 2)


_BYLINE: Final = 14
"""Words of the longest line that says who wrote, and when."""
_BYLINES: Final = frozenset({"time", "address"})
_BYLINE_NAME: Final = re.compile(r"byline|author|dateline|publish|pubdate|posted|(post|entry)-meta")
_YEAR: Final = re.compile(r" (19|20)\d\d ")


def _is_byline(gold: GoldPage, blocks: Blocks, place: int) -> bool:
    """Does a block say who wrote the article, or when?"""
    if not 0 < blocks.counts[place] <= _BYLINE:
        return False
    line = blocks.lines[place]
    authors = [f" {' '.join(words(name))} " for name in re.split("[,;]", gold.authors or "")]
    return (
        bool(_YEAR.search(line))
        or any(name in line for name in authors if name.strip())
        or blocks.is_in(place, _BYLINES, 2)
        or blocks.is_called(place, _BYLINE_NAME, 2)
    )
