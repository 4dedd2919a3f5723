"""How often a site is said to have a new template when it has none, and how often when it has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np

from dehusk.doors.service.gold import nodes_inside
from dehusk.errors import PageError
from dehusk.methods import Method
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import Corpus, GoldPage
from dehusk_bench.peers.contenders import learner

_BEFORE: Final = 20
"""Pages that a site has before its redesign; of a shorter one, all but the last five."""
_WITHIN: Final = 5
_NAMES: Final = re.compile(rb'(\b(?:class|id)\s*=\s*")')


class Alarms(NamedTuple):
    """What sites say of themselves as they are, and redesigned."""

    pages: int
    false: int
    sites: int
    seen: int

    def __str__(self) -> str:
        return (
            f"template_changed: on {self.false} of {self.pages} pages of sites as they are; within"
            f" five pages on {self.seen} of {self.sites} redesigned sites"
        )


def alarms(corpus: Corpus, method: Method) -> Alarms:
    """What the sites of a corpus say with this method. Raises SourceError."""
    found = np.zeros(4, np.int64)
    for _, group in groupby(corpus.pages(), attrgetter("site")):
        golds = list(group)
        pages = [gold.page for gold in golds]
        found[:2] += len(pages), sum(_changes(pages, method))
        cut = min(_BEFORE, len(golds) - _WITHIN)
        new = [redesigned(gold) for gold in golds[max(cut, 0) :][:_WITHIN]]
        made = [page for page in new if page is not None]
        if cut >= _WITHIN and len(made) == _WITHIN:
            found[2:] += 1, any(_changes([*pages[:cut], *made], method)[cut:])
    return Alarms(*found.tolist())


def _changes(pages: Sequence[Page], method: Method) -> list[bool]:
    """Of each page of a site, does it tell of a new template?"""
    add = learner(method)
    told = [False] * len(pages)
    for number, page in enumerate(pages):
        with suppress(PageError):
            told[number] = bool(add(page)[0].template_changed)
    return told


def redesigned(gold: GoldPage) -> Page | None:
    """The page with other names of classes, and other words outside of its content.

    None where nobody knows its content node by node.
    """
    if gold.content_nodes is None:
        return None
    try:
        tree = parse(gold.page).tree
    except PageError:
        return None
    inside = nodes_inside(tree, gold.content_nodes, gold.excluded_nodes)
    if inside is None:
        return None
    shown = tree.is_text & tree.shown & (tree.text_length > 0) & ~tree.raw
    pieces, at = [], 0
    for start in tree.start[shown & ~inside].tolist():
        pieces += [_NAMES.sub(rb"\1new-", tree.source[at:start]), b"new "]
        at = start
    pieces.append(_NAMES.sub(rb"\1new-", tree.source[at:]))
    return replace(gold.page, html=b"".join(pieces).decode())
