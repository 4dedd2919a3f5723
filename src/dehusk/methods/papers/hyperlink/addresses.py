"""URLs as links write them, made absolute, in the one spelling by which pages are told apart."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

import numpy as np

from dehusk.page import tags
from dehusk.page.tree import Tree

_WEB: Final = ("http", "https")
_ROOTS: Final = ("http://", "https://")
_USUAL_PORTS: Final = {"http": ":80", "https": ":443"}
_FILE: Final = re.compile(r"file:/*", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:")
_DOTS: Final = re.compile(r"(?:^|/)\.")
"""Where a path may climb: only then is the long way of joining needed."""
_SAFE: Final = "/:@!$&'()*+,;=~"
"""What a path may hold unescaped."""
_SLASH: Final = re.compile("%2f", re.IGNORECASE)
"""A slash that is part of a name, which must stay one."""
_HREF: Final = b' href="'
_BASE: Final = tags.NUMBERS["base"]
_LINK: Final = tags.numbers("a", "area")
_ESCAPES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))
_STAND_IN: Final = "http://host/"


@lru_cache(maxsize=8192)
def normal_url(url: str) -> str:
    """The one spelling of a page's URL: no fragment, no usual port, nothing escaped without need.

    >>> normal_url("HTTPS://Grain.example:443#top")
    'https://grain.example/'
    >>> normal_url("file:a%2Db.html#top")
    'file:a-b.html'

    A URL that cannot be read stays as it is.
    """
    url = url.partition("#")[0]
    try:
        root, rest = _split(url)
    except ValueError:
        return url
    return root + rest


def host_of(url: str) -> str:
    """The domain that a URL belongs to: its host without `www.`; empty for files."""
    # A slash behind `https://` is behind the host; pages link few hosts, and many pages of each.
    end = url.find("/", len("https://")) if url.startswith(_ROOTS) else -1
    return _host_of(url if end < 0 else url[:end])


@lru_cache(maxsize=1024)
def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _split(url: str) -> tuple[str, str]:
    """A URL's root, with the slash that ends it, and the rest. Raises ValueError."""
    file = _FILE.match(url)
    if file:
        # How many slashes there are is the source's affair; its pages are looked up by it.
        return file[0].lower(), _plain_path(url[file.end() :].partition("?")[0])
    parts = urlsplit(url)
    if parts.scheme not in _WEB:
        raise ValueError("not the URL of a page")
    host = parts.netloc.rpartition("@")[2].lower().removesuffix(_USUAL_PORTS[parts.scheme])
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{host}/", _plain_path(parts.path.removeprefix("/")) + query


def _plain_path(path: str) -> str:
    """The one spelling of a path: links, files and servers escape different characters."""
    if path.isascii() and "%" not in path:
        return path
    names = _SLASH.split(path)
    return "%2F".join(quote(unquote_to_bytes(name), safe=_SAFE) for name in names)


class Base:
    """What the links of a page are relative to: its own URL, or its first `<base href>`."""

    def __init__(self, url: str) -> None:
        """Raises ValueError for a URL that is not a page's."""
        self._root, rest = _split(url.partition("#")[0])
        self._path = rest.partition("?")[0]
        self.folder = self._root + self._path[: self._path.rfind("/") + 1]
        """All that a link without a query can depend on."""

    def absolute(self, written: str) -> str | None:
        """The page that `written` leads to; None for the page itself, and for what is no page."""
        url = written.partition("#")[0].strip().replace(" ", "%20")
        if not url:
            return None
        if not url.isprintable():
            url = url.translate({9: None, 10: None, 13: None})
        if url.find("?") == len(url) - 1 > 0:
            url = url[:-1]  # A query without anything in it is none.
        if _SCHEME.match(url):
            return self._elsewhere(url)
        if url[0] == "?" or url[:2] == "//" or _DOTS.search(url):
            return self._joined(url)
        found = self._root + url[1:] if url[0] == "/" else self.folder + url
        return found if found.isascii() and "%" not in found else self._elsewhere(found)

    def _elsewhere(self, url: str) -> str | None:
        """The page of a link that is absolute."""
        try:
            return "".join(_split(url))
        except ValueError:
            return None

    def _joined(self, url: str) -> str | None:
        """The page of a relative link, the long way, which is right for all of them."""
        try:
            if url.startswith("//"):
                return self._elsewhere(self._root.partition("/")[0] + url)
            found = urljoin(_STAND_IN + self._path, url)
        except ValueError:
            return None
        return self._elsewhere(self._root + found.removeprefix(_STAND_IN))


class Addresses:
    """Makes links absolute, and remembers them: pages of one folder write the same links."""

    def __init__(self) -> None:
        self._known: dict[str, dict[bytes, str | None]] = {}

    def targets(self, tree: Tree) -> dict[str, int]:
        """The pages that a page links, without itself, each with the first node that links it.

        Nothing for a page without a URL, since nobody can say where its links lead.
        """
        base = _base_of(tree)
        if base is None or tree.url is None:
            return {}
        known = self._known.setdefault(base.folder, {})
        found: dict[str, int] = {}
        for written, node in _written_links(tree).items():
            # A link that is only a query is relative to the page itself, not to its folder.
            if written not in known or written.lstrip().startswith(b"?"):
                known[written] = base.absolute(_unescaped(written))
            target = known[written]
            if target is not None and target not in found:
                found[target] = node
        found.pop(normal_url(tree.url), None)
        return found


def _base_of(tree: Tree) -> Base | None:
    """What the page's links are relative to; None for a page without a URL."""
    try:
        base = Base(tree.url or "")
    except ValueError:
        return None
    for node in np.flatnonzero(tree.tag == _BASE).tolist():
        href = _written_href(tree.source, int(tree.start[node]), int(tree.stop[node]))
        if href is not None:
            found = base.absolute(_unescaped(href))
            return Base(found) if found else base
    return base


def _written_links(tree: Tree) -> dict[bytes, int]:
    """What the page's links write, each with the first node that writes it."""
    nodes = np.flatnonzero(_LINK[tree.tag])
    starts, stops = tree.start[nodes].tolist(), tree.stop[nodes].tolist()
    written: dict[bytes, int] = {}
    for node, start, stop in zip(nodes.tolist(), starts, stops, strict=True):
        href = _written_href(tree.source, start, stop)
        if href is not None and href not in written:
            written[href] = node
    return written


def _written_href(source: bytes, start: int, stop: int) -> bytes | None:
    """The `href` of the start tag between these places, as it is written; None if it has none."""
    place, quotes = source.find(_HREF, start, stop), 0
    while place >= 0:
        # In canonical HTML a value holds no quote, so an even number of them stands before a name.
        quotes += source.count(b'"', start, place)
        first = place + len(_HREF)
        if quotes % 2 == 0:
            return source[first : source.find(b'"', first)]
        start, place = place, source.find(_HREF, place + 1, stop)
    return None


def _unescaped(value: bytes) -> str:
    """The value that canonical HTML writes so."""
    text = value.decode("utf-8", "surrogatepass")
    if "&" in text:
        for escape, character in _ESCAPES:
            text = text.replace(escape, character)
    return text
