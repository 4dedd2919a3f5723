"""Answers on pages whatever the pages do: a fault is the page's own, and ends no run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from dehusk.answer.result import Refusal, Result
from dehusk.errors import PageError, PageFault, StateError, UsageError
from dehusk.memory.session import Render, Session
from dehusk.page.page import Page
from dehusk.sources import Failure

Answer = TypeVar("Answer")


class Learned(NamedTuple):
    """A page that was learned, or was known, or was to be passed over."""

    is_new: bool


def answer_on(
    item: Page | Failure,
    session: Session,
    render: Render | None = Result.to_json,
    *,
    is_learned: bool = False,
) -> Result | Refusal:
    """The answer on one item, of which `render` asks what is wanted. No page ends the run.

    An item that the session has learned before is only asked about.
    """
    if isinstance(item, Failure):
        return Refusal(item.url, item.site, item.error)
    answer = session.ask if is_learned else session.add
    return answer_or_refusal(item, lambda: answer(item, render=render))


def noted_answer(
    item: Page | Failure, session: Session, render: Render | None = None
) -> Result | Refusal:
    """The answer on one item, as `answer_on` gives it; a session that lasts takes note of it."""
    answer = answer_on(item, session, _with_text(render) if session.is_lasting else render)
    if isinstance(item, Page) and isinstance(answer, Result):
        session.note(item, answer)
    return answer


def _with_text(render: Render | None) -> Render:
    """What is wanted of an answer, and its text, which is noted: a fault in it costs the page."""

    def ask(result: Result) -> object:
        asked = render(result) if render else None
        return asked, result.text

    return ask


def answer_or_refusal(page: Page, answer: Callable[[], Answer]) -> Answer | Refusal:
    """What `answer` gives for the page, or why it gives nothing. Raises StateError, UsageError."""
    try:
        return answer()
    except PageError as error:
        return Refusal(page.url, page.site, error)
    except (StateError, UsageError):
        raise  # No memory to write to, or no model to read: the next page would meet that too.
    except Exception as fault:
        import logging  # noqa: PLC0415  most runs have nothing to log

        logging.getLogger(__name__).debug("fault on %s", page.url, exc_info=True)
        unforeseen = PageFault(page.url, f"{type(fault).__name__}: {fault}")
        return Refusal(page.url, page.site, unforeseen)
