"""Why a block has its score, in words."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.methods.auto.confidence import is_comment
from dehusk.methods.auto.features import EVIDENCE
from dehusk.page.tree import Floats


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
    IMAGE = "most pages of the site have this image"
    COMMENT = "readers wrote it, and you keep comments"


REASONS: Final = tuple(Reason)


_COLUMNS: Final = {feature.name: feature.first for feature in EVIDENCE}


def evidence_on(judgement: _kernel.Judgement, name: str) -> NDArray[np.float32]:
    """What the other pages of the site say of each block under that name."""
    return np.asarray(np.asarray(judgement.evidence)[:, _COLUMNS[name]])


def reasons_of(
    judgement: _kernel.Judgement, page_content: Floats, *, keeps_comments: bool = False
) -> NDArray[np.int16]:
    """Of each block the place in `REASONS` of what speaks most for its label.

    `page_content` is the probability of being content that the page network sees in it.
    """
    content = np.asarray(judgement.content)
    kept = content >= judgement.threshold
    looks_kept = page_content >= 0.5
    agrees = looks_kept == kept
    given_place = evidence_on(judgement, "given_place")
    is_known = evidence_on(judgement, "place_known") > 0
    comes_back = (evidence_on(judgement, "repeats") > 0.5) | (given_place > 0.5)
    is_same = ~kept & (given_place > 0.5)
    seen = np.full(len(kept), evidence_on(judgement, "pages").any())
    # The first that holds.
    reasons = {
        Reason.COMMENT: is_comment(judgement) & keeps_comments,
        Reason.SAME_PART: content == 0,
        Reason.SAME: is_same & (evidence_on(judgement, "place_share") >= 0.5),
        Reason.SAME_HERE: is_same,
        Reason.LOOK: ~seen & agrees,
        Reason.NEW_PLACE: seen & ~is_known & agrees,
        Reason.REST: ~is_known,
        Reason.DIFFERS: kept & ~comes_back,
        Reason.NEW_TEXT: kept & (evidence_on(judgement, "known") == 0),
        Reason.COMES_BACK: ~kept & comes_back,
        Reason.LOOKS_KEPT: kept & looks_kept,
        Reason.LOOKS_DROPPED: ~kept & ~looks_kept,
    }
    places = [REASONS.index(reason) for reason in reasons]
    rest = REASONS.index(Reason.TOGETHER)
    return np.select(list(reasons.values()), places, rest).astype(np.int16)
