"""Other extractors to measure against, each at its best, loaded only when asked for.

Nothing can stop one that hangs on a page: they run in this process, and a clock around C code does
not end it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from typing import Final

from dehusk import tags

Peer = Callable[[str, str | None], str]
"""HTML and the page's URL in, text out."""

_LINES: Final = (*tags.BLOCK, "br")
_CELLS: Final = ("td", "th")


def load_peers() -> tuple[dict[str, Peer], list[str]]:
    """The peers by name, and a note on each whose package is not installed."""
    peers: dict[str, Peer] = {}
    notes: list[str] = []
    for name, load in PEERS.items():
        try:
            peers[name] = load()
        except ImportError as missing:
            notes.append(f"{name} is left out ({missing}): pip install 'dehusk[bench]'")
    return peers, notes


def _load_trafilatura(*, include_comments: bool) -> Peer:
    """trafilatura with its defaults, but for comments: they help on forums and hurt on news."""
    module = import_module("trafilatura")
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    logging.getLogger("htmldate").setLevel(logging.CRITICAL)

    def extract(html: str, url: str | None) -> str:
        return module.extract(html, url=url, include_comments=include_comments) or ""

    return extract


def _load_resiliparse() -> Peer:
    """resiliparse's main content, without the link targets and list numbers that it would add."""
    module = import_module("resiliparse.extract.html2text")

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        text: str = module.extract_plain_text(
            html, main_content=True, links=False, list_bullets=False
        )
        return text

    return extract


def _load_readability() -> Peer:
    """readability-lxml's summary, which is HTML, as text with blocks on their own lines."""
    module = import_module("readability")
    fromstring = import_module("lxml.html").fromstring
    logging.getLogger("readability").setLevel(logging.CRITICAL)

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        root = fromstring(module.Document(html).summary())
        for element in root.iter(*_LINES):
            element.text = f"\n{element.text or ''}"
            element.tail = f"\n{element.tail or ''}"
        for element in root.iter(*_CELLS):
            element.tail = f" {element.tail or ''}"
        text: str = root.text_content()
        return text

    return extract


def _load_turbohtml() -> Peer:
    """The parser's own extraction of the main text."""
    import turbohtml  # noqa: PLC0415  as the others: only when it is measured

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        return turbohtml.parse(html, positions=False).main_text()

    return extract


def _load_all_text() -> Peer:
    """All that a browser would show, by dehusk's own tree and text."""
    import numpy as np  # noqa: PLC0415  as the others: only when it is measured

    from dehusk.model import Label, Page  # noqa: PLC0415
    from dehusk.parse import parse  # noqa: PLC0415
    from dehusk.render import text  # noqa: PLC0415

    def extract(html: str, url: str | None) -> str:
        tree = parse(Page(html, url)).tree
        labels = np.where(tree.shown, Label.CONTENT, Label.HIDDEN).astype(np.int8)
        return text(tree, labels)

    return extract


PEERS: Final[dict[str, Callable[[], Peer]]] = {
    "trafilatura": lambda: _load_trafilatura(include_comments=False),
    "trafilatura-comments": lambda: _load_trafilatura(include_comments=True),
    "resiliparse": _load_resiliparse,
    "readability": _load_readability,
    "turbohtml": _load_turbohtml,
    "all-text": _load_all_text,
}
"""Every peer by its name, and how to load it."""
