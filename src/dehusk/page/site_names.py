"""The site that a page belongs to, and the site that a URL names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import SplitResult, urlsplit

from turbohtml.extract import extract_links, normalize_url

from dehusk.settings import SiteBy, SourceSettings

_USUAL_PORTS: Final = {"http": 80, "https": 443}
_ORIGIN: Final = re.compile(r"https?://[a-z0-9.:-]{1,300}(?=[/?#]|\Z)")
_MAX_HOST: Final = 253
"""What DNS allows. A longer host is nobody's, and is taken as it is."""
_NAMED_HOST: Final = re.compile(r"[a-z0-9_.-]*[a-z_-][0-9]*")
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
        return _registered_domain(host) + port
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
    if len(host) > _MAX_HOST or not _NAMED_HOST.fullmatch(host):
        return host
    labels = host.split(".")
    ends = [".".join(labels[first:]) for first in range(len(labels) - 1)]
    links = "".join(f'<a href="http://{end}/">.</a>' for end in ends)
    leaving = extract_links(links, f"http://{host}/", external_only=True)
    staying = [end for end in ends if f"http://{end}/" not in leaving]
    return staying[-1] if staying else host
