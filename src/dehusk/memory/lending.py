"""Old names of sessions in workers, for code that has not moved to them yet."""

from __future__ import annotations

from collections.abc import Callable

from dehusk.answer.result import Result
from dehusk.memory.session import _MAX_BYTES, Session, unlearned_digest
from dehusk.memory.session import SessionSettings as Terms
from dehusk.memory.session import Snapshot as Loan
from dehusk.methods import Method
from dehusk.page.page import Page

__all__ = ["Borrower", "Loan", "Terms", "terms_of", "unlearned_digest"]

terms_of = Terms.read


class Borrower:
    """A session in a worker."""

    def __init__(self, terms: Terms, *, max_bytes: int | None = _MAX_BYTES) -> None:
        self.session = Session.worker(terms, max_bytes=max_bytes)
        self.borrow = self.session.restore
        self.drop = self.session.drop
        self.size_bytes = self.session.held_bytes
        self.has = self.session.holds
        self.state = self.session.state
        self.learn = self.session.learn_page
        self.tell = self.session.lesson

    @property
    def method(self) -> Method:
        """As in a session."""
        return self.session.method

    def clean(
        self, page: Page, render: Callable[[Result], object], *, learns: bool = True
    ) -> tuple[Result, bytes | None]:
        """As in a session."""
        if learns:
            return self.session.add_page(page, render)
        return self.session.ask(page, render=render), None

    def ask(self, page: Page, render: Callable[[Result], object]) -> Result:
        """As in a session."""
        return self.session.ask(page, render=render)

    def explain(self, page: Page) -> Result:
        """As in a session."""
        return self.session.explain(page)
