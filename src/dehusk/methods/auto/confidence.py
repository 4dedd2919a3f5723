"""What is told of a page besides its content: its comments, and how good the answer may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.page.tree import Flags, Floats
from dehusk.settings import PageType


class Judged(NamedTuple):
    """What was said of the blocks of a page."""

    content: Floats
    """The probabilities of being content."""
    comments: Floats
    """The probabilities of being comments."""
    types: Sequence[float]
    """The probabilities of the page's types."""
    threshold: float
    """From which probability on a block is kept."""


_LIKELY: Final = 0.3
"""From which probability on what is not content is a comment. By folds, F1 of words with 0.5, 0.3,
0.2 and 0.1: 0.78, 0.79, 0.80, 0.80 on articles-dev, 0.73, 0.78, 0.79, 0.77 on sites-dev; with 0.2
one page of documentation in twenty has comments, which has none."""


_SURE: Final = 0.4
"""How probable one of them must be: else the page has none, and what is likely is an empty form. It
costs F1 of 0.009 on articles-dev and 0.015 on sites-dev, where 0.5 costs 0.015 and 0.017."""


def is_comment(judged: Judged | _kernel.Judgement) -> Flags:
    """Which blocks are comments: what is likely to be, and is not content."""
    likely = np.where(np.asarray(judged.content) < judged.threshold, judged.comments, 0.0)
    least = _LIKELY if likely.max(initial=0.0) >= _SURE else 1.0
    return np.asarray(likely >= least)


_DOUBT: Final = (0.1, 0.3, 0.5, 0.7, 0.9)


CONFIDENCE_FEATURES: Final = 8 + len(_DOUBT) + len(PageType)
"""Numbers of a row."""


def confidence_features(judged: Judged, chars: Floats) -> NDArray[np.float32]:
    """One row of numbers of a page with text: the F1 to be expected if the probabilities are right,
    how the page's characters lie between sure template and sure content, and its types.
    """
    content = np.asarray(judged.content)
    kept = content >= judged.threshold
    total, length = float(chars.sum()), float(chars[kept].sum())
    hits = float((chars * content)[kept].sum())
    expected = 2 * hits / max(length + float(chars @ content), 1.0)
    level = np.searchsorted(_DOUBT, content, side="right")
    levels = np.bincount(level, chars, len(_DOUBT) + 1) / max(total, 1.0)
    comments = float(chars[np.asarray(judged.comments) >= 0.5].sum())
    numbers = (
        expected, hits / max(length, 1.0), np.log1p(length) / 8, np.log1p(total) / 8,
        length / max(total, 1.0), comments / max(total, 1.0), float(content.max()), *levels,
        *judged.types,
    )  # fmt: skip
    return np.array([numbers], np.float32)
