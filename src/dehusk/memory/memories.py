"""Old names of a session, for code that has not moved to it yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dehusk.memory.opening import open  # noqa: A004
from dehusk.memory.session import MEND, Session

if TYPE_CHECKING:
    Memories = Session
else:

    class _Lasting(type):
        def __instancecheck__(cls, thing: object) -> bool:
            return isinstance(thing, Session) and thing.is_lasting

    class Memories(metaclass=_Lasting):
        """A session that lasts."""


__all__ = ["MEND", "Memories", "open"]
