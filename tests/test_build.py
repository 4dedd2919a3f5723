"""Trees that the kernel builds while it reads a page, against those of the parser."""

from __future__ import annotations

import codecs
import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from dehusk import _kernel
from dehusk.errors import TooManyNodes
from dehusk.page import document
from dehusk.page import parse as parsing
from dehusk.page.document import scanned
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.settings import Limits
from soup import tag_soup

SOUPS = 2000
"""Pages of tag soup for each seed."""


def built(html: str | bytes) -> Any:
    """The kernel's own tree; None if the parser has to build it."""
    return parsing._built(Page(html), Limits())


def by_parser(page: Page) -> Any:
    return scanned(page, Limits())


def assert_same(one: Any, other: Any) -> None:
    assert one.source == other.source
    for name in (
        "own_hash",
        "path_hash",
        "parent",
        "end",
        "tag",
        "start",
        "close",
        "text_length",
        "raw",
    ):
        assert np.array_equal(np.asarray(getattr(one, name)), np.asarray(getattr(other, name))), (
            name
        )


@pytest.mark.parametrize("seed", range(5))
def test_tag_soup_gives_the_tree_of_the_parser(seed: int) -> None:
    chance, count = random.Random(seed), 0
    for _ in range(SOUPS):
        html = tag_soup(chance)
        tree = built(html)
        if tree is not None:
            count += 1
            assert_same(tree, by_parser(Page(html)))
    assert count > SOUPS / 3


_XHTML = (
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN"\n"http://www.w3.org/TR/xhtml1/x">'
)


@pytest.mark.parametrize(
    "html",
    [
        "",
        "Rye",
        "<title>Rye &amp; oats</title><p>Sown<p>in<b> autumn<p>again</b>",
        "<ul><li>one<li>two<ul><li>three</ul></ul><dl><dt>a<dd>b<dt>c</dl>",
        "<table><caption>C<tr><td>1<th>2<tr><td>3<tfoot><tr><td>4</table>",
        "<table><form></form><colgroup><col><tr><td></table>",
        "<form><div></form>in</div>out",
        "<a>one<a>two</a><nobr>a<nobr>b<button>c<button>d",
        "<select><option>a<optgroup><option>b<option>c<hr></select><input>",
        "<svg viewbox='0 0 1 1'><lineargradient/><style>a{}</style><title>t<i>i</i></title></svg>",
        "<math definitionurl=x><mi>x</mi><mtext>a<b>b</b></mtext></math>",
        "<pre>\n\ncode</pre><textarea>\n\nx</textarea><pre>&#10;&#10;y</pre>",
        "<script>a<!--<script>b</script>c--></script><style></style >",
        "<noscript><link></noscript></head> <meta> <!--c--><body>",
        "x<body class=a><html lang=en>",
        "<p></body>more</html> <!--end-->and more<!--still in the body-->",
        "a\r\nb\rc&nbsp;\xa0&copy;&copy &euro; &#x80;&#55296;",
        "<a href='?a=1&copy=2&amp;b' title='&quot;\"'>",
        "<p><b><b><b><b>x<p>y</b>z",
        "</div><!DOCTYPE html><p><table>",
        _XHTML + "<p><table>",
        "<h1><object></h1></object><h2></h1>x",
        "<template><p>x<li></template><table><template><tr-x></template></table>",
        "<object><p><b></object>x<ruby>a<rt>b<rp>c</ruby>",
    ],
)
def test_the_kernel_builds_what_nothing_has_to_be_moved_in(html: str) -> None:
    tree = built(html)
    assert tree is not None
    assert_same(tree, by_parser(Page(html)))


@pytest.mark.parametrize(
    "html",
    [
        "<b><p>x</b>y",
        "<a><div><a>x",
        "<table>x<tr><td>",
        "<table><div>",
        "<table><input type=hidden>",
        "<svg><p>",
        "<template><tr></template>",
        "<frameset>",
        "<plaintext>",
        "<p>&CounterClockwiseContourIntegral;",
        "a\0b",
        "<p>\udcff",
        "<div>" * 600,
        "<p " + " ".join(f"a{n}" for n in range(100)) + ">",
        "<!--never ends",
        "<video><isindex></video>y",
        "<math><mi><mglyph/></mi></math>x",
        "<select><button><selectedcontent></selectedcontent></button><option>Rye</select>",
        "<p><?_a ?>x",
    ],
)
def test_what_has_to_be_moved_is_left_to_the_parser(html: str) -> None:
    assert built(html) is None
    assert parse(Page(html)).tree.source == by_parser(Page(html)).source


_LATIN = "<meta charset=iso-8859-1><p>é".encode("latin-1")
_LATE = b"<!--" + b"-" * 2000 + b"-->"
_EQUIVALENT = b"<meta http-equiv=content-type content='text/html; charset=%s'>"


@pytest.mark.parametrize(
    ("html", "charset", "text"),
    [
        ("<p>é".encode(), None, "é"),
        ("<p>é".encode(), "UTF-8", "é"),
        (codecs.BOM_UTF8 + "<p>é".encode(), None, "é"),
        (codecs.BOM_UTF8 + "<p>é".encode(), "latin1", "é"),
        ("<p>é".encode("utf-16"), None, "é"),
        (_LATIN, None, "é"),
        (_LATE + _LATIN, None, "é"),
        ("<meta charset=utf-8><p>é".encode(), None, "é"),
        (b"<meta charset=koi8-r><p>\xc3\xa9", None, "ц╘"),
        (_LATE + b"<meta charset=koi8-r><p>\xc3\xa9", None, "ц╘"),
        (_LATE + _EQUIVALENT % b"koi8-r" + b"<p>\xc3\xa9", None, "ц╘"),
        (_LATE + _EQUIVALENT % b"utf-8" + b"<p>\xc3\xa9", None, "é"),
        (b"<script>'<meta charset=koi8-r>'</script><p>\xc3\xa9", None, "ц╘"),
        (_EQUIVALENT.replace(b"char", b"&#99;har") % b"koi8-r" + b"<p>\xc3\xa9", None, "ц╘"),
        (b"<p>\xe9", None, "é"),
    ],
)
def test_bytes_are_decoded_as_the_parser_does(html: bytes, charset: str | None, text: str) -> None:
    page = Page(html, charset=charset)
    tree = parse(page).tree
    assert tree.source == by_parser(page).source
    assert tree.text(len(tree) - 1) == text


@pytest.mark.parametrize(
    "html",
    [
        b"<meta charset=utf-8><p>\xc3\xa9",
        b'<meta charset="utf-8"><p>\xc3\xa9',
        b"<meta charset='UTF-8' /><p>\xc3\xa9",
        _EQUIVALENT % b"UTF-8" + b"<p>\xc3\xa9",
        b"<meta name=description content='Rye &amp; oats'><p>\xc3\xa9",
        b"<p>\xc3\xa9",
    ],
)
def test_the_kernel_builds_pages_that_are_utf_8(html: bytes) -> None:
    tree = built(html)
    assert tree is not None
    assert_same(tree, by_parser(Page(html)))


def test_too_many_elements_are_refused_before_their_nodes_are_made() -> None:
    with pytest.raises(TooManyNodes):
        parse(Page("<p>" * 1000), Limits(max_nodes=500))
    for tag in (b"<p>", b"<br>", b"x</p>", b"<table><td></table>"):
        assert _kernel.build(tag * 1000, 512, 500, True) is None


@pytest.mark.parametrize(
    "arguments",
    [
        (None, 512, 9, True),
        (bytearray(b"x"), 512, 9, True),
        (1, 512, 9, True),
        (b"x", 0, 9, True),
        (b"x", 513, 9, True),
        (b"x", 512, -1, True),
        (b"x", 512, 9),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        _kernel.build(*arguments)


_ENDS = (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0)


@pytest.mark.parametrize("before", [b"", b"<p>seven or more plain letters"])
@pytest.mark.parametrize(
    "first", [0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF]
)
def test_bytes_are_built_where_python_reads_them_as_utf_8(first: int, before: bytes) -> None:
    for size in range(4):
        for rest in product(_ENDS, repeat=size):
            page = before + bytes([first, *rest])
            try:
                page.decode()
                is_utf_8 = True
            except UnicodeDecodeError:
                is_utf_8 = False
            assert (_kernel.build(page, 512, 99, True) is not None) == is_utf_8, page


@pytest.mark.parametrize("fill", ["a", "ä", "„", "𝕏"])
@pytest.mark.parametrize("size", [0, 1, 447, 448, 449, 3000])
def test_a_text_is_built_as_its_bytes(fill: str, size: int) -> None:
    for page in ("x" * size + fill, fill * size, "\ufeff" + fill + "é" * size, fill + "\ufeff"):
        of_text = _kernel.build(page, 512, 99, True)
        of_bytes = _kernel.build(page.encode(), 512, 99, True)
        assert of_text is not None
        assert of_bytes is not None
        assert of_text.source == of_bytes.source
        assert page.removeprefix("\ufeff") in of_text.source.decode()


@pytest.mark.parametrize("page", ["\ud83d", "a" * 1000 + "\udfff" + "é"])
def test_half_of_a_pair_is_for_the_parser(page: str) -> None:
    assert _kernel.build(page, 512, 99, True) is None
    assert parse(Page(page)).tree.text(3)


def test_the_source_outlives_its_tree() -> None:
    tree = _kernel.build("<p>rye " * 1000, 512, 9999, True)
    assert tree is not None
    source = tree.source
    assert source is tree.source
    del tree
    assert source.count(b"<p>rye ") == 1000


LONG = '{"a": "&amp; ' + "plenty, " * 130_000 + '"}'
MOVED = "<a href=/x>one<div>two<a href=/y>three</a></div></a>"


@pytest.mark.parametrize(
    ("html", "is_short"),
    [
        (f"<body>{MOVED}<script type=x>{LONG}</script><p>Rye<script>{LONG}é</script>oats", True),
        (f"<body>{MOVED}<table><script>{LONG}</script><tr><td>Rye</table>", True),
        (f"{MOVED}<svg><script>{LONG}</script></svg><p>Rye", False),
        (f"{MOVED}<!-- <script>{LONG}</script> --><p>Rye", False),
        (f"{MOVED}<script><!-- <script>--> {LONG}</script> --></script><p>Rye", False),
        (f"{MOVED}<textarea><script>{LONG}</script></textarea><p>Rye", False),
        (f'{MOVED}<p title="<script>{LONG}</script>">Rye', False),
        (f"{MOVED}<template><script>{LONG}</script></template><p>Rye", True),
        (f"{MOVED}<script>{LONG}\ud800</script><p>Rye", False),
        (f"{MOVED}<script>{LONG}</script><p>dehusk-script-0", False),
        (f"{MOVED}<svg><style>a<b</style></svg><script>{LONG}</script><p>Rye", True),
    ],
)
def test_the_parser_gets_long_scripts_by_name_and_the_tree_has_them(
    html: str, is_short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(html)
    assert (document._read_short(page) is not None) is is_short
    tree = by_parser(page)
    monkeypatch.setattr(document, "_read_short", lambda page: None)
    assert_same(tree, by_parser(page))
