"""Random pages, written as Markdown and read by two others, have the structure that was meant."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import lxml.html
import mistune
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dehusk.answer.markdown import markdown
from dehusk.page.page import Page
from dehusk.page.parse import parse

Meant = tuple[str, list[Any]]
"""A page's HTML, and its blocks: each a name with what is in it; of texts, words and their marks."""
COMMON: Any = MarkdownIt("commonmark", {"maxNesting": 200}).enable(["table", "strikethrough"])
MISTUNE: Any = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])
MARKS = {"em": "em", "i": "em", "strong": "strong", "b": "strong", "s": "s", "del": "s"}
WORDS = ("one", "two", "3.", "#", "*", "_x_", "a*b", "-", "|", "5$", "`", "<b>", "&amp;", "[t]", "漢字")


def _texts(marks: tuple[str, ...] = ()) -> st.SearchStrategy[Meant]:
    words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
    return words.map(lambda found: (escape(" ".join(found)), [(each, marks) for each in found]))


def _marked(tag: str, inner: st.SearchStrategy[Meant]) -> st.SearchStrategy[Meant]:
    name = tag.split(" ", 1)[0]
    mark = MARKS.get(name, "https://h.example/l" if name == "a" else name)

    def wrap(found: Meant) -> Meant:
        words = [(word, tuple(sorted({*marks, mark}))) for word, marks in found[1]]
        return f"<{tag}>{found[0]}</{name}>", words

    return inner.map(wrap)


def _joined(found: list[Meant]) -> Meant:
    return " ".join(html for html, _ in found), [word for _, words in found for word in words]


PLAIN = _texts()
IMAGE = st.just(('<img src="/i" alt="a b">', [("a b", ("https://h.example/i", "img"))]))
STYLED = st.one_of(
    PLAIN, IMAGE, _marked("b", PLAIN), _marked("i", PLAIN), _marked("s", PLAIN),
    _marked("code", st.sampled_from(["x", "y z", "a*b"]).map(lambda w: (w, [(e, ()) for e in w.split()]))),
    _marked('a href="/l"', PLAIN), _marked("b", _marked('a href="/l"', PLAIN)),
    _marked('a href="/l"', _marked("i", PLAIN)),
)  # fmt: skip
INLINE = st.tuples(PLAIN, st.lists(STYLED, max_size=3), PLAIN).map(
    lambda found: _joined([found[0], *found[1], found[2]])
)


def _block(name: str, inner: st.SearchStrategy[Meant]) -> st.SearchStrategy[Meant]:
    return inner.map(lambda found: (f"<{name}>{found[0]}</{name}>", [(name, found[1])]))


def _code(found: tuple[str, str]) -> Meant:
    return f'<pre><code class="language-{found[0]}">{found[1]}</code></pre>', [("pre", list(found))]


def _table(rows: list[tuple[Meant, Meant]]) -> Meant:
    cells = [
        "".join(f"<{name}>{html}</{name}>" for html, _ in row)
        for name, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
    ]
    html = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table>{html}</table>", [("table", [[words for _, words in row] for row in rows])]


LEAVES = st.one_of(
    _block("p", INLINE), _block("p", INLINE), _block("h2", INLINE), _block("h5", INLINE),
    st.tuples(st.sampled_from(["py", "c++"]), st.sampled_from(["a\n\n  b", "```\n* c", "    d"])).map(_code),
    st.lists(st.tuples(INLINE, INLINE), min_size=2, max_size=3).map(_table),
)  # fmt: skip


def _list(found: tuple[int, list[list[Meant]]]) -> Meant:
    start, items = found
    html = "".join("<li>" + "".join(each for each, _ in item) + "</li>" for item in items)
    blocks = [[block for _, found in item for block in found] for item in items]
    if start < 0:
        return f"<ul>{html}</ul>", [("ul", blocks)]
    return f'<ol start="{start}">{html}</ol>', [(f"ol {start}", blocks)]


def _held(inner: st.SearchStrategy[Meant]) -> st.SearchStrategy[Meant]:
    several = st.lists(inner, min_size=1, max_size=3)
    lists = st.tuples(st.sampled_from([-1, 1, 7]), st.lists(several, min_size=1, max_size=3))
    quoted = several.map(
        lambda found: ("".join(each for each, _ in found), [b for _, each in found for b in each])
    )
    return st.one_of(lists.map(_list), _block("blockquote", quoted))


BLOCKS = st.recursive(LEAVES, _held, max_leaves=5)


def _words(element: Any, marks: tuple[str, ...] = ()) -> list[tuple[str, tuple[str, ...]]]:
    """The words of a rendered text, each with its marks."""
    found = [(word, marks) for word in (element.text or "").split()]
    for child in element:
        if child.tag == "img":
            found.append((child.get("alt"), tuple(sorted({*marks, child.get("src"), "img"}))))
        elif child.tag not in ("ul", "ol", "p", "blockquote", "pre", "table"):
            more = {MARKS.get(child.tag, child.get("href") or child.tag)} - {"br"}
            found += _words(child, tuple(sorted({*marks, *more})))
        found += [(word, marks) for word in (child.tail or "").split()]
    return found


def _read(element: Any) -> list[Any]:
    """The blocks in a rendered element."""
    blocks: list[Any] = []
    if element.tag == "li" and not any(child.tag == "p" for child in element) and _words(element):
        blocks.append(("p", _words(element)))  # In a tight list.
    for child in element:
        if child.tag in ("ul", "ol"):
            name = f"ol {child.get('start', '1')}" if child.tag == "ol" else "ul"
            blocks.append((name, [_read(item) for item in child]))
        elif child.tag == "blockquote":
            blocks.append((child.tag, _read(child)))
        elif child.tag == "pre":
            language = child[0].get("class").removeprefix("language-")
            blocks.append(("pre", [language, child.text_content().removesuffix("\n")]))
        elif child.tag == "table":
            blocks.append(("table", [[_words(cell) for cell in row] for row in child.iter("tr")]))
        elif child.tag in ("p", "h2", "h5"):
            blocks.append((child.tag, _words(child)))
    return blocks


@pytest.mark.parametrize("read", [COMMON.render, MISTUNE], ids=("markdown-it", "mistune"))
@given(st.lists(BLOCKS, min_size=1, max_size=3))
@settings(derandomize=True, deadline=None, max_examples=80)
def test_the_structure_of_random_pages_is_read_as_meant(
    read: Callable[[str], str], pages: list[Meant]
) -> None:
    tree = parse(Page("".join(html for html, _ in pages))).tree
    written = markdown(tree, np.zeros(len(tree), np.int8), "https://h.example/")
    rendered = lxml.html.fragment_fromstring(read(written), create_parent="div")
    assert _read(rendered) == [block for _, blocks in pages for block in blocks], written
