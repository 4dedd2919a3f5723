"""When what pages taught is made lasting."""

from __future__ import annotations

from typing import Final

from dehusk.memory.store import Store
from dehusk.settings import Durable

BATCH_PAGES: Final = 2048
_BATCH_BYTES: Final = 8_000_000
BATCH_S: Final = 5.0
"""What a batch is: whichever comes first. A commit writes the rows of every site that it finds
changed, so that small batches cost the more the more sites take turns: with 256 pages, 100 sites
instead of 10 make a page cost 1.16 times as much, with 2,048 1.06 (`dehusk bench scale`)."""
_EXIT_BYTES: Final = 64_000_000
"""What is held back at most for a commit at the end."""


def is_due(durable: Durable, store: Store, waited_s: float) -> bool:
    """True where the store is to be committed, so long after it was last."""
    if durable is Durable.PAGE or store.is_crowded:
        return True
    if durable is Durable.EXIT:
        return store.pending_bytes >= _EXIT_BYTES
    return (
        store.pending_pages + store.shelves.pending // 16 >= BATCH_PAGES
        or store.pending_bytes >= _BATCH_BYTES
        or waited_s >= BATCH_S
    )
