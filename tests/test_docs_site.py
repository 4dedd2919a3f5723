"""The documentation as a site: it builds without a warning, and nothing in it leads nowhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import dehusk
from extras import missing

ROOT = Path(__file__).parents[1]


class _Page(HTMLParser):
    """What a page links, what it loads, and the anchors that it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        elif given.get("src") or (tag == "link" and given.get("rel") != "canonical"):
            self.loaded.append(str(given.get("src") or given.get("href")))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it; skipped without MkDocs, but fails in CI."""
    if not (find_spec("mkdocs") and find_spec("material") and find_spec("mkdocstrings")):
        missing("needs `pip install 'dehusk[docs]'`")
    folder = tmp_path_factory.mktemp("site")
    sources = os.pathsep.join([str(ROOT / "src"), str(ROOT / "bench" / "src")])
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": sources}, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    assert build.returncode == 0, build.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    """The pages of the site."""
    return {path: _Page(path.read_text("utf-8")) for path in site.rglob("*.html")}


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(site: Path, pages: dict[Path, _Page]) -> None:
    nowhere = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.is_file() or (
                anchor and target.suffix == ".html" and anchor not in pages[target].anchors
            ):
                nowhere.append(f"{path.relative_to(site)}: {link}")
    assert len(pages) > 40
    assert not nowhere


@pytest.mark.slow
def test_no_page_of_the_site_loads_anything_from_elsewhere(
    site: Path, pages: dict[Path, _Page]
) -> None:
    assert not [url for page in pages.values() for url in page.loaded if urlsplit(url).netloc]
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert not re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']*", styles)


@pytest.mark.slow
def test_no_code_of_the_site_shows_the_escapes_of_tables(site: Path) -> None:
    escaped = re.compile(r"<td><code>[^<]*\\\|")
    assert not [path for path in site.rglob("*.html") if escaped.search(path.read_text("utf-8"))]


@pytest.mark.slow
def test_the_site_has_every_public_name_and_every_command(pages: dict[Path, _Page]) -> None:
    named = {path.name: page.anchors for path, page in pages.items()}
    missing = {f"dehusk.{name}" for name in dehusk.__all__ if name != "__version__"}
    assert not missing - named["api.html"]
    assert {"dehusk-clean", "dehusk-sites-rules"} <= named["options.html"]


def test_every_page_of_the_docs_has_its_place_in_the_site() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    missing = {
        page for page in pages if not re.search(rf"[ /]{re.escape(page)}$", settings, re.MULTILINE)
    }
    assert missing == set()
