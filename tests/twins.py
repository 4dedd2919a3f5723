"""What the tests of the compiled kernel and its twins share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from dehusk.kernel import KERNEL


def the_kernel() -> ModuleType:
    """The kernel."""
    assert KERNEL is not None
    return KERNEL


def assert_same_arrays(one: object, other: object) -> None:
    """Two dataclasses of arrays are the same, byte for byte."""
    for field in fields(one):  # type: ignore[arg-type]
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype, field.name
            assert mine.tobytes() == theirs.tobytes(), field.name
        else:
            assert mine == theirs, field.name


@contextmanager
def without(module: str) -> Iterator[None]:
    """No kernel for that module inside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module(module), "KERNEL", None)
        yield


def random_scores(size: int, seed: int) -> NDArray[np.float64]:
    """Scores with ties, runs, and nan."""
    random = np.random.default_rng(seed)
    scores = np.repeat(random.random(size), random.integers(1, 9, size))[:size].round(1)
    scores[random.random(size) < 0.2] = np.nan
    return scores


TEXTS = (
    "<p>", "<td>", "<tr>", "<table>", "</table>", "<br>", "<pre>", "</pre>", "<a href=x>", "</a>",
    "<xmp>", "</xmp>", "<li>", "<b>", "</b>", "<div hidden>", "</div>", "<textarea>", "a", "word",
    "&nbsp;", " ", "\n", "\n\n  ", "\t", "&amp;", "&lt;b", ">", "&quot;", "é", "\u3000", "\x1b",
    "&amp;nbsp;", "<noscript>",
)  # fmt: skip
