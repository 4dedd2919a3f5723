"""A page's content as Markdown: the parser's document is put into shape, and its writer writes.

The writer is fast and careful, but it falls back to HTML where a document is not as Markdown would
have it, takes some blocks for inline text, and knows nothing of layout tables or late images. So
the document is put into shape before, and what is left of HTML in the prose is replaced after.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect, bisect_left
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from turbohtml import Document, Element, Namespace, Node, Text, parse

from dehusk.answer.render.addresses import addresses
from dehusk.answer.render.blocks import (
    mark_exponents,
    part_paragraphs,
    rename_blocks,
    shape_code,
    shape_definitions,
)
from dehusk.answer.render.draft import Draft, cut_down
from dehusk.answer.render.groups import BLOCK, HEADING, PREFORMATTED
from dehusk.answer.render.nodes import LabelArray
from dehusk.answer.render.shape import shaped
from dehusk.answer.render.tables import shape_tables
from dehusk.kernel import KERNEL
from dehusk.page import tags
from dehusk.page.tree import Tree
from dehusk.page.urls import Base, base_of

_LINK: Final = tags.listed("a")
_HEADING: Final = tags.listed("h1", "h2", "h3", "h4", "h5", "h6")
_STRONG: Final = tags.listed("b", "strong")
_EMPHASIS: Final = tags.listed("em", "i")
_STRUCK: Final = tags.listed("del", "s", "strike")
_CODE: Final = tags.listed(
    "code", "kbd", "listing", "plaintext", "pre", "samp", "textarea", "xmp",
)  # fmt: skip

_SIGN: Final = {"strong": "**", "em": "*", "del": "~~", "s": "~~", "strike": "~~"}
# Each begins with a plain character, which a search finds many times as fast as a look behind.
_WRAPPER: Final = re.compile(r"<(/?)(strong|em|del|strike|s)>")
_HTML_CODE: Final = re.compile(r"<code>[^<]*</code>")
_BREAK: Final = re.compile(r"<br> ?")
_SPACE: Final = re.compile(r"&#\d+;")
_UNDERSCORE: Final = re.compile(r"\\(?<=[^\W_]\\)_(?=\w)")
"""An escape against emphasis that there is none inside a word."""
_NUMBER: Final = re.compile(r"\\(?<=\d\\)([.)])(?=\w)")
"""An escape against a list where a number goes on."""
_ESCAPE: Final = re.compile(r"\\([-+#])(?=\w)")
"""An escape against a list or a heading, which only a space would make."""
_NUMBERED, _TAG, _LOW, _POINT, _MARK, _BLANKS = (1 << place for place in range(6))
"""What polishing may find: the bits of `src/kernel/signs.c`."""
_ALL_SIGNS: Final = 63
_PROTECTED: Final = ("<", "&", "\\")
"""Characters of code that polishing would take for the writer's."""
_NONCHARACTERS: Final = tuple(map(chr, range(0xFDD0, 0xFDF0)))
"""What Unicode keeps for a program's own use, and a page may write all the same."""
_NONCHARACTER_STARTS: Final = (b"\xef", b"\xef\xb7")
"""How all of them begin in UTF-8."""
_FIRST_STAND_INS: Final[Mapping[str, str]] = dict(zip(_PROTECTED, _NONCHARACTERS, strict=False))


def markdown(tree: Tree, document: Document, labels: LabelArray, base_url: str | None) -> str:
    """The content as Markdown, with absolute links. Empty without content.

    The document is used up: it must be the one the tree comes from, and is worth nothing after.
    """
    base, html, stand_ins = base_of(tree, base_url), None, _FIRST_STAND_INS
    if KERNEL is not None and (base_url or "").isascii():
        html = shaped(KERNEL, tree, labels, base)
    if html is None:
        stand_ins = _stand_ins(tree, base_url)
        draft = cut_down(tree, document, labels)
        if not draft.inked[0]:
            return ""
        _shape(draft, base, stand_ins)
    elif html:
        document = parse(html)
    else:
        return ""
    if len(stand_ins) < len(_PROTECTED):
        return document.to_markdown().strip("\n")
    return _restored(_polish(document.to_markdown()), stand_ins)


def _shape(draft: Draft, base: Base, stand_ins: Mapping[str, str]) -> None:
    """Put the parser's document into shape; the kernel's `shape` does the same."""
    root = draft.element(0)
    for element in (root, *root.children):
        if isinstance(element, Element):
            # The writer would take a page with `white-space: pre` for code as a whole.
            element.attrs.pop("style", None)
    rename_blocks(draft)
    shape_code(draft)
    part_paragraphs(draft, shape_tables(draft))
    shape_definitions(draft)
    mark_exponents(draft)
    _flatten_emphasis(draft)
    _place_images(draft, base)
    _point_links(draft, base)
    if len(stand_ins) == len(_PROTECTED):
        _protect_code(draft, stand_ins)


def _restored(written: str, stand_ins: Mapping[str, str]) -> str:
    """The Markdown with the characters that stand-ins stood for.

    Beside a backtick the writer leaves code in HTML, where they need escapes as in prose.
    """

    def escaped(found: re.Match[str]) -> str:
        code = found[0]
        for character, stand_in in stand_ins.items():
            code = code.replace(stand_in, "\\" + character)
        return found[0] if _is_escaped(found) else code

    if written.isascii():
        return written
    if "<code>" in written:
        written = _HTML_CODE.sub(escaped, written)
    for character, stand_in in stand_ins.items():
        written = written.replace(stand_in, character)
    return written


def _stand_ins(tree: Tree, base_url: str | None) -> Mapping[str, str]:
    """What stands for each protected character while polishing: characters that the page has not.

    One that the page has would come out as a live `<`. Too few on a page that has nearly all of
    them; it goes without polish.
    """
    known = base_url or ""
    # One byte is found many times as fast as two, and most pages do not have it.
    is_free = any(start not in tree.source for start in _NONCHARACTER_STARTS)
    if is_free and known.isascii():
        return _FIRST_STAND_INS
    free = (c for c in _NONCHARACTERS if c.encode() not in tree.source and c not in known)
    return dict(zip(_PROTECTED, islice(free, len(_PROTECTED)), strict=False))


def _flatten_emphasis(draft: Draft) -> None:
    """Undo emphasis in the same emphasis, which Markdown cannot say, and bold type in headings."""
    _flatten(draft, draft.kept_nodes(_EMPHASIS), [])
    _flatten(draft, draft.kept_nodes(_STRUCK), [])
    strong = draft.kept_nodes(_STRONG)
    _flatten(draft, strong, draft.kept_nodes(_HEADING) if strong else [])


def _flatten(draft: Draft, nodes: list[int], holders: list[int]) -> None:
    """Make plain those of the nodes that stand in another one of them, or in a holder.

    Two that touch become one: the signs between them would say something else.
    """
    marked = set(nodes)
    reach, before = 0, -1
    for node in sorted((*nodes, *holders)):
        if node < reach:
            if node in marked:
                draft.element(node).tag = "span"
            continue
        touches = before in marked and node in marked and node == reach
        reach = int(draft.ends[node])
        if touches and draft.tree.parent[node] == draft.tree.parent[before]:
            draft.element(before).extend(list(draft.element(node).children))
            draft.element(node).decompose()
        else:
            before = node


def _place_images(draft: Draft, base: Base) -> None:
    """Give images their absolute address; one that has none becomes its alternative text."""
    for node, source in draft.images.items():
        image = draft.element(node)
        alt = " ".join((image.attr("alt") or "").split())
        address = base.absolute(source or "")
        if address:
            image.attrs["src"] = address
            image.attrs["alt"] = alt
            image.attrs.pop("title", None)
        else:
            image.replace_with(Text(alt))


def _point_links(draft: Draft, base: Base) -> None:
    """Make links absolute; those that lead nowhere, or cannot be said, become what they hold.

    A link around a heading moves into it: neither a heading nor code can stand in a link. One
    around nothing but a rule would be a link without words.
    """
    links = draft.kept_nodes(_LINK)
    if not links:
        return
    headings, held, inked = draft.kept_nodes(_HEADING), draft.groups.held, draft.inked.tobytes()
    elements: list[Any] = draft.nodes
    found = addresses(draft.tree, links, base)
    for node in found.titled:
        del draft.element(node).attrs["title"]
    for node, address in zip(links, found.leads, strict=True):
        if not address or held[node] & PREFORMATTED or not inked[node]:
            elements[node].tag = "div" if held[node] & BLOCK else "span"
        elif held[node] & HEADING:
            link, heading = draft.element(node), headings[bisect(headings, node)]
            target = address if isinstance(address, str) else link.attr("href")
            draft.element(heading).wrap_children(Element("a", {"href": target}))
            link.tag = "div"
        elif isinstance(address, str):
            elements[node].attrs["href"] = address


def _protect_code(draft: Draft, stand_ins: Mapping[str, str]) -> None:
    """Put stand-ins into code for the characters that polishing looks for."""
    code = [node for node in draft.kept_nodes(_CODE) if _is_code(draft.element(node))]
    if not code:
        return
    tree, texts, reach = draft.tree, draft.texts.nodes.tolist(), 0
    is_raw = bool(tree.raw[draft.texts.nodes].any())
    edges = zip(code, draft.ends[code].tolist(), strict=True)
    sources = zip(tree.start[code].tolist(), tree.close[code].tolist(), strict=True)
    for (node, end), (start, close) in zip(edges, sources, strict=True):
        if node < reach:
            continue  # All that stands in code is looked at with it.
        reach = end
        # In the source all of these begin with one of two characters.
        written = b"" if is_raw else tree.source[start:close]
        if is_raw or b"&" in written or b"\\" in written:
            first = bisect_left(texts, node)
            for place in texts[first : bisect_left(texts, end, first)]:
                _protect(draft.nodes[place], stand_ins)


def _protect(text: Node, stand_ins: Mapping[str, str]) -> None:
    """Put stand-ins into one text."""
    assert isinstance(text, Text), "a run holds texts only"
    data = text.data
    if "<" in data or "&" in data or "\\" in data:
        for character, stand_in in stand_ins.items():
            data = data.replace(character, stand_in)
        text.data = data


def _is_code(element: Element) -> bool:
    """Does the writer take it for code? In all else it must see every `<`, to escape it.

    A block around code, or what stands among the shapes of SVG, is prose to it.
    """
    return element.tag != "div" and element.namespace is Namespace.HTML


def _polish(written: str) -> str:
    """The Markdown without what the writer left in HTML, and without needless escapes."""
    signs = _ALL_SIGNS if KERNEL is None else KERNEL.signs(written)
    if signs & (_NUMBERED | _TAG):
        plain = _without_html(written)
        signs = signs if plain == written else _ALL_SIGNS
        written = plain
    if signs & _LOW:
        written = _UNDERSCORE.sub("_", written)
    if signs & _POINT:
        written = _NUMBER.sub(r"\1", written)
    if signs & _MARK:
        written = _ESCAPE.sub(_needed_escape, written)
    if signs & _BLANKS and "\n\n\n" in written:
        written = _single_blanks(written)
    return written.strip("\n")


def _without_html(written: str) -> str:
    """The Markdown without what the writer left in HTML."""
    # One character is found many times as fast as two, and much has none of these.
    if "&" in written:
        written = _SPACE.sub(_plain_space, written)
    if "<" in written:
        if _WRAPPER.search(written):
            written = _unwrap(written)
        if "<br>" in written:
            written = "\n".join(map(_break_lines, written.split("\n")))
    return written


def _is_escaped(found: re.Match[str]) -> bool:
    """Does a backslash that is not itself escaped stand before the match?"""
    first = start = found.start()
    while first and found.string[first - 1] == "\\":
        first -= 1
    return (start - first) % 2 == 1


def _plain_space(found: re.Match[str]) -> str:
    """A space that the writer wrote by its number: nothing at the ends of a line."""
    if _is_escaped(found):
        return found[0]
    before, behind = _around(found)
    return " " if before.strip("\n") and behind.strip("\n") else ""


def _needed_escape(found: re.Match[str]) -> str:
    """A sign without its escape, unless that is an escaped backslash."""
    return found[0] if _is_escaped(found) else found[1]


def _plain_break(found: re.Match[str]) -> str:
    """A line break of Markdown for one of HTML; what the page writes as text stays."""
    return found[0] if _is_escaped(found) else "  \n"


def _around(found: re.Match[str]) -> tuple[str, str]:
    """The characters before and behind a match; empty at the ends of the text."""
    start, stop = found.span()
    return found.string[max(start - 1, 0) : start], found.string[stop : stop + 1]


def _single_blanks(written: str) -> str:
    """The Markdown with one empty line at a time, but for those in code."""
    lines: list[str] = []
    fence, was_blank = "", False
    for line in written.split("\n"):
        body = line.lstrip(" >-*+")
        if fence:
            fence = "" if body.startswith(fence) and not body.strip("`") else fence
        elif body.startswith("```"):
            fence = body[: len(body) - len(body.lstrip("`"))]
        is_blank = not body and not fence
        if not (is_blank and was_blank):
            lines.append(line)
        was_blank = is_blank
    return "\n".join(lines)


def _break_lines(line: str) -> str:
    """A line with real breaks, but for the rows of tables, which know no others than HTML's."""
    if "<br>" not in line or line.lstrip("> -*").startswith("|"):
        return line
    return _BREAK.sub(_plain_break, line)


def _unwrap(written: str) -> str:
    """Emphasis that the writer left in HTML as Markdown, or as plain text where that cannot be."""
    signs: dict[int, str] = {}
    pending: list[re.Match[str]] = []
    for found in _WRAPPER.finditer(written):
        if _is_escaped(found):
            continue
        if not found[1]:
            pending.append(found)
        elif pending and pending[-1][2] == found[2]:
            first = pending.pop()
            is_said = _flanks(*reversed(_around(first))) and _flanks(*_around(found))
            signs[first.start()] = signs[found.start()] = _SIGN[found[2]] if is_said else ""
    return _WRAPPER.sub(lambda found: signs.get(found.start(), found[0]), written)


def _flanks(inner: str, outer: str) -> bool:
    """Would CommonMark read a sign between these characters as an end of emphasis on the inner?"""
    if not inner or inner.isspace():
        return False
    return not _is_punctuation(inner) or not outer or outer.isspace() or _is_punctuation(outer)


def _is_punctuation(character: str) -> bool:
    """Is it punctuation or a symbol in Unicode's eyes?"""
    return unicodedata.category(character)[0] in "PS"
