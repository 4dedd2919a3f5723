"""What is done with an item, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dehusk.answer.result import Refusal
from dehusk.output import Rendered
from dehusk.page.page import Page
from dehusk.sources import Failure


class Act(StrEnum):
    """What is to be done with a page."""

    CLEAN = "clean"
    """Learn it, and answer on it."""
    ASK = "ask"
    """Answer on it, as a page that was learned before."""
    LEARN = "learn"
    """Learn it, without an answer."""
    TELL = "tell"
    """Tell what it teaches, whatever its site knows."""
    SKIP = "skip"
    """Nothing."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A page that was learned, or was known, or was to be passed over."""

    is_new: bool


Outcome = Rendered | Refusal | Learned


@dataclass(frozen=True, slots=True)
class Done:
    """An item, what was to be done with it, and what came of it. Its page has no HTML any more."""

    item: Page | Failure
    act: Act
    outcome: Outcome
