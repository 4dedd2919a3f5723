"""`site_removed`: how much of what a page alone would keep its site took away, at every door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import dehusk
from dehusk.answer.result import MUCH_REMOVED, Result
from dehusk.doors.cli import main
from dehusk.doors.documents import facts_of
from dehusk.memory import Memory
from dehusk.methods.auto import Auto
from dehusk.methods.auto.confidence import is_little_dropped, site_removed
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.settings import Limits

_STEMS = [
    "rye",
    "oats",
    "field",
    "mill",
    "flour",
    "grain",
    "husk",
    "straw",
    "bread",
    "barn",
    "stone",
]
_WORDS = [a + b for a in ("", "over", "under", "fore", "out", "down", *_STEMS) for b in _STEMS]
_SAID = "1 page keeps less than half of what it says alone, such as https://mill.example/notice"


def _sentence(random: Random, words: int) -> str:
    return " ".join(random.choices(_WORDS, k=words)).capitalize() + "."


def _page(number: int, paragraphs: int, words: int) -> str:
    """A page with text of its own, and below it a box that every page has."""
    own, box = Random(number), Random(99)
    title = _sentence(own, 4)
    said = "".join(f"<p>{_sentence(own, words)}</p>" for _ in range(paragraphs))
    box_said = "".join(f"<p>{_sentence(box, 40)}</p>" for _ in range(2))
    head = f"<!DOCTYPE html><html><head><title>{title}</title></head>"
    return f"{head}<body><main><h1>{title}</h1>{said}</main><div>{box_said}</div></body></html>"


NOTICE = Page(_page(77, 1, 15), "https://mill.example/notice")
"""Says less than the box does."""
FIELDS = [Page(_page(n, 10, 80), f"https://mill.example/{n}") for n in range(20)]


def _answers() -> Iterator[Result]:
    site = dehusk.Site()
    yield from (site.add(page.html, url=page.url) for page in (*FIELDS, NOTICE))


def _write(path: Path, *pages: Page) -> str:
    lines = (json.dumps({"url": page.url, "html": page.html}) for page in pages)
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_what_a_box_of_the_site_was_of_a_page_is_said() -> None:
    *fields, notice = _answers()
    assert notice.site_removed is not None
    assert notice.site_removed > MUCH_REMOVED
    assert notice.confidence is not None
    assert notice.confidence <= 0.8
    assert len(notice.text) < len(dehusk.extract(NOTICE.html).text) / 2
    assert all(field.site_removed is not None and field.site_removed < 0.3 for field in fields)
    assert notice.to_json()["site_removed"] == facts_of(notice)["site_removed"]


def test_from_a_page_alone_nothing_was_taken() -> None:
    assert dehusk.extract(NOTICE.html).site_removed == 0
    assert dehusk.extract(NOTICE.html, method="site-hash").site_removed is None


def test_what_is_said_without_asking_again_is_nearly_what_asking_says() -> None:
    method, memory, spared = Auto(), Memory(), 0
    for page in (*FIELDS, NOTICE):
        tree = parse(page, Limits()).tree
        memory = method.learn(memory, tree)
        reading = tree.once(method._model.read)
        judged, alone = method._judge(memory, tree), method._judge(Memory(1), tree)
        exact = site_removed(judged, alone, reading.chars)
        told = method.assess(memory, tree).site_removed()
        is_spared = is_little_dropped(judged, method._opinion(reading).content, reading.chars)
        assert told == (0 if is_spared else exact)
        assert not is_spared or exact < 0.1
        spared += is_spared
    assert spared < len(FIELDS) + 1


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_clean_ends_with_the_pages_that_lost_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: int, form: str
) -> None:
    source, target = _write(tmp_path / "a.jsonl", *FIELDS, NOTICE), str(tmp_path / "out")
    command = ["clean", source, "--format", form, "--jobs", str(jobs), "-o", target]
    assert main(command) == 0
    assert capsys.readouterr().err.endswith(f"\n{_SAID}: `dehusk view {source}`\n")
    assert main([*command, "-q"]) == 0
    assert main([*command, "--log-format", "json"]) == 0
    assert json.loads(capsys.readouterr().err)["mostly_removed"] == 1


def test_clean_says_nothing_of_a_site_that_takes_little(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["clean", _write(tmp_path / "a.jsonl", *FIELDS), "-o", str(tmp_path / "out")])
    assert "says alone" not in capsys.readouterr().err


def test_review_and_report_name_such_a_page_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = _write(tmp_path / "a.jsonl", *FIELDS, NOTICE), tmp_path / "a.html"
    assert main(["review", source, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mostly_removed"] == 1
    assert found["unsure_pages"][0]["url"] == NOTICE.url
    assert main(["review", source]) == 0
    assert (
        f"{found['unsure_pages'][0]['site_removed']:.0%}  {NOTICE.url}" in capsys.readouterr().out
    )
    assert main(["report", source, "-o", str(target)]) == 0
    assert "keep less than half of what they say alone: 1" in target.read_text(encoding="utf-8")
