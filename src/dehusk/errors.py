"""Every error that dehusk raises on purpose.

DehuskError
├── UsageError            wrong use: exit status 2
│   ├── SettingError      an unknown or impossible setting of a method
│   ├── SelectorError     something that is not a CSS selector
│   ├── NoMemory          a memory that is not there
│   └── MissingExtra      a feature whose install extra is not there
├── SourceError           an input that cannot be read, or not to its end
├── StateError            saved state that is damaged, or of another version, method or site
│   ├── WrongMemory       a memory of another method or setting than asked for: a UsageError too
│   ├── StoreLocked       another process writes to the store
│   ├── StoreFull         no room on the disk; nothing is lost
│   └── StoreDamaged      what the store holds is not what was written
│       └── NotAMemory    not a memory, or its first bytes are damaged: a UsageError too
└── PageError             one page that cannot be used; the run goes on
    ├── PageTooLarge      more bytes than allowed
    ├── TooManyNodes      more nodes than allowed
    ├── PageTimeout       a stage took longer than allowed
    ├── NotRendered       the browser could not show it
    ├── NotHtml           binary data, or a record without a page
    │   ├── IsFeed         RSS or Atom
    │   └── IsJson         JSON
    ├── DamagedRecord     a record that is not whole, cannot be unpacked, or is not JSON
    ├── NotWritten        its file cannot be made
    ├── MemoryDamaged     the memory of its site is damaged
    ├── FetchError        a page that the web did not give
    │   ├── AddressRefused     its host has an address that is not public
    │   ├── ConnectionFailed   nobody there, cut off, no trusted certificate
    │   │   └── NoAddress      no such host
    │   ├── FetchTimeout       the answer was not whole in time
    │   ├── BadResponse        not HTTP, shorter than promised, wrongly packed, endless headers
    │   ├── BadRedirect        a circle, too many, or to nowhere on the web
    │   ├── HttpStatus         the server answered with an error
    │   ├── RobotsRefused      robots.txt forbids it, or cannot be asked
    │   └── Reserved           its owner keeps it from indexes or from data mining
    ├── ProcessLost       the process that worked on it ended, twice
    └── PageFault         a fault in dehusk or its parser, met on this page
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that nobody knows: the known one most like it, if any."""
    from difflib import get_close_matches  # noqa: PLC0415  errors are loaded by everything

    near = get_close_matches(name, list(known), 1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


class DehuskError(Exception):
    """The base of every error that dehusk raises on purpose."""


class UsageError(DehuskError):
    """Wrong use: an option, a method or a source that does not exist."""


class SettingError(UsageError):
    """A setting that the method does not have, or a value that it cannot take."""


class SelectorError(UsageError):
    """Something that is not a CSS selector."""

    def __init__(self, selector: str, reason: str) -> None:
        super().__init__(reason)
        self.selector = selector
        self.reason = reason


class NoMemory(UsageError):
    """A memory that is not there, asked for what it knows."""

    def __init__(self, address: object) -> None:
        super().__init__(
            f"{address}: no such memory; `dehusk learn SOURCE --memory FILE` makes one from pages"
        )


class MissingExtra(UsageError):
    """A feature that needs an install extra which is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an extra: pip install 'dehusk[{extra}]'")


class SourceError(DehuskError):
    """An input that cannot be read, or that ends in the middle; what came before it is good."""


class StateError(DehuskError):
    """Saved state that is damaged, or written by another version or method."""


class WrongMemory(StateError, UsageError):
    """A memory of another method, or with other settings, than the user asks for."""


class StoreLocked(StateError):
    """Another process writes to the store, which only one may do at a time."""


class StoreFull(StateError):
    """There is no room on the disk. What was not saved is still held; committing again saves it."""


class StoreDamaged(StateError):
    """What a store holds is not what was written. `site` is the site it is about, if one.

    `advice` says what to do, if whoever raises it knows; the message ends with it.
    """

    def __init__(self, message: str, site: str | None = None, advice: str = "") -> None:
        super().__init__(f"{message}; {advice}" if advice else message)
        self.site = site
        self.advice = advice


class NotAMemory(StoreDamaged, UsageError):
    """The file holds no memory; if it ever did, its first bytes are damaged."""


class PageError(DehuskError):
    """One page that cannot be used: `code` is a word for programs, `reason` a phrase for people."""

    code: ClassVar[str] = "page"

    def __init__(self, url: str | None, reason: str) -> None:
        super().__init__(f"{url}: {reason}" if url else reason)
        self.url = url
        self.reason = reason

    def __reduce__(self) -> tuple[type[PageError], tuple[str | None, str]]:
        return type(self), (self.url, self.reason)


class PageTooLarge(PageError):
    """The page has more bytes than `Limits.max_bytes`."""

    code = "too_large"


class TooManyNodes(PageError):
    """The page has more nodes than `Limits.max_nodes`."""

    code = "too_many_nodes"


class PageTimeout(PageError):
    """The page used up `Limits.timeout_s` of CPU time, or stood still."""

    code = "timeout"


class NotRendered(PageError):
    """The browser crashed on the page, or the page left for another one."""

    code = "not_rendered"


class NotHtml(PageError):
    """The bytes are not a page: binary data, or a record without HTML."""

    code = "not_html"


class IsFeed(NotHtml):
    """An RSS or Atom feed, which lists pages."""

    code = "feed"


class IsJson(NotHtml):
    """JSON where a page was expected."""

    code = "json"


class DamagedRecord(PageError):
    """A record that is not whole, cannot be unpacked, or is not written as records are."""

    code = "damaged"


class NotWritten(PageError):
    """The page was cleaned, but the file for it cannot be made."""

    code = "not_written"


class MemoryDamaged(PageError):
    """The memory of the page's site is damaged, so there is no answer on it."""

    code = "memory_damaged"


class ProcessLost(PageError):
    """The process that worked on the page ended, and so did the next one that was given it."""

    code = "process_lost"


class PageFault(PageError):
    """dehusk or its parser failed on this page in a way nobody foresaw: a fault worth reporting."""

    code = "fault"


class FetchError(PageError):
    """The web did not give the page."""

    code = "fetch"


class AddressRefused(FetchError):
    """The host has no public address, and private ones were not allowed."""

    code = "private_address"


class ConnectionFailed(FetchError):
    """No such host, nobody there, cut off in between, or no certificate to trust."""

    code = "connection"


class NoAddress(ConnectionFailed):
    """No such host."""


class FetchTimeout(FetchError):
    """The whole answer did not come within the time that a request has."""

    code = "fetch_timeout"


class BadResponse(FetchError):
    """What came is not HTTP, is shorter than it says, or is not packed as it says."""

    code = "bad_response"


class BadRedirect(FetchError):
    """A redirect in a circle, one too many, or one that leads nowhere on the web."""

    code = "redirect"


class HttpStatus(FetchError):
    """The server answered, with a status that says there is no page."""

    code = "status"


class RobotsRefused(FetchError):
    """The site's robots.txt forbids the page, or cannot be read, which forbids all of them."""

    code = "robots"


class Reserved(FetchError):
    """The owner keeps the page from indexes (noindex), or from text and data mining."""

    code = "reserved"
