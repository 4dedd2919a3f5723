"""A page's content as HTML in the shape that the parser's Markdown writer wants, by the kernel.

The kernel does in one call what `as_markdown` does with the parser's document step by step, on a
tree of its own, and writes that out. Reading so little HTML again costs a fraction of changing the
document. Where an HTML parser would rearrange what was written, and for what hardly any page has,
the kernel gives up, and the document is changed after all.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dehusk.answer.render.blocks import EXPONENT, marked_language
from dehusk.answer.render.groups import INLINE
from dehusk.answer.render.nodes import TEXT_KINDS, LabelArray
from dehusk.answer.render.plan import PLAN_KINDS
from dehusk.answer.render.tables import STRUCTURE
from dehusk.page import tags
from dehusk.page.tree import TREE_PACKING, Tree
from dehusk.page.urls import Base

_SHAPED: Final = TREE_PACKING.wanted(
    "tag", "parent", "end", "start", "stop", "close", "text_length", "shown", "raw"
)
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_FIXED: Final = ("pre", "listing", "xmp", "textarea", "plaintext")
_WRITTEN_VOID: Final = ("br", "hr", "img", "input", "wbr")
_PLAIN: Final = (
    "applet", "marquee", "nobr", "object", "rb", "rp", "rt", "rtc", "ruby",
)  # fmt: skip
"""What the Markdown writer takes for a `<span>`, and an HTML parser has rules of its own for."""
_RENAMED: Final = {
    "div": (
        "button", "center", "dialog", "fieldset", "form", "hgroup", "legend", "optgroup", "p",
        "search",
    ),
    "ul": ("dir", "menu", "select"),
    "li": ("option",),
    "pre": _FIXED,
    "span": _PLAIN,
}  # fmt: skip
_REFUSED: Final = (
    "area", "audio", "base", "basefont", "bgsound", "body", "canvas", "col", "colgroup", "datalist",
    "desc", "embed", "frame", "frameset", "head", "html", "iframe", "image", "keygen", "link",
    "math", "meta", "noembed", "noframes", "param", "path", "script", "slot", "source", "style",
    "svg", "template", "title", "track", "use", "video",
)  # fmt: skip
"""What is hardly ever content, or is read in a way of its own."""
_STOPS_ITEMS: Final = (
    "article", "aside", "blockquote", "caption", "details", "dl", "figcaption", "figure", "footer",
    *_HEADINGS, "header", "main", "nav", "ol", "pre", "section", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul",
)  # fmt: skip
_KINDS: Final = (
    tags.BLOCK,
    INLINE,
    _FIXED,
    ("code", "kbd", "samp"),
    ("br",),
    ("ol",),
    ("li",),
    ("ol", "ul"),
    ("dl",),
    ("dt",),
    ("dd",),
    ("sup",),
    ("em", "i"),
    ("del", "s", "strike"),
    ("b", "strong"),
    _HEADINGS,
    ("a",),
    ("img",),
    ("table",),
    ("caption",),
    ("thead", "tbody", "tfoot"),
    ("thead",),
    ("tr",),
    ("td", "th"),
    ("th",),
    STRUCTURE,
    _WRITTEN_VOID,
    _REFUSED,
    _STOPS_ITEMS,
    ("input",),
)
SHAPE_KINDS: Final = np.zeros(len(tags.NAMES), np.uint32)
"""By tag number, what the kernel asks of tags, from the lowest bit on (`src/kernel/sheet.h`)."""
for _place, _names in enumerate(_KINDS):
    SHAPE_KINDS[tags.numbers(*_names)] |= np.uint32(1 << _place)
_RENAMING: Final = np.arange(len(tags.NAMES), dtype=np.int16)
for _name, _names in _RENAMED.items():
    _RENAMING[tags.numbers(*_names)] = tags.NUMBERS[_name]
_NAME_BYTES: Final = 16
TABLES: Final = (
    SHAPE_KINDS.tobytes(),
    _RENAMING.tobytes(),
    b"".join(name.encode().ljust(_NAME_BYTES, b"\0") for name in tags.NAMES),
    np.array(
        tags.listed("a", "br", "div", "li", "pre", "span", "td", "th", "tr", "ul"), np.int16
    ).tobytes(),
)
"""By tag number, what it is, which name it gets and how that is written; then all new names."""
_ASKED: Final = (TEXT_KINDS.tobytes(), PLAN_KINDS.tobytes(), *TABLES)


def shaped(kernel: Any, tree: Tree, labels: LabelArray, base: Base) -> str | None:
    """The content as HTML; None where the kernel cannot tell, '' without content.

    The characters `<`, `&` and `\\` of code are U+FDD0 to U+FDD2 in it.
    """
    known: dict[tuple[bytes, bool], str | None] = {}

    def language(start_tag: bytes, is_around: bool) -> str | None:  # noqa: FBT001  by the kernel
        key = start_tag, is_around
        if key not in known:
            known[key] = marked_language(start_tag, is_around=is_around)
        return known[key]

    found: str | None = kernel.shape(
        base.absolute, language, _has_word, EXPONENT.fullmatch, *base.begins(), tree.source,
        *_ASKED, tree.cut(_SHAPED), np.ascontiguousarray(labels),
    )  # fmt: skip
    return found


def _has_word(text: str) -> bool:
    """Is any character a letter or a digit?"""
    return any(map(str.isalnum, text))
