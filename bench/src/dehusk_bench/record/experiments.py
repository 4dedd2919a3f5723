"""The experiments of the record: which commands, with which options, in full and in short.

A corpus stands as `@NAME` among the options. Where the data has no such file it is left out; an
experiment that is left without any takes its `instead`, or is skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dehusk.methods.papers.hyperlink import BEST
from dehusk_bench.record.drawing import Plot


class Section(StrEnum):
    """The parts of the report."""

    AUTO = "auto"
    HYPERLINK = "hyperlink"
    SEGMENTS = "segments"
    PAGE = "page"
    CHUNKS = "chunks"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Experiment:
    """One command and what becomes of its output."""

    name: str
    section: Section
    title: str
    command: tuple[str, ...]
    modules: tuple[str, ...]
    """Whose code, with all that it imports, decides whether a result is still good."""
    full: tuple[str, ...] = ()
    """Options of a full run only."""
    quick: tuple[str, ...] = ()
    """Options of a quick run only."""
    instead: tuple[str, ...] = ()
    """Sample sites to use where none of the corpora is there."""
    without: tuple[str, ...] = ()
    """Parts of dehusk that are loaded but cannot change the result."""
    plots: tuple[Plot, ...] = ()
    plots_option: str = ""
    """The option that names a folder for plots, if the command draws some itself."""
    hidden: tuple[str, ...] = ()
    """First headings of tables that another experiment shows too: left out of the report."""
    has_json: bool = False
    has_folds: bool = False
    """Does `auto` judge in it, so that models that have not seen a site make a difference?"""


_QUALITY: Final = ("dehusk_bench.quality.command",)
_TECO: Final = ("dehusk_bench.papers.teco_report",)
_PEERS: Final = tuple(f"dehusk_bench.peers.{each}" for each in ("node", "pages", "sites"))
_AUTO: Final = ("dehusk.methods.auto",)
_RIVALS: Final = (
    "segments", "site-hash", "style-tree", "rtdm", "chunks", "chunks:separators=blocks", "page",
    "page-basic", "cetr", "words-leaves",
)  # fmt: skip
_SETTINGS: Final = (
    "segments", "site-hash", "site-hash:share=0.5", "chunks", "chunks:separators=blocks",
    "chunks:separators=blocks,group=none", "chunks:separators=blocks,tag_path=true", "style-tree",
    "style-tree:link_targets=false", "rtdm", "rtdm:min_kept=0", "rtdm:sample_pages=10", "page",
    "page-basic", "page:penalty=0.0002", "page:penalty=0.01", "cetr", "cetr:breaks_blocks=false",
    "words-leaves", "words-leaves:weight=0.7", "words-leaves:weight=1.4",
)  # fmt: skip
"""Every method but `auto` and `hyperlink`, with the settings that its page speaks of."""
_BY: Final = {
    "docs-dev": "lang", "news-dev": "lang", "wcxb-dev": "type", "swde-dev": "",
    "sites-dev": "genre", "articles-dev": "source", "snippets-dev": "lang",
    "articles-measure": "source",
}  # fmt: skip
FITTED: Final = tuple(corpus for corpus in _BY if corpus != "articles-measure")
"""The corpora that models of `auto` are fitted to: it may be judged there by folds only. The other
is for measuring alone: the model that comes with dehusk judges it."""
_GROUPS: Final = {
    "lang": "language", "type": "type of page", "genre": "genre of site",
    "source": "source of the gold",
}  # fmt: skip
GROUPED_BY: Final = {corpus: _GROUPS[by] for corpus, by in _BY.items() if by}
"""What the figures of a corpus are broken down by."""
_REPEATING: Final = ("repeats-dev", "twins-dev", "facts-dev")
"""Corpora of sites whose content comes back from page to page."""
CORPORA: Final = (*_BY, "linked-dev", *_REPEATING)
"""The files that the experiments look for."""
_QUICK: Final = {
    "docs-dev": ("--sites", "8", "--pages", "22"),
    "news-dev": ("--sites", "10", "--pages", "8"),
    "wcxb-dev": ("--sites", "60"),
    "swde-dev": ("--sites", "8", "--pages", "8"),
    "sites-dev": ("--sites", "8", "--pages", "6"),
    "articles-dev": ("--sites", "30"),
    "snippets-dev": ("--sites", "30"),
    "articles-measure": ("--sites", "30"),
}
_QUICK_PEERS: Final = {**_QUICK, "docs-dev": ("--sites", "8", "--pages", "8")}


def _hyperlink(settings: Mapping[str, object]) -> str:
    """The method with these settings, as `--method` takes it."""
    return f"hyperlink:{','.join(f'{name}={value}' for name, value in settings.items())}"


_TECO_METHODS: Final = (
    "--method", _hyperlink(BEST), "--method", "hyperlink:equality=text", "--method", "hyperlink",
    "--method", "auto", "--method", "segments", "--few-loads", "auto",
)  # fmt: skip
"""As commands set it, by what can be read, as the papers have it, and what it must be better than.
The first is compared with the others."""
_VARIANTS: Final = tuple(
    part
    for settings in (
        {}, {"page_verdict": "few"}, {"page_verdict": "off"}, {"max_loads": 3}, {"max_loads": 8},
        {"size": 2}, {"menu": "true"}, {"sure_score": 0.8}, {"sure_score": 0.9},
    )
    for part in ("--method", _hyperlink({**BEST, **settings}))
)  # fmt: skip
"""`BEST`, and what is left of it with one setting changed."""
_GRID: Final = ("--grid", "--method", _hyperlink(BEST))
_VARIED: Final = (
    "--vary", "page_verdict=off,few,always", "--vary", "sure_score=0.9,0.95", "--vary",
    "content_share=0.6,0.7,0.8", "--vary", "sure_share=0.9,0.95", "--vary", "votes=1,2",
)  # fmt: skip
_SITES: Final = ("@sites-dev", "--keys", "3", "--stand-ins")
_SIZES: Final = tuple(f"{votes} votes" for votes in range(1, 5))


def _of_corpus(corpus: str) -> list[Experiment]:
    """`auto`, the other methods and the peers on one corpus."""
    by = ("--by", _BY[corpus]) if _BY[corpus] else ()
    instead = ("samples::1:25", "samples::2:25") if corpus == "docs-dev" else ()
    rivals = tuple(part for name in _RIVALS for part in ("--method", name))
    where = f"@{corpus}"
    return [
        Experiment(
            f"auto-{corpus}", Section.AUTO, f"`auto` on {corpus}",
            ("quality", where, "--method", "auto", *by), _QUALITY, quick=_QUICK[corpus],
            without=_PEERS, plots_option="--curves", has_folds=corpus in FITTED,
            has_json=True, instead=instead,
        ),
        Experiment(
            f"methods-{corpus}", Section.AUTO, f"the other methods on {corpus}",
            ("quality", where, *rivals, *by), _QUALITY, quick=_QUICK[corpus],
            without=(*_PEERS, *_AUTO), plots_option="--curves",
            has_json=True, instead=instead,
        ),
        Experiment(
            f"peers-{corpus}", Section.AUTO, f"peers on {corpus}",
            ("quality", where, "--peers-only", *by), _QUALITY,
            quick=_QUICK_PEERS[corpus],
            without=("dehusk.methods",), has_json=True, instead=instead,
        ),
    ]  # fmt: skip


EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    *(each for corpus in _BY for each in _of_corpus(corpus)),
    Experiment(
        "settings", Section.AUTO, "The other methods with other settings",
        ("quality", "@docs-dev", "@news-dev", "@wcxb-dev", "@sites-dev", "samples::1:25",
         *(part for name in _SETTINGS for part in ("--method", name))),
        _QUALITY, full=("--sites", "100", "--pages", "25"), quick=("--sites", "4", "--pages", "6"),
        without=(*_PEERS, *_AUTO), hidden=("F1 of segments against",), has_json=True,
    ),
    Experiment(
        "ablation", Section.AUTO, "What the parts of `auto` are worth",
        ("ablation", *(f"@{corpus}" for corpus in FITTED)), ("dehusk_bench.quality.ablation",),
        quick=("--sites", "6", "--pages", "12"),
        instead=("samples::1:25", "samples::2:25"), without=_PEERS,
        has_json=True, has_folds=True,
    ),
    Experiment(
        "together", Section.AUTO, "Pages together against each page alone",
        ("together", "@docs-dev", "@sites-dev", "@news-dev", "@wcxb-dev", "@articles-dev",
         *(f"@{corpus}" for corpus in _REPEATING), "--worst", "10"),
        ("dehusk_bench.quality.together",), quick=("--sites", "6", "--pages", "12"),
        instead=("samples::1:25",), without=_PEERS, has_json=True, has_folds=True,
    ),
    Experiment(
        "robustness", Section.AUTO, "Pages that do not belong to the site",
        ("robustness", "@docs-dev", "@news-dev", "@sites-dev"),
        ("dehusk_bench.quality.robustness",),
        full=("--sites", "30", "--pages", "20"), quick=("--sites", "6", "--pages", "6"),
        instead=("samples::1:20",), without=_PEERS, has_json=True,
        has_folds=True,
        plots=(
            Plot("F1 of the site's own pages, copies mixed in", "mixed in",
                 ("share of pages that do not belong", "F1"), ("F1",), x="share", by="method",
                 only=("mixed in", "copies")),
            Plot("F1 of the site's own pages, foreign pages mixed in", "mixed in",
                 ("share of pages that do not belong", "F1"), ("F1",), x="share", by="method",
                 only=("mixed in", "foreign")),
        ),
    ),
    Experiment(
        "teco", Section.HYPERLINK, "Table 1 of 001: per key page",
        ("teco", "@linked-dev", "--rows", *_TECO_METHODS), _TECO,
        quick=("--sites", "6"), instead=("samples::1:12",), has_json=True, has_folds=True,
    ),
    Experiment(
        "teco-sites", Section.HYPERLINK, "Key pages of real sites, other pages for absent ones",
        ("teco", *_SITES, *_TECO_METHODS), _TECO, quick=("--sites", "4"), has_json=True,
        has_folds=True,
    ),
    Experiment(
        "teco-sites-saved", Section.HYPERLINK, "The same with the saved pages alone",
        ("teco", *_SITES[:-1], *_TECO_METHODS), _TECO, quick=("--sites", "4"), hidden=("site",),
        has_json=True, has_folds=True,
    ),
    Experiment(
        "teco-samples", Section.HYPERLINK, "Key pages of sample sites",
        ("teco", *_TECO_METHODS), _TECO, full=("samples::301:30",), quick=("samples::301:6",),
        hidden=("site",), has_json=True,
    ),
    Experiment(
        "teco-best", Section.HYPERLINK, "The settings of `hyperlink.BEST`, one by one",
        ("teco", "@linked-dev", *_VARIANTS), _TECO, quick=("--sites", "6"),
        instead=("samples::1:12",), hidden=("site",), has_json=True, has_folds=True,
    ),
    Experiment(
        "teco-best-sites", Section.HYPERLINK, "The same on real sites",
        ("teco", *_SITES, *_VARIANTS), _TECO, quick=("--sites", "4"), hidden=("site",),
        has_json=True, has_folds=True,
    ),
    Experiment(
        "teco-best-grid", Section.HYPERLINK, "Settings like those of `BEST`, chosen on other sites",
        ("teco", "@linked-dev", *_GRID), _TECO, full=_VARIED, quick=("--sites", "6", *_VARIED[:2]),
        instead=("samples::1:8",), hidden=("site", "method"), has_json=True, has_folds=True,
    ),
    Experiment(
        "teco-best-grid-sites", Section.HYPERLINK, "The same choice on real sites",
        ("teco", *_SITES, *_GRID), _TECO, full=_VARIED, quick=("--sites", "6", *_VARIED[:2]),
        hidden=("site", "method"), has_json=True, has_folds=True,
    ),
    Experiment(
        "teco-sweep", Section.HYPERLINK, "Tables 5.2, 5.3 of 000, table 2 of 001: size and votes",
        ("teco", "@linked-dev", "--sweep"), _TECO,
        full=("--method", "hyperlink", "--method", "hyperlink:equality=text"),
        quick=("--sites", "6"), instead=("samples::1:12",), without=_AUTO,
        hidden=("site", "method"), has_json=True,
        plots=(
            Plot("F1 by size and votes", "votes", ("size of the subdigraph", "F1"), _SIZES),
            Plot("CPU time by size", "votes", ("size of the subdigraph", "CPU ms"), ("ms",)),
        ),
    ),
    Experiment(
        "teco-settings", Section.HYPERLINK, "Section 5.2.3 of 000: weights and thresholds",
        ("teco", "@linked-dev", "--ablation"), _TECO,
        full=("--method", "hyperlink", "--method", "hyperlink:equality=text"),
        quick=("--sites", "4"), instead=("samples::1:8",),
        hidden=("site", "method"), has_json=True, has_folds=True,
    ),
    Experiment(
        "teco-grid", Section.HYPERLINK, "Section 5.2 of 000: settings chosen on other sites",
        ("teco", "@linked-dev", "--grid", "--method", "hyperlink", "--method",
         "hyperlink:equality=text"), _TECO, full=("--sites", "40"),
        quick=("--sites", "6", "--vary", "size=2,3", "--vary", "votes=1,2,3"),
        instead=("samples::1:8",), hidden=("site", "method"), has_json=True, has_folds=True,
    ),
    Experiment(
        "teco-links", Section.HYPERLINK, "Which links get chosen",
        ("teco", "@linked-dev", "--links"), _TECO, quick=("--sites", "6"),
        instead=("samples::1:12",), without=_AUTO, hidden=("site",), has_json=True,
    ),
    Experiment(
        "storage", Section.SEGMENTS, "Table 1 of 002: storage at equal recall; delay",
        ("storage",), ("dehusk_bench.papers.storage",),
        full=("samples::1:200", "@docs-dev", "--sites", "20"), quick=("samples::1:30",),
        plots=(
            Plot("Recall by storage", "way", ("kB kept", "recall of template blocks"), ("recall",),
                 x="kB", by="way", log_x=True),
        ),
    ),
    Experiment(
        "segments-sweep", Section.SEGMENTS, "What Tb and N change",
        ("sweep-segments",), ("dehusk_bench.papers.sweep_segments",),
        full=("@docs-dev", "samples::1:400", "--base-life", "2,5,10,20,50", "--life-factor",
              "5,20,100"),
        quick=("samples::1:40", "--base-life", "2,10,50", "--life-factor", "5,20"),
        without=_AUTO,
        plots=(
            Plot("Recall by size of the table", "separators", ("share of a batch", "recall"),
                 ("block R",), x="share"),
        ),
    ),
    Experiment(
        "page-tables", Section.PAGE, "Table 1 and figures 1–3 of 003",
        ("page-tables", "@docs-dev", "samples::5:20", "--penalty", "0.01", "--factors",
         "0.01,0.03,0.1,0.3,1,3,10,100"),
        ("dehusk_bench.papers.page_tables",), full=("--pages", "6"),
        quick=("--sites", "5", "--pages", "3"),
        without=_AUTO, plots_option="--plots",
    ),
    Experiment(
        "duplicates", Section.PAGE, "Table 2 of 003: duplicates",
        ("duplicates",), ("dehusk_bench.papers.duplicates",),
        quick=("--sites", "4", "--pages", "12"), has_json=True,
    ),
    Experiment(
        "duplicates-real", Section.PAGE, "Duplicates of real pages in other sites' templates",
        ("duplicates", "@sites-dev", "--lang", "en", "--dressed"),
        ("dehusk_bench.papers.duplicates",), full=("10",), quick=("3", "--pages", "6"),
        has_json=True,
    ),
    Experiment(
        "classify", Section.PAGE, "Table 3 of 003: classification",
        ("classify",), ("dehusk_bench.papers.classify",),
        quick=("--sites", "6", "--pages", "15", "--draws", "200"), has_json=True,
    ),
    Experiment(
        "classify-real", Section.PAGE, "Classification of real pages in other sites' templates",
        ("classify", "@sites-dev", "--lang", "en", "--dressed", "5"),
        ("dehusk_bench.papers.classify",), quick=("--draws", "200", "--pages", "12"),
        has_json=True,
    ),
    Experiment(
        "classify-genres", Section.PAGE, "Classification of real pages as they are, by genre",
        ("classify", "@sites-dev", "--lang", "en", "--draws", "300"),
        ("dehusk_bench.papers.classify",), full=("--pages", "10"), quick=("--pages", "3"),
        has_json=True,
    ),
    Experiment(
        "chunks-tables", Section.CHUNKS, "Tables 1 and 2, figures 3 and 4 of 004",
        ("chunks-tables",), ("dehusk_bench.papers.chunks_tables",),
        full=tuple(f"samples:tables:{seed}:40" for seed in range(1, 9)),
        quick=("samples:tables:1:40", "samples:tables:2:40"), without=_AUTO,
        plots=(
            Plot("ttdr by threshold (figure 3)", "threshold", ("threshold", "ttdr"), ("ttdr",),
                 x="threshold"),
            Plot("ttdr by pages picked (figure 4)", "pages picked", ("share of pages", "ttdr"),
                 ("ttdr",), x="pages picked"),
        ),
    ),
    Experiment(
        "speed", Section.COST, "CPU time a page",
        ("speed", "@wcxb-dev", "@docs-dev", "--peers", "--method", "auto", "--method", "segments"),
        ("dehusk_bench.speed.command",), full=("--sites", "60", "--pages", "4"),
        quick=("--sites", "8", "--pages", "2", "--rounds", "1"), instead=("samples::1:4",),
        has_json=True,
    ),
)  # fmt: skip
"""All of them, in the order in which they run."""
