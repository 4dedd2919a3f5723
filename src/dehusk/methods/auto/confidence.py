"""What tells how good the answer on a page is likely to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from dehusk.methods.auto.model import Matrix
from dehusk.page.tree import Floats


class Judged(Protocol):
    """What was said of the blocks of a page."""

    @property
    def content(self) -> Floats | memoryview:
        """The probabilities of being content."""

    @property
    def comments(self) -> Floats | memoryview:
        """The probabilities of being comments."""

    @property
    def types(self) -> Sequence[float]:
        """The probabilities of the page's types."""

    @property
    def threshold(self) -> float:
        """From which probability on a block is kept."""


_DOUBT: Final = (0.1, 0.3, 0.5, 0.7, 0.9)


def confidence_features(judged: Judged, chars: Floats) -> Matrix:
    """One row of numbers of a page with text: the F1 to be expected if the probabilities are right,
    how the page's characters lie between sure template and sure content, and its types.
    """
    content = np.asarray(judged.content)
    kept = content >= judged.threshold
    total, length = float(chars.sum()), float(chars[kept].sum())
    hits = float((chars * content)[kept].sum())
    expected = 2 * hits / max(length + float(chars @ content), 1.0)
    levels = np.histogram(content, (0, *_DOUBT, 1.0001), weights=chars)[0] / max(total, 1.0)
    comments = float(chars[np.asarray(judged.comments) >= 0.5].sum())
    numbers = (
        expected, hits / max(length, 1.0), np.log1p(length) / 8, np.log1p(total) / 8,
        length / max(total, 1.0), comments / max(total, 1.0), float(content.max()), *levels,
        *judged.types,
    )  # fmt: skip
    return np.array([numbers], np.float32)
