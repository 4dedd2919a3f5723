"""Where images are loaded from, and what a memory knows them by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from dehusk.page import tags
from dehusk.page.hashing import PATH_FACTOR, hash_bytes, mix
from dehusk.page.tree import ATTRIBUTE, Tree
from dehusk.page.urls import base_of

_IMAGES = (tags.NUMBERS["img"], tags.NUMBERS["amp-img"])
_ALONE = (b"src", b"data-original", b"data-lazy-src", b"data-src")
_SETS = (b"srcset", b"data-srcset", b"data-lazy-srcset")
_WHITE = bytes(range(33))
_CANDIDATE = re.compile(rb"[\x00-\x20,]*([^\x00-\x20]+)")
_SIZE = re.compile(rb"[\x00-\x20]*([0-9.]*)([wW]?)")
_NOT_FOLLOWED = re.compile(
    rb"[{\[]|(?:javascript|vbscript|data|about|blob|filesystem|view-source|jar):", re.IGNORECASE
)


def images(tree: Tree) -> dict[int, int]:
    """The key of each image that the page shows and that says where it is loaded from, by node."""
    url = (base_of(tree, tree.url).url or tree.url or "")[:2000].encode("utf-8", "surrogatepass")
    sources = {
        node: _decoded(source)
        for node in np.flatnonzero(np.isin(tree.tag, _IMAGES) & tree.shown).tolist()
        if (source := _source(tree, node))
    }
    # Hashes of bytes are mixed already; what is added sets images apart from texts.
    keys = [hash_bytes(_absolute(url, source)) + PATH_FACTOR for source in sources.values()]
    mixed = mix(np.array([key % 2**64 for key in keys], np.uint64))
    return dict(zip(sources, mixed.tolist(), strict=True))


def template_images(tree: Tree, counts: Counter[int], pages: int, copies: int) -> list[int]:
    """The images that three other pages have, and more than half of all others."""
    others = pages - copies
    return [
        node
        for node, key in images(tree).items()
        if counts[key] - copies >= 3 and 2 * (counts[key] - copies) > others
    ]


def _source(tree: Tree, node: int) -> bytes:
    """What most speaks for itself; empty for none. Of equals the first."""
    found = list(_offered(tree, node))
    picture = int(tree.parent[node])
    if tree.tag[picture] == tags.NUMBERS["picture"]:
        before, below = [], picture + 1
        while below < node:
            before.append(below)
            below = int(tree.end[below])
        # Only the first image of a picture has its sources.
        if len(before) <= 32 and not np.isin(tree.tag[before], _IMAGES).any():
            for each in before:
                found += _offered(tree, each) if tree.tag[each] == tags.NUMBERS["source"] else []
    usable = [(worth, url) for worth, url in found if url and not _NOT_FOLLOWED.match(url)]
    return max(usable, key=lambda each: each[0], default=(0.0, b""))[1]


def _offered(tree: Tree, node: int) -> Iterator[tuple[float, bytes]]:
    """The addresses in a start tag, and how much speaks for each."""
    start_tag = tree.source[tree.start[node] : tree.stop[node]]
    for name, value in ATTRIBUTE.findall(start_tag):
        if name in _SETS:
            yield from _candidates(value)
        elif name in _ALONE:
            yield 1.0 + _ALONE.index(name), value.strip(_WHITE)


def _candidates(value: bytes) -> Iterator[tuple[float, bytes]]:
    at = 0
    while found := _CANDIDATE.match(value, at):
        url, at = found[1], found.end()
        said = b""
        if not url.endswith(b","):
            said, _, _ = value[at:].partition(b",")
            at += len(said)
        size = _SIZE.match(said)
        assert size is not None
        number = _number(size[1])
        yield (1e8 + number if size[2] else 10 + (number or 1.0)), url.rstrip(b",")


def _number(written: bytes) -> float:
    """A decimal number, further points left out, cut at seven digits or so."""
    whole, _, part = written.partition(b".")
    number, unit = 0.0, 1.0
    for digit in whole:
        number = 10 * number + digit - ord("0") if number < 1e6 else number
    for digit in part.replace(b".", b""):
        unit /= 10
        number += unit * (digit - ord("0"))
    return number


def _absolute(page: bytes, url: bytes) -> bytes:
    """An address without its scheme, a relative one behind the folder of the page."""
    page = re.split(rb"[?#]", page, maxsplit=1)[0]
    is_web = re.match(rb"https?:", page, re.IGNORECASE)
    page = (
        page[is_web.end() + 2 :] if is_web else re.sub(rb"^file:", b"", page, flags=re.IGNORECASE)
    )
    host, slash, path = page.partition(b"/") if is_web else (b"", b"", page)
    folders = path.split(b"/")[:-1]
    url = re.sub(rb"^https?:", b"", url, flags=re.IGNORECASE)
    if url.startswith(b"//"):
        return url[2:]
    while url.startswith((b"./", b"../")):
        if url.startswith(b"../"):
            folders = folders[:-1]
        url = url.partition(b"/")[2]
    if url.startswith(b"/"):
        return host + url
    before = host + b"/" if host else slash
    return before + b"".join(folder + b"/" for folder in folders) + url


def _decoded(written: bytes) -> bytes:
    for escape, character in (
        (b"&nbsp;", b"\xc2\xa0"), (b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'),
        (b"&amp;", b"&"),
    ):  # fmt: skip
        written = written.replace(escape, character)
    return written
