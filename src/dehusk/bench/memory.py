"""`dehusk bench memory`: what it costs to keep memories, and what they survive.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.bench.extent import positive

DESCRIPTION: Final = (
    "Clean pages of many sites with their memories in a file, at each durability, side by side with"
    " no file at all: CPU and pages a second, bytes, time to read back, resident memory. --kills"
    " ends a writing process at random moments instead, --flood throws new text at one site."
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
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random moments")
    parser.add_argument("--markdown", action="store_true", help="write the tables as Markdown")


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its tables; 1 if something was lost or counted twice."""
    if arguments.kills:
        from dehusk.bench.memory_kills import run_kills  # noqa: PLC0415  it loads numpy

        return run_kills(arguments.kills, arguments.seed)
    if arguments.flood:
        from dehusk.bench.memory_flood import run_flood  # noqa: PLC0415  it loads numpy

        return run_flood(arguments.flood, markdown=arguments.markdown)
    from dehusk.bench.memory_costs import run_costs  # noqa: PLC0415  it loads numpy

    return run_costs(arguments)
