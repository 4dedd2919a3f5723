"""The step for datatrove, in a real pipeline on this machine."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import dehusk
from dehusk.errors import UsageError
from dehusk_bench.samples import sample_site

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Of datatrove's own imports.
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    from dehusk.doors.datatrove import Clean

PAGES = 30


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two files of one site each, as two ranks read them."""
    folder = tmp_path / "source"
    folder.mkdir()
    for number, kind in enumerate(("docs", "news")):
        pages = [sample.page for sample in sample_site(kind, pages=PAGES)]
        records = [
            {"text": page.html, "id": f"{kind}-{i}", "url": page.url}
            for i, page in enumerate(pages)
        ]
        records.append({**records[-1], "id": f"{kind}-again", "url": f"{pages[-1].url}?again"})
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{number}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _run(source: Path, target: Path, step: Clean) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The documents that come out, and the step's own figures."""
    writer = JsonlWriter(str(target / "out"), compression=None)
    pipeline = [JsonlReader(str(source)), step, writer]
    LocalPipelineExecutor(pipeline, tasks=2, logging_dir=str(target / "logs")).run()
    files = sorted((target / "out").glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    stats = json.loads((target / "logs" / "stats.json").read_text("utf-8"))
    return [json.loads(line) for line in lines], stats[1]["stats"]


def _total(stat: Any) -> int:
    """A count, which datatrove writes with its spread where there is one."""
    return int(stat["total"] if isinstance(stat, dict) else stat)


def test_documents_come_out_with_their_content_and_a_memory_that_lasts(
    source: Path, tmp_path: Path
) -> None:
    memory = tmp_path / "memory"
    found, stats = _run(source, tmp_path / "first", Clean(str(memory), unique=True))
    assert len(found) == 2 * PAGES
    assert _total(stats["dropped_near_duplicate"]) == 2
    assert _total(stats["forwarded"]) == 2 * PAGES

    site = dehusk.Site()
    wanted = [site.add(sample.page) for sample in sample_site("docs", pages=PAGES)]
    ours = [document for document in found if document["id"].startswith("docs")]
    assert [document["text"] for document in ours] == [result.text for result in wanted]
    told = ours[-1]["metadata"]["dehusk"]
    assert told["pages_seen"] == PAGES
    assert told["family"] == wanted[-1].family
    assert [link["template"] for link in told["links"]] == [e.template for e in wanted[-1].links]

    again, _ = _run(source, tmp_path / "second", Clean(str(memory), text="markdown"))
    seen = {document["metadata"]["dehusk"]["pages_seen"] for document in again}
    assert seen == {PAGES}, "a page that was learned is not learned again, nor a copy of one"
    assert again[0]["text"] != found[0]["text"]


def test_a_document_that_is_no_page_is_dropped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    records: list[dict[str, Any]] = [
        {"text": "a\0b" * 100, "id": "1"},
        {"text": "<p></p>", "id": "2"},
        {"text": "<p>Rye</p>", "id": "3", "url": 7},
        {"text": "<p>Rye</p>", "id": "4", "site": ["a.example"]},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "source" / "0.jsonl").write_text(lines, encoding="utf-8")
    found, stats = _run(tmp_path / "source", tmp_path / "out", Clean())
    assert not found
    assert {name: _total(stats[name]) for name in stats if name.startswith("dropped")} == {
        "dropped": 4, "dropped_empty": 1, "dropped_failed_not_html": 1, "dropped_failed_damaged": 2,
    }  # fmt: skip


def test_a_text_that_nobody_makes_is_refused_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="text='html': a document's text becomes text or markdown"):
        Clean(text="html")
