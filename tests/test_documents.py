"""The doors to LangChain and LlamaIndex, with the real packages, and what they share."""

from __future__ import annotations

import asyncio
import logging
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.documents import Documents
from dehusk.errors import MissingExtra, UsageError
from dehusk_bench.samples import sample_site
from extras import imported
from test_drop_in import PAGE

PAGES = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that says much of itself, a site of news, and what gives no document of its own."""
    folder = tmp_path_factory.mktemp("site") / "news"
    folder.mkdir()
    pages = [sample.page for sample in sample_site("news", pages=PAGES)]
    (folder / "00.html").write_text(PAGE, encoding="utf-8")
    for number, page in enumerate([*pages[1:], pages[-1]], 1):
        assert isinstance(page.html, str)
        (folder / f"{number:02d}.html").write_text(page.html, encoding="utf-8")
    (folder / "90.html").write_text("<p></p>", encoding="utf-8")
    (folder / "91.html").write_bytes(b"a\0b" * 100)
    return folder


def test_documents_are_the_answers_with_flat_facts(folder: Path) -> None:
    wanted = [answer for answer in dehusk.clean(folder) if answer.text]
    found = list(Documents(text="text").read(folder))
    assert [document.text for document in found] == [answer.text for answer in wanted]
    for document, answer in zip(found, wanted, strict=True):
        known = answer.to_json()
        for name in ("url", "site", "title", "author", "published", "confidence"):
            assert document.facts.get(name) == known[name]
        assert all(isinstance(fact, str | int | float) for fact in document.facts.values())
    assert found[0].facts["published"] == "2024-03-02T10:00:00+00:00"


def test_pages_that_give_no_document_are_named(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "dehusk"):
        assert len(list(Documents(unique=True).read(folder))) == PAGES
    assert [record.getMessage() for record in caplog.records] == [
        "file:90.html: no content",
        "file:91.html: binary data, not HTML",
    ]
    failed: list[dehusk.Refusal] = []
    assert len(list(Documents(failed=failed.append).read(folder))) == PAGES + 1
    assert [refusal.url for refusal in failed] == ["file:91.html"]


def test_pieces_say_where_they_stand(folder: Path) -> None:
    found = list(Documents(piece_tokens=40).read(folder))
    assert len(found) > 2 * PAGES
    assert [document.facts["piece"] for document in found][:2] == [0, 1]
    first = next(iter(dehusk.clean(folder)))
    assert isinstance(first, dehusk.Result)
    pieces = first.pieces(40)
    assert [document.text for document in found[: len(pieces)]] == [p.markdown for p in pieces]
    for document, piece in zip(found, pieces, strict=False):
        assert document.facts.get("headings", "") == " > ".join(piece.headings)


@pytest.mark.parametrize("wrong", [{"text": "html"}, {"piece_tokens": 0}])
def test_wrong_options_are_refused_before_anything_is_read(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Documents(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("module", "extra"),
    [("langchain", "langchain"), ("llama_index", "llama-index"), ("mcp", "mcp")],
)
def test_a_missing_package_is_named_with_its_extra(
    module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"dehusk.doors.{module}", raising=False)
    monkeypatch.setattr("dehusk.doors.documents.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=rf"pip install 'dehusk\[{extra}\]'"):
        import_module(f"dehusk.doors.{module}")


def test_langchain_loads_documents_and_a_memory_that_lasts(folder: Path, tmp_path: Path) -> None:
    loaders = imported("langchain_core.document_loaders")
    from dehusk.langchain import DehuskLoader  # noqa: PLC0415  an extra

    memory = tmp_path / "news.husk"
    loader = DehuskLoader(folder, memory=memory)
    assert isinstance(loader, loaders.BaseLoader)
    first = next(iter(loader.lazy_load()))
    documents = loader.load()
    assert len(documents) == PAGES + 1
    assert documents[0].page_content == first.page_content
    assert {"source", "url", "site", "title", "published"} <= documents[0].metadata.keys()
    assert documents[0].metadata["source"] == documents[0].metadata["url"] == "file:00.html"
    again = asyncio.run(loader.aload())
    assert len(again) == PAGES + 1, "in threads too"
    with dehusk.open(memory) as session:
        assert session.memory("news").pages == PAGES + 1, "a copy is not learned"


def test_llama_index_reads_documents_and_embeds_only_title_and_text(folder: Path) -> None:
    readers = imported("llama_index.core.readers.base")
    schema = imported("llama_index.core.schema")
    from dehusk.llama_index import DehuskReader  # noqa: PLC0415  an extra

    reader = DehuskReader(text="text")
    assert isinstance(reader, readers.BaseReader)
    documents = reader.load_data(folder)
    assert len(documents) == PAGES + 1
    document = documents[0]
    assert isinstance(document, schema.Document)
    assert {"url", "site", "title", "published"} <= document.metadata.keys()
    shown = document.get_content(schema.MetadataMode.EMBED)
    assert document.metadata["title"] in shown
    assert document.metadata["fingerprint"] not in shown
