"""`dehusk demo`: sample sites, cleaned, and what came of it."""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Final, TypedDict

from dehusk.doors.cli import bench_module
from dehusk.errors import UsageError
from dehusk.memory.session import Session
from dehusk.output import Format, open_writer
from dehusk.output.whole import unwritable
from dehusk.page.page import Page
from dehusk.template.survey import words_of

SAMPLES: Final = Path(__file__).with_name("demo.jsonl.xz")
"""The sample sites of the seed `SEED`, `PAGES` pages each, a `Sample` on a line.

Written by the module `samples.demo` of dehusk-bench, run as a program.
"""
SEED: Final = 1
PAGES: Final = 40


class Sample(TypedDict):
    """A page of a sample site."""

    folder: str
    """The folder of its site, below that of all pages."""
    file: str
    site: str
    url: str
    html: str


@dataclass(frozen=True, slots=True)
class _Row:
    """What became of one site."""

    site: str
    pages: int
    words_in: int
    words_out: int
    characters: int
    template_characters: int

    @property
    def template_share(self) -> float:
        """The share of template among visible characters."""
        return self.template_characters / self.characters if self.characters else 0.0


def run(arguments: argparse.Namespace) -> int:
    """Write the sample sites and their Markdown, and print a table."""
    folder = Path(arguments.output)
    if not arguments.output or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"-o {arguments.output}: not a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    sites = groupby(_samples(arguments.pages, arguments.seed), lambda sample: sample["folder"])
    rows = {name: _clean_site(list(pages), folder) for name, pages in sites}
    _print_table([*rows.values(), _total(rows.values())])
    first = next(iter(rows))
    sys.stdout.write(
        f"\nThe pages:     {folder / 'pages'}\nThe Markdown:  {folder / 'clean'}\n"
        f"Again:         dehusk clean {folder / 'pages' / first} -o {folder / 'clean'}/\n"
    )
    return 0


def _samples(pages: int, seed: int) -> Iterator[Sample]:
    """The first pages of each sample site, site by site; more than are shipped out of the bench."""
    if seed != SEED or pages > PAGES:
        bench = bench_module(
            f"--seed {SEED} with up to {PAGES} pages is shipped; more", "samples.demo"
        )
        yield from bench.samples(pages, seed)
        return
    with lzma.open(SAMPLES, "rt", encoding="utf-8") as lines:
        for _, site in groupby(map(json.loads, lines), lambda sample: sample["folder"]):
            yield from islice(site, pages)


def _clean_site(samples: list[Sample], folder: Path) -> _Row:
    """Write one sample site, clean it, write its Markdown."""
    _write_pages(samples, folder / "pages" / samples[0]["folder"])
    sites = Session()
    words = []
    target = f"{folder / 'clean'}/"
    with open_writer(target, Format.MARKDOWN, sys.stdout.buffer) as writer:
        for sample in samples:
            result = sites.add(Page(sample["html"], sample["url"], sample["site"]))
            writer.write(result)
            words.append(astuple(words_of(result)))
    return _Row(samples[0]["site"], len(samples), *map(sum, zip(*words, strict=True)))


def _write_pages(samples: Iterable[Sample], folder: Path) -> None:
    """Write each page as a file below the folder, and `index.json` with their URLs."""
    urls: dict[str, str] = {}
    for sample in samples:
        path = folder / sample["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sample["html"], "utf-8", newline="\n")
        urls[sample["file"]] = sample["url"]
    index = json.dumps(urls, ensure_ascii=False, indent=1)
    (folder / "index.json").write_text(f"{index}\n", "utf-8", newline="\n")


def _total(rows: Iterable[_Row]) -> _Row:
    """The sums of all sites."""
    sums = (sum(column) for column in zip(*(astuple(row)[1:] for row in rows), strict=True))
    return _Row("all", *sums)


def _print_table(rows: list[_Row]) -> None:
    """Print the rows under a header, the last one set off."""
    header = ("site", "pages", "words in", "words out", "template", "tokens saved")
    cells = [
        (
            row.site,
            f"{row.pages:,}",
            f"{row.words_in:,}",
            f"{row.words_out:,}",
            f"{row.template_share:.0%}",
            f"{round(row.template_characters / 4):,}",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    lines = [_line(header, widths), rule, *(_line(row, widths) for row in cells)]
    lines.insert(-1, rule)
    sys.stdout.write("\n".join(lines) + "\n")


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *rest = (
        cell.rjust(width) if column else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join((first, *rest))
