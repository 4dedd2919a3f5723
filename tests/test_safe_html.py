"""Safe HTML and Markdown have nothing that runs or reaches somebody by itself, of any page."""

from __future__ import annotations

import re

import numpy as np
import pytest
from markdown_it import MarkdownIt

import dehusk
from dehusk.page.page import Page
from dehusk.page.parse import parse
from hostile_pages import hostile_pages

EVIL = "https://evil.example"
PAGES = list(hostile_pages(EVIL))
RUNS = re.compile(r"^(?:java|vb)script:|^data:|^blob:", re.IGNORECASE)
READ = MarkdownIt("commonmark", {"html": True}).enable("table")


def _assert_harmless(html: str) -> None:
    """No element and no attribute runs anything, and no address leads to a script."""
    tree = parse(Page(f"<!DOCTYPE html><body>{html}")).tree
    for node in np.flatnonzero(~tree.is_text).tolist():
        assert tree.name(node) not in (
            "script",
            "style",
            "iframe",
            "object",
            "embed",
            "form",
            "svg",
        )
        for name, value in tree.attributes(node).items():
            assert not name.startswith("on"), name
            assert name in ("href", "src", "alt", "title", "colspan", "rowspan", "lang", "dir",
                            "start", "datetime", "class", "style")  # fmt: skip
            assert not RUNS.search(value.strip()), value


@pytest.mark.parametrize("html", PAGES, ids=range(len(PAGES)))
def test_nothing_of_a_hostile_page_runs(html: str) -> None:
    result = dehusk.extract(f"{html}<p>Some words.", "https://h.example/", method="segments")
    assert "on" not in re.findall(r"<\w+ (on)\w+=", result.safe_html)
    _assert_harmless(result.safe_html)
    html_tables = result.written_with(dehusk.MarkdownSettings(tables="html"))  # type: ignore[arg-type]
    for written in (result.markdown, html_tables.markdown):
        _assert_harmless(READ.render(written))


def test_safe_html_has_the_words_of_the_text_and_absolute_addresses() -> None:
    page = (
        "<h1 onclick=x>A</h1><p style=color:red>b <a href=/c title=t>d</a> <font>e</font></p>"
        "<table><tr><td colspan=2>f<tr><td><td>g</table><img src=h.png alt=i>"
    )
    assert dehusk.extract(page, "https://h.example/", method="segments").safe_html == (
        '<h1>A</h1><p>b <a title="t" href="https://h.example/c">d</a> e</p><table><tbody><tr>'
        '<td colspan="2">f</td></tr><tr><td></td><td>g</td></tr></tbody></table>'
        '<img alt="i" src="https://h.example/h.png">'
    )
