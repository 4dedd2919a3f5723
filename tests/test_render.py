"""Rendering: text, Markdown, HTML, links and the share of template."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from numpy.typing import NDArray

import dehusk
from dehusk.answer.html import content_html, marked_html, template_html
from dehusk.answer.labels import Label, label
from dehusk.answer.markdown import markdown
from dehusk.answer.text import Link, characters, visible_lengths
from dehusk.answer.text import lines as lines_of
from dehusk.answer.text import links as links_of
from dehusk.answer.text import text as text_of
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.page.urls import base_of
from dehusk.settings import Limits
from pages_to_scan import TEXTS

PAGES = sorted((Path(__file__).parent / "pages").iterdir())
BASE = "https://site.example/dir/page"
FIXED = settings(derandomize=True, deadline=None)
"""The same examples on every run, however slow the machine."""
Labelled = tuple[Tree, NDArray[np.int8]]


def _labelled(html: str | bytes, limits: Limits = Limits()) -> Labelled:
    """A page with its labels: what stands in an element marked `data-label` is template."""
    parsed = parse(Page(html), limits)
    tree = parsed.tree
    scores = np.zeros(len(tree))
    for node in range(len(tree)):
        if tree.attributes(node).get("data-label") == "template":
            scores[node : tree.end[node]] = 1.0
    return tree, label(tree, scores).labels


def _labelled_as_content(html: str) -> Labelled:
    """A page all of whose shown nodes are content."""
    parsed = parse(Page(html))
    tree = parsed.tree
    return tree, label(tree, np.zeros(len(tree))).labels


def _text(html: str) -> str:
    tree, labels = _labelled(html)
    return text_of(tree, labels)


def _markdown(html: str, base_url: str | None = BASE) -> str:
    tree, labels = _labelled(html)
    return markdown(tree, labels, base_url)


def _links(html: str, base_url: str | None = BASE) -> list[Link]:
    tree, labels = _labelled(html)
    return list(links_of(tree, labels, base_url))


def _urls(html: str, base_url: str | None = BASE) -> list[str]:
    return [link.url for link in _links(html, base_url)]


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


@pytest.mark.parametrize("folder", PAGES, ids=lambda folder: folder.name)
def test_a_page_gives_the_markdown_and_the_text_that_are_expected_of_it(folder: Path) -> None:
    tree, labels = _labelled((folder / "page.html").read_bytes())
    assert text_of(tree, labels) + "\n" == (folder / "expected.txt").read_text("utf-8")
    written = markdown(tree, labels, f"https://{folder.name}.example/dir/page")
    assert written + "\n" == (folder / "expected.md").read_text("utf-8")
    assert (folder / "why.txt").read_text("utf-8").count("\n") == 1


# Text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("just <b>inline</b> text", "just inline text"),
        ("foo<b>bar</b>", "foobar"),
        ("<b>foo</b> <i>bar</i>", "foo bar"),
        ("<b>foo</b>\n\t<i>bar</i> ", "foo bar"),
        ("<p>a<div>b</div>c<br>d", "a\nb\nc\nd"),
        ("<p>a&nbsp;&nbsp;b &lt;c&gt; &amp;amp;", "a b <c> &amp;"),
        ("<a href=x>one</a><a href=y>two</a>", "one two"),
        ("<ul><li>a</li><li>b</li></ul>", "a\nb"),
        ("<p>a<select><option>b<option>c</select>d", "a\nd"),
        ("a<div hidden>b</div>c", "ac"),
        ("a<video>b</video>c", "a c"),
    ],
)
def test_text_is_joined_as_a_browser_shows_it(html: str, expected: str) -> None:
    assert _text(html) == expected


def test_cells_of_a_row_stand_on_one_line_between_tabs() -> None:
    html = "<table><tr><td>a<td><p>b</p><td><td>c<tr><td>d<td>e</table>"
    assert _text(html) == "a\tb\t\tc\nd\te"


def test_hidden_cells_take_no_place_in_a_table() -> None:
    away = "style=display:none"
    rows = f"<tr><th>Field<th {away}>no<th>Yield<tr {away}><td>no<td>no<tr><td>9<td>8<td hidden>no"
    assert _text(f"<table>{rows}</table>") == "Field\tYield\n9\t8"
    assert _markdown(f"<table>{rows}</table>") == "| Field | Yield |\n| --- | --- |\n| 9 | 8 |"


@pytest.mark.parametrize("inside", ["<div>b</div>", "<p>b<p>c", "<hr>", "b<br><br>c"])
def test_what_is_hidden_parts_no_items_of_a_list(inside: str) -> None:
    html = f"<ul><li>a <div hidden>{inside}</div> d<li>e</ul>"
    assert _markdown(html) == "- a d\n- e"


def test_a_cell_behind_one_of_several_lines_begins_a_line() -> None:
    assert _text("<table><tr><td>a<br>b<td>c</table>") == "a\nb\nc"


def test_preformatted_text_keeps_its_white_space_but_not_empty_lines_at_its_ends() -> None:
    assert _text("<p>x<pre>\n\n  a\n\n   b<i>\t</i>c  \n \n</pre>y") == "x\n  a\n\n   b\tc\ny"


def test_raw_text_is_not_taken_for_escapes() -> None:
    assert _text("<xmp>&lt;b> &amp;nbsp;</xmp>") == "&lt;b> &amp;nbsp;"


def test_words_do_not_run_together_where_template_goes() -> None:
    template = "<span data-label=template>x</span>"
    assert _text(f"<p>one{template}two{template}, three") == "one two, three"
    assert _markdown(f"<p>one{template}two{template}, three") == "one two, three"


def test_empty_preformatted_text_at_the_end_leaves_no_line() -> None:
    assert _text("x<pre>y</pre><p>z<pre> \n</pre>") == "x\ny\nz"
    assert _text("a<pre>\u3000\n\n  \u3000") == "a"


@given(st.lists(st.sampled_from((*TEXTS, "<b data-label=template>")), max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_the_lines_of_a_page_are_its_text_and_begin_with_their_nodes(html: str) -> None:
    tree, labels = _labelled(html)
    lines = lines_of(tree, labels)
    assert "\n".join(line for _, line in lines) == text_of(tree, labels)
    nodes = [node for node, _ in lines]
    assert nodes == sorted(set(nodes))
    assert tree.is_text[nodes].all()


def test_lines_of_ideographic_spaces_are_left_out() -> None:
    assert _text("<p>\u3000</p><p>一\u3000二</p>") == "一\u3000二"


@given(st.lists(st.sampled_from(["a", " ", "<b>", "</b>", "<p>", "<br>", "<td>", "<pre>", "\n"])))
@FIXED
def test_text_has_no_empty_lines_outside_code_and_no_space_at_the_ends(pieces: list[str]) -> None:
    html = "".join(pieces).replace("<pre>", "")
    text = _text(html)
    assert "\n\n" not in text
    assert text == text.strip()
    assert "".join(text.split()) == "a" * html.count("a")


# Markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("just <b>inline</b> text", "just **inline** text"),
        ("<h2></h2><p>a</p>", "a"),
        ("<p>a<br><br> <br>b<br></p>", "a\n\nb"),
        ("<p><br>a", "a"),
        ("<hr><p>a</p><hr><hr><p>b</p><hr>", "a\n\n***\n\nb"),
        ("<p>m<sup>2</sup> 1<sup>st</sup>", "m^2 1st"),
        ("<p>a</p> <span> <h3>b</h3> </span> <p>c</p>", "a\n\n### b\n\nc"),
        ("<pre>\n\n\n a\n\n\n\nb</pre>", "```\n a\n\n\n\nb\n```"),
        ("<code><pre>a\nb</pre></code>", "```\na\nb\n```"),
        ("<p><em>a <em>b</em></em>", "*a b*"),
        ("<p><b>a</b><b>b</b>", "**ab**"),
        ("<p>x <b>a:</b>b", "x a:b"),
        ("<p>a<strike>:b</strike>c <strike>d</strike>", "a:bc ~~d~~"),
        ("<p>&lt;em> <b>é</b> x", "\\<em> **é** x"),
        ("<p>\u202fa\u202f", "a"),
        ("<a href=x>a<pre>b\nc</pre></a>", "a\n\n```\nb\nc\n```"),
        ("<textarea>a\n b</textarea>", "```\na\n b\n```"),
    ],
)
def test_small_things_come_out_as_markdown(html: str, expected: str) -> None:
    assert _markdown(html) == expected


def test_a_layout_table_comes_out_as_blocks() -> None:
    html = "<table><tr><td><h1>T</h1><p>one<p>two<td><table><tr><td>x</table></table>"
    assert _markdown(html) == "# T\n\none\n\ntwo\n\nx"


def test_a_table_for_presentation_is_no_table() -> None:
    html = "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>"
    assert "|" not in _markdown(html)


def test_a_table_with_a_very_long_cell_comes_out_as_blocks() -> None:
    html = f"<table><tr><td>a<td>b<tr><td>c<td>{'long ' * 300}</table>"
    assert "|" not in _markdown(html)


def test_a_table_keeps_its_header_row() -> None:
    html = "<table><tr><th>A<th>B<tr><td>1<td>2</table>"
    assert _markdown(html) == "| A | B |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.parametrize(
    "image",
    [
        "<img src=data:image/gif;base64,R0 data-src=i.png alt=A>",
        "<img data-lazy-src=i.png alt=A>",
        "<img src=x.gif data-original=i.png alt=A>",
        "<img src=x.png srcset='x.png 1x, i.png 2x' alt=A>",
        "<img src=x.png data-srcset='x.png, i.png 1200w, y.png 600w' alt=A>",
        "<img src=x.png srcset='data:image/gif;base64,R0 3000w,x,y.png 320w,i.png 640w' alt=A>",
        "<picture><source srcset='x.webp 1w, i.png 2w'><img src=x.png alt=' A '></picture>",
        "<amp-img src=x.png srcset='i.png 2x' alt=A layout=fill></amp-img>",
        "<img src=i.png data-src='javascript:go()' alt=A>",
        "<img src=i.png data-src='{{ late }}' alt=A>",
    ],
)
def test_an_image_is_shown_from_the_largest_address_that_can_be_loaded(image: str) -> None:
    assert _markdown(image) == "![A](https://site.example/dir/i.png)"


@pytest.mark.parametrize(
    "image",
    [
        "<img alt=a>",
        "<img src=data:,x alt=a>",
        "<img src=p.gif alt=a width=1>",
        "<img src='java&#9;script:go()'>",
    ],
)
def test_an_image_that_cannot_be_shown_is_left_out(image: str) -> None:
    assert _markdown(f"<p>x {image} y") == "x y"


def test_relative_links_stay_relative_without_a_web_address() -> None:
    assert _markdown("<a href=a/b>x</a>", None) == "[x](a/b)"
    assert _markdown("<a href=a/b>x</a>", "file:pages/one.html") == "[x](a/b)"


def test_template_and_hidden_parts_are_not_in_the_markdown() -> None:
    html = "<p>a</p><p data-label=template>t</p><p hidden>h</p><script>s</script>b"
    assert _markdown(html) == "a\n\nb"


def test_the_permalink_of_a_term_or_a_caption_goes() -> None:
    html = (
        '<dl><dt><code>open</code><a class="headerlink" href="#open" title="Permalink">¶</a></dt>'
        '<dd>Opens it, see <a href="#note">*</a>.</dd></dl>'
        '<figure><img src=a.png alt="A mill"><figcaption>A mill<a href="#mill">#</a></figcaption>'
        "</figure><table><caption>Rye<a href=#t>§</a></caption><tr><th>a<td>b</table>"
    )
    written = _markdown(html)
    assert "¶" not in written
    assert "§" not in written
    assert "[\\#]" not in written
    assert "[#]" not in written
    assert "](" in written.partition("see")[2], "a link in a description stays"


def test_a_permalink_in_a_heading_goes_and_a_link_in_it_stays() -> None:
    assert _markdown("<h2>A <a href=#a>¶</a></h2><h2><a href=#b>B</a></h2>") == (
        "## A\n\n## [B](https://site.example/dir/page#b)"
    )


@pytest.mark.parametrize(
    "html",
    [
        "<p>\ufdd0script>alert(1)\ufdd0/script>",
        "<p>&#xfdd0;script>alert(1)&#xfdd0;/script> <code>&lt;b></code>",
        "<p><img src=i alt='\ufdd0script>'> <code>&lt;b></code>",
        "<p>" + "script>".join(map(chr, range(0xFDD0, 0xFDF0))) + "<code>&lt;b></code>",
    ],
)
def test_no_character_of_a_page_becomes_html(html: str) -> None:
    assert "<script>" not in _markdown(html)


@pytest.mark.parametrize(
    "html",
    [
        "<code>&lt;script><pre>a</pre>b</code>",
        "<code><pre>a</pre>&lt;script></code>",
        "<ol><div><li value=3>a</div><li value=5><code>&lt;script></code></ol>",
        "<svg><kbd>&lt;script></kbd><xmp>&lt;script></xmp></svg>",
        "<math><samp>&lt;script></samp></math>",
        "<svg><foreignObject><kbd>&lt;script></kbd></foreignObject></svg>",
    ],
)
def test_html_in_code_that_cannot_be_written_as_code_is_text(html: str) -> None:
    assert "<script>" not in MarkdownIt().render(_markdown(html))


LIST_PIECES = st.lists(
    st.sampled_from((
        "<ol>", "<ul>", "<div>", "<p>", "<li>", "</ol>", "</ul>", "</div>", "<table>", "<td>",
        "</table>", "<menu>", "<b>", "</b>", "one", "<ol start=5>", "<ol start=-2>", "<br>",
        "<ol reversed>", "<li value=3>", "<li value=-3>", "<li value=x>", "<hr>", "<dl>", "<dt>",
        "<dd>", "<img src=x>", "<code>&lt;script></code>",
    )),
    max_size=20,
)  # fmt: skip


@given(LIST_PIECES)
@FIXED
def test_no_list_comes_out_as_html(pieces: list[str]) -> None:
    written = _markdown("".join(pieces))
    assert not re.search(r"(?<![\\`])<(?!br>)", written)


def test_an_address_cannot_bring_in_html() -> None:
    address = "https://site.example/\ufdd0b/"
    expected = f"a [b]({address}b) `<`"
    html = "<p>a <a href=b>b</a> <code>&lt;</code>"
    assert _markdown(html, address) == expected
    assert _markdown(f"<base href={address}>{html}") == expected


def test_code_stays_as_it_is_on_a_page_that_uses_rare_characters() -> None:
    html = "<p>\ufdd0\ufdd1\ufdd2 <code>&lt;br> &lt;em>a\\_b&lt;/em> &amp;#32;</code>"
    assert _markdown(html) == "\ufdd0\ufdd1\ufdd2 `<br> <em>a\\_b</em> &#32;`"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Write &lt;br&gt; here<br>now", "Write \\<br> here  \nnow"),
        ("<p>C:\\<br>D:\\", "C:\\\\  \nD:\\\\"),
        ("<p>\\&lt;br>x", "\\\\\\<br>x"),
        ("<p><b>C:\\</b>z", "C:\\\\z"),
        ("<p>\\<b>a:</b>z &lt;b>", "\\\\a:z \\<b>"),
        ("<p>\\&amp;#32;x", "\\\\\\&#32;x"),
        ("<p>a_b \\_c", "a_b \\\\\\_c"),
        ("<p>a`<code>&lt;b>&amp;\\</code>", r"a\``<b>&\`"),
        ("<p>a&lt;code>b&lt;/code>`c", r"a\<code>b\</code>\`c"),
        ("<img src=i alt='a &lt;br&gt; b'>", "![a \\<br> b](https://site.example/dir/i)"),
    ],
)
def test_what_a_page_writes_as_text_stays_text(html: str, expected: str) -> None:
    assert _markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol><li>a<li value=9>b</ol>", "1. a\n9. b"),
        ("<ol><li value=4>a<li value=9>b</ol>", "4. a\n9. b"),
        ("<ol><li>a<ol><li value=7>c<li value=2>d</ol></ol>", "1. a\n\n   7. c\n   2. d"),
        ("<ol><li value=-4>a<li>b</ol>", "1. a\n2. b"),
        ("<ol><div><li value=3>a</div><li value=5>b</ol>", "3. a\n5. b"),
        ("<ol start=-3><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ol start=99999999999><li>a</ol>", "1. a"),
    ],
)
def test_a_list_whose_numbers_jump_is_still_a_list(html: str, expected: str) -> None:
    assert _markdown(html) == expected


def test_a_link_around_nothing_but_a_rule_is_the_rule() -> None:
    assert _markdown("<p>x</p><a href=x><hr></a><p>y</p>") == "x\n\n***\n\ny"


HOSTILE = {
    "nested divs": "<div>" * 100_000 + "x",
    "nested emphasis": "<b><i>" * 50_000 + "x",
    "nested lists": "<ul><li>" * 50_000 + "x",
    "nested tables": "<table><tr><td>" * 30_000 + "x",
    "nested links": "<a href=x><object>" * 40_000 + "x",
    "siblings": "<p>a</p>" * 100_000,
    "ragged table": "<table><tr>" + "<td>a" * 30_000 + "<tr><td rowspan=9999>b" * 30_000,
    "breaks": "a<br><br>" * 50_000,
    "definitions": "<dl>" + "<dt>a<dd>b" * 50_000,
    "spaces": "<p>a" + " " * 1_000_000 + "b<pre>" + "&nbsp;" * 200_000 + "c",
    "backslashes": "<p>" + "\\" * 1_000_000 + "<br>" + "\\<br>" * 50_000 + "\\_a" * 200_000,
    "written tags": "<p>" + "&lt;br>&lt;em>a&lt;/em>&amp;#32;" * 50_000,
    "broken emphasis": "<p>" + "<b>a:</b>b" * 50_000,
    "numbered items": "<ol>" + "<li value=9>a" * 100_000,
    "links around images": "x" + "<a href=x><img alt=a></a>" * 30_000,
    "links around rules": "x<a href=x><hr></a>" * 20_000,
    "links with attributes": f"<a {' '.join(f'a{n}=b' for n in range(200_000))} href=x>a</a>",
    "links with quotes": "x" + '<a href=x><img a="' + " alt= href=" * 200_000 + '" " alt=b></a>',
    "code": "<p>" + "<code>&lt;&amp;\\</code> " * 50_000,
    "rare characters": "<p>" + "".join(map(chr, range(0xFDD0, 0xFDF0))) * 30_000,
}
"""Large enough that time in the square of the size would be minutes, small enough to be read."""


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_rendered_like_any_other(name: str) -> None:
    tree, labels = _labelled_as_content(HOSTILE[name])
    assert text_of(tree, labels)
    assert marked_html(tree, labels)
    assert content_html(tree, labels)
    assert template_html(tree, labels)
    assert bool(links_of(tree, labels, BASE)) == ("links" in name)
    assert markdown(tree, labels, BASE)


# HTML


def _marks(html: str) -> list[tuple[str, str | None]]:
    """Each element of the marked page with its mark."""
    tree, labels = _labelled(html)
    marked = parse(Page(marked_html(tree, labels))).tree
    return [
        (marked.name(node), marked.attributes(node).get("data-dehusk"))
        for node in np.flatnonzero(~marked.is_text).tolist()
    ]


def test_every_shown_element_is_marked_and_nothing_else() -> None:
    html = "<script>a</script><body><p>x</p><div data-label=template>y</div><i hidden>z</i>"
    assert _marks(html) == [
        ("html", "content"),
        ("head", None),
        ("script", None),
        ("body", "content"),
        ("p", "content"),
        ("div", "template"),
        ("i", None),
    ]


def test_a_text_that_differs_from_its_parent_gets_a_span() -> None:
    tree, labels = _labelled("<p>one<b>two</b></p>")
    labels = labels.copy()
    labels[tree.is_text] = [Label.TEMPLATE, Label.CONTENT]
    assert '<p data-dehusk="content"><span data-dehusk="template">one</span><b' in (
        marked_html(tree, labels)
    )


@pytest.mark.parametrize(
    "html",
    [
        "<select><option>x</select>",
        "<textarea>x</textarea>",
        "<svg><text>x</text></svg>",
        "<math><mi>x</mi></math>",
    ],
)
def test_no_span_is_put_where_html_has_none(html: str) -> None:
    tree, labels = _labelled(f"<p>y</p>{html}")
    labels = labels.copy()
    labels[tree.is_text] = Label.TEMPLATE
    assert marked_html(tree, labels).count("<span") == 1


def test_a_mark_that_the_page_has_written_itself_is_replaced() -> None:
    html = '<p title=" data-dehusk=" data-dehusk="mine" id="i">x</p>'
    tree, labels = _labelled(html)
    marked = marked_html(tree, labels)
    assert '<p title=" data-dehusk=" id="i" data-dehusk="content">x</p>' in marked


SHOWN = (
    "<div>", "</div>", "<p>", "<b>", "</b>", "<ul>", "<li>", "</ul>", "<table>", "<tr>", "<td>",
    "</table>", "<pre>\n\n", "</pre>", "<select>", "<option>", "</select>", "<br>", "<hr>", "one",
    "<img src=x>", " two ", "&lt;three&gt;", "<!-- c -->", "<svg><text>v</text></svg>", "<h2>",
    "<textarea>\n\nt</textarea>", "<a href=x data-dehusk=y>", "</a>", "</h2>", "<dl>", "<dt>",
    "<dd>", "</dl>", "<code>", "</code>", "<div data-label=template>", "<b data-label=template>",
)  # fmt: skip
HIDDEN = (
    "<script>s</script>",
    "<i hidden>h</i>",
    "<noscript>n</noscript>",
    "<template>m</template>",
)
HTML_PIECES = st.lists(st.sampled_from(SHOWN + HIDDEN), max_size=30)
SHOWN_PIECES = st.lists(st.sampled_from(SHOWN), max_size=30)
DEPTHS = st.sampled_from([4, 512])
"""In a tree of depth 4 most of these pages are flattened."""


@given(HTML_PIECES)
@FIXED
def test_the_marked_page_is_the_same_page_with_spans(pieces: list[str]) -> None:
    tree, labels = _labelled("<!DOCTYPE html>" + "".join(pieces))
    canonical = parse(Page("<!DOCTYPE html>" + tree.source.decode())).tree
    marked = parse(Page(marked_html(tree, labels))).tree
    kept = [node for node in range(len(marked)) if marked.name(node) != "span"]
    assert [marked.name(node) for node in kept] == [
        canonical.name(node) for node in range(len(canonical))
    ]
    assert [marked.text(node) for node in kept if marked.is_text[node]] == [
        canonical.text(node) for node in np.flatnonzero(canonical.is_text).tolist()
    ]


def _label_words(tree: Tree, labels: NDArray[np.int8], wanted: Label) -> str:
    nodes = np.flatnonzero(tree.is_text & (tree.text_length > 0) & (labels == wanted))
    return "".join("".join(tree.text(node).split()) for node in nodes.tolist())


def _all_words(html: str) -> str:
    tree = parse(Page(html)).tree
    return _label_words(tree, np.zeros(len(tree), np.int8), Label.CONTENT)


@given(SHOWN_PIECES, DEPTHS)
@FIXED
def test_content_and_template_pages_hold_their_words_and_no_others(
    pieces: list[str], max_depth: int
) -> None:
    limits = Limits(max_depth=max_depth)
    tree, labels = _labelled("<!DOCTYPE html>" + "".join(pieces), limits)
    content, template = content_html(tree, labels), template_html(tree, labels)
    assert _all_words(content) == _label_words(tree, labels, Label.CONTENT)
    assert _all_words(template) == _label_words(tree, labels, Label.TEMPLATE)


@given(SHOWN_PIECES, DEPTHS)
@FIXED
def test_markdown_holds_the_words_of_the_content_and_no_others(
    pieces: list[str], max_depth: int
) -> None:
    html = "<!DOCTYPE html>" + "".join(pieces)
    tree, labels = _labelled(html, Limits(max_depth=max_depth))
    expected = "".join(_words(_label_words(tree, labels, Label.CONTENT)))
    written = markdown(tree, labels, None).replace("<br>", "")
    assert "".join(_words(written.replace("](x)", "]"))) == expected


def test_the_content_page_is_a_page_with_title_language_and_base() -> None:
    html = (
        "<html lang=de dir=ltr class=x><title>T &amp; t</title><base href=/b/><link rel=y>"
        "<p>a<!-- c --></p><p data-label=template>t</p><script>s</script>"
    )
    tree, labels = _labelled(html)
    assert content_html(tree, labels) == (
        '<!DOCTYPE html>\n<html lang="de" dir="ltr"><head><meta charset="utf-8">'
        '<base href="/b/"><title>T &amp; t</title></head><body><p>a</p></body></html>\n'
    )


def test_the_template_page_keeps_the_head_and_what_is_above_both() -> None:
    html = (
        "<title>T</title><body class=c><div><nav data-label=template>n</nav><article>a</article>"
        "</div><p>b</p><script>s</script>"
    )
    tree, labels = _labelled(html)
    assert template_html(tree, labels) == (
        '<!DOCTYPE html>\n<html><head><title>T</title></head><body class="c"><div>'
        '<nav data-label="template">n</nav></div><script>s</script></body></html>'
    )


def test_cells_stay_where_their_row_stays() -> None:
    html = "<table><tr><td data-label=template>t<td>c</table>"
    tree, labels = _labelled(html)
    assert "t</td><td></td></tr>" in template_html(tree, labels)
    assert "<td>c</td></tr>" in content_html(tree, labels)
    assert content_html(tree, labels).count("<td") == 2


# Links

_LINKED = (
    "<a href=/x>", "<a href='y z'>", "<a href=#top>", "<a href='#'>", "<a href=a/b.html#c>", "</a>",
    "<a href='//h.example/p'>", "<a href='http://h.example/?a=1&amp;b=\u00e9'>", "<a name=n>",
    "<a href=../up>", "<a href='?q=1'>", "<a href='javascript:x'>", "<a href='/a[1]'>", "<a href>",
    "<a href=' /s\t '>", "<a href='mailto:x'>", "<area href=z alt='Z&nbsp;z'>", "<map>", "<img>",
    "<img alt='a  &lt;b'>", "<svg><a href=s>", "</svg>", "<object>", "<p>", "<td>", "<br>", "<b>",
    "word", " ", "&nbsp;", "\u3000", "\u2003x", "&amp;lt;", "<xmp>&am", "</xmp>", "<div hidden>",
    "</div>", "<table><tr><td>", "</table>", "<base href='/b/'>", "<li>", "\u0085", "\ud800",
    "<a href='../../x?y=/&amp;z#a:b(c)'>", "<a href='../..'>", "<a href='../../../../../a/b'>",
    "<a href=../../>", "<a href='x?'>", "<a href='x#'>", "<a href='x?y?#z#'>", "<a href='x;y'>",
    "<a href=Data:x>", "<a href=JAVASCRIPT:x>", "<a href=blobs:x>", "<a href='a:b[c]'>",
    "<a href=C.d-e+f:g/../h>", "<a href='../é'>", "<a href='x#é'>", "<a href='.x'>",
    "<a href='/%7E.x/./y'>", "<a href='x//y'>", "<a href='&quot;'>", "<a href='HTTP://H.example'>",
)  # fmt: skip
_URLS = (
    None,
    "http://h.example",
    "https://h.example/a/b?q#f",
    "http://h.example//x/",
    "https://h.example/a/b/c/d.html",
    "https://h.example/a;p/b;q?r;s#t",
    "http://h.example/?#",
    "file:a",
    "",
)


@given(
    st.lists(st.sampled_from((*_LINKED, "<i data-label=template>", "</i>")), max_size=30).map(
        "".join
    ),
    st.sampled_from(_URLS),
    st.sampled_from((3, 512)),
)
@settings(max_examples=400, deadline=None)
def test_every_link_leads_where_its_address_does(html: str, url: str | None, depth: int) -> None:
    tree, labels = _labelled(html, Limits(max_depth=depth))
    base = base_of(tree, url)
    expected = [
        (lead, bool(labels[node] == Label.TEMPLATE))
        for node in range(len(tree))
        if tree.name(node) in ("a", "area") and tree.shown[node]
        if (lead := base.absolute(tree.attributes(node).get("href", "")))
    ]
    found = links_of(tree, labels, url)
    assert [(link.url, link.template) for link in found] == expected
    assert all(link.text == " ".join(link.text.split()) for link in found)


def test_words_in_nested_links_belong_to_the_innermost() -> None:
    html = "<a href=o>a<object><a href=i>b<br>c</a></object><svg><a href=s>d</a></svg>e</a>"
    assert [(link.url[-1], link.text) for link in _links(html)] == [
        ("o", "ae"), ("i", "b c"), ("s", "d"),
    ]  # fmt: skip


def test_links_are_absolute_and_in_document_order() -> None:
    html = "<a href=a>1</a><a href=/b>2</a><a href=//h.example/c>3</a><a href=?q#f>4</a>"
    assert _urls(html) == [
        "https://site.example/dir/a",
        "https://site.example/b",
        "https://h.example/c",
        "https://site.example/dir/page?q#f",
    ]


@pytest.mark.parametrize(
    "href", ["", "#", " JavaScript:x()", "data:,x", "http://[", "//[::x", "java\nscript:x", "\x01"]
)
def test_a_link_that_leads_nowhere_is_left_out(href: str) -> None:
    assert _urls(f'<a href="{href}">x</a>') == []


@pytest.mark.parametrize("href", ["mailto:a@b.example", "tel:+1", "http://h.example/a?b=c#d"])
def test_a_link_with_a_scheme_stays_as_it_is(href: str) -> None:
    assert _urls(f'<a href="{href}">x</a>') == [href]


def test_the_first_base_of_the_page_counts_if_it_is_on_the_web() -> None:
    assert _urls("<base target=x><base href=/b/><base href=/c/><a href=x>", None) == ["x"]
    assert _urls("<base target=x><base href=/b/><base href=/c/><a href=x>") == [
        "https://site.example/b/x"
    ]
    assert _urls("<base href=ftp://f.example/><a href=x>") == ["https://site.example/dir/x"]
    assert _urls("<base href=https://o.example/><a href=x>", None) == ["https://o.example/x"]


def test_spaces_in_a_link_are_encoded_and_line_breaks_removed() -> None:
    assert _urls('<a href=" a b\n/c\t ">') == ["https://site.example/dir/a%20b/c"]
    assert _urls("<a href='/?a=<b>'>") == ["https://site.example/?a=%3Cb%3E"]


def test_a_link_says_its_text_in_one_line() -> None:
    html = (
        "<a href=x> a\n<b>b</b>c<p>d</p>e<br>f &amp; <i hidden>g</i><table><td>h<td>i</table></a>"
    )
    assert _links(html)[0].text == "a bc d e f & h i"


def test_a_link_without_words_says_what_its_image_says() -> None:
    html = "<a href=x><img alt=' a  b '> </a><map><area href=y alt=c></map><a href=z></a>"
    assert [link.text for link in _links(html)] == ["a b", "c", ""]


@pytest.mark.parametrize(
    "image",
    [
        '<img class="x"" alt="foo">',
        '<img " alt="foo">',
        '<img ="x alt="foo">',
        '<img title=" alt=" alt="foo">',
        '<img a="x=" b=" alt=" alt=foo>',
    ],
)
def test_stray_quotes_in_a_tag_hide_no_attribute(image: str) -> None:
    assert [link.text for link in _links(f"<a href=q>{image}</a>")] == ["foo"]


def test_a_value_that_looks_like_an_attribute_is_none() -> None:
    assert [link.text for link in _links('<a href=q><img a="x=" b=" alt=" c="d"></a>')] == [""]
    assert _urls('<a a="x=" b=" href=" c="d">x</a>') == []


def test_a_link_knows_whether_it_is_template_and_is_left_out_if_hidden() -> None:
    html = "<a href=x>a</a><nav data-label=template><a href=y>b</a></nav><a href=z hidden>c</a>"
    assert [(link.text, link.template) for link in _links(html)] == [("a", False), ("b", True)]


def test_text_in_nested_links_belongs_to_the_innermost() -> None:
    html = "<a href=x>a<object><a href=y>b</a></object>c</a>"
    assert [link.text for link in _links(html)] == ["ac", "b"]


@given(st.text(max_size=40), st.one_of(st.none(), st.text(max_size=20), st.just(BASE)))
@FIXED
def test_no_address_raises(href: str, base_url: str | None) -> None:
    escaped = href.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    # Pages that begin with many control characters are refused.
    html = f'{"words " * 300}<a href="{escaped}">x</a>'
    tree, labels = _labelled(html)
    for link in links_of(tree, labels, base_url):
        assert link.url
    markdown(tree, labels, base_url)


# Share


def test_the_share_of_template_counts_visible_characters() -> None:
    tree, labels = _labelled("<p>abcd</p><p data-label=template>efgh</p><p hidden>x</p>")
    assert characters(tree, labels) == (8, 4)


@pytest.mark.parametrize(
    ("html", "seen"),
    [
        ("<p>  a b </p>", 3),
        ("<p>a \n\t   b</p>\n  <p>c</p>", 4),
        ("<p>\n  one\n  two\n</p>", 7),
        ("<p>é &amp;   è</p>", 5),
        ("<pre>a\n   b</pre><p>c   d</p>", 9),
        ("<p hidden>a</p><script>b  c</script>", 0),
    ],
)
def test_a_run_of_white_space_is_one_visible_character(html: str, seen: int) -> None:
    tree, labels = _labelled(html)
    assert visible_lengths(tree).sum() == characters(tree, labels)[0] == seen


@given(st.text("ab é\n\t", max_size=60))
@FIXED
def test_visible_characters_are_those_of_the_text_with_single_spaces(words: str) -> None:
    tree, _ = _labelled(f"<p>{words}</p>")
    assert visible_lengths(tree).sum() == len(" ".join(words.split()))


def test_a_page_without_text_has_no_template() -> None:
    assert dehusk.Site().add("<p> </p>").template_share == 0.0


@pytest.mark.parametrize(
    "head",
    [
        "<meta charset=windows-1251>",
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        "",
    ],
)
def test_html_says_that_it_is_utf_8(head: str) -> None:
    page = Page(
        f"<html><head>{head}<title>да</title><body><p>да".encode("windows-1251"), charset="cp1251"
    )
    tree = parse(page).tree
    labels = np.zeros(len(tree), np.int8)
    for html in (
        marked_html(tree, labels),
        template_html(tree, labels),
        content_html(tree, labels),
    ):
        assert html.count("charset") == 1
        assert '<meta charset="utf-8">' in html
        again = parse(Page(html.encode())).tree
        assert "да" in [again.text(i) for i in range(len(again)) if again.is_text[i]]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>151.50 € and 3) more</p>", "151.50 € and 3) more"),
        ("<p>151.50 €</p>", "151.50 €"),
        ("<p>1. not a list</p>", r"1\. not a list"),
        ("<p>-5 degrees</p><p>+1</p><p>#tag</p>", "-5 degrees\n\n+1\n\n#tag"),
        ("<p># not a heading</p>", r"\# not a heading"),
        (r"<p>a \-5 b</p>", r"a \\-5 b"),
    ],
)
def test_only_what_markdown_would_misread_is_escaped(html: str, expected: str) -> None:
    parsed = parse(Page(html))
    labels = np.zeros(len(parsed.tree), np.int8)
    assert markdown(parsed.tree, labels, None) == expected


@pytest.mark.parametrize(
    "html",
    [
        "one<img src=a.png>two",
        "<label><input type=radio>one</label><label><input type=radio>two</label>",
        "one<svg><path /></svg>two",
        "one<video></video>two",
    ],
)
def test_words_on_both_sides_of_a_picture_or_a_control_are_two(html: str) -> None:
    assert dehusk.extract(f"<p>{html}", method="segments").text == "one two"


def test_a_sign_behind_a_picture_stays_where_it_is() -> None:
    assert dehusk.extract("<p>Rye <img src=a.png>, oats", method="segments").text == "Rye , oats"
    assert dehusk.extract("<p>Rye<img src=a.png>, oats", method="segments").text == "Rye, oats"
