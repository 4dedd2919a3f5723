"""A worker process: judges pages that are sent to it, and sends back what came of them.

It holds no file, and ends when nobody sends it pages any more, however that comes about. Where its
parent sets limits the system enforces them: a page that takes too much CPU time ends the process;
one that takes too much memory meets a MemoryError, or ends it too. The parent starts another.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO, Final

from dehusk import _kernel
from dehusk.workers.acts import Judge
from dehusk.workers.messages import BUFFER_BYTES, Batch, Reply, Setup, read, replies_to_bytes

_LOOK_S: Final = 1.0
"""How often it is looked whether the parent is still there."""
_GATHERED: Final = 32
_GATHERED_BYTES: Final = 256_000
_GATHERED_S: Final = 0.1
"""Replies that are sent together: whichever is reached first. With 32 and not 8 of them, and 64 and
not 32 tasks sent, the process that reads is woken for 62 messages and not 153 (1,200 sample pages);
it executes as many instructions. Other numbers were not tried."""


def run() -> None:
    """Answer messages from standard input until it ends."""
    # One that a page holds up would not see the end of its input, and go on for ever.
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    # Ctrl-C is for the process that reads and writes; this one ends when that does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _kernel.map_large()
    stdin, stdout = _own_pipes()
    first = read(stdin)
    if first is None:
        return
    setup = Setup.from_header(first[0])
    judge = Judge(setup)
    if setup.memory_bytes is not None:
        _limit(setup.memory_bytes)
    with suppress(BrokenPipeError):
        _send(stdout, [])
        while (message := read(stdin)) is not None:
            if setup.cpu_s is not None:
                # Ends this process by SIGPROF; the limit of resources knows whole seconds only.
                signal.setitimer(signal.ITIMER_PROF, setup.cpu_s)
            batch = Batch.from_parts(*message)
            for site in batch.dropped_sites:
                judge.session.drop(site)
            for replies in _gathered(map(judge.reply, batch.requests)):
                _send(stdout, replies)


def _send(stdout: IO[bytes], replies: list[Reply]) -> None:
    stdout.write(replies_to_bytes(replies))
    stdout.flush()


def _gathered(replies: Iterable[Reply]) -> Iterator[list[Reply]]:
    """The replies, some at a time: as many as are there by the time that one should be sent.

    To send each by itself costs both sides 0.1 ms or more, and they are not waited for.
    """
    gathered: list[Reply] = []
    size = 0
    began = time.monotonic()
    for reply in replies:
        gathered.append(reply)
        size += sum(len(blob or b"") for blob in (reply.answer, reply.lesson, reply.snapshot))
        is_full = len(gathered) >= _GATHERED or size >= _GATHERED_BYTES
        if is_full or time.monotonic() - began > _GATHERED_S:
            yield gathered
            gathered, size, began = [], 0, time.monotonic()
    if gathered:
        yield gathered


def _limit(memory_bytes: int) -> None:
    """Let this process take so much more memory (on Linux), and write no file and no core."""
    import resource  # noqa: PLC0415  not everywhere

    with suppress(OSError):
        now = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + memory_bytes, now + memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with(parent: int) -> None:
    """End the process once the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)


def _own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Standard input and output, for messages alone.

    Whatever a library prints must not get between the messages, also where it is written in C, or
    in a process that it starts: from now on that goes where errors go. And it finds nothing to
    read.
    """
    stdin = os.fdopen(os.dup(0), "rb", BUFFER_BYTES)
    stdout = os.fdopen(os.dup(1), "wb", BUFFER_BYTES)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # Standard error is closed.
        os.dup2(nothing, 1)
    os.close(nothing)
    return stdin, stdout


if __name__ == "__main__":
    run()
