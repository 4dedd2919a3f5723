"""Whether a page is empty without its scripts: a shell that a browser fills."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from dehusk import _kernel
from dehusk.page import tags
from dehusk.page.tree import Tree

_FEW_CHARACTERS: Final = 100
_SOME_CHARACTERS: Final = 1000
"""Visible text below which a page may be a shell, with any sign of it and with a sure one. Of the
8,217 pages of docs-dev, linked-dev, news-dev, swde-dev and wcxb-dev 9 lack their content without
scripts, and show at most 56 characters: 8 are found (one came without its scripts), and no other
page is called so. No page there has a framework's empty root and less than 11,000 characters."""
_MIN_CODE_BYTES: Final = 1000
"""Script below it only counts visits or leads elsewhere."""
_MIN_MESSAGE: Final = 20
"""Characters of a message for readers without scripts; images that count visits have none."""
_SHELLS: Final = re.compile(
    rb' id="(?:root|app|__next|__nuxt|___gatsby|q-app|svelte|(?:react|app|vue|ember)-?root'
    rb'|react-app|vue-app|app-container|app-mount)"',
    re.IGNORECASE,
)
"""What the elements are called that common frameworks put a page into."""
_SCRIPT: Final = tags.NUMBERS["script"]
_NOSCRIPT: Final = tags.NUMBERS["noscript"]


def needs_scripts(tree: Tree) -> bool:
    """True for a page whose text only its scripts would make.

    It shows fewer than 100 characters and no image, and has scripts, a message for those without,
    or an empty element to be filled; or fewer than 1,000, and a framework's empty root element.
    """
    shown = int(tree.text_length[0])
    if tree.layout is not None or shown >= _SOME_CHARACTERS:
        return False
    # Elements with an id that are meant to hold something, and hold neither text nor an image.
    empty, has_image = _kernel.holders(tree.kernel)
    if any(_SHELLS.search(tree.source, tree.start[i], tree.stop[i]) for i in empty):
        return True
    if shown >= _FEW_CHARACTERS or has_image:
        return False
    return len(empty) > 0 or _has_code(tree) or _has_message(tree)


def _has_code(tree: Tree) -> bool:
    """True where scripts are loaded, or stand in the page and are not small."""
    code = 0
    for i in np.flatnonzero(tree.tag == _SCRIPT):
        if tree.source.find(b' src="', tree.start[i], tree.stop[i]) >= 0:
            return True
        code += int(tree.close[i] - tree.stop[i])
    return code >= _MIN_CODE_BYTES


def _has_message(tree: Tree) -> bool:
    """True where the page has words for those who run no scripts."""
    for i in np.flatnonzero(tree.tag == _NOSCRIPT):
        inside = np.arange(i + 1, tree.end[i])
        texts = inside[tree.is_text[inside] & ~tree.raw[inside]]
        if sum(len(tree.text(int(node)).strip()) for node in texts) >= _MIN_MESSAGE:
            return True
    return False
