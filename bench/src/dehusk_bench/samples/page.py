"""One page of a sample site, with its gold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dehusk.page.page import Page
from dehusk_bench.samples.desk import Desk
from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.site import Site
from dehusk_bench.samples.write import Written, write

ElementPath = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SamplePage:
    """A page and what is true of it."""

    page: Page
    kind: str
    lang: str
    family: str
    type: str
    labels: NDArray[np.int8]
    """The `Label` of each node of the page's tree, in document order."""
    content: str
    """The content's text, blocks on their own lines."""
    content_nodes: tuple[ElementPath, ...]
    """The roots of the content: child positions among elements, from <html> down."""
    excluded_nodes: tuple[ElementPath, ...]
    """What is template inside them."""
    template_tables: int
    """Tables that are template from end to end."""
    subject: str | None = None
    """What the page is about, where sites share that: a story, or a topic."""

    def record(self) -> dict[str, object]:
        """The page as one line of a corpus for measuring."""
        return {
            "corpus": "samples",
            "site": self.page.site,
            "url": self.page.url,
            "lang": self.lang,
            "html": self.page.html,
            "content": self.content,
            "content_nodes": [list(path) for path in self.content_nodes],
            "excluded_nodes": [list(path) for path in self.excluded_nodes],
            "type": self.type,
            "family": self.family,
            **({} if self.subject is None else {"subject": self.subject}),
        }


def write_page(site: Site, index: int) -> Written:
    """The page at this place of the site, written out."""
    card = site.card(index)
    dice = Dice(*site.key, "page", index)
    desk = Desk(site, card, dice, site.prose.with_dice(dice))
    _, _, make = site.kind.families[card.letter]
    return write(make(desk), site.look.style, site.look.doctype)


def make_page(site: Site, index: int) -> SamplePage:
    """The page at this place of the site; it depends on nothing else."""
    written = write_page(site, index)
    card = site.card(index)
    subject = site.kind.subject
    return SamplePage(
        page=Page(written.html, f"https://{site.host}{card.path}", site.host),
        kind=site.kind.name,
        lang=site.language.code,
        family=card.family,
        type=site.kind.families[card.letter][1],
        labels=written.labels,
        content=written.content,
        content_nodes=written.content_nodes,
        excluded_nodes=written.excluded_nodes,
        template_tables=written.template_tables,
        subject=subject(card) if subject and card.letter == "D" else None,
    )
