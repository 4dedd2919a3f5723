"""Another extractor's answer, to be put beside dehusk's where it is installed."""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.util import find_spec

from dehusk.doors.service.gold import html_of
from dehusk.page.page import Page
from dehusk.page.tree import Tree


def peer_text(page: Page, tree: Tree) -> str | None:
    """What trafilatura makes of a page; None where it is not installed."""
    if find_spec("trafilatura") is None:
        return None
    module = import_module("trafilatura")
    for name in ("trafilatura", "htmldate"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    text: str | None = module.extract(html_of(page, tree), url=page.url)
    return text or ""
