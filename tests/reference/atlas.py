"""What the atlas of themes says of each block."""

from __future__ import annotations

import numpy as np

from dehusk.methods.auto.atlas import Atlas
from dehusk.page.hashing import PATH_FACTOR, TEXT_FACTOR, Hashes, mix
from dehusk.page.tree import ATTRIBUTE, Floats, Tree
from reference.learning import Reading
from reference.reading import classes_hash


def theme_keys(tree: Tree, page: Reading) -> Hashes:
    """Of each element that holds a block: its tag, classes and id, and the same of the nearest
    element above that has a class or an id; 0 for other nodes. Names with a digit do not count.
    """
    wanted = set[int]()
    for container in page.blocks.container.tolist():
        node = container
        while node >= 0:
            wanted.add(node)
            node = int(tree.parent[node])
    keys, above = np.zeros(len(tree), np.uint64), dict[int, int]()
    for node in sorted(wanted):
        own, outer = int(tree.own_hash[node]), above.get(int(tree.parent[node]), 0)
        names = 0
        for name, value in ATTRIBUTE.findall(tree.source[tree.start[node] : tree.stop[node]]):
            if name in (b"class", b"id") and classes_hash(value) != classes_hash(b""):
                names += 1
                own += classes_hash(value) * (PATH_FACTOR if name == b"class" else TEXT_FACTOR)
        own = _mixed(own)
        above[node] = own if names else outer
        keys[node] = _mixed(own + PATH_FACTOR * outer)
    return keys


def lean(tree: Tree, page: Reading, atlas: Atlas) -> Floats:
    """The strongest that is said of a block's container or of what stands around it, as a logit."""
    said = dict(zip(atlas.keys.tolist(), atlas.leans.tolist(), strict=True))
    keys, found = theme_keys(tree, page).tolist(), []
    for container in page.blocks.container.tolist():
        node, strongest = container, 0
        while node >= 0:
            own = said.get(keys[node], 0)
            strongest = own if abs(own) > abs(strongest) else strongest
            node = int(tree.parent[node])
        found.append(strongest / 16)
    return np.array(found, np.float64)


def _mixed(total: int) -> int:
    return int(mix(np.array([total % 2**64], np.uint64))[0])
