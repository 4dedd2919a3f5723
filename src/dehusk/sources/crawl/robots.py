"""What sites say to crawlers: robots.txt, and reservations from mining."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from protego import Protego

from dehusk.errors import AddressRefused, BadRedirect, FetchError, HttpStatus, PageTooLarge
from dehusk.sources.crawl.fetch import Response, origin_of

_WITH_VALUE: Final = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
"""Directives with a colon, which does not make them the name of a crawler."""
_MAX_READ: Final = 10_000
MAX_ROBOTS_BYTES: Final = 512_000
"""What is read of a robots.txt. RFC 9309 asks for 500 KiB at least."""
MAX_RESERVATION_BYTES: Final = 512_000
_MAX_RESERVATIONS: Final = 1000
_MAX_SITEMAPS: Final = 50
_DAY_S: Final = 86_400
_USER_AGENT_LINE: Final = re.compile(r"[ \t]*user-?[ ]?agent[ \t]*:(.*)", re.IGNORECASE)
_RULE_LINE: Final = re.compile(
    r"[ \t]*(?:(allow)|di[as]{1,3}l{1,2}[ao]w)(?:[ \t]*:|[ \t])([^#]*)", re.IGNORECASE
)
_GROUP_LINE: Final = re.compile(r"[ \t]*(?!site-?maps?\b|host\b)[^ \t#]", re.IGNORECASE)
"""A line that ends the names of a group."""
_FIRST_PART: Final = re.compile(r"/[^/%]*/?")
_OTHERS: Final = "User-agent: -others-"
_MAX_RULES: Final = 1000
"""Rules that a URL is compared with, at most: 20,000 took 20 ms for each link of a page."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page asks for."""

    noindex: bool = False
    nofollow: bool = False
    tdm: bool = False

    def __or__(self, other: Asked) -> Asked:
        return Asked(
            self.noindex or other.noindex, self.nofollow or other.nofollow, self.tdm or other.tdm
        )


def by_headers(robots_tags: Iterable[str], reservation: str, token: str) -> Asked:
    """What `X-Robots-Tag` and `tdm-reservation` ask of the crawler of this name.

    A name before directives (`otherbot: noindex`) limits those behind it to that crawler.
    """
    asked = Asked(tdm=reservation.strip() == "1")
    for value in robots_tags:
        concerns = True
        for part in value[:_MAX_READ].lower().split(","):
            name, colon, rest = part.strip().partition(":")
            directive = name.strip()
            if colon and directive not in _WITH_VALUE:
                concerns = directive == token
                directive = rest.strip()
            if concerns:
                asked |= _of(directive)
    return asked


def by_meta(name: str, content: str, token: str) -> Asked:
    """What a `<meta name content>` asks of the crawler of this name."""
    name = name.strip().lower()
    if name == "tdm-reservation":
        return Asked(tdm=content.strip() == "1")
    if name not in ("robots", token):
        return Asked()
    asked = Asked()
    for part in content[:_MAX_READ].lower().split(","):
        asked |= _of(part.strip())
    return asked


def _of(directive: str) -> Asked:
    """What one directive asks for. `noai` is taken as a reservation from data mining."""
    return Asked(
        noindex=directive in ("noindex", "none"),
        nofollow=directive in ("nofollow", "none"),
        tdm=directive == "noai",
    )


@dataclass(frozen=True, slots=True)
class Manners:
    """What a host asks of crawlers, as far as it concerns this one."""

    token: str
    rules: Protego | None
    """None where robots.txt could not be had because the server failed: nothing may be fetched."""
    reservations: tuple[tuple[str, bool], ...] = ()
    """Patterns of paths, each with 'is it reserved?', the first that matches counts."""
    error: FetchError | None = None
    """Why robots.txt could not be had."""

    def allows(self, url: str) -> bool:
        """May the URL be fetched?"""
        return self.rules is not None and self.rules.can_fetch(url, self.token)

    @property
    def delay_s(self) -> float:
        """The seconds between two requests that robots.txt asks for; 0 for none."""
        if self.rules is None:
            return 0.0
        rate = self.rules.request_rate(self.token)
        # Numbers may be of any length: beyond a day nobody tells them apart.
        by_rate = min(rate.seconds, _DAY_S * rate.requests) / rate.requests if rate else 0.0
        return max(self.rules.crawl_delay(self.token) or 0.0, by_rate)

    @property
    def sitemaps(self) -> list[str]:
        """The sitemaps that robots.txt names."""
        return list(self.rules.sitemaps)[:_MAX_SITEMAPS] if self.rules else []

    def reserves(self, path: str) -> bool:
        """Does tdmrep.json keep the path from text and data mining?"""
        return next((held for pattern, held in self.reservations if _matches(pattern, path)), False)


async def ask_manners(
    origin: str, token: str, fetch: Callable[[str, int], Awaitable[Response]], *, ask_tdm: bool
) -> Manners:
    """What the host at this origin asks for, by RFC 9309.

    No robots.txt (status 4xx) allows everything; a server or network that fails (5xx, 429, no
    answer) forbids everything until it works. A file of more than 500 KiB is read so far. Raises
    AddressRefused for the host itself; one that its robots.txt redirects to is named nowhere.
    """
    try:
        answer = await fetch(f"{origin}/robots.txt", MAX_ROBOTS_BYTES)
    except FetchError as error:
        if origin_of(error.url or origin) != origin:
            said = "it redirects to another host, where it cannot be had"
            return Manners(token, None, error=BadRedirect(f"{origin}/robots.txt", said))
        if isinstance(error, AddressRefused):
            raise
        return Manners(token, None, error=error)
    if answer.status >= 500 or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return Manners(token, None, error=HttpStatus(answer.url, f"status {answer.status}"))
    text = answer.body if answer.status == HTTPStatus.OK else b""
    rules = Protego.parse(for_one(text.decode("utf-8-sig", "replace"), token))
    return Manners(token, rules, await _ask_reservations(origin, fetch) if ask_tdm else ())


def for_one(robots: str, token: str) -> str:
    """The robots.txt with all groups for other crawlers made one, and our own name spelled plainly.

    The parser copies every rule to every name in a group: thousands of both, half a megabyte of
    text, would take hours. And it does not know that `dehusk/1.0` is `dehusk`.
    """
    kept: list[str] = []
    rules: dict[int, _Rule] = {}
    names, is_naming = frozenset[str](), False
    for line in robots.splitlines():
        named = _USER_AGENT_LINE.match(line)
        if named is None:
            is_naming = is_naming and not _GROUP_LINE.match(line)
            if names and (rule := _RULE_LINE.match(line)):
                rules[len(kept)] = names, rule[2].strip(), bool(rule[1])
            kept.append(line)
            continue
        names, is_naming = names if is_naming else frozenset(), True
        name = named[1].partition("#")[0].strip().lower()
        if name == "*" or name.partition("/")[0].rstrip("* ") == token:
            names |= {name if name == "*" else token}
            kept.append(line if name == "*" else f"User-agent: {token}")
        elif not kept or kept[-1] != _OTHERS:
            kept.append(_OTHERS)
    return "\n".join(kept if len(rules) <= _MAX_RULES else _with_fewer(kept, rules))


_Rule = tuple[frozenset[str], str, bool]
"""A rule: which of our names it is for, its pattern, and whether it allows."""


def _with_fewer(lines: list[str], rules: dict[int, _Rule]) -> list[str]:
    """The lines with fewer rules, which forbid all that the rules do, and more.

    Nothing is allowed by name any more, and a folder with anything forbidden in it is as a whole;
    where that does not suffice, the site is. Patterns with `*` or `$` stay, if they are not many.
    """
    fewer: set[tuple[str, str]] = set()
    for names, pattern, is_allowing in rules.values():
        if pattern and not is_allowing:
            is_wide = "*" in pattern or pattern.endswith("$")
            first = _FIRST_PART.match(pattern)
            part = pattern if is_wide else first[0] if first else "/"
            fewer |= {(name, part) for name in names}
    if len(fewer) > _MAX_RULES:
        fewer = {(name, "/") for name, _ in fewer}
    # An empty rule still ends the names of its group.
    kept = ["Disallow:" if at in rules else line for at, line in enumerate(lines)]
    for name, pattern in sorted(fewer):
        kept += [f"User-agent: {name}", f"Disallow: {pattern}"]
    return kept


async def _ask_reservations(
    origin: str, fetch: Callable[[str, int], Awaitable[Response]]
) -> tuple[tuple[str, bool], ...]:
    """What the TDM Reservation Protocol's file says; nothing where there is none to be read."""
    try:
        answer = await fetch(f"{origin}/.well-known/tdmrep.json", MAX_RESERVATION_BYTES)
    except (FetchError, PageTooLarge):
        return ()
    return read_reservations(answer.body) if answer.status == HTTPStatus.OK else ()


def read_reservations(body: bytes) -> tuple[tuple[str, bool], ...]:
    """The path patterns of a tdmrep.json and what it says of each; empty for anything else."""
    try:
        rows = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    found: list[tuple[str, bool]] = []
    for row in rows[:_MAX_RESERVATIONS] if isinstance(rows, list) else []:
        match row:
            case {"location": str(location), "tdm-reservation": held} if held in (0, 1, "0", "1"):
                found.append((location, str(int(held)) == "1"))
    return tuple(found)


def _matches(pattern: str, path: str) -> bool:
    """Does a pattern with `*`, and perhaps `$` at its end, match from the start of the path?"""
    is_anchored = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    for part in parts:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return not is_anchored or at == len(path) or (bool(parts) and path.endswith(parts[-1]))
