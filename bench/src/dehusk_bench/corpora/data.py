"""`dehusk bench data`: what there is to measure on, and how to get or make it."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from dehusk.errors import SourceError, UsageError
from dehusk_bench.options import positive
from dehusk_bench.record.experiments import CORPORA
from dehusk_bench.record.running import find_corpus
from dehusk_bench.samples import KINDS, LANGS, sample_site

DESCRIPTION: Final = (
    "Say which corpora `dehusk bench all` looks for, which of them are in a folder, and where the"
    " others come from. --samples writes corpora of sample sites there, with the gold of every"
    " node; --wcxb makes one of a copy of the WCXB benchmark. Nothing is fetched: the public"
    " benchmarks have their own ways of download and their own terms."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the command."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("data"),
        metavar="DIR",
        help="the folder with the corpora (default: %(default)s)",
    )
    parser.add_argument(
        "--samples",
        action="store_true",
        help="write docs-dev, linked-dev, news-dev and wcxb-dev made of sample sites, where there"
        " is no file of that name",
    )
    parser.add_argument(
        "--pages",
        type=positive,
        default=40,
        metavar="N",
        help="pages of each sample site (default: %(default)s)",
    )
    parser.add_argument(
        "--wcxb",
        type=Path,
        metavar="DIR",
        help="a copy of WCXB, with a folder of HTML and one of gold: write wcxb-dev from it",
    )


WCXB: Final = "https://github.com/Murrough-Foley/web-content-extraction-benchmark"
_SOURCES: Final = {
    "docs-dev": "pages of documentation sites, their content known from the generator's markup:"
    " make your own from mirrors of sites you may copy, or use --samples",
    "news-dev": "pages of news sites, cleaned by people: make your own (`dehusk view` labels pages"
    " and exports gold), or use --samples",
    "wcxb-dev": f"WCXB, CC-BY-4.0: git clone {WCXB}, then --wcxb DIR; or use --samples",
    "swde-dev": "SWDE, pages of shops, books, films and universities with values that must survive"
    " (`must_keep`): ask its authors; there is no stand-in among the sample sites",
    "linked-dev": "key pages and the pages that they link, for `hyperlink`: the TECO suite (20 GB)"
    " is read as it is by `dehusk bench teco DIR`; or use --samples",
    "sites-dev": "real sites of many genres (`genre`, `lang`) with gold of every node"
    " (`content_nodes`, `excluded_nodes`); there is no stand-in among the sample sites",
    "articles-dev": "single articles with gold of several makers (`source`, `headline`,"
    " `comments`): make one of the data of dragnet, fundus or the like",
    "snippets-dev": "pages with snippets to keep and to drop: trafilatura's evaluation data,"
    " Apache-2.0, has some",
    "repeats-dev": "as docs-dev: references and manuals whose content comes back on other pages, as"
    " inherited members do",
    "twins-dev": "as docs-dev: versions, print pages and copies of pages on one site",
    "facts-dev": "as docs-dev: content in short fields, such as events, packages and recipes",
    "articles-measure": "as articles-dev, of other makers: for measuring only, so that no model and"
    " no setting is ever chosen by it",
}
_SEEDS: Final = range(1, 4)
_KEYS: Final = 2
"""Key pages of a site, as in the linked pages that dehusk is measured on."""


def run(arguments: argparse.Namespace) -> int:
    """Write what is asked for and list what there is. Raises UsageError, SourceError."""
    folder = Path(arguments.output)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"-o {folder}: not a folder")
    if arguments.samples or arguments.wcxb is not None:
        folder.mkdir(parents=True, exist_ok=True)
    if arguments.wcxb is not None:
        _write(folder / "wcxb-dev.jsonl.gz", wcxb_records(arguments.wcxb))
    if arguments.samples:
        for name, records in sample_corpora(arguments.pages).items():
            if find_corpus(folder, name) is None:
                _write(folder / f"{name}.jsonl.gz", records)
    for name in CORPORA:
        there = find_corpus(folder, name)
        sys.stdout.write(f"{name}: {folder / there if there else 'not there'}\n")
        sys.stdout.write("" if there else f"    {_SOURCES[name]}\n")
    sys.stdout.write(
        "Any corpus will do that has the form that docs/data.md tells: JSON lines, a page a line.\n"
    )
    return 0


def sample_corpora(pages: int) -> dict[str, Iterator[dict[str, Any]]]:
    """The records of each corpus that sample sites can stand in for."""
    return {
        "docs-dev": _sites(("docs", "tables", "town"), pages),
        "linked-dev": _with_keys(_sites(("docs", "shop", "forum"), pages)),
        "news-dev": _sites(("news", "blog"), pages),
        "wcxb-dev": _sites(KINDS, 2),
    }


def _sites(kinds: Iterable[str], pages: int) -> Iterator[dict[str, Any]]:
    """The records of sample sites of these kinds, in several languages."""
    for kind in kinds:
        for seed in _SEEDS:
            for lang in islice(LANGS, 3):
                for sample in sample_site(kind, pages=pages, seed=seed, lang=lang):
                    yield sample.record()


def _with_keys(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The records, the first of each site marked as key pages."""
    seen: dict[str, int] = {}
    for record in records:
        seen[record["site"]] = seen.get(record["site"], 0) + 1
        yield record | {"key": seen[record["site"]] <= _KEYS}


def wcxb_records(folder: Path) -> Iterator[dict[str, Any]]:
    """The records of a copy of WCXB, site by site. Raises UsageError if it is none, SourceError."""
    golds = sorted((folder / "dev" / "ground-truth").glob("*.json"))
    if not golds:
        raise UsageError(f"--wcxb {folder}: there are no dev/ground-truth/*.json in it")
    records = [record for path in golds if (record := _wcxb_record(folder, path)) is not None]
    yield from sorted(records, key=lambda record: str(record["site"]))


def _wcxb_record(folder: Path, path: Path) -> dict[str, Any] | None:
    """One page; None if its HTML is not there. Raises SourceError."""
    packed = folder / "dev" / "html" / f"{path.stem}.html.gz"
    if not packed.is_file():
        return None
    try:
        written = json.loads(path.read_text("utf-8"))
        truth: Mapping[str, Any] = written["ground_truth"]
        url = str(written.get("url") or f"https://unknown.example/{path.stem}")
        with gzip.open(packed, "rt", encoding="utf-8", errors="replace") as stream:
            html = stream.read()
        return {
            "corpus": "wcxb",
            "site": urlsplit(url).hostname or path.stem,
            "url": url,
            "html": html,
            "content": truth["main_content"],
            "must_keep": truth.get("with") or [],
            "must_drop": truth.get("without") or [],
            "type": written.get("_internal", {}).get("page_type", {}).get("primary"),
        }
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise SourceError(f"{path}: not gold of WCXB ({fault})") from fault


def _write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write the records, the same bytes every time; a file that is cut off does not stay."""
    new = path.with_name(f"{path.name}.new")
    count = 0
    try:
        with new.open("wb") as plain, gzip.GzipFile("", "wb", fileobj=plain, mtime=0) as packed:
            for record in records:
                line = json.dumps(record, ensure_ascii=False)
                packed.write(f"{line}\n".encode("utf-8", "surrogatepass"))
                count += 1
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    sys.stdout.write(f"wrote {path}: {count:,} pages\n")
