"""The head of a sample page: what it says of itself to machines."""

from __future__ import annotations

import json
from typing import Final

from dehusk_bench.samples.build import Child, Comment, Element, el
from dehusk_bench.samples.desk import Desk

_SCHEMA_TYPES: Final = {
    "article": "NewsArticle",
    "product": "Product",
    "forum": "DiscussionForumPosting",
    "documentation": "TechArticle",
}
_STYLES: Final = (
    "body{margin:0 auto;max-width:70em;font:16px/1.5 sans-serif}a{color:#05a}",
    ":root{--gap:1rem}body{font-family:serif}nav ul{list-style:none;padding:0}",
    "*,*::before{box-sizing:border-box}img{max-width:100%;height:auto}",
)


def head(desk: Desk, intro: str) -> Element:
    """The head, with `intro` as the page's description."""
    title = el("title", page_title(desk))
    is_early = desk.habit("title first", (True, False))
    nodes: list[Child] = [el("meta", charset="utf-8")]
    if is_early:
        nodes.append(title)
    nodes.append(el("meta", name="viewport", content="width=device-width, initial-scale=1"))
    nodes += _metadata(desk, intro)
    if not is_early:
        nodes.append(title)
    return el("head", *nodes, *_machinery(desk))


def _metadata(desk: Desk, intro: str) -> list[Child]:
    """What the page says of itself."""
    wanted = desk.site.look.metadata
    nodes: list[Child] = []
    if intro and "description" in wanted:
        nodes.append(el("meta", name="description", content=intro))
    if "canonical" in wanted:
        nodes.append(el("link", rel="canonical", href=address(desk)))
    if "open_graph" in wanted:
        nodes += _open_graph(desk, intro)
    if "author" in wanted and desk.page_type() == "article":
        nodes.append(el("meta", name="author", content=desk.card.author))
    if "json_ld" in wanted:
        nodes.append(el("script", _json_ld(desk, intro), type="application/ld+json"))
    return nodes


def _machinery(desk: Desk) -> list[Child]:
    """Styles, scripts and icons."""
    wanted = desk.site.look.metadata
    sheet = f"/css/{desk.habit('css', ('main', 'app', 'style'))}.css"
    nodes: list[Child] = [el("link", rel="stylesheet", href=sheet)]
    if "icons" in wanted:
        nodes.append(el("link", rel="icon", href="/favicon.ico"))
        nodes.append(Comment("[if lt IE 9]><script src=/js/html5.js></script><![endif]"))
    if "styles" in wanted:
        nodes.append(el("style", desk.habit("style", _STYLES)))
    if desk.habit("head script", (True, False)):
        nodes.append(el("script", "window.dataLayer=window.dataLayer||[];", async_=True))
    if desk.habit("head noscript", (True, False, False)):
        nodes.append(el("noscript", el("style", ".lazy{display:none}")))
    return nodes


def page_title(desk: Desk) -> str:
    """The page's title with what the site adds to it."""
    mark, name = desk.site.look.title_mark, desk.site.name
    if desk.card.letter == "H":
        return name
    if desk.habit("site first", (False, False, False, True)):
        return f"{name}{mark}{desk.card.title}"
    return f"{desk.card.title}{mark}{name}"


def address(desk: Desk) -> str:
    """The page's URL."""
    return f"https://{desk.site.host}{desk.card.path}"


def _open_graph(desk: Desk, intro: str) -> list[Element]:
    kind = "article" if desk.page_type() == "article" else "website"
    year, month, day = desk.card.day
    stamp = f"{year}-{month:02}-{day:02}" if kind == "article" else ""
    facts = {
        "og:title": desk.card.title, "og:type": kind, "og:url": address(desk),
        "og:site_name": desk.site.name, "og:description": intro, "article:published_time": stamp,
    }  # fmt: skip
    return [el("meta", property=name, content=text) for name, text in facts.items() if text]


def _json_ld(desk: Desk, intro: str) -> str:
    year, month, day = desk.card.day
    page_type = desk.page_type()
    facts: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": _SCHEMA_TYPES.get(page_type, "WebPage"),
        "headline": desk.card.title,
        "url": address(desk),
        "publisher": {"@type": "Organization", "name": desk.site.name},
    }
    if page_type in {"article", "forum"}:
        facts["datePublished"] = f"{year}-{month:02}-{day:02}T{day % 24:02}:30:00Z"
        facts["author"] = {"@type": "Person", "name": desk.card.author}
    if intro:
        facts["description"] = intro
    return json.dumps(facts, ensure_ascii=False, indent=desk.habit("json", (None, 1)))
