"""The words that images add to a page: file names and ALT texts, without worthless ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

WORTHLESS: Final = frozenset(
    (
        "alt", "arrow", "blank", "bullet", "button", "clear", "dot", "empty", "gif", "graphic",
        "graphics", "icon", "image", "images", "img", "jpg", "line", "photo", "pic", "picture",
        "pixel", "px", "shim", "space", "spacer", "transparent", "untitled",
    )
)  # fmt: skip
"""Names that say nothing. The paper gives 'spacer', 'graphic' and 'img9' (section 5)."""

_SUFFIX: Final = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_JOINTS: Final = re.compile(r"[\s_.+~-]+")
_NO_LETTERS: Final = re.compile(r"[\W\d_]+")
_MAX_NAME: Final = 200
"""Characters of a name that are looked at: names are short."""


def image_words(attributes: Mapping[str, str]) -> str:
    """The words of an image: its file's name, then its ALT text; '' if neither says anything.

    For an area of an image map, which has no file, its ALT text.
    """
    words = _file_words(attributes.get("src", ""))
    alt = attributes.get("alt", "")
    if alt and not is_worthless(alt):
        return f"{words} {alt}" if words else alt
    return words


def is_worthless(words: str) -> bool:
    """True for what describes nothing: no letter at all, or a name like 'spacer' or 'img9'."""
    letters = _NO_LETTERS.sub("", words[:_MAX_NAME])
    return not letters or letters.lower() in WORTHLESS


def _file_words(source: str) -> str:
    """The words in the name of an image's file; '' if they say nothing, or if it is a data: URL."""
    if not source or source.lstrip()[:5].lower() == "data:":
        return ""
    path = source.partition("#")[0].partition("?")[0]
    name = _SUFFIX.sub("", unquote(path.rpartition("/")[2][-_MAX_NAME:]).strip())
    return "" if is_worthless(name) else _JOINTS.sub(" ", name).strip()
