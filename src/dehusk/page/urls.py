"""What the URLs on a page lead to, and what site a page belongs to: one rule for each."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from dehusk import _kernel
from dehusk.page import tags
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree
from dehusk.settings import SiteBy, SourceSettings

_UNUSABLE: Final = (
    "javascript", "vbscript", "data", "about", "blob", "filesystem", "view-source", "jar",
)  # fmt: skip
_SCHEME: Final = pattern(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
# The URL standard strips the first set from the ends and the second from anywhere.
_ENDS: Final = "".join(map(chr, range(33)))
_BREAKS: Final = str.maketrans("", "", "\t\n\r")
# Browsers encode these; in Markdown and HTML they would end the address.
_UNSAFE: Final = pattern(r'[ "<>`]')
_PLAIN: Final = pattern(r"https?://[^\x00-\x20\"<>`\[\]]+")
_RELATIVE: Final = pattern(
    r"[\w~%-][\w~%/.-]*(?:\?[\w~%/.!$&'()*+,:;=?@-]+)?(?:#[\w~%/.!$&'()*+,:;=?@-]+)?", re.ASCII
)
_PLAIN_PAGE: Final = pattern(
    r"((https?://[\w.-]+(?::\d+)?)(/[\w~%/.-]*)(?:\?[\w~%/.&+,:=-]+)?)(?:#[\w~%/.-]*)?", re.ASCII
)
"""A URL that joining gives back as it is, up to the place on the page; its origin and its path."""
_PLAIN_HOST: Final = pattern(r"https?://([\w.-]+)(?::\d+)?(?:[/?#]|\Z)", re.ASCII)
"""What a URL with a host begins with, at a fraction of what taking it apart costs."""
_UP: Final = "../"
_OTHER_HOST: Final = pattern(r"//[A-Za-z0-9.:-]+(?:/[^;?#\[\]]*)?(?:\?[^;#\[\]]+)?(?:#[^\[\]]+)?")
"""An address without its scheme of which joining leaves all as it is."""
_BASE: Final = tags.NUMBERS["base"]
_MAX_BASE: Final = 2_000
"""Every relative link of a page repeats its base."""

_SESSION: Final = frozenset(
    (
        "phpsessid", "jsessionid", "aspsessionid", "sid", "sessid", "sessionid", "session_id",
        "cfid", "cftoken", "oscsid", "zenid", "fbclid", "gclid", "dclid", "msclkid", "mc_cid",
        "mc_eid",
    )
)  # fmt: skip
"""Parameters that say who came, and from where, and nothing about the page."""
_TRACKING: Final = ("utm_", "aspsessionid")
_PATH_SESSION: Final = pattern(r";(?:jsessionid|phpsessid|sid)=[^/?#]*", re.IGNORECASE)
_COOKIELESS: Final = pattern(r"/\([A-Z]\([A-Za-z0-9]{10,40}\)\)(?=/)")
"""The session in a path segment of its own, as ASP.NET writes it: `/(S(1abc…))/page`."""


def without_session(
    path: str, query: str, dropped: frozenset[str] = frozenset()
) -> tuple[str, str]:
    """Path and query without what says nothing about the page: sessions, campaigns, `dropped`."""
    path = _COOKIELESS.sub("", _PATH_SESSION.sub("", path))
    kept = [part for part in query.split("&") if part and not _is_noise(part, dropped)]
    return path, "&".join(kept)


def _is_noise(part: str, dropped: frozenset[str]) -> bool:
    name = part.partition("=")[0]
    lowered = name.lower()
    return lowered in _SESSION or lowered.startswith(_TRACKING) or name in dropped


class Base(NamedTuple):
    """What relative URLs of a page are relative to; without a web address they stay as they are."""

    url: str | None
    origin: str
    folder: str = ""
    """The URL up to its last slash; empty where joining needs more than writing one behind it."""

    def absolute(self, written: str) -> str | None:
        """The URL that `written` leads to; None where it leads nowhere or cannot be read."""
        if _PLAIN.fullmatch(written):
            return written
        url = written.strip(_ENDS).translate(_BREAKS)
        if url in ("", "#"):
            return None
        scheme = _SCHEME.match(url)
        if scheme and scheme[1].lower() in _UNUSABLE:
            return None
        try:
            return _UNSAFE.sub(_percent, self._joined(url, has_scheme=scheme is not None))
        except ValueError:
            return None

    def begins(self) -> tuple[bytes, bytes, bytes]:
        """What stands before an address on the host, in the folder and on the page, for the kernel.

        Empty where more is needed than writing one behind the other.
        """
        return _begins(self)

    def _joined(self, url: str, *, has_scheme: bool) -> str:
        """The URL made absolute. Raises ValueError for one that nobody can follow."""
        if has_scheme or self.url is None:
            # Brackets are the only thing that the standard library refuses.
            if "[" in url or "]" in url:
                urlsplit(url)
            return url
        if url[0] == "/" and url[1:2] != "/" and "/." not in url:
            # What most links look like, at a fraction of what joining costs.
            return self.origin + url
        if _OTHER_HOST.fullmatch(url):
            return self.origin.partition("//")[0] + url
        if self.folder:
            up = 0
            while url.startswith(_UP, up * len(_UP)):
                up += 1
            below = url[up * len(_UP) :]
            if _RELATIVE.fullmatch(below) and "/." not in below and "//" not in below:
                return self._folder_above(up) + below
        return urljoin(self.url, url)

    def _folder_above(self, levels: int) -> str:
        """The folder so many levels above this one; that of the host has none above it."""
        end = len(self.folder)
        for _ in range(levels):
            if end <= len(self.origin) + 1:
                break
            end = self.folder.rindex("/", 0, end - 1) + 1
        return self.folder[:end]


def _percent(found: re.Match[str]) -> str:
    """A character as a URL writes it."""
    return f"%{ord(found[0]):02X}"


def base_of(tree: Tree, base_url: str | None) -> Base:
    """What the page's relative URLs are relative to: its first `<base href>`, or its own URL.

    Only web addresses count, and no very long base; a page from a file keeps its relative links.
    """
    base = _base(base_url or "")
    for node in _kernel.tagged(tree.kernel, _BASE):
        written = tree.attributes(node).get("href")
        if written is not None:
            found = _base(base.absolute(written) or "")
            return found if found.url and len(found.url) <= _MAX_BASE else base
    return base


@lru_cache(maxsize=32)  # A page asks for its own several times.
def _base(url: str) -> Base:
    """A base at this URL; one without a URL if it is no web address."""
    if plain := _PLAIN_PAGE.fullmatch(url):  # A fraction of what taking it apart costs.
        _, origin, path = plain.groups()
    else:
        try:
            parts = urlsplit(url)
        except ValueError:
            return Base(None, "")
        if parts.scheme not in ("http", "https"):
            return Base(None, "")
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path
    folder = path.rpartition("/")[0] + "/"
    is_plain = not origin.endswith("//") and "/." not in folder and "//" not in folder
    return Base(url, origin, origin + folder if is_plain else "")


@lru_cache(maxsize=32)  # Both links and Markdown ask.
def _begins(base: Base) -> tuple[bytes, bytes, bytes]:
    """What `Base.begins` gives."""
    found = _PLAIN_PAGE.fullmatch(base.url or "")
    here = found[1] if found else (base.absolute("#x") or "")[: -len("#x")] if base.url else ""
    origin, folder, page = (
        b"" if _UNSAFE.search(each) else each.encode("utf-8", "surrogatepass")
        for each in (base.origin, base.folder, here)
    )
    return origin, folder, page


def host_of(url: str) -> str:
    """The host of a URL, without user and port; empty where there is none."""
    plain = _PLAIN_HOST.match(url)
    if plain:
        return plain[1].lower()
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_web(url: str) -> bool:
    """Is it an absolute address on the web, with a host?"""
    if _PLAIN_HOST.match(url):
        return True
    try:
        return urlsplit(url).scheme in ("http", "https") and bool(host_of(url))
    except ValueError:
        return False


_USUAL_PORTS: Final = {"http": 80, "https": 443}
_ORIGIN: Final = pattern(r"https?://[a-z0-9.:-]{1,300}(?=[/?#]|\Z)")
_MAX_HOST: Final = 253
"""What DNS allows."""
_NAMED_HOST: Final = pattern(r"[a-z0-9_.-]*[a-z_-][0-9]*")
"""A host of names: no IPv6 address, and no IPv4 address, whose last label is a number."""


def site_of(url: str | None, stated: str | None, folder: str, settings: SourceSettings) -> str:
    """The site of a page: as set, else as `stated` with it, else by its URL, else its folder."""
    return settings.site or stated or site_by_url(url, settings.site_by) or folder


def site_by_url(url: str | None, site_by: SiteBy) -> str:
    """The site that the URL names; empty where it has no host."""
    origin = _ORIGIN.match(url or "") if site_by is not SiteBy.PREFIX else None
    # Pages of a site come in runs, and its name takes longer to find than a page to read.
    return _known_site(origin[0], site_by) if origin else _find_site(url or "", site_by)


def _find_site(url: str, site_by: SiteBy) -> str:
    """The site that the URL names; empty where it has no host."""
    try:
        parts = urlsplit(url)
        host = _plain_host(parts.hostname or "")
        port = _unusual_port(parts)
    except ValueError:
        return ""
    if not host:
        return ""
    if site_by is SiteBy.DOMAIN:
        # A longer host is nobody's, and is taken as it is.
        return (_registered_domain(host) if len(host) <= _MAX_HOST else host) + port
    if site_by is SiteBy.PREFIX:
        return host + port + _first_folder(parts.path)
    return host + port


_known_site: Final = lru_cache(maxsize=4096)(_find_site)


def _plain_host(host: str) -> str:
    """The one spelling of a host: `münchen.example` and its ASCII form are the same site.

    Empty for what no host can be spelled with. Raises ValueError for some of that.
    """
    host = host.rstrip(".")
    if not host.isascii():
        from turbohtml.extract import normalize_url  # noqa: PLC0415  few pages need the parser

        host = urlsplit(normalize_url(f"http://{host}/")).hostname or ""
    if not host.isascii():
        return ""
    return f"[{host}]" if ":" in host else host


def _unusual_port(parts: SplitResult) -> str:
    """`:8000` for a port that the scheme does not imply, else nothing."""
    port = parts.port
    return "" if port is None or port == _USUAL_PORTS.get(parts.scheme) else f":{port}"


def _first_folder(path: str) -> str:
    """`/docs` of `/docs/start.html`; nothing for a page at the top, which has no folder."""
    _, _, below = path.partition("/")
    folder, slash, _ = below.partition("/")
    return f"/{folder}" if folder and slash else ""


@lru_cache(maxsize=4096)
def _registered_domain(host: str) -> str:
    """The shortest end of the host that belongs to the same registered domain as the host.

    The parser ships the Public Suffix List but gives out only what follows from it: which links
    leave a site. So the ends of the host are put to it as links, and the shortest that stays wins.
    """
    if not _NAMED_HOST.fullmatch(host):
        return host
    from turbohtml.extract import extract_links  # noqa: PLC0415  few pages need the parser

    labels = host.split(".")
    ends = [".".join(labels[first:]) for first in range(len(labels) - 1)]
    links = "".join(f'<a href="http://{end}/">.</a>' for end in ends)
    leaving = extract_links(links, f"http://{host}/", external_only=True)
    staying = [end for end in ends if f"http://{end}/" not in leaving]
    return staying[-1] if staying else host
