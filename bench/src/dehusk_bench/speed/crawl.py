"""`dehusk bench crawl`: a sample site is crawled on this machine, once whole, once killed often."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dehusk_bench.options import positive
from dehusk_bench.samples import sample_site
from dehusk_bench.samples.server import ServedSite, serve_site

DESCRIPTION: Final = (
    "Serve a sample site on this machine and crawl it twice: without a break, and killed (SIGKILL)"
    " at random moments and resumed. Shows whether all pages were found, whether both wrote the"
    " same, and how many pages were asked for again."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options."""
    parser.add_argument(
        "--kind", default="town", metavar="KIND", help="the kind of site (default: %(default)s)"
    )
    parser.add_argument(
        "--pages",
        type=positive,
        default=2000,
        metavar="N",
        help="pages of the site (default: %(default)s)",
    )
    parser.add_argument(
        "--kills",
        type=positive,
        default=20,
        metavar="N",
        help="times to kill the crawl (default: %(default)s)",
    )
    parser.add_argument(
        "--concurrency",
        type=positive,
        default=1,
        metavar="N",
        help="requests at a time (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the site, and of the moments"
    )


_CONTEXT: Final = multiprocessing.get_context("forkserver")
"""Processes that begin with everything loaded: a start would else cost more than a crawl."""
_PRELOADED: Final = ["dehusk.doors.cli", "dehusk.doors.cli.clean", "dehusk.doors.cli.crawl"]
_POLL_S: Final = 0.002


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl: what it took, and what it asked for."""

    seconds: float
    kills: int
    requests: Counter[str]
    """By path."""
    output: bytes

    def repeated(self, site: ServedSite) -> int:
        """Pages asked for more than once, counted as often as that."""
        return sum(count - 1 for path, count in self.requests.items() if path in site.pages)


def run_command(arguments: Sequence[str]) -> None:
    """Run dehusk with these arguments, and end as it does."""
    from dehusk.doors.cli import main  # noqa: PLC0415  in the new process

    sys.exit(main(arguments))


def arguments_for(site: ServedSite, output: Path | str, *more: str) -> list[str]:
    """What a crawl of the site in haste is called with."""
    haste = [
        "--allow-private",
        "127.0.0.1",
        "--delay",
        "0",
        "--pages",
        str(10 * len(site.pages)),
        "--resume",
    ]
    return ["crawl", site.url, "-o", str(output), "-q", *haste, *more]


def crawl_and_kill(site: ServedSite, arguments: list[str], kills: int, dice: random.Random) -> int:
    """Crawl to the end, killed at random moments on the way; how often it was, which may be less.

    A moment is so many answers further on, and a little time: both at random.
    """
    _CONTEXT.set_forkserver_preload(_PRELOADED)
    done = 0
    step = max(2, 2 * len(site.pages) // (kills + 1))
    while True:
        process = _CONTEXT.Process(target=run_command, args=(arguments,))
        wanted, pause_s = len(site.requests) + dice.randrange(1, step), dice.random() * 0.02
        process.start()
        while process.is_alive() and (len(site.requests) < wanted or done >= kills):
            time.sleep(_POLL_S)
        if done < kills:
            time.sleep(pause_s)
            process.kill()
        process.join()
        if process.exitcode in (0, 1):
            return done
        if process.exitcode != -9:
            raise RuntimeError(f"the crawl ended with exit status {process.exitcode}")
        done += 1


def measure(site: ServedSite, kills: int, seed: int, *more: str) -> Run:
    """Crawl the site into a file that is not kept."""
    site.requests.clear()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.jsonl"
        began = time.monotonic()
        arguments = arguments_for(site, output, *more)
        done = crawl_and_kill(site, arguments, kills, random.Random(seed))  # noqa: S311
        seconds = time.monotonic() - began
        asked = Counter(path for path, _ in site.requests)
        return Run(seconds, done, asked, output.read_bytes())


def run(arguments: argparse.Namespace) -> int:
    """Run both crawls and print what came of them; 1 if they differ or pages are missing."""
    samples = sample_site(arguments.kind, pages=arguments.pages, seed=arguments.seed)
    more = ["--concurrency", str(arguments.concurrency)]
    # What a crawl says of links that lead nowhere is of no interest here.
    with serve_site(samples) as site, Path(os.devnull).open("w") as nowhere:
        stderr, sys.stderr = sys.stderr, nowhere
        try:
            whole = measure(site, 0, arguments.seed, *more)
            killed = measure(site, arguments.kills, arguments.seed, *more)
        finally:
            sys.stderr = stderr
        missing = sum(path not in whole.requests for path in site.pages)
        is_same = whole.output == killed.output
        sys.stdout.write(
            f"pages of the site              {len(site.pages):,}\n"
            f"not found                      {missing:,}\n"
            f"linked from nowhere            {len(site.unlinked):,} (the sitemap names them)\n"
            f"without a break                {whole.seconds:.1f} s,"
            f" {len(site.pages) / whole.seconds:.0f} pages a second\n"
            f"killed {killed.kills} times{'':<16}{killed.seconds:.1f} s\n"
            f"pages asked for again          {killed.repeated(site):,}\n"
            f"output the same                {'yes' if is_same else 'NO'},"
            f" {len(whole.output):,} bytes\n"
        )
        return int(not is_same or missing > 0)
