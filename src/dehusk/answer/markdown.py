"""A page's content as Markdown, written by the kernel straight from the tree."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from dehusk import _kernel
from dehusk.answer.footnotes import footnotes
from dehusk.answer.formulas import formulas
from dehusk.answer.labels import LabelArray
from dehusk.answer.nodes import attribute
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree
from dehusk.page.urls import base_of
from dehusk.settings import Images, Links, MarkdownSettings, Tables

_NAME: Final = r"([A-Za-z0-9][\w+#.\-]{0,30})"
_AROUND_MARKS: Final = (
    r"language-|highlight-source-|highlight-text-|highlight-|sourceCode\s+(?:\w+Source\s+)?"
)
_OWN: Final = pattern(rf"(?:^|\s)(?:{_AROUND_MARKS}|lang-|lang:|brush:\s*|src-){_NAME}")
_AROUND: Final = pattern(rf"(?:^|\s)(?:{_AROUND_MARKS}){_NAME}")
"""Around code `lang-en` is the language of people."""
_MARKS: Final = (b"lang", b"highlight-", b"brush:", b"sourceCode", b"src-")
"""What stands in every mark of a language; a look at the source costs a tenth of asking for it."""
_KNOWN: Final = frozenset((
    "ada", "apache", "asm", "awk", "bash", "basic", "bat", "c", "c#", "c++", "clojure", "cmake",
    "cobol", "coffeescript", "console", "cpp", "cs", "csharp", "css", "cuda", "cypher", "d", "dart",
    "diff", "dockerfile", "elixir", "elm", "erlang", "fortran", "fsharp", "glsl", "go", "graphql",
    "groovy", "haskell", "hcl", "hlsl", "html", "http", "ini", "java", "javascript", "js", "json",
    "jsonc", "jsx", "julia", "kotlin", "latex", "less", "lisp", "lua", "makefile", "markdown",
    "matlab", "mysql", "nginx", "nim", "nix", "objc", "objective-c", "objectivec", "ocaml",
    "pascal", "perl", "pgsql", "php", "postgresql", "powershell", "prolog", "proto", "protobuf",
    "ps1", "puppet", "py", "pycon", "python", "python3", "r", "rb", "rs", "rst", "ruby", "rust",
    "sass", "scala", "scheme", "scss", "sh", "shell", "shell-session", "smalltalk", "solidity",
    "sql", "svelte", "swift", "tcl", "terraform", "tex", "toml", "ts", "tsx", "typescript", "vb",
    "vbnet", "verilog", "vhdl", "vim", "vue", "wasm", "xml", "yaml", "yml", "zig", "zsh",
))  # fmt: skip
"""Names that are a language without any mark, as highlight.js and rustdoc write them."""
_HIGHLIGHTERS: Final = frozenset(("highlight", "syntaxhighlighter", "codehilite"))
"""Around code these say that a name beside them is its language, as Hexo writes it."""
_LANGUAGE: Final = pattern(r"[a-z0-9][\w+#.\-]{0,30}")
_PEOPLE: Final = pattern(
    r"(?!(?:cs|fs|go|hs|js|kt|md|ml|pl|ps|py|rb|rs|sh|ts|vb)$)[a-z]{2}(?:-[a-z]+)?"
)
"""What `lang` says of the language of people."""
_NO_LANGUAGE: Final = frozenset((
    "auto", "default", "none", "text", "plain", "plaintext", "nohighlight", "unknown",
    "block", "body", "box", "code", "container", "content", "lines", "wrap", "wrapper",
))  # fmt: skip
"""What is written where a language would be, and is none."""
_LINKS, _IMAGES, _TABLES = tuple(Links), tuple(Images), tuple(Tables)
"""Their places are what the kernel knows them by (`src/kernel/markdown.h`)."""
_PUNCTUATION, _SYMBOL, _WORD = 1, 2, 4
"""Bits of what `character_kind` says (`src/kernel/markdown.h`)."""


def markdown(
    tree: Tree,
    labels: LabelArray,
    base_url: str | None,
    settings: MarkdownSettings = MarkdownSettings(),
) -> str:
    """The content as Markdown, with absolute links. Empty without content."""
    return str(_written(tree, labels, base_url, settings, has_parts=False))


class Part(NamedTuple):
    """Where a block of Markdown, or a row of a table, begins."""

    start: int
    """Characters before it."""
    node: int
    """The first node in it."""
    kind: int
    """1 … 6 for a heading, else one of the numbers below."""


CODE, TABLE, ROW = 7, 8, 9
"""Kinds of parts: a fence, a table with its first row, and each further row."""


def markdown_parts(
    tree: Tree, labels: LabelArray, base_url: str | None, settings: MarkdownSettings
) -> tuple[str, list[Part]]:
    """The content as Markdown, and where its blocks and the rows of its tables begin."""
    written, places = _written(tree, labels, base_url, settings, has_parts=True)
    found = np.frombuffer(places, np.int32).reshape(-1, 3)
    source = np.frombuffer(written.encode("utf-8", "surrogatepass"), np.uint8)
    found = found[found[:, 0] < len(source)].copy()  # A line at the page's end begins behind all.
    if not written.isascii():
        characters = np.concatenate(([0], np.cumsum((source & 0xC0) != 0x80)))
        found[:, 0] = characters[found[:, 0]]
    return written, [Part(*row) for row in found.tolist()]


def _written(
    tree: Tree,
    labels: LabelArray,
    base_url: str | None,
    settings: MarkdownSettings,
    *,
    has_parts: bool,
) -> Any:
    """What the kernel writes: a text, or a text and its parts."""
    wanted = (
        _LINKS.index(settings.links), _IMAGES.index(settings.images),
        _TABLES.index(settings.tables), int(has_parts),
    )  # fmt: skip
    base = base_of(tree, base_url)
    given = np.ascontiguousarray(labels)
    return _kernel.markdown(
        tree.kernel,
        given,
        base.absolute,
        language,
        character_kind,
        *base.begins(),
        *formulas(tree),
        footnotes(tree),
        wanted,
    )


@lru_cache(maxsize=1024)
def character_kind(character: str) -> int:
    """What a character beyond ASCII is to the rules of emphasis: bits, 0 for white space too."""
    if character.isalnum():
        return _WORD
    return {"P": _PUNCTUATION, "S": _SYMBOL}.get(unicodedata.category(character)[0], 0)


@lru_cache(maxsize=256)
def language(start_tag: bytes, is_around: bool) -> str | None:  # noqa: FBT001  by the kernel
    """The language of code that an element is marked with, of its own or of what stands in it."""
    classes = attribute(start_tag, b"class") or ""
    if any(mark in start_tag for mark in _MARKS):
        names = (
            b"data-lang", b"data-language", b"data-enlighter-language", b"data-tagsearch-lang",
        )  # fmt: skip
        for name in (*names, *(() if is_around else (b"lang",))):
            written = (attribute(start_tag, name) or "").strip().lower()
            is_people = name == b"lang" and _PEOPLE.fullmatch(written)
            if _LANGUAGE.fullmatch(written) and not is_people:
                return None if written in _NO_LANGUAGE else written
        for found in (_AROUND if is_around else _OWN).findall(classes):
            if found.lower() not in _NO_LANGUAGE:
                return str(found).lower()
    words = classes.lower().split()
    if is_around and not _HIGHLIGHTERS.intersection(words):
        return None
    return next((name for name in words if name in _KNOWN), None)
