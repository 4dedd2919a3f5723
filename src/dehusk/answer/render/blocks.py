"""Blocks that the Markdown writer does not know, made into blocks that it does."""

from __future__ import annotations

import re
from bisect import bisect
from typing import Final

import numpy as np
from turbohtml import Element, Node, Text

from dehusk.answer.render.draft import Draft
from dehusk.answer.render.groups import BREAK, PREFORMATTED
from dehusk.answer.render.nodes import attribute, inside, text_below, with_attributes
from dehusk.page import tags
from dehusk.page.tree import Flags, Ints

_BLOCKS: Final = tags.listed(
    "button", "center", "dialog", "fieldset", "form", "hgroup", "legend", "optgroup", "search",
)  # fmt: skip
_LISTS: Final = tags.listed("dir", "menu", "select")
_ITEMS: Final = tags.listed("option")
_FIXED: Final = tags.listed("pre", "listing", "xmp", "textarea", "plaintext")
_PREFORMATTED: Final = tags.numbers("pre", "listing", "xmp", "textarea", "plaintext")
_INLINE: Final = tags.listed("rp")
_ORDERED: Final = tags.listed("ol")
_ITEM: Final = tags.listed("li")
_CODE: Final = tags.listed("code", "kbd", "samp")
_BREAK: Final = tags.listed("br")
_BLOCK: Final = tags.numbers(*tags.BLOCK)
_TERM: Final = tags.NUMBERS["dt"]
_DEFINITIONS: Final = tags.listed("dl")
_DEFINED: Final = tags.listed("dt", "dd")
_POWER: Final = tags.listed("sup")
EXPONENT: Final = re.compile(r"\s*[+\-−]?\d{1,4}\s*")
"""What a raised text is to be an exponent."""

_NUMBER: Final = re.compile(r"\s*\+?[0-9]{1,9}(?![0-9]).*", re.DOTALL)
_LANGUAGE: Final = re.compile(r"[a-z0-9][\w+#.\-]{0,30}")
_OWN_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([A-Za-z0-9][\w+#.\-]{0,30})"
)
# Around code `lang-en` is the language of people.
_OUTER_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:language-|highlight-source-|highlight-)([A-Za-z0-9][\w+#.\-]{0,30})"
)
_MARKS: Final = (b"lang", b"highlight-", b"brush:")
"""What stands in every mark of a language; a look at the source costs a tenth of asking for it."""
_NO_LANGUAGE: Final = frozenset((
    "default", "none", "text", "plain", "plaintext", "nohighlight",
    "block", "body", "box", "code", "container", "content", "lines", "wrap", "wrapper",
))  # fmt: skip
"""What is written where a language would be, and is none."""
_LANGUAGE_LEVELS: Final = 6
"""How far above code its language may stand: a table with line numbers puts it that far up."""
_MAX_FRONT: Final = 20
"""Texts at the front of a code block that are looked at for empty lines."""
_MAX_BESIDE_CODE: Final = 20
"""Characters around code that are no other text yet, but a button to copy it."""


def rename_blocks(draft: Draft) -> None:
    """Give blocks that the writer takes for inline text, or does not write, a name it knows."""
    for numbers, name in (
        (_BLOCKS, "div"),
        (_LISTS, "ul"),
        (_ITEMS, "li"),
        (_FIXED, "pre"),
        (_INLINE, "span"),
    ):
        for node in draft.kept_nodes(numbers):
            draft.element(node).tag = name
    # White space before a block in an inline element would come out as empty lines.
    for node in draft.groups.wrappers:
        draft.element(node).tag = "div"
    _count_up(draft)


def _count_up(draft: Draft) -> None:
    """Take from lists what Markdown cannot count: it counts up by one from where it begins."""
    lists, items = draft.kept_nodes(_ORDERED), draft.kept_nodes(_ITEM)
    for node in lists:
        draft.element(node).attrs.pop("reversed", None)
        _drop_number(draft.element(node), "start")
    # Terms and definitions become items too.
    all_items = draft.kept_nodes((*_ITEM, *_DEFINED))
    first_items = {
        all_items[place] for node in lists if (place := bisect(all_items, node)) < len(all_items)
    }
    for node in with_attributes(draft.tree, items):
        if node in first_items and draft.tree.tag[draft.tree.parent[node]] in _ORDERED:
            _drop_number(draft.element(node), "value")
        else:
            draft.element(node).attrs.pop("value", None)


def _drop_number(element: Element, name: str) -> None:
    """Take away a number that no list of CommonMark begins with."""
    written = element.attr(name)
    if written is not None and not _NUMBER.fullmatch(written):
        del element.attrs[name]


def part_paragraphs(draft: Draft, in_data: Flags) -> None:
    """Make two and more breaks in a row what they stand for: the end of a paragraph.

    Not in code, nor in tables of data, whose cells hold no paragraphs.
    """
    tree = draft.tree
    breaks = np.array(draft.kept_nodes(_BREAK), np.intp)
    if len(breaks) < 2:
        return
    breaks = breaks[~(in_data | inside(tree.end, _PREFORMATTED[tree.tag]))[breaks]]
    ink = np.cumsum(draft.kept & ~((tree.text_length == 0) & tree.is_text))
    follows = np.append(np.zeros(1, np.bool_), np.diff(ink[breaks]) == 1)
    follows[1:] &= tree.parent[breaks[1:]] == tree.parent[breaks[:-1]]
    for place in np.flatnonzero(follows).tolist():
        draft.element(int(breaks[place])).decompose()
        if not follows[place - 1]:
            draft.element(int(breaks[place - 1])).tag = "p"


def shape_code(draft: Draft) -> None:
    """Give code blocks their language, and take empty lines from their front."""
    tree, blocks, spans = draft.tree, draft.kept_nodes(_FIXED), draft.kept_nodes(_CODE)
    if not blocks and not spans:
        return
    in_block = inside(tree.end, _PREFORMATTED[tree.tag])
    if blocks:
        outside = text_below(tree, ~in_block)
        texts = np.flatnonzero(draft.kept & tree.is_text)
        first_text = np.searchsorted(texts, blocks).tolist()
        known: dict[int, str | None] = {}
        for node, first in zip(blocks, first_text, strict=True):
            language = _language(draft, node, outside, known)
            draft.element(node).attrs.pop("class", None)
            if language:
                draft.element(node).attrs["class"] = f"language-{language}"
            inner = texts[first : first + _MAX_FRONT].tolist()
            _strip_front([draft.nodes[text] for text in inner if text < tree.end[node]])
    spans = [node for node in spans if not in_block[node]]
    if spans:
        _shape_inline_code(draft, spans)


def _shape_inline_code(draft: Draft, spans: list[int]) -> None:
    """Make blocks of code that has lines, and put a space between two pieces that touch."""
    held, order = draft.groups.held, np.cumsum(draft.kept)
    follows = order[spans[1:]] == order[draft.ends[spans[:-1]] - 1] + 1
    for node, touches in zip(spans, [False, *follows.tolist()], strict=True):
        if held[node] & PREFORMATTED:
            draft.element(node).tag = "div"
        elif held[node] & BREAK:
            draft.element(node).tag = "pre"
        elif touches:
            draft.element(node).insert_before(Text(" "))


def _language(draft: Draft, node: int, outside: Ints, known: dict[int, str | None]) -> str | None:
    """The language that the block, the code in it, or an element around it is marked with.

    An element around it counts as long as it holds little more than code. What it says is `known`
    to the next block in it.
    """
    tree, below = draft.tree, node + 1
    if below < tree.end[node] and tree.tag[below] == tags.TEXT and not tree.text_length[below]:
        below += 1
    if below < tree.end[node] and draft.kept[below] and tree.tag[below] in _CODE:
        language = _marked_language(draft, below)
        draft.element(below).attrs.pop("class", None)
        if language:
            return language
    language = _marked_language(draft, node)
    for _ in range(_LANGUAGE_LEVELS):
        node = int(tree.parent[node])
        if language or node <= 0 or outside[node] > _MAX_BESIDE_CODE:
            break
        if node not in known:
            known[node] = _marked_language(draft, node, is_around=True)
        language = known[node]
    return language


def _marked_language(draft: Draft, node: int, *, is_around: bool = False) -> str | None:
    """The language that an element is marked with."""
    tree = draft.tree
    return marked_language(tree.source[tree.start[node] : tree.stop[node]], is_around=is_around)


def marked_language(start_tag: bytes, *, is_around: bool) -> str | None:
    """The language that the element with this start tag marks: its own, or that of code in it."""
    if not any(mark in start_tag for mark in _MARKS):
        return None
    for name in (b"data-lang", b"data-language"):
        written = (attribute(start_tag, name) or "").strip().lower()
        if _LANGUAGE.fullmatch(written):
            return None if written in _NO_LANGUAGE else written
    pattern = _OUTER_LANGUAGE if is_around else _OWN_LANGUAGE
    for language in pattern.findall(attribute(start_tag, b"class") or ""):
        if language.lower() not in _NO_LANGUAGE:
            return str(language).lower()
    return None


def _strip_front(texts: list[Node]) -> None:
    """Take empty lines from the front of the texts of a code block."""
    for text in texts:
        assert isinstance(text, Text), "these are texts"
        if text.data.startswith("\n"):
            text.data = text.data.lstrip("\n")
        if text.data:
            return


def shape_definitions(draft: Draft) -> None:
    """Make a list of terms: each term an item, its definitions below it in the item."""
    tree = draft.tree
    lists = draft.kept_nodes(_DEFINITIONS)
    items: dict[int, Element | None] = {}
    for node in lists:
        if draft.element(node).tag == "dl":
            draft.element(node).tag = "ul"
            items[node] = None
    if not items:
        return
    blocks = np.cumsum(draft.kept & _BLOCK[tree.tag])
    for node in draft.kept_nodes(_DEFINED):
        owner = int(tree.parent[node])
        # Groups of a term and its definitions may stand in an element of their own.
        owner = owner if owner in items else int(tree.parent[owner])
        if owner not in items:
            continue
        element, item = draft.element(node), items[owner]
        if item is None or tree.tag[node] == _TERM:
            element.tag = "li"
            items[owner] = element
            continue
        if blocks[tree.end[node] - 1] > blocks[node]:
            element.tag = "div"
        else:
            element.tag = "span"
            item.append(Element("br"))
        item.append(element)


def mark_exponents(draft: Draft) -> None:
    """Write 10<sup>6</sup> as 10^6, since 106 is another number."""
    for node in draft.kept_nodes(_POWER):
        children = draft.element(node).children
        if len(children) == 1 and EXPONENT.fullmatch(getattr(children[0], "data", "")):
            draft.element(node).insert(0, Text("^"))
