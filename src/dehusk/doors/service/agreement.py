"""How far judges agree on what is content: of each pair, and of all of them.

Judged are nodes that a reader sees, texts and images: elements around them follow from these. Of
two judges the share of nodes that they judge alike, and Cohen's kappa (1960), which takes out what
two who guess would agree on; of all judges Fleiss' kappa (1971), whose form for a number of judges
that differs from node to node is used, since not everybody judges every page. A kappa is 1 where
all agree, 0 where they agree as by chance, below 0 where they agree less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dehusk.page.tree import Flags

Ballots = Mapping[str, Flags]
"""By judge: is it content? For each node of a page that a reader sees."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far some judges agree."""

    judges: tuple[str, ...]
    nodes: int
    """Nodes that at least two of them have judged; of a pair, both."""
    alike: float
    """The share of these on which all who judged them agree."""
    kappa: float | None
    """Cohen's of two judges, Fleiss' of more; None where all of them call all nodes the same, and
    nothing can be said of chance."""


def pair_agreements(pages: Sequence[Ballots]) -> list[Agreement]:
    """The agreement of each two judges on the pages that both have judged."""
    names = sorted({name for page in pages for name in page})
    found = []
    for pair in combinations(names, 2):
        both = [page for page in pages if all(name in page for name in pair)]
        if both:
            one, other = (np.concatenate([page[name] for page in both]) for name in pair)
            alike = float(np.mean(one == other)) if len(one) else 1.0
            found.append(Agreement(pair, len(one), alike, cohen_kappa(one, other)))
    return found


def agreement(pages: Sequence[Ballots]) -> Agreement | None:
    """The agreement of all judges on pages that several have judged; None where none is."""
    pages = [page for page in pages if len(page) > 1]
    if not pages:
        return None
    names = tuple(sorted({name for page in pages for name in page}))
    if len(names) == 2:
        return pair_agreements(pages)[0]
    content = np.concatenate([np.sum(list(page.values()), axis=0) for page in pages])
    judges = np.concatenate([np.full(len(next(iter(p.values()))), len(p)) for p in pages])
    alike = (content == 0) | (content == judges)
    share = float(alike.mean()) if len(alike) else 1.0
    return Agreement(names, len(alike), share, fleiss_kappa(content, judges))


def cohen_kappa(one: Flags, other: Flags) -> float | None:
    """Cohen's kappa of two judges; None where both say the same of all nodes.

    >>> cohen_kappa(np.array([True, True, False, False]), np.array([True, False, False, False]))
    0.5
    """
    p, q = (float(np.mean(flags)) if len(flags) else 0.0 for flags in (one, other))
    return _kappa(float(np.mean(one == other)) if len(one) else 1.0, p * q + (1 - p) * (1 - q))


def fleiss_kappa(content: np.ndarray, judges: np.ndarray) -> float | None:
    """Fleiss' kappa: how many of how many judges, at least two, call each node content."""
    if not len(content):
        return None
    rest = judges - content
    pairs = judges * (judges - 1)
    alike = float(np.mean((content * (content - 1) + rest * (rest - 1)) / pairs))
    share = float(content.sum() / judges.sum())
    return _kappa(alike, share**2 + (1 - share) ** 2)


def _kappa(alike: float, by_chance: float) -> float | None:
    """How much of what chance leaves is agreed on."""
    return None if by_chance >= 1 else (alike - by_chance) / (1 - by_chance)


def majority(ballots: Ballots) -> Flags:
    """What most judges call content; where they are even, it is content."""
    content = np.sum(list(ballots.values()), axis=0)
    return np.asarray(2 * content >= len(ballots))
