"""The command line: a door that reads options, calls the library and shows the answer.

Nothing heavy is imported before a command runs, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from importlib import import_module
from typing import Any, Final, NoReturn

from dehusk import __version__
from dehusk.bench import add_arguments as add_bench_arguments
from dehusk.bench import run as run_bench
from dehusk.cli import (
    crawl_options,
    options,
    page_options,
    serve_options,
    sites_options,
    spark_options,
    train_options,
    view_options,
)
from dehusk.cli.messages import Messages
from dehusk.errors import DehuskError, UsageError

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0, 1 (some pages failed), 2 (wrong use) or 130."""
    # A broken pipe is then always that of the output: only this ends a run.
    with redirect_stderr(Messages(sys.stderr)):
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command, and say what went wrong."""
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
        sys.stderr.write("dehusk: interrupted\n")
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


_MEANT: Final = {"dehusk": "clean", "dehusk sites": "--memory"}
"""What was left out where a file stands in the place of a command."""


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong, not in a screen of usage."""

    def error(self, message: str) -> NoReturn:
        """Exit with the message and where to read more."""
        self.exit(EXIT_USAGE, f"dehusk: {message}; see `{self.prog} --help`\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Tell a file where a command should stand from a command that is not there."""
        meant = _MEANT.get(self.prog)
        if meant and action.nargs == argparse.PARSER and os.path.isfile(value):  # noqa: PTH113
            raise argparse.ArgumentError(None, f"did you mean `{self.prog} {meant} {value}`")
        super()._check_value(action, value)


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="dehusk",
        description="Tell what web pages say from what their site repeats.",
        epilog="Exit status: 0 all well, 1 some pages failed, 2 wrong use, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"dehusk {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (help_line, description, add_arguments) in _COMMANDS.items():
        add_arguments(commands.add_parser(name, help=help_line, description=description))
    return parser


def _add_clean(parser: argparse.ArgumentParser) -> None:
    options.add_sources(parser)
    options.add_method(parser)
    options.add_memory(parser)
    options.add_passes(parser)
    options.add_overrides(parser)
    options.add_output(parser)
    crawl_options.add_crawl(parser)
    options.add_limits(parser)


def _add_template(parser: argparse.ArgumentParser) -> None:
    page_options.add_template(parser)
    _add_one_page(parser)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    page_options.add_explain(parser)
    _add_one_page(parser)


def _add_one_page(parser: argparse.ArgumentParser) -> None:
    """What the commands on one page share."""
    options.add_site(parser)
    options.add_method(parser)
    options.add_memory_file(parser)
    options.add_overrides(parser)
    options.add_limits(parser)


def _add_learn(parser: argparse.ArgumentParser) -> None:
    options.add_sources(parser)
    options.add_method(parser)
    options.add_memory(parser, is_required=True)
    options.add_jobs(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no summary")
    options.add_limits(parser)
    parser.set_defaults(favour=None, keep=(), drop=())


def _add_methods(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="METHOD", help="show this method's settings")


_COMMANDS: Final[dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]]] = {
    "clean": (
        "pages in, content out",
        "Read pages, learn their sites as they come, and write their content.",
        _add_clean,
    ),
    "template": (
        "one page in, its template out",
        "Find a page's template by comparing it with other pages of its site.",
        _add_template,
    ),
    "explain": (
        "why each region of a page is kept or dropped",
        "Show a page's regions with their scores, what page and site said of them, and why.",
        _add_explain,
    ),
    "learn": (
        "pages in, only the memory is changed",
        "Read pages and learn their sites, without an answer on them.",
        _add_learn,
    ),
    "view": (
        "pages and what was found on them, in a browser",
        "Read pages and show them in a browser: what is template, what is content, and why.",
        view_options.add_arguments,
    ),
    "serve": (
        "the same over HTTP",
        "Answer over HTTP: post a page, get its content. /openapi.json describes it to programs.",
        serve_options.add_arguments,
    ),
    "sites": (
        "what a memory knows",
        "List the sites of a memory, or do something with them.",
        sites_options.add_arguments,
    ),
    "spark": (
        "the same on a Spark cluster",
        "Clean more pages than one machine can: on a Spark cluster, or all cores of this machine.",
        spark_options.add_arguments,
    ),
    "methods": (
        "what methods there are",
        "List the methods and their settings.",
        _add_methods,
    ),
    "demo": (
        "clean sample sites and show what happened",
        "Write sample sites to a folder, clean them, and show what came out.",
        options.add_demo,
    ),
    "train": (
        "train the model of a method",
        "Train the model of a method on pages of many sites, without labels.",
        train_options.add_arguments,
    ),
    "bench": (
        "measure quality and speed",
        "Measure methods and other extractors on pages with known content.",
        add_bench_arguments,
    ),
}
"""Each command: its line in the list of commands, what its own help says, its options."""
