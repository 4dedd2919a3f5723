"""`dehusk completion`: how a shell completes the command line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

from dehusk.doors.cli import make_parser
from dehusk.errors import MissingExtra
from dehusk.methods import METHODS

_FILES: Final = [
    "A",
    "B",
    "C",
    "CORPUS",
    "FILE",
    "FILE|DIR",
    "MODEL",
    "PAGE",
    "PATH",
    "SOURCE",
    "WARC",
]
"""What help calls the values that are files, or files and folders."""


def run(arguments: argparse.Namespace) -> int:
    """Write the script that teaches a shell to complete `dehusk`."""
    try:
        import shtab  # noqa: PLC0415  an extra
    except ImportError as missing:
        raise MissingExtra("dehusk completion", "completion") from missing
    parser = make_parser()
    for action in _actions(parser):
        action.help = re.split("[:;(]", action.help or "")[0].strip()
        if action.dest == "method" or action.metavar == "METHOD":
            action.choices = list(METHODS)
        elif action.metavar in _FILES:
            action.complete = shtab.FILE
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY
    sys.stdout.write(shtab.complete(parser, arguments.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[Any]:
    """The options and operands of all commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
