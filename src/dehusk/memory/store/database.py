"""What a store needs of a database: the few statements it makes are the same for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

Values = Sequence[bytes | int | str | None]
Row = tuple[object, ...]


class Database(Protocol):
    """A connection. Statements have `?` where values go. Raises StateError and its kinds."""

    @property
    def address(self) -> str:
        """What people call it: a file's name, or an address without its password."""

    @property
    def is_shared(self) -> bool:
        """True where other processes may write too."""

    def rows(self, statement: str, values: Values = ()) -> list[Row]:
        """All rows of the answer."""

    def run(self, statement: str, many: Iterable[Values]) -> None:
        """Run the statement with each of these values."""

    def begin(self) -> None:
        """Begin to write; nobody sees it before the commit."""

    def commit(self) -> None:
        """Make what was written last, as durably as the store was asked to."""

    def rollback(self) -> None:
        """Undo what was written since `begin`; never raises."""

    def reading(self) -> AbstractContextManager[None]:
        """All that is read inside is of one moment, whoever writes meanwhile."""

    def lock(self, number: int) -> None:
        """Keep other writers off what the number stands for, until the commit."""

    def compact(self) -> None:
        """Give back the room that is not used."""

    def faults(self) -> list[str]:
        """What the database finds wrong with itself; nothing is changed, and nothing raises."""

    def size_bytes(self) -> int:
        """What the database takes on its disk."""

    def close(self) -> None:
        """Let go of it."""
