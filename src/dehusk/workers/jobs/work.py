"""A worker process: judges pages that are sent to it, and sends back what is to be written.

It holds no file. It ends when nobody sends it pages any more, however that comes about.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from threading import Thread
from typing import IO, Any, Final

from dehusk import pipeline
from dehusk.answer.fingerprint import sketch
from dehusk.answer.override import Overrides
from dehusk.answer.result import Refusal, Result
from dehusk.errors import PageError, StateError, UsageError
from dehusk.memory.answers import answer_of
from dehusk.memory.lending import Borrower, Loan, terms_of, unlearned_digest
from dehusk.output import Format, Shape
from dehusk.page.page import Capture, Page
from dehusk.workers.answering import answer_or_refusal
from dehusk.workers.frames import Header, pack, read
from dehusk.workers.jobs.acts import Act

Reply = tuple[Header, list[bytes]]
_LOOK_S: Final = 1.0
"""How often it is looked whether the process that reads and writes is still there."""


_GATHERED: Final = 8
_GATHERED_BYTES: Final = 256_000
_GATHERED_S: Final = 0.1
"""Replies that are sent together: whichever is reached first. With these the process that reads
takes 0.31 ms a page instead of 0.62 (1,000 sample pages); other numbers were not tried."""


class Bench:
    """What a worker works with: the sites that it was lent, and how pages are to be written."""

    def __init__(self, hello: Header) -> None:
        self._borrower = Borrower(terms_of(hello["terms"]), max_bytes=None)
        told = hello["shape"]
        self._shape = Shape(**{**told, "format": Format(told["format"])})
        self._is_noting: Final[bool] = hello["is_noting"]
        self._is_sketching: Final[bool] = hello["is_sketching"]

    def answers(self, header: Header, blobs: list[bytes]) -> Iterator[Reply]:
        """The reply to each task of a message, in order."""
        for site in header["drop"]:
            self._borrower.drop(site)
        rest = iter(blobs)
        for task in header["tasks"]:
            html, loan = next(rest), None
            if (told := task.get("loan")) is not None:
                overrides = Overrides(tuple(told["keep"]), tuple(told["drop"]))
                state, *lessons = islice(rest, 1 + told["lessons"])
                unlearned = frozenset(told["unlearned"])
                loan = Loan(told["site"], state, overrides, lessons, unlearned)
            yield self._answer(task, _page(task["page"], html), loan)

    def _answer(self, task: Header, page: Page, loan: Loan | None) -> Reply:
        """The reply on a page. One that cannot be used gives an `error`."""
        act = Act(task["act"])

        def reply() -> Reply:
            if loan is not None:
                self._borrower.borrow(loan)
            return self._act(act, page, wants_state=task.get("wants_state", False))

        try:
            replied = answer_or_refusal(page, reply)
        except (StateError, UsageError) as fault:
            kind = "usage" if isinstance(fault, UsageError) else "state"
            return {"fatal": kind, "message": str(fault)}, []
        if not isinstance(replied, Refusal):
            return replied
        assert isinstance(replied.error, PageError)
        facts: Header = {"error": replied.error.code, "message": replied.error.reason}
        if act in (Act.LEARN, Act.TELL):
            facts["digest"] = unlearned_digest(page)
        return facts, []

    def _act(self, act: Act, page: Page, *, wants_state: bool) -> Reply:
        """The reply on a page that can be used: what it taught, and the answer if one is wanted."""
        if act is Act.TELL:
            return {}, [self._borrower.tell(page)]
        facts: Header = {}
        blobs: list[bytes] = []
        lesson: bytes | None = None
        if act is Act.LEARN:
            lesson = self._borrower.learn(page)
        else:
            written: list[bytes | None] = []

            def render(result: Result) -> None:
                # As one process has it: the text is asked for, whatever is written, so that a
                # fault in it is the page's.
                _ = result.text
                written.append(self._shape.data(result))

            if act is Act.CLEAN:
                result, lesson = self._borrower.clean(page, render)
            else:
                result = self._borrower.ask(page, render)
            facts = self._facts(page, result, is_learned=lesson is not None)
            blobs += [data for data in written if data is not None]
            facts["has_data"] = bool(blobs)
        site = pipeline.site_of(page)
        facts |= {"is_learned": lesson is not None, "size": self._borrower.size_bytes(site)}
        if lesson is not None:
            blobs.append(lesson)
            if wants_state:
                blobs.append(self._borrower.state(site))
        return facts, blobs

    def _facts(self, page: Page, result: Result, *, is_learned: bool) -> Header:
        """What a run counts, notes and compares of an answer."""
        facts: dict[str, Any] = {
            "pages_seen": result.pages_seen,
            "characters": result.characters,
            "template_share": result.template_share,
            "template_changed": result.template_changed,
            "needs_render": result.needs_render,
        }
        if self._is_noting:
            noted = answer_of(page, result)
            facts |= {"key": noted.key.hex(), "text": noted.text.hex()}
            facts["family"] = result.family if is_learned else None
        if self._is_sketching:
            facts["sketch"] = sketch(result.text).tolist()
        return facts


def _page(told: Header, html: bytes) -> Page:
    """The page that a message describes."""
    given = html.decode("utf-8", "surrogatepass") if told["is_text"] else html
    capture = Capture(*told["capture"]) if "capture" in told else None
    return Page(given, told["url"], told.get("site"), told.get("charset"), capture=capture)


def _end_with(parent: int) -> None:
    """End the process once the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)


def run() -> None:
    """Answer messages from standard input until it ends."""
    # One that a page holds up would not see the end of its input, and go on for ever.
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    # Ctrl-C is for the process that reads and writes; this one ends when that does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stdin, stdout = _own_pipes()
    hello = read(stdin)
    if hello is None:
        return
    bench = Bench(hello[0])
    with suppress(BrokenPipeError):
        stdout.write(pack({"is_ready": True}))
        stdout.flush()
        while (message := read(stdin)) is not None:
            for replies in _gathered(bench.answers(*message)):
                headers = [header for header, _ in replies]
                counts = [len(blobs) for _, blobs in replies]
                blobs = [blob for _, blobs in replies for blob in blobs]
                stdout.write(pack({"replies": headers, "counts": counts}, blobs))
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
        size += sum(map(len, reply[1]))
        is_full = len(gathered) >= _GATHERED or size >= _GATHERED_BYTES
        if is_full or time.monotonic() - began > _GATHERED_S:
            yield gathered
            gathered, size, began = [], 0, time.monotonic()
    if gathered:
        yield gathered


def _own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Standard input and output, for messages alone.

    Whatever a library prints must not get between the messages, also where it is written in C, or
    in a process that it starts: from now on that goes where errors go. And it finds nothing to
    read.
    """
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
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
