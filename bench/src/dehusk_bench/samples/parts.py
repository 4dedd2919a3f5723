"""The parts of a page that are template: menus, lists beside the content, forms and buttons.

Each is labelled template itself, so that it can stand in the midst of content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dehusk_bench.samples.build import Child, Comment, Element, el
from dehusk_bench.samples.desk import Desk, T, icon, image
from dehusk_bench.samples.site import Card

_CHANNELS: Final = ("Chirpo", "Plauder", "Fotura", "Kanalix", "Mailpost")
"""Networks to share a page on; none of them exists."""


def menu(desk: Desk, role: str = "nav") -> Element:
    """The main menu, with the page's own section marked."""
    here = desk.card.section if desk.card.letter != "H" else -1
    links = [desk.link(desk.site.card(0), desk.say("home"), f"{role}.link")]
    for number in range(len(desk.site.sections)):
        marked = ".active" if number == here else ""
        links.append(desk.link(desk.section(number), role=f"{role}.link{marked}"))
    if desk.site.look.header == 3:
        return desk.e(desk.tag("nav"), role, *links, label=T)
    items = [desk.e("li", f"{role}.item", link) for link in links]
    if desk.habit("submenus", (True, False)):
        items[1:] = [
            desk.e("li", f"{role}.item", links[number + 1], _submenu(desk, number, role))
            for number in range(len(desk.site.sections))
        ]
    return desk.e(desk.tag("nav"), role, desk.e("ul", f"{role}.list", *items), label=T)


def _submenu(desk: Desk, number: int, role: str) -> Element:
    """The first pages of a section, below its name in the menu."""
    width = len(desk.site.sections)
    cards = [desk.main(number + width * place) for place in range(desk.habit("submenu", (2, 3)))]
    items = [desk.e("li", f"{role}.subitem", desk.link(card)) for card in cards]
    return desk.e("ul", f"{role}.sublist", *items)


def box(desk: Desk, role: str, title: str, *children: Child) -> Element:
    """A box with a heading, as side columns are made of."""
    heading = desk.e(desk.habit("box", ("h3", "h4", "div", "h2")), f"{role}.title", title)
    nodes: list[Child] = [heading, *children]
    if desk.habit("box comments", (True, False, False)):
        nodes.insert(0, Comment(f" {role} "))
    return desk.e(desk.tag("section"), role, *nodes, label=T)


def link_list(desk: Desk, role: str, title: str, cards: Sequence[Card]) -> Element:
    """A box with links to other pages of the site."""
    dated = desk.habit(f"{role} dates", (False, False, True))
    items = []
    for card in cards:
        parts: list[Child] = [desk.link(card, role=f"{role}.link")]
        if dated:
            parts += [" ", desk.e("small", f"{role}.date", desk.date(card.day))]
        items.append(desk.e("li", f"{role}.item", *parts))
    tag = desk.habit(role, ("ul", "ul", "ol"))
    return box(desk, role, title, desk.e(tag, f"{role}.list", *items))


def related(desk: Desk, key: str = "related") -> Element:
    """Links to other pages, different on each page; on some sites with pictures."""
    cards = desk.related(desk.habit("related", (3, 4, 6)))
    if desk.habit("related pictures", (True, False)):
        tiles = [
            desk.e("div", "related.teaser", el("a", image(desk, "", "", 160), href=desk.href(card)),
                   desk.e("h4", "related.name", desk.link(card)))
            for card in cards
        ]  # fmt: skip
        return box(desk, "related", desk.say(key), desk.e("div", "related.row", *tiles))
    return link_list(desk, "related", desk.say(key), cards)


def crumbs(desk: Desk) -> Element:
    """The way from the home page to this one."""
    trail: list[Child] = [desk.link(desk.site.card(0), desk.say("home"), "crumbs.link")]
    if desk.card.letter != "P":
        trail.append(desk.link(desk.section(desk.card.section), role="crumbs.link"))
    trail.append(desk.e("span", "crumbs.current", desk.card.title))
    if desk.habit("crumbs", (True, False)):
        items = [desk.e("li", "crumbs.item", step) for step in trail]
        return desk.e(desk.tag("nav"), "crumbs", desk.e("ol", "crumbs.list", *items), label=T)
    mark = desk.habit("crumb mark", (" › ", " / ", " > ", " » "))
    children: list[Child] = [f"{desk.say('here')} "] if desk.habit("here", (True, False)) else []
    for step in trail:
        children += [step, mark]
    return desk.e("div", "crumbs", *children[:-1], label=T)


def share(desk: Desk) -> Element:
    """Buttons to pass the page on."""
    count = desk.habit("share", (2, 3, 4, 5))
    links: list[Child] = []
    for name in _CHANNELS[:count]:
        target = f"https://{name.lower()}.example/share?u=https://{desk.site.host}{desk.card.path}"
        inside = (icon(), el("span", name))
        links.append(desk.e("a", "share.button", *inside, href=target, rel="nofollow noopener"))
    if desk.has("print"):
        links.append(desk.e("button", "share.print", desk.say("print"), type="button"))
    title = desk.e("span", "share.label", desk.say("share"))
    return desk.e("div", "share", title, *links, label=T)


def byline(desk: Desk) -> Element:
    """Who wrote the page and when: what describes the page is not what it says."""
    parts: list[Child] = [desk.e("span", "byline.author", desk.say("by", p=desk.card.author))]
    year, month, day = desk.card.day
    stamp = f"{year}-{month:02}-{day:02}"
    parts += [" · ", desk.e("time", "byline.date", desk.date(), datetime=stamp)]
    if desk.habit("minutes", (True, False)):
        minutes = desk.say("minutes", n=str(desk.dice.between(2, 12)))
        parts += [" · ", desk.e("span", "byline.minutes", minutes)]
    return desk.e(desk.habit("byline", ("p", "div")), "byline", *parts, label=T)


def tag_links(desk: Desk) -> Element:
    """The page's tags, which lead to the site's sections."""
    names = desk.dice.sample(desk.prose.language.words["tags"], desk.dice.between(2, 5))
    links = [
        desk.link(desk.section(place % len(desk.site.sections)), name, "tags.link")
        for place, name in enumerate(names)
    ]
    label = desk.e("span", "tags.label", f"{desk.say(desk.habit('tags', ('tags', 'filed')))}:")
    return desk.e("div", "tags", label, *links, label=T)


def pager(desk: Desk, earlier: Card | None, later: Card | None, keys: tuple[str, str]) -> Element:
    """Links to the pages before and after this one; on some sites with their titles."""
    with_titles = desk.habit("pager titles", (True, False))
    links: list[Child] = []
    for card, key, arrow in ((earlier, keys[0], "‹"), (later, keys[1], "›")):
        if card is not None:
            text = card.title if with_titles else desk.say(key)
            parts: tuple[Child, ...] = (
                desk.e("span", "pager.arrow", arrow), " ", desk.e("span", "pager.label", text),
            )  # fmt: skip
            links.append(desk.e("a", f"pager.{key}", *parts, href=desk.href(card), rel=key))
    return desk.e(desk.tag("nav"), "pager", *links, label=T)


def neighbours(desk: Desk, keys: tuple[str, str] = ("previous", "next")) -> Element:
    """Links to the pages of the same family before and after this one."""
    letter, number = desk.site.kind.place(desk.card.index)
    earlier = desk.site.page_of(letter, number - 1) if number else None
    return pager(desk, earlier, desk.site.page_of(letter, number + 1), keys)


def numbered_pages(desk: Desk) -> Element:
    """The pages of a list by number."""
    width = len(desk.site.sections)
    own = desk.card.number // width
    links: list[Child] = []
    for place in range(max(0, own - 2), own + 3):
        if place == own:
            links.append(desk.e("span", "pager.current", str(place + 1)))
        else:
            card = desk.site.page_of("L", desk.card.section + place * width)
            links.append(desk.link(card, str(place + 1), "pager.link"))
    total = desk.say("page_of", n=str(own + 1), m=str(own + 9))
    if desk.habit("page count", (True, False)):
        links.append(desk.e("span", "pager.total", total))
    return desk.e("div", "pager", *links, label=T)


def newsletter(desk: Desk) -> Element:
    """A box that asks for an e-mail address."""
    entry = el("input", type="email", name="mail", placeholder=desk.say("email"))
    send = desk.e("button", "newsletter.button", desk.say("subscribe"), type="submit")
    form = el("form", entry, send, action="#newsletter", method="post")
    text = desk.e("p", "newsletter.text", desk.say("newsletter_text"))
    return box(desk, "newsletter", desk.say("newsletter"), text, form)


def login(desk: Desk) -> Element:
    """A box to log in."""
    rows = []
    for key, kind in (("name", "text"), ("password", "password")):
        label = el("label", desk.say(key), for_=f"f-{key}")
        rows.append(desk.e("div", "login.row", label, el("input", type=kind, id=f"f-{key}")))
    send = desk.e("button", "login.button", desk.say("login"), type="submit")
    more = el("p", el("a", desk.say("register"), href="#register"))
    return box(desk, "login", desk.say("login"), el("form", *rows, send, action="#login"), more)


def advert(desk: Desk) -> Element:
    """A place for advertising: a caption, and a frame or a picture that changes."""
    caption = desk.e("small", "ad.caption", desk.say("advert"))
    if desk.habit("ad frame", (True, False)):
        frame = el("iframe", src=f"https://ads.example/slot?n={desk.dice.below(900)}", width="300")
        return desk.e("div", "ad", caption, frame, label=T)
    name = f"{desk.prose.word('goods')} {desk.dice.between(9, 99)},90 €"
    banner = el("a", image(desk, "", "", 300), el("span", name), href="https://ads.example/click")
    return desk.e("div", "ad", caption, banner, label=T)


def tag_cloud(desk: Desk) -> Element:
    """Words of different sizes that lead to the site's sections."""
    names = desk.prose.language.words["tags"]
    shown = names[: desk.habit("cloud", (8, 12, 16))]
    links = [
        desk.link(desk.section(place % len(desk.site.sections)), name, f"cloud.size{place % 4}")
        for place, name in enumerate(shown)
    ]
    return box(desk, "cloud", desk.say("tags"), desk.e("div", "cloud.links", *links))


def comment_form(desk: Desk) -> Element:
    """A form for comments."""
    fields: list[Child] = [desk.e("p", "comment.hint", desk.say("comment_hint"))]
    for key in ("name", "email"):
        label = el("label", f"{desk.say(key)} *", for_=f"c-{key}")
        fields.append(desk.e("p", "comment.row", label, " ", el("input", id=f"c-{key}", name=key)))
    fields.append(desk.e("p", "comment.row", el("textarea", name="text", rows="6")))
    fields.append(desk.e("button", "comment.button", desk.say("send"), type="submit"))
    form = el("form", *fields, action="#comment", method="post")
    if desk.habit("comment count", (True, False)):
        count = desk.e("p", "comment.count", f"{desk.say('comments')} ({desk.dice.below(30)})")
        return box(desk, "comment", desk.say("comment_add"), count, form)
    return box(desk, "comment", desk.say("comment_add"), form)


def contents(desk: Desk, headings: Sequence[str], first: int = 0) -> Element:
    """The page's own headings as links; their anchors are numbered from `first`."""
    items = [
        desk.e("li", "toc.item", el("a", heading, href=f"#s{place}"))
        for place, heading in enumerate(headings, first)
    ]
    return box(desk, "toc", desk.say("toc"), desk.e("ul", "toc.list", *items))
