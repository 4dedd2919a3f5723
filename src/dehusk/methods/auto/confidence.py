"""What is told of a page besides its content: its comments, and how good the answer may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from dehusk import _kernel
from dehusk.page.tree import Flags, Floats


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
    comments = np.asarray(judged.comments)
    if comments.max(initial=0.0) < _SURE:
        return np.zeros(len(comments), np.bool_)
    likely = np.where(np.asarray(judged.content) < judged.threshold, comments, 0.0)
    least = _LIKELY if likely.max(initial=0.0) >= _SURE else 1.0
    return np.asarray(likely >= least)


_SEEMS_CONTENT, _MAX_LITTLE = 0.2, 0.02
"""By the page network alone: what is dropped and is content less probably, no page keeps by itself;
and the share of such text on which no more is spent. On 1,172 pages of docs-, sites-, repeats-,
news- and twins-dev that spares 71 %, of which 0.5 % lost more than 0.05, at most 0.2; with a share
of 0.05 it spares 81 %, of which 1.5 % did. To judge a page again costs an eighth of its text."""


def is_little_dropped(
    judged: Judged | _kernel.Judgement, opinion: Floats | memoryview, chars: Floats | memoryview
) -> bool:
    """Did the page lose next to nothing that looks like content, so that its site took nothing?"""
    lengths, dropped = np.asarray(chars), np.asarray(judged.content) < judged.threshold
    lost = lengths[dropped & (np.asarray(opinion) >= _SEEMS_CONTENT)].sum()
    return bool(lost <= _MAX_LITTLE * (lost + lengths[~dropped].sum()))


def site_removed(
    judged: Judged | _kernel.Judgement,
    alone: Judged | _kernel.Judgement,
    chars: Floats | memoryview,
) -> float:
    """The share of the characters that the page alone would keep that its site took away, 0 … 1."""
    lengths = np.asarray(chars)
    by_itself = np.asarray(alone.content) >= alone.threshold
    lost = by_itself & (np.asarray(judged.content) < judged.threshold)
    return float(lengths[lost].sum() / max(lengths[by_itself].sum(), 1.0))


def confidence_features(
    judged: Judged | _kernel.Judgement, chars: Floats | memoryview, removed: float
) -> bytearray:
    """One row of numbers of a page with text, in single precision: the F1 to be expected if the
    probabilities are right, how much the site took away, how the page's characters lie between sure
    template and sure content, and its types.
    """
    return _kernel.confidence_features(
        judged.content, judged.comments, chars, judged.types, judged.threshold, removed
    )
