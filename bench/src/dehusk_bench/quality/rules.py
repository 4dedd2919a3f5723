"""`dehusk bench rules`: what the rules of `dehusk template` give on pages they have not seen."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.override import Overrides, choose
from dehusk.methods import DEFAULT, settings_of
from dehusk.methods.written import parse_method
from dehusk.page.parse import parse
from dehusk.template.slots import Rules
from dehusk.template.templates import template_of
from dehusk_bench.options import add_methods, positive
from dehusk_bench.samples import KINDS, SamplePage, sample_site
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Make the rules of the largest family of each sample site from its first pages, and try them on"
    " as many that follow: the share of the content's letters that the rules give (found), and the"
    " share of content in what they give (clean)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_methods(parser, "the one that dehusk uses by default")
    parser.add_argument(
        "--seed",
        dest="seeds",
        type=positive,
        action="append",
        metavar="N",
        help="a site of each kind with this seed; may be repeated (default: 3 and 5)",
    )
    parser.add_argument(
        "--pages",
        type=positive,
        default=30,
        metavar="N",
        help="pages that the rules are made from, and pages they are tried on (default: 30)",
    )
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


@dataclass(frozen=True, slots=True)
class Tried:
    """What rules gave on the unseen pages of a family."""

    site: str
    family: str
    pages: int
    found: float
    clean: float
    rules: int


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table. Raises UsageError for an unknown method."""
    for written in arguments.methods or [DEFAULT]:
        method = parse_method(written)
        settings = settings_of(method)
        rows = [
            try_rules(kind, seed, arguments.pages, method.name, settings)
            for kind in KINDS
            for seed in arguments.seeds or (3, 5)
        ]
        sys.stdout.write(f"{written}\n{_table(rows, markdown=arguments.markdown)}\n")
    return 0


def try_rules(kind: str, seed: int, pages: int, method: str, settings: dict[str, Any]) -> Tried:
    """What rules from the first pages of a sample site give on as many that follow."""
    site = list(sample_site(kind, pages=2 * pages, seed=seed))
    seen, unseen = site[:pages], site[pages:]
    family = Counter(sample.family for sample in seen).most_common(1)[0][0]
    key = next(sample for sample in seen if sample.family == family)
    others = (sample.page for sample in seen if sample is not key)
    rules = template_of(key.page, others, method=method, **settings).family.rules
    tried = [sample for sample in unseen if sample.family == family]
    both, content, given = (sum(column) for column in zip(*_letters(rules, tried), strict=True))
    size = len(rules.content) + len(rules.strip)
    found, clean = both / max(content, 1), both / max(given, 1)
    return Tried(f"{kind} {seed}", family, len(tried), found, clean, size)


def _letters(rules: Rules, pages: Sequence[SamplePage]) -> Iterator[tuple[int, int, int]]:
    """Of each page the letters of content given, of content, and of all that is given."""
    wanted = Overrides(
        tuple(selector.css for selector in rules.content),
        tuple(selector.css for selector in rules.strip),
    )
    for sample in pages:
        parsed = parse(sample.page)
        tree = parsed.tree
        length = np.where(tree.is_text & tree.shown, tree.text_length, 0)
        is_given = choose(tree, parsed.document, wanted) == Label.CONTENT.value
        is_content = sample.labels == Label.CONTENT.value
        yield (
            int(length[is_content & is_given].sum()),
            int(length[is_content].sum()),
            int(length[is_given].sum()),
        )


def _table(rows: Sequence[Tried], *, markdown: bool) -> str:
    header = ("site", "family", "unseen pages", "rules", "found", "clean")
    cells = [
        (row.site, row.family, str(row.pages), str(row.rules), number(row.found), number(row.clean))
        for row in rows
    ]
    found, clean = fmean(row.found for row in rows), fmean(row.clean for row in rows)
    cells.append(("mean", "", "", "", number(found), number(clean)))
    return table(header, cells, markdown=markdown)
