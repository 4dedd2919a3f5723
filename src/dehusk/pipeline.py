"""The way of a page, from HTML to its answer. The only module that knows the order."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from dehusk.answer.label import label, overrule
from dehusk.answer.override import NO_OVERRIDES, Overrides, choose
from dehusk.answer.result import Result
from dehusk.errors import PageTimeout
from dehusk.memory import Memory
from dehusk.methods import Explains, Method, judges, smooths
from dehusk.methods.contract import Verdict
from dehusk.methods.smooth import smooth
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.site_names import site_by_url
from dehusk.page.tree import Tree
from dehusk.settings import Limits, SiteBy

Learn = Callable[[Memory, Tree], Memory]
"""Gives the memory after a page."""

DEFAULT_SITE = "page"
"""The site of a page that nobody named one for."""


def clean(
    page: Page,
    memory: Memory,
    method: Method,
    limits: Limits,
    render: Callable[[Result], object] | None = None,
    learn: Learn | None = None,
    overrides: Overrides = NO_OVERRIDES,
) -> tuple[Result, Memory]:
    """The page's answer, and the memory after the page; PageError for one that cannot be used.

    The page is learned first and asked about then, so that its own text counts as seen. The
    memory handed in stays as it was: drop the new one to ask without learning. A result renders
    what it is asked for; `render` asks at once, so that it counts against the page's time. `learn`
    stands in for the method's own where somebody wants to know more of it. `overrides` is what the
    user decides, whatever the method says.
    """
    check_clock = _clock(page, limits)
    parsed = parse(page, limits)
    check_clock("parsing")
    memory = (learn or method.learn)(memory, parsed.tree)
    scores = method.score(memory, parsed.tree)
    check_clock("scoring")
    sections = None
    if smooths(method):
        smoothed = smooth(parsed.tree, scores, method.smoothing(memory, parsed.tree))
        scores, sections = smoothed.scores, smoothed.sections
        check_clock("smoothing")
    labels = label(parsed.tree, scores, sections)
    if overrides:
        choices = choose(parsed.tree, parsed.document, overrides)
        labels = overrule(parsed.tree, labels, choices)
    check_clock("labelling")
    judged: Callable[[], Verdict] = Verdict
    if judges(method):
        judged = partial(method.verdict, memory, parsed.tree)
    result = Result(
        page.url, site_of(page), memory.pages, parsed.tree, labels, parsed.document, page.capture,
        _judge=judged,
    )  # fmt: skip
    if render is not None:
        render(result)
        check_clock("rendering")
    return result, memory


def as_learned(memory: Memory, tree: Tree) -> Memory:  # noqa: ARG001
    """The memory as it is: the `learn` of a page that it has learned before."""
    return memory


def explain(
    page: Page,
    memory: Memory,
    method: Method,
    limits: Limits,
    learn: Learn | None = None,
    overrides: Overrides = NO_OVERRIDES,
) -> Result:
    """The page's answer as `clean` gives it, with the method's explanation if it has one."""
    result, memory = clean(page, memory, method, limits, learn=learn, overrides=overrides)
    if not isinstance(method, Explains):
        return result
    return replace(result, explanation=method.explain(memory, result.tree))


def site_of(page: Page) -> str:
    """The site that the page names, else the host of its URL."""
    return page.site or site_by_url(page.url, SiteBy.HOST) or DEFAULT_SITE


def learn(
    page: Page, memory: Memory, method: Method, limits: Limits, learn: Learn | None = None
) -> Memory:
    """The memory after the page, without an answer on it."""
    check_clock = _clock(page, limits)
    parsed = parse(page, limits)
    check_clock("parsing")
    memory = (learn or method.learn)(memory, parsed.tree)
    check_clock("learning")
    return memory


def _clock(page: Page, limits: Limits) -> Callable[[str], None]:
    """A check that raises PageTimeout once the page's time is up, naming the stage that used it."""
    end = time.monotonic() + limits.timeout_s

    def check(stage: str) -> None:
        if time.monotonic() > end:
            raise PageTimeout(page.url, f"{stage} took longer than {limits.timeout_s:g} s")

    return check
