"""The atlas of themes: what sites tell others that are built alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dehusk
from dehusk import _kernel
from dehusk.doors.cli import main
from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.methods.auto import ATLAS_PAGES, Auto
from dehusk.methods.auto.atlas import MAX_BYTES, NO_ATLAS, Atlas, AtlasMaker, load_atlas
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Floats, Tree
from odd_pages import ODD_PAGES
from reference import atlas as plain
from reference import judging, learning

TEXT = "The miller bought grain from three farms this year, and sold the flour in town. " * 4
PAGE = (
    "<main class='entry post-17'><h1>Grain</h1><p>" + TEXT + "</p>"
    "<div id=box class='b a'><p>" + TEXT.replace("miller", "baker") + "</p></div></main>"
    "<div class=side><p>" + TEXT.replace("miller", "farmer") + "</p></div>"
)
METHOD = Auto(atlas=NO_ATLAS)


def _tree(html: str = PAGE) -> Tree:
    return parse(Page(html)).tree


def _read(tree: Tree) -> _kernel.Reading:
    return METHOD._model.read(tree)


def _key(tree: Tree, name: bytes) -> int:
    """The key of the element with that in its start tag."""
    keys = np.frombuffer(_kernel.theme_keys(_read(tree)), np.uint64)
    tags = [tree.source[start:stop] for start, stop in zip(tree.start, tree.stop, strict=True)]
    return int(keys[next(node for node, tag in enumerate(tags) if name in tag)])


def _atlas(rows: dict[int, float]) -> Atlas:
    keys = np.array(sorted(rows), np.uint64)
    return Atlas(keys, np.array([16 * rows[key] for key in sorted(rows)], np.int8))


def _saved(folder: Path, atlas: Atlas) -> str:
    path = folder / "my.atlas"
    path.write_bytes(atlas.dump())
    return str(path)


def _judged(folder: Path, atlas: Atlas, tree: Tree) -> list[float]:
    """What the kernel says of the blocks of a site's first page, with that atlas."""
    method = Auto(atlas=_saved(folder, atlas))
    return list(method._judge(method.lesson(tree), tree).content)


def _judged_by_reference(atlas: Atlas, tree: Tree) -> list[float]:
    model = METHOD._model
    page = learning.read(tree, model.lexicon)
    logits = judging.outputs(model.page, page.features)[:, 0]
    tables = learning.lesson(page, 1 / (1 + np.exp(-logits)))
    lean = plain.lean(tree, page, atlas)
    told: list[float] = judging.judge(
        model, tables, 1, page, logits, 0.0, lean=lean
    ).content.tolist()
    return told


@pytest.mark.parametrize("html", [PAGE, *ODD_PAGES])
def test_keys_and_leans_are_as_the_reference_says(html: str, tmp_path: Path) -> None:
    tree = _tree(html)
    mine, theirs = _read(tree), learning.read(tree, METHOD._model.lexicon)
    keys = np.frombuffer(_kernel.theme_keys(mine), np.uint64)
    assert keys.tolist() == plain.theme_keys(tree, theirs).tolist()
    some = np.unique(keys[keys != 0])[::2]
    atlas = _atlas({int(key): (place % 7 - 3) / 2 for place, key in enumerate(some)})
    if len(mine):
        assert _judged(tmp_path, atlas, tree) == _judged_by_reference(atlas, tree)


def test_an_element_is_known_by_names_without_digits_in_any_order() -> None:
    other = PAGE.replace("entry post-17", "post-18 entry").replace("b a", "a b")
    assert _key(_tree(), b"<main") == _key(_tree(other), b"<main")
    assert _key(_tree(), b'id="box"') == _key(_tree(other), b'id="box"')


def test_the_same_names_elsewhere_are_another_element() -> None:
    moved = PAGE.replace("class='entry post-17'", "class=list")
    assert _key(_tree(), b'id="box"') != _key(_tree(moved), b'id="box"')


def test_what_is_said_of_an_element_holds_for_all_inside(tmp_path: Path) -> None:
    tree = _tree()
    said = {_key(tree, b'id="box"'): -4.0, _key(tree, b'class="side"'): 4.0}
    method = Auto(atlas=_saved(tmp_path, _atlas(said)))
    memory = method.learn(Memory(), tree)
    before, after = METHOD.content(memory, tree), method.content(memory, tree)
    assert before is not None
    assert after is not None
    change = np.sign(after[1] - before[1])
    assert change.tolist() == [0, 0, -1, 1]


def test_the_atlas_is_silent_once_the_site_has_taught_enough(tmp_path: Path) -> None:
    tree, memory = _tree(), Memory()
    method = Auto(atlas=_saved(tmp_path, _atlas({_key(tree, b'id="box"'): -1.0})))
    said = []
    for _ in range(ATLAS_PAGES + 1):
        memory = method.limit(memory.then(method.lesson(tree)))
        atlas = method._atlas(memory.pages)
        said.append(0.0 if atlas is None else atlas[2])
    assert said == sorted(said, reverse=True)
    assert said[0] == 1
    assert said[-1] == 0


def test_judging_with_an_atlas_is_as_the_reference_says(tmp_path: Path) -> None:
    tree = _tree()
    atlas = _atlas({_key(tree, b'id="box"'): -2.5, _key(tree, b'class="side"'): 1.5})
    assert _judged(tmp_path, atlas, tree) == _judged_by_reference(atlas, tree)


# --- how it is made ---


def _told(maker: AtlasMaker, site: str, share: float, pages: int = 1) -> None:
    """A site that says what share of the box and of nothing else is content."""
    tree = _tree()
    page = _read(tree)
    content: Floats = np.array([np.nan, np.nan, share, np.nan])
    for _ in range(pages):
        maker.add(site, tree, page, content, np.full(4, 0.5))


def test_two_sites_write_nothing_and_three_do() -> None:
    maker = AtlasMaker()
    for site in "ab":
        _told(maker, site, 0.0)
    assert not len(maker.make())
    _told(maker, "c", 0.0)
    atlas = maker.make()
    assert _key(_tree(), b'id="box"') in atlas.keys.tolist()
    assert (atlas.leans < 0).all()
    assert not len(maker.make(without="c"))


def test_a_site_counts_once_however_many_pages_it_has() -> None:
    maker = AtlasMaker()
    _told(maker, "hostile", 1.0, pages=50)
    for number in range(12):
        _told(maker, str(number), 0.0)
    assert (maker.make().leans < 0).all()
    few = AtlasMaker()
    _told(few, "hostile", 1.0, pages=50)
    for site in "ab":
        _told(few, site, 0.0)
    assert not len(few.make())


def test_an_atlas_is_read_as_it_was_written(tmp_path: Path) -> None:
    atlas = _atlas({1: -4.0, 2: 0.5, 2**64 - 1: 4.0})
    found = load_atlas(_saved(tmp_path, atlas))
    assert found.keys.tolist() == atlas.keys.tolist()
    assert found.leans.tolist() == atlas.leans.tolist()


def test_the_shipped_atlas_is_sound_and_small() -> None:
    assert 0 < len(load_atlas()) < MAX_BYTES / 9


_GOOD = _atlas({1: 1.0, 2: 2.0}).dump()


@pytest.mark.parametrize(
    "written",
    [
        b"", b"{}", _GOOD[:-1], _GOOD + b"\0", _GOOD.replace(b"1\n", b"2\n"),
        _atlas({1: 1.0, 2: 2.0}).dump()[:16] + _GOOD[24:32] + _GOOD[16:24] + _GOOD[32:],
        _GOOD[:-1] + b"\x7f", _GOOD[:-1] + b"\x80", _GOOD[:16] + bytes(MAX_BYTES),
    ],
)  # fmt: skip
def test_what_is_no_atlas_is_refused(tmp_path: Path, written: bytes) -> None:
    path = tmp_path / "bad.atlas"
    path.write_bytes(written)
    with pytest.raises(SettingError, match="dehusk sites atlas"):
        dehusk.extract(PAGE, atlas=str(path))


def test_an_atlas_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="No such file"):
        dehusk.extract(PAGE, atlas=str(tmp_path / "none.atlas"))


# --- the command ---


def _crawl(folder: Path, sites: int, pages: int) -> str:
    path = folder / "crawl.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for site in range(sites):
            for page in range(pages):
                html = PAGE.replace("three farms", f"farm {site} in year {page}").replace(
                    "baker", f"baker of site {site}"
                )
                url = f"https://site{site}.example/{page}"
                file.write(json.dumps({"url": url, "html": html}) + "\n")
    return str(path)


def test_an_atlas_is_grown_from_a_memory_and_its_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = _crawl(tmp_path, 4, ATLAS_PAGES + 2)
    memory, target = str(tmp_path / "crawl.husk"), str(tmp_path / "my.atlas")
    assert main(["learn", crawl, "--memory", memory]) == 0
    assert main(["sites", "atlas", crawl, "--memory", memory, "-o", target]) == 0
    assert "sites: 4" in capsys.readouterr().out
    load_atlas(target)
    assert main(["clean", crawl, "--set", f"atlas={target}", "--format", "text"]) == 0
    assert main(["clean", crawl, "--memory", memory, "--set", f"atlas={target}"]) == 0


def test_sites_that_an_atlas_would_judge_do_not_write_into_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = _crawl(tmp_path, 4, ATLAS_PAGES)
    memory, target = str(tmp_path / "crawl.husk"), tmp_path / "my.atlas"
    assert main(["learn", crawl, "--memory", memory]) == 0
    assert main(["sites", "atlas", crawl, "--memory", memory, "-o", str(target)]) == 2
    assert "more than 5 pages" in capsys.readouterr().err
    assert not target.exists()
