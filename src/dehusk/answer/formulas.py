"""The formulas of a page as LaTeX, whichever way the page has of showing them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.answer.mathml import latex_of
from dehusk.answer.nodes import attribute, inside, unescaped
from dehusk.page import tags
from dehusk.page.patterns import pattern
from dehusk.page.tree import Flags, Tree


class Formulas(NamedTuple):
    """Where formulas stand, in document order, as the kernel takes them (`wording.h`)."""

    places: bytes
    """Seven int32 each: the first node and one behind the last; in a text node, where it begins and
    ends in the source, else -1; where its LaTeX begins and ends; 1 for one on a line of its own."""
    latex: bytes


class _Formula(NamedTuple):
    node: int
    end: int
    latex: str
    is_block: bool
    start: int = -1
    stop: int = -1


_NONE: Final = Formulas(b"", b"")
_TEX: Final = pattern(
    rb'<annotation [^>]*encoding="(?:application/x-tex|TeX|LaTeX|latex)"[^>]*>(.*?)</annotation>',
    re.DOTALL,
)
_ALT: Final = pattern(rb'<img (?:[^>]* )?alt="([^"]*)"')
_PICTURES: Final = frozenset((
    "tex", "latex", "math", "formulaInl", "formulaDsp", "mwe-math-fallback-image-inline",
    "mwe-math-fallback-image-display", "mathtex",
))  # fmt: skip
_MATHJAX_2: Final = frozenset((
    "MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML",
    "MathJax_Preview", "MathJax_MathML", "mjx-chtml", "MJXc-display", "mjx-full-width",
))  # fmt: skip
_MARKED: Final = frozenset(
    ("math", "arithmatex", "tex", "formula", "js-inline-math", "js-display-math")
)
_CODE: Final = tags.numbers(
    "code", "pre", "kbd", "samp", "tt", "textarea", "script", "style", "xmp"
)
_CELL: Final = tags.numbers("td", "th")
_MAX_SIBLINGS: Final = 4
"""What MathJax 2 leaves of one formula: a preview, the formula, and the script it was made of."""
_OPENINGS: Final = pattern(rb"\\\(|\\\[|\$\$|\$")
_CLOSINGS: Final = {b"\\(": b"\\)", b"\\[": b"\\]", b"$$": b"$$", b"$": b"$"}
_PROSE: Final = pattern(rb"(?<![\\{A-Za-z])[A-Za-z]{3,}|&(?:lt|gt|amp);?[A-Za-z]{3}")
_MARKS: Final = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))
_WRAPPED: Final = pattern(r"\{\\(?:display|text|script)style ?(?P<inner>.*)\}", re.DOTALL)
_COMMENT: Final = pattern(r"(?<!\\)%[^\n]*(?:\n|$)")
_READ: Final = pattern(r"(<)(?=[A-Za-z/!?])|(&)(?=[#A-Za-z0-9]+;)|(\])(?=\()|(`)|(?<!\\)(\$)")


def formulas(tree: Tree) -> Formulas:
    """All formulas of a page that are not in code, labelled or not; made once."""
    return tree.once(_find)


def _find(tree: Tree) -> Formulas:
    nodes, is_set = _kernel.formula_signs(tree.kernel)
    if not nodes:
        return _NONE
    places: list[int] = []
    written: list[bytes] = []
    size = 0
    for found in _formulas(tree, np.frombuffer(nodes, np.int32).tolist(), is_set=is_set):
        latex = _one_line(found.latex)
        if "|" in latex and tree.once(_in_cells)[found.node]:
            latex = latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ").strip()
        written.append(latex.encode("utf-8", "surrogatepass"))
        stop = size + len(written[-1])
        places += [found.node, found.end, found.start, found.stop, size, stop]
        places.append(int(found.is_block))
        size = stop
    return Formulas(np.array(places, np.int32).tobytes(), b"".join(written))


def _formulas(tree: Tree, candidates: list[int], *, is_set: bool) -> Iterator[_Formula]:
    """The formulas that begin with one of these nodes, none in another.

    `is_set`: the page loads what sets LaTeX that stands in its text.
    """
    covered = 0
    in_code: Flags | None = None
    for node in candidates:
        if node < covered:
            continue
        if tree.is_text[node]:
            if in_code is None:
                in_code = inside(tree.end, _CODE[tree.tag])
            if tree.shown[node] and not in_code[node]:
                yield from _in_text(tree, node, is_set=is_set)
            continue
        found = _of_element(tree, node)
        if found and found.latex.strip():
            covered = found.end
            yield found


def _classes(tree: Tree, node: int) -> frozenset[str]:
    start_tag = tree.source[tree.start[node] : tree.stop[node]]
    return frozenset((attribute(start_tag, b"class") or "").split())


def _says(tree: Tree, node: int, name: bytes) -> str:
    """What an attribute says, in lower case."""
    return (attribute(tree.source[tree.start[node] : tree.stop[node]], name) or "").lower()


def _of_element(tree: Tree, node: int) -> _Formula | None:
    """The formula that an element is, with what stands beside it and belongs to it."""
    name, end = tree.name(node), int(tree.end[node])
    if name == "math":
        is_block = (
            "block" in _says(tree, node, b"display") or _says(tree, node, b"mode") == "display"
        )
        return _Formula(node, end, _math(tree, node), is_block)
    if name == "script":
        return _of_script(tree, node, node)
    if name == "mjx-container":
        is_block = _says(tree, node, b"display") in ("true", "block")
        return _Formula(node, end, _math_inside(tree, node), is_block)
    classes = _classes(tree, node)
    if name == "img":
        is_block = not classes.isdisjoint(("formulaDsp", "mwe-math-fallback-image-display"))
        alt = attribute(tree.source[tree.start[node] : tree.stop[node]], b"alt") or ""
        return None if classes.isdisjoint(_PICTURES) else _Formula(node, end, alt, is_block)
    if classes & {"katex", "katex-display"}:
        return _Formula(node, end, _math_inside(tree, node), "katex-display" in classes)
    if "mwe-math-element" in classes:
        inner = tree.source[tree.start[node] : tree.close[node]]
        is_block = b"-display" in inner or b"-block" in inner
        return _Formula(node, end, _math_inside(tree, node) or _alt(inner), is_block)
    if not classes.isdisjoint(_MATHJAX_2):
        return _of_mathjax_2(tree, node)
    if not classes.isdisjoint(_MARKED) or name == "math-renderer":
        return _of_marked(tree, node, classes)
    return None


def _alt(written: bytes) -> str:
    found = _ALT.search(written)
    return unescaped(found[1]) if found else ""


def _math(tree: Tree, node: int) -> str:
    """The LaTeX of a `math` element: what it was made of where it says so, else what it means."""
    found = _TEX.search(tree.source, int(tree.start[node]), int(tree.close[node]))
    if found:
        return unescaped(found[1])
    start_tag = tree.source[tree.start[node] : tree.stop[node]]
    said = attribute(start_tag, b"data-latex") or attribute(start_tag, b"alttext") or ""
    return said if said.strip() else latex_of(tree, node)


def _math_inside(tree: Tree, node: int) -> str:
    """The LaTeX of the first `math` element inside; empty without one."""
    all_math = tree.once(_math_nodes)
    place = int(np.searchsorted(all_math, node))
    is_inside = place < len(all_math) and all_math[place] < tree.end[node]
    return _math(tree, int(all_math[place])) if is_inside else ""


def _in_cells(tree: Tree) -> Flags:
    """Which nodes are in cells of tables, where `|` would end the cell."""
    return inside(tree.end, _CELL[tree.tag])


def _math_nodes(tree: Tree) -> NDArray[np.intp]:
    return np.flatnonzero(tree.tag == tags.NUMBERS["math"])


def _of_script(tree: Tree, script: int, node: int) -> _Formula | None:
    """The formula of a script of MathJax 2, which what it made of it begins before."""
    kind = _says(tree, script, b"type")
    if not kind.startswith("math/tex"):
        return None
    texts = [tree.text(i) for i in range(script + 1, int(tree.end[script]))]
    latex = re.sub(r"%?\s*<!\[CDATA\[|%?\s*\]\]>", "", "".join(texts))
    return _Formula(node, int(tree.end[script]), latex, "mode=display" in kind.replace(" ", ""))


def _of_mathjax_2(tree: Tree, node: int) -> _Formula | None:
    """What MathJax 2 made of a script that stands behind it, or has MathML for."""
    beside, stop = node, int(tree.end[tree.parent[node]]) if node else 0
    for _ in range(_MAX_SIBLINGS):
        beside = int(tree.end[beside])
        if beside >= stop:
            break
        if tree.name(beside) == "script":
            return _of_script(tree, beside, node)
        is_gap = tree.is_text[beside] and not tree.text(beside).strip()
        if not is_gap and (tree.is_text[beside] or _classes(tree, beside).isdisjoint(_MATHJAX_2)):
            break
    is_block = any("isplay" in name for name in _classes(tree, node))
    return _Formula(node, int(tree.end[node]), _math_inside(tree, node), is_block)


def _of_marked(tree: Tree, node: int, classes: frozenset[str]) -> _Formula | None:
    """The formula of an element that is marked as one and holds nothing but its LaTeX."""
    if int(tree.end[node]) != node + 2 or not tree.is_text[node + 1]:
        return None
    latex = tree.text(node + 1).strip()
    is_block = "display" in classes or "js-display-math" in classes or tree.name(node) == "div"
    for opening, closing in _MARKS:
        if latex.startswith(opening) and latex.endswith(closing) and len(latex) > len(opening):
            return _Formula(node, node + 2, latex, opening in ("$$", r"\["))
    is_bare = "math" in classes and not classes.isdisjoint(("inline", "display"))
    is_bare |= "tex" in classes and "\\" in latex
    return _Formula(node, node + 2, latex, is_block) if is_bare else None


def _in_text(tree: Tree, node: int, *, is_set: bool) -> Iterator[_Formula]:
    """The formulas between their marks in a text."""
    source, at, stop = tree.source, int(tree.start[node]), int(tree.stop[node])
    ends: dict[bytes, int] = {}
    prose = -1  # What refuses one opening refuses all before it: each byte is read once.
    while found := _OPENINGS.search(source, at, stop):
        opening = found[0]
        at = found.end()
        if found.start() and source[found.start() - 1] == 92:
            continue
        if ends.get(opening, -1) < at:
            end = source.find(_CLOSINGS[opening], at, stop)
            ends[opening] = end if end >= 0 else stop
        end = ends[opening]
        if end == stop or at <= prose < end:
            continue
        if not is_set and (words := _PROSE.search(source, at, end)):
            prose = words.start()
            continue
        if not _is_formula(source, at, end, opening, is_set=is_set):
            continue
        latex = unescaped(source[at:end])
        at = end + len(opening)
        is_block = opening in (b"\\[", b"$$")
        yield _Formula(node, node + 1, latex, is_block, found.start(), at)


def _is_formula(source: bytes, at: int, end: int, opening: bytes, *, is_set: bool) -> bool:
    """Is what stands between marks a formula, and no regular expression or price?

    Where formulas are not set, it has no words: the caller has looked.
    """
    latex = source[at:end]
    if not latex.strip():
        return False
    if opening == b"$":
        is_closed = not latex[:1].isspace() and not latex[-1:].isspace()
        is_closed &= not source[end + 1 : end + 2].isdigit()
        return is_set and is_closed and not _PROSE.search(latex) and not latex[:1].isdigit()
    return is_set or opening != b"$$"


def _one_line(latex: str) -> str:
    """LaTeX on one line, without the marks around it, that Markdown reads as nothing else."""
    latex = latex.strip()
    for opening, closing in _MARKS:
        size = len(opening)
        if len(latex) > 2 * size and latex.startswith(opening) and latex.endswith(closing):
            latex = latex[size:-size]
            break
    if "%" in latex:
        latex = _COMMENT.sub(" ", latex)
    latex = " ".join(latex.replace("\0", "").split())
    if (found := _WRAPPED.fullmatch(latex)) and _is_whole(found["inner"]):
        latex = found["inner"].strip()
    return _READ.sub(_unread, latex)


def _is_whole(latex: str) -> bool:
    """Does no brace end what began before it?"""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", latex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return True


def _unread(found: re.Match[str]) -> str:
    """A sign of Markdown or HTML as LaTeX that means the same."""
    return {"<": "< ", "&": "& ", "]": "] ", "`": r"\lq ", "$": r"\mathdollar "}[found[0]]
