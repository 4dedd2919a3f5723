"""Rows of numbers for a network, and the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dehusk.page.tree import Floats

Matrix = NDArray[np.float32]


def columns_of(widths: Mapping[str, int]) -> dict[str, slice]:
    """Where each part stands, from how many columns each has, in their order."""
    columns, start = {}, 0
    for name, width in widths.items():
        columns[name] = slice(start, start + width)
        start += width
    return columns


def width(columns: Mapping[str, slice]) -> int:
    """How many columns there are in all."""
    return max(int(each.stop) for each in columns.values())


_LN_2: Final = 0.6931471805599453
_ROOT_HALF: Final = 0.7071067811865476
_SERIES: Final = (
    0.2222222222222222, 0.2857142857142857, 0.4, 0.6666666666666666, 2.0,
)  # fmt: skip
"""2/9, 2/7, 2/5, 2/3 and 2: the factors of the powers of t in log((1 + t) / (1 - t))."""


def log1p(values: ArrayLike) -> Floats:
    """The logarithm of 1 + x, x at least 0, to ten digits.

    Made of steps that every machine rounds in the same way, so that the compiled kernel can take
    the same ones (`log1p_steps` in `src/kernel`); libraries differ in the last bit.
    """
    part, exponent = np.frexp(1.0 + np.asarray(values, np.float64))
    is_low = part < _ROOT_HALF
    part = np.where(is_low, part * 2.0, part)
    t = (part - 1.0) / (part + 1.0)
    square, total = t * t, np.full(np.shape(t), 0.18181818181818182)
    for factor in _SERIES:
        total = total * square + factor
    return np.asarray((exponent - is_low) * _LN_2 + t * total)


_LN_2_PARTS: Final = (0.6931471803691238, 1.9082149292705877e-10)
"""Most of the digits of the logarithm of 2, so few that a multiple is exact, and the rest."""
_TAYLOR: Final = (
    2.08767569878681e-09, 2.505210838544172e-08, 2.755731922398589e-07, 2.7557319223985893e-06,
    2.48015873015873e-05, 1.984126984126984e-04, 1.388888888888889e-03, 8.333333333333333e-03,
    4.1666666666666664e-02, 1.6666666666666666e-01, 0.5, 1.0, 1.0,
)  # fmt: skip
"""1/12! … 1/0!: the factors of the powers of x in exp(x)."""


def exp(values: ArrayLike) -> Floats:
    """The exponential of x, -30 to 30, to fifteen digits, by steps as those of `log1p`."""
    given = np.asarray(values, np.float64)
    whole = np.rint(given * 1.4426950408889634)
    rest = (given - whole * _LN_2_PARTS[0]) - whole * _LN_2_PARTS[1]
    total = np.full(np.shape(rest), 1.6059043836821613e-10)
    for factor in _TAYLOR:
        total = total * rest + factor
    return np.asarray(np.ldexp(total, whole.astype(np.int32)))
