"""The options of `dehusk train`, apart from its work: `dehusk --help` passes through."""

from __future__ import annotations

import argparse

from dehusk.doors.options import add_limits, add_site, positive_float, positive_int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which model to train, on what, and where to write it."""
    models = parser.add_subparsers(dest="model", required=True, metavar="MODEL")
    page = models.add_parser(
        "page",
        help="the model of the methods page and page-basic",
        description="Learn from pages of many sites what template looks like: nodes that come back"
        " on a tenth of a site's pages are the examples. Prints how well sites are judged that"
        " were held out. Every page is read twice.",
    )
    page.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="as for `dehusk clean`, or sample sites as for `dehusk bench quality`",
    )
    _add_output(page)
    page.add_argument(
        "--min-pages",
        type=positive_int,
        default=30,
        metavar="N",
        help="leave out sites with fewer pages (default: %(default)s)",
    )
    page.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="what decides which nodes are drawn (default: %(default)s)",
    )
    add_site(page)
    add_limits(page)
    _add_train_auto(models)


def _add_train_auto(models: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """What to train the networks of `auto` on."""
    auto = models.add_parser(
        "auto",
        help="the networks of the method auto",
        description="Fit the networks of auto to pages with gold. Prints how well sites are judged"
        " by networks that have not seen them (nor another site of the same generator). All pages"
        " are held in memory as numbers: 4 GB for 7,000 pages.",
    )
    auto.add_argument(
        "sources",
        nargs="+",
        metavar="CORPUS",
        help="pages with gold, as for `dehusk bench quality`",
    )
    _add_output(auto)
    auto.add_argument(
        "--folds",
        metavar="DIR",
        help="write the models of the cross-validation there, for `dehusk bench quality --folds`",
    )
    auto.add_argument(
        "--weight",
        action="append",
        default=[],
        type=_weight,
        metavar="CORPUS=FACTOR",
        help="let a corpus count more or less than the others of its kind; may be given again",
    )
    auto.add_argument(
        "--without",
        action="append",
        default=[],
        choices=("page", "memory", "regions", "families"),
        help="leave out a part, to see what it is worth; may be given again",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="where to write the model"
    )


def _weight(written: str) -> tuple[str, float]:
    """A corpus and how much it counts."""
    corpus, _, factor = written.rpartition("=")
    if not corpus:
        raise argparse.ArgumentTypeError(f"{written!r} is not CORPUS=FACTOR")
    return corpus, positive_float(factor)
