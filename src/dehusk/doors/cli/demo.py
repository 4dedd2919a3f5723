"""`dehusk demo`: sample sites, cleaned, and what came of it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dehusk.answer import render
from dehusk.errors import UsageError
from dehusk.memory.site import Sites
from dehusk.output import Format, open_writer
from dehusk_bench.samples import KINDS, sample_site, write_site

_LANGS = {"town": "de", "blog": "fr"}
"""Sites of the demo that are not English, to show that nothing depends on it."""


@dataclass(frozen=True, slots=True)
class _Row:
    """What became of one site."""

    site: str
    pages: int
    words_in: int
    words_out: int
    characters: int
    template_characters: float

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
        raise UsageError(f"cannot write to {folder}: {fault.strerror or fault}") from fault
    rows = [_clean_site(kind, folder, arguments) for kind in KINDS]
    total = _Row(
        "all",
        sum(row.pages for row in rows),
        sum(row.words_in for row in rows),
        sum(row.words_out for row in rows),
        sum(row.characters for row in rows),
        sum(row.template_characters for row in rows),
    )
    _print_table([*rows, total])
    sys.stdout.write(
        f"\nThe pages:     {folder / 'pages'}\nThe Markdown:  {folder / 'clean'}\n"
        f"Again:         dehusk clean {folder / 'pages' / KINDS[0]} -o {folder / 'clean'}/\n"
    )
    return 0


def _clean_site(kind: str, folder: Path, arguments: argparse.Namespace) -> _Row:
    """Write one sample site, clean it, write its Markdown."""
    lang = _LANGS.get(kind, "en")
    pages = list(sample_site(kind, pages=arguments.pages, seed=arguments.seed, lang=lang))
    write_site(pages, folder / "pages" / kind)
    sites = Sites()
    words_in = words_out = characters = 0
    template_characters = 0.0
    target = f"{folder / 'clean'}/"
    with open_writer(target, Format.MARKDOWN, sys.stdout.buffer, is_terminal=False) as writer:
        for sample in pages:
            result = sites.add(sample.page)
            writer.write(result)
            everything = np.zeros_like(result.labels.labels)
            words_in += len(render.text(result.tree, everything).split())
            words_out += len(result.text.split())
            characters += int(result.tree.text_length[0])
            template_characters += int(result.tree.text_length[0]) * result.template_share
    site = pages[0].page.site or kind
    return _Row(site, len(pages), words_in, words_out, characters, template_characters)


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
