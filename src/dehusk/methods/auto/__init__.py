"""The method `auto`: what the page looks like and what its site has taught, judged together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import le
from typing import Final

import numpy as np

from dehusk.errors import SettingError
from dehusk.kernel import KERNEL
from dehusk.memory import Memory, Table, fair_worth, keep_best, life_left
from dehusk.methods.auto.evidence import column
from dehusk.methods.auto.families import MAX_FAMILIES, families_seen, family_number, is_template_new
from dehusk.methods.auto.judge import Judgement, judge, page_kind, page_look, page_type
from dehusk.methods.auto.latest import Latest
from dehusk.methods.auto.network import Model, load_model
from dehusk.methods.auto.reading import READING_PACKING, Reading, read
from dehusk.methods.auto.reasons import REASONS, reasons_of
from dehusk.methods.auto.taught import TABLES
from dehusk.methods.contract import Explanation, FamilySeen, Verdict
from dehusk.page.packing import Cut
from dehusk.page.tree import TREE_PACKING, Floats, Tree
from dehusk.settings import Favour

_SHIFTS: Final[dict[str, float]] = {
    Favour.PRECISION: -1.0, Favour.BALANCE: 0.0, Favour.RECALL: 1.0,
}  # fmt: skip
"""What is added to the logits of content."""


@dataclass(frozen=True, slots=True)
class Auto:
    """What the page looks like and what its site has taught, judged region by region.

    A small network reads the look of each block of text. A second one weighs that against the
    site: how often the text, and any text at that place, was on other pages, how the first network
    judged that place there, and the same for all that stands around the block. The threshold is the
    one with the best F1 to be expected on the page.
    """

    favour: str = Favour.BALANCE.value
    """`precision`, `balance` or `recall`."""
    model: str | None = None
    """A file from `dehusk train auto`; None for the model that comes with dehusk."""
    base_life: float = 40.0
    """Pages for which a segment seen once is kept: long enough for pages of a rare family to come
    again. Chosen, not swept."""
    life_factor: float = 20.0
    """How many times longer the most frequent segments are kept."""
    ages: bool = True
    """False keeps all, up to the limits, so that memories add up exactly."""
    max_segments: int = 20_000
    """Segments that are remembered, 32 bytes each, whatever a site sends."""
    max_places: int = 6_000
    """Places that are remembered, 48 bytes each."""

    name = "auto"
    only_asked_with = ("favour",)

    def __post_init__(self) -> None:
        if self.favour not in list(Favour):
            raise SettingError(f"auto: favour is one of {', '.join(Favour)}")
        if self.model is not None and not isinstance(self.model, str):
            raise SettingError("auto: model is the name of a file")
        if not (0 < self.base_life < math.inf and 1 <= self.life_factor < math.inf):
            raise SettingError("auto: base_life must be above 0 and life_factor at least 1")
        if self.max_segments < 4 or self.max_places < 4:
            raise SettingError("auto: max_segments and max_places must be at least 4")

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        """The memory with this page added, and without what has not come back in its life time."""
        return self.limit(memory.then(self.lesson(tree)))

    def lesson(self, tree: Tree) -> Memory:
        """What this page alone teaches."""
        return page_look(_read(tree), self._model).lesson

    def limit(self, memory: Memory) -> Memory:
        """The memory within its limits."""
        limits = MAX_FAMILIES, self.max_places, self.max_segments, self.max_segments
        if not self._forgets(memory) and all(map(le, memory.sizes(TABLES.names), limits)):
            return memory
        return memory.with_tables(
            segments=self._limited(memory, "segments", self.max_segments),
            texts=self._limited(memory, "texts", self.max_segments),
            places=self._limited(memory, "places", self.max_places),
            families=self._limited(memory, "families", MAX_FAMILIES),
        )

    def score(self, memory: Memory, tree: Tree) -> Floats:
        """The score of each node from a memory that has learned this page.

        A text node has its block's score, an element the mean of the text below it, by length; nan
        where there is no shown text.
        """
        page = _read(tree)
        if not len(page):
            return np.full(len(tree), np.nan)
        return _spread(tree, page, self._judge(memory, page).given_scores)

    def explain(self, memory: Memory, tree: Tree) -> Explanation:
        """What the look of each node says, what other pages say, and why it has its score.

        The site's word is the share of a text that other pages have at the same place; nan where
        no other page has that place.
        """
        nothing = np.full(len(tree), np.nan)
        page = _read(tree)
        if not len(page.blocks):
            return Explanation(nothing, nothing, nothing, np.full(len(tree), -1, np.int16))
        judgement = self._judge(memory, page)
        told = judgement.evidence
        is_known = column(told, "place known") > 0
        site = np.where(is_known, column(told, "given place"), np.nan).astype(np.float64)
        reason = np.full(len(tree), -1, np.int16)
        reason[page.blocks.segments] = reasons_of(judgement)[page.blocks.owner]
        return Explanation(
            page_score=_spread(tree, page, 1 - judgement.page),
            site_score=_spread(tree, page, site),
            score=_spread(tree, page, judgement.scores),
            reason=reason,
            reasons=REASONS,
        )

    def verdict(self, memory: Memory, tree: Tree) -> Verdict:
        """Of what family and type the page is, and whether its site has changed its template."""
        page = _read(tree)
        if not len(page):
            return Verdict()
        model = self._model
        kind = page_kind(model, memory, page)
        name, confidence = page_type(model.types, kind.logits)
        return Verdict(
            family=None if kind.family is None else family_number(kind.family),
            type=name,
            type_confidence=confidence,
            template_changed=self.has_new_template(memory) if kind.is_last else None,
        )

    def families(self, memory: Memory) -> tuple[FamilySeen, ...]:
        """The families that the memory knows, that of most pages first."""
        return families_seen(memory.table("families"))

    def has_new_template(self, memory: Memory) -> bool:
        """True for the memory after the page that shows that the site's template has changed."""
        return is_template_new(memory)

    @property
    def _model(self) -> Model:
        return load_model(self.model)

    def _judge(self, memory: Memory, page: Reading) -> Judgement:
        """The verdict on every block."""
        return judge(self._model, memory, page, _SHIFTS[self.favour])

    def _forgets(self, memory: Memory) -> bool:
        """Is anything past its life time? The least that is kept is kept for `base_life` pages."""
        return self.ages and memory.pages > self.base_life

    def _limited(self, memory: Memory, name: str, max_keys: int) -> Table:
        """The table without what is past its life time, and within its limit."""
        table = memory.table(name)
        if len(table) <= max_keys and not self._forgets(memory):
            return table
        left = life_left(table, memory.pages, self.base_life, self.life_factor)
        if self.ages:
            kept = left >= 0
            table, left = table.only(np.asarray(kept)), left[kept]
        if len(table) <= max_keys:
            return table
        return keep_best(table, fair_worth(table, left), max_keys)


_SPREAD: Final = READING_PACKING.wanted("lengths", "segments", "owner")
_SPREAD_TO: Final = TREE_PACKING.wanted("end", "shown")
# A page is learned and then asked about: it is read once for both.
_read: Final[Latest[Tree, Reading]] = Latest(read)


def _spread(tree: Tree, page: Reading, blocks: Floats | Cut) -> Floats:
    """The blocks' scores at their text nodes, and for each element the mean below it, by length.

    What has no score, nan, does not count; an element with nothing that counts has none either.
    """
    if KERNEL is not None:
        memory = KERNEL.spread(blocks, page.cut(_SPREAD), tree.cut(_SPREAD_TO))
        return np.frombuffer(memory, np.float64)
    assert isinstance(blocks, np.ndarray), "a cut is for the kernel"
    segments, scores = page.blocks.segments, blocks[page.blocks.owner]
    is_known = ~np.isnan(scores)
    sums = np.zeros((2, len(tree) + 1))
    sums[0, segments + 1] = np.where(is_known, scores, 0.0) * page.lengths
    sums[1, segments + 1] = is_known * page.lengths
    totals = np.cumsum(sums, axis=1)
    score, length = totals[:, tree.end] - totals[:, :-1]
    means = np.full(len(tree), np.nan)
    holds = tree.shown & (length > 0.5)
    means[holds] = np.clip(score[holds] / length[holds], 0.0, 1.0)
    means[segments] = scores
    return means
