"""The options of `dehusk spark`, apart from its work: `dehusk --help` passes through."""

from __future__ import annotations

import argparse

from dehusk.doors.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser its acts."""
    acts = parser.add_subparsers(dest="act", metavar="ACT", required=True)
    _add_clean(
        acts.add_parser(
            "clean",
            help="files in, content out, learned first and answered on then",
            description="Clean files on a Spark cluster in two passes: learn all, then answer.",
        )
    )


def _add_clean(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    group.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="a file or folder as `dehusk clean` takes it, where all executors see it, or the"
        " address of one (s3://…, hdfs://…)",
    )
    group.add_argument(
        "--paths", metavar="FILE", help="a list of further sources, one a line, packed or not"
    )
    group.add_argument(
        "--prefix", default="", metavar="ADDRESS", help="what stands before each line of --paths"
    )
    options.add_site(parser)
    options.add_method(parser)
    options.add_overrides(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", required=True, metavar="DIR",
        help="the folder to write to, which must not be there; also an address (s3://…)",
    )  # fmt: skip
    group.add_argument(
        "--format", choices=("jsonl", "parquet"), default="jsonl",
        help="JSON lines, or Parquet with a column for each field (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("-q", "--quiet", action="store_true", help="no summary")
    _add_cluster(parser)
    options.add_limits(parser)


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "--master",
        metavar="MASTER",
        help="where to run: local[2], spark://…, yarn (default: as spark-submit says, else all"
        " cores of this machine)",
    )
    group.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of Spark's; may be repeated",
    )
