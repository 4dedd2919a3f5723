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
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final, NamedTuple, NoReturn

from dehusk import __version__
from dehusk.doors.cli.messages import Messages
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
        words = sys.argv[1:] if arguments is None else arguments
        wanted = words[0] if words else ""
        if wanted in COMMANDS and not _is_installed(COMMANDS[wanted]):
            bench_module(f"`dehusk {wanted}`")
        given = make_parser(wanted).parse_args(words)
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
    run: Callable[[argparse.Namespace], int] = import_module(COMMANDS[name].module).run
    return run


def bench_module(what: str, name: str = "") -> ModuleType:
    """A module of `dehusk-bench`. Raises UsageError where it is not installed: `what` needs it."""
    if not find_spec(_BENCH):
        raise UsageError(f"{what} comes with dehusk-bench: pip install dehusk-bench")
    return import_module(f"{_BENCH}.{name}".rstrip("."))


def _is_installed(command: Command) -> bool:
    """Is the package there that a command is in?"""
    return find_spec(command.module.partition(".")[0]) is not None


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


def make_parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line; only the command that is wanted has its options, or all."""
    parser = _Parser(
        prog="dehusk",
        description="Tell what web pages say from what their site repeats.",
        epilog="Exit status: 0 all well, 1 some pages failed, 2 wrong use, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"dehusk {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        if not _is_installed(command):
            continue
        below = commands.add_parser(name, help=command.help, description=command.description)
        if wanted in (None, name):
            module, _, function = command.arguments.partition(":")
            getattr(import_module(module), function)(below)
    return parser


class Command(NamedTuple):
    """A command: its line in the list of commands, what its own help says, and where it is."""

    help: str
    description: str
    module: str
    """It has `run`, which takes what was given."""
    arguments: str
    """The function that gives a parser the command's options, as `module:function`."""


_CLI: Final = "dehusk.doors.cli"
_BENCH: Final = "dehusk_bench"

COMMANDS: Final = {
    "clean": Command(
        "pages in, content out",
        "Read pages, learn their sites as they come, and write their content.",
        f"{_CLI}.clean",
        f"{_CLI}.page_options:add_clean",
    ),
    "template": Command(
        "one page in, its template out",
        "Find a page's template by comparing it with other pages of its site.",
        f"{_CLI}.template",
        f"{_CLI}.page_options:add_template",
    ),
    "explain": Command(
        "why each region of a page is kept or dropped",
        "Show a page's regions with their scores, what page and site said of them, and why.",
        f"{_CLI}.explain",
        f"{_CLI}.page_options:add_explain",
    ),
    "learn": Command(
        "pages in, only the memory is changed",
        "Read pages and learn their sites, without an answer on them.",
        f"{_CLI}.learn",
        f"{_CLI}.page_options:add_learn",
    ),
    "view": Command(
        "pages and what was found on them, in a browser",
        "Read pages and show them in a browser: what is template, what is content, and why.",
        f"{_CLI}.view",
        f"{_CLI}.view_options:add_arguments",
    ),
    "serve": Command(
        "the same over HTTP",
        "Answer over HTTP: post a page, get its content. /openapi.json describes it to programs.",
        f"{_CLI}.serve",
        f"{_CLI}.serve_options:add_arguments",
    ),
    "sites": Command(
        "what a memory knows",
        "List the sites of a memory, or do something with them.",
        f"{_CLI}.sites",
        f"{_CLI}.sites_options:add_arguments",
    ),
    "spark": Command(
        "the same on a Spark cluster",
        "Clean more pages than one machine can: on a Spark cluster, or all cores of this machine.",
        f"{_CLI}.spark",
        f"{_CLI}.spark_options:add_arguments",
    ),
    "methods": Command(
        "what methods there are",
        "List the methods and their settings.",
        f"{_CLI}.methods",
        f"{_CLI}.page_options:add_methods",
    ),
    "demo": Command(
        "clean sample sites and show what happened",
        "Write sample sites to a folder, clean them, and show what came out.",
        f"{_CLI}.demo",
        f"{_CLI}.options:add_demo",
    ),
    "train": Command(
        "train the model of a method",
        "Train the model of a method on pages of many sites, without labels.",
        f"{_BENCH}.train.command",
        f"{_BENCH}.train.options:add_arguments",
    ),
    "bench": Command(
        "measure quality and speed",
        "Measure methods and other extractors on pages with known content.",
        _BENCH,
        f"{_BENCH}:add_arguments",
    ),
}
"""The commands by name. Those of `dehusk-bench` are there where it is installed."""
