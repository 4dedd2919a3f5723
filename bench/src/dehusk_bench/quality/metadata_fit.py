"""Fits what the signs of a date or an author weigh: logistic regression, by folds of sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.candidates import (
    AUTHOR_WEIGHTS,
    BIAS,
    PUBLISHED_WEIGHTS,
    choose,
    gather,
)
from dehusk.answer.shown import Candidate
from dehusk.errors import PageError
from dehusk.methods import DEFAULT
from dehusk.methods.written import parse_method
from dehusk_bench.corpora import Corpus, Watcher
from dehusk_bench.peers.contenders import learner
from dehusk_bench.quality.facts import Facts, Outcome, gold_facts, outcome
from dehusk_bench.tables import number, table

_LATEST: Final = "2100-01-01"
"""Pages of any year are fitted to."""
_FOLDS: Final = 5
_CUTS: Final = (0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7)
_PENALTY: Final = 1.0
_STEPS: Final = 25


class _Row(NamedTuple):
    """The candidates of a page, and which of them are right."""

    site: str
    candidates: list[Candidate]
    right: list[bool]


def fit_weights(corpora: Sequence[Corpus], on_page: Watcher) -> str:
    """Tables of what the weights come to on unseen sites, and the weights fitted to all."""
    rows: dict[str, list[_Row]] = {"published": [], "author": []}
    for corpus in corpora:
        for done, gold in enumerate(corpus.pages(), 1):
            known = gold_facts(gold)
            for field, candidates in _candidates(gold.page, known).items():
                right = [
                    outcome(field, each.value, known[field]) is Outcome.RIGHT for each in candidates
                ]
                rows[field].append(_Row(gold.site, candidates, right))
            on_page(corpus.name, done)
    weights = {"published": PUBLISHED_WEIGHTS, "author": AUTHOR_WEIGHTS}
    return "".join(_report(field, rows[field], tuple(weights[field])) for field in rows)


def _candidates(page: object, known: Facts) -> dict[str, list[Candidate]]:
    """The candidates for what is known of a page; those for its last change are no date of it."""
    if known.keys().isdisjoint(("published", "author")):
        return {}
    try:
        result, _ = learner(parse_method(DEFAULT))(page)  # type: ignore[arg-type]
    except PageError:
        return {field: [] for field in ("published", "author") if field in known}
    found = gather(result.tree, result.labels.labels, result.url, _LATEST)
    dates = [each for each in found.dates if "updated" not in each.signs]
    every = {"published": dates, "author": found.authors}
    return {field: candidates for field, candidates in every.items() if field in known}


def _report(field: str, rows: list[_Row], signs: tuple[str, ...]) -> str:
    """What the weights of one field come to at each cut, and the weights."""
    judged = []
    for fold in range(_FOLDS):
        weights = _fit([row for row in rows if _fold(row.site) != fold], signs)
        judged += [(choose(r.candidates, weights), r) for r in rows if _fold(r.site) == fold]
    cells = []
    for cut in _CUTS:
        counts: Counter[str] = Counter()
        for chosen, row in judged:
            if chosen is None or chosen.confidence < cut:
                counts["missing"] += 1
            else:
                is_right = row.right[row.candidates.index(chosen.candidate)]
                counts["right" if is_right else "wrong"] += 1
                counts["nowhere"] += not any(row.right)
        shares = [counts[key] / len(rows) for key in ("right", "wrong", "missing", "nowhere")]
        cells.append([f"{cut:g}", *map(number, shares)])
    header = (f"{field}, from", "right", "wrong", "missing", "wrong, no candidate is right")
    fitted = _fit(rows, signs)
    written = ", ".join(f'"{sign}": {weight:.1f}' for sign, weight in fitted.items())
    return f"{len(rows):,} pages\n\n{table(header, cells)}\n{written}\n\n"


def _fold(site: str) -> int:
    """The fold that a site is in, the same on every run."""
    return blake2b(site.encode(), digest_size=1).digest()[0] % _FOLDS


def _fit(rows: Sequence[_Row], signs: tuple[str, ...]) -> Mapping[str, float]:
    """The weights of the signs that best tell right candidates; each page weighs by the root of
    how many it has."""
    places = {sign: place for place, sign in enumerate(signs)}
    matrix, right, share = [], [], []
    for row in rows:
        for candidate, is_right in zip(row.candidates, row.right, strict=True):
            line = np.zeros(len(signs))
            line[[places[sign] for sign in (BIAS, *candidate.signs) if sign in places]] = 1
            matrix.append(line)
            right.append(float(is_right))
            share.append(len(row.candidates) ** -0.5)
    if not matrix:
        return dict.fromkeys(signs, 0.0)
    weights = _newton(np.array(matrix), np.array(right), np.array(share))
    return dict(zip(signs, weights.tolist(), strict=True))


def _newton(
    x: NDArray[np.float64], y: NDArray[np.float64], share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights of a logistic regression with a quadratic penalty."""
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (share * (y - p)) - _PENALTY * weights
        bend = (x * (share * p * (1 - p))[:, None]).T @ x + _PENALTY * np.eye(x.shape[1])
        weights = weights + np.linalg.solve(bend, slope)
    return np.asarray(weights)
