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


_SEEMS_CONTENT, _MAX_LITTLE = 0.02, 0.05
"""By the page network alone: what is dropped and is content less probably, no page keeps by itself;
and the share of such text on which no more is spent. On 6,483 pages of docs-, sites-, repeats-,
news-, twins- and facts-dev that spares 63 %, of which none lost more than 0.09. With 0.2 and 0.02
it spares 70 %, of which four lost more than 0.3. To judge a page again costs an eighth of its
text."""
_MUCH_REMOVED, _DOUBTED = 0.3, 0.8
"""The share that the site took from which on an answer is at most so sure. Of 10,025 answers on the
same corpora 173 lost more: their F1 is 0.80 on average, whatever the network said."""


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


def most_sure(removed: float) -> float:
    """The highest confidence of an answer of which the site took away so much."""
    return 1 - (1 - _DOUBTED) * min(removed / _MUCH_REMOVED, 1)


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
