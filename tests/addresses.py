"""Whether a browser and dehusk mean the same node by the same address."""

from __future__ import annotations

from typing import Any

import dehusk
from dehusk.answer.marks import element_numbers, marks_of


def check_addresses(found: list[Any], result: dehusk.Result) -> int:
    """Every node of the browser's tree is the one that dehusk means by that address."""
    tree = result.tree
    numbers = element_numbers(tree)
    nodes = {number: node for node, number in numbers.items()}
    marks = marks_of(result)
    assert {number for number, *_ in marks["elements"]} == set(range(len(found)))
    texts = {(number, place) for number, place, *_ in marks["texts"]}
    count = 0
    for number, (name, runs) in enumerate(found):
        node = nodes[number]
        assert tree.name(node) == name
        own = [n for n in range(node + 1, int(tree.end[node])) if tree.parent[n] == node]
        read = [tree.text(n) for n in own if tree.is_text[n]]
        if name not in ("noscript", "template"):
            assert read == runs, (number, name)
            assert {(number, place) for place in range(len(runs))} <= texts
        count += 1 + len(runs)
    return count
