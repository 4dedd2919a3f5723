"""The URLs of pages in mirrors, as wget and HTTrack leave them: a folder for each host."""

from __future__ import annotations

import os
import re
from typing import Final
from urllib.parse import quote

from dehusk.sources.compression import named_compression

_HOST: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.){1,30}[a-z][a-z0-9-]{1,62}(?:[:+][0-9]{1,5})?")
"""A folder that is named after a host: at least two labels, the last one no number."""
_COMMENT: Final = re.compile(rb"<!-- Mirrored from ([!-;=?-~]{1,2000}) by HTTrack Website Copier")
_LOOKED_AT: Final = 8192
"""Bytes at the start of a page in which HTTrack leaves its comment."""
_INDEX: Final = re.compile(r"index\.(?:html|htm|xhtml)", re.IGNORECASE)
_ADDED: Final = re.compile(r"\.html?\Z", re.IGNORECASE)
_KEPT: Final = "/%!$&'()*+,;=:@~"
"""What stands in a path as it is; mirrors write percent signs as the URL had them."""


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
    return f"https://{host}/{_path(rest)}"


def _path(written: str) -> str:
    """The path and query that a file's path stands for."""
    packing = named_compression(written)
    written = written[: -len(packing.suffix)] if packing else written
    folder, slash, name = written.rpartition("/")
    name, mark, query = name.partition("?")
    if mark:
        query = _ADDED.sub("", query)
    elif _INDEX.fullmatch(name):
        name = ""
    path = quote(os.fsencode(folder + slash + name), _KEPT)
    return path + (f"?{quote(os.fsencode(query), _KEPT + '?/')}" if mark else "")
