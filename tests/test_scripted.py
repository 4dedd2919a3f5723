"""Pages that are empty without their scripts are recognised, and others are not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dehusk
from dehusk.answer.describe import needs_scripts
from dehusk.page.page import Page
from dehusk.page.parse import parse

_LONG = "Rye grows where nothing else does, on sand and on stone. " * 4

SHELLS = [
    "<div id=root></div><script src=/app.js></script>",
    "<body><div id='__next'></div><script>" + "x();" * 500 + "</script>",
    "<body><app-root></app-root><script type=module src=main.js></script>",
    "<body><p>Loading…</p><div id=content></div><script src=a.js></script>",
    "<body><noscript>You need to enable JavaScript to read this.</noscript>",
    f"<body><header>{_LONG}</header><div id=app></div><script src=a.js></script>",
]
WHOLE = [
    "",
    "<p>Hello",
    "<p>Moved to <a href=/b>another place</a></p><script>count()</script>",
    f"<p>{_LONG}</p><div id=comments></div><script src=a.js></script>",
    "<img src=rye.png><script src=a.js></script>",
    "<noscript><img src=count.png></noscript><p>Rye",
    "<div><p>Not found</p></div>",
    f"<div id=app><p>{_LONG}</p></div><script src=a.js></script>",
    f"<p>{_LONG * 10}</p><div id=root></div><script src=a.js></script>",
    "<div id=root><img src=rye.png></div>",
]


@pytest.mark.parametrize("html", SHELLS)
def test_a_shell_that_scripts_fill_needs_a_browser(html: str) -> None:
    result = dehusk.extract(html)
    assert result.needs_render
    assert result.to_json()["needs_render"] is True


@pytest.mark.parametrize("html", WHOLE)
def test_a_page_that_shows_what_it_says_needs_none(html: str) -> None:
    result = dehusk.extract(html)
    assert not result.needs_render
    assert "needs_render" not in result.to_json()


def test_a_hostile_page_is_looked_at_in_linear_time() -> None:
    html = "<div id=a>" * 400 + "<div id=b></div>" * 50_000 + "<noscript>" + "<b></b>" * 50_000
    assert needs_scripts(parse(Page(html)).tree)


def test_the_summary_names_a_page_that_needs_a_browser(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(SHELLS[0], encoding="utf-8")
    (tmp_path / "b.html").write_text(f"<p>{_LONG}", encoding="utf-8")
    command = [sys.executable, "-m", "dehusk", "clean", str(tmp_path), "--format", "markdown"]
    run = subprocess.run(command, capture_output=True, check=False, timeout=300, encoding="utf-8")
    assert run.returncode == 0
    said = "1 page is empty without scripts: needs --render, such as file:a.html\n"
    assert said in run.stderr
    assert run.stdout.count("needs_render: true") == 1


def test_the_summary_names_pages_of_which_nothing_is_left(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.html").write_text(f"<p>{_LONG}", encoding="utf-8")
    command = [sys.executable, "-m", "dehusk", "clean", str(tmp_path), "--method", "site-hash"]
    run = subprocess.run(command, capture_output=True, check=False, timeout=300, encoding="utf-8")
    assert run.stderr.endswith("1 page is all template, so nothing is left, such as file:c.html\n")
