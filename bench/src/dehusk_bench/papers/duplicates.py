"""`dehusk bench duplicates`: table 2 of 003, duplicates found with and without the template."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from dehusk.answer.fingerprint import is_duplicate, sketch
from dehusk.page.hashing import Hashes
from dehusk_bench.options import add_corpora, add_extent, add_methods, add_report
from dehusk_bench.papers.dressed import dress_stories
from dehusk_bench.papers.site_texts import (
    SiteTexts,
    add_dressing,
    finish,
    open_all,
    percent,
    read_sites,
    show,
)
from dehusk_bench.tables import table

CORPORA: Final = tuple(f"samples:stories:{seed}:60" for seed in range(9))
"""Nine sites with the same 48 stories, three of each weight. With fewer, chance decides on full
text: which shingles of a site's template have small hashes is the same on all its pages."""
DESCRIPTION: Final = (
    "Tell duplicate pages by sketches of their text (the 8 smallest hashes of runs of 6 words, 4 in"
    " common), with the template left in and taken out by each method. Duplicates are pages with"
    " the same subject on two sites; non-duplicates are pages of one site with different subjects."
    " Every site is learned whole before its pages are judged."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(
        parser,
        "nine sample sites, samples:stories:0:60 to :8:60",
        ", with a `subject` in the records",
    )
    add_methods(parser, "all")
    add_extent(parser)
    add_dressing(parser, "N sites of the corpus, each with the content of pages of other sites")
    add_report(parser)


_PAPER: Final = {
    "the paper: full text": (529, 1711, 1781, 2058),
    "the paper: SiteLevel (10 %)": (730, 1711, 1712, 2058),
    "the paper: PageLevel": (1299, 1711, 1885, 2058),
}
"""Table 2 of 003: duplicates found and all, non-duplicates told apart and all; lyrics pages."""


@dataclass(slots=True)
class Pairs:
    """How many pairs were judged, and how many rightly."""

    found: int = 0
    duplicates: int = 0
    told_apart: int = 0
    others: int = 0

    @property
    def recall(self) -> float:
        """The share of duplicates that were found."""
        return self.found / self.duplicates if self.duplicates else 0.0

    @property
    def rejection(self) -> float:
        """The share of non-duplicates that were told apart."""
        return self.told_apart / self.others if self.others else 0.0


def judge_pairs(sites: Sequence[SiteTexts], contender: str) -> Pairs:
    """All pairs of the sites' pages, judged by the contender's texts.

    Duplicates: one subject on two sites. Non-duplicates: two subjects on one site.
    """
    pairs = Pairs()
    sketched = [_sketches(site, contender) for site in sites]
    for one, other in combinations(sketched, 2):
        for subject, own in one:
            for its_subject, its in other:
                if subject == its_subject:
                    pairs.duplicates += 1
                    pairs.found += is_duplicate(own, its)
    for pages in sketched:
        for (subject, own), (its_subject, its) in combinations(pages, 2):
            if subject != its_subject:
                pairs.others += 1
                pairs.told_apart += not is_duplicate(own, its)
    return pairs


def _sketches(site: SiteTexts, contender: str) -> list[tuple[str, Hashes]]:
    """Each page's subject and sketch."""
    texts = site.texts[contender]
    return [(subject, sketch(text)) for subject, text in zip(site.subjects, texts, strict=True)]


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment and print its table; 1 if a corpus could not be read to its end.

    Raises UsageError for a corpus or a method that does not exist.
    """
    corpora, methods, reading, progress = open_all(arguments, CORPORA, dress_stories)
    sites = list(read_sites(corpora, methods, reading, progress.show))
    progress.clear()
    names = [name for name in sites[0].texts if all(name in site.texts for site in sites)]
    results = {name: judge_pairs(sites, name) for name in names}
    show(render_duplicates(results, markdown=arguments.markdown))
    figures = {
        name: {"found": p.found, "duplicates": p.duplicates, "told_apart": p.told_apart,
               "non_duplicates": p.others}
        for name, p in results.items()
    }  # fmt: skip
    return finish(arguments.json, figures, reading)


def render_duplicates(results: dict[str, Pairs], *, markdown: bool) -> str:
    """The table, with the paper's rows below ours."""
    rows = [
        (name, str(p.found), percent(p.recall), str(p.told_apart), percent(p.rejection))
        for name, p in results.items()
    ]
    some = next(iter(results.values()))
    rows += [
        (name, str(found), percent(found / all_found), str(apart), percent(apart / all_apart))
        for name, (found, all_found, apart, all_apart) in _PAPER.items()
    ]
    header = ("", "duplicates found", "", "told apart", "")
    title = f"{some.duplicates:,} pairs of duplicates, {some.others:,} of other pages of one site\n"
    return title + "\n" + table(header, rows, markdown=markdown)
