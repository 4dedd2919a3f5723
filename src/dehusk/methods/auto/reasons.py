"""Why a block has its score, in words."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.auto.evidence import column
from dehusk.methods.auto.judge import Judgement


class Reason(StrEnum):
    """What speaks most for the label of a block; docs/explain.md says it at length."""

    LOOK = "no other page seen: its look decides"
    NEW_PLACE = "no page before had anything here: its look decides"
    REST = "the rest of the page decides"
    SAME = "the same text stands here on most pages"
    SAME_HERE = "the same text on most pages that have this place"
    SAME_PART = "this part of the page is the same wherever it stands"
    COMES_BACK = "what stands here comes back from page to page"
    DIFFERS = "what stands here differs from page to page"
    NEW_TEXT = "no other page has this text here"
    LOOKS_KEPT = "comes back, but looks like content"
    LOOKS_DROPPED = "differs, but looks like template"
    TOGETHER = "page and site weighed together"
    GROUP = "goes with what it belongs to"


REASONS: Final = tuple(Reason)


def reasons_of(judgement: Judgement) -> NDArray[np.int16]:
    """Of each block the place in `REASONS` of what speaks most for its label."""
    told = judgement.evidence
    kept = judgement.site >= judgement.threshold
    looks_kept = judgement.page >= 0.5
    agrees = looks_kept == kept
    is_known = column(told, "place known") > 0
    comes_back = (column(told, "repeats") > 0.5) | (column(told, "given place") > 0.5)
    is_same = ~kept & (column(told, "given place") > 0.5)
    seen = np.full(len(kept), column(told, "pages").any())
    # The first that holds.
    reasons = {
        Reason.GROUP: kept & (judgement.networks < judgement.threshold),
        Reason.SAME_PART: (judgement.site == 0) & (judgement.networks > 0),
        Reason.SAME: is_same & (column(told, "place share") >= 0.5),
        Reason.SAME_HERE: is_same,
        Reason.LOOK: ~seen & agrees,
        Reason.NEW_PLACE: seen & ~is_known & agrees,
        Reason.REST: ~is_known,
        Reason.DIFFERS: kept & ~comes_back,
        Reason.NEW_TEXT: kept & (column(told, "known") == 0),
        Reason.COMES_BACK: ~kept & comes_back,
        Reason.LOOKS_KEPT: kept & looks_kept,
        Reason.LOOKS_DROPPED: ~kept & ~looks_kept,
    }
    places = [REASONS.index(reason) for reason in reasons]
    rest = REASONS.index(Reason.TOGETHER)
    return np.select(list(reasons.values()), places, rest).astype(np.int16)
