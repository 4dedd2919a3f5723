"""The first picture of the README: a page as its readers see it, and what dehusk makes of it.

The page is made up, with the usual things around its text. Its site has eight pages; dehusk learns
them all, and the right half shows the Markdown that it then gives.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import Any, Final

import dehusk

_SIZE: Final = {"width": 1280, "height": 660}
_GRAINS: Final = ("Rye", "Oats", "Barley", "Spelt", "Wheat", "Millet", "Emmer", "Einkorn")


def take_before_after(browser: Any, folder: Path) -> None:
    """Write the picture `before-after.png`."""
    pages = [_page(number) for number in range(len(_GRAINS))]
    site = dehusk.Site()
    for html, url in pages:
        site.learn(html, url)
    html, url = pages[0]
    result = site.ask(html, url, is_learned=True)
    texts = (node.text or "" for node in result.nodes if node.label is not dehusk.Label.HIDDEN)
    picture = _template("before_after.html").substitute(
        page=escape(html), markdown=escape(result.markdown),
        all_words=sum(len(text.split()) for text in texts), kept_words=len(result.text.split()),
    )  # fmt: skip
    tab = browser.new_page()
    tab.set_viewport_size(_SIZE)
    tab.set_content(picture)
    tab.frame_locator("iframe").locator("footer").wait_for()
    tab.screenshot(path=str(folder / "before-after.png"))
    tab.close()


def _page(number: int) -> tuple[str, str]:
    """A page of the almanac, and its address."""
    grain = _GRAINS[number]
    near = (_GRAINS[(number + step) % len(_GRAINS)] for step in (2, 3, 5))
    others = (f'<li><a href="/grains/{name.lower()}">{name} on poor soil</a></li>' for name in near)
    html = _template("before_after_page.html").substitute(
        grain=grain, day=11 + number, weeks=38 + number, less=15 + number,
        sand=160 + 4 * number, loam=130 + 3 * number, days=4 + number,
        others="".join(others),
    )  # fmt: skip
    return html, f"https://almanac.example/grains/{grain.lower()}"


def _template(name: str) -> Template:
    """A file beside this one, with names to fill in."""
    return Template(Path(__file__).with_name(name).read_text("utf-8"))
