"""`dehusk bench sources`: what reading web archives costs, in time and in memory."""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from dehusk.errors import SourceError, UsageError
from dehusk.memory.session import Session
from dehusk.output.formats import Shape
from dehusk.page.page import Page
from dehusk.sources import read_pages
from dehusk_bench.options import add_report, positive
from dehusk_bench.speed.archives import EndlessArchive, records
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Read a synthetic WARC (a request, a response and a metadata record for each page, as Common"
    " Crawl has them) plain, packed by gzip and by zstd, with dehusk, bare fastwarc and warcio, in"
    " turns: CPU time, megabytes a second, and ratios. With --gigabytes, watch the resident memory"
    " while so much is read as it is made."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    parser.add_argument(
        "archives",
        nargs="*",
        metavar="WARC",
        help="read these files instead of a synthetic archive",
    )
    parser.add_argument(
        "--pages",
        type=positive,
        default=500,
        metavar="N",
        help="pages of the synthetic archive (default: %(default)s)",
    )
    parser.add_argument(
        "--rounds",
        type=positive,
        default=5,
        metavar="N",
        help="times that each archive is read; the median counts (default: %(default)s)",
    )
    parser.add_argument(
        "--gigabytes",
        type=positive,
        metavar="N",
        help="watch the memory over an archive of so many gigabytes, unpacked",
    )
    parser.add_argument(
        "--clean",
        action="store_true",
        help="with --gigabytes: clean the pages too, to their JSON lines",
    )
    add_report(parser)


RIVAL: Final = "fastwarc"
_GIGABYTE: Final = 10**9
_STEPS: Final = 10
_STATM: Final = Path("/proc/self/statm")

Reader = Callable[[Path], tuple[int, int]]
"""Reads an archive; the pages in it, and their bytes."""


@dataclass(slots=True)
class Timing:
    """The CPU seconds of one contender on one archive, by round, and what it read."""

    archive: str
    contender: str
    megabytes: float
    """Of the file, unpacked."""
    seconds: list[float] = field(default_factory=list)
    pages: int = 0
    page_bytes: int = 0


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table. Raises UsageError."""
    if arguments.gigabytes:
        return _run_memory(arguments)
    with tempfile.TemporaryDirectory() as folder:
        archives = [Path(name) for name in arguments.archives]
        archives = archives or _write_archives(Path(folder), arguments.pages)
        timings = _time(archives, arguments.rounds)
    _print(_table(timings, markdown=arguments.markdown))
    rows = [
        {
            "archive": each.archive,
            "contender": each.contender,
            "megabytes": each.megabytes,
            "pages": each.pages,
            "cpu_s": each.seconds,
        }
        for each in timings
    ]
    _save(arguments.json, rows)
    return 0


def _write_archives(folder: Path, pages: int) -> list[Path]:
    """The same archive plain, packed by gzip, and by zstd where that is installed."""
    packers: dict[str, Callable[[bytes], bytes]] = {
        "synthetic.warc.gz": lambda data: gzip.compress(data, 6),
        "synthetic.warc": lambda data: data,
    }
    try:
        import zstandard  # noqa: PLC0415  an extra

        packers["synthetic.warc.zst"] = zstandard.ZstdCompressor(write_checksum=True).compress
    except ImportError:
        pass
    for name, pack in packers.items():
        with (folder / name).open("wb") as file:
            file.writelines(map(pack, records(pages)))
    return [folder / name for name in packers]


def _time(archives: Sequence[Path], rounds: int) -> list[Timing]:
    """The times of all contenders, who take turns on each archive in every round."""
    readers = _readers()
    timings: list[Timing] = []
    for path in archives:
        megabytes = _plain_size(path) / 1e6
        rows = [Timing(path.name, name, megabytes) for name in readers]
        for turn in range(rounds):
            order = rows[turn % len(rows) :] + rows[: turn % len(rows)]
            for row in order:
                with _garbage_kept():
                    began = time.process_time()
                    row.pages, row.page_bytes = readers[row.contender](path)
                    row.seconds.append(time.process_time() - began)
        timings += [row for row in rows if row.pages]
    return timings


def _plain_size(path: Path) -> int:
    """The bytes of an archive, unpacked."""
    from dehusk.sources.compression import open_unpacked  # noqa: PLC0415

    total = 0
    with open_unpacked(path, str(path)) as stream:
        while data := stream.take(1 << 20):
            total += len(data)
    return total


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """No garbage collection inside, so that nobody's clock runs for another's garbage."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _readers() -> dict[str, Reader]:
    """The contenders that are installed: dehusk, bare fastwarc, warcio."""
    readers: dict[str, Reader] = {"dehusk": _read_dehusk}
    try:
        with warnings.catch_warnings():
            # It warns of its own older names when it is loaded.
            warnings.simplefilter("ignore", DeprecationWarning)
            from fastwarc.warc import ArchiveIterator, WarcRecordType  # noqa: PLC0415  an extra

        readers[RIVAL] = _fastwarc_reader(ArchiveIterator, WarcRecordType.response)
    except ImportError:
        sys.stderr.write("fastwarc is not installed: pip install 'dehusk-bench[peers]'\n")
    try:
        from warcio.archiveiterator import ArchiveIterator as Other  # noqa: PLC0415  an extra

        readers["warcio"] = _warcio_reader(Other)
    except ImportError:
        sys.stderr.write("warcio is not installed: pip install 'dehusk-bench[peers]'\n")
    return readers


def _read_dehusk(path: Path) -> tuple[int, int]:
    """As `dehusk clean` reads: every page with URL, site and charset."""
    count = size = 0
    for item in read_pages([str(path)]):
        if isinstance(item, Page):
            count, size = count + 1, size + len(item.html)
    return count, size


def _fastwarc_reader(iterator: Any, responses: Any) -> Reader:
    """Bare fastwarc: only responses, HTTP headers parsed, each body read as it is."""

    def read(path: Path) -> tuple[int, int]:
        count = size = 0
        with path.open("rb") as file:
            for record in iterator(file, record_types=responses, parse_http=True):
                count, size = count + 1, size + len(record.reader.read())
        return count, size

    return read


def _warcio_reader(iterator: Any) -> Reader:
    """warcio: each response's body, decoded. It reads no zstd."""

    def read(path: Path) -> tuple[int, int]:
        count = size = 0
        if path.suffix == ".zst":
            return 0, 0
        with path.open("rb") as file:
            for record in iterator(file):
                if record.rec_type == "response":
                    count, size = count + 1, size + len(record.content_stream().read())
        return count, size

    return read


def _table(timings: Sequence[Timing], *, markdown: bool) -> str:
    """A row for each contender on each archive, with its ratio to bare fastwarc."""
    rivals = {each.archive: median(each.seconds) for each in timings if each.contender == RIVAL}
    header = ["archive", "reader", "pages", "CPU s", "best", "MB/s", f"× {RIVAL}"]
    rows = []
    for each in timings:
        middle = median(each.seconds)
        rival = rivals.get(each.archive)
        rows.append([
            each.archive,
            each.contender,
            str(each.pages),
            number(middle),
            number(min(each.seconds)),
            number(each.megabytes / middle, 0),
            number(middle / rival if rival else None, 2),
        ])  # fmt: skip
    return table(header, rows, markdown=markdown)


def _run_memory(arguments: argparse.Namespace) -> int:
    """Read an archive that is made meanwhile, and print the resident memory as it goes on."""
    if not _STATM.exists():
        raise UsageError("--gigabytes watches the memory through /proc, which is not here")
    total = arguments.gigabytes * _GIGABYTE
    seen: list[tuple[float, float]] = []

    def watch(left: int) -> None:
        if total - left >= len(seen) * total / _STEPS:
            seen.append(((total - left) / _GIGABYTE, _resident_megabytes()))

    began = time.process_time()
    pages = 0
    sites = Session() if arguments.clean else None
    for item in read_pages(["-"], stdin=EndlessArchive(total, watch)):  # type: ignore[arg-type]
        if not isinstance(item, Page):
            raise SourceError(str(item.error))
        pages += 1
        if sites:
            Shape().data(sites.add(item))
    seconds = time.process_time() - began
    header = ["GB read", "resident MB"]
    rows = [[number(read, 1), number(resident, 0)] for read, resident in seen]
    _print(table(header, rows, markdown=arguments.markdown))
    rest = [resident for _, resident in seen[1:]]
    done = "read and cleaned" if sites else "read"
    _print(
        f"{pages:,} pages {done} in {seconds:.0f} s of CPU; from {number(seen[1][0], 1)} GB on"
        f" the resident memory stayed between {min(rest):.0f} and {max(rest):.0f} MB\n"
    )
    _save(arguments.json, [{"gigabytes": read, "resident_mb": mb} for read, mb in seen])
    return 0


def _resident_megabytes() -> float:
    """The resident memory of this process."""
    pages = int(_STATM.read_text("ascii").split()[1])
    return pages * 4096 / 1e6


def _save(path: str | None, rows: list[dict[str, object]]) -> None:
    if path is not None:
        Path(path).write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
