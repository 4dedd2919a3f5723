"""The command line: a door that reads options, calls the library and shows the answer.

Nothing heavy is imported before a command runs, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from dehusk import __version__
from dehusk.bench import add_arguments as add_bench_arguments
from dehusk.bench import run as run_bench
from dehusk.cli import crawl_options, options
from dehusk.cli.sites_options import add_arguments as add_sites_arguments
from dehusk.errors import DehuskError, UsageError

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0, 1 (some pages failed), 2 (wrong use) or 130."""
    try:
        given = make_parser().parse_args(arguments)
        return _command(given.command)(given)
    except UsageError as error:
        sys.stderr.write(f"dehusk: {error}\n")
        return EXIT_USAGE
    except BrokenPipeError:
        # Whoever read the output has seen enough. What is left must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except (DehuskError, OSError) as error:
        sys.stderr.write(f"dehusk: {error}\n")
        return EXIT_FAILED


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """The function behind a command, loaded when it is needed."""
    if name == "bench":
        return run_bench
    run: Callable[[argparse.Namespace], int] = import_module(f"dehusk.cli.{name}").run
    return run


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="dehusk",
        description="Tell what web pages say from what their site repeats.",
        epilog="Exit status: 0 all well, 1 some pages failed, 2 wrong use, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"dehusk {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    clean = commands.add_parser(
        "clean",
        help="pages in, content out",
        description="Read pages, learn their sites as they come, and write their content.",
    )
    options.add_sources(clean)
    options.add_method(clean)
    options.add_memory(clean)
    options.add_passes(clean)
    options.add_overrides(clean)
    options.add_output(clean)
    crawl_options.add_crawl(clean)
    options.add_limits(clean)

    template = commands.add_parser(
        "template",
        help="one page in, its template out",
        description="Find a page's template by comparing it with other pages of its site.",
    )
    options.add_template(template)
    options.add_site(template)
    options.add_method(template)
    options.add_memory_file(template)
    options.add_overrides(template)
    options.add_limits(template)

    explain = commands.add_parser(
        "explain",
        help="why each region of a page is kept or dropped",
        description="Show the regions of a page with their scores, what the page and what the site"
        " said of them, and why they are kept or dropped.",
    )
    options.add_explain(explain)
    options.add_site(explain)
    options.add_method(explain)
    options.add_memory_file(explain)
    options.add_limits(explain)

    learn = commands.add_parser(
        "learn",
        help="pages in, only the memory is changed",
        description="Read pages and learn their sites, without an answer on them.",
    )
    options.add_sources(learn)
    options.add_method(learn)
    options.add_memory(learn, is_required=True)
    learn.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
    options.add_limits(learn)
    learn.set_defaults(favour=None, keep=(), drop=())

    add_sites_arguments(
        commands.add_parser(
            "sites",
            help="what a memory knows",
            description="List the sites of a memory, or do something with them.",
        )
    )

    methods = commands.add_parser(
        "methods", help="what methods there are", description="List the methods and their settings."
    )
    methods.add_argument("name", nargs="?", metavar="METHOD", help="show this method's settings")

    demo = commands.add_parser(
        "demo",
        help="clean sample sites and show what happened",
        description="Write sample sites to a folder, clean them, and show what came out.",
    )
    options.add_demo(demo)

    options.add_train(
        commands.add_parser(
            "train",
            help="train the model of a method",
            description="Train the model of a method on pages of many sites, without labels.",
        )
    )

    add_bench_arguments(
        commands.add_parser(
            "bench",
            help="measure quality and speed",
            description="Measure methods and other extractors on pages with known content.",
        )
    )
    return parser
