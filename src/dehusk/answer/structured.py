"""What a page states for machines, as it states it: JSON-LD, microdata and Open Graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np

from dehusk.answer.names import one_line
from dehusk.answer.stated import parsed, read_said
from dehusk.page import tags
from dehusk.page.patterns import pattern
from dehusk.page.tree import Tree
from dehusk.page.urls import Base, base_of

MAX_JSON: Final = 1_000_000
"""Characters of JSON that each kind may take: whole objects that go beyond it are left out."""
_MAX_DEPTH: Final = 64
"""Levels of JSON-LD: who reads lines may not follow further, and no vocabulary needs them."""
_MAX_PROPERTIES: Final = 2000
_MAX_NODES: Final = 2000
"""Properties of microdata, and nodes of the text of each: hostile pages nest them without end."""
_MAX_SCOPES: Final = 16
"""Items in each other."""
_MARK: Final = pattern(rb" item(?:prop|scope)=\"")
_COUNTED: Final = ("itemprop", "itemtype", "itemid")
"""What counts as the values do."""
_MAX_INTEGER: Final = 2**63
_GRAPHS: Final = ("og:", "article:", "book:", "profile:", "video:", "music:", "product:")
_ADDRESSES: Final = dict.fromkeys(
    ("audio", "embed", "iframe", "img", "source", "track", "video"), "src"
) | {"a": "href", "area": "href", "link": "href", "object": "data"}
_VALUES: Final = {"meta": "content", "data": "value", "meter": "value", "time": "datetime"}
"""The attributes that are an element's value, as addresses and as texts."""
Items = list[dict[str, object]]


def structured(tree: Tree, url: str | None) -> dict[str, object] | None:
    """The page's JSON-LD, microdata and Open Graph; None where it has none of them.

    `microdata` is as the HTML standard writes it in JSON, without `itemref`, and with an item that
    is several properties under the first of them. Of each kind the first objects are there that
    make up to `MAX_JSON` characters; `truncated` says that others are not.
    """
    stated, _ = tree.once(read_said)
    items, is_whole = _items(tree, url)
    is_whole = is_whole and not _has_long(tree)
    kinds: dict[str, Iterable[object]] = {
        "json_ld": _linked(stated.scripts),
        "microdata": items,
        "open_graph": _metas(tree),
    }
    found: dict[str, object] = {}
    for name, objects in kinds.items():
        kept: list[object] = []
        left = MAX_JSON
        for each in objects:
            written = json.dumps(each)
            left -= len(written)
            if left < 0:
                is_whole = False
                break
            kept.append(json.loads(written, parse_constant=_null))
        found[name] = kept
    is_any = any(found.values()) or not is_whole
    return {**found, "truncated": not is_whole} if is_any else None


def _null(_: str) -> None:
    """What stands for NaN and infinity: they are no JSON."""


def _has_long(tree: Tree) -> bool:
    """Is there JSON-LD that is too long to be read?"""
    texts = np.flatnonzero(tree.is_text & (tree.stop - tree.start > MAX_JSON))
    above = tree.parent[texts].tolist()
    return any(
        tree.name(node) == "script" and "ld+json" in tree.attributes(node).get("type", "").lower()
        for node in above
    )


def _linked(scripts: Iterable[str]) -> Iterator[object]:
    """The JSON of each script; none of one that is broken or nests too deep."""
    for script in scripts:
        value = parsed(script)
        if value is not None and _is_flat(value):
            yield value


def _is_flat(value: object, depth: int = _MAX_DEPTH) -> bool:
    """Has JSON few levels, and no number that is too large for those who read it?"""
    if isinstance(value, int):
        return abs(value) < _MAX_INTEGER
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > 0 and all(_is_flat(each, depth - 1) for each in below)


def _metas(tree: Tree) -> Iterator[dict[str, str]]:
    """The properties of Open Graph, in order."""
    for node in np.flatnonzero(tree.tag == tags.NUMBERS["meta"]).tolist():
        stated = tree.attributes(node)
        for name in stated.get("property", "").split() if "content" in stated else ():
            if name.startswith(_GRAPHS):
                yield {"property": name, "content": stated["content"]}


def _items(tree: Tree, url: str | None) -> tuple[Items, bool]:
    """The items of microdata that are no property of another; False where there are more."""
    top: Items = []
    scopes: list[tuple[int, dict[str, list[object]]]] = []
    base, left = base_of(tree, url), MAX_JSON
    for number, node in enumerate(_marked(tree)):
        stated = tree.attributes(node)
        left -= sum(len(stated.get(name, "")) for name in _COUNTED)
        if left < 0 or number == _MAX_PROPERTIES:
            return top, False
        while scopes and scopes[-1][0] <= node:
            scopes.pop()
        names = dict.fromkeys(stated.get("itemprop", "").split() if scopes else ())
        properties: dict[str, list[object]] = {}
        if "itemscope" in stated and len(scopes) < _MAX_SCOPES:
            item: dict[str, object] = {"type": stated.get("itemtype", "").split()}
            item |= {"id": stated["itemid"]} if "itemid" in stated else {}
            item["properties"] = properties
            if names:
                scopes[-1][1].setdefault(next(iter(names)), []).append(item)
            else:
                top.append(item)
            scopes.append((int(tree.end[node]), properties))
            continue
        value = _value(tree, node, stated, base) if names else ""
        left -= len(names) * len(value)
        for name in names if left >= 0 else ():
            scopes[-1][1].setdefault(name, []).append(value)
    return top, left >= 0


def _marked(tree: Tree) -> list[int]:
    """The elements that may be items or properties, in document order."""
    places = [found.start() for found in _MARK.finditer(tree.source)]
    nodes = np.unique(np.searchsorted(tree.start, places, "right") - 1)
    return [int(node) for node in nodes[~tree.is_text[nodes]][: _MAX_PROPERTIES + 1]]


def _value(tree: Tree, node: int, stated: Mapping[str, str], base: Base) -> str:
    """What an element says as a property."""
    name = tree.name(node)
    address = stated.get(_ADDRESSES.get(name, ""))
    if address is not None:
        return base.absolute(address) or address
    plain = stated.get(_VALUES.get(name, ""))
    if plain is not None:
        return plain
    below = range(node + 1, min(int(tree.end[node]), node + _MAX_NODES))
    return one_line("".join(tree.text(each) for each in below if tree.is_text[each]))
