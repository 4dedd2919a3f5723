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
from mistune.plugins.table import table_in_list, table_in_quote

from dehusk.answer.markdown import markdown
from dehusk.page.page import Page
from dehusk.page.parse import parse

Meant = tuple[str, list[Any]]
"""HTML, and its blocks: each a name with what is in it, at last words with their marks."""
COMMON: Any = MarkdownIt("commonmark", {"maxNesting": 200}).enable(["table", "strikethrough"])
MISTUNE: Any = mistune.create_markdown(
    escape=False, plugins=["table", table_in_list, table_in_quote, "strikethrough"]
)
MARKS = {"em": "em", "i": "em", "strong": "strong", "b": "strong", "s": "s", "del": "s"}
CODE = ("a\n\n  b", "```\n* c", "    d")
BLOCK_TAGS = ("p", "h2", "h5", "ul", "ol", "blockquote", "pre", "table")
WORDS = (
    "one",
    "two",
    "3.",
    "#",
    "*",
    "_x_",
    "a*b",
    "-",
    "|",
    "5$",
    "`",
    "<b>",
    "&amp;",
    "[t]",
    "漢字",
)


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
    _marked("code", st.sampled_from(["x", "y*z"]).map(lambda word: (word, [(word, ())]))),
    _marked('a href="/l"', PLAIN), _marked("b", _marked('a href="/l"', PLAIN)),
    _marked('a href="/l"', _marked("i", PLAIN)),
)  # fmt: skip
INLINE = st.tuples(PLAIN, st.lists(STYLED, max_size=3), PLAIN).map(
    lambda found: _joined([found[0], *found[1], found[2]])
)


def _block(name: str, inner: st.SearchStrategy[Meant]) -> st.SearchStrategy[Meant]:
    return inner.map(lambda found: (f"<{name}>{found[0]}</{name}>", [(name, found[1])]))


def _heading(name: str) -> st.SearchStrategy[Meant]:
    """A heading; bold type in it goes."""
    return INLINE.map(
        lambda found: (
            f"<{name}>{found[0]}</{name}>",
            [
                (
                    name,
                    [(word, tuple(m for m in marks if m != "strong")) for word, marks in found[1]],
                )
            ],
        )
    )


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
    _block("p", INLINE), _block("p", INLINE), _heading("h2"), _heading("h5"),
    st.tuples(st.sampled_from(["py", "c++"]), st.sampled_from(CODE)).map(_code),
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
    """The words of a rendered element, each with its marks."""
    if element.tag == "img":
        return [(element.get("alt"), tuple(sorted({*marks, element.get("src"), "img"})))]
    found = [(word, marks) for word in (element.text or "").split()]
    for child in element:
        more = {MARKS.get(child.tag, child.get("href") or child.tag)} - {"br", "img"}
        found += _words(child, tuple(sorted({*marks, *more})))
        found += [(word, marks) for word in (child.tail or "").split()]
    return found


def _read(element: Any) -> list[Any]:
    """The blocks in a rendered element; words between them, as in tight lists, are paragraphs."""
    blocks: list[Any] = []
    loose = lxml.html.Element("p")
    loose.text = element.text
    for child in list(element):
        if child.tag in BLOCK_TAGS:
            blocks += [("p", _words(loose))] if _words(loose) else []
            blocks.append(_block_of(child))
            loose = lxml.html.Element("p")
            loose.text = child.tail
        else:
            loose.append(child)
    return blocks + ([("p", _words(loose))] if _words(loose) else [])


def _block_of(element: Any) -> tuple[str, list[Any]]:
    if element.tag in ("ul", "ol"):
        name = f"ol {element.get('start', '1')}" if element.tag == "ol" else "ul"
        return name, [_read(item) for item in element]
    if element.tag == "blockquote":
        return element.tag, _read(element)
    if element.tag == "pre":
        language = element[0].get("class").removeprefix("language-")
        return "pre", [language, element.text_content().removesuffix("\n")]
    if element.tag == "table":
        return "table", [[_words(cell) for cell in row] for row in element.iter("tr")]
    return element.tag, _words(element)


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
