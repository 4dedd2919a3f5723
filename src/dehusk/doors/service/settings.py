"""How a service runs: where it listens, who may ask, and what a request may cost."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

from dehusk.errors import UsageError
from dehusk.settings import HOST_NAME, CrawlSettings

_ORIGIN: Final = r"https?://([a-z0-9_.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?"
"""As browsers write one: lower case, no path. Anything else would never be met."""
_MIN_TOKEN: Final = 16
"""Characters of a token: fewer could be guessed."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Where a service listens, who may ask it, and what a request may cost.

    Raises UsageError for an address that others can reach without a token.
    """

    host: str = "127.0.0.1"
    port: int = 8100
    token: str | None = None
    """What every request must show, as `Authorization: Bearer …`."""
    origins: tuple[str, ...] = ()
    """Web origins whose scripts may ask: none unless named."""
    names: tuple[str, ...] = ()
    """Further host names that a request may be addressed to."""
    workers: int = 2
    max_body_bytes: int = 64_000_000
    """Of a request, unpacked."""
    max_pages: int = 1000
    """Of a batch."""
    deadline_s: float = 30.0
    """For a head to come, a body, a worker to be free, and for a page: each of them by itself."""
    cpu_s: float = 20.0
    """CPU time of one page, before its process is ended."""
    memory_bytes: int = 2_000_000_000
    """What a worker process may take besides what it has when it starts."""
    max_waiting: int = 256
    """Requests that wait for a worker; further ones are told to come again."""
    fetch: CrawlSettings | None = None
    """How pages are loaded that a request names; None for a service that loads none."""
    max_fetching: int = 4
    """Requests that load pages at the same time; further ones are told to come again."""
    fetch_s: float = 120.0
    """For all that a search loads; then it answers by what it has."""

    def __post_init__(self) -> None:
        if self.token is not None and (len(self.token) < _MIN_TOKEN or not self.token.isascii()):
            raise UsageError(f"a token has at least {_MIN_TOKEN} characters, all of them ASCII")
        if self.token is None and not _is_loopback(self.host):
            raise UsageError(
                f"{self.host} can be reached from other machines: name a token (--token-file, or"
                " DEHUSK_TOKEN in the environment), or listen on 127.0.0.1"
            )
        for origin in self.origins:
            if not re.fullmatch(_ORIGIN, origin):
                raise UsageError(
                    f"{origin!r} is not an origin: a scheme, a host and perhaps a port, lower case,"
                    " such as https://app.example"
                )
        for name in self.names:
            if not re.fullmatch(HOST_NAME, name):
                raise UsageError(f"{name!r} is not the name of a host, without a port")
        for name in ("workers", "max_body_bytes", "max_pages", "max_waiting", "memory_bytes"):
            if getattr(self, name) < 1:
                raise UsageError(f"serve: {name} must be at least 1")

    @property
    def known_names(self) -> frozenset[str]:
        """The host names that a request may be addressed to, lower case, without ports."""
        own = {"127.0.0.1", "localhost", "[::1]"} if _is_loopback(self.host) else set()
        bound = f"[{self.host}]" if ":" in self.host else self.host
        return frozenset(name.lower() for name in (*own, bound, *self.names))


def _is_loopback(host: str) -> bool:
    """True for an address that only this machine can reach."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
