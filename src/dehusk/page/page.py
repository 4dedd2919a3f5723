"""A page as it came, before it is read, and the time that it has.

Its CPU time decides, so that a busy machine changes no answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dehusk.errors import PageTimeout, UsageError
from dehusk.page.tree import Floats
from dehusk.settings import WALL_FACTOR


class Boxes(Struct, frozen=True, eq=False):
    """Where a browser put the nodes of a page: x, y, width, height, in pixels of CSS.

    Without a box, width and height are 0; an element that no browser knows of is nan.
    """

    elements: Floats
    """A row for each element, in document order."""
    texts: Floats
    """A row for each text, ordered by the element it stands in, then by its place there."""
    first_text: NDArray[np.int64]
    """By element: the row of its first text. What it has not does not count."""
    text_count: NDArray[np.int64]
    """By element: the texts that stand in it."""


@dataclass(frozen=True, slots=True)
class Capture:
    """How an archive or a crawl came to a page."""

    record_id: str | None = None
    """The name of the archive's record, as `<urn:uuid:…>`."""
    date: str | None = None
    """When the page was fetched, in ISO 8601."""
    truncated: str | None = None
    """Why the page is not whole, in a word: `length`, `time`, `disconnect`, `segment`, or `short`
    where it has fewer bytes than its server said."""
    status: int | None = None
    """The status of HTTP that came with it."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it came: HTML as text or as bytes, and where it came from.

    `charset` is what the transport says of bytes; a byte order mark outranks it. `site` names the
    site the page belongs to where the source knows it.
    """

    html: str | bytes
    url: str | None = None
    site: str | None = None
    charset: str | None = None
    boxes: Boxes | None = field(default=None, repr=False, compare=False)
    """Where a browser put its nodes, if one showed it."""
    capture: Capture | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.html, str | bytes):
            raise UsageError(f"a page's HTML is str or bytes, not {type(self.html).__name__}")
        if not isinstance(self.url, str | None):
            raise UsageError(f"a page's URL is str, not {type(self.url).__name__}: use str(url)")
        for name in ("site", "charset"):
            if not isinstance(value := getattr(self, name), str | None):
                raise UsageError(f"a page's {name} is str, not {type(value).__name__}")


PageLike = Page | str | bytes | tuple[Any, ...] | list[Any]
"""A page, its HTML, or what `Page` takes, in that order: HTML, URL, site, charset."""


def as_page(given: PageLike) -> Page:
    """The page that is given in one of these forms. Raises UsageError for HTML that is none."""
    if isinstance(given, Page):
        return given
    return Page(*given) if isinstance(given, tuple | list) else Page(given)


def check_pages(pages: object) -> None:
    """Raise UsageError for one page where several are expected: its characters are none."""
    if isinstance(pages, Page | str | bytes):
        raise UsageError("pages are given as a list or another iterable: one page as [page]")


class _Clock(NamedTuple):
    url: str | None
    timeout_s: float
    asked_from: float
    """Before it no thread can have used so much CPU time, which takes longer to ask for."""
    cpu_end: float
    wall_end: float


_CLOCK: Final[ContextVar[_Clock | None]] = ContextVar("clock", default=None)
"""That of the page that this thread works on; handing it through every stage would make each of
them know of it."""


@contextmanager
def timed(url: str | None, timeout_s: float) -> Iterator[None]:
    """Gives the page of the block so much CPU time of this thread, and far more time by the clock.

    The second is for what stands still: a machine under load must not make a page fail.
    """
    now, cpu_end = time.monotonic(), time.thread_time() + timeout_s
    wall_end = now + WALL_FACTOR * timeout_s
    token = _CLOCK.set(_Clock(url, timeout_s, now + timeout_s, cpu_end, wall_end))
    try:
        yield
    finally:
        _CLOCK.reset(token)


def check_time(stage: str) -> None:
    """Raise PageTimeout once the page's time is up, naming the stage that used it."""
    clock = _CLOCK.get()
    if clock is None or (now := time.monotonic()) < clock.asked_from:
        return
    if time.thread_time() > clock.cpu_end:
        reason = f"{stage} took longer than {clock.timeout_s:g} s of CPU time"
        raise PageTimeout(clock.url, reason)
    if now > clock.wall_end:
        raise PageTimeout(
            clock.url, f"{stage} was not done within {WALL_FACTOR * clock.timeout_s:g} s"
        )
