"""`dehusk bench teco` on small sites, as JSON lines and in the form of the TECO suite."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dehusk.doors.service.gold import node_gold, nodes_inside, strip_marks
from dehusk.errors import SettingError, UsageError
from dehusk.memory import Memory
from dehusk.methods import METHODS, auto
from dehusk.methods.papers.hyperlink import BEST, Equality, Hyperlink
from dehusk.methods.papers.segments import Segments
from dehusk.methods.written import parse_method
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk_bench.papers import teco, teco_grid
from dehusk_bench.papers.teco_grid import DEFAULTS, combine, read_grid
from dehusk_bench.papers.teco_links import menu_links, menu_table
from dehusk_bench.papers.teco_measure import FewLoads, means, run_sweep, run_teco
from dehusk_bench.papers.teco_pages import KeyPage, printed_pages, read_key_pages
from dehusk_bench.papers.teco_report import ABLATIONS
from dehusk_bench.samples import SamplePage, sample_site, write_site

NAMES = ("hay", "straw", "chaff", "bran", "meal")
STORY = {
    "hay": "Cut before it sets seed, and turned twice in the sun.",
    "straw": "What is left of the stalk once the ear is gone.",
    "chaff": "Light enough that a breath of wind parts it from the grain.",
    "bran": "The coat of the kernel, sifted off for white bread.",
    "meal": "Ground coarsely, in one pass between the stones.",
}


def _html(name: str, mark: str = "", suffix: str = ".html") -> str:
    menu = "".join(f"<li><a href={other}{suffix}>{other}</a></li>" for other in NAMES)
    return (
        f"<!doctype html><title>{name}</title><body class='{name}'>"
        f"<ul class='menu {mark and 'TECO_mainMenu'}'>{menu}</ul>"
        f"<div id=main{f' class={mark}' if mark else ''}><h1 class='big {mark}'>On {name}</h1>"
        f"<p{mark and ' class=TECO_mainContent'}>{STORY[name]}</p></div>"
        "<p class=foot>The barn, open daily</p>"
    )


def _write_site(folder: Path, mark: str = "TECO_notTemplate", key: str = "hay") -> None:
    folder.mkdir(parents=True)
    for name in NAMES:
        html = _html(name, mark if name == key else "")
        (folder / f"{name}.html").write_text(html, "utf-8")


def _keys(source: Path) -> list[KeyPage]:
    notes: list[str] = []
    keys = list(read_key_pages(str(source), notes))
    assert notes == []
    return keys


def _records(path: Path) -> Path:
    with path.open("w") as file:
        for name in NAMES:
            record = {
                "site": "barn", "url": f"https://barn.example/{name}.html", "html": _html(name),
                "content_nodes": [[1, 1]], "excluded_nodes": [], "key": name == "hay",
                "type": "farm",
            }  # fmt: skip
            file.write(json.dumps(record) + "\n")
    return path


def _run(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    parser = argparse.ArgumentParser()
    teco.add_arguments(parser)
    assert teco.run(parser.parse_args(options)) == 0
    return capsys.readouterr().out


def test_marks_are_gone_before_anything_looks_at_the_page() -> None:
    tree, marks = strip_marks(Page(_html("hay", "TECO_notTemplate2")))
    assert b"TECO" not in tree.source
    assert b"notTemplate" not in tree.source
    assert tree.source == parse(Page(_html("hay"))).tree.source.replace(
        b'"menu "', b'"menu"'
    ).replace(b'"big "', b'"big"')
    assert marks == ([[1, 1]], [[1, 1, 1]], [[1, 0]])


@pytest.mark.parametrize("mark", ["TECO_notTemplate", "TECO_notTemplate3", "notTemplate"])
def test_every_spelling_of_the_mark_is_known(tmp_path: Path, mark: str) -> None:
    _write_site(tmp_path / "barn", mark)
    (key,) = _keys(tmp_path)
    assert key.tree.url == "file:hay.html"
    names = [key.tree.name(node) for node in key.gold.template.nonzero()[0].tolist()]
    assert names == ["ul", *["li", "a"] * 5, "p"]


def test_marks_with_odd_attributes_beside_them_are_taken_off_alone() -> None:
    html = "<p title='a class=' class='x TECO_notTemplate y' data-v='&quot;&amp;<'>t</p>"
    tree, marks = strip_marks(Page(html))
    node = next(node for node in range(len(tree)) if tree.name(node) == "p")
    assert tree.attributes(node) == {"title": "a class=", "class": "x y", "data-v": '"&<'}
    assert marks == ([[1, 0]], [], [])


def test_a_page_without_marks_stays_as_it_is() -> None:
    page = Page("<p class=mainContent>x")
    tree, marks = strip_marks(page)
    assert (tree.source, marks) == (parse(page).tree.source, ([], [], []))


@pytest.mark.parametrize(("mark", "is_own"), [("TECO_notTemplate", True), ("notTemplate", False)])
def test_a_site_may_have_a_class_of_its_own_that_is_a_mark_elsewhere(
    mark: str, *, is_own: bool
) -> None:
    tree, marks = strip_marks(Page(f"<p class={mark}>x</p><p class=mainContent>y</p>"))
    assert (b"mainContent" in tree.source) is is_own
    assert marks == ([[1, 0]], [] if is_own else [[1, 1]], [])


def test_a_folder_has_types_and_key_pages_below_it(tmp_path: Path) -> None:
    _write_site(tmp_path / "pages" / "barn" / "deep")
    _write_site(tmp_path / "pages" / "loft", key="bran")
    facts = {"barn": {"type": "farm", "key": "deep/hay.html"}}
    (tmp_path / "pages" / "sites.json").write_text(json.dumps(facts))
    keys = _keys(tmp_path)
    assert [(key.site, key.type, key.tree.url) for key in keys] == [
        ("barn", "farm", "file:deep/hay.html"), ("loft", "–", "file:bran.html"),
    ]  # fmt: skip


def test_the_key_pages_that_the_thesis_prints_need_no_list(tmp_path: Path) -> None:
    folder = tmp_path / "pages" / "www.tennis.com"
    _write_site(folder)
    (folder / "hay.html").rename(folder / "index.html")
    other = folder / "bran.html"
    other.write_text(_html("bran", "TECO_notTemplate"))
    (key,) = _keys(tmp_path)
    assert (key.type, key.tree.url) == ("Media / Communication", "file:index.html")
    assert key.printed is not None
    assert (key.printed.nodes, key.printed.links) == ((1300, 463, 676), (13, 13, 0, 0))
    (row,) = run_teco([key], Hyperlink())
    assert (row.printed_nodes, row.printed_template, row.printed_content) == (1300, 463, 676)


def test_where_the_printed_key_page_is_missing_marks_are_looked_for(tmp_path: Path) -> None:
    _write_site(tmp_path / "www.tennis.com")
    notes: list[str] = []
    (key,) = read_key_pages(str(tmp_path), notes)
    assert (key.type, key.tree.url) == ("Media / Communication", "file:hay.html")
    assert "no index.html in it" in notes[0]


def test_of_two_printed_key_pages_of_a_site_one_may_be_missing(tmp_path: Path) -> None:
    folder = tmp_path / "users.dsic.upv.es"
    _write_site(folder / "%7Ejsilva" / "wwv2013")
    (folder / "%7Ejsilva" / "wwv2013" / "hay.html").rename(
        folder / "%7Ejsilva" / "wwv2013" / "index2.html"
    )
    notes: list[str] = []
    (key,) = read_key_pages(str(tmp_path), notes)
    assert key.printed is not None
    assert key.printed.nodes == (197, 163, 34)
    assert notes == [f"{folder}: no ~dinsa/en/index.html in it; left out"]


def test_forty_key_pages_of_five_types_are_printed() -> None:
    printed = [page for pages in printed_pages().values() for page in pages]
    assert Counter(page.type for page in printed) == {
        "Companies / Shops": 14, "Forums / Social": 2, "Personal / Blogs": 3,
        "Media / Communication": 11, "Institutions / Associations": 10,
    }  # fmt: skip
    assert len({page.path for page in printed}) == 40
    for page in printed:
        nodes, template, content = page.nodes
        assert max(template, content) < nodes, page.path
        assert page.links[0] == sum(page.links[1:]), page.path
    assert len(printed_pages()["users.dsic.upv.es"]) == 2
    # Table 1 of 001 prints these means.
    assert sum(page.nodes[0] for page in printed) / 40 == pytest.approx(1444.3)
    assert sum(page.nodes[1] for page in printed) / 40 == pytest.approx(499.1)


def test_saved_pages_are_found_under_the_urls_of_the_index(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    urls = {f"{name}.html": f"https://barn.example/{name}.html" for name in NAMES}
    (tmp_path / "barn" / "index.json").write_text(json.dumps(urls))
    (row,) = run_teco(_keys(tmp_path), Hyperlink(equality="text"))
    assert (row.loads, row.f1) == (4, 1.0)


def test_names_that_links_escape_differently_are_found(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    (tmp_path / "barn" / "straw.html").rename(tmp_path / "barn" / "straw?x=1.html")
    key = tmp_path / "barn" / "hay.html"
    key.write_text(key.read_text().replace("straw.html", "straw%3Fx=1.html"))
    (found,) = _keys(tmp_path)
    assert found.load("file:straw%3Fx=1.html") is not None


def test_a_folder_without_a_key_page_is_refused(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn", key="none")
    with pytest.raises(UsageError, match="no key page"):
        _keys(tmp_path)


@pytest.mark.parametrize("written", ["{", "[]"])
def test_a_damaged_index_is_refused(tmp_path: Path, written: str) -> None:
    _write_site(tmp_path / "barn")
    (tmp_path / "barn" / "index.json").write_text(written)
    with pytest.raises(UsageError, match="not"):
        _keys(tmp_path)


def test_a_key_page_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    (tmp_path / "barn" / "dust.html").write_bytes(b"notTemplate" + bytes(range(32)) * 40)
    notes: list[str] = []
    assert len(list(read_key_pages(str(tmp_path), notes))) == 1
    assert len(notes) == 1
    assert "left out" in notes[0]


def _marked(sample: SamplePage) -> str:
    """The page with TECO's marks on the roots of its content and on its menu."""
    tree = parse(sample.page).tree
    children: dict[int, list[int]] = {}
    for node in range(1, len(tree)):
        if not tree.is_text[node]:
            children.setdefault(int(tree.parent[node]), []).append(node)
    roots = []
    for path in sample.content_nodes:
        node = 0
        for position in path:
            node = children[node][position]
        roots.append(node)
    marks = dict.fromkeys(roots, b"TECO_notTemplate TECO_mainContent")
    marks[next(node for node in range(len(tree)) if tree.name(node) == "nav")] = b"TECO_mainMenu"
    html = tree.source
    for node, mark in sorted(marks.items(), reverse=True):
        start, stop = int(tree.start[node]), int(tree.stop[node])
        tag = html[start:stop]
        if b' class="' in tag:
            tag = tag.replace(b' class="', b' class="%s ' % mark)
        else:
            tag = tag.replace(b">", b' class="%s">' % mark)
        html = html[:start] + tag + html[stop:]
    return html.decode()


@pytest.mark.parametrize("kind", ["news", "shop", "docs"])
def test_a_sample_site_in_the_form_of_teco_is_measured(tmp_path: Path, kind: str) -> None:
    samples = list(sample_site(kind, pages=12, seed=2))
    folder = tmp_path / kind
    write_site(samples, folder)
    index = json.loads((folder / "index.json").read_text())
    key = samples[5]
    name = next(name for name, url in index.items() if url == key.page.url)
    (folder / name).write_text(_marked(key), "utf-8")
    (found,) = _keys(tmp_path)
    gold = node_gold(parse(key.page).tree, key.content_nodes, ())
    assert gold is not None
    assert (found.gold.template == gold.template).all()
    assert found.content is not None
    assert (found.content == nodes_inside(found.tree, key.content_nodes, ())).all()
    (menu,) = menu_links([found], Hyperlink())
    assert menu.is_marked
    assert menu.links == menu.whole + menu.part + menu.none + menu.absent > 2
    (row,) = run_teco([found], Hyperlink(equality="text"))
    assert row.f1 > 0.7
    assert row.dom_f1 > 0.7
    assert row.words_f1 is not None
    assert row.words_f1 > 0.7
    assert row.loads > 1


def test_rows_have_the_figures_of_001_table_1(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    (row,) = run_teco(_keys(tmp_path), Hyperlink(equality="text"))
    # Judged are html, body, the menu of eleven, the content of three and the footer.
    assert (row.nodes, row.template, row.retrieved, row.hits) == (17, 12, 12, 12)
    assert (row.recall, row.precision, row.f1) == (1, 1, 1)
    assert row.teco_f1 == pytest.approx(2 * 12 / (12 + 14))
    assert row.loads == 4


def test_nodes_are_counted_as_the_papers_count_too(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    (key,) = _keys(tmp_path)
    (row,) = run_teco([key], Hyperlink(equality="text"))
    # html, head, title and its text, body; six of the menu with a link and a text in five; the
    # content: three elements with two texts; the footer with its own.
    assert row.dom_nodes == len(key.tree) == 5 + 16 + 5 + 2
    assert row.dom_template == 28 - 5
    # By text the two above the content are content: it is in them.
    assert (row.dom_retrieved, row.dom_hits) == (21, 21)
    assert row.dom_f1 == pytest.approx(2 * 21 / (21 + 23))
    (by_paper,) = run_teco([key], Hyperlink())
    assert (by_paper.dom_retrieved, by_paper.dom_hits, by_paper.dom_recall) == (28, 23, 1)


def test_the_main_content_is_scored_by_its_own_marks(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    (row,) = run_teco(_keys(tmp_path), Hyperlink(equality="text"))
    # The content is the paragraph; what is not template has a heading and a frame as well.
    assert (row.content, row.content_retrieved, row.content_hits) == (1, 3, 1)
    assert (row.content_recall, row.content_precision) == (1, 1 / 3)
    said = len(STORY["hay"].split())
    assert (row.words_recall, row.words_precision) == (1, said / (said + 2))
    assert row.dom_content == 2


def test_without_marks_of_its_own_the_main_content_is_not_scored(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    key = tmp_path / "barn" / "hay.html"
    key.write_text(key.read_text().replace(" class=TECO_mainContent", ""))
    (row,) = run_teco(_keys(tmp_path), Hyperlink())
    assert (row.content, row.content_f1, row.words_f1) == (None, None, None)
    assert "content_f1" not in means([row])


@pytest.mark.parametrize("is_marked", [True, False])
def test_links_of_the_menu_are_told_by_what_they_lead_to(
    tmp_path: Path, *, is_marked: bool
) -> None:
    folder = tmp_path / "barn"
    _write_site(folder)
    key = folder / "hay.html"
    if not is_marked:
        key.write_text(key.read_text().replace("TECO_mainMenu", ""))
    (folder / "straw.html").unlink()
    bran = folder / "bran.html"
    bran.write_text(bran.read_text().replace("The barn, open daily", "Closed"))
    (folder / "meal.html").write_text("<!doctype html><h1>Moved</h1><p>To the mill.</p>")
    (menu,) = menu_links(_keys(tmp_path), Hyperlink(equality="text"))
    assert menu.is_marked is is_marked
    assert (menu.links, menu.whole, menu.part, menu.none, menu.absent) == (4, 1, 1, 1, 1)
    assert menu_table([menu], with_rows=False, markdown=False).split() == [
        "menu", "of", "VL", "TT", "PT", "DT", "absent", "all", "4", "1", "1", "1", "1",
    ]  # fmt: skip


def test_a_link_that_stands_before_the_menu_too_is_one_of_the_menu(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    key = tmp_path / "barn" / "hay.html"
    key.write_text(key.read_text().replace("<ul", "<a href=bran.html>Bran!</a><ul"))
    (menu,) = menu_links(_keys(tmp_path), Hyperlink(equality="text"))
    assert (menu.links, menu.absent) == (4, 0)


def test_what_the_thesis_counts_in_a_menu_stands_beside_it(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    (key,) = _keys(tmp_path)
    printed = printed_pages()["water.org"][0]
    menus = menu_links([replace(key, printed=printed), key], Hyperlink())
    lines = menu_table(menus, with_rows=True, markdown=False).splitlines()
    assert lines[0].endswith("VL in 000  TT in 000  PT in 000  DT in 000")
    assert [line.split()[-4:] for line in lines[1:]] == [
        ["9", "0", "9", "0"], ["9", "0", "9", "0"], ["–"] * 4,
    ]  # fmt: skip


def test_by_the_paper_parallel_content_costs_precision(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    (row,) = run_teco(_keys(tmp_path), Hyperlink())
    assert row.recall == 1
    assert row.precision == pytest.approx(12 / 17)


def test_any_method_learns_what_the_key_page_links(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    (row,) = run_teco(_keys(tmp_path), Segments(min_count=3))
    assert (row.loads, row.f1) == (5, 1.0)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "hyperlink"])
def test_nodes_are_template_as_the_product_labels_them(name: str) -> None:
    key, *_ = read_key_pages("samples:tables:1:12", [])
    (row,) = run_teco([key], parse_method(name))
    assert row.f1 > 0
    # What is never shown is nobody's content: <head> is found as all methods find it.
    assert row.dom_retrieved >= int((~key.tree.shown).sum()) > 0


def test_few_loads_are_those_of_hyperlink_as_commands_set_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    keys = list(read_key_pages("samples:docs:2:8", []))
    best = run_teco(keys, Hyperlink(**BEST))
    few, many = run_teco(keys, FewLoads(Segments())), run_teco(keys, Segments())
    assert [(row.loads, row.requests) for row in few] == [(row.loads, row.requests) for row in best]
    assert means(few)["loads"] < means(many)["loads"]
    assert [row.retrieved for row in few] != [row.retrieved for row in many]
    shown = _run(capsys, "samples:docs:2:8", "--few-loads", "segments", "--method", "auto")
    assert "samples:docs:2:8, segments, at most 5 loads: 8 key pages" in shown
    with pytest.raises(UsageError, match="max_loads"):
        _run(capsys, "samples:docs:2:8", "--few-loads", "hyperlink")


def test_json_lines_give_the_same_figures(tmp_path: Path) -> None:
    _write_site(tmp_path / "teco" / "barn")
    lines = _keys(_records(tmp_path / "barn.jsonl"))
    (from_lines,) = run_teco(lines, Hyperlink(equality="text"))
    (from_folder,) = run_teco(_keys(tmp_path / "teco"), Hyperlink(equality="text"))
    assert from_lines.type == "farm"
    names = ("nodes", "template", "retrieved", "hits", "f1", "teco_f1", "loads")
    assert [getattr(from_lines, name) for name in names] == [
        getattr(from_folder, name) for name in names
    ]


def test_without_a_key_every_page_is_one(tmp_path: Path) -> None:
    path = _records(tmp_path / "barn.jsonl")
    path.write_text(path.read_text().replace('"key": true', '"key": false'))
    assert len(_keys(path)) == len(NAMES)


@pytest.mark.parametrize("equality", list(Equality))
def test_the_sweep_agrees_with_single_runs(tmp_path: Path, equality: Equality) -> None:
    keys = _keys(_records(tmp_path / "barn.jsonl"))
    method = Hyperlink(equality=equality.value)
    swept = run_sweep(keys, method)
    assert set(swept) == {(size, votes) for size in range(1, 9) for votes in range(1, size + 1)}
    for (size, votes), (row,) in swept.items():
        (single,) = run_teco(keys, Hyperlink(size=size, votes=votes, equality=equality.value))
        assert (row.retrieved, row.f1, row.loads) == (single.retrieved, single.f1, single.loads)


def test_means_are_over_key_pages_and_empty_without_any(tmp_path: Path) -> None:
    _write_site(tmp_path / "barn")
    _write_site(tmp_path / "loft", key="bran")
    rows = run_teco(_keys(tmp_path), Hyperlink())
    assert means(rows)["f1"] == pytest.approx(sum(row.f1 for row in rows) / 2)
    assert means([]) == {}


def test_the_tables_are_printed_and_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, saved = str(_records(tmp_path / "barn.jsonl")), tmp_path / "figures.json"
    shown = _run(capsys, source, "--rows", "--json", str(saved), "--method", "hyperlink:size=2")
    assert "barn.jsonl, hyperlink:size=2: 1 key pages" in shown
    assert [line.split()[0] for line in shown.splitlines()[2:6] if line] == [
        "site", "all", "farm", "barn",
    ]  # fmt: skip
    figures = json.loads(saved.read_text())
    assert figures[source]["hyperlink:size=2"]["1 key pages"][0]["loads"] == 3


def test_the_sweep_and_the_ablation_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(_records(tmp_path / "barn.jsonl"))
    shown = _run(capsys, source, "--sweep", "--ablation", "--markdown")
    lines = {line.split("|")[1].strip(): line for line in shown.splitlines() if "|" in line}
    assert {f"{votes} votes" for votes in range(1, 9)} <= lines.keys()
    assert lines["in 001"].split("|")[2:-1] == [f"{n:>7} " for n in (1, 1, 2, 3, 3, 3, 3, 4)]
    assert ABLATIONS[Equality.PAPER].keys() <= lines.keys()


def test_every_ablation_is_a_setting_that_can_be_made() -> None:
    for variants in ABLATIONS.values():
        for settings in variants.values():
            Hyperlink(**settings)


def test_experiments_on_other_methods_are_refused(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    teco.add_arguments(parser)
    source = str(_records(tmp_path / "barn.jsonl"))
    arguments = parser.parse_args([source, "--sweep", "--method", "segments"])
    with pytest.raises(UsageError, match="segments"):
        teco.run(arguments)


VARIED = ("--vary", "size=2,3", "--vary", "votes=1,2,3", "--vary", "similarity_threshold=0,0.3,0.7")
"""Fifteen combinations: three votes of two pages are none."""


def _grid(capsys: pytest.CaptureFixture[str], source: str, *options: str) -> str:
    shown = _run(capsys, source, "--grid", "--parts", "3", *VARIED, *options)
    return shown[shown.index("15 combinations of settings, 3 folds") :]


def test_the_grid_is_chosen_on_some_sites_and_measured_on_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "figures.json"
    shown = _grid(capsys, "samples::1:2", "--json", str(saved))
    (figures,) = (
        found
        for title, found in json.loads(saved.read_text())["samples::1:2"]["hyperlink"].items()
        if "folds" in title
    )
    rows = run_teco(read_key_pages("samples::1:2", []), Hyperlink())
    sites = [row.site for row in rows]
    tested = [place for fold in figures["folds"] for place in fold["test"]]
    assert sorted(tested) == [*range(len(sites))]
    f1 = {json.dumps(trial["settings"]): trial["figures"]["f1"] for trial in figures["trials"]}
    for fold in figures["folds"]:
        training, test = ({sites[place] for place in fold[x]} for x in ("training", "test"))
        assert training
        assert not training & test
        sums = {name: sum(found[x] for x in fold["training"]) for name, found in f1.items()}
        assert sums[json.dumps(fold["chosen"])] == max(sums.values())
    default = f1[json.dumps({"size": 3, "votes": 2, "similarity_threshold": 0.3})]
    assert default == pytest.approx([row.f1 for row in rows], abs=1e-6)
    assert "all 15, on average" in shown
    assert "similarity_threshold=0.7 " in shown


@pytest.mark.slow
def test_a_grid_goes_on_after_a_kill_and_gives_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "grid.jsonl"
    command = (
        sys.executable, "-m", "dehusk", "bench", "teco", "samples::1:2", "--grid", "--parts", "3",
        *VARIED, "--state", str(state),
    )  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        end = time.monotonic() + 120
        while not state.exists() or state.read_bytes().count(b"\n") < 4:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        process.kill()
    done = state.read_bytes()
    whole = done[: done.rindex(b"\n") + 1]
    assert process.returncode == -signal.SIGKILL
    assert 4 <= whole.count(b"\n") < 17
    state.write_bytes(whole + b'{"settings": {"si')
    with_state = _grid(capsys, "samples::1:2", "--state", str(state))
    assert state.read_bytes().startswith(whole)
    # The header, fifteen combinations, and the method as it is set.
    assert state.read_bytes().count(b"\n") == 17
    assert with_state == _grid(capsys, "samples::1:2")


def test_what_is_done_of_a_grid_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = str(tmp_path / "grid.jsonl")
    first = _grid(capsys, "samples::1:1", "--state", state)

    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(teco_grid, "run_votes", fail)
    assert _grid(capsys, "samples::1:1", "--state", state) == first


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (("samples::2:1",), "data"),
        (("samples::1:1", "--method", "hyperlink:moved=true"), "method"),
        (("samples::1:1", "--stand-ins"), "--stand-ins"),
        (("samples::1:1", "--keys", "1"), "--keys"),
    ],
)
def test_the_state_of_another_grid_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: tuple[str, ...], what: str
) -> None:
    state = tmp_path / "grid.jsonl"
    _grid(capsys, "samples::1:1", "--state", str(state))
    before = state.read_bytes()
    with pytest.raises(UsageError, match=f"with other {what}"):
        _grid(capsys, *other, "--state", str(state))
    assert state.read_bytes() == before


@pytest.mark.parametrize("text", ["a note of mine", "a note of mine\n", "[]\n", '{"data": 1}\n'])
def test_a_file_that_is_no_state_is_refused_and_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    state = tmp_path / "notes"
    state.write_text(text)
    with pytest.raises(UsageError, match="not the state of a grid"):
        _grid(capsys, "samples::1:1", "--state", str(state))
    assert state.read_text() == text


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--grid", "--vary", "size"), "VALUE"),
        (("--grid", "--vary", "colour=red"), "no setting"),
        (("--grid", "--vary", "size=3,99"), "size must be"),
        (("--grid", "--vary", "weights=1/2"), "weights"),
        (("--grid", "--parts", "1"), "two at least"),
        (("--grid", "--parts", "50"), "only"),
        (("--vary", "size=1"), "for --grid"),
        (("--links", "--stand-ins"), "not together"),
        (("--grid", "--state", "/no/such/folder/x"), "No such file"),
        (
            ("--grid", "--state", "x", "--method", "hyperlink", "--method", "hyperlink:size=2"),
            "one source",
        ),
    ],
)
def test_grids_that_cannot_be_are_refused(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], reason: str
) -> None:
    vary = () if "--vary" in options else ("--vary", "size=3")
    with pytest.raises((UsageError, SettingError), match=reason):
        _run(capsys, "samples::1:1", *options, *(vary if "--grid" in options else ()))


def _folds(folder: Path, of_sites: dict[str, int]) -> str:
    """Models as training writes them: by the first all is content, the second is the shipped one.

    `of_sites` says which of the two has not seen a site.
    """
    folder.mkdir()
    shipped = json.loads(Path(str(auto.__file__)).with_name("model.json").read_text("utf-8"))
    blind = {
        name: shipped[name]
        | {"output": [[0] * len(bias) for _ in shipped[name]["output"]], "output_bias": bias}
        for name, bias in (("page", [50]), ("context", [50, -50]))
    }
    for number, model in enumerate((shipped | blind, shipped)):
        (folder / f"fold-{number}.json").write_text(json.dumps(model), "utf-8")
    (folder / "folds.json").write_text(json.dumps(of_sites), "utf-8")
    return str(folder)


@pytest.mark.parametrize("blind", ["barn", "loft"])
@pytest.mark.parametrize("method", ["auto", "hyperlink:page_verdict=always"])
def test_a_site_is_judged_by_the_model_that_has_not_seen_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str, blind: str
) -> None:
    for site in ("barn", "loft", "mill"):
        _write_site(tmp_path / "teco" / site)
    folds = _folds(tmp_path / "folds", {site: int(site != blind) for site in ("barn", "loft")})
    source, saved = str(tmp_path / "teco"), tmp_path / "rows.json"
    shown = _run(capsys, source, "--method", method, "--json", str(saved), "--folds", folds)
    assert "2 of 3 sites by a model of `auto` that has not seen them" in shown
    (rows,) = json.loads(saved.read_text())[source][method].values()
    retrieved = {row["site"]: row["retrieved"] for row in rows}
    assert retrieved.pop(blind) == 0
    assert min(retrieved.values()) >= 10


def test_models_of_other_sites_alone_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write_site(tmp_path / "teco" / "mill")
    folds = _folds(tmp_path / "folds", {"barn": 0})
    with pytest.raises(UsageError, match="no model there is for"):
        _run(capsys, str(tmp_path / "teco"), "--folds", folds)


def test_a_folder_without_models_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="--folds"):
        _run(capsys, "samples::1:1", "--folds", str(tmp_path))


@pytest.mark.parametrize("equality", list(Equality))
def test_the_usual_grid_is_around_what_is_set(equality: Equality) -> None:
    method = Hyperlink(equality=equality.value)
    combinations = combine(read_grid(DEFAULTS[equality]), method)
    assert 100 < len(combinations) < 1000
    assert method in [replace(method, **settings) for settings in combinations]


def test_methods_are_compared_site_by_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(_records(tmp_path / "barn.jsonl"))
    both = _run(capsys, path, "--method", "hyperlink", "--method", "segments")
    assert f"{path}: site by site\n\nF1 of hyperlink against" in both
    assert "within noise" in both.split("site by site")[1]
    beside = both.split("methods side by side")[1].splitlines()[2:5]
    assert [line.split()[0] for line in beside] == ["method", "hyperlink", "segments"]
    assert beside[0].split()[1:] == [
        "precision", "recall", "f1", "teco_f1", "dom_f1", "content_f1", "words_f1", "loads",
        "requests", "ms",
    ]  # fmt: skip
    assert "site by site" not in _run(capsys, path, "--method", "hyperlink")


def _unnamed(path: Path) -> Path:
    """The records of a site that names no key page, and whose pages link one that is missing."""
    records = [json.loads(line) for line in _records(path).read_text("utf-8").splitlines()]
    for record in records:
        record["key"] = False
    path.write_text("".join(json.dumps(record) + "\n" for record in records[:-1]), "utf-8")
    return path


def test_of_a_site_that_names_no_key_pages_some_are_taken_evenly(tmp_path: Path) -> None:
    path = str(_unnamed(tmp_path / "barn.jsonl"))
    assert len(list(read_key_pages(path, []))) == 4
    found = [key.tree.url for key in read_key_pages(path, [], max_keys=2)]
    assert found == ["https://barn.example/straw.html", "https://barn.example/bran.html"]


def test_another_page_stands_in_for_one_that_is_missing(tmp_path: Path) -> None:
    path = str(_unnamed(tmp_path / "barn.jsonl"))
    missing = "https://barn.example/meal.html"
    (key, *_) = read_key_pages(path, [])
    assert key.load(missing) is None
    (key, *_) = read_key_pages(path, [], stand_ins=True)
    assert key.load(missing) is key.load(missing) is not None
    assert key.load(str(key.tree.url)) is key.tree


def test_a_page_that_stands_in_for_several_is_learned_once(tmp_path: Path) -> None:
    path = tmp_path / "barn.jsonl"
    lines = _unnamed(path).read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2]), "utf-8")
    learned: list[str] = []

    class Learns(Segments):
        def learn(self, memory: Memory, tree: Tree) -> Memory:
            learned.append(str(tree.url))
            return super().learn(memory, tree)

    key, *_ = read_key_pages(str(path), [], stand_ins=True)
    (row,) = run_teco([key], Learns())
    # Four links, one to the other page that is there: the rest lead to one of the two again.
    assert learned == ["https://barn.example/straw.html", "https://barn.example/hay.html"]
    assert (row.loads, row.requests) == (2, 5)


def test_requests_count_links_that_lead_nowhere(tmp_path: Path) -> None:
    rows = run_teco(read_key_pages(str(_unnamed(tmp_path / "barn.jsonl")), []), Hyperlink(size=4))
    assert all(row.requests == row.loads + 1 for row in rows)
