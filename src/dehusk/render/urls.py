"""What the URLs on a page lead to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

import numpy as np

from dehusk import tags
from dehusk.model import Tree
from dehusk.render.nodes import unescaped

_WEB: Final = ("http://", "https://")
_UNUSABLE: Final = ("javascript", "vbscript", "data", "about", "blob")
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
# The URL standard strips the first set from the ends and the second from anywhere.
_ENDS: Final = "".join(map(chr, range(33)))
_BREAKS: Final = str.maketrans("", "", "\t\n\r")
_BASE: Final = tags.NUMBERS["base"]
# Anchored, and each step takes a whole attribute: never more than one pass over the tag.
_HREF: Final = re.compile(rb'<[a-z]+(?: [^ ]+?="[^"]*")*? href="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Base:
    """What relative URLs of a page are relative to; without a web address they stay as they are."""

    url: str | None
    origin: str

    def absolute(self, written: str) -> str | None:
        """The URL that `written` leads to; None where it leads nowhere or cannot be read."""
        url = written.strip(" ")
        if not url.isprintable():
            url = url.strip(_ENDS).translate(_BREAKS)
        if url.startswith(_WEB) and "[" not in url and " " not in url:
            return url
        if url in ("", "#"):
            return None
        if self.origin and url[0] == "/" and url[1:2] != "/" and "/." not in url:
            return self.origin + url.replace(" ", "%20")
        scheme = _SCHEME.match(url)
        if scheme and scheme[1].lower() in _UNUSABLE:
            return None
        try:
            return _join(self.url, url, has_scheme=scheme is not None)
        except ValueError:
            return None


def _join(base: str | None, url: str, *, has_scheme: bool) -> str:
    """The URL made absolute. Raises ValueError for one that nobody can follow."""
    if has_scheme or base is None:
        # Brackets are the only thing that the standard library refuses.
        if "[" in url or "]" in url:
            urlsplit(url)
        return url.replace(" ", "%20")
    return urljoin(base, url).replace(" ", "%20")


def base_of(tree: Tree, base_url: str | None) -> Base:
    """What the page's relative URLs are relative to: its first `<base href>`, or its own URL.

    Only web addresses count; a page from a file keeps its relative links.
    """
    url = base_url if base_url and base_url.lower().startswith(_WEB) else None
    for node in np.flatnonzero(tree.tag == _BASE).tolist():
        written = href(tree, int(tree.start[node]), int(tree.stop[node]))
        if written is None:
            continue
        found = Base(url, "").absolute(written)
        if found and found.lower().startswith(_WEB):
            url = found
        break
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return Base(None, "")
    return Base(url, f"{parts.scheme}://{parts.netloc}" if url else "")


def href(tree: Tree, start: int, stop: int) -> str | None:
    """The `href` of the start tag that stands from `start` to `stop` in the page's source."""
    found = _HREF.match(tree.source, start, stop)
    return unescaped(found[1]) if found else None
