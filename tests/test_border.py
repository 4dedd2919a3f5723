"""The border between Python and the kernel: names that are typed, and nothing else gets across."""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path

import msgspec
import numpy as np
import pytest

from dehusk import _kernel
from dehusk.answer.text import links
from dehusk.output.formats import encode
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.urls import base_of

ROOT = Path(__file__).parent.parent
STUB = ast.parse((ROOT / "src" / "dehusk" / "_kernel.pyi").read_text("utf-8"))
_SILENT = _kernel.Lexicon(b"", b"", b"", b"")
LIST = (ROOT / "src" / "kernel" / "tags.def").read_text("utf-8")


def _typed(body: list[ast.stmt]) -> set[str]:
    """The names that a stub defines: functions, classes, and what has a type."""
    found = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    annotated = [node.target for node in body if isinstance(node, ast.AnnAssign)]
    return found | {target.id for target in annotated if isinstance(target, ast.Name)}


def test_what_is_typed_of_the_kernel_is_what_it_has() -> None:
    found = {name for name in dir(_kernel) if not name.startswith("__")}
    assert found == _typed(STUB.body)


@pytest.mark.parametrize(
    "typed", [node for node in STUB.body if isinstance(node, ast.ClassDef)], ids=lambda c: c.name
)
def test_what_is_typed_of_an_object_is_what_it_has(typed: ast.ClassDef) -> None:
    found = {name for name in dir(getattr(_kernel, typed.name)) if not name.startswith("__")}
    assert found == {name for name in _typed(typed.body) if not name.startswith("__")}


@pytest.mark.slow
def test_a_call_of_what_the_kernel_has_not_is_an_error_of_types(tmp_path: Path) -> None:
    written = tmp_path / "calls.py"
    written.write_text(
        "from dehusk import _kernel\n"
        "from dehusk.page.tree import Tree\n"
        "def right(tree: Tree) -> list[int]:\n"
        "    return _kernel.tagged(tree.kernel, 3)\n"
        "def misspelt(tree: Tree) -> list[int]:\n"
        "    return _kernel.taged(tree.kernel, 3)\n"
        "def mistaken(tree: Tree) -> list[int]:\n"
        "    return _kernel.tagged(tree, 3)\n",
        "utf-8",
    )
    # In the folder of the repository, so that it need not read again what `make lint` has read.
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", str(written)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = re.findall(r"calls\.py:(\d+): error: .*\[([a-z-]+)\]", ran.stdout)
    assert {("6", "attr-defined"), ("8", "arg-type")} <= set(errors)
    assert {line for line, _ in errors} == {"6", "8"}


def _nothing() -> tuple[bytes, bytes, bytes, bytes]:
    """What a parser says of a page without SVG and scripts."""
    return b"", b"", b"", b""


def _markdown(
    tree: _kernel.Tree, language: Callable[[bytes, bool], str | None] = lambda _tag, _around: None
) -> str:
    labels = np.zeros(len(tree), np.int8)
    written = _kernel.markdown(
        tree, labels, str, language, lambda _: 4, b"", b"", b"", b"", b"", b"", (0, 0, 0, 0)
    )
    assert isinstance(written, str)
    return written


def _listed() -> list[tuple[str, str]]:
    """The names of the list, and their sets."""
    found = re.findall(r'^(?:TAG\((\w+)|CUSTOM\(\w+, "([^"]+)"), (.+)\)$', LIST, re.MULTILINE)
    return [(plain or custom, sets) for plain, custom, sets in found]


def test_every_tag_has_the_number_of_its_place_in_the_list() -> None:
    listed = _listed()
    assert ("#text", "#other", *(name for name, _ in listed)) == tags.NAMES
    assert len(set(tags.NAMES)) == len(tags.NAMES)
    for place, name in enumerate(tags.NAMES[2:], 2):
        scanned = _kernel.scan(f"<{name}>".encode(), 512, _nothing)
        assert scanned.tag.tolist() == [place]


def test_a_set_has_the_tags_that_the_list_puts_into_it() -> None:
    listed = _listed()
    assert list(_kernel.TAG_SETS) == re.findall(r"^SET\((\w+)\)", LIST, re.MULTILINE)
    for name, members in _kernel.TAG_SETS.items():
        expected = [tag for tag, sets in listed if f"SET_{name}" in sets.split(" | ")]
        assert [tag for tag in members if tag != "#other"] == expected


def test_numbers_of_tags_stay_as_they_are() -> None:
    """Trees that somebody kept tell tags by number: a new name comes last."""
    assert [tags.NUMBERS[name] for name in ("a", "div", "h1", "p", "table", "xmp")] == [
        2, 39, 52, 94, 124, 143,
    ]  # fmt: skip


def test_the_kernel_takes_nothing_but_its_own_trees() -> None:
    tree = parse(Page("<p>x")).tree
    labels = np.zeros(len(tree), np.int8)
    none = (b"", b"")
    asked: tuple[tuple[Callable[..., object], tuple[bytes, ...]], ...] = (
        (_kernel.text, none), (_kernel.lines, none),
    )  # fmt: skip
    for ask, more in asked:
        with pytest.raises(TypeError, match="not an object of"):
            ask(tree, labels, *more)
        with pytest.raises(ValueError, match="not one of the tree's nodes"):
            ask(tree.kernel, labels[1:], *more)
        with pytest.raises(TypeError, match=r"takes \d arguments"):
            ask(tree.kernel)
    with pytest.raises(ValueError, match="do not fit the tree"):
        _kernel.text(
            tree.kernel, labels, np.array([9, 99, -1, -1, 0, 1, 0], np.int32).tobytes(), b"x"
        )
    with pytest.raises(ValueError, match="not one of the tree's nodes"):
        _kernel.label(tree.kernel, np.zeros(1))
    with pytest.raises(TypeError, match="not an object of"):
        _kernel.visible(tree)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _kernel.tagged(tree.kernel, "p")  # type: ignore[arg-type]
    for node in (-1, 99):
        with pytest.raises((IndexError, OverflowError)):
            _kernel.heading(tree.kernel, node)
    with pytest.raises(TypeError):
        _kernel.links(tree.kernel, labels, (b"", b""), str)  # type: ignore[arg-type]


def test_the_kernel_refuses_rows_and_lines_of_another_shape() -> None:
    ones, types = np.ones(2), [0.5] * 7
    with pytest.raises(ValueError, match="size"):
        _kernel.confidence_features(ones, ones[1:], ones, types, 0.5, 0)
    with pytest.raises(IndexError):
        _kernel.confidence_features(ones, ones, ones, types[1:], 0.5, 0)
    with pytest.raises(TypeError):
        _kernel.confidence_features(ones, ones, ones, types, "x", 0)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _kernel.one_line("{}")  # type: ignore[arg-type]
    table = _kernel.Table.of_page(np.array([7], np.uint64), sums=np.array([[3, 4]], np.uint64))
    assert (table.row(7), table.row(8)) == ((1, 3, 4), None)
    with pytest.raises(OverflowError):
        table.row(-1)
    with pytest.raises(TypeError):
        table.row("x")  # type: ignore[arg-type]


def test_the_kernel_refuses_a_forest_that_is_none() -> None:
    ones, weights = np.ones(2, np.int32), np.ones(2)
    with pytest.raises(ValueError, match="no tree"):
        _kernel.smooth(1.0, ones, ones, ones, weights, weights, weights)
    with pytest.raises(ValueError, match="size"):
        _kernel.smooth(1.0, ones, ones, ones, weights, weights[1:], weights)


def test_what_is_no_json_is_written_as_it_is() -> None:
    for written in (b"", b'"', b'\\"', b'"\\"', b"\xc2", b'"\xe2\x80'):
        assert _kernel.one_line(written) == written + b"\n"
    assert _kernel.one_line("[\u2028".encode() + b'",1]') == b'[\\u2028", 1]\n'


def test_a_tree_without_nodes_is_no_trouble() -> None:
    tree = _kernel.scan(b"", 512, _nothing)
    labels = np.zeros(0, np.int8)
    assert (len(tree), _kernel.text(tree, labels, b"", b"")) == (0, ("", True))
    assert _kernel.lines(tree, labels, b"", b"") == []
    assert (_kernel.visible(tree), _kernel.tagged(tree, 2)) == (bytearray(), [])
    assert _kernel.label(tree, np.zeros(0)) == (bytearray(), bytearray())
    assert _kernel.holders(tree) == ([], False)
    assert _kernel.links(tree, labels, (b"", b"", b""), str) == b"[]"
    assert _kernel.stated(tree, b"", 5, 300, 9) == ([], [], [], [], "", [])
    assert _kernel.marked(tree, labels, b"", b"", b"", b"", -1, False, 7, 9, 9) == []


def test_an_opinion_belongs_to_its_page() -> None:
    first, second = (
        _kernel.read(
            _kernel.scan(f"<html><body><{tag}>a text</{tag}>".encode(), 512, _nothing), _SILENT
        )
        for tag in ("p", "section")
    )
    own, other = (_kernel.opinion_of_logits(each, np.zeros(1)) for each in (first, second))
    assert len(_kernel.site_features(first, own, own.lesson, 1, np.zeros(7)))
    with pytest.raises(ValueError, match="another page"):
        _kernel.site_features(first, other, own.lesson, 1, np.zeros(7))


_ODD = [
    *map(chr, range(1, 0x80)),
    *("é", "„", "𝕏", "한", "\ud7ff", "\ud800", "\udc00", "\udfff", "\ue000"),
]


def test_links_are_written_as_any_writer_of_json_does() -> None:
    rng = random.Random(7)
    for _ in range(500):
        words, address = ("".join(rng.choices(_ODD, k=rng.randint(0, 9))) for _ in "ab")
        tree = parse(Page(f"<a href='/{escape(address)}'>{escape(words)}</a>")).tree
        labels = np.zeros(len(tree), np.int8)
        page = "https://site.example/" + "".join(rng.choices(_ODD[-9:], k=rng.randint(0, 4)))
        base = base_of(tree, page)
        written = _kernel.links(tree.kernel, labels, base.begins(), base.absolute)
        (link,) = links(tree, labels, page)
        assert link.url == encode(base.absolute(f"/{encode(address).decode()}") or "").decode()
        fields = {"url": link.url, "text": link.text, "template": False}
        assert written == msgspec.json.encode([fields])
        shown = re.sub("[\x01-\x1f\x7f]", " ", encode(words).decode())
        assert link.text == " ".join(shown.split())


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("\ud83d\ude00", "😀"),
        ("\ud83d", "\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("a\ud83d\ud83d\ude00b", "a\ufffd😀b"),
        ("\ud7ff\ue000", "\ud7ff\ue000"),
    ],
)
def test_halves_of_pairs_in_addresses_become_characters(given: str, written: str) -> None:
    tree = _kernel.scan(b'<a href="a b">x</a>', 512, _nothing)
    found = _kernel.links(tree, np.zeros(len(tree), np.int8), (b"", b"", b""), lambda _: given)
    assert msgspec.json.decode(found) == [{"url": written, "text": "x", "template": False}]


def test_an_address_that_is_asked_about_may_lead_nowhere_or_fail() -> None:
    tree = _kernel.scan(b'<a href="a b">x</a><a href="/c">y</a>', 512, _nothing)
    labels, begins = np.zeros(len(tree), np.int8), (b"https://h", b"", b"")
    only = b'[{"url":"https://h/c","text":"y","template":false}]'
    assert _kernel.links(tree, labels, begins, lambda _: None) == only
    with pytest.raises(ZeroDivisionError):
        _kernel.links(tree, labels, begins, lambda _: str(1 // 0))
    with pytest.raises(TypeError, match="neither a str nor None"):
        _kernel.links(tree, labels, begins, lambda _: 7)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    "html", ["<li>x</li>", "<td><pre>1</pre></td>", "<td>x</td>", "<title>a title of words</title>"]
)
def test_a_page_may_have_several_roots(html: str) -> None:
    tree = _kernel.scan(f"<p>a</p>{html}".encode(), 512, _nothing)
    assert tree.parent.tolist().count(-1) > 1
    assert len(_kernel.read(tree, _SILENT)) >= 1
    assert _markdown(tree).startswith("a")


def test_a_table_of_small_letters_cannot_make_more_words_than_bytes() -> None:
    small = np.arange(0x3000, dtype=np.uint16)
    small[0xC0] = 0x4E00
    letters = bytes([1]) * 0x3000
    assert _kernel.words("aÀ".encode() * 1000, letters, small.tobytes()) is None


def test_nothing_more_is_asked_once_a_question_failed() -> None:
    asked = []

    def interrupt(tag: bytes, is_around: bool) -> str | None:
        asked.append(tag)
        raise KeyboardInterrupt

    html = b'<html><body class="a"><div class="b"><pre class="c"><code class="d">x = 1</code>'
    with pytest.raises(KeyboardInterrupt):
        _markdown(_kernel.scan(html, 512, _nothing), interrupt)
    assert len(asked) == 1


def test_an_array_of_other_numbers_is_refused() -> None:
    tree = _kernel.scan(b"<p>x", 512, _nothing)
    one, keys = np.zeros(1, np.int32), np.arange(2, dtype=np.uint64)
    calls: list[Callable[[], object]] = [
        lambda: _kernel.label(tree, np.zeros(len(tree), np.int64)),
        lambda: _kernel.Table().counts_of(np.zeros(3, np.int32)),
        lambda: _kernel.Table(keys.astype(np.float64), one, one),  # type: ignore[arg-type]
        lambda: _kernel.Table.of_page(keys.astype(np.float32)),
        lambda: _kernel.smooth(1.0, one, one, one, np.ones(1), np.ones(1), b"12345678x"),  # type: ignore[arg-type]
        lambda: _kernel.words(b"a", b"a", b"abc"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="an array of"):
            call()


@pytest.mark.parametrize("pages", [-1, 1 << 32])
def test_a_number_of_pages_does_not_wrap(pages: int) -> None:
    table = _kernel.Table.of_page(np.arange(2, dtype=np.uint64))
    with pytest.raises(ValueError, match="number of pages"):
        table.then(table, pages)
    with pytest.raises(ValueError, match="number of pages"):
        _kernel.Table.of_page(table.keys, pages)
    assert not _kernel.is_template_new({"segments": table}, -(1 << 63))
