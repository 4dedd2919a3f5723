"""The limits, options and defaults that doors and library share, once.

Without numpy, so that the command line can show them at once.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dehusk.errors import SettingError, UsageError

METHOD: Final = "auto"
"""The method of a run that names none, and whose memory was learned with none."""
MAX_DEPTH: Final = 512
"""Where browsers and the parser stop nesting elements: what comes deeper become siblings there."""
USER_AGENT: Final = "dehusk/0.1.0 (learns what a site repeats; obeys robots.txt as dehusk)"
SAVED: Final = "pages.warc.gz"
"""The archive that pages out of the web are saved to, in a folder: with it the folder is read."""
WALL_FACTOR: Final = 30
"""A page stands still that takes so many times its CPU time by the clock. On a busy machine some
took 10 s for 0.2 s to 2.7 s of CPU."""
MAX_LOADS: Final = 20
"""Pages that a search by the papers fetches at most, the key page included. On linked-dev it takes
7 to find three that link each other; a site whose links lead nowhere is not worth 1,000."""
_SERVERS: Final = ("postgresql://", "postgres://")
"""How the address of a memory begins that is in a database on a server."""
HOST_NAME: Final = r"[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]"
"""A pattern of the name or the address of a host."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may cost before it is refused with a `PageError`.

    Depth is not refused: elements below `max_depth` become siblings, as in browsers.
    """

    max_bytes: int = 20_000_000
    max_nodes: int = 500_000
    max_depth: int = MAX_DEPTH
    timeout_s: float = 10.0
    """CPU time. What stands still is given up after `WALL_FACTOR` times as long."""

    def __post_init__(self) -> None:
        if self.max_depth > MAX_DEPTH:
            raise SettingError(f"limits: max_depth is at most {MAX_DEPTH}, as in browsers")
        for name in ("max_bytes", "max_nodes", "max_depth", "timeout_s"):
            if not getattr(self, name) > 0:
                raise SettingError(f"limits: {name} must be above 0")


class Favour(StrEnum):
    """Which error to avoid rather."""

    PRECISION = "precision"
    BALANCE = "balance"
    RECALL = "recall"


class Comments(StrEnum):
    """What becomes of what readers wrote below the content."""

    APART = "apart"
    """It is an answer of its own, beside the text."""
    KEEP = "keep"
    """It is part of the content."""
    DROP = "drop"


class PageType(StrEnum):
    """What a page is."""

    ARTICLE = "article"
    LISTING = "listing"
    COLLECTION = "collection"
    FORUM = "forum"
    PRODUCT = "product"
    DOCUMENTATION = "documentation"
    SERVICE = "service"


class Links(StrEnum):
    """What becomes of links in Markdown."""

    KEEP = "keep"
    """Text and address, without parameters that only track readers, as `utm_source`."""
    TEXT = "text"
    """Their text alone."""
    FOOTNOTES = "footnotes"
    """Text and a number; the addresses stand at the end."""
    NONE = "none"
    """Nothing, their text neither."""
    FULL = "full"
    """Text and address, with all parameters."""


class Images(StrEnum):
    """What becomes of images in Markdown."""

    KEEP = "keep"
    DESCRIBED = "described"
    """Those with alternative text, or the caption of a figure."""
    ALT = "alt"
    """Their alternative text alone."""
    NONE = "none"


class Tables(StrEnum):
    """How tables are written in Markdown."""

    GFM = "gfm"
    """As GitHub's Markdown has them."""
    HTML = "html"
    """Those that it cannot hold, with spans or blocks in cells, as HTML."""


@dataclass(frozen=True, slots=True)
class MarkdownSettings:
    """How Markdown writes links, images and tables, and how pieces of the content begin."""

    links: Links = Links.KEEP
    images: Images = Images.KEEP
    tables: Tables = Tables.GFM
    heading_path: bool = False
    """Does the text of a piece begin with the headings above it, in a line of their own?"""

    def __post_init__(self) -> None:
        # A name that came as text is as good as the choice; any other is refused.
        for name, choices in (("links", Links), ("images", Images), ("tables", Tables)):
            try:
                object.__setattr__(self, name, choices(getattr(self, name)))
            except ValueError:
                known = ", ".join(choices)
                raise SettingError(
                    f"markdown: {name} is one of {known}, not {getattr(self, name)!r}"
                ) from None
        if type(self.heading_path) is not bool:
            raise SettingError(f"markdown: heading_path is a bool, not {self.heading_path!r}")


class SiteBy(StrEnum):
    """Which part of a URL names the site."""

    HOST = "host"
    """The host, with its port where that is not the usual one."""
    DOMAIN = "domain"
    """The part of the host that somebody registered: `example.co.uk` of `www.example.co.uk`."""
    PREFIX = "prefix"
    """The host and the first folder of the path: `example.org/docs`."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """How pages are read: the site they belong to, the fields of a record, the size allowed."""

    site: str | None = None
    """The site of every page, whatever the page or its URL says."""
    url: str | None = None
    """The address of the page, where the source is one file of HTML or standard input."""
    site_by: SiteBy = SiteBy.HOST
    html_field: str = "html"
    url_field: str = "url"
    site_field: str = "site"
    max_bytes: int = Limits().max_bytes


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much a store keeps."""

    max_site_bytes: int = 16_000_000
    """Of each site, in memory. Beyond it what has the least of its life time left goes."""
    max_known_pages: int = 100_000
    """Of each site: pages that are known not to be learned twice, 16 bytes each, the last ones."""
    max_total_bytes: int = 4_000_000_000
    """Of all sites together. Beyond it the sites go that have not changed for longest."""
    max_active_bytes: int = 128_000_000
    """Of the sites that are held in memory; the others are read again when they are asked for."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise SettingError(f"keeping: {name} must be at least 1")


class Durable(StrEnum):
    """When what a page taught is saved, so that kill -9 and a power cut do not undo it."""

    PAGE = "page"
    """Before the page's answer is given."""
    BATCH = "batch"
    """Every 2,048 pages, or 5 seconds, or 8 MB, and at the end."""
    EXIT = "exit"
    """At the end; before that only what no longer finds room in memory is written."""


@dataclass(frozen=True, slots=True)
class JobSettings:
    """How many processes work on pages, and what is held for them."""

    jobs: int = 2
    max_ahead_bytes: int = 64_000_000
    """Bytes of pages and answers that are held at most, besides one page: reading waits for the
    slowest. Where the pages of a site stand together, as many sites are worked on at a time as
    find room here."""
    max_ahead_pages: int = 10_000
    """Pages and answers that are held at most."""
    max_held_bytes: int = 128_000_000
    """What the sites that a process holds may take in it, as `Keeping.max_active_bytes`."""
    patience_s: float = 30.0
    """A process that is silent so much longer than a page may stand still is ended."""

    def __post_init__(self) -> None:
        for name in ("jobs", "max_ahead_bytes", "max_ahead_pages", "max_held_bytes"):
            if getattr(self, name) < 1:
                raise UsageError(f"jobs: {name} must be at least 1")


class Wish(StrEnum):
    """What a site can ask of crawlers. All are obeyed, unless the user says which not to."""

    ROBOTS = "robots"
    """robots.txt: what may be fetched at all."""
    NOFOLLOW = "nofollow"
    """Links that are not to be followed."""
    NOINDEX = "noindex"
    """Pages that are not to be kept."""
    TDM = "tdm"
    """Pages that are not to be mined."""
    CANONICAL = "canonical"
    """Pages that name another URL as the one to keep."""


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """How to crawl: how much, how fast, under what name, and which wishes of a site to ignore."""

    max_pages: int = 1000
    """Pages to give; failed and left out ones do not count."""
    max_depth: int = 500
    """Links to follow from the start at most. Kinds of pages are met before all of one kind, so the
    way to a page is not the shortest: of 2,000 pages of a sample site some are beyond 50."""
    delay_s: float = 1.0
    """Seconds between the beginnings of two requests to a host; robots.txt may ask for more."""
    max_delay_s: float = 60.0
    """The most that a Crawl-delay or a Retry-After can make a crawl wait."""
    concurrency: int = 1
    """Requests to a host at the same time."""
    user_agent: str = USER_AGENT
    timeout_s: float = 30.0
    """Seconds for a request, from looking up the name to the last byte."""
    max_bytes: int = Limits().max_bytes
    max_redirects: int = 10
    retries: int = 2
    """Times that a page is asked for again, at the end of the queue, where the network failed."""
    allow_private: tuple[str, ...] = ()
    """Hosts, addresses and networks (`10.1.0.0/16`) to connect to though they are not public.
    Link-local addresses, and those where providers tell their machines secrets, never are."""
    include: tuple[str, ...] = ()
    """Patterns with * and ?; where there are any, a URL must match one."""
    exclude: tuple[str, ...] = ()
    ignored: frozenset[Wish] = frozenset()
    sitemaps: bool = True

    def __post_init__(self) -> None:
        for name in ("max_pages", "concurrency", "timeout_s", "max_bytes"):
            if not getattr(self, name) > 0:
                raise SettingError(f"crawl: {name} must be above 0")
        for name in ("max_depth", "delay_s", "max_delay_s", "max_redirects", "retries"):
            if not getattr(self, name) >= 0:
                raise SettingError(f"crawl: {name} must not be below 0")
        if isinstance(self.allow_private, str | bool):
            raise SettingError("crawl: allow_private is a tuple of hosts and networks")
        for name in self.allow_private:
            if not _is_host_or_network(name):
                raise SettingError(f"crawl: {name!r} is neither a host nor a network to allow")
        if not self.user_agent.isascii() or not self.user_agent.isprintable():
            raise SettingError("crawl: user_agent must be plain ASCII, on one line")
        if not self.robots_token:
            raise SettingError("crawl: user_agent must begin with a name, as in `name/1.0`")

    @property
    def robots_token(self) -> str:
        """The name that robots.txt and robots tags know the crawler by."""
        return self.user_agent.partition("/")[0].partition(" ")[0].lower()

    def obeys(self, wish: Wish) -> bool:
        """Is the wish obeyed?"""
        return wish not in self.ignored


def is_server(address: str | os.PathLike[str]) -> bool:
    """True for the address of a memory in a database on a server; False for a file."""
    return os.fspath(address).startswith(_SERVERS)


def _is_host_or_network(name: str) -> bool:
    """True for the name of a host, an address, or a network such as `10.1.0.0/16`."""
    try:
        ipaddress.ip_network(name.strip("[]"), strict=False)
    except ValueError:
        return bool(re.fullmatch(HOST_NAME, name)) and name[0] != "["
    return True
