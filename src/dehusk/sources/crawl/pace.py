"""How fast a host is asked: so many requests at a time, so long apart, longer when it suffers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

_FIRST_BACKOFF_S: Final = 1.0
"""What a host gets after the first failure in a row; doubled with each more, up to the cap."""


class Pace:
    """Lets requests to one host pass, each when its turn has come."""

    def __init__(self, concurrency: int, delay_s: float, max_delay_s: float) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._delay_s = delay_s
        self._max_delay_s = max_delay_s
        self._next = 0.0
        self._failures = 0

    def ask_for(self, delay_s: float) -> None:
        """Take note of a Crawl-delay: it lengthens the delay up to the cap, and never shortens."""
        self._delay_s = max(self._delay_s, min(delay_s, self._max_delay_s))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits until the next request may begin, and holds a slot while it lasts."""
        async with self._slots:
            while (wait_s := self._next - time.monotonic()) > 0:
                await asyncio.sleep(wait_s)
            self._next = time.monotonic() + self._delay_s
            yield

    def failed(self, retry_after_s: float | None) -> None:
        """The host could not answer: leave it alone for as long as it says, or longer each time."""
        wait_s = retry_after_s
        if wait_s is None:
            wait_s = _FIRST_BACKOFF_S * 2 ** min(self._failures, 10)
        self._failures += 1
        self._next = max(self._next, time.monotonic() + min(wait_s, self._max_delay_s))

    def answered(self) -> None:
        """The host is well."""
        self._failures = 0


def read_retry_after(written: str, now_s: float) -> float | None:
    """The seconds that a Retry-After asks for, as a number or as a date; None for neither."""
    text = written.strip()[:100]
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - now_s)
