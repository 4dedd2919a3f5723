"""Markdown read by others: the same words and the structure that was meant, whoever reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from itertools import product
from typing import Any
from urllib.parse import unquote
from weakref import ref

import mistune
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import dehusk
from dehusk.answer.markdown import markdown
from dehusk.answer.override import Overrides
from dehusk.answer.result import Result
from dehusk.answer.text import text as text_of
from dehusk.errors import SettingError
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.settings import Links, MarkdownSettings, Tables
from labelled import all_content

FIXED = settings(derandomize=True, deadline=None, max_examples=120)
COMMON = MarkdownIt("commonmark", {"maxNesting": 200}).enable(["table", "strikethrough"])
MISTUNE: Any = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])
READERS = (COMMON.render, MISTUNE)

WORDS = st.sampled_from((
    "one", "two three", "4.", "- five", "# six", "s_e_v", "_eight_", "*nine", "10*", "a`b",
    "[x](y)", "[t]", "<b>", "&amp;", "a|b", "~~c~~", "~5", "\\", "\\n", "!", "> q", "---",
    "===", "漢字。", "«é»", "12) z", "| - |", "[a]: b", "```", "...", "€", "x:",
    "$5", "6$", "[^1]", "[!NOTE]",
))  # fmt: skip
FORMULAS = st.sampled_from((
    "\\(a_1\\)", "\\[b|c\\]", "<math><msup><mi>x</mi><mn>2</mn></msup></math>", "10<sup>6</sup>",
    '<script type="math/tex">a*b*c <d [e](f)</script>', "x<sup>n</sup>",
))  # fmt: skip
TEXTS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join).map(escape) | FORMULAS


def _inline(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tag = st.sampled_from(("b", "em", "s", "code", "span", "sub", 'a href="/l"', "kbd", "i"))
    wrapped = st.tuples(tag, inner).map(lambda e: f"<{e[0]}>{e[1]}</{e[0].split(' ', 1)[0]}>")
    return st.lists(wrapped | TEXTS | st.sampled_from((" ", "<br>")), min_size=1, max_size=4).map(
        "".join
    )


INLINE = st.recursive(TEXTS, _inline, max_leaves=6)


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    items = st.lists(inner, min_size=1, max_size=3).map(
        lambda found: "".join(f"<li>{each}</li>" for each in found)
    )
    cells = INLINE | TEXTS.map("<pre>{}\n  b</pre>".format)
    tables = st.lists(st.lists(cells, min_size=1, max_size=3), min_size=1, max_size=3).map(
        lambda rows: "".join(
            "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows
        )
    )
    block = st.one_of(
        items.map("<ul>{}</ul>".format),
        items.map('<ol start="3">{}</ol>'.format),
        tables.map("<table>{}</table>".format),
        inner.map("<blockquote>{}</blockquote>".format),
        inner.map("<div>{}</div>".format),
        st.tuples(INLINE, inner).map(lambda e: f"<dl><dt>{e[0]}</dt><dd>{e[1]}</dd></dl>"),
        inner.map('<div class="admonition"><p>Note</p>{}</div>'.format),
        st.tuples(INLINE, inner).map(
            lambda e: f"<details><summary>{e[0]}</summary>{e[1]}</details>"
        ),
    )
    return st.lists(block, min_size=1, max_size=3).map("".join)


LEAVES = st.one_of(
    INLINE.map("<p>{}</p>".format),
    INLINE.map("<h2>{}</h2>".format),
    TEXTS.map("<pre>{}</pre>".format),
    INLINE,
)
PAGES = st.recursive(LEAVES, _blocks, max_leaves=6)


def _written(html: str) -> tuple[str, str]:
    """The Markdown and the text of a page all of whose nodes are content."""
    tree = parse(Page(html)).tree
    labels = np.zeros(len(tree), np.int8)
    return markdown(tree, labels, "https://h.example/"), text_of(tree, labels)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize(
    "html",
    [
        "<div><span>Before</span><a href=/a>a<div>b</div></a>behind</div>",
        "<div>Before<a href=/a>a<h3>b</h3></a>behind</div>",
        "<table><tr><th>a<th>b<tr><td>c<a href=/d>d<div>e</div></a>f<td>g</table>",
        "<div>Before<a><div>b</div></a>behind</div>",
        "<h2>Before<a href=/a>a<div>b</div></a>behind</h2>",
    ],
)
def test_a_link_around_blocks_is_apart_in_text_and_markdown(html: str) -> None:
    written, text = _written(html)
    assert _words(_read(COMMON.render(written))) == _words(text), written
    assert "Beforea" not in text


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _read(rendered: str) -> str:
    """The text of rendered HTML."""
    tree = parse(Page(f"<!DOCTYPE html><body>{rendered}")).tree
    return text_of(tree, np.zeros(len(tree), np.int8))


def _said(rendered: str) -> str:
    """The letters of rendered HTML."""
    return _letters(_read(rendered))


@pytest.mark.parametrize("read", READERS, ids=("markdown-it", "mistune"))
@given(PAGES)
@FIXED
def test_whoever_reads_it_reads_the_words_of_the_text(
    read: Callable[[str], str], html: str
) -> None:
    written, text = _written(html)
    assert _said(read(written)) == _letters(text), written


@given(st.lists(PAGES | st.just("<hr>"), min_size=2, max_size=5).map("".join))
@FIXED
def test_no_line_is_taken_for_the_front_matter_of_the_next_page(html: str) -> None:
    written, _ = _written(html)
    code = [token.map for token in COMMON.parse(written) if token.type == "fence" and token.map]
    inside = {line for first, last in code for line in range(first, last)}
    lines = [line for number, line in enumerate(written.split("\n")) if number not in inside]
    assert "---" not in lines, written


PARTS = (
    "<b>a</b>", "<i>b</i>", "<b>c <i>d</i></b>", "<i>e<b>f</b></i>", " ", "g", ".", "<b>*</b>",
    "<i>_</i>",
)  # fmt: skip


@pytest.mark.parametrize("read", READERS, ids=("markdown-it", "mistune"))
def test_no_sign_of_emphasis_is_left_or_lost(read: Callable[[str], str]) -> None:
    for parts in product(PARTS, repeat=3):
        written, text = _written(f"<p>{''.join(parts)}")
        assert _read(read(written)) == text, written


def _tags(rendered: str) -> list[str]:
    return re.findall(r"<(h\d|ul|ol|li|blockquote|pre|table|td|th)\b", rendered)


@pytest.mark.parametrize(
    ("html", "tags"),
    [
        ("<h3>a</h3><p>b", ["h3"]),
        ("<ul><li>a<ol><li>b</ol><li>c</ul>", ["ul", "li", "ol", "li", "li"]),
        ("<ul><li>a<ol start=7><li>b</ol></ul>", ["ul", "li", "ol", "li"]),
        ("<ul><li>a</li><ul><li>b</ul></ul>", ["ul", "li", "ul", "li"]),
        ("<ul><li>a</ul><ul><li>b</ul>", ["ul", "li", "ul", "li"]),
        ("<blockquote><ul><li>a<blockquote>b</blockquote></ul></blockquote>",
         ["blockquote", "ul", "li", "blockquote"]),
        ("<ul><li>a<pre>b\n\n  c</pre></ul>", ["ul", "li", "pre"]),
        ("<table><tr><th>a<th>b<tr><td colspan=2>c</table>", ["table", "th", "th", "td", "td"]),
    ],
)  # fmt: skip
def test_the_structure_is_the_one_that_was_meant(html: str, tags: list[str]) -> None:
    written, _ = _written(html)
    assert [_tags(read(written)) for read in READERS] == [tags, tags]


@given(st.text("a`\n ~", min_size=1).filter(str.strip))
@FIXED
def test_code_is_read_as_it_was_written(code: str) -> None:
    written, _ = _written(f"<pre>\n{code}</pre><p>x")
    token = COMMON.parse(written)[0]
    lines = code.rstrip().split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    assert (token.type, token.content) == ("fence", "\n".join(lines) + "\n")


PRINTABLE = st.characters(codec="utf-8", exclude_characters="<&").filter(str.isprintable)


@given(st.text(PRINTABLE, min_size=1))
@FIXED
def test_a_link_keeps_its_address_and_its_words(text: str) -> None:
    written, said = _written(f'<p>a <a href="/b_(c)?d=e*f">x{escape(text)}y</a> z')
    for read in READERS:
        rendered = read(written)
        assert 'href="https://h.example/b_(c)?d=e*f"' in rendered
        assert _said(rendered) == _letters(said)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<span> </span>b", "a b"),
        ('<pre>from<span class="w"> </span>os</pre>', "```\nfrom os\n```"),
        ("<div style='white-space:pre-wrap'>a\n b</div>", "a b"),
        ("<pre lang=py>a</pre>", "```py\na\n```"),
        ('<pre class="sourceCode haskell">a</pre>', "```haskell\na\n```"),
        ("<table><tr><td><pre>1\n2</pre><td><pre>a\nb</pre></table>", "```\na\nb\n```"),
        ("<p>Hello!<a href=b>c</a>", "Hello\\![c](https://h.example/b)"),
        ("<ol><li>a</li>b<li>c</ol>", "1. a\n\nb\n\n2. c"),
        ("<table><tr><td>a<td>b<tr><td>c<td>d<table><tr><td></table>e</table>",
         "|  |  |\n| --- | --- |\n| a | b |\n| c | d<br>e |"),
        ("<a href=b title='c \"d\"'>e</a>", "[e](https://h.example/b)"),
        ("<p><a href=b>c<br><br>d</a>", "[c](https://h.example/b)\n\nd"),
        ("<ul><li>a<li> <li><p>&#8203;</p><li>b</ul>", "- a\n- b"),
        ("<b>a <i>b</i></b> x <b><i>c</i></b>", "**a _b_** x ***c***"),
        ("<b>a <i>b</i></b><i>c</i>", "**a b**_c_"),
        ("<b>a</b>_x y_", "**a**\\_x y_"),
        ("<ol reversed><li>a<li>b<li>c</ol>", "3. a\n2. b\n1. c"),
        ("<ol reversed start=9><li>a<li value=5>b<li>c</ol>", "9. a\n5. b\n4. c"),
        ("<ol reversed start=0><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ol reversed start=-3><li>a<li>b</ol>", "1. a\n2. b"),
        ('<pre><span class="linenos"> 9</span>a\n<span class="x lineno">10 </span>b</pre>',
         "```\na\nb\n```"),
        ('<pre><span class="linenos">x</span><span class="line">1</span></pre>', "```\nx1\n```"),
        ("<table><tr><th>a<th align=right>b<tr><td><pre>x\n y|</pre><td>c</table>",
         "| a | b |\n| --- | --: |\n| `x`<br>` y\\|` | c |"),
        ('<div class="admonition tip"><p>Tip</p><p>a<ul><li>b</ul></div>',
         "> [!TIP]\n> a\n>\n> - b"),
        ('<div class="alert x"><b>Hinweis</b> a</div>', "> **Hinweis** a"),
        ("<details><summary>a</summary><p>b</details>", "**a**\n\nb"),
        ("<p><b>4.</b> a<br><i>- b</i><br>5. c", "**4.** a  \n*- b*  \n5\\. c"),
        ("<pre>a\u200b(b)</pre>", "```\na(b)\n```"),
        ("<ruby>漢<rt>kan</rt></ruby> <ruby>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>",
         "漢(kan) 字(ji)"),
        ('<a href="/b?utm_source=c&d=e&fbclid=f#g">h</a>', "[h](https://h.example/b?d=e#g)"),
        ('<a href="/b?utm_source=c">h</a>', "[h](https://h.example/b)"),
        ("<a href='/b\\\\'>a</a> <img src=c alt='d\\'>",
         "[a](https://h.example/b\\\\\\\\) ![d\\\\](https://h.example/c)"),
        ("<a href=file:///etc>a</a> <a href=javascript:b>b</a>", "a b"),
        ("<p>a<sup>2</sup> km<sup>2</sup> word<sup>2</sup> 1<sup>st</sup> s<sup>-1</sup>",
         "a^2 km^2 word^2 1st s^-1"),
        ("<p>word<sup>1)</sup> end.<sup>2,3</sup> M<sup>me</sup> ab<sup>n</sup> a <sup>4</sup>",
         "word^1) end.^2,3 Mme abn a 4"),
        ("<p>a <a href=/b>mill</a><a href=/c>stone</a> d<p>e <a href=/b>f</a><a href=/c>g</a>",
         ("a [mill](https://h.example/b)[stone](https://h.example/c) d\n\n"
          "e [f](https://h.example/b) [g](https://h.example/c)")),
        ("<p><kbd>Ctrl</kbd><kbd>C</kbd> <code class=a>-L</code><code class=b>dir</code>",
         "`Ctrl` `C` `-Ldir`"),
        (("<h2>a <span><b>[</b><a href='/w?action=edit&amp;s=1'>b</a> | <a href=/c/edit>c</a>"
          "<b>]</b></span></h2><p>d <span>[<a href=/w?action=edit>e</a>]</span>"),
         "## a\n\nd [[e](https://h.example/w?action=edit)]"),
        ("<div><h2>a</h2> <span>[<a href=/w?action=edit>b</a>]</span></div><p>c", "## a\n\nc"),
        ("<h2>a <span>[<a href=/editions/1>b</a>]</span></h2>",
         "## a [[b](https://h.example/editions/1)]"),
        ("<h2>a <span>[<a href=/edit>b</a> c]</span></h2>", "## a [[b](https://h.example/edit) c]"),
        (("<figure><a href=/b><img src=/c alt=''></a><figcaption>d <b>e</b></figcaption></figure>"
          "<figure><img src=/f></figure>"),
         "[![d e](https://h.example/c)](https://h.example/b)\n\nd **e**\n\n![](https://h.example/f)"),
        ("<ul><li><dl><dt>a<dd>b</dl><li>c<li><dl><dt>d<dd><p>e</dl></ul>",
         "- a  \n  b\n- c\n- d\n\n  e"),
        (('<table class="memname"><tr><td>int f<td>(<td>int&nbsp;<td><i>a</i>, <tr><td><td>'
          "<td>char&nbsp;<td><i>b</i><tr><td><td>)<td><td></table>"),
         "int f ( int *a*, char *b* )"),
        ("<h2>a <a href=#a>¶</a></h2><h2><a href=#b>b</a></h2>",
         "## a\n\n## [b](https://h.example/#b)"),
        ('<pre class="rust x"><button>Copy</button>a</pre>', "```rust\na\n```"),
        ("<pre class=p><pre><code class=language-rust>a</code></pre></pre>", "```rust\na\n```"),
        ("<code><b> <a href=/b>a</a></b></code> <code><a href=/b>c</a>(d)</code>",
         "[`a`](https://h.example/b) `c(d)`"),
        ("<pre>a\n10<sup>6</sup></pre>", "```\na\n10^6\n```"),
        (("<table><tr><td>int f</td><td>(<td><a href=/b>int</a> <td><i>c</i><td>)"
          "</table><table role=none><tr><td>a<td>b<tr><td>c<td><p>d</table>"),
         "int f ( [int](https://h.example/b) *c* )\n\na b\n\nc\n\nd"),
        ("<p>price* a_b_c f(*args) [1] 5 < 6", "price* a_b_c f(\\*args) [1] 5 < 6"),
        ("<ul><li><input type=checkbox><pre>a\nb</pre><li><input type=checkbox checked>c</ul>",
         "- [ ]\n\n  ```\n  a\n  b\n  ```\n- [x] c"),
        ("<ul><li><input type=checkbox><ul><li>a</ul></ul>", "- [ ]\n\n  - a"),
        ("<table><tr><th>a<th>b<tr><td>2 *<br>* 3<td><b>c</b><br>* d_<br>_e</table>",
         "| a | b |\n| --- | --- |\n| 2 \\*<br>* 3 | **c**<br>\\* d_<br>\\_e |"),
        ('<p>a\x1b[1mb c\x9b\x80d\x7fe<pre>x\x07\x9by</pre><img src=i alt="f\x1bg">',
         "a[1mb c d e\n\n```\nxy\n```\n\n![f g](https://h.example/i)"),
        (("<a href=view-source:b>a</a> <a href='filesystem:https://h.example/c'>b</a>"
          " <a href=jar:d>c</a> <a href=' file:///e'>d</a>"), "a b c d"),
        ("<p><a href='/#$b'>$</a>, <a href=/c>$</a> d",
         "[\\$](https://h.example/#\\$b), [$](https://h.example/c) d"),
        ("<a href='https://h.example/$b=$c'>https://h.example/$b=$c</a>",
         "[https://h.example/\\$b=$c](https://h.example/\\$b=\\$c)"),
    ],
)  # fmt: skip
def test_markdown_says_it_so(html: str, expected: str) -> None:
    assert _written(html)[0] == expected


FOOTNOTES: Any = mistune.create_markdown(plugins=["footnotes"])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<sup id=r><a href=#n>1</a></sup> b.<ol><li id=n><p>c <a href=#r>↩</a><p>d</ol><p>e",
         "a[^1] b.\n\n[^1]: c\n\n    d\n\ne"),
        (("<p>a<a href=#n id=r><span>[</span>1<span>]</span></a> b<aside id=n>"
         "<span>[<a href=#r>1</a>]</span><p>c</aside>"), "a[^1] b\n\n[^1]: c"),
        ("<p>a<sup id=r><a href=#n>[1]</a></sup><ol><li id=n><b><a href=#r>^</a></b> c</ol>",
         "a[^1]\n\n[^1]: c"),
        ("<p>a<a id=r href=#n>23</a><p id=n>b <a href=#r>^</a>", "a[^23]\n\n[^23]: b"),
        ("<p>a<a id=r href=#n>1</a><p id=n>(see <i>b</i>). <a href=#r>↩</a>",
         "a[^1]\n\n[^1]: (see *b*)."),
        ("<p>a <a href=#n>1</a><p id=n>b", "a [1](https://h.example/#n)\n\nb"),
        ("<p><a id=r href=#n>1</a>: a<p id=n>b <a href=#r>^</a>",
         "[1](https://h.example/#n): a\n\nb [^](https://h.example/#r)"),
        ("<p>a [^1] b", "a \\[^1] b"),
        (("<p>a<sup id=r><a href=#n>1</a></sup> b<sup id=s><a href=#n>1</a></sup><ol><li id=n>"
         "<span>^ <a href=#r><i>a</i></a> <a href=#s>b</a></span> Book</ol>"),
         "a[^1] b[^1]\n\n[^1]: Book"),
        ("<p>a<sup id=r><a href=#n>1</a></sup><ol><li id=n>↑ <a href=#r>a</a> Book</ol>",
         "a[^1]\n\n[^1]: Book"),
        ("<p>a<sup id=r>[<a href=#n>b</a>]</sup> c<ol><li id=n><a href=#r>^</a> d</ol>",
         "a[^1] c\n\n[^1]: d"),
        (("<p>a<a href=#n id=r>[3]</a> b<a href=#n id=s>[3]</a><aside id=n><b><i>[</i>3<i>]</i></b>"
          " <b>(<a href=#r>1</a>,<a href=#s>2</a>)</b> <p>c</aside>"), "a[^3] b[^3]\n\n[^3]: c"),
        (("<p>a <a href=#n id=r>1</a> b<a href=#n id=s>1</a><dl><dt id=n><b>1</b><b>(<a href=#r>1"
          "</a>,<a href=#s>2</a>)</b></dt> <dd><p>c<p>d</dl>"), "a [^1] b[^1]\n\n[^1]: c\n\n    d"),
        ("<p>a <a href=#n id=r>1</a><dl><dt id=n>b <a href=#r>1</a><dd>c</dl>",
         "a [1](https://h.example/#n)\n\n- b [1](https://h.example/#r)  \n  c"),
        (("<dl><dt id=m>1 (<a href=#r>2</a>)<dd>a<dt>3<dd><p>As in <a id=r href=#m>1</a>, b</dl>"),
         ("- 1 ([2](https://h.example/#r))  \n  a\n\n- 3\n\n  As in [1](https://h.example/#m), b")),
        (("<p>a<a id=r href=#n>1</a> b<a id=s href=#m>2</a><p><a id=n href=#r>1</a> c<br>"
          "<a id=m href=#s>2</a> d"),
         ("a[1](https://h.example/#n) b[2](https://h.example/#m)\n\n"
          "[1](https://h.example/#r) c  \n[2](https://h.example/#s) d")),
    ],
)  # fmt: skip
def test_footnotes_are_those_of_github(html: str, expected: str) -> None:
    written = _written(html)[0]
    assert written == expected
    assert FOOTNOTES(written).count('class="footnote-ref"') == len(
        re.findall(r"(?<!\\)\[\^\d+\](?!:)", written)
    )


def test_words_stay_apart_where_a_reference_is_template() -> None:
    html = "<p>a<sup id=r><a href=#n>1</a></sup>b</p><p id=n>c <a href=#r>^</a></p>"
    result = dehusk.extract(html, keep="p", drop="sup")
    assert result.text.split("\n")[0] == result.markdown.split("\n")[0] == "a b"


def test_a_footnote_that_is_template_is_not_referred_to() -> None:
    tree = parse(Page("<p>a<a id=r href=#n>1</a></p><p id=n>b <a href=#r>^</a></p>")).tree
    labels = np.zeros(len(tree), np.int8)
    note = next(i for i in range(len(tree)) if tree.attributes(i).get("id") == "n")
    labels[note : tree.end[note]] = 1
    assert markdown(tree, labels, "https://h.example/") == "a[1](https://h.example/#n)"


BAD = {
    "rows": "<table><tr><th>a<th>b" + "<tr><td>c<td>d" * 10_000,
    "spans": "<table>" + "<tr><td colspan=2147483648 rowspan=4294967297>a<td>b" * 50,
    "wide spans": "<table>" + "<tr><td colspan=1000 rowspan=65534>a<td>b" * 50,
    "deep lists": "<ul><li>a" * 500,
    "deep quotes": "<blockquote>a" * 500,
    "deep callouts": "<div class=callout>Note<p>a" * 400,
    "backticks": "<pre>" + "`" * 10_000 + "</pre><p><code>" + "`" * 10_000,
    "formula": '<p>a <script type="math/tex">' + "x+" * 500_000 + "</script>",
    "mathml": "<math>" + "<mrow>" * 400 + "<mi>x</mi>" * 30_000,
    "surrogates": "<p>a \ud800 b <a href='\udfff'>c</a> <math><mi>\ud834</mi></math>",
    "nul": "<p>a\0b <pre>c\0d</pre> \\(e\0\\)",
    "breaks": "<p>a" + "<br>" * 300_000 + "b",
    "heading": "<h1>" + "long " * 100_000 + "</h1>" + "<p>text of some length</p>" * 2_000,
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_made_of_a_bad_page_is_no_multiple_of_it(name: str) -> None:
    result = dehusk.extract(BAD[name], "https://h.example/", method="segments")
    pieces = sum(len(piece.text) + len("".join(piece.headings)) for piece in result.pieces(100))
    assert len(result.markdown) <= 10 * len(BAD[name]) + 1000
    assert len(result.text) <= 2 * len(BAD[name])
    assert pieces <= 4 * len(BAD[name]) + 1000
    for wanted in (MarkdownSettings(tables=Tables.HTML), MarkdownSettings(links=Links.FOOTNOTES)):
        assert result.written_with(wanted).markdown


SEVERAL = (
    '<p><a href="/a?utm_x=1">b</a> [1] <a href="/c">d</a> <a href="/a">e</a>'
    ' <img src=f alt="g h"></p>'
    "<table><tr><th colspan=2>i</th></tr>\n<tr><td>j &lt;<td><ul><li>k</ul><div>l</div>"
    "<a href='/m?utm_x=1'>n</a><h3>o</h3><figure><img src=p alt=q></figure>"
    "<div>\\(r\\) s</div></table>"
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"links": "text"}, ["b [1] d e ![g h]"]),
        ({"links": "footnotes"}, ["[b][1] [1\\] [d][2] [e][1]", "\n[1]: <https://h.example/a>\n[2]"]),
        ({"links": "none"}, ["[1] ![g h]"]),
        ({"links": "full"}, ["[b](https://h.example/a?utm_x=1) [1]"]),
        ({"images": "alt"}, ["[e](https://h.example/a) g h\n"]),
        ({"images": "none"}, ["[e](https://h.example/a)\n"]),
        ({"tables": "html"}, [
            ('<tr><th colspan="2">i</th></tr>\n<tr><td>j &lt;</td><td><ul><li>k</li></ul>l<br>'
             '<a href="https://h.example/m">n</a><h3>o</h3>'
             '<img src="https://h.example/p" alt="q"><br>$r$ s</td></tr>'),
        ]),
        ({"tables": "html", "links": "text", "images": "alt"}, [
            "l<br>n<h3>o</h3>q<br>$r$ s</td></tr>",
        ]),
        ({"tables": "html", "links": "none", "images": "none"}, ["l<h3>o</h3>$r$ s</td></tr>"]),
    ],
)  # fmt: skip
def test_links_images_and_tables_are_written_as_asked(
    given: dict[str, Any], expected: list[str]
) -> None:
    tree = parse(Page(SEVERAL)).tree
    written = markdown(tree, all_content(tree), "https://h.example/", MarkdownSettings(**given))
    for part in expected:
        assert part in written


@pytest.mark.parametrize("links", ["keep", "text", "footnotes", "full"])
@given(PAGES)
@settings(derandomize=True, deadline=None, max_examples=30)
def test_links_are_written_otherwise_without_a_word_lost(links: str, html: str) -> None:
    tree = parse(Page(html)).tree
    labels = np.zeros(len(tree), np.int8)
    written = markdown(tree, labels, "https://h.example/", MarkdownSettings(links=Links(links)))
    for read in READERS:
        assert _said(read(written)) == _letters(text_of(tree, labels)), written


@pytest.mark.parametrize("links", ["keep", "footnotes"])
@pytest.mark.parametrize("query", ["?a=1&copy;=2", "?a\\_b", "?a|b", "?(", "?<b>"])
def test_addresses_are_read_as_they_were(links: str, query: str) -> None:
    tree = parse(Page(f'<p><a href="/{escape(query)}">b</a></p>')).tree
    wanted = MarkdownSettings(links=Links(links))
    written = markdown(tree, all_content(tree), "https://h.example/", wanted)
    read = re.findall(r'href="([^"]*)"', COMMON.render(written))
    assert [unquote(unescape(each)) for each in read] == [f"https://h.example/{query}"], written


def test_what_markdown_cannot_have_is_refused_by_name() -> None:
    with pytest.raises(SettingError, match=r"links is one of keep, text, .* not 'all'"):
        MarkdownSettings(links="all")  # type: ignore[arg-type]


HTML = (
    "<html lang=en><title>T</title><nav><a href=/a>Home</a></nav><article><h1>T</h1><p>Some"
    " <b>words</b> that say a thing or two, <a href=/b>a link</a>.</p><ul><li>one<li>two</ul>"
    "<pre>code</pre>"
    "<table><tr><th>a<th>b<tr><td>c<td>d</table></article><footer>Imprint</footer>"
)  # fmt: skip
ANSWERS: dict[str, Callable[[Result], object]] = {
    **{
        name: lambda result, name=name: getattr(result, name)  # type: ignore[misc]
        for name in ("text", "markdown", "html", "content", "template", "links", "description",
                     "fingerprint", "sections", "template_share", "needs_render")
    },
    "nodes": lambda result: repr(result.nodes),
    "regions": lambda result: repr(result.regions),
    "pieces": lambda result: result.pieces(20),
    "to_json": lambda result: result.to_json(10),
    "choices": lambda result: result.choices(Overrides(drop=("nav", "li"))).tolist(),
}  # fmt: skip
FIRST = {name: ask(dehusk.extract(HTML, "https://h.example/")) for name, ask in ANSWERS.items()}


@given(st.permutations(sorted(ANSWERS)))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_no_answer_depends_on_what_was_asked_before(order: list[str]) -> None:
    result = dehusk.extract(HTML, "https://h.example/")
    for name in order + order[:3]:
        assert ANSWERS[name](result) == FIRST[name], name


def test_a_kept_answer_says_the_same_without_the_tree_that_it_was_rendered_from() -> None:
    site = dehusk.Site()
    kept = [
        site.add(HTML.replace("thing", f"thing {n}"), f"https://h.example/{n}") for n in range(3)
    ]
    before = [result.to_json() for result in kept[:2]]
    trees = [ref(result.tree) for result in kept]
    others = [dehusk.extract(HTML, "https://h.example/") for _ in range(10)]
    assert [tree() for tree in trees] == [None] * 3
    assert [result.to_json() for result in kept[:2]] == before
    assert kept[2].written_with(MarkdownSettings(links=Links.TEXT)).family == kept[1].family
    for name, ask in ANSWERS.items():
        assert ask(others[0]) == FIRST[name], name


def test_text_has_no_control_characters_and_words_beside_them_stay_apart() -> None:
    html = "<p>it\x80\x99s a\x1b\x07 b<p>\x1b<p>c<pre>x\x1by\fz</pre>"
    assert _written(html)[1] == "it s a b\nc\nxy z"


def test_the_title_of_a_callout_is_in_no_piece_of_the_code_before_it() -> None:
    code = "\n".join(f"line {number} of the code" for number in range(6))
    callout = (
        '<div class="admonition note"><p class=admonition-title>Note</p><p>Mind the wheel.</div>'
    )
    result = dehusk.extract(f"<main><pre><code>{code}</code></pre>{callout}</main>", keep="main")
    *before, last = result.pieces(15)
    assert before
    assert not any("Note" in piece.text + piece.markdown for piece in before)
    assert last.text == "Note\nMind the wheel."
    assert last.markdown == "> [!NOTE]\n> Mind the wheel."
