"""`dehusk bench memory`: what it costs to keep memories, and what they survive.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.shared_options import positive

DESCRIPTION: Final = (
    "Clean pages of many sites with their memories in a file, at each durability, side by side with"
    " no file at all: CPU and pages a second, bytes, time to read back, resident memory. --kills"
    " ends a writing process at random moments instead, --flood throws new text at one site,"
    " --growth learns one site for long."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    figures = {
        "--sites": (70, "sites whose pages come in turn"),
        "--pages": (20, "pages of each site"),
        "--many": (10_000, "sites that are held in memory to see what they take"),
    }
    for option, (default, meaning) in figures.items():
        parser.add_argument(
            option,
            type=positive,
            default=default,
            metavar="N",
            help=f"{meaning} (default: %(default)s)",
        )
    parser.add_argument(
        "--postgres",
        metavar="ADDRESS",
        help="measure an empty database too (postgresql://…); dehusk makes its tables there",
    )
    parser.add_argument(
        "--kills",
        type=positive,
        metavar="N",
        help="kill -9 a writing process so often, and verify what it left each time",
    )
    parser.add_argument(
        "--flood",
        type=positive,
        metavar="N",
        help="throw so many segments that never come back at one site, and measure its pages",
    )
    parser.add_argument(
        "--flood-page",
        type=positive,
        default=50_000,
        metavar="N",
        help="new segments on each page of the flood (default: %(default)s)",
    )
    parser.add_argument(
        "--growth",
        type=positive,
        metavar="N",
        help="learn one site of so many pages, and measure its memory beside its HTML",
    )
    parser.add_argument(
        "--method",
        dest="methods",
        action="append",
        default=[],
        metavar="NAME",
        help="the method that learns (default: the default method); may be repeated for --growth",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random moments")
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if something was lost or counted twice."""
    from dehusk.methods import DEFAULT  # noqa: PLC0415  it loads numpy

    methods = arguments.methods or [DEFAULT]
    if arguments.growth:
        from dehusk_bench.memory_growth import run_growth  # noqa: PLC0415  it loads numpy

        return run_growth(arguments.growth, methods, markdown=arguments.markdown)
    if len(methods) > 1:
        raise UsageError("one --method at a time, but for --growth")
    if arguments.kills:
        from dehusk_bench.memory_kills import run_kills  # noqa: PLC0415  it loads numpy

        return run_kills(arguments.kills, arguments.seed, methods[0])
    if arguments.flood:
        from dehusk_bench.memory_flood import Flood, run_flood  # noqa: PLC0415  it loads numpy

        flood = Flood(arguments.flood, arguments.flood_page, methods[0])
        return run_flood(flood, markdown=arguments.markdown)
    from dehusk_bench.memory_costs import run_costs  # noqa: PLC0415  it loads numpy

    return run_costs(arguments, methods[0])
