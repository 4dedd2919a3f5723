"""A page's content as plain text."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.render.nodes import (
    TEXT_KINDS,
    LabelArray,
    Run,
    inked,
    preformatted,
    run,
    spaces,
    unescaped,
)
from dehusk.kernel import KERNEL
from dehusk.page.tree import TREE_PACKING, Flags, Tree

# Signs for the joints between text nodes. None of them can stand in canonical text: '<' and '>'
# are escaped there, and a parser never lets U+0000 through. 0xFF is no byte of UTF-8.
_LINE: Final = b"<"
_CELL: Final = b">"
_CUT: Final = b"\0"
_JOINTS: Final = (b"", b" ", _CUT, _LINE)
_FILLED_NBSP: Final = b"\xff\xff\xff\xff\xff "
_WRITTEN: Final = TREE_PACKING.wanted(
    "tag", "end", "text_length", "start", "stop", "shown", "raw",
)  # fmt: skip
_KINDS: Final = TEXT_KINDS.tobytes()
_CUT_IN_WORD: Final = re.compile(r"(?<=\w)\0(?=\w)")

_TO_SPACE: Final = bytes.maketrans(b"\t\n\v\f\r\xff", b" " * 6)


def text(tree: Tree, labels: LabelArray) -> str:
    """The content's visible text: blocks on their own lines, cells of a table row between tabs.

    White space is collapsed, except where the page is preformatted. Empty without content.
    """
    if KERNEL is not None:
        written, is_finished = KERNEL.text(
            tree.source, _KINDS, tree.cut(_WRITTEN), np.ascontiguousarray(labels)
        )
        read: str = written if is_finished else _finish(written)
        return read
    content, template = inked(tree, labels, Label.CONTENT), inked(tree, labels, Label.TEMPLATE)
    fixed = preformatted(tree)
    joints = run(tree, content | (fixed & spaces(tree)), template)
    if not len(joints.nodes):
        return ""
    pieces = _pieces(tree, joints)
    if not fixed[joints.nodes].any():
        return _read(_collapse(b"".join(pieces), None))
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    is_fixed = np.zeros(len(pieces), np.bool_)
    is_fixed[1::2] = fixed[joints.nodes]
    written = _collapse(b"".join(pieces), np.repeat(is_fixed, lengths))
    lines = written.replace(b"\xff", b"").split(_LINE)
    return _read(_LINE.join(filter(None, map(_trim, lines))))


def lines(tree: Tree, labels: LabelArray) -> list[tuple[int, str]]:
    """The lines of `text`, each with the node that it begins with."""
    content, template = inked(tree, labels, Label.CONTENT), inked(tree, labels, Label.TEMPLATE)
    fixed = preformatted(tree)
    joints = run(tree, content | (fixed & spaces(tree)), template)
    if not len(joints.nodes):
        return []
    pieces = _pieces(tree, joints)
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    is_fixed = np.zeros(len(pieces), np.bool_)
    is_fixed[1::2] = fixed[joints.nodes]
    written = _collapse(b"".join(pieces), np.repeat(is_fixed, lengths)).replace(b"\xff", b"")
    begins = joints.new_line.copy()
    begins[0] = True
    read = (_read(_trim(line)) for line in written.split(_LINE))
    nodes = joints.nodes[begins].tolist()
    return [(node, line) for node, line in zip(nodes, read, strict=True) if line]


def _pieces(tree: Tree, joints: Run) -> list[bytes]:
    """A sign and a text, in turns, and a sign at the end; the texts are still escaped."""
    nodes, source = joints.nodes, tree.source
    sign = np.where(joints.spaced, 1, np.where(joints.cut, 2, 0))
    sign = np.where(joints.new_line, 3, np.where(joints.new_cells, 3 + joints.new_cells, sign))
    sign[:1] = 3
    pieces = [_LINE] * (2 * len(nodes) + 1)
    pieces[:-1:2] = [_JOINTS[s] if s < 4 else _CELL * (s - 3) for s in sign.tolist()]
    places = zip(tree.start[nodes].tolist(), tree.stop[nodes].tolist(), strict=True)
    pieces[1::2] = [source[start:stop] for start, stop in places]
    for place in np.flatnonzero(tree.raw[nodes]).tolist():
        pieces[2 * place + 1] = _escape(pieces[2 * place + 1])
    return pieces


def _collapse(written: bytes, is_fixed: Flags | None) -> bytes:
    """The text with one space for a run of white space, and none beside a sign.

    By arrays: splitting into words, or replacing what is double, takes twice as long and more.
    """
    written = written.replace(b"&nbsp;", _FILLED_NBSP)
    codes = np.frombuffer(written.translate(_TO_SPACE), np.uint8)
    is_space = codes == ord(" ")
    if is_fixed is not None:
        codes = np.where(is_fixed, np.frombuffer(written, np.uint8), codes)
        is_space &= ~is_fixed
    is_edge = (codes == ord(_LINE)) | (codes == ord(_CELL))
    kept = np.ones(len(codes), np.bool_)
    kept[1:] = ~(is_space[1:] & (is_space | is_edge)[:-1])
    codes, is_space, is_edge = codes[kept], is_space[kept], is_edge[kept]
    kept = np.ones(len(codes), np.bool_)
    kept[:-1] = ~(is_space[:-1] & is_edge[1:])
    return codes[kept].tobytes().strip(_LINE)


def _trim(line: bytes) -> bytes:
    """A line without empty lines at its ends: preformatted text may hold several."""
    line = line.rstrip()
    indent = len(line) - len(line.lstrip())
    return line[line.rfind(b"\n", 0, indent) + 1 :]


def _escape(raw: bytes) -> bytes:
    """Raw text written as other text is."""
    return raw.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


def _read(written: bytes) -> str:
    """The text with its signs made real and its escapes undone."""
    written = written.replace(_LINE, b"\n").replace(_CELL, b"\t")
    return _finish(unescaped(written))


def _finish(read: str) -> str:
    """The text without the signs of cuts, which become spaces inside of words."""
    if "\0" in read:
        read = _CUT_IN_WORD.sub(" ", read).replace("\0", "")
    if "\u3000" in read:
        # East Asian pages space their paragraphs with lines of nothing else.
        read = "\n".join(line for line in read.split("\n") if line.strip() or not line)
    return read
