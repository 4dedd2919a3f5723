"""The frame of a modern page: header, columns, footer, and what floats above them."""

from __future__ import annotations

from collections.abc import Sequence

from dehusk_bench.samples import parts
from dehusk_bench.samples.build import Child, Comment, Element, el
from dehusk_bench.samples.desk import C, Desk, T, icon
from dehusk_bench.samples.head import head
from dehusk_bench.samples.site import Side


def document(desk: Desk, *main: Child, side: Sequence[Child] = (), intro: str = "") -> Element:
    """A whole page: the site's frame around `main`, with `side` in the side column."""
    children: list[Child] = []
    cookie = _cookie_banner(desk)
    floats_first = desk.habit("cookie place", (True, False))
    if desk.has("skip"):
        children.append(desk.e("a", "skip", desk.say("skip"), href="#content"))
    if floats_first:
        children += cookie
    if desk.has("ads") and desk.habit("top ad", (True, False)):
        children.append(parts.advert(desk))
    is_slim = desk.card.letter == "X" and desk.habit("slim", (True, False))
    children += [_slim_header(desk)] if is_slim else _header(desk)
    children.append(_columns(desk, main, side))
    children.append(_footer(desk))
    if not floats_first:
        children += cookie
    if desk.habit("body wrap", (True, False, False)):
        children = [desk.e("div", "wrap", *children)]
    body = desk.e("body", f"page.{desk.card.family}", *children, *_scripts(desk))
    return html(desk, head(desk, intro), body)


def html(desk: Desk, head_node: Element, body: Element) -> Element:
    """The root, with the language and direction of the page."""
    language = desk.site.language
    direction = "rtl" if language.direction == "rtl" else None
    return el("html", head_node, body, label=T, lang=language.code, dir=direction)


def bare(desk: Desk, *content: Child) -> Element:
    """A page without template: a print view, or a page that somebody wrote by hand."""
    head_node = el("head", el("meta", charset="utf-8"), el("title", desk.card.title))
    return html(desk, head_node, el("body", *content, label=C))


def _columns(desk: Desk, main: Sequence[Child], side: Sequence[Child]) -> Element:
    """The main column and the side columns, in the order of the site."""
    crumbs = [parts.crumbs(desk)] if desk.has("crumbs") and desk.card.letter != "H" else []
    inner = desk.habit("crumbs inside", (True, False))
    center: list[Child] = [*crumbs, *main] if inner else list(main)
    middle = desk.e(
        desk.tag("main"), "main", desk.wrap("main.area", desk.site.look.wrappers, *center)
    )
    place = desk.site.look.side
    boxes = [*side, *_side_boxes(desk)]
    half = len(boxes) // 2 if place is Side.BOTH else 0
    cells: list[Child] = [middle]
    if desk.card.letter != "D" and desk.habit(f"wide {desk.card.letter}", (False, False, True)):
        return desk.wrap("columns.wide", 0, *([] if inner else crumbs), middle)
    if place is not Side.NONE and boxes:
        aside = desk.e(desk.tag("aside"), "sidebar", *boxes[half:], label=T)
        cells.insert(0 if place is Side.LEFT else 1, aside)
    if half:
        cells.insert(0, desk.e(desk.tag("aside"), "sidebar.left", *boxes[:half], label=T))
    outer: list[Child] = cells if inner else [*crumbs, *cells]
    return desk.wrap("columns", desk.habit("columns", (0, 0, 1, 2)), *outer)


def _side_boxes(desk: Desk) -> list[Child]:
    """What every page of the site has in its side column."""
    boxes: list[Child] = []
    if desk.has("login"):
        boxes.append(parts.login(desk))
    if desk.has("most_read"):
        cards = [desk.main(number) for number in range(1, 6)]
        boxes.append(parts.link_list(desk, "popular", desk.say("most_read"), cards))
    if desk.has("latest"):
        boxes.append(parts.link_list(desk, "latest", desk.say("latest"), desk.related(5)))
    if desk.has("newsletter"):
        boxes.append(parts.newsletter(desk))
    if desk.has("tag_cloud"):
        boxes.append(parts.tag_cloud(desk))
    if desk.has("ads"):
        boxes.append(parts.advert(desk))
    shift = desk.habit("box order", range(len(boxes) or 1))
    return boxes[shift:] + boxes[:shift]


def _search(desk: Desk) -> Element:
    entry = el("input", type="search", name="q", placeholder=desk.say("search_hint"))
    label = el("button", icon("M21 21l-4-4"), el("span", desk.say("search")), type="submit")
    return desk.e("form", "search", entry, label, action="#search", role_="search")


def _logo(desk: Desk) -> Element:
    home = desk.href(desk.site.card(0))
    if desk.habit("logo", (True, False)):
        picture = el("img", src="/img/logo.png", alt=desk.site.name, width="180", height="40")
        return desk.e("a", "header.logo", picture, href=home)
    return desk.e("a", "header.logo", desk.site.name, href=home)


def _header(desk: Desk) -> list[Child]:
    """The top of the page, in one of four ways."""
    look = desk.site.look
    tools: list[Child] = [_search(desk)] if desk.has("search") else []
    keys = ("account", "basket") if desk.site.kind.name == "shop" else ("login", "register")
    account = [el("a", desk.say(key), href=f"#{key}") for key in keys]
    header = desk.tag("header")
    if look.header == 0:
        inner = desk.e("div", "header.inner", _logo(desk), parts.menu(desk), *tools)
        return [Comment(" header "), desk.e(header, "header", inner)]
    if look.header == 1:
        bar = desk.e("div", "header.bar", *account, desk.e("span", "header.date", desk.date()))
        return [bar, desk.e(header, "header", _logo(desk), *tools), parts.menu(desk)]
    if look.header == 2:
        claim = desk.e("p", "header.claim", _claim(desk))
        return [desk.e(header, "header", _logo(desk), claim, *tools), parts.menu(desk)]
    button = el(
        "button", icon(), el("span", desk.say("menu")), type="button", aria_expanded="false"
    )
    return [desk.e(header, "header", button, _logo(desk), parts.menu(desk), *tools, *account)]


def _claim(desk: Desk) -> str:
    year = 1900 + int(desk.site.habits("founded") * 110)
    return desk.say("about_text", y=str(year))


def _slim_header(desk: Desk) -> Element:
    """The top of pages that have a template of their own."""
    back = desk.link(desk.section(desk.card.section), f"‹ {desk.say('back')}", "slim.back")
    return desk.e(desk.tag("header"), "slim", back, _logo(desk), label=T)


def _cookie_banner(desk: Desk) -> list[Child]:
    """What asks for consent; some sites have none."""
    look = desk.site.look
    accept = desk.e("button", "cookie.button", desk.say("accept"), type="button")
    reject = desk.e("button", "cookie.button", desk.say("reject"), type="button")
    if look.cookie == 0:
        text = desk.e("p", "cookie.text", desk.say("cookie_text"))
        return [desk.e("div", "cookie", text, accept, reject, label=T)]
    if look.cookie == 1:
        title = desk.e("h2", "cookie.title", desk.say("cookie_title"))
        text = desk.e("p", "cookie.text", desk.say("cookie_text"))
        buttons = desk.e("div", "cookie.buttons", accept, reject)
        box = desk.e("div", "cookie.dialog", title, text, buttons, role_="dialog")
        return [desk.e("div", "cookie", box, label=T, aria_modal="true")]
    if look.cookie == 2:
        detail = el("div", el("p", desk.say("settings")), el("p", "session, lang"), hidden=True)
        more = el("a", desk.say("privacy"), href=desk.href(desk.site.page_of("P", 2)))
        text = el("p", desk.say("cookie_text"), " ", more)
        return [desk.e("section", "cookie", text, accept, detail, label=T)]
    return []


def _footer(desk: Desk) -> Element:
    """The bottom of the page: links in one of four ways, and what most sites say there."""
    rows: list[Child] = []
    if desk.has("top"):
        rows.append(desk.e("p", "footer.top", el("a", desk.say("top"), href="#top")))
    if desk.has("social"):
        channels = [el("a", icon(), el("span", name), href="#") for name in ("Chirpo", "Fotura")]
        rows.append(desk.e("div", "footer.social", el("span", desk.say("follow")), *channels))
    rows += _footer_links(desk)
    if desk.has("footer_date"):
        rows.append(desk.e("p", "footer.date", desk.say("updated", date=desk.date())))
    year = desk.habit("copyright", (2023, 2024, 2025, 2026))
    rights = f"© {year} {desk.site.name}. {desk.say('rights')}"
    rows.append(desk.e("p", "footer.rights", rights))
    return desk.e(desk.tag("footer"), "footer", *rows, label=T)


def _footer_links(desk: Desk) -> list[Child]:
    rows: list[Child] = []
    look = desk.site.look
    keys = ("about", "contact", "privacy")
    links = [
        desk.link(desk.site.page_of("P", place), desk.say(key)) for place, key in enumerate(keys)
    ]
    if look.footer == 0 and desk.has("footer_nav"):
        sections = [el("li", desk.link(desk.section(n))) for n in range(len(desk.site.sections))]
        rows.append(desk.e("div", "footer.column", desk.e("ul", "footer.list", *sections)))
    if look.footer == 1:
        rows.append(_with_bars(desk, links))
    else:
        rows.append(desk.e("ul", "footer.links", *(el("li", link) for link in links)))
    if look.footer == 2:
        rows.append(desk.e("p", "footer.about", _claim(desk)))
    if desk.habit("footer extras", (True, False)):
        names = ("imprint", "terms", "sitemap", "press", "jobs", "rss")
        extras = [el("li", el("a", desk.say(name), href=f"#{name}")) for name in names]
        rows.append(desk.e("ul", "footer.extras", *extras))
    return rows


def _with_bars(desk: Desk, links: Sequence[Element]) -> Element:
    children: list[Child] = []
    for link in links:
        children += [link, " | "]
    return desk.e("p", "footer.links", *children[:-1])


def _scripts(desk: Desk) -> list[Child]:
    """Scripts at the end of the body."""
    nodes: list[Child] = []
    if desk.habit("noscript", (True, False)):
        pixel = el("img", src="https://count.example/p.gif", width="1", height="1", alt="")
        nodes.append(el("noscript", pixel))
    if desk.habit("template", (True, False, False)):
        nodes.append(el("template", el("div", el("p", desk.say("cookie_title"))), id="tpl"))
    nodes.append(el("script", src="/js/app.js", defer=True))
    if desk.habit("counter", (True, False)):
        code = f"if (1 < 2) {{ count('{desk.card.index}', \"<p>\"); }}"
        nodes.append(el("script", code))
    return nodes
