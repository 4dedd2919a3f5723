"""What the page states of itself: whether it is an article, and what the article says."""

from __future__ import annotations

import re

import numpy as np

from dehusk.page import tags
from dehusk.page.tree import ATTRIBUTE, Floats, Tree
from reference.reading import Blocks

_RUN = 12
"""Letters and digits that must stand in both texts, one behind the other."""
_MAX_STATED = 1 << 18
_OTHERS = (
    b"Product", b"ProfilePage", b"CollectionPage", b"DiscussionForumPosting", b"QAPage",
    b"SearchResultsPage", b"ItemList", b"JobPosting",
)  # fmt: skip
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)(?:"|\\?$)(?=[\0- ]*(:?))', re.DOTALL)
"""A string of JSON; the colon behind it makes it a key."""
_ESCAPED = re.compile(
    rb"\\u([0-9A-Fa-f]{4})(?:(?<=\\u[dD][89abAB]..)\\u([0-9A-Fa-f]{4}))?|\\(.)", re.DOTALL
)
_SKIPPED = re.compile(
    rb"&[0-9A-Za-z#]{0,10};|</?(?:(?<=/)|(?=[0-9A-Za-z]))[^>]*|\xc2.?|\xe2[\x80\x81].|\xe3\x80."
    rb"|[\0-/:-@\[-`{-\x7f]",
    re.DOTALL,
)
"""What is between letters: escapes and tags, no-break spaces, dashes and quotes, and signs."""


def stated(tree: Tree, blocks: Blocks) -> Floats:
    """Of each block, the share of its text that stands in what JSON-LD states as the article's; of
    the page, that share, whether there is such a text, and whether it is said to be an article.
    """
    body, is_article = _read(tree)
    runs = {body[at : at + _RUN] for at in range(len(body) - _RUN + 1)}
    texts = [b""] * len(blocks)
    for node, owner in zip(blocks.segments.tolist(), blocks.owner.tolist(), strict=True):
        texts[owner] += _letters(tree.source[tree.start[node] : tree.stop[node]])
    found = np.array([_count(text, runs) for text in texts], np.float64)
    sizes = np.array([len(text) for text in texts], np.float64)
    page = (found.sum() / max(sizes.sum(), 1.0), float(len(body) >= _RUN), is_article)
    own = (found / np.maximum(sizes, 1))[:, None]
    return np.concatenate((own, np.broadcast_to(page, (len(blocks), 3))), axis=1)


def _count(text: bytes, runs: set[bytes]) -> int:
    """How many letters stand in one of the runs."""
    is_found = np.zeros(len(text), np.bool_)
    for at in range(len(text) - _RUN + 1):
        if text[at : at + _RUN] in runs:
            is_found[at : at + _RUN] = True
    return int(is_found.sum())


def _letters(text: bytes) -> bytes:
    """The letters and digits of a text in UTF-8, small where they are ASCII."""
    return _SKIPPED.sub(b"", text).lower()


def _unescaped(found: re.Match[bytes]) -> bytes:
    first, second, sign = found.groups()
    if sign is not None:
        return b" " if sign in b"bfnrt" else bytes(sign)
    code = int(first, 16)
    if second is not None:
        code = 0x10000 + ((code & 0x3FF) << 10) + (int(second, 16) & 0x3FF)
    return chr(code).encode("utf-8", "surrogatepass")


def _read(tree: Tree) -> tuple[bytes, float]:
    """The letters of the stated text; 1 for an article, -1 for something else, 0 for neither."""
    body, kinds = b"", set()
    for node in range(len(tree)):
        start_tag = tree.source[tree.start[node] : tree.stop[node]]
        if tree.tag[node] == tags.NUMBERS["meta"]:
            kinds.add(_kind_of_meta(ATTRIBUTE.findall(start_tag)))
        if tree.tag[node] != tags.NUMBERS["script"] or tree.end[node] != node + 2:
            continue
        values = {value.lower() for _, value in ATTRIBUTE.findall(start_tag)}
        if b"application/ld+json" not in values:
            continue
        key = b""
        for text, colon in _STRING.findall(tree.source[tree.start[node + 1] : tree.stop[node + 1]]):
            if colon:
                key = text
            elif key == b"articleBody" and len(body) + len(text[:_MAX_STATED]) <= _MAX_STATED:
                body += _letters(_ESCAPED.sub(_unescaped, text[:_MAX_STATED]))
            elif key == b"@type":
                kinds.add(1.0 if text.endswith((b"Article", b"BlogPosting")) else 0.0)
                kinds.add(-1.0 if text in _OTHERS else 0.0)
    return body, 1.0 if 1.0 in kinds else min(kinds, default=0.0)


def _kind_of_meta(attributes: list[tuple[bytes, bytes]]) -> float:
    values = {value.lower() for _, value in attributes}
    content = ([value for name, value in attributes if name == b"content"] or [b""])[-1]
    if not content or not values & {b"og:type", b"article:published_time"}:
        return 0.0
    if b"article:published_time" in values or content.lower() == b"article":
        return 1.0
    return -1.0
