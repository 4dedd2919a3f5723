"""`dehusk bench atlas`, and where the atlas of themes is left out of account."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dehusk.doors.cli import main
from dehusk.methods.auto import Auto
from dehusk.methods.auto.atlas import NO_ATLAS, load_atlas
from dehusk_bench.peers.contenders import for_site


def test_a_site_of_a_fold_is_judged_without_the_atlas_that_has_seen_it() -> None:
    judged = for_site(Auto(), [], Path("fold-0.json"))
    assert isinstance(judged, Auto)
    assert judged.atlas == NO_ATLAS
    named = for_site(Auto(atlas="my.atlas"), [], Path("fold-0.json"))
    assert isinstance(named, Auto)
    assert named.atlas == "my.atlas"


def test_the_bench_makes_an_atlas_and_says_what_it_is_worth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpora = [f"samples:blog:{seed}:4" for seed in range(1, 7)]
    atlas, figures = tmp_path / "my.atlas", tmp_path / "figures.json"
    written = ["--atlas", str(atlas), "--json", str(figures)]
    assert main(["bench", "atlas", *corpora, *written]) == 0
    load_atlas(str(atlas))
    assert "gain" in capsys.readouterr().out
    rows = json.loads(figures.read_text("utf-8"))
    assert sum(int(row["number"]) for row in rows if row["sites"] == "all") == 6
