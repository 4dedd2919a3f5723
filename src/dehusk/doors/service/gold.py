"""Pages with known content, as records for experiments: made out of verdicts that people confirmed.

A record has `site`, `url`, `lang`, `html`, and the gold: `content` (text), `content_nodes` (the
roots of the content) and `excluded_nodes` (pieces inside them that are template). A node's path is
child positions among elements, from `<html>` down.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.answer.result import Result
from dehusk.page import tags
from dehusk.page.page import Page
from dehusk.page.tree import Flags, Ints, Tree
from dehusk.template.picking import element_path

_CORPUS: Final = "labelled"
_MARK: Final = "TECO_notTemplate"
_IMAGES: Final = tags.numbers("img", "svg", "picture", "object", "embed", "input", "image")


def gold_record(page: Page, result: Result) -> dict[str, object]:
    """The page with its verdict as gold. What stands directly beside text of the other kind, in one
    element, cannot be told apart by elements: it counts as content."""
    roots, excluded = gold_nodes(result)
    tree = result.tree
    return {
        "corpus": _CORPUS,
        "site": result.site,
        "url": result.url,
        "lang": result.description.lang,
        "html": html_of(page, tree),
        "content": result.text,
        "content_nodes": [element_path(tree, node) for node in roots],
        "excluded_nodes": [element_path(tree, node) for node in excluded],
    }


def gold_nodes(result: Result) -> tuple[list[int], list[int]]:
    """The elements that hold the content, and those in them that are template."""
    tree, labels = result.tree, result.labels.labels
    seen = ((tree.is_text & (tree.text_length > 0)) | _IMAGES[tree.tag]) & tree.shown
    content, template = (
        _holds(tree, seen & (labels == label)) for label in (Label.CONTENT, Label.TEMPLATE)
    )
    is_element = ~tree.is_text
    own = np.zeros(len(tree), np.bool_)
    texts = np.flatnonzero(tree.is_text & seen & (labels == Label.CONTENT))
    own[tree.parent[texts]] = True
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
    """The page with its content marked as the TECO suite marks it: a class on its roots.

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
            marked = tag.replace(b' class="', b' class="%s ' % _MARK.encode(), 1)
        else:
            marked = tag[:-1] + b' class="%s">' % _MARK.encode()
        pieces += [tree.source[done:start], marked]
        done = stop
    pieces.append(tree.source[done:])
    return "<!DOCTYPE html>\n" + b"".join(pieces).decode("utf-8", "replace")


def _holds(tree: Tree, marked: Flags) -> Flags:
    total = np.concatenate(([0], np.cumsum(marked)))
    return np.asarray(total[tree.end] > total[:-1])


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
