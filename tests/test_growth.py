"""Cost grows with the page and not faster, whatever its shape."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from dehusk.memory import Memory
from dehusk.methods import make_method
from dehusk.page.page import Page
from dehusk.pipeline import Setup, clean
from dehusk.settings import Limits

SHAPES: dict[str, Callable[[int], str]] = {
    "deep": lambda n: "<div>" * (n // 40) + "text " * n,
    "wide": lambda n: "<p>one paragraph</p>" * (n // 4),
    "attributes": lambda n: "<p " + " ".join(f"a{i}=b" for i in range(n)) + ">text</p>",
    "attributed elements": lambda n: "<p id=x data-a=1 data-b=2 data-c=3 title=t>x</p>" * (n // 8),
    "classes": lambda n: "".join(f"<p class='a{i} b{i} c-d'>x</p>" for i in range(n // 6)),
    "classes on one": lambda n: f"<p class='{' '.join(f'c{i}' for i in range(n))}'>x</p>",
    "one text": lambda n: "<p>" + "some words, " * n,
    "links": lambda n: "<a href=/x>a link</a> " * (n // 4),
    "tables": lambda n: "<table><tr><td>a<td>b</table>" * (n // 12),
    "cells": lambda n: "<table><tr>" + "<td>cell" * (n // 3),
    "unclosed": lambda n: "<div><span><b>x" * (n // 40),
    "comments": lambda n: "<!-- a comment -->x" * (n // 3),
    "white space": lambda n: ("<b>" + " " * 200) * (n // 30),
    "formulas with words": lambda n: "<p>" + r"\( a " * (n // 2) + r" word\)",
    "alike siblings": lambda n: "<li><p>a post</p><p>of two</p></li>" * (n // 10),
}
TO_SHAPE: dict[str, Callable[[int], str]] = {
    "code": lambda n: f"<div class='lang{'y' * 4 * n}'>" + "<pre>a line</pre>" * (n // 4),
    "spans": lambda n: "<table>" + 2 * ("<tr>" + "<td rowspan=2 colspan=9999>x" * (n // 8)),
    "rows": lambda n: "<table>" + "<tr><th>a<td><p>b<p>c" * (n // 12),
    "items": lambda n: "<ol>" + "<li value=7>a<ul><li><b>b</b></ul>" * (n // 12),
    "terms": lambda n: "<dl>" + "<dt>a<dd>b<br><br>c" * (n // 8),
    "brackets": lambda n: "<p>" + "[]x<br>" * (2 * n),
    "line numbers": lambda n: "<table><tr>" + "<td><code>1<br>2</code>" * n + "<td>a text",
    "formulas": lambda n: "<p>" + r"\(a\) and \[b|c\] $5 " * (n // 8),
    "math": lambda n: "<p>" + "<math><mover><mi>a</mi><mo>^</mo></mover></math>" * (n // 12),
    "callouts": lambda n: "<div class=admonition><p>Note</p>" * 300 + "<p>a</p>" * (n // 3),
    "raised": lambda n: "<p>" + "x<sup>2</sup> <ruby>a<rt>b</ruby>" * (n // 8),
    "code in cells": lambda n: "<table>" + "<tr><th>a<td><pre>b\nc</pre>" * (n // 10),
    "gutters": lambda n: "<table><tr>" + "<td>1 2 3<td><pre>b\nc</pre>" * (n // 8),
    "headings": lambda n: "<h2>a<a href=#a>#</a></h2>" * (n // 8),
    "backticks": lambda n: "<p><code>" + "`" * n + "</code><pre>" + "`" * n + "</pre>",
    "footnotes": lambda n: "".join(
        f"<p>a<a id=r{i} href=#n{i}>1</a><p id=n{i}>b<a href=#r{i}>^</a>" for i in range(n // 12)
    ),
    "captions": lambda n: (
        f"<figure><figcaption>{'&nbsp;a ' * 400}</figcaption>" + "<img src=b>" * (n // 8)
    ),
    "labels": lambda n: f"<p>a<a href=#n>{' ' * n}xy</a><p id=n>({' ' * n}<a href=#r>^</a>",
    "parameters": lambda n: f"<p><a href='/{'x' * 4 * n}?{'&b' * n}'>a</a>",
    "references": lambda n: (
        "".join(f"<p>a<a id=r{i} href=#n>1</a>" for i in range(n // 12))
        + "<p id=n>b"
        + "".join(f"<a href=#r{i}>^</a>" for i in range(n // 12))
    ),
    "breaks": lambda n: "<p>a" + "<br>" * n + "b",
    "emphasis": lambda n: "<p>a<b><i>b</i></b><a href=../x>c <img src=d alt=e></a></p>" * (n // 12),
}
"""Pages that take work to put into shape for Markdown."""
SIZE = 6_000
DOUBLINGS = 2
MAX_FACTOR = 2.4
"""What each doubling of a page may cost, by the least of some rounds."""
ROUNDS = 20


def _text_cost(method: str, html: str) -> float:
    """CPU seconds from page to text, learning included."""
    chosen, page = make_method(method), Page(html, "https://a.example/")
    began = time.process_time()
    result, _ = clean(page, Memory(), Setup(chosen, Limits(timeout_s=1000)))
    assert result.text is not None
    return time.process_time() - began


def _markdown_cost(html: str) -> float:
    """CPU seconds from text to Markdown."""
    page = Page(html, "https://a.example/")
    result, _ = clean(page, Memory(), Setup(make_method("segments"), Limits(timeout_s=1000)))
    assert result.text
    began = time.process_time()
    assert result.markdown
    return time.process_time() - began


def _pieces_cost(html: str) -> float:
    """CPU seconds for pieces."""
    page = Page(html, "https://a.example/")
    result, _ = clean(page, Memory(), Setup(make_method("segments"), Limits(timeout_s=1000)))
    began = time.process_time()
    assert result.pieces(50)
    return time.process_time() - began


def _assert_grows_no_faster(shape: Callable[[int], str], cost: Callable[[str], float]) -> None:
    # Both sizes in turns, and the least of each: what else the machine does hardly counts. The
    # fixed cost of a page only helps, so the pages are large enough to make it small.
    pages = [shape(SIZE), shape(2**DOUBLINGS * SIZE)]
    allowed = MAX_FACTOR**DOUBLINGS
    least = np.full(2, np.inf)
    gc.disable()
    try:
        for turn in range(ROUNDS):
            for place, html in enumerate(pages):
                least[place] = min(least[place], cost(html))
            if turn and least[1] <= allowed * least[0]:
                break
    finally:
        gc.enable()
    assert least[1] <= allowed * least[0]


@pytest.mark.parametrize("shape", TO_SHAPE)
def test_markdown_of_twice_the_size_costs_at_most_twice_as_much(shape: str) -> None:
    _assert_grows_no_faster(TO_SHAPE[shape], _markdown_cost)


PIECES: dict[str, Callable[[int], str]] = {
    "headings": lambda n: "".join(f"<h{i % 6 + 1}>a heading</h2><p>text" for i in range(n // 8)),
    "rows": lambda n: "<table><tr><th>a<th>b" + "<tr><td>c<td>d" * (n // 8),
    "code": lambda n: "<pre>" + "a line of code\n" * (n // 2),
    "words": lambda n: "<p>" + "word " * n,
}


@pytest.mark.parametrize("shape", PIECES)
def test_pieces_of_twice_the_size_cost_at_most_twice_as_much(shape: str) -> None:
    _assert_grows_no_faster(PIECES[shape], _pieces_cost)


@pytest.mark.parametrize("method", ["auto", "segments"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_page_of_twice_the_size_costs_at_most_twice_as_much(shape: str, method: str) -> None:
    _assert_grows_no_faster(SHAPES[shape], partial(_text_cost, method))
