"""The way of a page, from HTML to its answer. The only module that knows the order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from dehusk.answer.candidates import taught
from dehusk.answer.labels import Labels, label, overrule
from dehusk.answer.override import NO_OVERRIDES, Overrides, choose
from dehusk.answer.problem import Problem, problem_of
from dehusk.answer.result import Result
from dehusk.answer.text import characters, text
from dehusk.memory import Memory, fair_worth, keep_best, life_left
from dehusk.memory.memory import PLACES
from dehusk.methods import (  # fmt: skip
    AdditiveMethod,
    Explains,
    Method,
    adds_up,
    assesses,
    judges,
    knows_copies,
    smooths,
)
from dehusk.methods.contract import Assessment, Verdict
from dehusk.methods.smooth import smooth
from dehusk.page.page import Page, check_time, timed
from dehusk.page.parse import parse
from dehusk.page.tree import Choices, Tree
from dehusk.page.urls import site_by_url
from dehusk.settings import Limits, MarkdownSettings, SiteBy

DEFAULT_SITE = "page"
"""The site of a page that nobody named one for."""
MAX_PLACES = 500
"""Places of dates and authors that are remembered, 32 bytes each: a site has a dozen."""


class Setup(NamedTuple):
    """How pages are judged: what tells template from content, within which limits, what the user
    decides, whatever the method says, and how Markdown is written.
    """

    method: Method
    limits: Limits = Limits()
    overrides: Overrides = NO_OVERRIDES
    markdown: MarkdownSettings = MarkdownSettings()


class Learned(NamedTuple):
    """What a site has taught after a page, and what the page taught; None where it is known."""

    memory: Memory
    lesson: Memory | None = None


Learn = Callable[[Memory, Tree], Learned]
"""How a page is learned. Without one it is learned as the method does."""


def clean(
    page: Page,
    memory: Memory,
    setup: Setup,
    learn: Learn | None = None,
    render: Callable[[Result], object] | None = None,
) -> tuple[Result, Learned]:
    """The page's answer, and the memory after the page; PageError for one that cannot be used.

    The page is learned first and asked about then, so that its own text counts as seen. The
    memory handed in stays as it was: drop the new one to ask without learning. A result renders
    what it is asked for; `render` asks at once, so that it counts against the page's time.
    """
    with timed(page.url, setup.limits.timeout_s):
        return _clean(page, memory, setup, learn, render)


def _clean(
    page: Page,
    memory: Memory,
    setup: Setup,
    learn: Learn | None,
    render: Callable[[Result], object] | None,
) -> tuple[Result, Learned]:
    method = setup.method
    tree, choices = _parse(page, setup)
    check_time("parsing")
    learned = learn(memory, tree) if learn else _learn(method, memory, tree)
    memory = learned.memory
    check_time("learning")
    assessment = _assess(method, memory, tree)
    scores = assessment.scores
    check_time("scoring")
    sections = None
    if smooths(method):
        smoothed = smooth(tree, scores, method.smoothing(memory, tree))
        scores, sections = smoothed.scores, smoothed.sections
        check_time("smoothing")
    labels = label(tree, scores, sections)
    problem = _problem_of(page, tree, labels, assessment) if assessment.is_guess else None
    if problem is not None:
        labels = label(tree, np.where(np.isnan(scores), scores, 1.0), sections)
    if choices is not None:
        labels = overrule(tree, labels, choices)
    check_time("labelling")
    judged: Callable[[], Verdict] = Verdict
    if judges(method):
        judged = partial(method.verdict, memory, tree)
    result = Result(
        page.url, site_of(page), memory.pages, labels, page, setup.limits, tree, page.capture,
        markdown_settings=setup.markdown, _judge=judged, _assessment=assessment,
        _places=memory.table(PLACES), _emptied=problem,
    )  # fmt: skip
    if render is not None:
        render(result)
        check_time("rendering")
    return result, learned


def _problem_of(page: Page, tree: Tree, labels: Labels, assessment: Assessment) -> Problem | None:
    """What is wrong with a page on which nothing looks like content."""
    said, (shown, _) = text(tree, labels.labels), characters(tree, labels.labels)
    status = page.capture.status if page.capture else None
    return problem_of(tree, labels.labels, said, shown, assessment, status)


def _parse(page: Page, setup: Setup) -> tuple[Tree, Choices | None]:
    """The page's tree, and what the user decides on it. The parser's own is then let go."""
    if not setup.overrides:
        return parse(page, setup.limits).tree, None
    parsed = parse(page, setup.limits, by_parser=True)
    return parsed.tree, choose(parsed.tree, parsed.document, setup.overrides)


def explain(page: Page, memory: Memory, setup: Setup, learn: Learn | None = None) -> Result:
    """The page's answer as `clean` gives it, with the method's explanation if it has one."""
    result, learned = clean(page, memory, setup, learn)
    if not isinstance(setup.method, Explains):
        return result
    return replace(result, explanation=setup.method.explain(learned.memory, result.tree))


def learn(page: Page, memory: Memory, setup: Setup, learn: Learn | None = None) -> Learned:
    """The memory after the page, and what it taught, without an answer on it."""
    with timed(page.url, setup.limits.timeout_s):
        tree = parse(page, setup.limits).tree
        check_time("parsing")
        learned = learn(memory, tree) if learn else _learn(setup.method, memory, tree)
        check_time("learning")
    return learned


def as_learned(memory: Memory, tree: Tree) -> Learned:  # noqa: ARG001
    """The memory as it is: the `learn` of a page that it has learned before."""
    return Learned(memory)


def _learn(method: Method, memory: Memory, tree: Tree) -> Learned:
    if not adds_up(method):
        after = method.learn(memory, tree)
        return Learned(after, after)
    lesson = lesson_of(method, tree)
    after = with_lesson(method, memory, lesson)
    return Learned(after, lesson if after is not memory else None)


def lesson_of(method: AdditiveMethod, tree: Tree) -> Memory:
    """What a page alone teaches the method, and of the places of its dates and authors."""
    lesson, places = method.lesson(tree), tree.once(taught)
    return lesson.with_history(**{PLACES: places}) if len(places) else lesson


def with_lesson(method: AdditiveMethod, memory: Memory, lesson: Memory) -> Memory:
    """The memory after a lesson, within its limits; the same one for a copy of what it knows."""
    news = method.news(memory, lesson) if knows_copies(method) else lesson
    if news is None:
        return memory
    after = method.limit(memory.then(news))
    places = after.table(PLACES)
    if len(places) <= MAX_PLACES:
        return after
    left = fair_worth(places, life_left(places, after.pages))
    return after.with_history(**{PLACES: keep_best(places, left, MAX_PLACES)})


def _assess(method: Method, memory: Memory, tree: Tree) -> Assessment:
    if assesses(method):
        return method.assess(memory, tree)
    return Assessment(method.score(memory, tree))


def site_of(page: Page) -> str:
    """The site that the page names, else the host of its URL."""
    return page.site or site_by_url(page.url, SiteBy.HOST) or DEFAULT_SITE
