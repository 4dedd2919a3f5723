"""From what the page and the site say of each block to one number per block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.kernel import KERNEL
from dehusk.memory import Memory
from dehusk.methods.auto import rules
from dehusk.methods.auto.columns import Matrix, width
from dehusk.methods.auto.evidence import COLUMNS as EVIDENCE
from dehusk.methods.auto.evidence import column, evidence, lesson
from dehusk.methods.auto.families import is_last_page
from dehusk.methods.auto.latest import Latest
from dehusk.methods.auto.network import Model
from dehusk.methods.auto.reading import READING_PACKING, Reading
from dehusk.methods.auto.taught import LOOK_PACKING, Given, judge_blocks, kind_of_page, look_at
from dehusk.methods.auto.weighing import Look, probability, site_rows
from dehusk.page.packing import Column, Cut, Packed, Packing
from dehusk.page.tree import Floats

_SCALE: Final = 0.6
"""The site network is surer of itself than it is right: its logits are flattened before they count
as probabilities. On held-out sites 0.5 instead gains 0.002 on docs-dev and 0.008 of the values of
swde-dev, and loses 0.003 on news-dev, 0.001 on wcxb-dev and template of the samples."""
_STRICTNESS: Final = (np.arange(20) + 0.5) / 20
_LEAST: Final = 0.2
"""A block that is content with less probability is not kept beside better ones, nor where the page
says nothing that its site does not say elsewhere."""
_SAID: Final = 0.9
"""The share of a page's text on other pages from which on it says nothing of its own."""
_NUMBERS: Final = np.array((_SCALE, _LEAST, _SAID, *rules.NUMBERS)).tobytes()
"""The numbers of this module and of `rules` as the kernel takes them (`src/kernel/judge.c`)."""


_TOLD: Final = width(EVIDENCE)
JUDGED_PACKING: Final = Packing(
    Column("networks", np.float64),
    Column("site", np.float64),
    Column("scores", np.float64),
    Column("evidence", np.float32, width=_TOLD),
)
"""What is said of each block, in memory (`src/kernel/judge.c`)."""
_SCORES: Final = JUDGED_PACKING.wanted("scores")


@dataclass(frozen=True, eq=False)
class Judgement:
    """Probabilities of being content, one per block."""

    page: Floats
    """What the page alone says."""
    networks: Floats
    """What page and site say together."""
    site: Floats
    """The same after the rules of `decide`."""
    scores: Floats
    """0 content … 1 template, the threshold at 0.5."""
    threshold: float
    """From which probability on a block is kept."""
    evidence: Matrix
    """What the other pages say, as `evidence` gives it."""

    @staticmethod
    def of_memory(memory: Packed, look: Look, threshold: float) -> Judgement:
        """The judgement whose arrays the kernel made; views of them are made when asked for."""
        judgement = object.__new__(Judgement)
        judgement.__dict__.update(packed=memory, look=look, threshold=threshold)
        return judgement

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]:
            memory = self.__dict__.get("packed")
            if memory is None or (name != "page" and name not in JUDGED_PACKING):
                raise AttributeError(name)
            if name == "page":
                return self.look.verdict
            made = self.__dict__[name] = JUDGED_PACKING.view(memory, _counts(memory), name)
            return made

    @property
    def given_scores(self) -> Floats | Cut:
        """The scores as the kernel takes them."""
        memory = self.__dict__.get("packed")
        if memory is None:
            return self.scores
        return JUDGED_PACKING.cut(memory, _counts(memory), _SCORES)


def _counts(memory: Packed) -> tuple[int]:
    """How many blocks were judged."""
    return (len(memory) // JUDGED_PACKING.row_bytes,)


def judge(model: Model, memory: Memory, page: Reading, shift: float) -> Judgement:
    """The verdict on every block; `shift` is added to the logits, above 0 to keep more."""
    look = page_look(page, model)
    others = max(memory.pages - 1, 0)
    if KERNEL is not None:
        given = Given(shift, others, rules.KINDS, _NUMBERS, _TOLD)
        memories = memory, look.lesson
        found, threshold = judge_blocks(KERNEL, page, look.said, memories, model.site.arrays, given)
        return Judgement.of_memory(found, look, threshold)
    told, verdicts = evidence(memory, page, look.verdict)
    rows = site_rows(page, look.logits, told, verdicts)
    content = softened(model.site(rows)[:, 0], shift)
    decided, threshold = decide(page, content, told, others)
    scores = _scores(decided, threshold)
    return Judgement(look.verdict, content, decided, scores, threshold, told)


def decide(page: Reading, content: Floats, told: Matrix, others: int) -> tuple[Floats, float]:
    """The probabilities after the rules for what the networks see too seldom, and the threshold.

    `content` is what the networks say, `told` what the `others`, the other pages, say.
    """
    chars = page.blocks.chars
    # Added up one after another, as the kernel does: the order of a sum shows in its last digit.
    said = float(np.cumsum(chars * column(told, "known anywhere"))[-1] / chars.sum())
    content = rules.by_parts(page, content, told, others)
    threshold = best_threshold(content, chars, may_be_empty=said > _SAID)
    return rules.with_headline(page, content, told, threshold), threshold


def _look(page: Reading, model: Model) -> Look:
    """What the page alone says and teaches; a page is learned, asked about and described."""
    if KERNEL is not None:
        return Look(*look_at(KERNEL, page, model.page.arrays))
    logits = model.page(page.looks)[:, 0]
    verdict = probability(logits)
    return Look(LOOK_PACKING.pack((logits, verdict)), lesson(page, verdict))


page_look: Final[Latest[Reading, Look]] = Latest(_look)


def _scores(content: Floats, threshold: float) -> Floats:
    """0 content … 1 template, the threshold at 0.5."""
    kept = 0.5 * (1 - content) / max(1 - threshold, 1e-9)
    dropped = 0.5 + 0.5 * (threshold - content) / threshold
    scores = np.where(content >= threshold, np.minimum(kept, 0.5), dropped)
    return np.minimum(np.maximum(scores, 0.0), 1.0)


def softened(logits: Floats, shift: float = 0.0) -> Floats:
    """The probability that a logit of the site network stands for, by `_SCALE`."""
    return probability(_SCALE * logits + shift)


def best_threshold(probabilities: Floats, chars: Floats, *, may_be_empty: bool = True) -> float:
    """From which probability on to keep blocks, for the best F1 to be expected on this page.

    What a page calls content differs in how strict it is, not block by block: all its comments are,
    or none. So the truth is taken to be one of twenty, from 'only the likeliest blocks' to 'nearly
    all', and the threshold to be the best on average. (With blocks that are content independently
    of each other, many unlikely comments outweigh a short article: 0.011 less on news-dev.)
    """
    best, likeliest = _best(probabilities, chars)
    return best if likeliest < _LEAST and not may_be_empty else max(best, _LEAST)


def _best(probabilities: Floats, chars: Floats) -> tuple[float, float]:
    """The threshold that is best on average over all degrees of strictness, and the highest."""
    if KERNEL is not None:
        found: tuple[float, float] = KERNEL.threshold(probabilities, chars)
        return found
    order = np.argsort(-probabilities, kind="stable")
    likely, kept = probabilities[order], np.cumsum(chars[order])
    count = np.searchsorted(-likely, -_STRICTNESS, "right")
    content = np.concatenate(([0.0], kept))[count]
    f1 = 2 * np.minimum(kept[:, None], content) / (kept[:, None] + content)
    return float(likely[np.argmax(np.cumsum(f1, axis=1)[:, -1])]), float(likely[0])


_LOOKS: Final = READING_PACKING.wanted("looks")


def pooled(page: Reading, content: Floats) -> Matrix:
    """One row of numbers for the whole page: the looks of its content, and of all its blocks."""
    weight = content * page.chars + 1e-6
    if KERNEL is not None:
        return np.frombuffer(KERNEL.pool(page.cut(_LOOKS), weight), np.float32)
    # Added up one after another, as the kernel does. A product of matrices would have an order of
    # its own, and threads that cost more than they do.
    rows = page.looks.astype(np.float64)
    sums = np.cumsum(weight[:, None] * rows, axis=0)[-1] / np.cumsum(weight)[-1]
    return np.concatenate((sums, np.cumsum(rows, axis=0)[-1] / len(rows)), dtype=np.float32)


class Kind(NamedTuple):
    """What is asked of a page as a whole."""

    logits: Sequence[float]
    """What the type network says."""
    is_last: bool
    """Was the page the last that the memory has learned?"""
    family: int | None
    """The key of its family; None for a page without text."""


_TYPE_SCALE: Final = 0.7
"""The type network is surer than it is right as well: on held-out sites of wcxb-dev it is right on
0.76 of the pages, and says 0.84 of itself; so flattened, 0.79."""
_UNSURE: Final = 0.35
"""A type of lower probability is no better than a guess among seven: `other`."""


def page_kind(model: Model, memory: Memory, page: Reading) -> Kind:
    """What is asked of a page as a whole, before it has words."""
    look = page_look(page, model)
    if KERNEL is not None:
        memories = memory, look.lesson
        return Kind(*kind_of_page(KERNEL, page, look.said, memories, model.type.arrays))
    logits = model.type(pooled(page, look.verdict)[None])[0].tolist()
    is_last = is_last_page(memory.table("texts"), memory.pages, page.texts)
    family = look.lesson.table("families").keys.tolist()
    return Kind(logits, is_last, family[0] if family else None)


def page_type(types: Sequence[str], logits: Sequence[float]) -> tuple[str, float]:
    """The likeliest type of the page and its probability; `other` where none is likely."""
    # Of so few numbers Python finds the largest, and the sum, sooner than numpy is called.
    scaled = [_TYPE_SCALE * logit for logit in logits]
    likeliest = max(scaled)
    total = 0.0
    for share in np.exp([logit - likeliest for logit in scaled]).tolist():
        total += share
    confidence = 1 / total
    return "other" if confidence < _UNSURE else types[scaled.index(likeliest)], confidence
