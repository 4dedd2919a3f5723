"""What a process and its workers say to each other: one protocol for jobs and for the service.

    parent                              worker
    Setup                 ─────────►    how to judge, and what it may take
                          ◄─────────    Replies of nothing: it has begun
    Batch of Requests     ─────────►
                          ◄─────────    Replies, in the order of the requests, some at a time

A message is a line of JSON that says what follows, and bytes:

    4 bytes   length of the JSON, big-endian
    JSON      an object; its `sizes` are the lengths of the bytes that follow
    bytes     pages, answers, lessons, snapshots

Plain data both ways: a worker that a page has taken over can send nonsense, and nothing that runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import IO, Any, Final, Self

from msgspec import Struct, field
from msgspec import json as quick

from dehusk.answer.override import Overrides
from dehusk.errors import DehuskError, PageError, StateError, UsageError
from dehusk.memory.session import SessionSettings, Snapshot
from dehusk.output import Format, Shape
from dehusk.page.page import Capture, Page

Header = dict[str, Any]
LENGTH: Final = 4
BUFFER_BYTES: Final = 1 << 18
"""What is read from a pipe at once, and written to it: most messages whole. Each wait for a pipe
may hand the interpreter to another thread."""
_MAX_SIZE: Final = (1 << 8 * LENGTH) - 1
"""Of the bytes that follow, each: far more than any page or memory has, and a number that a file
can be asked for."""
_MAX_HEADER: Final = 64_000_000
"""Of the JSON: a thousand pages with the longest URLs and names make a third of that."""
_DIGEST_BYTES: Final = 8
_ERRORS: Final[dict[str, type[PageError]]] = {}


def pack(header: Header, blobs: Sequence[bytes] = ()) -> bytes:
    """The message as bytes. Numbers that are not finite arrive as None."""
    header = {**header, "sizes": [len(blob) for blob in blobs]}
    try:
        # A tenth of the time of the standard library, which also writes half a surrogate pair, and
        # texts and numbers of a class of their own, as data frames have them.
        text = quick.encode(header)
    except (UnicodeEncodeError, TypeError):
        text = json.dumps(header).encode()
    return _framed(text, blobs)


def _framed(text: bytes, blobs: Sequence[bytes] = ()) -> bytes:
    return b"".join((len(text).to_bytes(LENGTH, "big"), text, *blobs))


def read(stream: IO[bytes]) -> tuple[Header, list[bytes]] | None:
    """The next message; None at the end, also where that comes in the middle of a message.

    Whoever is killed while it writes leaves the beginning of a message, which is none. Raises
    ValueError for what cannot be a message.
    """
    start = stream.read(LENGTH)
    if len(start) < LENGTH:
        return None
    size = int.from_bytes(start, "big")
    if size > _MAX_HEADER:
        raise ValueError("no message: it begins with nonsense")
    text = stream.read(size)
    if len(text) < size:
        return None
    header = _header(text)
    blobs = [stream.read(size) for size in header["sizes"]]
    if list(map(len, blobs)) != header["sizes"]:
        return None
    return header, blobs


def _header(text: bytes) -> Header:
    """What a message says of itself. Raises ValueError for what is no such thing."""
    header = _parsed(text)
    sizes = header.get("sizes") if isinstance(header, dict) else None
    if not isinstance(sizes, list) or not all(map(_is_size, sizes)):
        raise ValueError("no message: it does not say what follows")
    return header  # type: ignore[no-any-return]


def _parsed(text: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return quick.decode(text)
    try:
        return json.loads(text.decode())
    except RecursionError as fault:
        raise ValueError("no message: brackets in brackets") from fault


def _is_size(size: object) -> bool:
    return type(size) is int and 0 <= size <= _MAX_SIZE


class Act(StrEnum):
    """What is to be done with a page. A door may have further acts: see `Setup.acts`."""

    CLEAN = "clean"
    """Learn it, and answer on it."""
    ASK = "ask"
    """Answer on it, as a page that was learned before."""
    LEARN = "learn"
    """Learn it, without an answer."""
    TELL = "tell"
    """Tell what it teaches, whatever its site knows."""
    SNAPSHOT = "snapshot"
    """No page: tell what the site has come to."""
    SKIP = "skip"
    """Nothing: no worker is asked."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message to a worker: how it judges pages, writes answers, and what it may take."""

    session: SessionSettings
    shape: Shape = Shape()  # noqa: RUF009 - frozen
    is_sketching: bool = False
    """Are answers compared for near duplicates?"""
    acts: str | None = None
    """The module that has further acts, in a table `ACTS`."""
    cpu_s: float | None = None
    """CPU time of a batch, before the process is ended."""
    memory_bytes: int | None = None
    """What the process may take besides what it has when it starts. It writes no file then."""

    def to_bytes(self) -> bytes:
        """The message."""
        # Not quickly: a limit may be infinite.
        return _framed(json.dumps({**asdict(self), "sizes": []}).encode())

    @classmethod
    def from_header(cls, header: Header) -> Self:
        """The setup that a message describes."""
        shape = Shape(**{**header["shape"], "format": Format(header["shape"]["format"])})
        rest = {name: header[name] for name in ("is_sketching", "acts", "cpu_s", "memory_bytes")}
        return cls(SessionSettings.read(header["session"]), shape, **rest)


class Request(Struct, frozen=True):
    """What a worker is to do with pages of a site."""

    act: str
    site: str
    pages: Sequence[Page]
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the act is told besides, as plain data."""
    snapshot: Snapshot | None = None
    """The site, where the worker does not hold it."""
    wants_snapshot: bool = False
    """Is the site to be sent back with what the page teaches?"""

    def parts(self) -> tuple[Header, list[bytes]]:
        """What a message says of it, and its bytes."""
        header: Header = {"act": self.act, "site": self.site, "pages": list(map(_told, self.pages))}
        blobs = list(map(_html, self.pages))
        if self.options:
            header["options"] = self.options
        if self.wants_snapshot:
            header["wants_snapshot"] = True
        if (snapshot := self.snapshot) is not None:
            unlearned = b"".join(
                n.to_bytes(_DIGEST_BYTES, "big") for n in sorted(snapshot.unlearned)
            )
            blobs += [unlearned, snapshot.state, *snapshot.lessons]
            overrides = {"keep": snapshot.overrides.keep, "drop": snapshot.overrides.drop}
            header["snapshot"] = {**overrides, "lessons": len(snapshot.lessons)}
        return header, blobs

    @classmethod
    def from_parts(cls, header: Header, blobs: Iterator[bytes]) -> Self:
        """The request that a message describes; takes what is its own from the bytes."""
        site = header["site"]
        pages = [_page(told, next(blobs)) for told in header["pages"]]
        snapshot = None
        if (told := header.get("snapshot")) is not None:
            overrides = Overrides(tuple(told["keep"]), tuple(told["drop"]))
            digests, state, *lessons = islice(blobs, 2 + told["lessons"])
            unlearned = frozenset(
                int.from_bytes(digests[start : start + _DIGEST_BYTES], "big")
                for start in range(0, len(digests), _DIGEST_BYTES)
            )
            snapshot = Snapshot(site, state, overrides, lessons, unlearned)
        is_wanted = header.get("wants_snapshot", False)
        return cls(header["act"], site, pages, header.get("options", {}), snapshot, is_wanted)


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests that are sent together, and the sites that the worker lets go of before them."""

    requests: Iterable[Request]
    dropped_sites: Sequence[str] = ()

    def to_bytes(self) -> bytes:
        """The message."""
        parts = [request.parts() for request in self.requests]
        header = {"requests": [told for told, _ in parts], "drop": self.dropped_sites}
        return pack(header, [blob for _, blobs in parts for blob in blobs])

    @classmethod
    def from_parts(cls, header: Header, blobs: list[bytes]) -> Self:
        """The batch that a message describes; its requests are read one by one, once.

        Pages may be large, so that their bytes go as they are read: none are left in `blobs`.
        """
        rest = iter(partial(blobs.pop, 0), None)
        requests = (Request.from_parts(told, rest) for told in header["requests"])
        return cls(requests, header["drop"])


class Reply(Struct, frozen=True):
    """What came of a request."""

    answer: bytes | None = None
    """As it is to be written or sent on."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What is counted, noted and compared of the answer."""
    lesson: bytes | None = None
    """What the page taught; None for one that was known, or that is only asked about."""
    snapshot: bytes | None = None
    """What the site has come to, where that was wanted."""
    held_bytes: int | None = None
    """What the site takes in the worker; None where the act is not about a site that it holds."""
    error: tuple[str, str] | None = None
    """Why the page cannot be used: the code of a PageError, and its words."""
    fault: tuple[str, str] | None = None
    """What the next page would meet too: `usage` or `state`, and words."""

    def parts(self) -> tuple[Header, list[bytes]]:
        """What a message says of it, and its bytes."""
        blobs = (self.answer, self.lesson, self.snapshot)
        header: Header = {"has": [blob is not None for blob in blobs]}
        for name in ("facts", "held_bytes", "error", "fault"):
            if value := getattr(self, name):
                header[name] = value
        return header, [blob for blob in blobs if blob is not None]

    @classmethod
    def from_parts(cls, header: Header, blobs: Iterator[bytes]) -> Self:
        """The reply that a message describes; takes what is its own from the bytes."""
        answer, lesson, snapshot = [next(blobs) if has else None for has in header["has"]]
        error, fault = _two_words(header.get("error")), _two_words(header.get("fault"))
        facts, held = header.get("facts", {}), header.get("held_bytes")
        if not isinstance(facts, dict) or not (held is None or _is_size(held)):
            raise TypeError("not a reply")
        return cls(answer, facts, lesson, snapshot, held, error, fault)

    def page_error(self, url: str | None) -> PageError | None:
        """Why the page of that URL cannot be used; None for one that can be."""
        if self.error is None:
            return None
        code, message = self.error
        return _kinds_of_error().get(code, PageError)(url, message)

    def fatal_error(self) -> DehuskError | None:
        """What ends a run; None where nothing does."""
        if self.fault is None:
            return None
        kind, message = self.fault
        return (UsageError if kind == "usage" else StateError)(message)


def replies_to_bytes(replies: Sequence[Reply]) -> bytes:
    """A message of these replies; of none: the worker has begun."""
    parts = [reply.parts() for reply in replies]
    header = {"replies": [told for told, _ in parts]}
    return pack(header, [blob for _, blobs in parts for blob in blobs])


def replies_from_parts(header: Header, blobs: Sequence[bytes]) -> list[Reply]:
    """The replies of a message. Raises ValueError for what is none."""
    rest = iter(blobs)
    try:
        return [Reply.from_parts(told, rest) for told in header["replies"]]
    except (LookupError, TypeError, AttributeError, StopIteration, RuntimeError) as fault:
        raise ValueError("no message: not what a worker says") from fault


def _two_words(value: Any) -> tuple[str, str] | None:
    if value is None:
        return None
    first, second = value
    return str(first), str(second)


def _html(page: Page) -> bytes:
    return page.html if isinstance(page.html, bytes) else page.html.encode("utf-8", "surrogatepass")


def _told(page: Page) -> Header:
    """What a message says of a page."""
    told: Header = {"url": page.url, "is_text": isinstance(page.html, str)}
    if page.site is not None:
        told["site"] = page.site
    if page.charset is not None:
        told["charset"] = page.charset
    if (capture := page.capture) is not None:
        told["capture"] = [
            capture.record_id, capture.date, capture.truncated, capture.status,
        ]  # fmt: skip
    return told


def _page(told: Header, html: bytes) -> Page:
    """The page that a message describes."""
    given = html.decode("utf-8", "surrogatepass") if told["is_text"] else html
    capture = Capture(*told["capture"]) if "capture" in told else None
    return Page(given, told["url"], told.get("site"), told.get("charset"), capture=capture)


def _kinds_of_error() -> dict[str, type[PageError]]:
    """Every kind of PageError by its code."""
    if not _ERRORS:
        kinds = [PageError]
        while kinds:
            kind = kinds.pop()
            _ERRORS[kind.code] = kind
            kinds += kind.__subclasses__()
    return _ERRORS
