"""Rows of numbers for a network, and the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

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
