"""Chance that falls the same way on every run, machine and Python version."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import Final, TypeVar

Item = TypeVar("Item")

_SEED_BYTES: Final = 8


class Dice:
    """Random choices that depend on the key alone.

    Only `Random.random` is promised to stay the same in later Pythons, so all else is made of it.
    """

    __slots__ = ("random",)

    def __init__(self, *key: object) -> None:
        digest = blake2b("/".join(map(str, key)).encode(), digest_size=_SEED_BYTES).digest()
        self.random = Random(int.from_bytes(digest, "big")).random  # noqa: S311 no secret

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return self.random() < share

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1."""
        return int(self.random() * limit)

    def between(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[int(self.random() * len(items))]

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """Different items in random order: `count` of them, or all where there are fewer."""
        pool = list(items)
        for place in range(min(count, len(pool))):
            other = self.between(place, len(pool) - 1)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]

    def letters(self, alphabet: str, count: int) -> str:
        """A made-up word over an alphabet."""
        return "".join(self.pick(alphabet) for _ in range(count))
