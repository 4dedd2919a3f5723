"""A shop: products with data and reviews, shelves, buying guides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dehusk_bench.samples import blocks, frame, parts, shapes
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import C, Desk, T, image
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Card, Kind

_MAKER_ENDS: Final = ("lis", "ven", "dor", "mex", "rano", "velt", "sund", "nika")


def _title(prose: Prose, family: str, number: int) -> str:
    if family == "page":
        return shapes.page_title(prose, number)
    if family == "guide":
        return prose.line("headlines")
    dice = prose.dice
    maker = dice.pick("BDFGKLMNPRSTV") + dice.pick("aeio") + dice.pick(_MAKER_ENDS)
    return f"{maker} {dice.pick(prose.slots['g'])} {dice.between(1, 99) * 10}"


def _price(desk: Desk) -> str:
    amount = f"{desk.dice.between(4, 399)}.{desk.dice.pick(('00', '50', '90', '95', '99'))}"
    return desk.habit("price", ("€ {}", "{} €", "${}", "£{}")).format(amount)


def _buy(desk: Desk) -> Element:
    """The box to buy with: the same on every product."""
    options = [el("option", str(number), value=str(number)) for number in range(1, 6)]
    amount = el("select", *options, name="q", id="q")
    rows: list[Child] = [
        el("label", desk.say("quantity"), for_="q"),
        amount,
        desk.e("button", "buy.button", _cart(), el("span", desk.say("add")), type="submit"),
    ]
    if desk.habit("wish", (True, False)):
        rows.append(desk.e("a", "buy.wish", desk.say("wishlist"), href="#wish"))
    if desk.habit("compare", (True, False)):
        rows.append(desk.e("a", "buy.compare", desk.say("compare"), href="#compare"))
    rows.append(desk.e("p", "buy.returns", desk.say("returns")))
    return desk.e("form", "buy", *rows, label=T, action="#basket", method="post")


def _cart() -> Element:
    """A basket."""
    return el("svg", el("path", d="M3 4h2l3 12h10l3-8H7"), viewBox="0 0 24 24", width="16")


def _data(desk: Desk) -> Element:
    """The product's figures as a table."""
    dice, words = desk.dice, desk.prose.language.words
    values = words["spec_values"]  # every fourth is a colour, the others are materials
    length = f"{dice.between(2, 90)} cm"
    facts = (
        values[0::4][dice.below(3)], values[1::4][dice.below(2)], f"{dice.between(1, 90)}00 g",
        length, length, str(dice.between(1, 5)), dice.pick(words["places"]),
        f"{dice.letters('ABCDEFGH', 2)}-{dice.between(100, 999)}",
    )  # fmt: skip
    rows = []
    for place in dice.sample(range(len(facts)), dice.between(3, 7)):
        value = "NULL" if dice.chance(0.15) else facts[place]
        row = (el("th", words["spec_names"][place], scope="row"), el("td", value))
        rows.append(el("tr", *row))
    return desk.e("table", "specs.table", el("tbody", *rows))


def _reviews(desk: Desk) -> Element:
    """What buyers write; the question below each review is the shop's."""
    nodes: list[Child] = [desk.e("h2", "reviews.title", desk.say("reviews"))]
    for _ in range(desk.dice.pick((0, 1, 2, 3, 6))):
        stars = desk.say("stars", n=str(desk.dice.between(1, 5)))
        top = desk.e("p", "review.head", el("strong", desk.prose.person()), f" · {stars}")
        text = desk.e("p", "review.text", desk.prose.text(desk.dice.between(1, 4), "opinions"))
        buttons = [el("button", desk.say(key), type="button") for key in ("yes", "no")]
        ask = desk.e("div", "review.ask", el("span", desk.say("helpful")), *buttons, label=T)
        nodes.append(desk.e("div", "review", top, text, ask))
    return desk.e(desk.tag("section"), "reviews", *nodes)


def _product(desk: Desk) -> Element:
    """A product: picture, price, words, data, reviews."""
    price = desk.e("p", "product.price", _price(desk))
    days = desk.say("delivery", n=str(desk.dice.between(1, 9)))
    stock = desk.e("p", "product.stock", f"{desk.say('stock')} · {days}")
    top: list[Child] = [desk.e("h1", "product.title", desk.card.title), price, stock, _buy(desk)]
    picture = desk.e("div", "product.media", image(desk, "product.image", desk.card.title))
    words = [
        el("p", desk.prose.text(desk.dice.between(1, 4), "pitches"))
        for _ in range(desk.dice.between(1, 3))
    ]
    about = desk.e("h2", "product.heading", desk.say("description"))
    data = desk.e("h2", "product.heading", desk.say("specs"))
    texts = [desk.e("div", "product.text", about, *words), data, _data(desk), _reviews(desk)]
    if desk.habit("data first", (True, False)):
        texts = [texts[1], texts[2], texts[0], texts[3]]
    box = desk.e("div", "product.top", picture, desk.e("div", "product.info", *top))
    whole = desk.e(desk.tag("article"), "product", box, *texts, label=C)
    around: list[Child] = [whole]
    if desk.has("related"):
        around.append(parts.related(desk, "also_bought"))
    if desk.has("share"):
        around.insert(0, parts.share(desk))
    return frame.document(desk, *around, side=_side(desk), intro=desk.card.title)


def _tile(desk: Desk, card: Card) -> Element:
    """A product on a shelf; the button to buy it is the shop's."""
    picture = el("a", image(desk, "tile.image", "", 200), href=desk.href(card))
    name = desk.e("h3", "tile.name", desk.link(card))
    price = desk.e("span", "tile.price", _price(desk))
    button = desk.e("button", "tile.button", desk.say("add"), label=T, type="button")
    number = str(card.number)
    return desk.e("li", "tile", picture, name, price, button, label=C, data_sku=number)


def _side(desk: Desk) -> Sequence[Child]:
    """What narrows a shelf down."""
    rows = []
    for value in desk.prose.language.words["spec_values"][:5]:
        check = el("input", type="checkbox", name="f")
        rows.append(desk.e("li", "filter.item", el("label", check, f" {value}")))
    return (parts.box(desk, "filter", desk.say("filter"), desk.e("ul", "filter.list", *rows)),)


def _shelf(desk: Desk) -> Element:
    """The products of a section."""
    options = [el("option", desk.say("price")), el("option", desk.say("name"))]
    sort = desk.e("div", "sort", el("span", desk.say("sort")), el("select", *options), label=T)
    tiles = [_tile(desk, card) for card in desk.listed()]
    nodes: list[Child] = [desk.e("h1", "list.title", desk.card.title, label=C)]
    if desk.habit("shelf words", (True, False)):
        nodes.append(desk.e("p", "list.text", desk.prose.text(2, "pitches"), label=C))
    nodes += [sort, desk.e("ul", "list", *tiles)]
    if desk.has("pager") and desk.card.letter != "H":
        nodes.append(parts.numbered_pages(desk))
    return frame.document(desk, *nodes, side=_side(desk), intro=desk.card.title)


def _sheet(desk: Desk) -> Element:
    """A product's data sheet, to print."""
    return shapes.bare(desk, el("p", desk.prose.text(2, "pitches")), _data(desk))


KIND: Final = Kind(
    name="shop",
    families={
        "H": ("home", "collection", _shelf),
        "L": ("category", "collection", _shelf),
        "D": ("product", "product", _product),
        "X": ("guide", "article", lambda desk: shapes.article(desk, blocks.PROSE)),
        "P": ("page", "service", shapes.page),
        "B": ("bare", "product", _sheet),
    },
    first="HDDLDPDDLXDDLDBDLDDLPDDLDPD",
    cycle="DDDDLDDDXDDDLDDDBDDLDDD",
    sections="goods_sections",
    title=_title,
    points="pitches",
)
