"""What the fuzzer runs: bytes into the kernel, by every way that bytes of others can get there.

    python target.py KERNEL.so [libFuzzer's own arguments]

The first byte of an input chooses the way. Whatever the sanitizers of the kernel find ends the
process, and so does every error of Python's that the way does not allow.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

KERNEL = "dehusk._kernel"
URL = "https://grain.example/a/b?c"
MAX_PAGES = 4
"""Pages of one site in an input, a form feed between them."""


def load_kernel(path: str) -> None:
    """Put the kernel at this path into the place of the one that dehusk was installed with."""
    spec = importlib.util.spec_from_file_location(KERNEL, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[KERNEL] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[KERNEL])


def use_pages(data: bytes) -> None:
    """Pages as they come from the web: learned, judged, and rendered in every form."""
    from dehusk import pipeline  # noqa: PLC0415 - after the kernel
    from dehusk.errors import PageError  # noqa: PLC0415
    from dehusk.memory import Memory  # noqa: PLC0415
    from dehusk.page.page import Page  # noqa: PLC0415

    setup, memory = pipeline.Setup(_auto()), Memory()
    for html in data.split(b"\f", MAX_PAGES - 1):
        try:
            result, learned = pipeline.clean(Page(html, URL), memory, setup)
        except PageError:
            continue
        memory = learned.memory
        _render(result)


def use_source(data: bytes) -> None:
    """Bytes in no charset, and what no parser writes: anything may come of it, but no fault."""
    from dehusk import _kernel  # noqa: PLC0415
    from dehusk.answer.labels import label  # noqa: PLC0415
    from dehusk.answer.result import Result  # noqa: PLC0415
    from dehusk.memory import Memory  # noqa: PLC0415
    from dehusk.page.page import Page  # noqa: PLC0415
    from dehusk.page.tree import Tree  # noqa: PLC0415
    from dehusk.settings import Limits  # noqa: PLC0415

    depth, flags, source = data[:1], data[1:9], data[9:]
    _kernel.build(source, 512, 1000, False)
    lengths = np.frombuffer(flags, np.int8).astype(np.int64).tobytes()
    scanned = _kernel.scan(
        source, 1 + (depth[0] if depth else 0) * 2, lambda: (flags, flags, flags, lengths)
    )
    if not len(scanned):
        return
    method, tree = _auto(), Tree(scanned, URL)
    memory = method.learn(Memory(), tree)
    labels = label(tree, method.score(memory, tree))
    _render(Result(URL, "site", 1, labels, Page("", URL), Limits(), tree))


def use_tables(data: bytes) -> None:
    """Tables out of a memory that somebody made: added up, asked, and judged by."""
    from dehusk import _kernel  # noqa: PLC0415
    from dehusk.memory import Memory  # noqa: PLC0415
    from dehusk.page.page import Page  # noqa: PLC0415
    from dehusk.page.parse import parse  # noqa: PLC0415

    tree = parse(Page("<nav>Home<a href=x>News</a></nav><h1>Rye</h1><p>Sown in autumn.")).tree
    method = _auto()
    lesson = method.lesson(tree)
    tables = {}
    for name, part in zip(lesson.tables, _parts(data, len(lesson.tables)), strict=True):
        width = len(lesson.tables[name].sums[0]) if lesson.tables[name].sums is not None else 0
        rows = max(0, len(part) // (24 + 8 * width))
        own = np.frombuffer(part[: 24 * rows], np.uint64).reshape(3, rows).copy()
        sums = np.frombuffer(part[24 * rows :][: 8 * width * rows], np.uint64)
        own[0].sort()
        tables[name] = _kernel.Table(
            own[0],
            own[1].astype(np.uint32),
            (own[1] >> np.uint64(32)).astype(np.uint32),
            own[2] if lesson.tables[name].owner is not None else None,
            sums.reshape(rows, width) if width else None,
        )
    pages = 1 + int.from_bytes(data[:4], "little")
    memory = method.limit(Memory(pages, tables).then(lesson))
    method.score(memory, tree)
    method.explain(memory, tree)
    method.verdict(memory, tree)
    method.families(memory)
    for name, table in tables.items():
        table.plus(lesson.tables[name]).counts_of(table.keys)
        table.saved(pages)


def use_arrays(data: bytes) -> None:
    """Arrays that do not fit together, which the kernel must refuse or stay within."""
    from dehusk import _kernel  # noqa: PLC0415
    from dehusk.page.page import Page  # noqa: PLC0415
    from dehusk.page.parse import parse  # noqa: PLC0415

    first, second, third, *rest = _parts(data, 6)
    tree = parse(Page(b"<h1>Rye</h1><p>Sown <a href=x>in</a> autumn.")).tree.kernel
    reading = _kernel.read(tree, _kernel.Lexicon(b"", b"", b"", b""))
    opinion = _kernel.opinion_of_logits(reading, np.zeros(len(reading)))
    calls: list[Callable[[], object]] = [
        lambda: _kernel.words(first, second, third),
        lambda: _kernel.fingerprint(first, second, third),
        lambda: _kernel.label(tree, np.frombuffer(first[: len(first) // 8 * 8])),
        lambda: _kernel.read(tree, _kernel.Lexicon(first, second, third, rest[0])),
        lambda: _kernel.text(tree, np.frombuffer(first[: len(tree)], np.int8), second, third),
        lambda: _kernel.stated(tree, first, 3, 100, 100),
        lambda: _kernel.Network(first, second, third, *rest).outputs(first),
        lambda: _kernel.site_features(reading, opinion, {}, 1, first),
        lambda: _kernel.spread(reading, first),
        lambda: _kernel.opinion_of_logits(reading, first),
        lambda: _kernel.smooth(1.0, *_forest(data)),
    ]
    for call in calls:
        try:
            call()
        except (ValueError, TypeError):
            continue


def _forest(data: bytes) -> Iterator[Any]:
    """A forest to be smoothed, of arrays of one size."""
    count = len(data) // 7
    small = np.frombuffer(data[: 7 * count], np.int8).reshape(7, count)
    yield from small[:3].astype(np.int32)
    yield from np.ldexp(1.0, small[3:5].astype(np.int32))
    yield np.sort(small[5].astype(np.float64))


def _parts(data: bytes, count: int) -> list[bytes]:
    """The data in so many parts, whose sizes its first bytes say."""
    sizes, rest = data[:count].ljust(count, b"\0"), data[count:]
    parts = []
    for size in sizes:
        parts.append(rest[: 8 * size])
        rest = rest[8 * size :]
    return parts


def _auto() -> Any:
    from dehusk.methods.auto import Auto  # noqa: PLC0415

    return Auto()


def _render(result: Any) -> None:
    """Ask a result for all that it can say."""
    result.to_json(piece_tokens=20)
    for name in ("html", "content", "template", "regions", "nodes"):
        getattr(result, name)


WAYS: tuple[tuple[Callable[[bytes], None], tuple[type[Exception], ...]], ...] = (
    (use_pages, ()),
    (use_source, (UnicodeDecodeError, ValueError)),
    (use_tables, (ValueError,)),
    (use_arrays, ()),
)
"""What to do with an input, and which errors it may end with."""


def use(data: bytes) -> None:
    """Go the way that the first byte chooses."""
    if not data:
        return
    way, allowed = WAYS[data[0] % len(WAYS)]
    try:
        way(data[1:])
    except allowed:
        return


def main() -> None:
    """Hand inputs over until the time is up; libFuzzer ends the process."""
    path, *arguments = sys.argv[1:]
    load_kernel(path)
    kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)

    def run(start: int, size: int) -> int:
        try:
            use(ctypes.string_at(start, size))
        except BaseException:  # noqa: BLE001 - ctypes would pass over it
            traceback.print_exc()
            sys.stderr.flush()
            os.abort()  # libFuzzer keeps the input.
        return 0

    words = [word.encode() for word in ("fuzz", *arguments)]
    count = ctypes.c_int(len(words))
    array = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    pointer = ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p))
    called_back = kind(run)
    driver = ctypes.PyDLL(path).LLVMFuzzerRunDriver
    sys.exit(driver(ctypes.byref(count), ctypes.byref(pointer), called_back))


if __name__ == "__main__":
    main()
