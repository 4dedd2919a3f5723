"""`dehusk bench atlas`: what sites of a theme do for the first page of another one."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Final
from zlib import crc32

import numpy as np

from dehusk.errors import PageError
from dehusk.memory import Memory
from dehusk.methods.auto import Auto
from dehusk.methods.auto.atlas import MIN_SITES, NO_ATLAS, AtlasMaker
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.page.urls import site_by_url
from dehusk.settings import SiteBy
from dehusk_bench.corpora import Caps, Corpus, GoldPage, open_corpus
from dehusk_bench.options import add_corpora, add_extent, add_folds, add_report
from dehusk_bench.peers.contenders import for_site, learner, read_folds
from dehusk_bench.quality.bootstrap import interval
from dehusk_bench.quality.scoring import content_gold, words
from dehusk_bench.showing import Progress, check_file, save, show
from dehusk_bench.tables import number, table
from dehusk_bench.train.gold import block_gold

DESCRIPTION: Final = (
    "Make an atlas of themes out of the corpora, and judge the first pages of each site, each as if"
    " it were alone, without it and with one that is made of other sites. Pages whose gold names"
    " nodes teach it by that, others by the verdict of `auto`."
)
LEGEND: Final = (
    "known: sites with a theme that three others have; few: with one that fewer have; unknown: with"
    " one of their own.\nF1: of words, mean over the pages of a site, then over sites, without an"
    " atlas; gain: what the atlas adds to that.\n"
)
_FOLDS: Final = 10
_TAUGHT: Final = 12
"""Pages of a site that the atlas learns from."""
_JUDGED: Final = 3
"""Pages of a site that are judged."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_corpora(parser)
    add_folds(parser)
    parser.add_argument("--atlas", metavar="FILE", help="write the atlas of all sites there")
    add_extent(parser)
    add_report(parser)


@dataclass(slots=True)
class _Bench:
    """What is known of the corpora's sites."""

    models: Mapping[str, Path]
    maker: AtlasMaker = field(default_factory=AtlasMaker)
    themes: dict[str, str] = field(default_factory=dict)
    """The theme of each owner of sites."""
    gains: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = field(default_factory=dict)
    """By group and its part, then by owner: F1 of each page, and what the atlas adds."""

    def method(self, site: str, atlas: str = NO_ATLAS) -> Auto:
        """`auto` with a model that has not seen the site."""
        method = for_site(Auto(atlas=atlas), [], self.models.get(site))
        assert isinstance(method, Auto)
        return method


def run(arguments: argparse.Namespace) -> int:
    """Make, measure and print the tables; 0."""
    check_file(arguments.json)
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    bench = _Bench({} if arguments.folds is None else read_folds(arguments.folds))
    progress = Progress(sys.stderr)
    for corpus in corpora:
        for done, page in enumerate(_teach(bench, corpus)):
            progress.show(f"{corpus.name}, {page}", done)
    if arguments.atlas is not None:
        Path(arguments.atlas).write_bytes(bench.maker.make().dump())
    with TemporaryDirectory() as folder:
        atlases = _write_folds(bench, Path(folder))
        for corpus in corpora:
            for done, page in enumerate(_judge(bench, corpus, atlases)):
                progress.show(f"{corpus.name}, {page}", done)
    progress.clear()
    rows = _rows(bench)
    header = ("sites", "", "number", "F1", "gain", "95 %")
    show(table(header, [row[:6] for row in rows], markdown=arguments.markdown) + "\n" + LEGEND)
    save(arguments.json, [dict(zip(header, row, strict=True)) for row in rows])
    return 0


def _teach(bench: _Bench, corpus: Corpus) -> Iterator[str]:
    """Let the atlas learn from the first pages of each site, and name each site."""
    for site, golds in groupby(corpus.pages(), attrgetter("site")):
        method, memory, themes = bench.method(site), Memory(), dict[str, Counter[str]]()
        for gold in golds:
            if gold.number > _TAUGHT:
                continue
            themes.setdefault(_owner(gold), Counter())[_theme(gold)] += 1
            with suppress(PageError):
                tree = parse(gold.page).tree
                memory = method.learn(memory, tree)
                _teach_page(bench.maker, gold, (method, memory, tree))
        for owner, counts in themes.items():
            bench.themes[owner] = counts.most_common(1)[0][0]
        yield site


def _teach_page(maker: AtlasMaker, gold: GoldPage, known: tuple[Auto, Memory, Tree]) -> None:
    method, memory, tree = known
    alone, judged = method.content(method.lesson(tree), tree), method.content(memory, tree)
    if alone is None or judged is None:
        return
    content = (judged[1] >= 0.5).astype(np.float64)
    if gold.content_nodes is not None:
        found = block_gold(gold, tree, alone[0])
        if found is None:
            return
        is_known = found.known & (found.words > 0)
        content = np.where(is_known, found.hits / np.maximum(found.words, 1), np.nan)
    maker.add(_owner(gold), tree, alone[0], content, alone[1])


def _write_folds(bench: _Bench, folder: Path) -> list[str]:
    """For each fold an atlas of the others' sites."""
    paths = []
    for fold in range(_FOLDS):
        own = {owner for owner in bench.maker.sites if _fold(owner) == fold}
        path = folder / f"{fold}.atlas"
        path.write_bytes(bench.maker.make(own).dump())
        paths.append(str(path))
    return paths


def _judge(bench: _Bench, corpus: Corpus, atlases: Sequence[str]) -> Iterator[str]:
    """Judge the first pages of each site, each alone, and name each site."""
    sites = Counter(bench.themes.values())
    for site, golds in groupby(corpus.pages(), attrgetter("site")):
        plain = bench.method(site)
        for gold in golds:
            content = content_gold(gold) if gold.number <= _JUDGED else None
            if content is None:
                continue
            owner = _owner(gold)
            theme = bench.themes.get(owner, "")
            others = sites[theme] - 1 if theme else 0
            part = "known" if others >= MIN_SITES else "few" if others else "unknown"
            with suppress(PageError):
                methods = plain, replace(plain, atlas=atlases[_fold(owner)])
                before, after = (
                    content.score(words(learner(method)(gold.page)[0].text)).f1
                    for method in methods
                )
                groups = [(corpus.name, part), ("all", part)]
                groups += [(theme, "theme")] if part == "known" else []
                for group in groups:
                    pages = bench.gains.setdefault(group, {}).setdefault(owner, [])
                    pages.append((before, after - before))
        yield site


def _rows(bench: _Bench) -> list[list[str]]:
    rows = []
    for (group, part), owners in bench.gains.items():
        before = fmean(fmean(f1 for f1, _ in pages) for pages in owners.values())
        gain = interval([fmean(gain for _, gain in pages) for pages in owners.values()])
        assert gain is not None
        rows.append([group, part, str(len(owners)), number(before), f"{gain.mean:+.4f}",
                     gain.range_text()])  # fmt: skip
    order = {"known": 0, "few": 1, "unknown": 2, "theme": 3}
    return sorted(rows, key=lambda row: (row[1] == "theme", row[0] == "all", row[0], order[row[1]]))


def _owner(gold: GoldPage) -> str:
    """Whose site it is: parts of one documentation, and hosts of one domain, are one's own."""
    name, _, part = gold.site.partition("/")
    return name if part else site_by_url(gold.page.url, SiteBy.DOMAIN) or name


def _fold(owner: str) -> int:
    return crc32(owner.encode()) % _FOLDS


_WORDPRESS: Final = re.compile(r"/wp-content/themes/([\w.-]+)/")
_GENERATOR: Final = re.compile(
    r"<meta[^>]*name=.?generator[^>]*content=[\"']([a-z][a-z !-]*[a-z!])", re.IGNORECASE
)
_SIGNS: Final = {
    "phpBB": "phpbb", "vBulletin": "vbulletin", "XenForo": "xenforo", "Discourse": "discourse",
    "Shopify": "cdn.shopify.com", "Squarespace": "static1.squarespace.com", "Wix": "wixstatic.com",
    "Webflow": "data-wf-page", "Substack": "substackcdn.com", "Drupal": "/sites/default/files/",
    "HubSpot": "hs-scripts.com",
}  # fmt: skip


def _theme(gold: GoldPage) -> str:
    """What made the page look so: its generator, the theme of a blog, or a sign; '' if unknown."""
    if gold.generator:
        return gold.generator
    if (found := _WORDPRESS.search(gold.html)) is not None:
        return f"WordPress: {found[1].lower()}"
    for name, sign in _SIGNS.items():
        if sign in gold.html:
            return name
    found = _GENERATOR.search(gold.html)
    return found[1].lower() if found else ""
