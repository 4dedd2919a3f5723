"""The compiled kernel (`src/kernel`), as its few callers see it."""

from collections.abc import Callable
from typing import Any, Final, TypeVar, final

Link = TypeVar("Link")

Buffer = Any
"""Something with memory of its own, without gaps: bytes or an array."""

TAG_NAMES: Final[tuple[str, ...]]
TAG_SETS: Final[dict[str, tuple[str, ...]]]

@final
class Tree:
    """The nodes of a page in arrays, as views that nobody can write to."""

    source: Final[bytes]
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

def scan(
    source: bytes, max_depth: int, ask: Callable[[], tuple[bytes, bytes, bytes, bytes]], /
) -> Tree: ...
def label(tree: Tree, scores: Buffer, /) -> tuple[bytearray, bytearray]: ...
def signs(markdown: str, /) -> int: ...
def smooth(
    unit: float,
    parent: Buffer,
    depth: Buffer,
    level: Buffer,
    weight: Buffer,
    penalty: Buffer,
    values: Buffer,
    /,
) -> bytearray: ...
def text(tree: Tree, labels: Buffer, /) -> tuple[str, bool]: ...
def lines(tree: Tree, labels: Buffer, /) -> list[tuple[int, str]]: ...
def addresses(absolute: Any, *arrays: Buffer) -> tuple[list[Any], list[int]]: ...
def marks(most: int, *arrays: Buffer) -> tuple[list[int], list[int]]: ...
def groups(
    kinds: Buffer, tag: Buffer, ends: Buffer, kept: Buffer, /
) -> tuple[dict[int, list[int]], bytearray, list[int]]: ...
def draft(*arrays: Buffer) -> tuple[bytearray, int, int, int]: ...
def fingerprint(text: bytes, letters: bytes, small: bytes, /) -> str | None: ...
def words(text: bytes, letters: bytes, small: bytes, /) -> bytearray | None: ...
def heading(tree: Tree, node: int, /) -> str: ...
def holders(tree: Tree, /) -> tuple[list[int], bool]: ...
def judge(shift: float, pages: float, told: int, *arrays: Buffer) -> tuple[bytearray, float]: ...
def kind(pages: int, *arrays: Buffer) -> tuple[list[float], bool, int | None]: ...
def lesson(
    keys: Buffer,
    texts: Buffer,
    owner: Buffer,
    places: Buffer,
    chars: Buffer,
    surroundings: Buffer,
    low: Buffer,
    high: Buffer,
    verdict: Buffer,
    /,
) -> tuple[bytearray, tuple[int, ...]]: ...
def links(
    tree: Tree,
    labels: Buffer,
    begins: tuple[bytes, bytes, bytes],
    absolute: Callable[[str], str | None],
    link: type[Link],
    /,
) -> list[Link]: ...
def look(*arrays: Buffer) -> tuple[bytearray, tuple[bytearray, tuple[int, ...]]]: ...
def merge(
    columns: int,
    pages: int,
    keys: Buffer,
    count: Buffer,
    last: Buffer,
    sums: Buffer,
    other_keys: Buffer,
    other_count: Buffer,
    other_last: Buffer,
    other_sums: Buffer,
    /,
) -> bytearray: ...
def merge_all(
    sums: bytes,
    pages: int,
    memory: Buffer,
    rows: tuple[int, ...],
    other_memory: Buffer,
    other_rows: tuple[int, ...],
    /,
) -> tuple[bytearray, tuple[int, ...]]: ...
def network(
    rows: Buffer,
    hidden: Buffer,
    hidden_bias: Buffer,
    output: Buffer,
    output_bias: Buffer,
    floor: Buffer,
    ceiling: Buffer,
    /,
) -> bytearray: ...
def pool(looks: Buffer, weight: Buffer, /) -> bytearray: ...
def read(
    width: int, heading: int, title: int, head: int, *arrays: Buffer
) -> tuple[bytearray, int, int]: ...
def shape(
    absolute: Callable[[str], str | None],
    language: Callable[[bytes, bool], str | None],
    is_word: Callable[[str], bool],
    is_power: Callable[[str], object],
    *arrays: Buffer,
) -> str | None: ...
def share(tree: Tree, labels: Buffer, /) -> float: ...
def spread(
    blocks: Buffer, lengths: Buffer, segments: Buffer, owner: Buffer, end: Buffer, shown: Buffer, /
) -> bytearray: ...
def stated(
    tree: Tree, labels: Buffer, names: bytes, max_headings: int, max_title: int, /
) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, str]], bool, bool, str, list[str]]: ...
def tagged(tree: Tree, tag: int, /) -> list[int]: ...
def threshold(probabilities: Buffer, chars: Buffer, /) -> tuple[float, float]: ...
def usual(least: float, alive: int, before: int, *arrays: Buffer) -> tuple[int, int, int]: ...
