"""What a JSON line has besides text and Markdown: the same by the kernel and its twins."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk.page.parse as parsing
from dehusk import pipeline
from dehusk.answer import render
from dehusk.answer.describe import scripted
from dehusk.answer.describe.scripted import needs_scripts
from dehusk.answer.label import label
from dehusk.memory import Memory, Table
from dehusk.methods import make_method
from dehusk.methods.auto.families import is_template_new
from dehusk.output.formats import json_line
from dehusk.page.page import Page
from dehusk.page.urls import base_of
from dehusk.settings import Limits
from dehusk_bench.samples import KINDS, sample_site
from pages_to_scan import HOSTILE
from twins import TEXTS, random_scores, the_kernel, without

_BASED = (*TEXTS, "<base>", "<base href=/a/>", "<base href='http://h.example/x/'>", "<svg><base>")


@contextmanager
def without_all(*modules: str) -> Iterator[None]:
    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(without(module))
        yield


@settings(max_examples=300)
@given(st.lists(st.sampled_from(_BASED), max_size=30).map("".join), st.integers(0, 2**32))
def test_the_kernel_gives_the_twins_share_and_base(html: str, seed: int) -> None:
    the_kernel()
    tree = parsing.parse(Page(html)).tree
    labels = label(tree, random_scores(len(tree), seed)).labels
    share, base = render.template_share(tree, labels), base_of(tree, "http://h.example/b/c")
    with without_all("dehusk.answer.render.share", "dehusk.page.urls"):
        assert share == render.template_share(tree, labels)
        assert base == base_of(tree, "http://h.example/b/c")


_EMPTY = (
    "<div id=root>", "</div>", "<div>", "<section id=x>", "</section>", "<main>", "</main>",
    "<my-app id='app'>", "</my-app>", "<div id=app hidden>", "<img>", "<svg>", "</svg>", "word ",
    "<script src=x></script>", "<script>f()</script>", "<noscript>Please switch scripts on here",
    "</noscript>", "<p id=p>", "</p>", "x" * 150, "y " * 600, "<div class=a id=__next>", "&nbsp;",
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.sampled_from(_EMPTY), max_size=14).map("".join), st.sampled_from((3, 512)))
def test_the_kernel_sees_empty_pages_where_its_twin_does(html: str, max_depth: int) -> None:
    the_kernel()
    tree = parsing.parse(Page(html), Limits(max_depth=max_depth)).tree
    found, emptied = needs_scripts(tree), scripted._emptied(tree)
    with without("dehusk.answer.describe.scripted"):
        assert emptied == scripted._emptied(tree)
        assert found == needs_scripts(tree)


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
    method, memory, limits = make_method("auto"), Memory(), Limits()
    for page in sample_site(kind, pages=5):
        first = memory
        result, memory = pipeline.clean(page.page, memory, method, limits)
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
    result, memory = pipeline.clean(Page(html), Memory(), method, Limits(max_nodes=2_000_000))
    with without_all(*_JUDGING):
        assert result.verdict == method.verdict(memory, result.tree)  # type: ignore[attr-defined]


def test_the_kernel_refuses_arrays_that_do_not_fit_together() -> None:
    kernel = the_kernel()
    with pytest.raises(ValueError, match="share"):
        kernel.share(np.zeros(2, np.int16), np.zeros(1, np.int32), np.zeros(2, np.int8))
    with pytest.raises(TypeError):
        kernel.tagged("a", b"")
    with pytest.raises(TypeError, match="tagged takes 1"):
        kernel.tagged(1)
    node = [
        np.zeros(1, kind) for kind in (np.int16, np.int32, np.int32, np.int32, np.int32, np.int8)
    ]
    node[4] = node[4] + 9
    with pytest.raises(ValueError, match="outside"):
        kernel.holders(1000, b"<html>", b"", *node)
    assert kernel.holders(0, b"<html>", b"", *node) is None
    network = [np.zeros(n, np.float32) for n in (6, 2, 4, 2, 3, 3)]
    with pytest.raises(ValueError, match="kind"):
        kernel.kind(1, *[b""] * 7, *network)
    assert kernel.share(b"", b"", b"") == (0, 0)
    assert kernel.tagged(7, np.array((7, 1, 7), np.int16)) == [0, 2]


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=90)
    | st.text(
        st.sampled_from('ab"\\\\/\\n\\t\\b\\x1f\\x7f\\x85\\xa0é\\u2027\\u2028\\u2029\\u20ac𝄞'),
        max_size=90,
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=400)
@given(st.dictionaries(st.text(max_size=9), _VALUES, max_size=5))
def test_the_kernel_writes_the_twins_json(fields: dict[str, object]) -> None:
    the_kernel()
    line = json_line(fields)
    with without("dehusk.output.formats"):
        assert line == json_line(fields)
    assert line.splitlines() == [line[:-1]]


@pytest.mark.parametrize("size", [0, 31, 32, 33, 64, 70_000, 300_000])
@pytest.mark.parametrize("text", ["a", '"', "\x01", "\u2028", "é"])
def test_the_kernel_writes_texts_of_any_length(text: str, size: int) -> None:
    the_kernel()
    fields = {"text": text * size, "more": [text + "b" * size]}
    line = json_line(fields)
    with without("dehusk.output.formats"):
        assert line == json_line(fields)
    assert json.loads(line) == fields


class _Named(str):
    __slots__ = ()


_DEEP: list[object] = []
for _ in range(50):
    _DEEP = [_DEEP]
_FOR_THE_TWIN = ({"a": "\ud800"}, {"a": _DEEP}, {1: 2}, {"a": _Named("x")}, {_Named("a"): 1})


@pytest.mark.parametrize("fields", _FOR_THE_TWIN)
def test_what_the_kernel_does_not_know_its_twin_writes(fields: dict[str, object]) -> None:
    kernel = the_kernel()
    assert kernel.json_line(fields) is None
    assert json_line(fields) == json.dumps(fields, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("value", [math.nan, math.inf, {1}, b"x", object()])
def test_what_is_not_json_is_refused_as_the_twin_refuses_it(value: object) -> None:
    kernel = the_kernel()
    assert kernel.json_line({"a": value}) is None
    with pytest.raises((ValueError, TypeError)):
        json_line({"a": value})
