"""The last answer of a function, for as long as what it was asked of lives."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar
from weakref import ref

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Latest(Generic[Asked, Answer]):
    """A function that answers the same question again without work, and keeps nothing alive.

    A page is learned, asked about and described: what all three need is computed once. One answer
    is kept, and none when the page is gone; a cache of the standard library would hold on to both.
    """

    def __init__(self, work: Callable[..., Answer]) -> None:
        self._work = work
        self._last: tuple[ref[Asked], tuple[object, ...], Answer] | None = None

    def __call__(self, asked: Asked, *more: object) -> Answer:
        """The answer on `asked`, given `more`: the same objects, not equal ones."""
        last = self._last
        if last is not None and last[0]() is asked and all(map(is_, last[1], more)):
            return last[2]
        answer = self._work(asked, *more)
        self._last = ref(asked, self._drop), more, answer
        return answer

    def forget(self) -> None:
        """Keep no answer."""
        self._last = None

    def _drop(self, gone: ref[Asked]) -> None:
        """Forget the answer on what is gone."""
        last = self._last
        if last is not None and last[0] is gone:
            self._last = None
