"""`dehusk bench together`: what learning a site does to its answers, for better and for worse."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Final

from dehusk.answer.labels import label
from dehusk.answer.result import Result
from dehusk.answer.text import text
from dehusk.errors import PageError, SourceError
from dehusk.memory import Memory
from dehusk.methods.auto import Auto
from dehusk_bench.corpora import Caps, Corpus, GoldPage, Watcher, open_corpus, watch_nothing
from dehusk_bench.options import add_corpora, add_extent, add_folds, add_report, positive
from dehusk_bench.peers.contenders import for_site, learner, read_folds, unseen_note
from dehusk_bench.quality.averages import Place, place_of
from dehusk_bench.quality.bootstrap import difference
from dehusk_bench.quality.scoring import ContentGold, content_gold, words
from dehusk_bench.showing import Progress, check_file, save, show
from dehusk_bench.tables import number, table

DESCRIPTION: Final = (
    "Compare the pages of a site together, learned in order by `auto`, with each of them alone, as"
    " if it were the only page of its site: F1, how many sites and pages lose, and which words the"
    " memory took away. --worst shows where to look."
)
LEGEND: Final = (
    "together, alone: F1 of content words, averaged over the pages of a site, then over sites;"
    " difference: together\n− alone, with the range in 95 of 100 draws of sites; 1–5, 6–19, 20+:"
    " pages by their place in the site.\nsites −0.02, −0.10: share of sites whose F1 falls by more"
    " because they are learned; pages: the same of pages.\nWords moved by the memory: mean over all"
    " pages, and share of all such words. An answer has lost content if so\nmany words of the gold"
    " are in the answer of the page alone, and not in that of the learned page.\n"
)
_LOSSES: Final = (0.02, 0.1)
_LOSING: Final = tuple(f"{what} −{loss:.2f}" for what in ("sites", "pages") for loss in _LOSSES)
_MUCH: Final = 0.3
"""The share of its content that an answer must lose through the memory to be counted as lost."""
_SURE: Final = 0.8


@dataclass(frozen=True, slots=True)
class PageScore:
    """The two answers on a page, scored, and the words that the memory moved."""

    site: str
    number: int
    url: str | None
    kind: str
    """The genre of the site, else its generator, else the type of the page; empty for none."""
    together: float
    """F1 of the answer after the pages before it were learned."""
    alone: float
    """F1 of the answer of the page alone."""
    content: int
    """Words of the gold."""
    kept: int
    """Those of them in the answer of the page alone; and its words that are not in the gold."""
    template: int
    content_lost: int
    content_won: int
    template_removed: int
    template_added: int
    confidence: float | None
    site_removed: float | None

    @property
    def change(self) -> float:
        """By how much the memory raises F1."""
        return self.together - self.alone

    @property
    def has_lost_much(self) -> bool:
        """Has the memory taken much of the content away?"""
        return self.content_lost > _MUCH * self.content


@dataclass(slots=True)
class Found:
    """What was measured on a corpus."""

    corpus: str
    pages: list[PageScore] = field(default_factory=list)
    sites: set[str] = field(default_factory=set)
    fault: SourceError | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    parser.add_argument(
        "--worst",
        type=positive,
        metavar="N",
        help="show the N sites, and the N pages, that lose most by being learned",
    )
    add_folds(parser)
    add_extent(parser)
    add_report(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the tables; 1 if a corpus could not be read to its end."""
    check_file(arguments.json)
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    unseen = {} if arguments.folds is None else read_folds(arguments.folds)
    progress = Progress(sys.stderr)
    all_found = []
    for corpus in corpora:
        found = measure(corpus, unseen, progress.show)
        progress.clear()
        all_found.append(found)
        show(_tables(found, arguments.worst or 0, markdown=arguments.markdown))
        if arguments.folds is not None:
            show(f"{unseen_note(unseen, found.sites)}\n\n")
    if len(all_found) > 1:
        rows = {found.corpus: found.pages for found in all_found}
        rows["all"] = [page for found in all_found for page in found.pages]
        mark = "## " if arguments.markdown else ""
        show(f"{mark}All corpora\n\n{_changes('corpus', rows, markdown=arguments.markdown)}\n")
    show(LEGEND)
    save(arguments.json, {found.corpus: list(map(asdict, found.pages)) for found in all_found})
    return int(any(found.fault is not None for found in all_found))


def measure(corpus: Corpus, unseen: Mapping[str, Path], on_page: Watcher = watch_nothing) -> Found:
    """Both answers of `auto` on each page of a corpus whose content is known."""
    found, done = Found(corpus.name), 0
    try:
        for site, golds in groupby(corpus.pages(), attrgetter("site")):
            found.sites.add(site)
            method = for_site(Auto(), [], unseen.get(site))
            assert isinstance(method, Auto)
            add = learner(method)
            for gold in golds:
                done += 1
                try:
                    result, _ = add(gold.page)
                except PageError:
                    continue  # It is refused alone as well.
                content = content_gold(gold)
                if content is not None:
                    found.pages.append(_score(gold, content, result, text_alone(method, result)))
                on_page(corpus.name, done)
    except SourceError as fault:
        found.fault = fault
    return found


def text_alone(method: Auto, result: Result) -> str:
    """The text of a page whose site has taught nothing but this page; it is not parsed again."""
    scores = method.assess(Memory(1), result.tree).scores
    return text(result.tree, label(result.tree, scores).labels)


def _score(gold: GoldPage, content: ContentGold, result: Result, alone: str) -> PageScore:
    before, after = words(alone), words(result.text)
    bags = content.bag(before), content.bag(after)
    (kept, kept_now), (other, other_now) = (
        [bag & content.words for bag in bags], [bag - content.words for bag in bags],
    )  # fmt: skip
    return PageScore(
        site=gold.site,
        number=gold.number,
        url=gold.page.url,
        kind=gold.genre or gold.generator or gold.type or "",
        together=content.score(after).f1,
        alone=content.score(before).f1,
        content=content.words.total(),
        kept=kept.total(),
        template=other.total(),
        content_lost=(kept - kept_now).total(),
        content_won=(kept_now - kept).total(),
        template_removed=(other - other_now).total(),
        template_added=(other_now - other).total(),
        confidence=result.confidence,
        site_removed=result.site_removed,
    )


def _tables(found: Found, worst: int, *, markdown: bool) -> str:
    """All that is shown of a corpus."""
    pages, mark = found.pages, "## " if markdown else ""
    sites = len({page.site for page in pages})
    parts = [f"{mark}{found.corpus}: {len(pages)} pages of {sites} sites\n"]
    if pages:
        rows = {"all": pages}
        for place in (Place.EARLY, Place.MIDDLE, Place.LATE):
            rows[place] = [page for page in pages if place_of(page.number) is place]
        for kind in sorted({page.kind for page in pages} - {""}):
            rows[kind] = [page for page in pages if page.kind == kind]
        parts.append(_changes("pages", rows, markdown=markdown))
        parts += [_words(pages, markdown=markdown), _losses(pages, markdown=markdown)]
    else:
        parts.append("There is no content known in it, so nothing was scored\n")
    if pages and worst:
        parts += _worst(pages, worst, markdown=markdown)
    if found.fault is not None:
        parts.append(f"{found.fault}; what came before it was measured\n")
    return "\n".join(parts) + "\n"


def site_means(pages: Sequence[PageScore], value: Callable[[PageScore], float]) -> dict[str, float]:
    """The mean over the pages of each site."""
    values: dict[str, list[float]] = {}
    for page in pages:
        values.setdefault(page.site, []).append(value(page))
    return {site: fmean(found) for site, found in values.items()}


def _changes(head: str, rows: Mapping[str, Sequence[PageScore]], *, markdown: bool) -> str:
    """A row for each group of pages: both F1, their difference, and how many lose."""
    header = (
        head,
        "pages",
        "sites",
        "together",
        "alone",
        "difference",
        "95 %",
        "verdict",
        *_LOSING,
    )
    cells = []
    for name, pages in rows.items():
        ours, theirs = (site_means(pages, attrgetter(value)) for value in ("together", "alone"))
        won = difference(ours, theirs)
        if won is None:
            continue
        cells.append([
            name, str(len(pages)), str(won.sites), number(fmean(ours.values())),
            number(fmean(theirs.values())), f"{won.mean:+.3f}", won.range_text(), won.verdict,
            *_losing([ours[site] - theirs[site] for site in ours]),
            *_losing([page.change for page in pages]),
        ])  # fmt: skip
    return table(header, cells, markdown=markdown)


def _losing(changes: Sequence[float]) -> Iterator[str]:
    """The shares of changes that are losses of more than so much."""
    return (_percent(sum(change < -loss for change in changes), len(changes)) for loss in _LOSSES)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def _words(pages: Sequence[PageScore], *, markdown: bool) -> str:
    """How many words the memory took out of the answers, and put into them."""
    kept, template = (sum(map(attrgetter(name), pages)) for name in ("kept", "template"))
    missing = sum(page.content - page.kept for page in pages)
    rows = []
    for name, what, whole in (
        ("content lost, of what pages alone keep", "content_lost", kept),
        ("content won, of what pages alone lack", "content_won", missing),
        ("template removed, of what pages alone keep", "template_removed", template),
        ("template added, against what pages alone keep", "template_added", template),
    ):
        moved = sum(map(attrgetter(what), pages))
        rows.append([name, f"{moved / len(pages):.1f}", _percent(moved, whole)])
    return table(("words moved by the memory", "a page", "share"), rows, markdown=markdown)


def _losses(pages: Sequence[PageScore], *, markdown: bool) -> str:
    """How many answers lost much of their content, and how many of them say that they are good."""
    lost = [page for page in pages if page.has_lost_much]
    sure = sum((page.confidence or 0.0) > _SURE for page in lost)
    header = ("answers that lost content", "answers", "share", f"say confidence > {_SURE}")
    row = (f"more than {_MUCH:.0%}", str(len(lost)), _percent(len(lost), len(pages)), str(sure))
    return table(header, [row], markdown=markdown)


def _worst(pages: Sequence[PageScore], most: int, *, markdown: bool) -> Iterator[str]:
    """The sites, and the pages, that lose most by being learned."""
    means = {
        name: site_means(pages, attrgetter(name)) for name in ("together", "alone", "content_lost")
    }
    changes = site_means(pages, attrgetter("change"))
    kinds = {page.site: page.kind for page in pages}
    header = ["change", "together", "alone"]
    rows = [
        [site, f"{changes[site]:+.3f}", *(number(means[name][site]) for name in header[1:]),
         number(means["content_lost"][site], 0), kinds[site] or "–"]
        for site in sorted(changes, key=changes.__getitem__)[:most]
        if changes[site] < 0
    ]  # fmt: skip
    yield table(["site that loses", *header, "words lost a page", "kind"], rows, markdown=markdown)
    cells = [
        [page.url or page.site, str(page.number), f"{page.change:+.3f}", number(page.together),
         number(page.alone), f"{page.content_lost} of {page.content}", number(page.confidence, 2),
         number(page.site_removed, 2)]
        for page in sorted(pages, key=attrgetter("change"))[:most]
        if page.change < 0
    ]  # fmt: skip
    header = ["page that loses", "number", *header, "content lost", "confidence", "site removed"]
    yield table(header, cells, markdown=markdown)
