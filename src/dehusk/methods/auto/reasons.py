"""Why a block has its score, in words."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.methods.auto.evidence import column
from dehusk.methods.auto.judge import Judgement
from dehusk.model import Flags


class Reason(StrEnum):
    """What speaks most for the label of a block."""

    SURROUNDINGS = "its surroundings decide"
    LOOK = "no other page seen: its look decides"
    SAME = "the same text stands here on most pages"
    COMES_BACK = "what stands here comes back from page to page"
    DIFFERS = "what stands here differs from page to page"
    NEW_PLACE = "no page before had anything here: its look decides"


REASONS: Final = tuple(Reason)


def reasons_of(judgement: Judgement) -> NDArray[np.int16]:
    """Of each block the place in `REASONS` of what speaks most for its label."""
    told = judgement.evidence
    kept = judgement.site >= judgement.threshold
    looks_kept = judgement.page >= 0.5
    is_same, comes_back = column(told, "given place") > 0.5, column(told, "repeats") > 0.5
    is_known = column(told, "place known") > 0
    reasons = np.full(len(kept), REASONS.index(Reason.SURROUNDINGS), np.int16)
    if not column(told, "pages").any():
        return _where(reasons, looks_kept == kept, Reason.LOOK)
    reasons = _where(reasons, (looks_kept == kept) & ~is_known, Reason.NEW_PLACE)
    reasons = _where(reasons, kept & is_known & ~comes_back, Reason.DIFFERS)
    reasons = _where(reasons, ~kept & is_known & comes_back, Reason.COMES_BACK)
    return _where(reasons, ~kept & is_same, Reason.SAME)


def _where(reasons: NDArray[np.int16], chosen: Flags, reason: Reason) -> NDArray[np.int16]:
    """The reasons, with this one where `chosen`."""
    return np.where(chosen, np.int16(REASONS.index(reason)), reasons)
