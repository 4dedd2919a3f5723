"""Items read ahead of those who work on them, and not further than there is room for."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from threading import Condition, Thread
from typing import Final

from msgspec import Struct

from dehusk.page.page import Page
from dehusk.settings import JobSettings
from dehusk.sources import Failure

_ITEM_BYTES: Final = 1000
"""What an item takes besides its HTML, roughly."""
_JOIN_S: Final = 1.0
"""How long the end of a run waits for the reader, which may be waiting for a pipe."""


class Arrived(Struct, frozen=True):
    """An item that was read, and the room that it takes."""

    item: Page | Failure
    size: int


class NoMore(Struct, frozen=True):
    """All was read, or reading failed."""

    fault: BaseException | None


class ReadAhead:
    """Reads items in a thread of its own, while there is room; its end is posted.

    In its own thread, since a source may be a pipe that fills slowly: what was read before must be
    answered meanwhile. Nobody is woken up for an item: whoever takes them looks now and then.
    """

    def __init__(
        self,
        items: Iterable[Page | Failure],
        post: Callable[[NoMore], object],
        settings: JobSettings,
    ) -> None:
        self._items: Iterator[Page | Failure] = iter(items)
        self._post = post
        self._settings = settings
        self._room = Condition()
        self._bytes = 0
        self._pages = 0
        self._is_stopped = False
        self._arrived: deque[Arrived] = deque()
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        fault: BaseException | None = None
        try:
            for item in self._items:
                size = _size_of(item)
                if not self._take_room(size):
                    break
                self._arrived.append(Arrived(item, size))
        except BaseException as raised:  # noqa: BLE001 - for the one who waits for items
            fault = raised
        close = getattr(self._items, "close", None)
        if close is not None:
            with suppress(Exception):
                close()
        self._post(NoMore(fault))

    def _take_room(self, size: int) -> bool:
        """Wait for room; False where nobody wants more. One item always finds room."""
        settings = self._settings
        with self._room:
            while (
                not self._is_stopped
                and self._pages
                and (
                    self._bytes + size > settings.max_ahead_bytes
                    or self._pages >= settings.max_ahead_pages
                )
            ):
                self._room.wait()
            self._bytes += size
            self._pages += 1
            return not self._is_stopped

    def take(self) -> Iterator[Arrived]:
        """The items that were read since."""
        while self._arrived:
            yield self._arrived.popleft()

    def free(self, size: int, pages: int) -> None:
        """Take note of room that there is again: of so many bytes, and of pages that are gone."""
        with self._room:
            self._bytes -= size
            self._pages -= pages
            self._room.notify()

    def stop(self) -> None:
        """Read no more."""
        with self._room:
            self._is_stopped = True
            self._room.notify()
        self._thread.join(_JOIN_S)


def _size_of(item: Page | Failure) -> int:
    """The bytes that an item takes: characters may take four each."""
    return _ITEM_BYTES + (sys.getsizeof(item.html) if isinstance(item, Page) else 0)
