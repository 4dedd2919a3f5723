"""Real pages in each other's templates: contents change places, and nothing else does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dehusk.errors import UsageError
from dehusk.page.page import Page
from dehusk_bench.corpora import Corpus, GoldPage, open_corpus
from dehusk_bench.papers.dressed import dress, dress_stories, dress_topics

PROSE = "The mill by the river stood still until rain came back in the last week of September. "


def _page(html: str, content: Sequence[tuple[int, ...]], *excluded: tuple[int, ...]) -> GoldPage:
    page = Page(html, "https://grain.example/", "grain")
    return GoldPage(page, "grain", 1, "…", tuple(content), excluded)


def test_the_story_takes_the_place_of_the_hosts_content() -> None:
    host = _page(
        "<nav>Menu</nav><main class=host><p>Old<div>Share</div></main><h2>Old too</h2><hr>",
        [(1, 1), (1, 2)], (1, 1, 1),
    )  # fmt: skip
    story = _page(
        "<div>Ads</div><article><h1>Rain</h1><b>Like</b><p>It came.</p></article><p>Ärger",
        [(1, 1), (1, 2)], (1, 1, 1),
    )  # fmt: skip
    body = dress(host, story).partition("<body>")[2]
    assert body == (
        '<nav>Menu</nav><main class="host"><article><h1>Rain</h1><p>It came.</p></article>'
        "<p>Ärger</p><div>Share</div></main><hr></body></html>"
    )


def _corpus(folder: Path, genres: Sequence[str], pages: int = 6) -> Corpus:
    """A site of each genre named, with as many pages, each with words of its own."""
    path = folder / "sites.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number, genre in enumerate(genres):
            for place in range(pages):
                content = f"{genre} {number} {place} {PROSE * 4}"
                html = f"<nav>Site {number}</nav><p>{content}</p><footer>Imprint</footer>"
                record = {
                    "site": f"s{number}", "url": f"https://s{number}.example/{place}",
                    "html": html, "content": content, "content_nodes": [[1, 1]], "genre": genre,
                }  # fmt: skip
                stream.write(json.dumps(record) + "\n")
    return open_corpus(str(path))


def test_stories_are_the_same_on_all_hosts_and_one_of_each_other_site(tmp_path: Path) -> None:
    pages = list(dress_stories(_corpus(tmp_path, ["blog"] * 7), 3).pages())
    by_site = {site: [p for p in pages if p.site == site] for site in ("s0", "s1", "s2")}
    assert {page.site for page in pages} == set(by_site)
    for site, own in by_site.items():
        assert [page.subject for page in own] == ["s3", "s4", "s5", "s6"]
        assert [page.content for page in own] == [page.content for page in by_site["s0"]]
        for page in own:
            assert f"Site {site[1:]}" in page.html
            assert (page.content or "").strip() in page.html


def test_topics_are_genres_and_no_two_hosts_share_a_story(tmp_path: Path) -> None:
    genres = ["wiki", "forum", "shop"] * 2 + ["wiki", "forum", "news"]
    pages = list(dress_topics(_corpus(tmp_path, genres), 3).pages())
    assert {page.site for page in pages} == {"s2", "s5", "s8"}
    assert {page.subject for page in pages} == {"wiki", "forum"}
    assert all(f"{page.subject} " in page.html for page in pages)
    contents = [page.content for page in pages]
    assert len(contents) == len(set(contents)) == 3 * 6


@pytest.mark.parametrize("dressing", [dress_stories, dress_topics])
def test_too_few_sites_are_refused(tmp_path: Path, dressing: object) -> None:
    assert callable(dressing)
    with pytest.raises(UsageError, match="--dressed 3"):
        dressing(_corpus(tmp_path, ["blog"] * 3), 3)


def test_pages_without_enough_content_or_sound_gold_are_passed_over(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path, ["blog"] * 4, pages=2)
    records = list(corpus.records())
    records[0]["content"] = "Short."
    records[2]["content_nodes"] = [[9, 9]]
    mended = Corpus("sites", lambda: iter(records))
    assert {page.number for page in dress_stories(mended, 2).pages()} == {1, 2}
    assert len(list(dress_stories(mended, 2).pages())) == 4
