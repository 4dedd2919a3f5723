"""The command line: a door that reads options, calls the library and shows the answer.

Nothing heavy is imported before a command runs, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final, NamedTuple, TextIO

from dehusk import _kernel
from dehusk.doors.cli.parser import EXAMPLES, EXIT_USAGE, Parser
from dehusk.errors import DehuskError, StoreDamaged, UsageError

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0, 1 (some pages failed), 2 (wrong use) or 130."""
    # A broken pipe is then always that of the output: only this ends a run.
    with redirect_stderr(_Messages(sys.stderr)):
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command, and say what went wrong."""
    try:
        words = sys.argv[1:] if arguments is None else arguments
        wanted = words[0] if words else ""
        if wanted in COMMANDS and not _is_installed(COMMANDS[wanted]):
            bench_module(f"`dehusk {wanted}`")
        given = make_parser(wanted).parse_args(words)
        command = _command(given.command)
        if not gc.isenabled():  # `__main__` waits until all is loaded, which then stays.
            gc.freeze()
            gc.enable()
            _kernel.map_large()
        return command(given)
    except UsageError as error:
        sys.stderr.write(f"dehusk: {error}\n")
        return EXIT_USAGE
    except ImportError as error:
        sys.stderr.write(f"dehusk: {error}; `dehusk doctor` says what to install\n")
        return EXIT_USAGE
    except BrokenPipeError:
        # Whoever read the output has seen enough. What is left must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except KeyboardInterrupt:
        sys.stderr.write("dehusk: interrupted\n")
        return EXIT_INTERRUPTED
    except MemoryError:
        sys.stderr.write("dehusk: out of memory; what was committed is kept\n")
        return EXIT_FAILED
    except StoreDamaged as error:
        advice = "" if error.advice else f"; {_mending(given.memory)}"
        sys.stderr.write(f"dehusk: {error}{advice}\n")
        return EXIT_FAILED
    except (DehuskError, OSError) as error:
        sys.stderr.write(f"dehusk: {error}\n")
        return EXIT_FAILED


def _mending(address: str | None) -> str:
    """What to do about a damaged memory."""
    from dehusk.memory.store import mending  # noqa: PLC0415  takes numpy

    return mending(address or "FILE")


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """The function behind a command, loaded when it is needed."""
    run: Callable[[argparse.Namespace], int] = _named(COMMANDS[name].run)
    return run


def _named(place: str) -> Any:
    """The function of a `module:function`."""
    module, _, function = place.partition(":")
    return getattr(import_module(module), function)


def bench_module(what: str, name: str = "") -> ModuleType:
    """A module of `dehusk-bench`. Raises UsageError where it is not installed: `what` needs it."""
    if not find_spec(_BENCH):
        raise UsageError(f"{what} comes with dehusk-bench: pip install dehusk-bench")
    return import_module(f"{_BENCH}.{name}".rstrip("."))


def _is_installed(command: Command) -> bool:
    """Is the package there that a command is in?"""
    return find_spec(command.run.partition(".")[0].partition(":")[0]) is not None


class _Messages(io.TextIOBase):
    """Standard error that drops messages once nobody reads them, or nobody ever did."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text, or drop it where nobody reads."""
        try:
            if self._stream is not None:
                self._stream.write(text)
        except BrokenPipeError:
            self._drop()
        return len(text)

    def flush(self) -> None:
        """Push on what was written."""
        try:
            if self._stream is not None and not self._stream.closed:
                self._stream.flush()
        except BrokenPipeError:
            self._drop()

    def isatty(self) -> bool:
        """True for a terminal."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """The stream's own number."""
        return io.TextIOBase.fileno(self) if self._stream is None else self._stream.fileno()

    def _drop(self) -> None:
        """Lead what is held, and all that comes, to nowhere: it must not fail again at exit."""
        assert self._stream is not None
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


class _Version(argparse.Action):
    """Shows the version; made up when it is asked for, since it takes reading kernel and model."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Write it and exit."""
        from dehusk.doors.cli.version import version_line  # noqa: PLC0415  needs hashes

        sys.stdout.write(f"{version_line()}\n")
        parser.exit()


def make_parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line: of the command that is wanted, else of all.

    Where what is wanted is no command, they come without their options: nobody will see them.
    """
    parser = Parser(
        prog="dehusk",
        description="Separate what web pages say from what their site repeats.",
        epilog="Exit status: 0 success, 1 some pages failed, 2 wrong usage, 130 interrupted.",
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show version, kernel and model, and exit"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS.keys() & {wanted} or COMMANDS:
        command = COMMANDS[name]
        if not _is_installed(command):
            continue
        below = commands.add_parser(
            name,
            help=command.help,
            description=command.description,
            epilog="\n  ".join((EXAMPLES, *command.examples)) if command.examples else None,
        )
        if wanted in (None, name):
            _named(command.arguments)(below)
    return parser


class Command(NamedTuple):
    """A command: its line in the list of commands, what its own help says, and where it is."""

    help: str
    description: str
    run: str
    """The function that takes what was given and returns the status, as `module:function`."""
    arguments: str
    """The function that gives a parser the command's options, as `module:function`."""
    examples: tuple[str, ...] = ()
    """Lines of a shell that the help ends with."""


_CLI: Final = "dehusk.doors.cli"
_SERVICE: Final = "dehusk.doors.service"
_BENCH: Final = "dehusk_bench"

COMMANDS: Final = {
    "clean": Command(
        "pages in, content out",
        "Read pages, learn their sites as they come, and write their content.",
        f"{_CLI}.clean:run",
        f"{_CLI}.clean_options:add_clean",
        (
            "dehusk clean https://example.org/page           # one page as Markdown",
            "dehusk clean crawl.warc.gz -o site/             # a folder with a file for each page",
            "dehusk clean mirror/ -o pages.jsonl             # JSON lines",
        ),
    ),
    "crawl": Command(
        "a site of the web in, content out",
        "Crawl sites politely, learn them as their pages come, and write their content.",
        f"{_CLI}.crawl:run",
        f"{_CLI}.clean_options:add_crawl",
        (
            "dehusk crawl https://example.org -o site/       # a folder with a file for each page",
            "dehusk crawl https://example.org -o site/ --resume  # go on after an interruption",
            "dehusk crawl https://example.org/docs --site-by prefix -o docs.jsonl",
        ),
    ),
    "template": Command(
        "one page in, its template out",
        "Find a page's template by comparing it with other pages of its site.",
        f"{_CLI}.template:run",
        f"{_CLI}.options:add_template",
        (
            "dehusk template mirror/5.html -o template.html  # as an HTML page",
            "dehusk template https://example.org --format rules  # selectors, for a scraper",
        ),
    ),
    "explain": Command(
        "why each region of a page is kept or dropped",
        "Show the regions of a page: their scores, what page and site say about them, and why.",
        f"{_CLI}.explain:run",
        f"{_CLI}.options:add_explain",
        (
            "dehusk explain mirror/5.html                    # alone, as `dehusk clean` would",
            "dehusk explain mirror/5.html --against mirror/  # by the other pages of its folder",
        ),
    ),
    "review": Command(
        "what is doubtful, and questions whose answers fix it",
        "Ask the questions whose answers would fix the most pages of a site. Answers become rules"
        " of the site. At a terminal you are asked one by one.",
        f"{_CLI}.review:run",
        f"{_CLI}.options:add_review",
        (
            "dehusk review mirror/ > answers.txt             # then write keep or drop for each ?",
            "dehusk review --memory crawl.husk --answers answers.txt",
        ),
    ),
    "report": Command(
        "a page to share about a site",
        "Write one self-contained HTML page about sites: what was found, the template, examples,"
        " the savings, and what is doubtful.",
        f"{_CLI}.report:run",
        f"{_CLI}.options:add_report",
        ("dehusk report mirror/ -o report.html",),
    ),
    "learn": Command(
        "learn pages into a memory, without output",
        "Read pages and learn their sites into a memory. Nothing else is written.",
        f"{_CLI}.learn:run",
        f"{_CLI}.clean_options:add_learn",
        (
            "dehusk learn crawl.warc.gz --memory crawl.husk",
            "dehusk clean page.html --memory crawl.husk      # with what was learned",
        ),
    ),
    "view": Command(
        "look at pages in a browser: what is template, and why",
        "Read pages and show them in a browser: what is template, what is content, and why.",
        f"{_SERVICE}.command:view",
        f"{_SERVICE}.options:add_view",
        ("dehusk view mirror/", "dehusk view crawl.warc.gz --memory crawl.husk"),
    ),
    "serve": Command(
        "clean pages over HTTP",
        "Answer over HTTP: post a page, get its content. /openapi.json describes the API.",
        f"{_SERVICE}.command:serve",
        f"{_SERVICE}.options:add_serve",
        (
            "dehusk serve --memory crawl.husk",
            "dehusk serve --host 0.0.0.0 --token-file token.txt",
        ),
    ),
    "mcp": Command(
        "let models use dehusk, over the Model Context Protocol",
        "Serve models over standard input and output: clean a page, find a template, ask a memory.",
        "dehusk.doors.mcp:run",
        f"{_CLI}.options:add_mcp",
    ),
    "sites": Command(
        "what a memory knows",
        "List the sites of a memory, or work on them.",
        f"{_CLI}.sites:run",
        f"{_CLI}.options:add_sites",
        (
            "dehusk sites --memory crawl.husk",
            "dehusk sites show example.org --memory crawl.husk",
        ),
    ),
    "spark": Command(
        "clean pages on a Spark cluster",
        "Clean more pages than one machine can: on a Spark cluster, or all cores of this machine.",
        "dehusk.doors.spark.command:run",
        f"{_CLI}.options:add_spark",
    ),
    "methods": Command(
        "list the methods",
        "List the methods and their settings.",
        f"{_CLI}.methods:run",
        f"{_CLI}.options:add_methods",
    ),
    "demo": Command(
        "clean sample sites and show what happened",
        "Write sample sites to a folder, clean them, and show what came out.",
        f"{_CLI}.demo:run",
        f"{_CLI}.options:add_demo",
    ),
    "doctor": Command(
        "check what is installed, and whether it works",
        "Say what is installed, what is missing and how to get it, and what does not work.",
        f"{_CLI}.doctor:run",
        f"{_CLI}.options:add_doctor",
    ),
    "completion": Command(
        "let your shell complete the command line",
        "Write a script that lets a shell complete `dehusk`; docs/install.md says where to put it.",
        f"{_CLI}.completion:run",
        f"{_CLI}.options:add_completion",
    ),
    "train": Command(
        "train the model of a method",
        "Train the model of a method on pages of many sites, without labels.",
        f"{_BENCH}.train.command:run",
        f"{_BENCH}.train.options:add_arguments",
    ),
    "bench": Command(
        "measure quality and speed",
        "Measure methods and other extractors on pages with known content.",
        f"{_BENCH}:run",
        f"{_BENCH}:add_arguments",
    ),
}
"""The commands by name. Those of `dehusk-bench` are there where it is installed."""
