"""From what the page and the site say of each block to one number per block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dehusk.memory import Memory
from dehusk.methods.auto.evidence import evidence, region_mean
from dehusk.methods.auto.looks import Matrix
from dehusk.methods.auto.network import Model
from dehusk.methods.auto.reading import Reading
from dehusk.model import Floats

_SCALE: Final = 0.85
"""The site network is surer of itself than it is right: its logits are flattened before they count
as probabilities. On held-out sites 1.0 instead of 0.7 gained 0.002 to 0.007 on news-dev and lost
0.003 on wcxb-dev; this is between them. The figures that training prints are with 1.0."""
_LEAST: Final = 0.1
"""A block that is content with less probability is not kept even on a page without better ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Probabilities of being content, one per block."""

    page: Floats
    """What the page alone says."""
    site: Floats
    """What page and site say together."""
    threshold: float
    """From which probability on a block is kept."""
    evidence: Matrix
    """What the other pages say, as `evidence` gives it."""


def judge(model: Model, memory: Memory, page: Reading, shift: float) -> Judgement:
    """The verdict on every block; `shift` is added to the logits, above 0 to keep more."""
    logits = model.page(page.looks)[:, 0]
    verdict = probability(logits)
    told, verdicts = evidence(memory, page, verdict)
    rows = site_rows(page, logits, told, verdicts)
    site = probability(_SCALE * model.site(rows)[:, 0] + shift)
    return Judgement(verdict, site, best_threshold(site, page.blocks.chars), told)


def probability(logits: Floats) -> Floats:
    """The probability that a logit stands for."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))))


def site_rows(page: Reading, logits: Floats, site: Matrix, verdicts: Floats) -> Matrix:
    """What the site network reads: some looks, the site's evidence, the page network's verdicts.

    Those stand for the block, its six neighbours, its surroundings at each level, and for the
    blocks that stood at its place on other pages, alone and in its surroundings.
    """
    verdict = probability(logits)
    padded = np.concatenate((np.zeros(3), verdict, np.zeros(3)))
    near = [padded[at : at + len(verdict)] for at in (2, 1, 0, 4, 5, 6)]
    return np.concatenate(
        (
            page.looks[:, :12],
            page.looks[:, 36:45],
            page.looks[:, 97:],
            site,
            np.stack((logits / 3, verdict, verdicts, *near), axis=1),
            region_mean(page, verdict),
            region_mean(page, verdicts),
        ),
        axis=1,
        dtype=np.float32,
    )


def best_threshold(probabilities: Floats, chars: Floats) -> float:
    """From which probability on to keep blocks, for the best F1 to be expected on this page.

    F1 of keeping the likeliest blocks is 2·Σ kept chars·p / (Σ all chars·p + Σ kept chars). A page
    that is hard to judge gets a low threshold: half right is better than empty.
    """
    order = np.argsort(-probabilities, kind="stable")
    likely, length = probabilities[order], chars[order]
    expected = np.cumsum(length * likely)
    f1 = 2 * expected / (expected[-1] + np.cumsum(length))
    return max(float(likely[np.argmax(f1)]), _LEAST)


def pooled(page: Reading, content: Floats) -> Matrix:
    """One row of numbers for the whole page: the looks of its content, and of all its blocks."""
    weight = content * page.blocks.chars + 1e-6
    looks = page.looks.astype(np.float64)
    means = (weight @ looks / weight.sum(), looks.mean(axis=0))
    return np.concatenate(means, dtype=np.float32)


_UNSURE: Final = 0.35
"""A type of lower probability is no better than a guess among seven: `other`."""


def page_type(model: Model, page: Reading, content: Floats) -> tuple[str, float]:
    """The likeliest type of the page and its probability; `other` where none is likely."""
    logits = model.type(pooled(page, content)[None])[0]
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    best = int(shares.argmax())
    confidence = float(shares[best])
    if confidence < _UNSURE:
        return "other", 1 - confidence
    return model.types[best], confidence
