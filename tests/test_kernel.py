"""The compiled kernel and its twins: the same bytes, whatever the page."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from functools import partial
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk.parse as parsing
from dehusk.kernel import KERNEL, NO_EXTENSIONS
from dehusk.model import Page
from dehusk.parse import compiled
from dehusk.parse.nodes import build
from dehusk.parse.tokens import KNOWN_HASHES, KNOWN_NUMBERS, Text, find_tokens
from dehusk.samples import KINDS, sample_site
from pages_to_scan import HARD, HOSTILE, PIECES


def _kernel() -> ModuleType:
    """The kernel, or a skipped test where it was not built; CI must build it."""
    if KERNEL is None:
        if os.environ.get("CI") and not os.environ.get(NO_EXTENSIONS):
            pytest.fail("the kernel was not built")
        pytest.skip("the kernel was not built, or is switched off")
    return KERNEL


def assert_same_arrays(one: object, other: object) -> None:
    """Two dataclasses of arrays are the same, byte for byte."""
    for field in fields(one):  # type: ignore[arg-type]
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype, field.name
            assert mine.tobytes() == theirs.tobytes(), field.name
        else:
            assert mine == theirs, field.name


def assert_same_tree(html: str, max_depth: int = 512) -> None:
    document, source = parsing._read(Page(html))
    foreign = partial(parsing._foreign, document)
    written = Text(source)
    twin = build(written, find_tokens(written, foreign()), max_depth, None)
    assert_same_arrays(compiled.scan(_kernel(), source, foreign, max_depth, None), twin)


@pytest.mark.parametrize("html", HARD.values(), ids=HARD.keys())
def test_the_kernel_gives_the_twins_tree_on_hard_pages(html: str) -> None:
    assert_same_tree(html)


@pytest.mark.parametrize("html", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_kernel_gives_the_twins_tree_on_hostile_pages(html: str) -> None:
    assert_same_tree(html)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from((3, 7, 512)))
def test_the_kernel_gives_the_twins_tree_on_any_mixture(html: str, max_depth: int) -> None:
    assert_same_tree(html, max_depth)


def test_the_kernel_gives_the_twins_tree_on_sample_sites() -> None:
    for kind in KINDS:
        for page in sample_site(kind, pages=2):
            assert_same_tree(str(page.page.html))


def _scan(source: bytes, *more: bytes) -> bytearray | None:
    memory: bytearray | None = _kernel().scan(
        512, source, KNOWN_NUMBERS, KNOWN_HASHES, compiled._KINDS, *more
    )
    return memory


_MARKUP = st.sampled_from(
    [b"<", b">", b"</", b"<!--", b"-->", b"<script", b"</script>", b"<pre>\n", b"<svg>", b"<br>",
     b"<plaintext>", b" a=\"", b"\"", b" hidden=", b"&", b"&nbsp;", b"\xe2\x82", b"x" * 20, b" "]
)  # fmt: skip


@settings(max_examples=500)
@given(st.lists(_MARKUP | st.binary(max_size=9), max_size=30).map(b"".join))
def test_bytes_that_are_no_canonical_html_still_give_a_tree(source: bytes) -> None:
    lengths = np.array([5, -1, 2**62], np.int64).tobytes()
    memory = _scan(source)
    if memory is None:
        memory = _scan(source, b"\0\1", b"\1\0", lengths)
    assert memory is not None
    count = len(memory) // compiled._NODE_BYTES
    offset = 16 * count
    parent, end = np.frombuffer(memory, np.int32, 2 * count, offset).reshape(2, -1)
    order = np.arange(count)
    assert (parent < order).all()
    assert ((end > order) & (end <= count)).all()


def test_the_kernel_refuses_tables_that_do_not_fit() -> None:
    kernel = _kernel()
    for arguments in (
        (512, b"<p>", b"", KNOWN_HASHES, compiled._KINDS),
        (512, b"<p>", KNOWN_NUMBERS, KNOWN_HASHES, compiled._KINDS[:-1]),
        (0, b"<p>", KNOWN_NUMBERS, KNOWN_HASHES, compiled._KINDS),
        (2**40, b"<p>", KNOWN_NUMBERS, KNOWN_HASHES, compiled._KINDS),
    ):
        with pytest.raises(ValueError, match="scan"):
            kernel.scan(*arguments)
    with pytest.raises(TypeError):
        kernel.scan(512, "text", KNOWN_NUMBERS, KNOWN_HASHES, compiled._KINDS)
    with pytest.raises(TypeError):
        kernel.scan()


@pytest.mark.parametrize(("value", "is_off"), [("1", True), ("0", False), ("", False)])
def test_the_environment_can_switch_the_kernel_off(value: str, is_off: bool) -> None:
    _kernel()
    code = "from dehusk.kernel import KERNEL; print(KERNEL is None)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, NO_EXTENSIONS: value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == str(is_off)
