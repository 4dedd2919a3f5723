"""What a page teaches, and what the other pages of its site say of each block: the evidence.

Five tables: `segments`, a text at its place; `texts`, a text anywhere, and an image; `places`, with
sums of what stood there; `families`, where the content of a page stood; `contents`, a sketch of
what it seems to say. But for that of copies, all add up, whatever the order of the pages.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from dehusk.methods.auto.model import Lexicon
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Floats, Tree
from reference.images import images
from reference.page_features import Matrix, page_features
from reference.reading import PLACE_BITS, Blocks, Keys, cut, read_keys, read_names
from reference.sketch import sketch
from reference.steps import log1p


@dataclass(frozen=True, eq=False)
class Reading:
    """A page as `auto` reads it."""

    tree: Tree
    blocks: Blocks
    keys: Keys
    features: Matrix


def read(tree: Tree, lexicon: Lexicon) -> Reading:
    """The page as arrays."""
    names, blocks = read_names(tree, lexicon), cut(tree)
    keys = read_keys(tree, blocks, names)
    return Reading(tree, blocks, keys, page_features(tree, blocks, names, lexicon))


# --- tables ---


@dataclass(eq=False)
class Table:
    """Of each key: the pages it was on, the last of them, and sums over its pages."""

    count: Counter[int] = field(default_factory=Counter)
    last: dict[int, int] = field(default_factory=dict)
    sums: dict[int, list[int]] = field(default_factory=dict)

    @staticmethod
    def of_page(keys: Hashes, sums: Matrix | None = None) -> Table:
        """The table of one page; a key that stands there twice counts once, its sums add up."""
        table = Table(Counter(set(keys.tolist())), dict.fromkeys(keys.tolist(), 1))
        if sums is not None:
            table.sums = {key: [0] * sums.shape[1] for key in table.count}
            for key, row in zip(keys.tolist(), sums.tolist(), strict=True):
                table.sums[key] = [int(a + b) for a, b in zip(table.sums[key], row, strict=True)]
        return table

    def then(self, later: Table, pages: int) -> Table:
        """Both added up; the later pages come behind so many."""
        both = Table(self.count + later.count, dict(self.last), dict(self.sums))
        for key, last in later.last.items():
            both.last[key] = max(self.last.get(key, 0), last + pages)
        for key, row in later.sums.items():
            own = self.sums.get(key, [0] * len(row))
            both.sums[key] = [a + b for a, b in zip(own, row, strict=True)]
        return both

    def times(self, pages: int) -> Table:
        """The table of so many copies of the page."""
        counts = Counter({key: count * pages for key, count in self.count.items()})
        sums = {key: [pages * own for own in row] for key, row in self.sums.items()}
        return Table(counts, self.last, sums)

    def counts_of(self, keys: Hashes) -> Floats:
        """On how many pages each of the keys was."""
        return np.array([self.count[key] for key in keys.tolist()], np.float64)

    def sums_of(self, keys: Hashes) -> Floats:
        """The sums of each of the keys."""
        return np.array([self.sums.get(key, [0] * 4) for key in keys.tolist()], np.float64)


Tables = dict[str, Table]

_SEGMENTS, _CHARS, _CONTENT, _WEIGHT = range(4)
"""Columns of sums in `places`: different segments on each page, characters, the page network's
probabilities by weight, and that weight."""
_UNIT = 1000
"""Probabilities are summed in thousandths."""


def lesson(page: Reading, content: Floats) -> Tables:
    """What one page teaches; `content` is the page network's probability for each block."""
    blocks, keys = page.blocks, page.keys
    is_first = np.zeros(len(keys.keys))
    is_first[np.unique(keys.keys, return_index=True)[1]] = 1
    weight = np.sqrt(blocks.chars)
    sums = np.stack(
        (
            blocks.sums(is_first),
            blocks.chars,
            np.rint(_UNIT * weight * content),
            np.rint(_UNIT * weight),
        ),
        axis=1,
    )
    pictures = np.array([*images(page.tree).values()], np.uint64)
    return {
        "contents": Table.of_page(sketch(page.tree, page.blocks, page.features, content)),
        "families": Table.of_page(family_of(page, content)),
        "places": Table.of_page(keys.places, sums),
        "segments": Table.of_page(keys.keys),
        "texts": Table.of_page(np.concatenate((keys.texts, pictures))),
    }


def then(before: Tables, later: Tables, pages: int) -> Tables:
    """The tables of these pages followed by later ones."""
    return {name: before.get(name, Table()).then(later[name], pages) for name in later}


_MOST = 0.7
"""The share of a page's content that the element naming its family holds at least."""


def family_of(page: Reading, content: Floats) -> Hashes:
    """The place of the smallest element around the page's main block that holds most content.

    It depends on the page alone, so that the families of two memories add up. Empty for a page
    without text.
    """
    if not len(page.blocks):
        return page.keys.places
    main, level = find_family(page, content)
    return page.keys.surroundings[main, [level]]


def find_family(page: Reading, content: Floats) -> tuple[int, int]:
    """The main block, and the level of the element around it that names the page's family."""
    chars = content * page.blocks.chars
    main = int(chars.argmax())
    holds = page.blocks.around(chars)[main] >= _MOST * np.cumsum(chars)[-1]
    return main, int(holds.argmax()) if holds.any() else -1


# --- evidence ---

_OWN = (
    "pages", "many_pages", "family_pages", "family_share", "share", "known", "given_place",
    "anywhere", "known_anywhere", "place_share", "repeats", "place_known", "segments",
    "segments_a_page", "length", "variety", "family_place", "page_family_place",
    "page_known", "page_given_place",
)  # fmt: skip
_AROUND = ("share", "known", "given_place", "known_anywhere", "place_new", "repeats", "variety")
"""What is said of a block's surroundings, level by level."""


def evidence(
    tables: Tables, pages: int, page: Reading, content: Floats, copies: int = 1
) -> tuple[Matrix, Floats]:
    """One row of numbers per block, from the other pages of the site, and what the page network
    made of the blocks that stood at the same place before; without any, of this block itself.

    The memory has learned this page, and so many copies with it: their part is taken out. Without
    other pages all are 0, but for the places around, which are new.
    """
    own = {name: table.times(copies) for name, table in lesson(page, content).items()}
    others = max(pages - copies, 0)
    places = page.keys.places
    at_place = np.maximum(tables["places"].counts_of(places) - own["places"].counts_of(places), 0)
    all_sums, counts = tables["places"].sums_of(places), tables["places"].counts_of(places)
    sums = all_sums - own["places"].sums_of(places)
    # The copies had less there than the page has.
    shares = all_sums * at_place[:, None] / np.maximum(counts, 1)[:, None]
    sums = np.where((sums < 0).any(axis=1, keepdims=True), shares, sums)
    sums[at_place <= 0] = 0
    segments = np.maximum(sums[:, _SEGMENTS], 1)
    found = _of_pages(tables, own, page, others) | _of_texts(tables, own, page, at_place, others)
    repeated = _repeated(tables["segments"], own["segments"], places)
    a_page = sums[:, _SEGMENTS] / np.maximum(at_place, 1)
    different = _different(tables["segments"], own["segments"], places)
    variety = np.divide(different, a_page, out=np.zeros(len(places)), where=a_page > 0)
    found |= _of_families(tables, own, page, others)
    found |= {
        "place_share": np.minimum(at_place / max(others, 1), 1),
        "repeats": np.where(at_place > 0, np.minimum(repeated / segments, 1), 0),
        "place_known": (at_place > 0).astype(np.float64),
        "place_new": (at_place == 0).astype(np.float64),
        "segments": log1p(np.minimum(sums[:, _SEGMENTS], 500)) / 5,
        "segments_a_page": log1p(a_page) / 3,
        "length": log1p(sums[:, _CHARS] / segments) / 5,
        "variety": log1p(np.maximum(variety - 1, 0)),
    }
    found |= {
        "page_known": _mean_of_content(page, content, found["known_anywhere"]),
        "page_given_place": _mean_of_content(page, content, found["given_place"]),
    }
    columns = [found[name][:, None] for name in _OWN]
    columns += [mean_around(page, found[name]) for name in _AROUND]
    mean = np.minimum(sums[:, _CONTENT] / np.maximum(sums[:, _WEIGHT], 1), 1)
    before = np.where(sums[:, _WEIGHT] > 0, mean, content)
    return np.concatenate(columns, axis=1, dtype=np.float32), before


def _of_pages(tables: Tables, own: Tables, page: Reading, others: int) -> dict[str, Floats]:
    """How much of the site, and of the page's family, has been seen."""
    family = _others(tables, own, "families", np.array([*own["families"].count], np.uint64)).sum()
    numbers = {
        "pages": log1p(min(others, 60)),
        "many_pages": others / (others + 3),
        "family_pages": log1p(min(family, 60)),
        "family_share": min(family / max(others, 1), 1),
    }
    return {name: np.full(len(page.blocks), number) for name, number in numbers.items()}


def _of_texts(
    tables: Tables, own: Tables, page: Reading, at_place: Floats, others: int
) -> dict[str, Floats]:
    """What share of each block's text other pages have."""
    seen = max(others, 1)
    count = _others(tables, own, "segments", page.keys.keys)
    anywhere = _others(tables, own, "texts", page.keys.texts)
    shares = {
        "share": count / seen,
        "known": count > 0,
        "given_place": count / np.maximum(at_place, 1)[page.blocks.owner],
        "anywhere": anywhere / seen,
        "known_anywhere": anywhere > 0,
    }
    return {
        name: page.blocks.sums(np.minimum(share, 1) * page.blocks.lengths) / page.blocks.chars
        for name, share in shares.items()
    }


def _of_families(tables: Tables, own: Tables, page: Reading, others: int) -> dict[str, Floats]:
    """On what share of the pages the content stood at the place of an element around each block,
    the highest; and the highest of the page.
    """
    count = _others(tables, own, "families", page.keys.surroundings.ravel())
    shares = np.zeros(len(page.tree))
    shares[page.blocks.levels.ravel()] = np.minimum(count / max(others, 1), 1)
    for node, parent in enumerate(page.tree.parent.tolist()):
        shares[node] = max(shares[node], shares[parent] if parent >= 0 else 0)
    highest = np.full(len(page.blocks), shares.max())
    return {"family_place": shares[page.blocks.container], "page_family_place": highest}


def mean_around(page: Reading, values: Floats) -> Floats:
    """The mean of a number over the surroundings of each block, by characters, level by level."""
    chars = np.maximum(page.blocks.around(page.blocks.chars), 1)
    return np.asarray(page.blocks.around(values * page.blocks.chars) / chars)


def _mean_of_content(page: Reading, content: Floats, values: Floats) -> Floats:
    """The mean of a number over what the page seems to say, by characters: one for all blocks."""
    weight = content * page.blocks.chars
    # Added up one after another, as the kernel does.
    total = np.cumsum(weight)[-1] if len(weight) else 0.0
    mean = np.cumsum(weight * values)[-1] / max(float(total), 1e-9) if len(weight) else 0.0
    return np.full(len(page.blocks), mean)


def _others(tables: Tables, own: Tables, name: str, keys: Hashes) -> Floats:
    """On how many other pages each key was."""
    return np.maximum(tables[name].counts_of(keys) - own[name].counts_of(keys), 0)


def _repeated(table: Table, own: Table, places: Hashes) -> Floats:
    """Of each block's place, the segments there that other pages share, each as often as it came.

    A segment that only this page shares with one other does not count as shared.
    """
    repeated: Counter[int] = Counter()
    for key, count in table.count.items():
        others = max(count - own.count[key], 0)
        repeated[key >> int(PLACE_BITS)] += others if others >= 2 else 0
    return np.array([repeated[key] for key in (places >> PLACE_BITS).tolist()], np.float64)


def _different(table: Table, own: Table, places: Hashes) -> Floats:
    """Of each block's place, how many different segments other pages have there."""
    others = [key for key, count in table.count.items() if count > own.count[key]]
    different = Counter(key >> int(PLACE_BITS) for key in others)
    return np.array([different[key] for key in (places >> PLACE_BITS).tolist()], np.float64)
