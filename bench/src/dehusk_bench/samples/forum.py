"""A forum: threads of posts with their buttons and signatures, boards, members."""

from __future__ import annotations

from typing import Final

from dehusk_bench.samples import frame, parts, shapes
from dehusk_bench.samples.build import Child, Element, el
from dehusk_bench.samples.desk import C, Desk, T, image
from dehusk_bench.samples.dice import Dice
from dehusk_bench.samples.language import Prose
from dehusk_bench.samples.site import Kind

_MEMBERS: Final = 40
"""A site's regulars, who come back with the same signature."""


def _title(prose: Prose, family: str, number: int) -> str:
    if family == "page":
        return shapes.page_title(prose, number)
    return prose.person() if family == "member" else prose.line("asks")


def _member(desk: Desk, number: int) -> tuple[str, str, int]:
    """A regular: name, signature, year of joining; the same in all threads."""
    dice = Dice(*desk.site.key, "member", number)
    prose = desk.prose.with_dice(dice)
    return prose.person(), prose.word("mottos"), dice.between(2004, 2019)


def _user_box(desk: Desk, number: int) -> Element:
    """What the site tells of who writes; the name stands over the post."""
    _, _, year = _member(desk, number)
    rows: list[Child] = [image(desk, "user.avatar", "", 64)]
    rows.append(desk.e("div", "user.joined", f"{desk.say('joined')}: {year}"))
    rows.append(desk.e("div", "user.posts", f"{desk.say('posts')}: {number * 37 + 5}"))
    return desk.e("div", "user", *rows, label=T)


def _buttons(desk: Desk) -> Element:
    keys = ("reply", "quote", "report", "like")[: desk.habit("buttons", (2, 3, 4))]
    links = [desk.e("a", f"post.{key}", desk.say(key), href=f"#{key}") for key in keys]
    return desk.e("div", "post.buttons", *links, label=T)


def _post(desk: Desk, place: int, number: int) -> Element:
    """A post: who and when, what was said, and the site's buttons and the writer's signature."""
    dice = desk.dice
    name, motto, _ = _member(desk, number)
    head = desk.e("div", "post.head", el("strong", name), f" · {desk.date()} · #{place + 1}")
    said: list[Child] = []
    if place and dice.chance(0.3):
        other = _member(desk, dice.below(_MEMBERS))[0]
        cite = el("cite", desk.say("wrote", p=other))
        said.append(desk.e("blockquote", "post.quote", cite, el("p", desk.prose.line("chats"))))
    count = dice.pick((1, 1, 1, 2, 4))
    said.extend(el("p", desk.prose.text(dice.between(1, 4), "chats")) for _ in range(count))
    nodes: list[Child] = [head, desk.e("div", "post.text", *said)]
    if desk.habit("signatures", (True, False)) and number % 2:
        nodes.append(desk.e("div", "post.signature", motto, label=T))
    nodes.append(_buttons(desk))
    return desk.e("div", "post.body", *nodes, label=C)


def _posts(desk: Desk) -> Element:
    """All posts, in a table as forums once had them, or in boxes."""
    count = desk.dice.pick((1, 2, 3, 4, 5, 6, 8, 15))
    in_table = desk.habit("post table", (True, False))
    rows = []
    for place in range(count):
        number = desk.dice.below(_MEMBERS)
        post, user = _post(desk, place, number), _user_box(desk, number)
        if in_table:
            rows.append(el("tr", desk.e("td", "post.left", user), desk.e("td", "post.right", post)))
        else:
            rows.append(desk.e("div", "post", user, post, id=f"p{place}"))
    if in_table:
        return desk.e("table", "posts", el("tbody", *rows))
    return desk.e("div", "posts", *rows)


def _thread(desk: Desk) -> Element:
    tools = desk.e("div", "tools", el("a", desk.say("reply"), href="#reply"),
                   el("a", desk.say("new_topic"), href="#new"), label=T)  # fmt: skip
    nodes: list[Child] = [desk.e("h1", "thread.title", desk.card.title, label=C), tools]
    nodes.append(_posts(desk))
    if desk.habit("tools twice", (True, False)):
        nodes.append(tools)
    nodes += shapes.below(desk)
    return frame.document(desk, *nodes, side=_side(desk))


def _side(desk: Desk) -> list[Child]:
    number = str(desk.dice.between(3, 200))
    names = ", ".join(_member(desk, desk.dice.below(_MEMBERS))[0] for _ in range(4))
    return [parts.box(desk, "online", desk.say("online", n=number), el("p", names))]


def _board(desk: Desk) -> Element:
    """The threads of a board."""
    keys = ("topic", "author", "replies", "views", "last_post")
    rows = []
    for card in desk.listed():
        counts = [el("td", str(desk.dice.below(900))) for _ in range(2)]
        rows.append(el("tr", desk.e("td", "row.title", desk.link(card)), el("td", card.author),
                       *counts, el("td", desk.date(card.day))))  # fmt: skip
    top = el("thead", el("tr", *(el("th", desk.say(key)) for key in keys)))
    table = desk.e("table", "rows", top, el("tbody", *rows), label=C)
    nodes: list[Child] = [desk.e("h1", "list.title", desk.card.title, label=C)]
    nodes.append(desk.e("a", "new", desk.say("new_topic"), href="#new"))
    nodes += [table, parts.numbered_pages(desk)] if desk.has("pager") else [table]
    return frame.document(desk, *nodes, side=_side(desk))


def _home(desk: Desk) -> Element:
    """The boards, each with what it is for and its newest thread."""
    rows = []
    for number in range(len(desk.site.sections)):
        card, newest = desk.section(number), desk.main(number)
        name = desk.e("h3", "board.title", desk.link(card))
        about = desk.e("p", "board.text", desk.prose.line("sentences"))
        last = desk.e("p", "board.last", f"{desk.say('last_post')}: ", desk.link(newest))
        rows.append(desk.e("div", "board", name, about, last, label=C))
    rules = desk.e("p", "rules", el("a", desk.say("rules"), href="#rules"), label=T)
    return frame.document(desk, rules, desk.e("div", "boards", *rows), side=_side(desk))


def _profile(desk: Desk) -> Element:
    """A member's page."""
    words = desk.prose.language.words["columns"]
    facts: list[Child] = []
    for name in words[:3]:
        facts += [el("dt", name), el("dd", desk.prose.word("tags"))]
    title = desk.e("h1", "member.name", desk.card.title)
    newest = [el("li", desk.link(card)) for card in desk.related(4)]
    whole = desk.e("div", "member", title, el("p", desk.prose.text(2, "chats")), el("dl", *facts),
                   el("h2", desk.say("posts")), el("ul", *newest), label=C)  # fmt: skip
    return frame.document(desk, whole, side=_side(desk))


def _print(desk: Desk) -> Element:
    """A thread to print: posts without buttons."""
    nodes: list[Child] = []
    for _ in range(desk.dice.between(2, 6)):
        name = _member(desk, desk.dice.below(_MEMBERS))[0]
        nodes += [el("h3", name), el("p", desk.prose.text(3, "chats"))]
    return shapes.bare(desk, *nodes)


KIND: Final = Kind(
    name="forum",
    families={
        "H": ("home", "collection", _home),
        "L": ("board", "listing", _board),
        "D": ("thread", "forum", _thread),
        "X": ("member", "service", _profile),
        "P": ("page", "service", shapes.page),
        "B": ("bare", "forum", _print),
    },
    first="HDDLDXDDLPDBLDDLDXDLDDLDPDPD",
    cycle="DDDDLDDXDDDDLDDDBDDLDDD",
    sections="boards",
    title=_title,
)
