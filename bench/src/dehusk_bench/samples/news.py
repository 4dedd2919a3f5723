"""A newspaper: articles, galleries, sections, a home page full of teasers."""

from __future__ import annotations

from typing import Final

from dehusk_bench.samples import blocks, frame, shapes
from dehusk_bench.samples.build import Element
from dehusk_bench.samples.desk import C, Desk
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Kind


def _title(prose: Prose, family: str, number: int) -> str:
    return shapes.page_title(prose, number) if family == "page" else prose.line("headlines")


def _gallery(desk: Desk) -> Element:
    """Pictures with captions and hardly a word more."""
    figures = [blocks.figure(desk) for _ in range(desk.dice.between(4, 9))]
    title = desk.e("h1", "article.title", desk.card.title)
    whole = desk.e("div", "gallery", title, *figures, label=C)
    return frame.document(desk, whole, *shapes.below(desk))


KIND: Final = Kind(
    name="news",
    families={
        "H": ("home", "collection", shapes.listing),
        "L": ("listing", "listing", shapes.listing),
        "D": ("article", "article", shapes.article),
        "X": ("gallery", "collection", _gallery),
        "P": ("page", "service", shapes.page),
        "B": ("bare", "article", shapes.bare),
    },
    first="HDDLDDPLDDLBDXLDDPLDDLDPDD",
    cycle="DDDLDDDXDDDLDDBDDDLDDDD",
    sections="news_sections",
    title=_title,
)
