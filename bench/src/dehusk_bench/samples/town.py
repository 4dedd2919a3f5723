"""A municipality: services with fees and opening hours, news, offices."""

from __future__ import annotations

from typing import Final

from dehusk_bench.samples import blocks, frame, parts, shapes
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import C, Desk, T
from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Kind

_OFFICES: Final = 4
"""Few offices share many services, so their address is content that comes back."""


def _title(prose: Prose, family: str, number: int) -> str:
    if family == "page":
        return shapes.page_title(prose, number)
    if family == "news":
        return prose.line("headlines")
    services = prose.language.words["services"]
    name = services[number % len(services)]
    return name if number < len(services) else f"{name} ({number // len(services) + 1})"


def _office(desk: Desk, number: int) -> Element:
    """Who is in charge, and when the door is open."""
    dice = Dice(*desk.site.key, "office", number)
    prose = desk.prose.with_dice(dice)
    code = dice.between(10000, 99000)
    street = f"{prose.word('places')} {dice.between(1, 90)}, {code} {desk.site.name}"
    rows = []
    for day in prose.language.words["weekdays"][:5]:
        hours = f"{dice.between(8, 9)}:00 – {dice.between(12, 18)}:00"
        value = desk.say("closed") if dice.chance(0.15) else hours
        rows.append(el("tr", el("th", day), el("td", value)))
    return desk.e(
        "div", "office",
        desk.e("h2", "office.title", desk.say("office")),
        el("p", el("strong", f"{desk.site.sections[number % len(desk.site.sections)]}")),
        el("p", f"{desk.say('address')}: {street}", el("br"),
           f"{desk.say('phone')}: 0{dice.between(100, 999)} {dice.between(10000, 99999)}"),
        desk.e("h3", "office.hours", desk.say("hours")),
        desk.e("table", "hours", el("tbody", *rows)),
    )  # fmt: skip


def _service(desk: Desk) -> Element:
    """A service of the town: what it is, what is needed, what it costs, who does it."""
    dice, prose = desk.dice, desk.prose
    nodes: list[Child] = [desk.e("h1", "service.title", desk.card.title)]
    nodes.append(desk.e("p", "service.lead", prose.text(dice.between(1, 3), "advice")))
    needed = [el("li", prose.line("advice")) for _ in range(dice.between(1, 5))]
    nodes += [el("h2", desk.say("needed")), el("ul", *needed)]
    fee = f"{desk.say('fee')}: {dice.between(0, 90)},00 €"
    nodes += [el("h2", desk.say("fee")), el("p", fee)]
    if dice.chance(0.5):
        nodes += [blocks.paragraph(desk), blocks.table(desk)]
    if dice.chance(0.5):
        files = [
            el("li", el("a", f"{prose.word('tags')}.pdf", href="#file"), f" ({dice.below(900)} kB)")
            for _ in range(2)
        ]
        nodes += [el("h2", desk.say("downloads")), el("ul", *files)]
    nodes.append(_office(desk, desk.card.number % _OFFICES))
    around: list[Child] = [desk.e(desk.tag("article"), "service", *nodes, label=C)]
    form = el("a", desk.say("form"), href="#form")
    around.append(desk.e("p", "service.form", form, label=T))
    if desk.has("related"):
        around.append(parts.related(desk, "also"))
    return frame.document(desk, *around, side=_side(desk), intro=desk.card.title)


def _side(desk: Desk) -> list[Child]:
    """What a town has beside everything: emergency numbers and ways to reach it."""
    numbers = [el("li", f"{desk.say('phone')}: {code}") for code in ("110", "112", "115")]
    emergency = desk.e("ul", "emergency.list", *numbers)
    access = el("p", el("a", desk.say("accessibility"), href="#access"))
    return [
        parts.box(desk, "emergency", desk.say("emergency"), emergency),
        parts.box(desk, "access", desk.say("contact"), el("p", f"info@{desk.site.host}"), access),
    ]


def _home(desk: Desk) -> Element:
    """Welcome, services, news."""
    title = desk.e("h1", "home.title", f"{desk.say('welcome')}: {desk.site.name}")
    intro = desk.e("div", "home.intro", title, blocks.paragraph(desk), label=C)
    tiles = []
    for number in range(8):
        card = desk.main(number)
        line = el("p", desk.prose.line("advice"))
        tiles.append(desk.e("li", "tile", el("h3", desk.link(card)), line, label=C))
    news = [shapes.teaser(desk, desk.site.page_of("X", number)) for number in range(3)]
    nodes: list[Child] = [intro, desk.e("ul", "tiles", *tiles), *news]
    return frame.document(desk, *nodes, side=_side(desk), intro=desk.site.name)


def _section(desk: Desk) -> Element:
    return shapes.listing(desk, _side(desk))


def _news(desk: Desk) -> Element:
    return shapes.article(desk, blocks.PROSE, _side(desk))


def _page(desk: Desk) -> Element:
    """A page on the town itself, with the address of an office."""
    whole = desk.e("div", "text", desk.e("h1", "text.title", desk.card.title),
                   blocks.paragraph(desk), _office(desk, 0), label=C)  # fmt: skip
    return frame.document(desk, whole, side=_side(desk))


KIND: Final = Kind(
    name="town",
    families={
        "H": ("home", "service", _home),
        "L": ("section", "listing", _section),
        "D": ("service", "service", _service),
        "X": ("news", "article", _news),
        "P": ("page", "service", _page),
        "B": ("bare", "service", shapes.bare),
    },
    first="HDXLDDPLDXLDBDLDXDLDDLXDPDPD",
    cycle="DDXDLDDXDDDXDLDDBDXDLDD",
    sections="service_sections",
    title=_title,
    points="advice",
)
