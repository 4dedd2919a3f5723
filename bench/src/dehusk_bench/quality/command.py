"""`dehusk bench quality`: how good the answers are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.corpora import Caps, open_corpus
from dehusk_bench.options import add_contenders
from dehusk_bench.peers.contenders import make_contenders, read_folds, unseen_note
from dehusk_bench.quality.curves import MIN_PAGES, write_curves
from dehusk_bench.quality.measure import By, run_quality
from dehusk_bench.quality.report import LEGEND, quality_json, render_report
from dehusk_bench.showing import Progress, check_file, save, show, warn

DESCRIPTION: Final = (
    "Score methods on pages whose content is known, in one pass and in order, each site learned"
    " from nothing. Content: precision, recall and F1 of words, averaged over the pages of a site,"
    " then over sites, and by place in the site. Template: the same of elements, where the gold"
    " names them."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options of the experiment."""
    add_contenders(parser)
    parser.add_argument(
        "--peers-only",
        action="store_true",
        help="measure other extractors, and no method of dehusk; with --peers and with this come"
        " those in Node, deboiler and the removal of repeated lines and sentences as well",
    )
    parser.add_argument(
        "--by",
        choices=("site", "lang", "type", "generator", "genre", "source", "place"),
        help="add a row for each site, language, page type, generator, genre of site, source of the"
        " gold, or place in the site",
    )
    parser.add_argument(
        "--teco",
        action="store_true",
        help="add the score of the TECO suite, by which elements above the content are template",
    )
    parser.add_argument(
        "--curves",
        metavar="DIR",
        type=Path,
        help="draw F1 over the pages seen of a site into this folder, one plot for each corpus",
    )
    parser.add_argument(
        "--folds",
        type=Path,
        metavar="DIR",
        help="judge with `auto` each site by a model that has not seen it, out of a folder that"
        " `dehusk train auto --folds` wrote",
    )


def run(arguments: argparse.Namespace) -> int:
    """Score, and print a table per corpus as it is done; 1 if one could not be read to its end.

    Raises UsageError for a method or a corpus that does not exist.
    """
    caps = Caps(arguments.sites, arguments.pages)
    corpora = [open_corpus(name, caps) for name in arguments.corpora or ("samples",)]
    check_file(arguments.json)
    curves = arguments.curves
    if curves is not None and not curves.is_dir():
        raise UsageError(f"--curves {curves}: there is no such folder")
    if arguments.peers_only and arguments.methods:
        raise UsageError("--peers-only measures no method: name none")
    contenders, missing = make_contenders(
        arguments.methods,
        with_peers=arguments.peers or arguments.peers_only,
        with_methods=not arguments.peers_only,
        folds=arguments.folds,
    )
    warn(missing)
    reports = []
    by = By(arguments.by) if arguments.by else None
    progress = Progress(sys.stderr)
    for report in run_quality(corpora, contenders, by=by, on_page=progress.show):
        progress.clear()
        if arguments.folds is not None:
            report.notes.append(unseen_note(read_folds(arguments.folds), report.site_names))
        reports.append(report)
        tables = render_report(report, with_teco=arguments.teco, markdown=arguments.markdown)
        show(tables + "\n")
        if curves is not None:
            written = write_curves(curves, report.corpus, report.curves)
            show(f"wrote {written}\n" if written else f"no site has {MIN_PAGES} pages\n")
    show(LEGEND)
    save(arguments.json, quality_json(reports))
    return int(any(report.is_cut for report in reports))
