"""Logarithm and exponential in steps that every machine rounds in the same way.

Libraries differ in the last bit. The kernel takes the same steps (`log1p_steps`, `exp_steps`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LN_2, ROOT_HALF = 0.6931471805599453, 0.7071067811865476
SERIES = (0.2222222222222222, 0.2857142857142857, 0.4, 0.6666666666666666, 2.0)
"""2/9, 2/7, 2/5, 2/3 and 2: the factors of the powers of t in log((1 + t) / (1 - t))."""
LN_2_PARTS = (0.6931471803691238, 1.9082149292705877e-10)
"""Most of the digits of the logarithm of 2, so few that a multiple is exact, and the rest."""
TAYLOR = (
    2.08767569878681e-09, 2.505210838544172e-08, 2.755731922398589e-07, 2.7557319223985893e-06,
    2.48015873015873e-05, 1.984126984126984e-04, 1.388888888888889e-03, 8.333333333333333e-03,
    4.1666666666666664e-02, 1.6666666666666666e-01, 0.5, 1.0, 1.0,
)  # fmt: skip
"""1/12! … 1/0!: the factors of the powers of x in exp(x)."""


def log1p(values: ArrayLike) -> Floats:
    """The logarithm of 1 + x, x at least 0, to ten digits."""
    part, exponent = np.frexp(1.0 + np.asarray(values, np.float64))
    is_low = part < ROOT_HALF
    part = np.where(is_low, part * 2.0, part)
    t = (part - 1.0) / (part + 1.0)
    square, total = t * t, np.full(np.shape(t), 0.18181818181818182)
    for factor in SERIES:
        total = total * square + factor
    return np.asarray((exponent - is_low) * LN_2 + t * total)


def exp(values: ArrayLike) -> Floats:
    """The exponential of x, -30 to 30, to fifteen digits."""
    x = np.asarray(values, np.float64)
    whole = np.rint(x * 1.4426950408889634)
    rest = (x - whole * LN_2_PARTS[0]) - whole * LN_2_PARTS[1]
    total = np.full(np.shape(rest), 1.6059043836821613e-10)
    for factor in TAYLOR:
        total = total * rest + factor
    return np.asarray(np.ldexp(total, whole.astype(np.int32)))


def probability(logits: Floats) -> Floats:
    """The probability that a logit stands for."""
    return np.asarray(1 / (1 + exp(-np.minimum(np.maximum(logits, -30), 30))))
