"""`dehusk bench layout`: how far the estimated layout is from what a browser measures.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent, add_report

CORPORA: Final = ("samples:::6",)
DESCRIPTION: Final = (
    "Show pages in Chromium (install extra: render) and compare the boxes of their nodes with those"
    " that dehusk estimates without one. Nodes count that the browser gives an area; figures are"
    " medians over nodes, then means over pages."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser, " ".join(CORPORA))
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus that does not exist, or without a browser.
    """
    from dehusk_bench.layout_report import run_layout  # noqa: PLC0415  it loads numpy

    return run_layout(arguments)
