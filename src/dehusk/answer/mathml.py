"""MathML as LaTeX: what a formula says, written as people would write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from dehusk.answer.nodes import attribute
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree

Part = str | int
"""LaTeX, or the number of a node that is still to be written."""

_FEW_NODES: Final = 8
"""Nodes that are looked at to know an accent or an operator; all, at each level, take long."""
_LEAVES: Final = frozenset(("mi", "mn", "mo", "mtext", "ms"))
_SILENT: Final = frozenset((
    "annotation", "annotation-xml", "mspace", "mphantom", "maligngroup", "malignmark", "none",
    "mprescripts",
))  # fmt: skip
_NAMED: Final = (
    "αalpha βbeta γgamma δdelta εvarepsilon ϵepsilon ζzeta ηeta θtheta ϑvartheta ιiota κkappa"
    " λlambda μmu νnu ξxi πpi ϖvarpi ρrho ϱvarrho σsigma ςvarsigma τtau υupsilon φvarphi ϕphi"
    " χchi ψpsi ωomega ΓGamma ΔDelta ΘTheta ΛLambda ΞXi ΠPi ΣSigma ΥUpsilon ΦPhi ΨPsi ΩOmega"
    " ∑sum ∏prod ∐coprod ∫int ∬iint ∭iiint ∮oint ⋃bigcup ⋂bigcap ⨁bigoplus ⨂bigotimes ⋁bigvee"
    " ⋀bigwedge ∞infty ∂partial ∇nabla ℓell ℏhbar ℑIm ℜRe ℘wp ℵaleph ∅emptyset ∀forall ∃exists"
    " ∄nexists ¬neg ∧wedge ∨vee ∩cap ∪cup ∈in ∉notin ∋ni ⊂subset ⊆subseteq ⊃supset ⊇supseteq"
    " ⊄nsubseteq ∖setminus ×times ÷div ·cdot ⋅cdot ∘circ ∗ast ⋆star ±pm ∓mp ⊕oplus ⊗otimes"
    " ⊙odot ≤le ≥ge ≪ll ≫gg ≠ne ≈approx ≅cong ≡equiv ∼sim ≃simeq ∝propto ≺prec ≻succ ⊥perp"
    " ∥parallel ∣mid ⊢vdash ⊨models →to ←leftarrow ↔leftrightarrow ⇒Rightarrow ⇐Leftarrow"
    " ⇔Leftrightarrow ↦mapsto ⟶longrightarrow ⟹Longrightarrow ⟺iff ↑uparrow ↓downarrow"
    " ⟨langle ⟩rangle ⌈lceil ⌉rceil ⌊lfloor ⌋rfloor ‖Vert …dots ⋯cdots ⋮vdots ⋱ddots ′prime"
    " ″prime\\prime †dagger ‡ddagger √surd ∠angle △triangle □square ∴therefore ∵because"
    " ≔coloneqq ⊤top ⋄diamond"
)
"""Each character that has a name of its own in LaTeX, with that name."""
_SIGNS: Final = {
    pair[0]: rf"\{pair[1:]}" for pair in _NAMED.split()
} | {
    "−": "-", "\u2061": "", "\u2062": "", "\u2063": "", "\u2064": "", "\u200b": "",
    "{": r"\{", "}": r"\}",
    "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "_": r"\_", "\\": r"\backslash", "~": r"\sim",
    "^": r"\hat{}", "\xa0": " ", "ℝ": r"\mathbb{R}", "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}",
    "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "∣": "|", "ⅆ": "d", "ⅇ": "e", "ⅈ": "i",
}  # fmt: skip
_FUNCTIONS: Final = frozenset((
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim",
    "exp", "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log", "max", "min",
    "Pr", "sec", "sin", "sinh", "sup", "tan", "tanh",
))  # fmt: skip
_ACCENTS: Final = {
    "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "¯": "bar", "‾": "overline",
    "―": "overline", "_": "underline", "̲": "underline", "→": "vec", "⃗": "vec", "˙": "dot",
    ".": "dot", "¨": "ddot", "ˇ": "check", "˘": "breve", "´": "acute", "`": "grave",
    "⏞": "overbrace", "⏟": "underbrace", "︷": "overbrace", "︸": "underbrace",
    "\u0305": "overline",
}  # fmt: skip
_LIMITS: Final = frozenset("∑∏∐∫∬∭∮⋃⋂⨁⨂⋁⋀")
_VARIANTS: Final = {
    "bold": "mathbf", "bold-italic": "boldsymbol", "double-struck": "mathbb",
    "script": "mathcal", "fraktur": "mathfrak", "sans-serif": "mathsf", "monospace": "mathtt",
    "normal": "mathrm",
}  # fmt: skip
_IN_TEXT: Final = pattern(r"([{}%#&$_])")
_COMMAND: Final = pattern(r"\\[A-Za-z]+$")


def latex_of(tree: Tree, node: int) -> str:
    """The formula of a `math` element, or of any element of MathML, in LaTeX on one line.

    What is not MathML counts by its text. Time and size are linear in the element.
    """
    written: list[str] = []
    stack: list[Part] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, int):
            stack.extend(reversed(_parts(tree, part)))
        elif part:
            if part[0].isalpha() and written and _COMMAND.search(written[-1]):
                written.append(" ")
            written.append(part)
    return " ".join("".join(written).split())


def children(tree: Tree, node: int) -> Iterator[int]:
    """The elements and texts right below a node."""
    child = node + 1
    while child < tree.end[node]:
        yield child
        child = int(tree.end[child])


def text_inside(tree: Tree, node: int) -> str:
    """The text of a text node, or of an element that holds little else, on one line."""
    stop = min(int(tree.end[node]), node + _FEW_NODES)
    texts = [tree.text(i) for i in range(node, stop) if tree.is_text[i]]
    return " ".join("".join(texts).split())


def _parts(tree: Tree, node: int) -> list[Part]:
    """How an element is written: its LaTeX, and its children where they stand in it."""
    if tree.is_text[node]:
        return [_signs(text_inside(tree, node))]
    name = tree.name(node).rpartition(":")[2]
    if name in _LEAVES:
        return [_leaf(tree, node, name)]
    if name in _SILENT:
        return [" "] if name == "mspace" else []
    inner: list[Part] = [
        child
        for child in children(tree, node)
        if not tree.is_text[child] or tree.text(child).strip()
    ]
    written = _ELEMENTS.get(name)
    return written(tree, node, inner) if written else inner


def _leaf(tree: Tree, node: int, name: str) -> str:
    """A number, a name, a sign or a text."""
    text = text_inside(tree, node)
    if name in ("mtext", "ms"):
        raw = "".join(tree.text(i) for i in range(node, int(tree.end[node])) if tree.is_text[i])
        escaped = _IN_TEXT.sub(r"\\\1", re.sub(r"\s+", " ", raw).replace("\\", ""))
        return rf"\text{{{escaped}}}" if escaped.strip() else escaped
    if text in _FUNCTIONS:
        return rf"\{text}"
    said = _signs(text)
    start_tag = tree.source[tree.start[node] : tree.stop[node]]
    variant = _VARIANTS.get(attribute(start_tag, b"mathvariant") or "")
    if variant and name == "mi" and not (variant == "mathrm" and len(text) == 1):
        return rf"\{variant}{{{said}}}"
    if name == "mi" and len(text) > 1 and text.isalpha():
        return rf"\mathrm{{{said}}}"
    return said


def _signs(text: str) -> str:
    """Characters as LaTeX writes them."""
    if text.isascii() and text.isalnum():
        return text
    written = ""
    for character in text:
        sign = _SIGNS.get(character, character)
        if sign[:1].isalpha() and _COMMAND.search(written[-20:]):
            written += " "
        written += sign
    return written


def _is_atom(tree: Tree, part: Part) -> bool:
    """Does it need no braces before an index? A single letter, sign or number."""
    if isinstance(part, str) or tree.is_text[part]:
        return False
    name = tree.name(part).rpartition(":")[2]
    return name in ("mi", "mo") or (name == "mn" and len(text_inside(tree, part)) == 1)


def _base(tree: Tree, part: Part) -> list[Part]:
    return [part] if _is_atom(tree, part) else ["{", part, "}"]


def _wrapped(before: str, between: str, after: str, count: int) -> Callable[..., list[Part]]:
    """Writes elements with so many children, between these."""

    def write(_: Tree, __: int, inner: list[Part]) -> list[Part]:
        written: list[Part] = [before]
        for place, part in enumerate(inner):
            written += [between, part] if 0 < place < count else [part]
        return [*written, after]

    return write


def _scripts(*signs: str) -> Callable[..., list[Part]]:
    """Writes a base with what stands below and above it."""

    def write(tree: Tree, _: int, inner: list[Part]) -> list[Part]:
        if not inner:
            return []
        written = _base(tree, inner[0])
        for sign, part in zip(signs, inner[1:], strict=False):
            if isinstance(part, int) and sign == "^" and text_inside(tree, part) in "′″‴":
                written.append("'" * ("′″‴".index(text_inside(tree, part)) + 1))
            else:
                written += [sign + "{", part, "}"]
        return written

    return write


def _over(*signs: str) -> Callable[..., list[Part]]:
    """Writes an accent, a large operator with its limits, or one thing set above another."""

    def write(tree: Tree, node: int, inner: list[Part]) -> list[Part]:
        if len(inner) < 2 or not isinstance(inner[0], int) or not isinstance(inner[1], int):
            return inner
        base, sign = text_inside(tree, inner[0]), text_inside(tree, inner[1])
        if len(signs) == 1 and sign in _ACCENTS:
            accent = _ACCENTS[sign]
            if signs == ("_",) and accent in ("bar", "overline"):
                accent = "underline"
            return [rf"\{accent}{{", inner[0], "}"]
        if base in _LIMITS or base in _FUNCTIONS:
            return _scripts(*signs)(tree, node, inner)
        if signs == ("^",):
            return [r"\overset{", inner[1], "}{", inner[0], "}"]
        if signs == ("_",):
            return [r"\underset{", inner[1], "}{", inner[0], "}"]
        return [r"\underset{", inner[1], r"}{\overset{", *inner[2:3], "}{", inner[0], "}}"]

    return write


def _root(_: Tree, __: int, inner: list[Part]) -> list[Part]:
    return [r"\sqrt[", *inner[1:2], "]{", *inner[:1], "}"]


def _table(_: Tree, __: int, inner: list[Part]) -> list[Part]:
    written: list[Part] = [r"\begin{matrix} "]
    for place, row in enumerate(inner):
        written += [r" \\ ", row] if place else [row]
    return [*written, r" \end{matrix}"]


def _row(_: Tree, __: int, inner: list[Part]) -> list[Part]:
    written: list[Part] = []
    for place, cell in enumerate(inner):
        written += [" & ", cell] if place else [cell]
    return written


def _fenced(tree: Tree, node: int, inner: list[Part]) -> list[Part]:
    start_tag = tree.source[tree.start[node] : tree.stop[node]]
    opening, closing, marks = (
        attribute(start_tag, name) for name in (b"open", b"close", b"separators")
    )
    mark = "," if marks is None else marks.strip()[:1]
    written: list[Part] = [_signs("(" if opening is None else opening)]
    for place, part in enumerate(inner):
        written += [mark, part] if place else [part]
    return [*written, _signs(")" if closing is None else closing)]


def _prescripts(tree: Tree, _: int, inner: list[Part]) -> list[Part]:
    """A base with indices on both sides; only pairs are known."""
    names = [tree.name(part) if isinstance(part, int) else "" for part in inner]
    cut = names.index("mprescripts") if "mprescripts" in names else len(inner)
    written: list[Part] = []
    for place in range(cut + 1, len(inner) - 1, 2):
        written += ["{}_{", inner[place], "}^{", inner[place + 1], "}"]
    written += _base(tree, inner[0]) if inner else []
    for place in range(1, cut - 1, 2):
        written += ["_{", inner[place], "}^{", inner[place + 1], "}"]
    return written


_ELEMENTS: Final[dict[str, Callable[..., list[Part]]]] = {
    "semantics": lambda _, __, inner: inner[:1],
    "mfrac": _wrapped(r"\frac{", "}{", "}", 2),
    "msqrt": _wrapped(r"\sqrt{", "", "}", 1),
    "mroot": _root,
    "msub": _scripts("_"),
    "msup": _scripts("^"),
    "msubsup": _scripts("_", "^"),
    "munder": _over("_"),
    "mover": _over("^"),
    "munderover": _over("_", "^"),
    "mmultiscripts": _prescripts,
    "mtable": _table,
    "mtr": _row,
    "mlabeledtr": _row,
    "mfenced": _fenced,
    "menclose": _wrapped(r"\boxed{", "", "}", 1),
}
