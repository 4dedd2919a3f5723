"""What a JSON line has besides text and Markdown: the same by the kernel and its twins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk import pipeline
from dehusk.memory import Memory, Table
from dehusk.methods import make_method
from dehusk.methods.auto.families import is_template_new
from dehusk.page.page import Page
from dehusk.settings import Limits
from dehusk_bench.samples import KINDS, sample_site
from pages_to_scan import HOSTILE
from twins import the_kernel, without


@contextmanager
def without_all(*modules: str) -> Iterator[None]:
    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(without(module))
        yield


_JUDGING = tuple(f"dehusk.methods.auto.{name}" for name in ("judge", "network", "families"))


@settings(max_examples=200)
@given(
    st.integers(8, 60),
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 60)), max_size=60, min_size=5),
)
def test_the_kernel_sees_a_new_template_where_its_twin_does(
    pages: int, texts: list[tuple[int, int]]
) -> None:
    the_kernel()
    count, last = np.array(texts, np.uint32).T.copy()
    memory = Memory(pages, {"texts": Table(np.arange(len(texts), dtype=np.uint64), count, last)})
    found = is_template_new(memory)
    with without("dehusk.methods.auto.families"):
        assert found == is_template_new(memory)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_gives_the_twins_verdict_on_sample_sites(kind: str) -> None:
    the_kernel()
    method, memory = make_method("auto"), Memory()
    for page in sample_site(kind, pages=5):
        first = memory
        result, (memory, _) = pipeline.clean(page.page, memory, pipeline.Setup(method))
        with without_all(*_JUDGING):
            assert result.verdict == method.verdict(memory, result.tree)  # type: ignore[attr-defined]
        # A memory that has not learned the page, and one that has learned another behind it.
        for other in (first, memory.then(first)):
            found = method.verdict(other, result.tree)  # type: ignore[attr-defined]
            with without_all(*_JUDGING):
                assert found == method.verdict(other, result.tree)  # type: ignore[attr-defined]


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_kernel_gives_the_twins_verdict_on_hostile_pages(html: str) -> None:
    the_kernel()
    method = make_method("auto")
    setup = pipeline.Setup(method, Limits(max_nodes=2_000_000))
    result, (memory, _) = pipeline.clean(Page(html), Memory(), setup)
    with without_all(*_JUDGING):
        assert result.verdict == method.verdict(memory, result.tree)  # type: ignore[attr-defined]


def test_the_kernel_refuses_arrays_that_do_not_fit_together() -> None:
    kernel = the_kernel()
    network = [np.zeros(n, np.float32) for n in (6, 2, 4, 2, 3, 3)]
    with pytest.raises(ValueError, match="kind"):
        kernel.kind(1, *[b""] * 7, *network)
