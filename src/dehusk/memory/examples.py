"""A page of each family of a site, so that people can see what a family is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dehusk.memory.store import Shelf

EXAMPLES: Final = "families"
"""What the shelf of a site's examples is called."""
_MAX_URL: Final = 2_000
"""Bytes of a URL; a page with a longer one is no example."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The URL of the first page of each family; numbers of families go up to four digits."""

    shelf: Shelf

    def get(self, family: int) -> str | None:
        """The example of a family; None if there is none."""
        found = self.shelf.get(_key(family))
        return None if found is None else found.decode("utf-8", "surrogatepass")

    def offer(self, family: int, url: str) -> None:
        """Take the page for its family's example if that has none yet."""
        written = url.encode("utf-8", "surrogatepass")
        if len(written) <= _MAX_URL and self.shelf.get(_key(family)) is None:
            self.shelf.put(_key(family), written)


def _key(family: int) -> bytes:
    return family.to_bytes(4, "big")
