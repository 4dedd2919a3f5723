"""`dehusk bench markdown --words`: has Markdown, once rendered, the words of the text?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

import dehusk
from dehusk.answer.footnotes import GONE, REFERENCE, footnotes
from dehusk.answer.labels import Label, LabelArray
from dehusk.answer.markdown import markdown
from dehusk.answer.text import text
from dehusk.errors import PageError
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.settings import Images, MarkdownSettings
from dehusk_bench.markdown.parts import footnotes_as_blocks, html_text, named_callouts, outside_code

HEADS: Final = ("pages", "by auto", "all kept")
_URL: Final = "https://page.example/"
_WITHOUT_IMAGES: Final = MarkdownSettings(images=Images.NONE)
"""Text has no alternative texts."""
_FORMULA: Final = re.compile(
    r"(?<!\\)\$\$((?:(?!\n\n).)+?)(?<!\\)\$\$|(?<![\\$])\$(?=\S)((?:\\.|[^$\\\n])+?)(?<=\S)\$(?!\d)",
    re.DOTALL,
)
_TASK: Final = re.compile(r"^([ >]*(?:(?:[-*]|\d+[.)]) )+)\[[ x]\](?:[ ]|$)", re.MULTILINE)
_TAKEN: Final = re.compile("\ue000(\\d+)\ue001")
"""What stands for a formula while others read the rest."""
_WORD: Final = re.compile(r"\w+")


class Difference(NamedTuple):
    """A page whose Markdown has other words than its text."""

    url: str | None
    kept: str
    """`by auto`, or `all kept`."""
    missing: tuple[str, ...]
    added: tuple[str, ...]


class Found(NamedTuple):
    """How many pages were read, and where words differ."""

    pages: int
    differences: tuple[Difference, ...]

    def row(self) -> tuple[str, ...]:
        """The figures below `HEADS`."""
        kinds = Counter(each.kept for each in self.differences)
        return (str(self.pages), *(str(kinds[kept]) for kept in HEADS[1:]))


def compare_words(pages: Iterable[Page]) -> Found:
    """Where the words differ, with the content that `auto` finds and with all that is shown."""
    count = 0
    found: list[Difference] = []
    for page in pages:
        try:
            result = dehusk.extract(page.html, page.url)
        except PageError:
            continue
        count += 1
        shown = np.where(result.tree.shown, Label.CONTENT, Label.HIDDEN).astype(np.int8)
        for kept, labels in zip(HEADS[1:], (result.labels.labels, shown), strict=True):
            ours = _without_notes(result.tree, labels)
            wanted = _words(text(result.tree, ours))
            written = _words(said(markdown(result.tree, ours, _URL, _WITHOUT_IMAGES)))
            if wanted != written:
                missing = Counter(wanted) - Counter(written), Counter(written) - Counter(wanted)
                found.append(Difference(page.url, kept, *(tuple(each) for each in missing)))
    return Found(count, tuple(found))


def _without_notes(tree: Tree, labels: LabelArray) -> LabelArray:
    """The labels without the marks of footnotes and the ways back, which text has as links."""
    ours = labels.copy()
    for node, _, kind in np.frombuffer(footnotes(tree), np.int32).reshape(-1, 3).tolist():
        if kind in (GONE, REFERENCE):
            ours[node : tree.end[node]] = np.maximum(ours[node : tree.end[node]], Label.TEMPLATE)
    return ours


def _words(said: str) -> list[str]:
    return _WORD.findall(said.lower())


def said(written: str) -> str:
    """What a reader of Markdown has before them: formulas as LaTeX, boxes of tasks left out."""
    formulas: list[str] = []

    def take(found: re.Match[str]) -> str:
        formulas.append(found[1] or found[2])
        return f"\ue000{len(formulas) - 1}\ue001"

    plain = outside_code(_FORMULA, take, footnotes_as_blocks(written))
    plain = outside_code(_TASK, lambda found: found[1], plain)
    read = html_text(_reader().render(named_callouts(plain)))
    return _TAKEN.sub(lambda found: formulas[int(found[1])], read)


@cache
def _reader() -> Any:
    """A reader of CommonMark that shows bare addresses as they are written."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  needs an extra

    reader = MarkdownIt("commonmark", {"html": True, "maxNesting": 200})
    reader.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return reader.enable(["table", "strikethrough"])
