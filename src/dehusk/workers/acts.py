"""What a worker can do with pages: one table, to which a door may add acts of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from dehusk.answer.fingerprint import sketch
from dehusk.answer.result import Refusal, Result
from dehusk.errors import PageError, PageFault, StateError, UsageError
from dehusk.memory.notes import answer_of
from dehusk.memory.session import Session, unlearned_digest
from dehusk.page.page import Page
from dehusk.workers.answering import answer_or_refusal
from dehusk.workers.messages import Act, Reply, Request, Setup


class Judge:
    """Does what requests ask for, with the sites that it was sent."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.session = Session.worker(setup.session, max_bytes=None)
        further = import_module(setup.acts).ACTS if setup.acts is not None else {}
        self._acts: Mapping[str, PageAct] = {**ACTS, **further}

    def reply(self, request: Request) -> Reply:
        """What came of a request. A page that cannot be used gives an `error`."""
        page = request.pages[0] if request.pages else Page("", None, request.site)

        def act() -> Reply:
            try:
                return self._acts[request.act](self, request)
            except MemoryError:
                if self.setup.memory_bytes is None:
                    raise
            # Behind it, so that nothing holds on to what took the memory.
            raise PageFault(page.url, "it takes more memory than is allowed")

        try:
            # What this cannot take ends the process: its parent must not believe that it holds it.
            if request.snapshot is not None:
                self.session.restore(request.snapshot)
            reply = answer_or_refusal(page, act)
        except (StateError, UsageError) as fault:
            return Reply(fault=("usage" if isinstance(fault, UsageError) else "state", str(fault)))
        if not isinstance(reply, Refusal):
            return reply
        assert isinstance(reply.error, PageError)
        facts = {}
        if request.act in (Act.LEARN, Act.TELL):
            facts["digest"] = unlearned_digest(page)
        return Reply(facts=facts, error=(reply.error.code, reply.error.reason))

    def answer(
        self, request: Request, render: Callable[[Result], bytes | None], *, learns: bool
    ) -> Reply:
        """The answer on a page, rendered, with what it taught where it is learned."""
        (page,) = request.pages
        rendered: list[bytes | None] = []

        def keep(result: Result) -> None:
            rendered.append(render(result))

        if learns:
            result, lesson = self.session.add_page(page, keep)
        else:
            result, lesson = self.session.ask(page, render=keep), None
        return self._learned(request, lesson, rendered[0], self._facts(page, result))

    def learn(self, request: Request) -> Reply:
        """What a page taught, without an answer."""
        (page,) = request.pages
        lesson, family = self.session.learn_page(page)
        return self._learned(request, lesson, facts={"family": family})

    def _learned(
        self,
        request: Request,
        lesson: bytes | None,
        answer: bytes | None = None,
        facts: Mapping[str, Any] = {},
    ) -> Reply:
        is_wanted = lesson is not None and request.wants_snapshot
        snapshot = self.session.state(request.site) if is_wanted else None
        return Reply(answer, facts, lesson, snapshot, self.session.held_bytes(request.site))

    def _facts(self, page: Page, result: Result) -> dict[str, Any]:
        """What a run counts, notes and compares of an answer."""
        facts: dict[str, Any] = {
            "pages_seen": result.pages_seen,
            "characters": result.characters,
            "template_share": result.template_share,
            "template_changed": result.template_changed,
            "needs_render": result.needs_render,
            "confidence": result.confidence,
            "site_removed": result.site_removed,
            "problem": result.problem,
        }
        if self.setup.session.knows_pages:
            noted = answer_of(page, result)
            facts |= {"key": noted.key.hex(), "text": noted.text.hex(), "family": result.family}
        if self.setup.is_sketching:
            facts["sketch"] = sketch(result.text).tolist()
        return facts


def _shaped(judge: Judge) -> Callable[[Result], bytes | None]:
    """How answers are written as the setup says."""

    def render(result: Result) -> bytes | None:
        # As one process has it: the text is asked for, whatever is written, so that a fault in it
        # is the page's.
        _ = result.text
        return judge.setup.shape.data(result)

    return render


def _clean(judge: Judge, request: Request) -> Reply:
    return judge.answer(request, _shaped(judge), learns=True)


def _ask(judge: Judge, request: Request) -> Reply:
    return judge.answer(request, _shaped(judge), learns=False)


def _tell(judge: Judge, request: Request) -> Reply:
    (page,) = request.pages
    return Reply(lesson=judge.session.lesson(page))


def _snapshot(judge: Judge, request: Request) -> Reply:
    return Reply(snapshot=judge.session.state(request.site))


PageAct = Callable[[Judge, Request], Reply]
ACTS: Final[Mapping[str, PageAct]] = {
    Act.CLEAN: _clean,
    Act.ASK: _ask,
    Act.LEARN: Judge.learn,
    Act.TELL: _tell,
    Act.SNAPSHOT: _snapshot,
}
