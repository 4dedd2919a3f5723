"""The tree against the parser's own, on pages that are hard to scan."""

from __future__ import annotations

import random

import numpy as np
import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk import _kernel, extract
from dehusk.errors import NotHtml, PageTooLarge, TooManyNodes, UsageError
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.settings import Limits
from pages_to_scan import HARD, HOSTILE, PIECES


def reference(document: turbohtml.Document) -> list[tuple[str, int, int, bool]]:
    """Name or text, depth, parent and 'is text' of every node, by the parser's own tree."""
    rows: list[tuple[str, int, int, bool]] = []
    root = document.root
    assert root is not None
    stack: list[tuple[turbohtml.Node, int, int]] = [(root, 0, -1)]
    while stack:
        node, depth, parent = stack.pop()
        if isinstance(node, turbohtml.Element):
            rows.append((node.tag, depth, parent, False))
            number = len(rows) - 1
            stack.extend((child, depth + 1, number) for child in reversed(list(node.children)))
        elif isinstance(node, turbohtml.Text) and node.data:
            rows.append((node.data, depth, parent, True))
        elif isinstance(node, turbohtml.DocumentFragment):
            stack.extend((child, depth, parent) for child in reversed(list(node.children)))
    return rows


def assert_same(tree: Tree, rows: list[tuple[str, int, int, bool]]) -> None:
    assert len(tree) == len(rows)
    for i, (name, depth, parent, is_text) in enumerate(rows):
        assert (tree.text(i) if tree.is_text[i] else tree.name(i)) == name
        assert (tree.depth[i], tree.parent[i], tree.is_text[i]) == (depth, parent, is_text)
    ends = list(range(1, len(rows) + 1))
    for i in range(len(rows) - 1, 0, -1):
        ends[rows[i][2]] = max(ends[rows[i][2]], ends[i])
    assert tree.end.tolist() == ends


@pytest.mark.parametrize("html", HARD.values(), ids=HARD.keys())
def test_the_tree_equals_the_parsers_own(html: str) -> None:
    parsed = parse(Page(html))
    assert_same(parsed.tree, reference(parsed.document))


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_the_tree_equals_the_parsers_own_on_any_mixture(html: str) -> None:
    parsed = parse(Page(html))
    assert_same(parsed.tree, reference(parsed.document))


def _node(tree: Tree, name: str) -> int:
    return next(i for i in range(len(tree)) if name in (tree.name(i), tree.text(i)))


def test_lengths_count_shown_characters_below_a_node() -> None:
    tree = parse(Page("<div>  h\xe9 &amp;&nbsp;o <a>li<b>nk</b></a></div><p hidden>no</p>")).tree
    assert tree.text_length[0] == len("hé &o") + len("li") + len("nk")
    assert tree.link_length[0] == len("link")
    assert tree.text_length[_node(tree, "p")] == 0


@pytest.mark.parametrize(
    ("html", "is_shown"),
    [
        ("<p hidden>x", False),
        ("<p hidden=until-found>x", True),
        ('<p class="y"" hidden>x', False),
        ('<p title="a hidden=b">x', True),
        ("<p class=hidden>x", True),
        ("<div hidden><p>x", False),
        ("<p> hidden= x<b>x", True),
        ("<noscript>x</noscript>", False),
        ("<template>x</template>", False),
        ("<script>x</script>", False),
        ("<video>x</video>", False),
        ("<textarea>x</textarea>", True),
        ("<p style='color: red; DISPLAY : none !important'>x", False),
        ("<p style=visibility:hidden>x", False),
        ("<table><tr style=visibility:collapse><td>x", False),
        ("<div style=display:none><p>x", False),
        ("<p style='display:none;display:block'>x", True),
        ("<p style='content: &quot;display:none&quot;'>x", True),
        ("<p style='--display:none; no-display:none'>x", True),
        ("<p data-style=display:none>x", True),
        ("<div style=display:none><p style=display:block>x", False),
        ("<p style='display:none !important; display:block'>x", False),
        ("<p style='display:none !important; display:block !important'>x", True),
        ("<p style='display:block;display:'>x", True),
        ("<p style='display:none;display:'>x", False),
        ("<p style='display:nonesuch'>x", True),
        ("<p style='\n\tDisplay\n:\n\tNONE\n'>x", False),
        ("<p style='display:/**/none/**/'>x", False),
        ("<p style='/* color:red; display:none */'>x", True),
        ("<p style='background: url(a;display:none)'>x", True),
        ("<p style='content: &quot;;display:none;&quot;'>x", True),
        ("<p style=\"content: ';display:none;'\">x", True),
        ("<p style='content: &quot;;display:none'>x", True),
        ("<p style='content: &quot;;&quot;;display:none'>x", False),
        ("<div style=visibility:hidden><p>x", False),
        ("<div style=visibility:hidden><p style=visibility:visible>x", True),
        ("<div style=visibility:hidden><p style=visibility:inherit>x", False),
        ("<div style=visibility:hidden><b style=visibility:visible>y</b><p>x", False),
        ("<div style=display:none><p style=visibility:visible>x", False),
        ("<details><summary>y</summary>x</details>", True),
        ("<p aria-hidden=true>x", True),
        ("<p popover>x", False),
        ("<datalist><option>x</datalist>", False),
        ("<dialog>x</dialog>", False),
        ("<dialog open>x</dialog>", True),
        ("<dialog open hidden>x</dialog>", False),
        ("<select><option>x</select>", False),
        ("<svg><title>x</title></svg>", False),
        ("<svg><desc>x</desc></svg>", False),
        ("<svg><text>x</text></svg>", True),
    ],
)
def test_only_what_a_browser_shows_is_shown(html: str, is_shown: bool) -> None:
    tree = parse(Page(f"<body><p>More than that.</p>{html}")).tree
    assert bool(tree.shown[_node(tree, "x")]) is is_shown


def test_what_is_seen_is_never_in_an_element_that_is_hidden() -> None:
    seen = "<b style=visibility:visible>x</b>"
    unseen = f"<i style=visibility:hidden>y{seen}<u>z</u></i>"
    tree = parse(Page(f"<p>{'Rye. ' * 9}<div style=visibility:hidden>{unseen}</div>")).tree
    shown = {tree.text(node) for node in np.flatnonzero(tree.is_text & tree.shown).tolist()}
    assert {"x", "y", "z"} & shown == {"x"}
    inner = np.flatnonzero(tree.shown[1:]) + 1
    assert tree.shown[tree.parent[inner]].all()


@pytest.mark.parametrize("hiding", ["hidden", "style=display:none", "style=visibility:hidden"])
@pytest.mark.parametrize("tag", ["html", "body"])
def test_inline_styles_do_not_hide_half_of_a_page(tag: str, hiding: str) -> None:
    page = parse(Page(f"<{tag} {hiding}><p>x</p><p hidden>no</p>")).tree
    assert page.shown[_node(page, "x")]
    assert not page.shown[_node(page, "no")]
    half = parse(Page("<p style=display:none>x</p><p>y</p>")).tree
    assert half.shown[_node(half, "x")]
    less = parse(Page("<p style=display:none>x</p><p>yy</p>")).tree
    assert not less.shown[_node(less, "x")]
    assert less.text_length[0] == 2


def test_noscript_in_a_page_that_scripts_reveal_is_weighed_as_in_any_other() -> None:
    text = "Text that scripts do not make. " * 20
    page = f"<body style=display:none><p>{text}</p><noscript><p>x</p>{text}</noscript>"
    tree = parse(Page(page)).tree
    assert tree.text_length[0] == len(text.strip())
    assert not tree.shown[_node(tree, "x")]


def test_noscript_is_shown_where_it_holds_nearly_all_of_the_page() -> None:
    thread = "<noscript><style>b{}</style><p>x</p><p>" + "A long answer. " * 20 + "</p></noscript>"
    bare = parse(Page(f"<div id=app>Loading</div>{thread}")).tree
    assert bare.shown[_node(bare, "x")]
    assert not bare.shown[_node(bare, "style")]
    full = parse(Page(f"<p>{'Text that scripts do not make. ' * 20}</p>{thread}")).tree
    assert not full.shown[_node(full, "x")]


def test_a_hash_of_text_ignores_white_space_at_its_ends_only() -> None:
    tree = parse(Page("<p>one two<p>\n  one two \t<p>one  two<p>one twp<p>two one")).tree
    hashes = tree.own_hash[tree.is_text]
    assert hashes[0] == hashes[1]
    assert len(set(hashes.tolist())) == 4


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab é🌾"), max_size=40), min_size=2, max_size=8))
def test_hashes_of_texts_are_equal_if_and_only_if_the_texts_are(texts: list[str]) -> None:
    tree = parse(Page("".join(f"<p>{text}</p>" for text in texts))).tree
    nodes = np.flatnonzero(tree.is_text)
    by_hash: dict[int, str] = {}
    for node in nodes.tolist():
        text = tree.text(node).strip(" ")
        assert by_hash.setdefault(int(tree.own_hash[node]), text) == text
    assert len(by_hash) == len(set(by_hash.values()))


def test_a_path_is_the_tags_above_and_not_the_positions() -> None:
    tree = parse(Page("<ul><li>a<li>b</ul><ol><li>c</ol>")).tree
    a, b, c = (int(tree.path_hash[_node(tree, text)]) for text in "abc")
    assert a == b != c


def test_escapes_count_as_one_character_but_not_in_raw_text() -> None:
    tree = parse(Page("<p>&amp;&lt;x</p><xmp>&amp;&lt;x</xmp>")).tree
    assert tree.text_length[_node(tree, "p")] == len("&<x")
    assert tree.text_length[_node(tree, "xmp")] == len("&amp;&lt;x")


def test_a_subtree_hash_is_the_same_wherever_the_subtree_stands() -> None:
    html = "<div><ul><li>a<li><b>c</b></ul></div><p>x</p><ul><li>a<li><b>c</b></ul><ul><li>a</ul>"
    tree = parse(Page(html)).tree
    first, second, third = tree.subtree_hash[[i for i in range(len(tree)) if tree.name(i) == "ul"]]
    assert first == second != third


def test_a_subtree_hash_knows_the_shape() -> None:
    tree = parse(Page("<ul><li>a</li><b>c</b></ul><ul><li>a<b>c</b></li></ul>")).tree
    first, second = tree.subtree_hash[[i for i in range(len(tree)) if tree.name(i) == "ul"]]
    assert first != second


def test_the_hashes_are_the_same_on_every_machine() -> None:
    tree = parse(Page("<p>Grain &amp; husk</p>")).tree
    node = _node(tree, "Grain & husk")
    found = [int(array[node]) for array in (tree.own_hash, tree.path_hash, tree.subtree_hash)]
    assert found == PINNED_HASHES


PINNED_HASHES = [10037867438045354508, 2175758052532359394, 15480974488885473887]


def test_attributes_are_read_as_the_parser_reads_them() -> None:
    html = "<a href='x?a=1&amp;b=2' title='\"<q>\"' data-x disabled \"y=1 a<b=c>z"
    parsed = parse(Page(html))
    element = parsed.document.select_one("a")
    assert element is not None
    node = _node(parsed.tree, "a")
    assert parsed.tree.attributes(node) == {k: v or "" for k, v in element.attrs.items()}


@pytest.mark.parametrize("limit", [20, 512])
def test_what_is_deeper_than_the_limit_becomes_siblings(limit: int) -> None:
    tree = parse(Page("<div>" * 2000 + "x"), Limits(max_depth=limit)).tree
    assert tree.depth.max() == limit
    at_limit = np.flatnonzero(tree.depth == limit)
    assert len(set(tree.parent[at_limit].tolist())) == 1
    assert (tree.end[at_limit] == at_limit + 1).all()
    assert tree.text(len(tree) - 1) == "x"


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("<p>caf\xe9".encode(), None, "café"),
        (b"<p>caf\xe9", None, "café"),
        (b"<meta charset=windows-1251><p>\xe4\xe0", None, "да"),
        (b"<p>\xe4\xe0", "windows-1251", "да"),
        (b"<p>caf\xe9", "no-such-charset", "café"),
        (b"<p>caf\xe9", "\ud83d", "café"),
        (b"\xef\xbb\xbf<meta charset=latin1><p>caf\xc3\xa9", "latin1", "café"),
        ("<p>caf\xe9".encode("utf-16"), None, "café"),
        (b"<meta charset=shift_jis><p>\x82\xa0", None, "あ"),
    ],
)
def test_bytes_are_decoded_as_browsers_do(data: bytes, charset: str | None, text: str) -> None:
    tree = parse(Page(data, charset=charset)).tree
    assert tree.text(len(tree) - 1) == text


@pytest.mark.parametrize("name", ["site", "charset"])
def test_a_site_or_charset_that_is_no_text_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"a page's {name} is str, not int"):
        Page("<p>Rye", **{name: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "html", [b"%PDF-1.7\n...", b"\x89PNG\r\n\x1a\n" + bytes(99), bytes(500), "\0\x01\x02" * 9]
)
def test_binary_data_is_refused(html: bytes | str) -> None:
    with pytest.raises(NotHtml) as caught:
        parse(Page(html, "https://a.example/x"))
    assert caught.value.url == "https://a.example/x"
    assert "binary" in caught.value.reason


def test_a_stray_control_character_does_not_make_a_page_binary() -> None:
    assert parse(Page(b"<p>\x0bhello\x01" + b" there" * 20)).tree.text_length[0] > 0


@pytest.mark.parametrize(
    "html",
    [
        b"<!DOCTYPE html><p>" + b"\x00\x01 Harvest" * 30,
        b"\xef\xbb\xbf\n<html><body>" + bytes(400) + b"Harvest",
        "<p>" + "\x0b\x01" * 9 + "Harvest",
        b"Harvest of the year\x0b\x0b\x0b\x0b\x0b\x0b in plain text",
    ],
)
def test_a_page_with_some_control_characters_is_read(html: bytes | str) -> None:
    assert "Harvest" in extract(html).text


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_binary(seed: int) -> None:
    with pytest.raises(NotHtml):
        parse(Page(random.Random(seed).randbytes(3000)))


@pytest.mark.parametrize("html", ["é" * 600, b"x" * 1001])
def test_a_page_over_the_limit_of_bytes_is_refused(html: str | bytes) -> None:
    with pytest.raises(PageTooLarge, match="more than 1000"):
        parse(Page(html), Limits(max_bytes=1000))


@pytest.mark.parametrize("html", ["<p>x" * 51, "<br>" * 200])
def test_a_page_over_the_limit_of_nodes_is_refused(html: str) -> None:
    with pytest.raises(TooManyNodes, match="more than 100"):
        parse(Page(html), Limits(max_nodes=100))


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_page_gives_a_tree_or_a_refusal(html: str) -> None:
    try:
        tree = parse(Page(html)).tree
    except TooManyNodes:
        return
    assert len(tree) >= 3
    assert (tree.parent[1:] < np.arange(1, len(tree))).all()


_MARKUP = st.sampled_from(
    [b"<", b">", b"</", b"<!--", b"-->", b"<script", b"</script>", b"<pre>\n", b"<svg>", b"<br>",
     b"<plaintext>", b" a=\"", b"\"", b" hidden=", b"&", b"&nbsp;", b"\xe2\x82", b"x" * 20, b" "]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=500)
@given(
    st.lists(_MARKUP | st.binary(max_size=9), max_size=30).map(b"".join),
    st.sampled_from((1, 3, 512)),
)
def test_bytes_that_are_no_canonical_html_still_give_a_tree(source: bytes, depth: int) -> None:
    lengths = np.array([5, -1, 2**62], np.int64).tobytes()
    tree = Tree(_kernel.scan(source, depth, lambda: (b"\0\1", b"\1\0", b"\0\1", lengths)))
    order = np.arange(len(tree))
    assert (tree.parent < order).all()
    assert ((tree.end > order) & (tree.end <= len(tree))).all()
    assert ((tree.parent >= 0) | (order == 0) | (tree.depth == 0)).all()
    places = np.array((0 * tree.start, tree.start, tree.stop, tree.close))
    assert (np.diff(places, axis=0) >= 0).all()
    assert (tree.close <= len(source)).all()
    assert (tree.depth <= depth).all()


def test_the_kernel_refuses_what_is_no_page() -> None:
    for depth in (0, 513, 2**40):
        with pytest.raises(ValueError, match="depth"):
            _kernel.scan(b"<p>", depth, _unasked)
    with pytest.raises(TypeError):
        _kernel.scan("<p>", 512, _unasked)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _kernel.scan(b"<svg><script>", 512, lambda: (b"",))  # type: ignore[arg-type, return-value]
    with pytest.raises(ZeroDivisionError):
        _kernel.scan(b"<svg><script>", 512, lambda: 1 // 0)  # type: ignore[arg-type, return-value]


def _unasked() -> tuple[bytes, bytes, bytes, bytes]:
    raise AssertionError("nothing in this page needs the parser")


def test_nobody_can_write_to_a_tree() -> None:
    tree = parse(Page("<p>x")).tree
    with pytest.raises(ValueError, match="read-only"):
        tree.parent[0] = 3
    with pytest.raises(TypeError):
        tree.kernel.parent[0] = 3


def test_an_array_of_a_tree_outlives_it() -> None:
    kernel = _kernel.scan(b"<p>x</p>", 512, _unasked)
    parent = kernel.parent
    del kernel
    assert parent.tolist() == [-1, 0]


def test_what_is_made_of_a_tree_is_made_once_and_kept_with_it() -> None:
    made: list[int] = []

    def make(tree: Tree) -> list[int]:
        made.append(len(tree))
        return made

    tree, other = (parse(Page(f"<p>{text}")).tree for text in ("a", "b"))
    assert tree.once(make) is tree.once(make)
    assert other.once(make) == [len(tree), len(other)]


def test_sums_are_over_a_node_and_all_below_it() -> None:
    tree = parse(Page("<body><p>Hi <b>you</b></p>ho")).tree
    names = [tree.name(node) for node in range(len(tree))]
    assert names == ["html", "head", "body", "p", "#text", "b", "#text", "#text"]
    assert tree.sums(tree.is_text).tolist() == [3, 0, 3, 2, 1, 1, 1, 1]
    assert tree.sums(np.full(len(tree), 0.5)).tolist() == [4, 0.5, 3, 2, 0.5, 1, 0.5, 0.5]
