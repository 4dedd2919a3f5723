"""`dehusk bench markdown`: how near Markdown is to what the content's HTML says."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.markdown import markdown
from dehusk.errors import PageError
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.markdown.gold import Asked, Gold, by_pandoc, gold_of, made_pages
from dehusk_bench.markdown.parts import COLUMNS, compare, read_parts
from dehusk_bench.markdown.words import HEADS, compare_words
from dehusk_bench.options import add_corpora, add_extent, add_report
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Hand the content of pages, by their gold nodes, to dehusk and to others that write Markdown,"
    " and compare what they write with what its elements hold, or with what pandoc writes of them:"
    " edit distance of text, code, formulas and tables, and TEDS of tables, as WebMainBench has"
    " them, 0 to 1. `made` are pages with known formulas, in the ways that pages show them."
)
_MADE: Final = "made"
_MADE_PAGES: Final = 28
_URL: Final = "https://page.example/"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser, _MADE, f"; `{_MADE}` for pages with formulas")
    parser.add_argument(
        "--gold",
        choices=tuple(Gold),
        type=Gold,
        default=Gold.ELEMENTS,
        help="compare with what the elements hold (the default), or with what pandoc writes, but"
        " for tables that only lay out a page, line numbers and signs of links",
    )
    parser.add_argument(
        "--words",
        action="store_true",
        help="count the pages whose Markdown, once rendered, has other words than their text,"
        " instead: with the content that `auto` finds, and with all that is shown",
    )
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure all contenders on each corpus and print the tables. Raises UsageError."""
    if arguments.words:
        return _run_words(arguments)
    contenders = dict(_contenders(arguments.gold))
    figures: dict[str, Any] = {}
    for name in arguments.corpora or [_MADE]:
        asked = _asked(name, Caps(arguments.sites, arguments.pages), arguments.gold)
        figures[name] = measured = measure(asked, contenders)
        sys.stdout.write(f"{name}\n{_table(measured, markdown=arguments.markdown)}\n\n")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 0


def _run_words(arguments: argparse.Namespace) -> int:
    """Print how many pages have other words in Markdown than in text."""
    caps = Caps(arguments.sites, arguments.pages)
    found = {}
    for name in arguments.corpora or ["samples"]:
        found[name] = compare_words(page.page for page in open_corpus(name, caps).pages())
    rows = [(Path(name).name, *each.row()) for name, each in found.items()]
    sys.stdout.write(f"{table(('', *HEADS), rows, markdown=arguments.markdown)}\n")
    if arguments.json:
        figures = {
            name: [each._asdict() for each in pages.differences] for name, pages in found.items()
        }
        written = json.dumps(figures, indent=1, ensure_ascii=False)
        Path(arguments.json).write_text(written, encoding="utf-8")
    return 0


def _asked(name: str, caps: Caps, gold: Gold) -> Iterator[Asked]:
    """The pages to write, with their gold."""
    if name == _MADE:
        yield from made_pages(_MADE_PAGES)
        return
    for page in open_corpus(name, caps).pages():
        if asked := gold_of(page, gold):
            yield asked


def measure(
    asked: Iterable[Asked], contenders: dict[str, Callable[[str], str]]
) -> dict[str, dict[str, tuple[float, int]]]:
    """Of each contender and column the mean over pages, and over how many."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for html, gold in asked:
        for name, write in contenders.items():
            for column, score in compare(gold, read_parts(write(html))).items():
                if score is not None:
                    scores[name][column].append(score)
    return {
        name: {
            column: (fmean(each[column]), len(each[column])) for column in COLUMNS if each[column]
        }
        for name, each in scores.items()
    }


def _table(measured: dict[str, dict[str, tuple[float, int]]], *, markdown: bool) -> str:
    rows = [
        (name, *(number(row[column][0]) if column in row else "" for column in COLUMNS))
        for name, row in measured.items()
    ]
    counts = next(iter(measured.values()), {})
    pages = [str(counts[column][1]) if column in counts else "" for column in COLUMNS]
    return table(("", *COLUMNS), [*rows, ("pages", *pages)], markdown=markdown)


def write_all(html: str) -> str:
    """What dehusk writes of a page all of which is content. Empty for one that it refuses."""
    try:
        tree = parse(Page(html, _URL)).tree
    except PageError:
        return ""
    labels = np.where(tree.shown, Label.CONTENT, Label.HIDDEN).astype(np.int8)
    return markdown(tree, labels, _URL)


def _contenders(gold: Gold) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Who is measured: dehusk, and those of the others that are installed."""
    yield "dehusk", write_all
    if gold is not Gold.PANDOC:
        yield "pandoc", by_pandoc
    for name, (module, write) in _PEERS.items():
        if find_spec(module):
            yield name, _guarded(importlib.import_module(module), write)


def _guarded(module: Any, write: Callable[[Any, str], str | None]) -> Callable[[str], str]:
    def written(html: str) -> str:
        try:
            return write(module, html) or ""
        except Exception:  # noqa: BLE001  a peer that fails on a page has no Markdown for it
            return ""

    return written


_PEERS: Final[dict[str, tuple[str, Callable[[Any, str], str | None]]]] = {
    "trafilatura": (
        "trafilatura",
        lambda module, html: module.extract(
            html, output_format="markdown", include_tables=True, include_links=True,
            include_formatting=True, favor_recall=True,
        ),
    ),
    "turbohtml": ("turbohtml", lambda module, html: module.parse(html).to_markdown()),
    "html-to-markdown": ("html_to_markdown", lambda module, html: module.convert(html).content),
    "markdownify": (
        "markdownify", lambda module, html: module.markdownify(html, heading_style="ATX"),
    ),
}  # fmt: skip
