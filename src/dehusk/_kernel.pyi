"""The compiled kernel (`src/kernel`), as its few callers see it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

Buffer = bytes | bytearray | memoryview | NDArray[Any]
"""Something with memory of its own, without gaps."""
Labels = NDArray[np.int8]
"""Of each node of a tree, the number of its label."""

TAG_NAMES: Final[tuple[str, ...]]
TAG_SETS: Final[dict[str, tuple[str, ...]]]

_Features = tuple[tuple[str, str, int, int, int, str], ...]
"""Group, name, where it stands, how many numbers, the count from which on more makes no difference,
meaning: the rows of `features.def`."""

PAGE_FEATURES: Final[_Features]
EVIDENCE: Final[_Features]
SITE_FEATURES: Final[_Features]
CONFIDENCE_FEATURES: Final[int]

@final
class Tree:
    """The nodes of a page in arrays, as views that nobody can write to."""

    source: Final[bytes]
    source_size: Final[int]
    own_hash: Final[memoryview]
    path_hash: Final[memoryview]
    parent: Final[memoryview]
    end: Final[memoryview]
    depth: Final[memoryview]
    start: Final[memoryview]
    stop: Final[memoryview]
    close: Final[memoryview]
    text_length: Final[memoryview]
    link_length: Final[memoryview]
    tag: Final[memoryview]
    shown: Final[memoryview]
    raw: Final[memoryview]

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

def build(
    html: str | bytes, max_depth: int, max_elements: int, is_decoded: bool, /
) -> Tree | None: ...
def scan(
    source: bytes, max_depth: int, ask: Callable[[], tuple[bytes, bytes, bytes, bytes]], /
) -> Tree: ...
def label(tree: Tree, scores: NDArray[np.float64], /) -> tuple[bytearray, bytearray]: ...
def smooth(
    unit: float,
    parent: NDArray[np.int32],
    depth: NDArray[np.int32],
    level: NDArray[np.int32],
    weight: NDArray[np.float64],
    penalty: NDArray[np.float64],
    values: NDArray[np.float64],
    /,
) -> bytearray: ...
def text(tree: Tree, labels: Labels, formulas: bytes, latex: bytes, /) -> tuple[str, bool]: ...
def lines(
    tree: Tree, labels: Labels, formulas: bytes, latex: bytes, /
) -> list[tuple[int, str]]: ...
def one_line(json: bytes, /) -> bytes: ...
def map_large() -> None: ...
def trim() -> None: ...
def fingerprint(text: bytes, letters: bytes, small: bytes, /) -> str | None: ...
def words(text: bytes, letters: bytes, small: bytes, /) -> bytearray | None: ...
def formula_signs(tree: Tree, /) -> tuple[bytes, bool]: ...
def short_anchors(tree: Tree, /) -> bytes: ...
def image_source(tree: Tree, node: int, /) -> str | None: ...
def images(tree: Tree, url: bytes, /) -> tuple[bytearray, bytearray]: ...
def heading(tree: Tree, node: int, /) -> str: ...
def holders(tree: Tree, /) -> tuple[list[int], bool]: ...
def links(
    tree: Tree,
    labels: Labels,
    begins: tuple[bytes, bytes, bytes],
    absolute: Callable[[str], str | None],
    /,
) -> bytes: ...
def visible(tree: Tree, /) -> bytearray: ...
def characters(tree: Tree, labels: Labels, /) -> tuple[int, int]: ...
def marked(
    tree: Tree,
    labels: Labels,
    authors: bytes,
    dates: bytes,
    starts: bytes,
    links: bytes,
    headline: int,
    is_head_only: bool,
    wanted: int,
    max_text: int,
    max_marks: int,
    /,
) -> list[tuple[int, int, int, int, int, int, tuple[str, ...], str, str]]: ...
def stated(
    tree: Tree, names: bytes, max_headings: int, max_title: int, max_script: int, /
) -> tuple[
    list[str],
    list[tuple[str, str]],
    list[tuple[str, str]],
    list[str],
    str,
    list[tuple[int, int, str, int]],
]: ...
def tagged(tree: Tree, tag: int, /) -> list[int]: ...

@final
class Reading:
    """A page as `auto` reads it, as arrays over its blocks and segments."""

    places: Final[memoryview]
    """Of each block, a hash of the path, tags and classes, that its container stands at."""
    surroundings: Final[memoryview]
    """The same of the elements at each level above the block."""
    keys: Final[memoryview]
    """Of each segment, its text at its place."""
    texts: Final[memoryview]
    """Of each segment, its text wherever it stands."""
    chars: Final[memoryview]
    link_chars: Final[memoryview]
    lengths: Final[memoryview]
    """Of each segment, its characters."""
    page_features: Final[memoryview]
    """What the page alone says of each block: `PAGE_FEATURES`."""
    segments: Final[memoryview]
    """The shown text nodes."""
    owners: Final[memoryview]
    """Of each segment, its block."""
    first: Final[memoryview]
    """Of each block, its first segment's place in `segments`."""
    container: Final[memoryview]
    """Of each block, the nearest element around it that holds blocks."""
    levels: Final[memoryview]
    """Of each block, the elements around it at each level."""
    low: Final[memoryview]
    high: Final[memoryview]
    """The runs of blocks that these elements hold."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Network:
    """A network with one hidden layer; its arrays fit together."""

    def __new__(
        cls,
        hidden: Buffer,
        hidden_bias: Buffer,
        output: Buffer,
        output_bias: Buffer,
        floor: Buffer,
        ceiling: Buffer,
    ) -> Network: ...
    def outputs(self, rows: Buffer, /) -> bytearray: ...

@final
class Lexicon:
    """What words in names and in short texts tell: each list with a line feed behind each word."""

    def __new__(
        cls, names: Buffer, name_numbers: Buffer, texts: Buffer, text_numbers: Buffer
    ) -> Lexicon: ...

@final
class Table:
    """Keys in ascending order, each with the pages it was on and the number of the last of them.

    A key may have an owner, another key that it belongs to, for tables that are asked 'what belongs
    to this?', and a row of `sums`, numbers that add up over its pages.
    """

    def __new__(
        cls,
        keys: NDArray[np.uint64] | None = None,
        count: NDArray[np.uint32] | None = None,
        last: NDArray[np.uint32] | None = None,
        owner: NDArray[np.uint64] | None = None,
        sums: NDArray[np.uint64] | None = None,
    ) -> Table: ...
    @classmethod
    def of_page(
        cls,
        keys: NDArray[np.uint64],
        page: int = 1,
        owner: NDArray[np.uint64] | None = None,
        sums: NDArray[np.uint64] | None = None,
    ) -> Table:
        """The table of one page; a key that stands there twice counts once.

        Of two owners of one key the lesser stays; its rows of sums are added up.
        """

    @classmethod
    def of_key(cls, key: int, /) -> Table:
        """The table of one page that has this key alone."""

    @property
    def least_key(self) -> int | None: ...
    @property
    def keys(self) -> NDArray[np.uint64]: ...
    @property
    def count(self) -> NDArray[np.uint32]: ...
    @property
    def last(self) -> NDArray[np.uint32]: ...
    @property
    def owner(self) -> NDArray[np.uint64] | None: ...
    @property
    def sums(self) -> NDArray[np.uint64] | None: ...
    @property
    def size_bytes(self) -> int: ...
    def alive(self, lives: NDArray[np.float64], pages: int) -> Table:
        """The rows that are not past their life time, which `lives` gives by count."""

    def __len__(self) -> int: ...
    def plus(self, other: Table, /) -> Table:
        """Both tables added up, whichever comes first.

        StateError if one has owners and one not, or if they have not as many sums.
        """

    def then(self, later: Table, pages: int, /) -> Table:
        """This table of so many pages and the one of later pages, added up."""

    def only(self, kept: NDArray[np.bool_], /) -> Table:
        """The rows where `kept` is true."""

    def saved(self, seed: int, /) -> tuple[list[int], bytes]:
        """The shape of the table as it is saved, and its arrays; keys and owners are seeded."""

    def row(self, key: int, /) -> tuple[int, ...] | None:
        """On how many pages a key was, and its sums; None for a key that is not in the table."""

    def counts_of(self, keys: NDArray[np.uint64], /) -> NDArray[np.uint32]:
        """On how many pages each of the keys was; 0 for one that is not in the table."""

@final
class Opinion:
    """What the page network says of each block, and what the page teaches with that."""

    logits: Final[memoryview]
    content: Final[memoryview]
    """The probabilities of being content."""
    lesson: Final[dict[str, Table]]

@final
class Judgement:
    """What page and site come to, block by block."""

    content: Final[memoryview]
    """The probabilities of being content."""
    comments: Final[memoryview]
    """The probabilities of being what readers wrote below the content."""
    scores: Final[memoryview]
    """0 content … 1 template, the threshold at 0.5."""
    evidence: Final[memoryview]
    """What the other pages say: `EVIDENCE`."""
    types: Final[list[float]]
    """The probabilities of the page's types, or what the user knows."""
    threshold: Final[float]
    """From which probability on a block is kept."""

def read(tree: Tree, lexicon: Lexicon, /) -> Reading: ...
def opinion(reading: Reading, network: Network, /) -> Opinion: ...
def opinion_of_logits(reading: Reading, logits: Buffer, /) -> Opinion: ...
def judge(
    reading: Reading,
    opinion: Opinion,
    tables: Mapping[str, Table],
    pages: int,
    type_network: Network,
    site_network: Network,
    context_network: Network,
    shift: float,
    known_type: int = -1,
    atlas: tuple[NDArray[np.uint64], NDArray[np.int8], float] | None = None,
    copies: int = 1,
) -> Judgement: ...
def theme_keys(reading: Reading, /) -> bytearray: ...
def kind(
    reading: Reading,
    opinion: Opinion,
    tables: Mapping[str, Table],
    pages: int,
    network: Network,
) -> tuple[list[float], bool, int]: ...
def site_features(
    reading: Reading,
    opinion: Opinion,
    tables: Mapping[str, Table],
    pages: int,
    types: Buffer,
    copies: int = 1,
) -> bytearray: ...
def type_features(reading: Reading, opinion: Opinion, /) -> bytearray: ...
def confidence_features(
    content: Buffer,
    comments: Buffer,
    chars: Buffer,
    types: Sequence[float],
    threshold: float,
    removed: float,
    /,
) -> bytearray: ...
def spread(reading: Reading, values: Buffer, /) -> bytearray: ...
def copies(tables: Mapping[str, Table], lesson: Mapping[str, Table], /) -> int: ...
def is_template_new(tables: Mapping[str, Table], pages: int, /) -> bool: ...
def markdown(
    tree: Tree,
    labels: Labels,
    absolute: Callable[[str], str | None],
    language: Callable[[bytes, bool], str | None],
    character_kind: Callable[[str], int],
    origin: bytes,
    folder: bytes,
    page: bytes,
    formulas: bytes,
    latex: bytes,
    footnotes: bytes,
    wanted: tuple[int, int, int, int],
    /,
) -> str | tuple[str, bytes]: ...
