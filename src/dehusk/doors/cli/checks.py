"""What does not go together on the command line, found before anything is read or written."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from dehusk.doors.cli.web_options import given_options
from dehusk.doors.options import written_option
from dehusk.errors import UsageError
from dehusk.memory.session import Session
from dehusk.methods import HYPERLINK
from dehusk.output import check_database
from dehusk.settings import is_server
from dehusk.sources import hint, is_web
from dehusk.sources.folders import HTML_SUFFIXES, is_empty


def check_options(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options that would be passed over in silence."""
    check_lasting(arguments)
    is_fetched = any(map(is_web, arguments.sources))
    if not is_fetched and (given := given_options(arguments)):
        meant = next(filter(None, map(hint, arguments.sources)), "")
        raise UsageError(f"{', '.join(given)}: only for web addresses{meant}")
    if arguments.resume:
        _check_resume(arguments, is_fetched=is_fetched)


def check_lasting(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options about a memory where there is none."""
    if not arguments.memory:
        for name in ("durable", "relearn"):
            if getattr(arguments, name):
                raise UsageError(f"--{name} needs --memory")


def check_jobs(arguments: argparse.Namespace) -> None:
    """Raise UsageError for what several processes cannot do, or would not do faster."""
    if getattr(arguments, "split_sites", False) and not (arguments.two_pass and arguments.jobs > 1):
        raise UsageError("--split-sites: only with --two-pass and --jobs")
    if arguments.jobs == 1:
        return
    if any(map(is_web, arguments.sources)):
        raise UsageError("--jobs: pages of the web take time, but no processor; they need one job")
    if arguments.render:
        raise UsageError("--jobs: the browser shows one page after another; --render needs one job")
    if arguments.method == HYPERLINK:
        raise UsageError("--jobs: hyperlink compares pages across the sources; it needs one job")


def _check_resume(arguments: argparse.Namespace, *, is_fetched: bool) -> None:
    """Raise UsageError for sources and options with which nobody can tell what is left to do."""
    if is_fetched:
        raise UsageError("--resume: a web address is one page; `dehusk crawl` can be resumed")
    if arguments.output in (None, "-"):
        raise UsageError("--resume needs -o: it continues what was written there")
    for name in ("unique", "revise", "skip_problems"):
        if getattr(arguments, name):
            option = written_option(name)
            raise UsageError(f"{option} leaves out pages, so --resume cannot tell what is done")


def check_targets(arguments: argparse.Namespace) -> None:
    """Raise UsageError where what is written would destroy what is read, or kept."""
    save = getattr(arguments, "save", None)
    if save:
        from dehusk.output.archive import archive_path  # noqa: PLC0415  only a crawl saves

        save = str(archive_path(save))
    named = [
        ("-o", getattr(arguments, "output", None)),
        ("--memory", arguments.memory),
        ("--state", getattr(arguments, "state", None)),
        ("--save", save),
        ("--changes", getattr(arguments, "changes", None)),
    ]
    written = [(option, name) for option, name in named if name and name != "-"]
    sources = [("SOURCE", name) for name in getattr(arguments, "sources", ())]
    files = [(option, name) for option, name in (*written, *sources) if not _is_elsewhere(name)]
    for (option, name), (other, other_name) in combinations(files, 2):
        if option != other and _is_same(name, other_name):
            raise UsageError(f"{option} and {other} are the same file: {name}")
    for option, name in written:
        if option in ("-o", "--changes"):
            check_database(Path(name))


def check_folders(sources: Sequence[str]) -> None:
    """Raise UsageError for a folder that holds no page: it is hardly the one that was meant."""
    *endings, last = HTML_SUFFIXES
    for source in sources:
        if os.path.isdir(source) and is_empty(Path(source)):  # noqa: PTH112  takes any name
            raise UsageError(
                f"{source}: no page in this folder: no file ends in {', '.join(endings)} or {last}"
            )


def check_revision(arguments: argparse.Namespace, sites: Session) -> None:
    """Raise UsageError for a revision that no site of the memory has come to."""
    if arguments.revise in (None, "last") or not sites.is_lasting:
        return
    newest = max((row.pages for row in sites.sites()), default=0)
    if int(arguments.revise) > newest:
        raise UsageError(
            f"--revise {arguments.revise}: no site of {arguments.memory} has reached that revision;"
            f" the highest is {newest}"
        )


def _is_elsewhere(name: str) -> bool:
    return name == "-" or is_web(name) or is_server(name)


def _is_same(name: str, other: str) -> bool:
    """True for two names of one file, there or yet to be made; folders and pipes can be both."""
    path, other_path = Path(name), Path(other)
    if path.exists() and other_path.exists():
        return path.is_file() and path.samefile(other_path)
    return os.path.realpath(path) == os.path.realpath(other_path)
