"""A worker process: judges pages that are sent to it, and sends back what is to be written.

It holds no file. It ends when nobody sends it pages any more, however that comes about.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from threading import Thread
from typing import Any, Final

from dehusk import pipeline
from dehusk.answers import answer_of
from dehusk.errors import PageError, PageFault, StateError, UsageError
from dehusk.fingerprint import sketch
from dehusk.frames import Header, pack, read
from dehusk.jobs.acts import Act
from dehusk.lending import Borrower, Loan, terms_of, unlearned_digest
from dehusk.model import Capture, Page
from dehusk.output import Format, Shape
from dehusk.override import Overrides
from dehusk.result import Result

Reply = tuple[Header, list[bytes]]
_LOOK_S: Final = 1.0
"""How often it is looked whether the process that reads and writes is still there."""


class Bench:
    """What a worker works with: the sites that it was lent, and how pages are to be written."""

    def __init__(self, hello: Header) -> None:
        self._borrower = Borrower(terms_of(hello["terms"]), max_bytes=None)
        told = hello["shape"]
        self._shape = Shape(**{**told, "format": Format(told["format"])})
        self._is_noting: Final[bool] = hello["is_noting"]
        self._is_sketching: Final[bool] = hello["is_sketching"]

    def answer(self, header: Header, blobs: list[bytes]) -> Reply:
        """The reply to a message. A page that cannot be used gives an `error`."""
        for site in header["drop"]:
            self._borrower.drop(site)
        page = _page(header["page"], blobs[0])
        try:
            if header["loan"]:
                self._borrow(header["loan"], blobs[1:])
            return self._act(Act(header["act"]), page, wants_state=header["wants_state"])
        except PageError as error:
            return self._refusal(header, page, error)
        except (StateError, UsageError) as fault:
            # The next page would meet that too.
            kind = "usage" if isinstance(fault, UsageError) else "state"
            return {"fatal": kind, "message": str(fault)}, []
        except Exception as fault:  # noqa: BLE001 - the outermost loop: counted and named
            unforeseen = PageFault(page.url, f"{type(fault).__name__}: {fault}")
            return self._refusal(header, page, unforeseen)

    def _borrow(self, loan: Header, blobs: list[bytes]) -> None:
        state, *lessons = blobs
        overrides = Overrides(tuple(loan["keep"]), tuple(loan["drop"]))
        unlearned = frozenset(loan["unlearned"])
        self._borrower.borrow(Loan(loan["site"], state, overrides, lessons, unlearned))

    def _act(self, act: Act, page: Page, *, wants_state: bool) -> Reply:
        """The reply on a page that can be used: what it taught, and the answer if one is wanted."""
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

    @staticmethod
    def _refusal(header: Header, page: Page, error: PageError) -> Reply:
        facts: Header = {"error": error.code, "message": error.reason}
        if header["act"] == Act.LEARN:
            facts["digest"] = unlearned_digest(page)
        return facts, []


def _page(told: Header, html: bytes) -> Page:
    """The page that a message describes."""
    given = html.decode("utf-8", "surrogatepass") if told["is_text"] else html
    capture = Capture(*told["capture"]) if told["capture"] else None
    return Page(given, told["url"], told["site"], told["charset"], capture=capture)


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
    # Whatever a library prints must not get between the messages.
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    hello = read(stdin)
    if hello is None:
        return
    bench = Bench(hello[0])
    with suppress(BrokenPipeError):
        stdout.write(pack({"is_ready": True}))
        stdout.flush()
        while (message := read(stdin)) is not None:
            stdout.write(pack(*bench.answer(*message)))
            stdout.flush()


if __name__ == "__main__":
    run()
