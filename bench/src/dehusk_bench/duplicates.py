"""`dehusk bench duplicates`: table 2 of 003, duplicates found with and without the template.

Only argparse is loaded here: `dehusk --help` passes through.
"""

from __future__ import annotations

import argparse
from typing import Final

from dehusk_bench.shared_options import add_corpora, add_extent, add_methods, add_report

CORPORA: Final = tuple(f"samples:stories:{seed}:60" for seed in range(9))
"""Nine sites with the same 48 stories, three of each weight. With fewer, chance decides on full
text: which shingles of a site's template have small hashes is the same on all its pages."""
DESCRIPTION: Final = (
    "Tell duplicate pages by sketches of their text (the 8 smallest hashes of runs of 6 words, 4 in"
    " common), with the template left in and taken out by each method. Duplicates are pages with"
    " the same subject on two sites; non-duplicates are pages of one site with different subjects."
    " Every site is learned whole before its pages are judged."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(
        parser,
        "nine sample sites, samples:stories:0:60 to :8:60",
        ", with a `subject` in the records",
    )
    add_methods(parser, "all")
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus or a method that does not exist.
    """
    from dehusk_bench.duplicates_report import run_duplicates  # noqa: PLC0415  it loads numpy

    return run_duplicates(arguments)
