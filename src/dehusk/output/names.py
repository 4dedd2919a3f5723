"""File names for pages: after their URLs, safe on every system, and never the same one twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from dehusk.page.patterns import pattern

INDEX: Final = "index.json"
"""The file at the top of a source folder that gives the URLs of its pages."""
_MAX_PATH: Final = 140
"""Bytes of a page's path below its site's folder. With the site, the marks and the suffix this
leaves 45 of the 260 characters that Windows allows for the folder that the user chose."""
_TOO_LONG: Final = _MAX_PATH + 4
"""Bytes that show a name to be too long, even without the letter that the cut went through."""
_MAX_FOLDERS: Final = 80
"""Bytes of folders that are kept of a longer path."""
_MAX_LAST: Final = 50
"""Bytes of the last part that are kept of a longer path."""
_MAX_SITE: Final = 50
_MAX_DEPTH: Final = 20
_MAX_URL: Final = 4000
"""Characters of a URL that are looked at; the hash is always that of all of it."""
_MAX_LOOKED_AT: Final = 400
"""Characters of one part of a URL that are looked at: normalising can take quadratic time."""
_PAGE_ENDING: Final = pattern(r"\.(html|htm|xhtml)(\.(gz|xz|zst))?\Z", re.IGNORECASE)
_FORBIDDEN: Final = pattern(r'[<>:"/\\|?*]')
_DEVICE: Final = pattern(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ ]*(\..*)?\Z", re.IGNORECASE
)
"""A name that is a device on Windows, whatever stands behind its dot."""


def is_page_name(name: str) -> bool:
    """True for the name of a file that is read as a page where it stands in a source folder."""
    return _PAGE_ENDING.search(name) is not None


class FileNames:
    """Gives each page of a run a file name of its own.

    It remembers two hashes for each page, not the name: two names that look the same by chance
    cost a longer name, and no page.
    """

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._taken: set[int] = set()
        self._times: dict[int, int] = {}

    def next_name(self, url: str | None, site: str | None, position: int) -> PurePosixPath:
        """The next page's path below the output folder: `site/path.md`.

        A name that another page has taken gets some digits of a hash; the second page of the same
        site and URL gets `-2`. A page without URL is named by its `position` in the run.
        """
        page = _digest(f"{site}\n{url or position}")
        times = self._times[page] = self._times.get(page, 0) + 1
        if url and site and "/" in site:  # A folder of that name has its pages below it.
            url = url.removeprefix(f"file:{quote(site, errors='replace')}/")
        folders, last = _path(url, position)
        folders = [_folder(name, self._suffix) for name in (*_site_folders(site), *folders)]
        place = PurePosixPath(*folders)
        names = (place / f"{last}{mark}{self._suffix}" for mark in _marks(page, times))
        return next(name for name in names if self._take(name))

    def _take(self, name: PurePosixPath) -> bool:
        """True where the name was free. Names that differ only in case are the same name."""
        key = _digest(unicodedata.normalize("NFKC", str(name).casefold()))
        free = key not in self._taken
        self._taken.add(key)
        return free


def _marks(page: int, times: int) -> Iterator[str]:
    """What is put behind a page's name until that is free, the least first."""
    number = f"-{times}" if times > 1 else ""
    yield number
    yield f"-{_short(page)}{number}"
    # Only a site that knows this rule and builds URLs against it comes here.
    yield from (f"-{page:016x}{number}-{attempt}" for attempt in count(1))


def _path(url: str | None, position: int) -> tuple[list[str], str]:
    """The folders and the last part, without suffix, of the path that a page's URL names."""
    if not url:
        return [], f"page-{position:05}"
    path, query = _path_and_query(url[:_MAX_URL])
    *folders, last = path.split("/")
    last = _PAGE_ENDING.sub("", unquote(last)) or "index"
    if query:
        last = f"{last}_{unquote(query).replace('&', '_')}"
    folders = [folder for folder in folders if folder]
    names = [_safe(unquote(folder), _TOO_LONG) for folder in folders[:_MAX_DEPTH]]
    whole = _safe(last, _TOO_LONG)
    is_whole = len(url) <= _MAX_URL and len(folders) <= _MAX_DEPTH
    if is_whole and _size([*names, whole]) <= _MAX_PATH:
        return names, whole
    while _size(names) > _MAX_FOLDERS:
        names.pop()
    return names, f"{_safe(last, _MAX_LAST)}-{_short(_digest(url))}"


def _path_and_query(url: str) -> tuple[str, str]:
    """The URL's path and query; all of it as the path where it is no URL at all."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, ""
    return parts.path, parts.query


def _site_folders(site: str | None) -> list[str]:
    """The folders for a site: one, or two where a folder of the host names it."""
    return [_short_site(name) for name in (site or "no-site").split("/", 1)]


def _short_site(name: str) -> str:
    """The folder for one part of a site's name; a long one is cut and gets a hash."""
    safe = _safe(name, _TOO_LONG)
    if _size([safe]) <= _MAX_SITE:
        return safe
    return f"{_safe(name, _MAX_SITE)}-{_short(_digest(name))}"


def _folder(name: str, suffix: str) -> str:
    """The name for a folder. No folder ends like a file, so none is where a file has to go."""
    return f"{name}_" if name.lower().endswith(suffix) else name


def _safe(text: str, max_bytes: int) -> str:
    """At most so many bytes of the text that every system takes as one name, as it stands."""
    text = unicodedata.normalize("NFC", text[:_MAX_LOOKED_AT])
    text = "".join(character if character.isprintable() else "_" for character in text)
    text = text.encode("utf-8")[:max_bytes].decode("utf-8", "ignore")
    text = _FORBIDDEN.sub("_", text).strip(" ").rstrip(" .")
    if text.startswith("."):
        text = f"_{text[1:]}"
    return f"_{text}" if not text or _DEVICE.match(text) else text


def _size(names: list[str]) -> int:
    """The bytes of a path of these names."""
    return len("/".join(names).encode("utf-8"))


def _digest(text: str) -> int:
    """64 bits of the text, the same on every run."""
    from hashlib import blake2b  # noqa: PLC0415  only files of a folder need it

    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _short(digest: int) -> str:
    """Enough of a hash to tell a few pages apart."""
    return f"{digest >> 32:08x}"
