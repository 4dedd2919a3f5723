"""`dehusk bench page-tables`: table 1 and figures 1–3 of the paper of `page`, on our data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError
from dehusk.methods.papers.page import PageSmooth
from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.options import add_corpora, add_extent
from dehusk_bench.papers.page_measures import PageFigures, Tally, Thing, measure
from dehusk_bench.plots import bar_plot, line_plot
from dehusk_bench.showing import Progress
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "What the paper of `page` reports on pages whose template is known: F of the words, anchor"
    " words and links that are found to be inside template, without and with smoothing (its table"
    " 1); how near the sections are to the true ones by the adjusted Rand index, also of a naive"
    " merging of neighbours (figure 1); both by the penalty of a section (figures 2 and 3)."
    " Corpora need gold that names nodes."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    parser.add_argument(
        "--factors",
        type=_factors,
        default=(0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0),
        metavar="X,…",
        help="what the penalty is multiplied by for figures 2 and 3 (default: 0.01,0.1,0.3,1,3,10,"
        "100,1000)",
    )
    parser.add_argument(
        "--penalty",
        type=_penalty,
        default=0.001,
        metavar="C",
        help="the penalty of the method page; the paper has 0.01 (default: %(default)s)",
    )
    parser.add_argument("--model", default="", metavar="FILE", help="another page model")
    parser.add_argument("--plots", metavar="DIR", help="write the figures to this folder as SVG")
    add_extent(parser)
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def _factors(text: str) -> tuple[float, ...]:
    try:
        factors = tuple(float(part) for part in text.split(","))
    except ValueError:
        factors = ()
    if not factors or not all(0 < factor < float("inf") for factor in factors):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers above 0")
    return factors


def _penalty(text: str) -> float:
    return _factors(text)[0]


PAPER: Final = (
    ("the paper, Common (44 pages)", (0.56, 0.65, 0.69), (0.60, 0.71, 0.73)),
    ("the paper, Random (100 pages)", (0.63, 0.71, 0.75), (0.66, 0.73, 0.77)),
)
"""Table 1 as printed: F of text, anchor text and links, of Basic and of Smooth."""
LEGEND: Final = (
    "F: of words, anchor words and links called template, against those inside template. Rand:\n"
    "the adjusted Rand index of the sections; 1 is the gold, 0 is chance. Both per page, averaged\n"
    "over the pages of a site, then over sites; pooled: the things of all pages as if of one.\n"
    "Basic: the model alone; merge: neighbours whose\n"
    "scores differ by less than delta go together, the best delta taken; smooth: the method page.\n"
)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus or a folder that does not exist.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    folder = None if arguments.plots is None else Path(arguments.plots)
    if folder is not None and not folder.is_dir():
        raise UsageError(f"--plots {folder}: there is no such folder")
    method = PageSmooth(model=arguments.model, penalty=arguments.penalty)
    progress = Progress(sys.stderr)
    results = [measure(corpus, method, arguments.factors, progress.show) for corpus in corpora]
    progress.clear()
    sys.stdout.write(render(results, markdown=arguments.markdown))
    if folder is not None:
        for name, plot in plots(results).items():
            (folder / name).write_text(plot, "utf-8")
    return int(any(result.fault for result in results))


def render(results: Sequence[PageFigures], *, markdown: bool = False) -> str:
    """The tables of all corpora."""
    head = "## " if markdown else ""
    parts = [f"{head}Table 1: F of what is inside template\n"]
    parts.append(table(_TABLE_1, _table_1(results), markdown=markdown))
    parts.append(f"{head}Figure 1: adjusted Rand index of the sections\n")
    parts.append(table(_FIGURE_1, [_figure_1(each) for each in results], markdown=markdown))
    for each in results:
        parts.append(f"{head}Figures 2 and 3: by penalty, {each.corpus}\n")
        rows = [_by_factor(f, tally) for f, tally in each.by_factor.items()]
        parts.append(table(_FIGURE_2, rows, markdown=markdown))
    notes = [f"{each.corpus}: {note}" for each in results for note in _notes(each)]
    return "\n".join([*parts, *notes, LEGEND])


_TABLE_1: Final = ("pages", *(f"{thing} {kind}" for thing in Thing for kind in ("basic", "smooth")))
_FIGURE_1: Final = ("corpus", "basic", "merge", "delta", "smooth")
_FIGURE_2: Final = ("penalty ×", *Thing, "rand")


def _table_1(results: Sequence[PageFigures]) -> list[list[str]]:
    """A row for each corpus, and those of the paper."""
    rows = []
    for each in results:
        pairs = [(each.basic.f1(t), each.smooth.f1(t)) for t in Thing]
        rows.append([f"{each.corpus} ({each.pages:,} pages)", *_flat(pairs)])
        pairs = [(each.basic.pooled_f1(t), each.smooth.pooled_f1(t)) for t in Thing]
        rows.append([f"{each.corpus}, pooled", *_flat(pairs)])
    for name, basic, smooth in PAPER:
        rows.append([name, *_flat(list(zip(basic, smooth, strict=True)))])
    return rows


def _flat(pairs: Sequence[tuple[float, float]]) -> list[str]:
    return [number(value) for pair in pairs for value in pair]


def _figure_1(each: PageFigures) -> list[str]:
    """One row of figure 1."""
    delta = each.best_delta
    figures = (each.basic.rand, each.merged[delta].rand)
    return [each.corpus, *map(number, figures), f"{delta:g}", number(each.smooth.rand)]


def _by_factor(factor: float, tally: Tally) -> list[str]:
    """One row of figures 2 and 3."""
    return [f"{factor:g}", *(number(tally.f1(t)) for t in Thing), number(tally.rand)]


def _notes(each: PageFigures) -> list[str]:
    """What was left out."""
    notes = [] if each.fault is None else [f"{each.fault}; what came before it was measured\n"]
    if each.passed_over:
        notes.append(f"{each.passed_over} pages passed over: their gold names no nodes\n")
    return notes


def plots(results: Sequence[PageFigures]) -> dict[str, str]:
    """The figures as SVG, by file name."""
    bars = {
        each.corpus: {
            "basic": each.basic.rand,
            "basic + merge": each.merged[each.best_delta].rand,
            "smooth": each.smooth.rand,
        }
        for each in results
    }
    f1 = {
        f"{each.corpus}: {thing}": [(f, t.f1(thing)) for f, t in each.by_factor.items()]
        for each in results
        for thing in Thing
    }
    rands = {each.corpus: [(f, t.rand) for f, t in each.by_factor.items()] for each in results}
    axis = "factor of the penalty"
    return {
        "page-figure-1.svg": bar_plot("Sections against the gold", "adjusted Rand index", bars),
        "page-figure-2.svg": line_plot("Inside template, by penalty", (axis, "F"), f1, log_x=True),
        "page-figure-3.svg": line_plot(
            "Sections, by penalty", (axis, "adjusted Rand index"), rands, log_x=True
        ),
    }
