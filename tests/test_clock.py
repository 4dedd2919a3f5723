"""The time that a page may take: CPU time decides, so that load changes no answer."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from dehusk import pipeline
from dehusk.errors import PageTimeout
from dehusk.memory import Memory
from dehusk.methods.papers.hyperlink.equality import Weights
from dehusk.methods.papers.hyperlink.mapping import Mapper, Rules
from dehusk.methods.papers.rtdm.mapping import Outline, map_trees
from dehusk.page.page import Page, check_time, timed
from dehusk.page.parse import parse
from dehusk.page.tree import Floats, Tree
from dehusk.settings import Limits


def spin(seconds: float) -> None:
    """Use so much CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@dataclass(slots=True)
class Clock:
    """The time as a page sees it, which goes on only when it is told to."""

    cpu_s: float = 0.0
    wall_s: float = 0.0

    def thread_time(self) -> float:
        return self.cpu_s

    def monotonic(self) -> float:
        return self.wall_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("dehusk.page.page.time", found)
    return found


@dataclass(frozen=True, slots=True)
class Slow:
    """A method that takes its time, by waiting or by working."""

    clock: Clock = field(default_factory=Clock)
    waits_s: float = 0.0
    works_s: float = 0.0
    name = "slow"

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        self.clock.wall_s += self.waits_s + self.works_s
        self.clock.cpu_s += self.works_s
        return memory.after_page()

    def score(self, memory: Memory, tree: Tree) -> Floats:
        assert not self.works_s, "it was to be given up before"
        return np.zeros(len(tree))


def clean(method: Slow, timeout_s: float) -> str:
    setup = pipeline.Setup(method, Limits(timeout_s=timeout_s))
    return pipeline.clean(Page("<p>Rye"), Memory(), setup)[0].text


def test_a_page_that_waits_for_a_busy_machine_is_answered_as_ever(clock: Clock) -> None:
    assert clean(Slow(clock, waits_s=5.5), timeout_s=0.2) == "Rye"


def test_a_page_that_works_too_long_is_given_up_after_the_stage_that_did(clock: Clock) -> None:
    with pytest.raises(PageTimeout, match=r"learning took longer than 0\.05 s of CPU time"):
        clean(Slow(clock, works_s=0.1), timeout_s=0.05)


def test_a_page_that_stands_still_is_given_up_at_last(clock: Clock) -> None:
    with pytest.raises(PageTimeout, match=r"learning was not done within 0\.6 s"):
        clean(Slow(clock, waits_s=0.8), timeout_s=0.02)


def test_what_nobody_times_takes_what_it_takes() -> None:
    with timed("https://a.example/", 0.001):
        spin(0.01)
        with pytest.raises(PageTimeout, match=r"https://a\.example/: rest took"):
            check_time("rest")
    check_time("rest")


def test_a_long_mapping_looks_at_the_clock_inside() -> None:
    label = np.arange(3000, dtype=np.uint64)
    label[0] = 0
    flat = Outline(label, np.array([3000, *[1] * 2999]))
    other = Outline(np.array([0, *np.roll(label[1:], 7)], np.uint64), flat.size)
    tree = parse(Page("<div><p>a<b>b</b></p></div>" * 3000)).tree
    rules = Rules(Weights(0.5, 0.2, 0.2, 0.1, 0.9, 0.25, 1.0), 0.1, activate_position=True)
    for work in (
        lambda: map_trees(flat, other, 10**8),
        lambda: Mapper(tree, rules).map(tree),
    ):
        began = time.thread_time()
        with timed(None, 0.02), pytest.raises(PageTimeout):
            work()
        assert time.thread_time() - began < 1


def test_rendering_looks_at_the_clock_between_its_parts() -> None:
    html = "<h1>Rye</h1>" + "<p>Sown in <a href=/x>autumn</a>.</p>" * 2000
    result, _ = pipeline.clean(Page(html), Memory(), pipeline.Setup(Slow()))
    with timed(None, 0.0005), pytest.raises(PageTimeout):
        result.to_json(100)
    assert "links" not in vars(result)
