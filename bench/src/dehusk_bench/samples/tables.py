"""An old site laid out in tables: nested, with font tags, spacers and an image map for a menu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dehusk.answer.labels import Label
from dehusk_bench.samples import blocks, shapes
from dehusk_bench.samples.build import Child, Comment, Element, el
from dehusk_bench.samples.desk import C, Desk, T
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Kind

_SPACER_ALTS: Final = ("", "spacer", "", "img9", " ")
_GROUNDS: Final = ("#FFFFFF", "#FFFFCC", "#CCCCFF", "#EEEEEE", "#99CCCC")


def _title(prose: Prose, family: str, number: int) -> str:
    if family == "page":
        return shapes.page_title(prose, number)
    if family == "catalogue":
        return f"{prose.word('goods')} {number + 1}"
    return prose.line("headlines")


def _grid(
    *rows: Element, label: Label | None = None, width: str = "100%", align: str | None = None
) -> Element:
    """A table for layout. The parser adds its body, which nobody wrote then."""
    body = Element("tbody", "", rows, is_implied=True)
    return el("table", body, label=label, width=width, border="0", cellpadding="2",
              cellspacing="0", align=align)  # fmt: skip


def _row(*cells: Element) -> Element:
    return el("tr", *cells)


def _small(desk: Desk, *children: Child) -> Element:
    """Words in the size and face that the site gives all its words."""
    return el("font", *children, size=desk.habit("size", ("1", "2", "-1")),
              face=desk.habit("face", ("Arial, Helvetica", "Verdana", "Times")))  # fmt: skip


def _spacer(desk: Desk, width: int = 10) -> Element:
    alt = desk.habit("spacer", _SPACER_ALTS)
    return el("img", src="/images/spacer.gif", alt=alt, width=str(width), height="1")


def _ground(desk: Desk, name: str) -> str:
    return desk.habit(f"ground {name}", _GROUNDS)


def _image_map(desk: Desk) -> Element:
    """The menu as a picture; its words are in the areas."""
    areas = [
        el("area", shape="rect", coords=f"{place * 90},0,{place * 90 + 88},24",
           href=desk.href(desk.section(place)), alt=name)
        for place, name in enumerate(desk.site.sections)
    ]  # fmt: skip
    picture = el("img", src="/images/menu.gif", usemap="#menu", alt=desk.say("menu"), width="560",
                 height="24", border="0")  # fmt: skip
    return el("td", picture, el("map", *areas, name="menu"), colspan="2",
              bgcolor=_ground(desk, "menu"))  # fmt: skip


def _top(desk: Desk) -> Element:
    """The site's name and its menu, in a table."""
    name = el("b", desk.site.name)
    title = el("td", el("font", name, size="5", color="#000066"), bgcolor=_ground(desk, "top"))
    logo = el("td", el("img", src="/images/logo.gif", alt=desk.site.name, width="120"), width="130")
    return _grid(_row(logo, title), _row(_image_map(desk)), label=T)


def _link_rows(desk: Desk, links: Sequence[Element]) -> list[Element]:
    return [_row(el("td", _spacer(desk, 4), _small(desk, link))) for link in links]


def _left(desk: Desk) -> Element:
    """The left column: a table with links, in it another one with news."""
    links = [desk.link(desk.site.card(0), desk.say("home"))]
    links += [desk.link(desk.section(n)) for n in range(len(desk.site.sections))]
    links += [desk.link(desk.site.page_of("P", 1), desk.say("contact"))]
    grids: list[Child] = [_grid(*_link_rows(desk, links), label=T, width="150")]
    if desk.habit("news box", (True, True, False)):
        caption = _row(el("th", _small(desk, desk.say("whats_new")), bgcolor=_ground(desk, "box")))
        rows = _link_rows(desk, [desk.link(card) for card in desk.related(3)])
        grids.append(_grid(caption, *rows, label=T, width="150"))
    if desk.habit("guest book", (True, False)):
        grids.append(el("p", _small(desk, el("a", desk.say("guestbook"), href="#guests"))))
    return el("td", *grids, width="160", valign="top", bgcolor=_ground(desk, "left"))


def _right(desk: Desk) -> Element:
    """The right column, of sites that have one."""
    links = [el("a", name, href="https://old.example/") for name in ("Webring", "Top 100")]
    grid = _grid(*_link_rows(desk, links), label=T, width="120")
    return el("td", _small(desk, desk.say("links")), grid, width="130", valign="top")


def _bottom(desk: Desk) -> Element:
    """The foot: who keeps the site, when it changed, how many have come."""
    words: list[Child] = [
        f"© {desk.habit('copyright', (1998, 1999, 2001, 2003))} {desk.site.name} · ",
        el("a", desk.say("webmaster"), href="mailto:webmaster@old.example"),
    ]
    if desk.habit("changed", (True, False)):
        words += [el("br"), desk.say("updated", date=desk.date())]
    if desk.habit("counter", (True, False)):
        words += [el("br"), desk.say("visitors", n=str(1000 + 7 * desk.card.index))]
    if desk.habit("viewed", (True, False)):
        words += [el("br"), desk.say("best_viewed")]
    cell = el("td", _small(desk, *words), align="center", bgcolor=_ground(desk, "bottom"))
    return _grid(_row(cell), label=T)


def _page(desk: Desk, *content: Child) -> Element:
    """A whole page: a table of tables around the content."""
    middle: list[Child] = [el("a", name="top")]
    if desk.has("crumbs") and desk.card.letter != "H":
        home = desk.link(desk.site.card(0), desk.say("home"))
        here = _small(desk, home, " > ", desk.link(desk.section(desk.card.section)))
        middle.append(_grid(_row(el("td", here)), label=T))
    middle.append(el("div", *content, label=C))
    if desk.has("pager"):
        middle.append(_turn(desk))
    cells = [_left(desk), el("td", *middle, valign="top")]
    if desk.habit("right column", (True, False)):
        cells.append(_right(desk))
    if desk.habit("sides", (False, False, True)):
        cells.reverse()
    rows: list[Child] = [_top(desk), _grid(_row(*cells)), _bottom(desk)]
    if desk.habit("outer", (True, False)):
        rows = [_grid(*(_row(el("td", row)) for row in rows if isinstance(row, Element)),
                      width="760", align="center")]  # fmt: skip
    body = el("body", *rows, bgcolor="#FFFFFF", text="#000000", link="#0000CC")
    return _document(desk, body)


def _turn(desk: Desk) -> Element:
    """Links to the pages before and after, under the content."""
    letter, number = desk.site.kind.place(desk.card.index)
    earlier = desk.site.page_of(letter, max(0, number - 1))
    later = desk.site.page_of(letter, number + 1)
    cells = (
        el("td", _small(desk, desk.link(earlier, f"<< {desk.say('previous')}"))),
        el("td", _small(desk, el("a", desk.say("top"), href="#top")), align="center"),
        el("td", _small(desk, desk.link(later, f"{desk.say('next')} >>")), align="right"),
    )
    return _grid(_row(*cells), label=T)


def _document(desk: Desk, body: Element) -> Element:
    title = el("title", f"{desk.site.name}: {desk.card.title}")
    kind = el("meta", http_equiv="Content-Type", content="text/html; charset=utf-8")
    tool = el("meta", name="generator", content="PageMaster 3.0")
    head = el("head", kind, title, tool, Comment(" made by hand "))
    direction = "rtl" if desk.site.language.direction == "rtl" else None
    return el("html", head, body, label=T, lang=desk.site.language.code, dir=direction)


def _heading(desk: Desk) -> Element:
    return el("h1", el("font", desk.card.title, color="#660000", size="4"))


def _words(desk: Desk) -> Element:
    """A paragraph in the site's font."""
    return el("p", _small(desk, desk.prose.text(desk.dice.between(1, 5))))


def _data(desk: Desk) -> Element:
    """A table that is content, among so many that are not."""
    names = desk.dice.sample(desk.prose.language.words["columns"], 3)
    rows = [_row(*(el("th", name, bgcolor="#CCCCCC") for name in names))]
    for _ in range(desk.dice.between(2, 6)):
        values = (desk.prose.word("tags"), str(desk.dice.below(900)),
                  desk.dice.pick(("NULL", "-", str(desk.dice.below(90)))))  # fmt: skip
        rows.append(_row(*(el("td", _small(desk, value)) for value in values)))
    return el("table", Element("tbody", "", tuple(rows), is_implied=True), border="1")


def _article(desk: Desk) -> Element:
    """A report: words, now and then a table, a list, a picture."""
    dice = desk.dice
    nodes: list[Child] = [_heading(desk)]
    choice = (_words, _words, _words, _data, blocks.bullets, _picture)
    count = dice.pick((1, 2, 3, 4, 5, 8, 14))
    nodes.extend(dice.pick(choice)(desk) for _ in range(count))
    return _page(desk, *nodes)


def _picture(desk: Desk) -> Element:
    name = f"/images/{desk.dice.below(9999):04}.jpg"
    picture = el("img", src=name, alt=desk.prose.word("tags"), width="300")
    return el("center", picture, el("br"), el("i", desk.prose.line("sentences")))


def _list(desk: Desk) -> Element:
    """Links with a line on each."""
    items = [el("li", desk.link(card), f" ({desk.date(card.day)})") for card in desk.listed()]
    return _page(desk, _heading(desk), el("ul", *items), _words(desk))


def _home(desk: Desk) -> Element:
    title = el("center", el("h1", f"{desk.say('welcome')}!"))
    items = [el("li", desk.link(card)) for card in desk.listed()]
    return _page(desk, title, _words(desk), _words(desk), el("ul", *items))


def _catalogue(desk: Desk) -> Element:
    """Things and what they cost."""
    return _page(desk, _heading(desk), _words(desk), _data(desk), _data(desk))


KIND: Final = Kind(
    name="tables",
    families={
        "H": ("home", "collection", _home),
        "L": ("list", "listing", _list),
        "D": ("article", "article", _article),
        "X": ("catalogue", "collection", _catalogue),
        "P": ("page", "service", _article),
        "B": ("bare", "article", shapes.bare),
    },
    first="HDDLDXDLDPDLDBDLDXDLDDLDPDDPD",
    cycle="DDDDLDDXDDDLDDDBDDLDDD",
    sections="old_sections",
    title=_title,
    is_old=True,
)
