"""Shapes of pages that several kinds of site share: lists of teasers, articles, plain pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dehusk_bench.samples import blocks, frame, parts
from dehusk_bench.samples.blocks import Block
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import C, Desk, T, image
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Card

_STUB_SHARE: Final = 0.04
"""How many articles say next to nothing."""


def page_title(prose: Prose, number: int) -> str:
    """The title of a page on the site itself."""
    return prose.phrase(("about", "contact", "privacy")[number % 3])


def teaser(desk: Desk, card: Card, role: str = "teaser") -> Element:
    """A page in a few words. The link to read on is template, the rest is what a list says."""
    texts: list[Child] = [desk.e("h3", f"{role}.title", desk.link(card))]
    if desk.habit("teaser date", (True, False)):
        texts.append(desk.e("span", f"{role}.date", desk.date(card.day)))
    texts.append(desk.e("p", f"{role}.text", desk.prose.text(desk.dice.between(1, 2))))
    if desk.habit("read more", (True, True, False)):
        texts.append(desk.e("a", f"{role}.more", desk.say("more"), label=T, href=desk.href(card)))
    if desk.habit("teaser picture", (True, False)):
        picture = el("a", image(desk, "", "", 240), href=desk.href(card))
        texts = [desk.e("div", f"{role}.media", picture), desk.e("div", f"{role}.body", *texts)]
    return desk.e(desk.tag("article"), role, *texts, label=C)


def listing(desk: Desk, side: Sequence[Child] = ()) -> Element:
    """The pages of a section; on the home page the newest of the site, one of them large."""
    teasers = desk.e("div", "list", *(teaser(desk, card) for card in desk.listed()))
    nodes: list[Child]
    if desk.card.letter == "H":
        nodes = [desk.e("div", "hero", teaser(desk, desk.main(9), "hero.teaser")), teasers]
    else:
        nodes = [desk.e("h1", "list.title", desk.card.title, label=C), teasers]
        if desk.has("pager"):
            nodes.append(parts.numbered_pages(desk))
    if desk.has("ads"):
        nodes.insert(1, parts.advert(desk))
    return frame.document(desk, *nodes, side=side, intro=desk.site.name)


def article(
    desk: Desk, choice: Sequence[Block] = blocks.PROSE, side: Sequence[Child] = ()
) -> Element:
    """An article, with all that sites put around it."""
    lead = blocks.lead(desk)
    top: list[Child] = [desk.e("h1", "article.title", desk.card.title)]
    if desk.has("byline"):
        top.append(parts.byline(desk))
    nodes: list[Child] = [desk.e(desk.tag("header"), "article.head", *top)]
    if desk.has("share"):
        nodes.append(parts.share(desk))
    if desk.habit("top picture", (True, False)):
        nodes.append(blocks.figure(desk))
    text: list[Child] = [lead]
    if not desk.dice.chance(_STUB_SHARE):
        text += blocks.body(desk, choice)
    nodes.append(desk.e("div", "text", *text))
    if desk.has("tags"):
        nodes.append(parts.tag_links(desk))
    whole = desk.e(desk.tag("article"), "article", *nodes, label=C)
    intro = "".join(child for child in lead.children if isinstance(child, str))
    return frame.document(desk, whole, *below(desk), side=side, intro=intro)


def below(desk: Desk) -> list[Child]:
    """What follows an article: neighbours, related pages, a form."""
    nodes: list[Child] = []
    if desk.has("pager"):
        nodes.append(parts.neighbours(desk))
    if desk.has("related"):
        nodes.append(parts.related(desk))
    if desk.has("comment_form"):
        nodes.append(parts.comment_form(desk))
    return nodes


def page(desk: Desk, side: Sequence[Child] = ()) -> Element:
    """A page on the site itself."""
    title = desk.e("h1", "article.title", desk.card.title)
    words = [blocks.paragraph(desk) for _ in range(desk.dice.between(1, 4))]
    whole = desk.e("div", "text", title, *words, blocks.bullets(desk), label=C)
    return frame.document(desk, whole, side=side)


def bare(desk: Desk, *content: Child) -> Element:
    """A page without template: `content` or else a text, and nothing around it."""
    if not content:
        choice = (blocks.paragraph, blocks.table, blocks.bullets)
        content = tuple(desk.dice.pick(choice)(desk) for _ in range(desk.dice.between(2, 9)))
    return frame.bare(desk, el("h1", desk.card.title), *content)
