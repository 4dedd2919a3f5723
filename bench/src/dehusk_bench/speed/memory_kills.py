"""A writing process is killed at random moments; what it left is compared with what it had said.

The writer learns one page after another, appends a line to a file for each, and keeps the length of
that file on a shelf, all in one unit. It says through a pipe which pages it was told are lasting. A
round is right if all of these are there, no page counts twice, and the memories are bit for bit
those of a process that learned the same pages undisturbed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import dehusk
from dehusk.memory import Memory, dump
from dehusk.memory.session import Session

_SITES: Final = 4
_MAX_SAID: Final = 8
"""The most that a writer says before it is killed."""
_MAX_WAIT_S: Final = 0.004
"""How long it lives behind that at most: a page takes about 2 ms, a commit less."""
_LIMITS: Final = dehusk.Limits(timeout_s=1000.0)
"""A busy machine must not end the experiment."""
_COMMIT_EVERY: Final = 5
"""Pages of a batch: small, so that kills fall into many commits."""


def run_kills(rounds: int, seed: int, method: str) -> int:
    """Kill so often, and say what came of it; 1 if anything was lost or counted twice."""
    dice = random.Random(seed)  # noqa: S311  moments, not secrets
    said = verified = 0
    with tempfile.TemporaryDirectory() as folder:
        store, output = Path(folder) / "k.husk", Path(folder) / "out"
        output.touch()
        reference = _Reference(method)
        for number in range(rounds):
            durable = dice.choice(list(dehusk.Durable))
            said_lines = dice.randint(0, _MAX_SAID)
            wait_s = dice.uniform(0.0, _MAX_WAIT_S)
            lasting = _one_round(_Writer(store, output, durable, method), said_lines, wait_s)
            fault = reference.compare(store, output, lasting)
            if fault:
                sys.stdout.write(f"round {number}, durable {durable}: {fault}\n")
                return 1
            said += lasting >= 0
            verified += 1
        sys.stdout.write(
            f"kills: {verified:,}, after {said:,} of which pages had been lasting;"
            f" pages learned: {reference.pages:,}; lost: 0; counted twice: 0\n"
        )
    return 0


def _page(number: int) -> dehusk.Page:
    """The page of that number: every one is another, all of a site have a menu."""
    site = f"s{number % _SITES}.example"
    words = "".join(f"<p>page {number} line {line}</p>" for line in range(30))
    return dehusk.Page(f"<nav>Home News</nav>{words}", f"https://{site}/{number}")


@dataclass(frozen=True, slots=True)
class _Writer:
    """What the process that is killed writes, where and how."""

    store: Path
    output: Path
    durable: str
    method: str


def _one_round(writer: _Writer, lines: int, wait_s: float) -> int:
    """The last page that the writer said was lasting before it was killed; -1 for none.

    It is killed a moment after it has said so many lines, the first of which is that it begins.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        try:
            _write(writer, write_end)
        finally:
            os._exit(1)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        said = [pipe.readline() for _ in range(lines)]
        time.sleep(wait_s)
        os.kill(child, signal.SIGKILL)
        said += pipe.readlines()
    os.waitpid(child, 0)
    return max((int(line) for line in said if line.endswith(b"\n")), default=-1)


def _write(writer: _Writer, pipe: int) -> None:
    """Learn pages without end, from where the last writer came to."""
    durable = writer.durable
    memory = dehusk.open(writer.store, durable=durable, method=writer.method, limits=_LIMITS)
    shelf = memory.shelf("output")
    os.write(pipe, b"-1\n")
    length = int.from_bytes(shelf.get(b"length") or b"", "big")
    number = int.from_bytes(shelf.get(b"next") or b"", "big")
    with writer.output.open("r+b", buffering=0) as file:
        file.truncate(length)
        file.seek(length)
        # As a crawler that is not sure may do: these are known already.
        for known in range(max(0, number - 3), number):
            memory.add(_page(known))
        while True:
            with memory.unit():
                memory.add(_page(number))
                length += file.write(b"%d\n" % number)
                shelf.put(b"length", length.to_bytes(8, "big"))
                shelf.put(b"next", (number + 1).to_bytes(8, "big"))
            if durable != dehusk.Durable.PAGE and number % _COMMIT_EVERY == 0:
                memory.commit()
            if durable == dehusk.Durable.PAGE or number % _COMMIT_EVERY == 0:
                os.write(pipe, b"%d\n" % number)
            number += 1


class _Reference:
    """What an undisturbed process has learned from the same pages."""

    def __init__(self, method: str) -> None:
        self._sites = Session(method=method, limits=_LIMITS)
        self.pages = 0

    def compare(self, store: Path, output: Path, lasting: int) -> str:
        """What is wrong with the store and the output; nothing if all is right."""
        with dehusk.open(store) as memory:
            shelf = memory.shelf("output")
            pages = int.from_bytes(shelf.get(b"next") or b"", "big")
            length = int.from_bytes(shelf.get(b"length") or b"", "big")
            if pages <= lasting:
                return f"page {lasting} was said to be lasting, {pages} pages are there"
            if sum(row.pages for row in memory.sites()) != pages:
                return "the sites have not as many pages as the shelf says"
            while self.pages < pages:
                self._sites.add(_page(self.pages))
                self.pages += 1
            for site, expected in self._sites.memories.items():
                if _plain(memory.memory(site)) != _plain(expected):
                    return f"the memory of {site} is not that of its pages"
        written = output.read_bytes()[:length]
        if written != b"".join(b"%d\n" % number for number in range(pages)):
            return "the output does not hold each page once"
        return ""


def _plain(memory: Memory) -> bytes:
    """The memory as bytes, without what only stores keep in it: the pages that it knows, say."""
    return dump(Memory(memory.pages, memory.tables, memory.sequences), "segments")
