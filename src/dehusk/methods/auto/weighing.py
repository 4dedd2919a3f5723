"""What the site network reads of a block: its look, what the site says, and the verdicts around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from dehusk.memory import Memory
from dehusk.methods.auto.blocks import LEVELS, Blocks
from dehusk.methods.auto.columns import Matrix, columns_of, exp, log1p
from dehusk.methods.auto.evidence import COLUMNS as EVIDENCE
from dehusk.methods.auto.evidence import region_mean
from dehusk.methods.auto.looks import COLUMNS as LOOKS
from dehusk.methods.auto.reading import Reading
from dehusk.methods.auto.taught import LOOK_PACKING
from dehusk.page.packing import Packed
from dehusk.page.tree import Floats

_NEAR: Final = (2, 1, 0, 4, 5, 6)
"""The neighbours of a block among the seven blocks around it."""
_LOOKS: Final = ("text", "place", "alike", "rows", "copies", "title")
"""The parts of the looks that the site network reads too. With those of a block's surroundings it
remembered the sites that it was fitted to: without, held-out sites have 0.002 more on docs-dev,
0.003 more on news-dev and 0.006 more of the values of swde-dev. What surrounds a block has its say
by the verdicts there."""


def _sizes(columns: Mapping[str, slice], prefix: str = "") -> dict[str, int]:
    return {prefix + name: each.stop - each.start for name, each in columns.items()}


COLUMNS: Final = columns_of(
    _sizes({name: LOOKS[name] for name in _LOOKS})
    | _sizes(EVIDENCE, "site: ")
    | {"logit": 1, "verdict": 1, "site: verdict": 1, "verdicts near": len(_NEAR)}
    | {"verdicts around": len(LEVELS), "site: verdicts around": len(LEVELS), "rank": 4}
)
"""Where each number stands that the site network reads."""
TOLD: Final = slice(
    min(COLUMNS[f"site: {name}"].start for name in EVIDENCE),
    max(COLUMNS[f"site: {name}"].stop for name in EVIDENCE),
)
"""What `evidence` gives, within that."""


@dataclass(frozen=True, eq=False)
class Look:
    """What the page alone says of each block, and what it teaches."""

    said: Packed
    """Logits and verdicts (`taught.LOOK_PACKING`)."""
    lesson: Memory

    @cached_property
    def logits(self) -> Floats:
        """What the page network says of each block."""
        return self._view("logits")

    @cached_property
    def verdict(self) -> Floats:
        """The probabilities that these stand for."""
        return self._view("verdict")

    def _view(self, name: str) -> Floats:
        blocks = len(self.said) // LOOK_PACKING.row_bytes
        return LOOK_PACKING.view(self.said, (blocks,), name)


def site_rows(page: Reading, logits: Floats, site: Matrix, verdicts: Floats) -> Matrix:
    """What the site network reads: some looks, the site's evidence, the page network's verdicts.

    Those stand for the block, its six neighbours, its surroundings at each level, and for the
    blocks that stood at its place on other pages, alone and in its surroundings.
    """
    verdict = probability(logits)
    padded = np.concatenate((np.zeros(3), verdict, np.zeros(3)))
    near = [padded[at : at + len(verdict)] for at in _NEAR]
    return np.concatenate(
        (
            *(page.looks[:, LOOKS[name]] for name in _LOOKS),
            site,
            np.stack((logits / 3, verdict, verdicts, *near), axis=1),
            region_mean(page, verdict),
            region_mean(page, verdicts),
            _ranks(page.blocks, verdict),
        ),
        axis=1,
        dtype=np.float32,
    )


_SURE: Final = 0.8
"""A verdict from which on a block is surely content."""


def _ranks(blocks: Blocks, verdict: Floats) -> Floats:
    """How the verdict compares with those on the other blocks of the page.

    The share of the content to be expected that is likelier, how much is surely content, in all and
    as a share of the page, and the verdict as a share of the highest.
    """
    expected = blocks.chars * verdict
    order = np.argsort(-verdict, kind="stable")
    above = np.empty(len(verdict))
    total = np.cumsum(expected[order])
    above[order] = total - expected[order]
    sure = float(blocks.chars[verdict >= _SURE].sum())
    page = (log1p(sure) / 8, sure / max(float(blocks.chars.sum()), 1.0))
    return np.stack(
        (
            above / max(float(total[-1]) if len(total) else 0.0, 1e-9),
            *(np.full(len(verdict), number) for number in page),
            verdict / max(float(verdict.max(initial=0.0)), 1e-6),
        ),
        axis=1,
    )


def probability(logits: Floats) -> Floats:
    """The probability that a logit stands for."""
    return np.asarray(1 / (1 + exp(-np.minimum(np.maximum(logits, -30), 30))))
