"""Why a page's regions are kept or dropped: the library and the command `dehusk explain`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dehusk import Site, pipeline
from dehusk.memory import Memory
from dehusk.model import Explanation, Floats, Limits, Page, Tree

PAGES = [
    f"<nav>Home News About</nav><main><h1>Harvest {n}</h1><p>In year {n}, {n * 7} sacks.</p></main>"
    for n in range(6)
]


@dataclass(frozen=True, slots=True)
class Halves:
    """Calls template what the site says is, and content what the page says is."""

    share: float = 0.5

    name = "halves"

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        return memory.after_page()

    def score(self, memory: Memory, tree: Tree) -> Floats:
        return self.explain(memory, tree).score

    def explain(self, memory: Memory, tree: Tree) -> Explanation:
        page = np.where(tree.shown, self.share, np.nan)
        site = np.where(tree.shown, min(1.0, memory.pages / 4), np.nan)
        size = len(tree)
        return Explanation(page, site, (page + site) / 2, np.zeros(size, np.int16), ("halfway",))


def test_an_explanation_is_of_the_memory_that_the_answer_is_of() -> None:
    page, limits = Page(PAGES[0]), Limits()
    result = pipeline.explain(page, Memory(1), Halves(), limits)
    assert result.explanation is not None
    assert result.pages_seen == 2
    assert result.explanation.site_score[0] == 0.5
    assert np.array_equal(result.explanation.score, result.labels.scores, equal_nan=True)


def test_a_method_that_cannot_explain_still_answers() -> None:
    site = Site()
    for html in PAGES[:5]:
        site.learn(html)
    result = site.explain(PAGES[5])
    assert result.explanation is None
    assert result.text == site.ask(PAGES[5]).text == "Harvest 5\nIn year 5, 35 sacks."
    assert site.memory.pages == 5
