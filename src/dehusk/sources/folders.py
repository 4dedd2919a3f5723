"""Pages out of files: one file, or all the HTML files below a folder."""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import quote

from dehusk.errors import DehuskError, MissingExtra, PageTooLarge, SourceError
from dehusk.page.page import Page
from dehusk.page.patterns import pattern
from dehusk.page.urls import site_of
from dehusk.settings import SAVED, SourceSettings
from dehusk.sources.compression import named_compression, open_unpacked, unpacked_name
from dehusk.sources.items import Failure

HTML_SUFFIXES: Final = (".html", ".htm", ".xhtml")
_CHUNK: Final = 1 << 17
"""Bytes asked for at a time: asking for all that is allowed would set 20 MB aside for each page."""
_INDEX: Final = "index.json"
_Map = tuple[str, dict[str, str]]
"""A folder, with a slash at its end, and the URLs of files by their path below it."""
_MAX_INDEX: Final = 1_000_000_000
"""Bytes of an index, which is read as a whole: some ten million pages."""
_HOST: Final = pattern(r"(?:[a-z0-9_-]{1,63}\.){1,30}[a-z][a-z0-9-]{1,62}(?:[:+][0-9]{1,5})?")
"""A folder that is named after a host: at least two labels, the last one no number."""
_COMMENT: Final = pattern(rb"<!-- Mirrored from ([!-;=?-~]{1,2000}) by HTTrack Website Copier")
_LOOKED_AT: Final = 8192
"""Bytes at the start of a page in which HTTrack leaves its comment."""
_INDEX_PAGE: Final = pattern(r"index\.(?:html|htm|xhtml)", re.IGNORECASE)
_ADDED: Final = pattern(r"\.html?\Z", re.IGNORECASE)
_KEPT: Final = "/%!$&'()*+,;=:@~"
"""What stands in a path as it is; mirrors write percent signs as the URL had them."""


def is_html_name(name: str) -> bool:
    """True for a file name that says HTML, packed or not."""
    return unpacked_name(name).endswith(HTML_SUFFIXES)


def file_url(name: str, folder: str = "") -> str:
    """The URL of a file by its name or relative path: its relative links stay relative.

    Behind the folder's name where others are called like it, so that no two pages share a URL.
    """
    return "file:" + quote(os.fsencode(f"{folder}/{name}" if "/" in folder else name))


def read_file(path: Path, url: str | None, site: str, settings: SourceSettings) -> Page | Failure:
    """The page that a file holds, or why it cannot be read."""
    try:
        with open_unpacked(path, str(path)) as stream:
            return read_page(io.BufferedReader(stream), url, site, settings)
    except (SourceError, MissingExtra) as fault:
        return Failure(url, site, fault)


def read_page(
    stream: io.BufferedIOBase,
    url: str | None,
    site: str,
    settings: SourceSettings,
    first: bytes = b"",
) -> Page | Failure:
    """All that a stream holds as one page, behind what was read `first`. Raises SourceError."""
    limit = settings.max_bytes
    chunks = [first]
    size = len(first)
    while size <= limit and (chunk := stream.read(min(_CHUNK, limit + 1 - size))):
        chunks.append(chunk)
        size += len(chunk)
    if size > limit:
        return Failure(url, site, PageTooLarge(url, f"more than {limit} bytes"))
    return Page(b"".join(chunks), url, site)


def read_folder(root: Path, folder: str, settings: SourceSettings) -> Iterator[Page | Failure]:
    """The pages of all HTML files below a folder of that name, in the order of their paths' bytes.

    `index.json` gives their URLs, of the files in its folder and below; the nearest one counts
    that names the file. A file that none names, or all where they are missing or damaged, get the
    URL that a mirror's path stands for, else a `file:` URL. Links are not followed, neither to
    files nor to folders.
    """
    site = site_of(None, None, folder, settings)
    maps: list[_Map] = []
    try:
        maps.append(("", _read_index(root / _INDEX)))
    except SourceError as fault:
        maps.append(("", {}))
        yield Failure(None, site, fault)
    for found in find_files(root):
        if isinstance(found, DehuskError):
            yield Failure(None, site, found)
            continue
        _enter(root, found.rpartition("/")[0], maps)
        url = _mapped(found, maps)
        place = url or file_url(found, folder)
        item = read_file(root / found, place, site_of(place, None, folder, settings), settings)
        yield item if url or isinstance(item, Failure) else _placed(item, found, folder, settings)


def _enter(root: Path, folder: str, maps: list[_Map]) -> None:
    """Have the maps of the folders down to this one at hand, and let the others go.

    Folders come in the order of their paths, so each map is read once.
    """
    if maps[-1][0] == (f"{folder}/" if folder else ""):
        return
    parts = folder.split("/") if folder else []
    wanted = ["", *("/".join(parts[: size + 1]) + "/" for size in range(len(parts)))]
    while maps and maps[-1][0] not in wanted:
        maps.pop()
    for prefix in wanted[len(maps) :]:
        urls: dict[str, str] = {}
        # A mirror may hold a site's own index.json, which is no map and no damage.
        with suppress(SourceError):
            urls = _read_index(root / prefix / _INDEX)
        maps.append((prefix, urls))


def _mapped(path: str, maps: Sequence[_Map]) -> str | None:
    """The URL of a file by the nearest map that names it; None where none does."""
    named = (urls.get(path.removeprefix(prefix)) for prefix, urls in reversed(maps))
    return next((url for url in named if url), None)


def _placed(page: Page, path: str, folder: str, settings: SourceSettings) -> Page:
    """The page with the URL that it had, where its folder is a mirror."""
    url = mirrored_url(folder.rpartition("/")[2], path, page.html)
    return replace(page, url=url, site=site_of(url, None, folder, settings)) if url else page


def folder_names(folders: Iterable[Path]) -> dict[Path, str]:
    """What the sites in these folders are called, by full path.

    The last part of the path, with as many before it as tell folders of one name apart.
    """
    names: dict[Path, str] = {}
    left, size = set(folders), 1
    while left:
        ends = {folder: "/".join(folder.parts[1:][-size:]) for folder in left}
        times = Counter(ends.values())
        is_named = {f for f in left if times[ends[f]] == 1 or len(f.parts) <= size + 1}
        names |= {folder: ends[folder] or "root" for folder in is_named}
        left, size = left - is_named, size + 1
    return names


def find_files(root: Path) -> Iterator[str | SourceError]:
    """The relative path of each HTML file below a folder; an error for a folder without access.

    Each folder is listed when its turn comes, so a folder of millions starts at once.
    """
    pending = [""]
    while pending:
        name = pending.pop()
        if name and not name.endswith("/"):
            yield name
            continue
        try:
            below = _list_folder(root / name, name)
        except OSError as fault:
            yield SourceError(f"{root / name}: {fault.strerror or fault}")
        else:
            pending.extend(sorted(below, key=os.fsencode, reverse=True))


def saved_archive(folder: Path) -> Path | None:
    """The archive that `--save` has written into a folder, where there is one."""
    archive = folder / SAVED
    return archive if archive.is_file() and not archive.is_symlink() else None


def is_empty(root: Path) -> bool:
    """True for a folder that can be read and holds no page."""
    return saved_archive(root) is None and next(find_files(root), None) is None


def count_files(root: Path, limit: int) -> int:
    """How many HTML files there are below a folder; more than the limit where nobody can tell."""
    if saved_archive(root) is not None:
        return limit + 1
    files = (found for found in find_files(root) if isinstance(found, str))
    return sum(1 for _ in islice(files, limit + 1))


def _list_folder(folder: Path, prefix: str) -> list[str]:
    """The HTML files and the folders in a folder, by path from the top; folders end in a slash.

    With that slash, sorting one folder's names sorts whole paths.
    """
    with os.scandir(folder) as entries:
        return [
            prefix + entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "")
            for entry in entries
            if entry.is_dir(follow_symlinks=False)
            or (entry.is_file(follow_symlinks=False) and is_html_name(entry.name))
        ]


def _read_index(path: Path) -> dict[str, str]:
    """The URL of each file by its relative path; empty without an index. Raises SourceError."""
    try:
        if path.is_symlink() or not path.exists():
            return {}
        with path.open("rb") as file:
            written = file.read(_MAX_INDEX + 1)
        if len(written) > _MAX_INDEX:
            raise SourceError(f"{path}: more than {_MAX_INDEX} bytes")
        urls = json.loads(written)
    except OSError as fault:
        raise SourceError(f"{path}: {fault.strerror or fault}") from fault
    except (ValueError, RecursionError) as fault:
        raise SourceError(f"{path}: not JSON ({fault})") from fault
    if not isinstance(urls, dict) or not all(isinstance(url, str) for url in urls.values()):
        raise SourceError(f"{path}: not a JSON object of file names and their URLs")
    return urls


def mirrored_url(folder: str, path: str, html: str | bytes) -> str | None:
    """The URL of a page by its path below the folder, in a mirror; None in any other folder.

    The first folder of the path that is named after a host is that host, or the folder itself is.
    HTTrack renames files, but leaves a comment with the URL: it is believed of the same host. The
    scheme is taken for https, which neither keeps.
    """
    host, _, rest = path.partition("/")
    if not rest or not _HOST.fullmatch(host.lower()):
        host, rest = folder, path
    if not _HOST.fullmatch(host.lower()):
        return None
    host = host.lower().replace("+", ":")
    stated = _COMMENT.search(html, 0, _LOOKED_AT) if isinstance(html, bytes) else None
    if stated:
        url = stated[1].decode("ascii")
        if url.lower().startswith((f"{host}/", f"{host}?")) or url.lower() == host:
            return f"https://{url}"
    return f"https://{host}/{_mirrored_path(rest)}"


def _mirrored_path(written: str) -> str:
    """The path and query that a file's path stands for."""
    packing = named_compression(written)
    written = written[: -len(packing.suffix)] if packing else written
    folder, slash, name = written.rpartition("/")
    name, mark, query = name.partition("?")
    if mark:
        query = _ADDED.sub("", query)
    elif _INDEX_PAGE.fullmatch(name):
        name = ""
    path = quote(os.fsencode(folder + slash + name), _KEPT)
    return path + (f"?{quote(os.fsencode(query), _KEPT + '?/')}" if mark else "")
