"""Logistic regression, fitted by Newton's method on weighted rows."""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.page.tree import Flags, Floats

_MAX_STEPS: Final = 30
_MIN_CHANGE: Final = 1e-6
_MIN_SPREAD: Final = 1e-6


def fit(rows: Floats, labels: Flags, weights: Floats, ridge: float) -> tuple[Floats, float]:
    """The weight of each column, and the bias, that make the labels most likely.

    `ridge` draws the weights of the standardised columns to 0, per row of weight 1; without it a
    column that separates the labels would grow without end. A column that never varies has weight
    0. Rows of one label only give that label's share as bias.
    """
    total = weights.sum()
    mean = weights @ rows / total
    spread = np.sqrt(weights @ (rows - mean) ** 2 / total)
    spread[spread < _MIN_SPREAD] = np.inf
    design = np.column_stack(((rows - mean) / spread, np.ones(len(rows))))
    penalty = np.full(design.shape[1], ridge * total)
    penalty[-1] = 1e-9 * total
    solution = np.zeros(design.shape[1])
    for _ in range(_MAX_STEPS):
        chance = probability(design @ solution)
        slope = design.T @ (weights * (chance - labels)) + penalty * solution
        bend = (design.T * (weights * np.maximum(chance * (1 - chance), 1e-6))) @ design
        step = np.linalg.solve(bend + np.diag(penalty + 1e-9), slope)
        # A step that is too long can swing away; scores beyond 5 a step are never needed.
        solution -= step * min(1.0, 5 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < _MIN_CHANGE:
            break
    slopes = solution[:-1] / spread
    return slopes, float(solution[-1] - slopes @ mean)


def probability(odds: Floats) -> Floats:
    """The logistic function, without overflow."""
    result: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return result
