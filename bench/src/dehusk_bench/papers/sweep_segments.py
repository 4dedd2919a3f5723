"""`dehusk bench sweep-segments`: what the life time of segments and the separating tags change."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.options import add_corpora, add_extent
from dehusk_bench.papers.table_sizes import (
    BATCH,
    Row,
    SiteTallies,
    Variant,
    choose,
    make_variants,
    mean_rows,
    measure,
)
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

SEPARATOR_NAMES: Final = ("default", "named", "layout", "lists", "block")

DESCRIPTION: Final = (
    "Run the method `segments` with many settings at once, as its paper does in table 1: recall and"
    " precision of template blocks, recall of template characters, F1 of content words, and the"
    " average size of the table, also as a share of what a batch of 24 pages would cache. Then the"
    " smallest table that finds almost as much as one that never forgets, chosen on all sites, and"
    " on every second site and tested on the others."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the sweep."""
    add_corpora(parser)
    parser.add_argument(
        "--base-life",
        type=_numbers,
        default=(2.0, 5.0, 10.0, 20.0, 50.0),
        metavar="TB,…",
        help="values of base_life, in pages (default: 2,5,10,20,50)",
    )
    parser.add_argument(
        "--life-factor",
        type=_numbers,
        default=(5.0, 20.0),
        metavar="N,…",
        help="values of life_factor (default: 5,20)",
    )
    parser.add_argument(
        "--separators",
        action="append",
        choices=SEPARATOR_NAMES,
        help="separating tags: those of the method, the two that the paper names, layout elements,"
        " these and whole lists, all block elements; may be repeated (default: default)",
    )
    parser.add_argument(
        "--max-loss",
        type=_share,
        default=0.02,
        metavar="X",
        help="recall that a smaller table may cost (default: %(default)s)",
    )
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers") from None


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return share


_HEADER: Final = (
    "separators", "Tb", "N", "block R", "block P", "text R", "content F1", "size kB", "share",
    "max share",
)  # fmt: skip
LEGEND: Final = (
    "Block R, P: recall and precision of template blocks; text R: recall of template characters;"
    " content F1: of words;\nsize: the average of the table's sizes after each page; share: of what"
    f" a batch of {BATCH} pages would cache; max share: the largest of a site.\nAll are means over"
    " sites. A dash under Tb and N: no ageing.\n"
)


def run(arguments: argparse.Namespace) -> int:
    """Run the sweep and print a table for each corpus; 1 if one could not be read to its end.

    Raises UsageError for a corpus that does not exist, SettingError for impossible settings.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    variants = make_variants(
        arguments.base_life, arguments.life_factor, arguments.separators or ["default"]
    )
    progress = Progress(sys.stderr)
    is_cut = False
    for corpus in corpora:
        sites, fault = measure(corpus, variants, progress.show)
        progress.clear()
        is_cut |= fault is not None
        lines = [f"{'## ' if arguments.markdown else ''}{corpus.name}: {len(sites)} sites\n"]
        rows = mean_rows(list(sites.values()), variants)
        lines.append(table(_HEADER, [_cells(row) for row in rows], markdown=arguments.markdown))
        lines += [f"{note}\n" for note in _notes(sites, variants, arguments.max_loss)]
        lines += [f"{fault}; what came before it was measured\n"] if fault else []
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    sys.stdout.write(LEGEND)
    return int(is_cut)


def _cells(row: Row) -> list[str]:
    """One row of the table."""
    method = row.variant.method
    life = [f"{method.base_life:g}", f"{method.life_factor:g}"] if method.ages else ["–", "–"]
    figures = (row.recall, row.precision, row.text_recall, row.content_f1)
    return [
        row.variant.separators,
        *life,
        *(number(figure) for figure in figures),
        number(row.average_size / 1000, 1),
        *(f"{share:.1%}" for share in (row.batch_share, row.max_share)),
    ]


def _notes(sites: SiteTallies, variants: Sequence[Variant], max_loss: float) -> Iterator[str]:
    """The choice on all sites, and the choice on half of them as the other half sees it."""
    every = list(sites.values())
    chosen = choose(mean_rows(every, variants), max_loss)
    if chosen is None:
        yield "No gold names the template here: nothing to choose by."
        return
    yield f"Smallest table within {max_loss:g} of the best recall: {_name(chosen)}."
    for half, others in ((every[::2], every[1::2]), (every[1::2], every[::2])):
        pick = choose(mean_rows(half, variants), max_loss)
        rows = {row.variant: row for row in mean_rows(others, variants)}
        if pick is None or not rows:
            continue
        seen = rows[pick.variant]
        best = max((row.recall or 0.0) for row in rows.values())
        yield (
            f"Chosen on {len(half)} sites: {_name(pick)}; on the other {len(others)} it loses"
            f" {best - (seen.recall or 0.0):.3f} of the best recall, share {seen.batch_share:.1%}."
        )


def _name(row: Row) -> str:
    """The settings of a row, in words."""
    method = row.variant.method
    life = f"Tb {method.base_life:g}, N {method.life_factor:g}" if method.ages else "no ageing"
    return f"{row.variant.separators} separators, {life}"
