"""A small site of pages that link each other, for tests of the method `hyperlink`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dehusk.methods.papers.hyperlink import (
    Detection,
    Hyperlink,
    detect,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Tree

SITE = "https://mill.example"
NAMES = ("Oats", "Rye", "Barley", "Wheat", "Spelt", "Millet")
STORIES = {
    "Oats": "<p>Sown in spring, they like cool summers and much rain.</p><p>Horses do too.</p>",
    "Rye": "<p>It grows where nothing else will: on sand, in cold, after a bad year.</p>",
    "Barley": "<p>Most of it is malted.</p><ul><li>six rows</li><li>two rows</li></ul><p>Or not.",
    "Wheat": "<p>The bread of half the world began as a grass of the hills.</p><h2>Ploughs</h2>",
    "Spelt": "<p>An old grain that kept its husk, and found new friends late.</p>",
    "Millet": "<p>Small and round; a handful feeds a family, or a great many birds.</p>",
}
Graph = Callable[[str, str], bool]


def mill_page(name: str, links: list[str], extra: str = "") -> Tree:
    menu = "".join(f"<li><a href='/{link}.html'>{link}</a></li>" for link in links)
    html = (
        f"<html><body class='page {name}'><header><b>The mill</b></header>"
        f"<nav><ul>{menu}</ul></nav>"
        f"<main><h1>{name} in the field</h1>{STORIES.get(name, '')}{extra}</main>"
        "<footer><p>Ground daily since long ago</p></footer>"
    )
    return parse(Page(html, f"{SITE}/{name}.html")).tree


def mill_site(linked: Graph = lambda one, other: one != other) -> dict[str, Tree]:
    pages = {}
    for name in NAMES:
        links = [other for other in NAMES if linked(name, other)]
        pages[f"{SITE}/{name}.html"] = mill_page(name, links)
    return pages


def key_of(site: dict[str, Tree]) -> Tree:
    return site[f"{SITE}/Oats.html"]


def detect_in(site: dict[str, Tree], **settings: object) -> Detection:
    return detect(Hyperlink(loader=site.get, **settings), key_of(site))  # type: ignore[arg-type]


def text_of(tree: Tree, flags: Flags) -> set[str]:
    marked = flags & tree.is_text & (tree.text_length > 0)
    return {tree.text(int(node)).strip() for node in np.flatnonzero(marked)}
