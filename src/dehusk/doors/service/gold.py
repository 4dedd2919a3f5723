"""Gold, what is known of a page: made of confirmed verdicts, read, and compared to labels.

A record has `site`, `url`, `lang`, `html`, and the gold: `content` (text), `content_nodes` (the
roots of the content) and `excluded_nodes` (pieces inside them that are template). A node's path is
child positions among elements, from `<html>` down.

The TECO suite marks pages with classes: what has `TECO_notTemplate` (also with a 2 or 3 behind it),
and all below it, is not template; `TECO_mainContent` and `TECO_mainMenu` say what else there is.
Older copies write them without `TECO_`.

Of labels only elements are scored, and of these only such as carry or enclose shown text or an
image. The gold says nothing of others: were they counted, a line break that a menu takes with it
would be an error in a labelling without errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.labels import Label
from dehusk.answer.result import Result
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Ints, Tree
from dehusk.settings import Limits
from dehusk.template.viewing import element_path

Path = Sequence[int]
"""Child positions among elements, from `<html>` down. The empty path is `<html>` itself."""

_CORPUS: Final = "labelled"
_PREFIX: Final = "TECO_"
"""Before a mark; older copies of the suite do without."""
_MARK: Final = f"{_PREFIX}notTemplate"
_CONTENT_MARKS: Final = f"{_MARK} {_PREFIX}mainContent".encode()
"""What content is marked with: people who are asked for content mean the main one."""
_PLACES: Final = {
    **dict.fromkeys(("notTemplate", "notTemplate2", "notTemplate3"), 0),
    "mainContent": 1,
    "mainMenu": 2,
}
"""The place in `Marks` of what bears a mark."""
_SEEN: Final = tags.numbers("img", "svg", "picture", "object", "embed", "input", "image")
_IMAGES: Final = tags.numbers("img", "image", "picture", "svg")


class Score(NamedTuple):
    """Precision, recall and their harmonic mean, each 0 … 1."""

    precision: float
    recall: float
    f1: float


class Marks(NamedTuple):
    """The outermost elements that bear each of TECO's marks, as paths."""

    not_template: list[list[int]]
    main_content: list[list[int]]
    main_menu: list[list[int]]


@dataclass(frozen=True, slots=True, eq=False)
class NodeGold:
    """The gold of a page's nodes, in document order."""

    judged: Flags
    """Elements that carry or enclose shown text or an image."""
    template: Flags
    """Judged elements neither inside nor above the content, and those left out of it."""
    above: Flags
    """Judged elements that hold content and are not in it."""


def gold_record(page: Page, result: Result) -> dict[str, object]:
    """The page with its verdict as gold. What stands directly beside text of the other kind, in one
    element, cannot be told apart by elements: it counts as content."""
    roots, excluded = gold_nodes(result)
    tree = result.tree
    return {
        "corpus": _CORPUS,
        "site": result.site,
        "url": result.url,
        "lang": result.lang,
        "html": html_of(page, tree),
        "content": result.text,
        "content_nodes": [element_path(tree, node) for node in roots],
        "excluded_nodes": [element_path(tree, node) for node in excluded],
    }


def gold_nodes(result: Result) -> tuple[list[int], list[int]]:
    """The elements that hold the content, and those in them that are template."""
    labels = result.labels.labels
    return _roots(result.tree, *(labels == label for label in (Label.CONTENT, Label.TEMPLATE)))


def seen_nodes(tree: Tree) -> Flags:
    """What a reader sees: texts, images and the like."""
    return ((tree.is_text & (tree.text_length > 0)) | _SEEN[tree.tag]) & tree.shown


def voted_nodes(tree: Tree, content: Flags) -> tuple[list[int], list[int]]:
    """As `gold_nodes`, where the content is known by what a reader sees, in document order."""
    is_content = np.zeros(len(tree), np.bool_)
    is_content[seen_nodes(tree)] = content
    return _roots(tree, is_content, ~is_content)


def _roots(tree: Tree, is_content: Flags, is_template: Flags) -> tuple[list[int], list[int]]:
    """The elements that hold the content, and those in them that are template."""
    seen = seen_nodes(tree)
    content, template = (_holds(tree, seen & flags) for flags in (is_content, is_template))
    is_element = ~tree.is_text
    own = np.zeros(len(tree), np.bool_)
    own[tree.parent[np.flatnonzero(tree.is_text & seen & is_content)]] = True
    roots = _outermost(tree, is_element & content & (~template | own))
    inside = _inside(tree, roots)
    excluded = _outermost(tree, is_element & inside & template & ~content)
    return roots.tolist(), excluded.tolist()


def html_of(page: Page, tree: Tree) -> str:
    """The page as text: as it came, or where it came as bytes as it was read."""
    if isinstance(page.html, str):
        return page.html
    return "<!DOCTYPE html>" + tree.source.decode("utf-8", "replace")


def teco_html(result: Result) -> str:
    """The page with its content marked as the TECO suite marks it: two classes on its roots.

    The suite has no mark for template inside content, so `excluded_nodes` are not in it.
    """
    tree, (roots, _) = result.tree, gold_nodes(result)
    pieces: list[bytes] = []
    done = 0
    for node in roots:
        start, stop = int(tree.start[node]), int(tree.stop[node])
        tag = tree.source[start:stop]
        attributes = tree.attributes(node)
        if "class" in attributes:
            marked = tag.replace(b' class="', b' class="%s ' % _CONTENT_MARKS, 1)
        else:
            marked = tag[:-1] + b' class="%s">' % _CONTENT_MARKS
        pieces += [tree.source[done:start], marked]
        done = stop
    pieces.append(tree.source[done:])
    return "<!DOCTYPE html>\n" + b"".join(pieces).decode("utf-8", "replace")


def is_marked(page: Page) -> bool:
    """May the page bear TECO's marks?"""
    html = page.html
    return b"notTemplate" in (html if isinstance(html, bytes) else html.encode())


def strip_marks(page: Page, limits: Limits = Limits()) -> tuple[Tree, Marks]:
    """The page's tree without TECO's marks, and what they were on.

    The page is written anew without the marks and read again: nothing of them is left, not even an
    empty `class`. Where marks have their prefix, a `mainContent` without it is the site's own.
    """
    marked, marks = parse(page, limits).tree, Marks([], [], [])
    if not is_marked(page):
        return marked, marks
    is_prefixed = _MARK.encode() in marked.source
    ends = [0] * len(marks)
    written, at = [], 0
    for node in np.flatnonzero(~marked.is_text).tolist():
        attributes = marked.attributes(node)
        classes = attributes.pop("class", "").split()
        places = {name: _place(name, is_prefixed=is_prefixed) for name in classes}
        kept = [name for name in classes if places[name] is None]
        if len(kept) == len(classes):
            continue
        for place in {place for place in places.values() if place is not None}:
            if node >= ends[place]:
                marks[place].append(element_path(marked, node))
                ends[place] = int(marked.end[node])
        if kept:
            attributes["class"] = " ".join(kept)
        start_tag = _start_tag(marked.name(node), attributes)
        written += [marked.source[at : marked.start[node]], start_tag]
        at = int(marked.stop[node])
    html = b"".join((*written, marked.source[at:]))
    return parse(Page(html, page.url, page.site, "utf-8"), limits).tree, marks


def _place(name: str, *, is_prefixed: bool) -> int | None:
    """The place in `Marks` of what has this class; None for a class that is no mark."""
    place = _PLACES.get(name.removeprefix(_PREFIX))
    return None if place and is_prefixed and not name.startswith(_PREFIX) else place


def _start_tag(name: str, attributes: Mapping[str, str]) -> bytes:
    """The start tag with these attributes."""
    written = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>".encode("utf-8", "surrogatepass")


def node_gold(tree: Tree, content: Iterable[Path], excluded: Iterable[Path]) -> NodeGold | None:
    """The gold of every node; None where a path leads nowhere in the tree.

    `content` are the paths of the content's roots, `excluded` those of elements inside that are
    template, with all that is below them.
    """
    content = list(content)
    roots, inside = _resolve(tree, content), nodes_inside(tree, content, excluded)
    if roots is None or inside is None:
        return None
    images = _holds(tree, _IMAGES[tree.tag] & tree.shown)
    judged = ~tree.is_text & tree.shown & ((tree.text_length > 0) | images)
    marks = np.zeros(len(tree), np.bool_)
    marks[roots] = True
    above = _holds(tree, marks) & ~_inside(tree, roots)
    return NodeGold(judged, judged & ~inside & ~above, judged & above)


def nodes_inside(tree: Tree, content: Iterable[Path], excluded: Iterable[Path]) -> Flags | None:
    """True for the content's roots and all below them; None where a path leads nowhere.

    What is `excluded` is not inside, nor what is below it.
    """
    roots, dropped = _resolve(tree, list(content)), _resolve(tree, list(excluded))
    if roots is None or dropped is None:
        return None
    return np.asarray(_inside(tree, roots) & ~_inside(tree, dropped))


def template_score(gold: NodeGold, tree: Tree, labels: NDArray[np.int8]) -> Score:
    """The score of the elements that are called template."""
    return _score(gold.template, gold.judged & _called(tree, labels))


def teco_score(gold: NodeGold, tree: Tree, labels: NDArray[np.int8]) -> Score:
    """The score by the rule of the TECO suite, by which what stands above the content is template.

    Labels call such an element content, because it holds some. Here it counts as called template
    if it holds both.
    """
    holds_template = _holds(tree, gold.judged & _called(tree, labels))
    return _score(gold.template | gold.above, gold.judged & holds_template)


def score(hits: int, gold: int, given: int) -> Score:
    """The score of an answer that gives `given` things, `hits` of them among the `gold` ones.

    Nothing asked for and nothing given is right: 1. Only one of the two is all wrong: 0.
    """
    if not gold and not given:
        return Score(1.0, 1.0, 1.0)
    if not hits:
        return Score(0.0, 0.0, 0.0)
    return Score(hits / given, hits / gold, 2 * hits / (gold + given))


def _score(gold: Flags, called: Flags) -> Score:
    """The score of what is called template against what is."""
    hits, wanted, given = (np.count_nonzero(flags) for flags in (gold & called, gold, called))
    return score(int(hits), int(wanted), int(given))


def _called(tree: Tree, labels: NDArray[np.int8]) -> Flags:
    """The elements that are called template."""
    return np.asarray(~tree.is_text & (labels == Label.TEMPLATE.value))


def _resolve(tree: Tree, paths: Sequence[Path]) -> Ints | None:
    """The node that each path leads to; None if one leads nowhere."""
    elements = np.flatnonzero(~tree.is_text)
    by_parent = elements[np.argsort(tree.parent[elements], kind="stable")]
    bounds = np.searchsorted(tree.parent[by_parent], np.arange(len(tree) + 1))
    found = np.zeros(len(paths), np.int32)
    for number, path in enumerate(paths):
        node = 0
        for position in path:
            place = int(bounds[node]) + position
            if position < 0 or place >= bounds[node + 1]:
                return None
            node = int(by_parent[place])
        found[number] = node
    return found


def _holds(tree: Tree, marked: Flags) -> Flags:
    """True for nodes that are marked, or have a marked one below them."""
    return np.asarray(tree.sums(marked) > 0)


def _outermost(tree: Tree, marked: Flags) -> Ints:
    """The marked nodes that lie in no other marked one."""
    nodes = np.flatnonzero(marked).astype(np.int32)
    reach = np.maximum.accumulate(tree.end[nodes])
    return nodes[np.concatenate(([True], nodes[1:] >= reach[:-1]))[: len(nodes)]]


def _inside(tree: Tree, nodes: Ints) -> Flags:
    """True for these nodes and all below them."""
    steps = np.zeros(len(tree) + 1, np.int32)
    np.add.at(steps, nodes, 1)
    np.add.at(steps, tree.end[nodes], -1)
    return np.asarray(np.cumsum(steps[:-1]) > 0)
