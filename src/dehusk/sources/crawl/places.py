"""URLs as a crawler sees them: one spelling for each page, and the shape that alike pages share."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from w3lib.url import canonicalize_url, safe_url_string

_USUAL_PORTS: Final = {"http": 80, "https": 443}
_MAX_URL: Final = 8000
"""Characters of a link that are looked at: what servers take, twice over."""
_SESSION: Final = frozenset(
    (
        "phpsessid", "jsessionid", "aspsessionid", "sid", "sessid", "sessionid", "session_id",
        "cfid", "cftoken", "oscsid", "zenid", "fbclid", "gclid", "dclid", "msclkid", "mc_cid",
        "mc_eid",
    )
)  # fmt: skip
"""Parameters that say who came, and from where, and nothing about the page."""
_TRACKING: Final = ("utm_", "aspsessionid")
_PATH_SESSION: Final = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#]*", re.IGNORECASE)
_COOKIELESS: Final = re.compile(r"/\([A-Z]\([A-Za-z0-9]{10,40}\)\)(?=/)")
"""The session in a path segment of its own, as ASP.NET writes it: `/(S(1abc…))/page`."""
_NUMBER: Final = re.compile(r"[0-9]+")
_WORD: Final = re.compile(r"[^\W\d_]{1,20}")
"""A folder name that says what kind of pages is in it."""
_ENDING: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}\Z")


def normal_url(url: str, dropped: frozenset[str] = frozenset()) -> str | None:
    """The URL to ask for: without fragment, user, session and `dropped` parameters.

    None for what is no address on the web.
    """
    if len(url) > _MAX_URL:
        return None
    try:
        parts = urlsplit(safe_url_string(url))
        host, port = parts.hostname or "", parts.port
    except (ValueError, UnicodeError):
        return None
    if parts.scheme not in _USUAL_PORTS or not host or not host.isascii():
        return None
    host = f"[{host}]" if ":" in host else host.rstrip(".")
    netloc = host if port in (None, _USUAL_PORTS[parts.scheme]) else f"{host}:{port}"
    path = _COOKIELESS.sub("", _PATH_SESSION.sub("", parts.path)) or "/"
    return urlunsplit((parts.scheme, netloc, path, _kept_query(parts.query, dropped), ""))


def _kept_query(query: str, dropped: frozenset[str]) -> str:
    """The query without parameters that say nothing about the page."""
    if not query:
        return ""
    kept = [part for part in query.split("&") if part and not _is_noise(part, dropped)]
    return "&".join(kept)


def _is_noise(part: str, dropped: frozenset[str]) -> bool:
    name = part.partition("=")[0]
    lowered = name.lower()
    return lowered in _SESSION or lowered.startswith(_TRACKING) or name in dropped


def key_of(url: str) -> int:
    """64 bits that are the same for all spellings of a URL: order of parameters, `%7E`, dots."""
    written = canonicalize_url(url).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(written, digest_size=8).digest(), "big", signed=True)


def parameters(parts: SplitResult) -> list[str]:
    """The names of a query's parameters, in the order of the alphabet."""
    return sorted({part.partition("=")[0] for part in parts.query.split("&") if part})


def shape_of(url: str) -> str:
    """What the URLs of alike pages have in common: `/news/#/*.html?page`.

    Folders that are words stay, numbers become `#`, all else `*`; of the last part only the
    ending stays, of the query the names.
    """
    parts = urlsplit(url)
    *folders, last = parts.path.lstrip("/").split("/")
    kept = [_folder_shape(folder) for folder in folders[:8]]
    ending = _ENDING.search(last)
    stem = last[: ending.start()] if ending else last
    mark = "#" if _NUMBER.fullmatch(stem) else "*" if stem else ""
    path = "/".join((*kept, mark + (ending[0].lower() if ending else "")))
    return f"/{path}?{'&'.join(parameters(parts))}" if parts.query else f"/{path}"


def _folder_shape(folder: str) -> str:
    if _NUMBER.fullmatch(folder):
        return "#"
    return folder.lower() if _WORD.fullmatch(folder) else "*"
