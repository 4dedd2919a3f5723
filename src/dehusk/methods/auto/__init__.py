"""The method `auto`: what the page looks like and what its site has taught, judged together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.errors import SettingError
from dehusk.memory import Memory, Table, limited
from dehusk.methods.auto.atlas import NO_ATLAS, load_atlas
from dehusk.methods.auto.confidence import (  # fmt: skip
    Judged,
    confidence_features,
    is_comment,
    is_little_dropped,
    most_sure,
    site_removed,
)
from dehusk.methods.auto.model import Model, load_model
from dehusk.methods.auto.reasons import REASONS, Reason, evidence_on, reasons_of
from dehusk.methods.contract import Assessment, Explanation, FamilySeen, Verdict
from dehusk.page.hashing import Hashes, digest
from dehusk.page.tree import Flags, Floats, Ints, Tree
from dehusk.page.urls import base_of
from dehusk.settings import Comments, Favour, PageType

_SHIFTS: Final[dict[str, float]] = {
    Favour.PRECISION: -1.0, Favour.BALANCE: 0.0, Favour.RECALL: 1.0,
}  # fmt: skip
"""What is added to the logits of content."""
_UNSURE: Final = 0.35
"""A type of lower probability is no better than a guess among seven: `other`."""
_LEAST_SURE: Final = 0.3
"""A page on which nothing is content so probably has none: of 10,028 pages of articles-, docs-,
facts-, news-, sites- and wcxb-dev these were 13, which all came without their content."""
_MAX_URL: Final = 2_000
"""Characters of an address that relative ones are behind: each image of a page repeats it."""
_NUMBERS: Final = 999_999
"""Two of 256 families have one number on one site in thirty."""
ATLAS_PAGES: Final = 5
"""Pages of a site on which the atlas is asked."""
MAX_FAMILIES: Final = 256
"""Families that are remembered."""
_MAX_CONTENTS, _MAX_ADDRESSES = 8_000, 2_000
"""Rows of sketches, 32 a page, and addresses that are remembered: of about as many pages as their
segments are."""
MAX_COPIES: Final = 8
"""Pages that say the same and are learned: versions and print pages have templates of their own,
but a million copies must not drown what else the site says."""
_MIN_IMAGE_PAGES: Final = 3
"""Other pages that have an image which is template, and more than half of all others have it.

Of 8,403 pages of docs-dev, sites-dev and repeats-dev, asked in order, that takes 4,387 of the 4,889
images in the content that most pages of their sites have (arrows, badges of members, buttons of
forums), and one of the 6,407 that a quarter or fewer have. With 2 pages it takes 118 more of the
former and one more of the latter, with 5 it misses 353; from 0.4 of the pages on, smileys go too.
"""
_KNOWN, _MOSTLY_KNOWN = 0.9, 0.5
"""The share of a copy's texts that are known at their places from which on it teaches nothing; and
where there are copies enough. A site may have a new template, and its pages be alike."""


@dataclass(frozen=True, slots=True)
class Auto:
    """What the page looks like and what its site has taught, judged region by region.

    A small network reads the look of each block of text. A second one weighs that against the
    site: how often the text, and any text at that place, was on other pages, how the first network
    judged that place there, and the same for all that stands around the block. What it has to
    say is carried along the page, in both directions, and a third one decides by what arrives at a
    block.
    """

    favour: str = Favour.BALANCE.value
    """`precision`, `balance` or `recall`."""
    comments: str = Comments.APART.value
    """What readers wrote below the content: `apart`, `keep` or `drop`."""
    type: str | None = None
    """What all pages are, where that is known: `article`, `forum`, `product`, `collection`,
    `listing`, `documentation` or `service`; None to find out."""
    model: str | None = None
    """A file from `dehusk train auto`; None for the model that comes with dehusk."""
    atlas: str | None = None
    """A file from `dehusk sites atlas`; None for the atlas that comes with dehusk, `none` for no
    atlas."""
    base_life: float = 40.0
    """Pages for which a segment seen once is kept: long enough for pages of a rare family to come
    again. Chosen, not swept."""
    life_factor: float = 20.0
    """How many times longer the most frequent segments are kept."""
    ages: bool = True
    """False keeps all, up to the limits, so that memories add up exactly, but for copies."""
    max_segments: int = 20_000
    """Segments that are remembered, 32 bytes each, whatever a site sends."""
    max_places: int = 6_000
    """Places that are remembered, 48 bytes each."""

    name = "auto"
    only_asked_with = ("favour", "comments", "type", "atlas")

    def __post_init__(self) -> None:
        if self.favour not in list(Favour):
            raise SettingError(f"auto: favour is one of {', '.join(Favour)}")
        if self.comments not in list(Comments):
            raise SettingError(f"auto: comments is one of {', '.join(Comments)}")
        if self.type is not None and self.type not in list(PageType):
            raise SettingError(f"auto: type is one of {', '.join(PageType)}")
        if self.model is not None and not isinstance(self.model, str):
            raise SettingError("auto: model is the name of a file")
        if self.atlas is not None and not isinstance(self.atlas, str):
            raise SettingError("auto: atlas is the name of a file")
        if not (0 < self.base_life < math.inf and 1 <= self.life_factor < math.inf):
            raise SettingError("auto: base_life must be above 0 and life_factor at least 1")
        if self.max_segments < 4 or self.max_places < 4:
            raise SettingError("auto: max_segments and max_places must be at least 4")

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        """The memory with this page added, and without what has not come back in its life time.

        A copy that says nothing new changes nothing.
        """
        news = self.news(memory, self.lesson(tree))
        return memory if news is None else self.limit(memory.then(news))

    def lesson(self, tree: Tree) -> Memory:
        """What this page alone teaches."""
        tables, (_, images) = self._own_tables(tree), tree.once(_images)
        if len(images):
            tables["texts"] = tables["texts"].plus(Table.of_page(images))
        return Memory(1, tables)

    def news(self, memory: Memory, lesson: Memory) -> Memory | None:
        """What the memory has to learn from a page; None for a copy that says nothing new, and for
        one of a page with copies enough.

        Each number of its sketch then counts the copies, this page included. So one that other
        pages had before stays as it is: phrases that many pages use make no copies. The memory of
        several pages is learned whole.
        """
        if lesson.pages > 1:
            return lesson
        copies = copies_of(memory, lesson)
        if copies and _share_known(memory, lesson) >= (
            _KNOWN if copies < MAX_COPIES else _MOSTLY_KNOWN
        ):
            return None
        said = lesson.table("contents").keys
        counts = memory.table("contents").counts_of(said)
        is_less = counts <= copies
        said, counts = said[is_less], copies + 1 - counts[is_less]
        sketch = Table(said, counts.astype(np.uint32), np.ones(len(said), np.uint32))
        return lesson.with_tables(contents=sketch)

    def limit(self, memory: Memory) -> Memory:
        """The memory within its limits."""
        most = {
            "families": MAX_FAMILIES,
            "places": self.max_places,
            "contents": _MAX_CONTENTS,
            "addresses": _MAX_ADDRESSES,
        }
        lives = self.base_life, self.life_factor
        tables = {
            name: limited(
                table, memory.pages, most.get(name, self.max_segments), *lives, ages=self.ages
            )
            for name, table in memory.tables.items()
        }
        return Memory(memory.pages, tables, memory.sequences, memory.history)

    def score(self, memory: Memory, tree: Tree) -> Floats:
        """The score of each node from a memory that has learned this page.

        A text node has its block's score, an element the mean of the text below it, by length; nan
        where there is no shown text.
        """
        return self.assess(memory, tree).scores

    def assess(self, memory: Memory, tree: Tree) -> Assessment:
        """The scores, which texts are comments, and how good the answer is likely to be."""
        page = tree.once(self._model.read)
        if not len(page):
            nothing = Judged(np.zeros(0), np.zeros(0), (), 0.5)
            comments = partial(self._comments, len(tree), page, nothing)
            return Assessment(np.full(len(tree), np.nan), comments, is_guess=True)
        # The answer holds it as long as its tree, and lets both go after a few others.
        copies = self._copies(memory, tree)
        judgement = self._judge(memory, tree, copies)
        removed = lru_cache(partial(self._removed, memory, tree, judgement))
        scores = _spread(page, self._scores(judgement))
        scores[_template_images(memory, tree, copies)] = 1.0
        return Assessment(
            scores,
            partial(self._comments, len(tree), page, judgement),
            lambda: self._confidence(page, judgement, removed()),
            removed,
            partial(self._addresses, memory, tree),
            is_guess=self._is_guess(memory, tree, judgement),
        )

    def content(self, memory: Memory, tree: Tree) -> tuple[_kernel.Reading, Floats] | None:
        """The page as it is read, and of each block the probability of being content.

        None for a page without text.
        """
        page = tree.once(self._model.read)
        if not len(page):
            return None
        return page, np.array(self._judge(memory, tree).content)

    def explain(self, memory: Memory, tree: Tree) -> Explanation:
        """What the look of each node says, what other pages say, and why it has its score.

        The site's word is the share of a text that other pages have at the same place; nan where
        no other page has that place.
        """
        nothing = np.full(len(tree), np.nan)
        page = tree.once(self._model.read)
        reason = np.full(len(tree), -1, np.int16)
        if not len(page):
            return Explanation(nothing, nothing, nothing, reason)
        copies = self._copies(memory, tree)
        judgement = self._judge(memory, tree, copies)
        content = np.asarray(self._opinion(page).content)
        is_known = evidence_on(judgement, "place_known") > 0
        site = np.where(is_known, evidence_on(judgement, "given_place"), np.nan)
        reasons = reasons_of(judgement, content, keeps_comments=self.comments == Comments.KEEP)
        reason[np.asarray(page.segments)] = reasons[np.asarray(page.owners)]
        scores, images = (
            _spread(page, self._scores(judgement)),
            _template_images(memory, tree, copies),
        )
        scores[images], reason[images] = 1.0, REASONS.index(Reason.IMAGE)
        return Explanation(
            page_score=_spread(page, 1 - content),
            site_score=_spread(page, site.astype(np.float64)),
            score=scores,
            reason=reason,
            reasons=REASONS,
        )

    def verdict(self, memory: Memory, tree: Tree) -> Verdict:
        """Of what family and type the page is, and whether its site has changed its template."""
        page = tree.once(self._model.read)
        if not len(page):
            return Verdict()
        model = self._model
        types, is_last, family = _kernel.kind(
            reading=page,
            opinion=self._opinion(page),
            tables=memory.tables,
            pages=memory.pages,
            network=model.type.kernel,
        )
        if tree.url:
            is_last = _last_page(memory.table("addresses"), _key_of(tree.url)) == memory.pages
        confidence = max(types) if self.type is None else 1.0
        likeliest = self.type or model.types[types.index(confidence)]
        return Verdict(
            family=family_number(family),
            type="other" if confidence < _UNSURE else likeliest,
            type_confidence=confidence,
            template_changed=self.has_new_template(memory) if is_last else None,
        )

    def family(self, lesson: Memory) -> int | None:
        """The family of the page that taught this: as `verdict` says, for less."""
        key = lesson.table("families").least_key
        return None if key is None else family_number(key)

    def families(self, memory: Memory) -> tuple[FamilySeen, ...]:
        """The families that the memory knows, that of most pages first."""
        return families_seen(memory.table("families"))

    def has_new_template(self, memory: Memory) -> bool:
        """True for the memory after the page that shows that the site's template has changed."""
        return _kernel.is_template_new(memory.tables, memory.pages)

    @property
    def _model(self) -> Model:
        return load_model(self.model)

    def _opinion(self, page: _kernel.Reading) -> _kernel.Opinion:
        """What the page alone says of each block; its reading keeps it."""
        return _kernel.opinion(page, self._model.page.kernel)

    def _own_tables(self, tree: Tree) -> dict[str, Table]:
        """What the page teaches, but for its images."""
        tables = self._opinion(tree.once(self._model.read)).lesson
        if tree.url:
            tables["addresses"] = Table.of_key(_key_of(tree.url))
        return tables

    def _copies(self, memory: Memory, tree: Tree) -> int:
        """How many pages of the memory say what this page says, itself included."""
        if memory.pages < 2:
            return 1
        return max(copies_of(memory, Memory(1, self._own_tables(tree))), 1)

    def _judge(self, memory: Memory, tree: Tree, copies: int | None = None) -> _kernel.Judgement:
        """What page and site come to, block by block."""
        model, page = self._model, tree.once(self._model.read)
        copies = self._copies(memory, tree) if copies is None else copies
        return _kernel.judge(
            reading=page,
            opinion=self._opinion(page),
            tables=memory.tables,
            pages=memory.pages,
            type_network=model.type.kernel,
            site_network=model.site.kernel,
            context_network=model.context.kernel,
            shift=_SHIFTS[self.favour],
            known_type=-1 if self.type is None else model.types.index(self.type),
            atlas=self._atlas(memory.pages - copies + 1),
            copies=copies,
        )

    def _atlas(self, pages: int) -> tuple[Hashes, NDArray[np.int8], float] | None:
        """The atlas and how far it is believed; None where the site has taught enough.

        It has its full say on the first page, and a fifth of that less on each page behind it.
        """
        if pages > ATLAS_PAGES or self.atlas == NO_ATLAS:
            return None
        atlas = load_atlas(self.atlas)
        return atlas.keys, atlas.leans, 1 - (max(pages, 1) - 1) / ATLAS_PAGES

    def _scores(self, judgement: _kernel.Judgement) -> Floats | memoryview:
        """The scores of blocks, with comments as content where they are to be kept."""
        if self.comments != Comments.KEEP:
            return judgement.scores
        kept = is_comment(judgement)
        return np.where(kept, 0.5 * (1 - np.asarray(judgement.comments)), judgement.scores)

    def _comments(
        self, nodes: int, page: _kernel.Reading, judged: Judged | _kernel.Judgement
    ) -> Flags | None:
        """Which nodes are texts of comments; None where nobody asked for them apart."""
        if self.comments != Comments.APART:
            return None
        found, blocks = np.zeros(nodes, np.bool_), is_comment(judged)
        if blocks.any():
            found[np.asarray(page.segments)] = blocks[np.asarray(page.owners)]
        return found

    def _removed(self, memory: Memory, tree: Tree, judgement: _kernel.Judgement) -> float:
        """The share of what the page alone would keep that its site took away."""
        page = tree.once(self._model.read)
        if memory.pages < 2 or is_little_dropped(
            judgement, self._opinion(page).content, page.chars
        ):
            return 0.0
        return site_removed(judgement, self._judge(Memory(1), tree), page.chars)

    def _is_guess(self, memory: Memory, tree: Tree, judgement: _kernel.Judgement) -> bool:
        """Is nothing on the page content, whether its site is known or not?"""
        if judgement.threshold >= _LEAST_SURE or memory.pages < 2:
            return judgement.threshold < _LEAST_SURE
        return self._judge(Memory(1), tree).threshold < _LEAST_SURE

    def _addresses(self, memory: Memory, tree: Tree) -> int:
        """At how many addresses of the site the page is, by what it says."""
        lesson = self.lesson(tree)
        copies = copies_of(memory, Memory(1, {"contents": lesson.table("contents")}))
        known = memory.table("addresses").counts_of(lesson.table("addresses").keys)
        return max(copies - int(known.sum()) + 1, 1)

    def _confidence(
        self, page: _kernel.Reading, judgement: _kernel.Judgement, removed: float
    ) -> float:
        row = confidence_features(judgement, page.chars, removed)
        logit: float = memoryview(self._model.confidence.kernel.outputs(row)).cast("d")[0]
        return min(1 / (1 + math.exp(-min(max(-30.0, logit), 30.0))), most_sure(removed))


def _key_of(url: str) -> int:
    return int.from_bytes(digest(url), "little")


def _last_page(table: Table, key: int) -> int:
    """The number of the last page that had the key; 0 for one that is not in the table."""
    found = table.last[table.keys == key]
    return int(found[0]) if len(found) else 0


def _share_known(memory: Memory, lesson: Memory) -> float:
    """The share of the texts of a lesson that the memory knows at their places."""
    segments = lesson.table("segments").keys
    known = np.count_nonzero(memory.table("segments").counts_of(segments))
    return known / max(len(segments), 1)


def copies_of(memory: Memory, lesson: Memory) -> int:
    """How many pages a memory has learned that say what the page of the lesson says, or were at its
    address.

    The page itself is one of them, if it was learned.
    """
    return _kernel.copies(memory.tables, lesson.tables)


def _images(tree: Tree) -> tuple[Ints, Hashes]:
    """The images that a page shows, and what a memory knows each by: its address, made absolute."""
    url = (base_of(tree, tree.url).url or tree.url or "")[:_MAX_URL]
    nodes, keys = _kernel.images(tree.kernel, url.encode("utf-8", "surrogatepass"))
    return np.frombuffer(nodes, np.int32), np.frombuffer(keys, np.uint64)


def _template_images(memory: Memory, tree: Tree, copies: int) -> Ints:
    """The images that most pages of the site have, copies of this one left out."""
    nodes, keys = tree.once(_images)
    least = max(_MIN_IMAGE_PAGES, (memory.pages - copies) // 2 + 1)
    if not len(nodes) or memory.pages - copies < least:
        return nodes[:0]
    return nodes[memory.table("texts").counts_of(keys) >= copies + least]


def _spread(page: _kernel.Reading, values: Floats | memoryview) -> Floats:
    """The numbers of blocks at their texts, and for each element the mean below it, by length."""
    return np.frombuffer(_kernel.spread(page, values))


def family_number(family: int) -> int:
    """A number that names the family of this key within its site, the same on every run."""
    return 1 + family % _NUMBERS


def families_seen(families: Table) -> tuple[FamilySeen, ...]:
    """What a table of families holds, that of most pages first; one number is one family."""
    found: dict[int, FamilySeen] = {}
    numbers = 1 + families.keys % np.uint64(_NUMBERS)
    columns = numbers.tolist(), families.count.tolist(), families.last.tolist()
    for number, pages, last in zip(*columns, strict=True):
        before = found.get(number, FamilySeen(number, 0, 0))
        found[number] = FamilySeen(number, before.pages + pages, max(before.last_page, last))
    return tuple(sorted(found.values(), key=lambda family: (-family.pages, family.number)))
