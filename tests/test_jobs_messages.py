"""What processes of one run say to each other."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import dehusk
from dehusk.answer.override import Overrides
from dehusk.errors import StateError
from dehusk.memory import Memory, Table, carried, carry, dump
from dehusk.memory.session import Session, SessionSettings, Snapshot
from dehusk.page.page import Capture, Page
from dehusk.settings import Keeping, Limits
from dehusk.workers.child import Said
from dehusk.workers.jobs import Act, Jobs
from dehusk.workers.messages import (
    LENGTH,
    Batch,
    Reply,
    Request,
    Setup,
    pack,
    read,
    replies_from_parts,
    replies_to_bytes,
)
from dehusk.workers.worker import Task, Worker, WorkerSettings
from dehusk_bench.samples import sample_site


def test_the_beginning_of_a_message_is_no_message() -> None:
    message = pack({"is_learned": True}, [b"an answer", b"", b"a lesson"])
    assert read(io.BytesIO(message)) is not None
    for length in range(len(message)):
        assert read(io.BytesIO(message[:length])) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "7", "{}", '{"sizes": 4}', '{"sizes": [-1]}', '{"sizes": [true]}',
     '{"sizes": ["4"]}',
     '{"sizes": [4, 1000000000000000000000]}', '{"sizes": [4294967296]}', "[" * 100_000, "\udc80"],
)  # fmt: skip
def test_what_does_not_say_what_follows_is_refused(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    with pytest.raises(ValueError):  # noqa: PT011 - of JSON, of Unicode, or ours
        read(io.BytesIO(len(data).to_bytes(LENGTH, "big") + data + b"more"))


def _memories() -> list[Memory]:
    keys = np.array([1, 5, 2**63], np.uint64)
    owned = Table.of_page(keys, 3, keys[::-1].copy(), np.arange(6, dtype=np.uint64).reshape(3, 2))
    sites = Session()
    for sample in sample_site("docs", pages=5, seed=2):
        sites.learn(sample.page)
    return [
        Memory(),
        Memory(3, {"none": Table(), "owned": owned}),
        Memory(2, {"plain": Table.of_page(keys)}, {"tree": keys, "empty": keys[:0]}),
        *sites.memories.values(),
    ]


@pytest.mark.parametrize("memory", _memories())
def test_a_memory_that_is_carried_is_the_same_to_the_byte(memory: Memory) -> None:
    arrived = carried(carry(memory))
    assert dump(arrived, "auto", site="a") == dump(memory, "auto", site="a")
    assert arrived.size_bytes == memory.size_bytes


def test_a_part_of_a_carried_memory_is_refused() -> None:
    for memory in _memories():
        data = carry(memory)
        for length in {*range(0, len(data), 7), *range(min(40, len(data)))}:
            with pytest.raises(StateError):
                carried(data[:length])
        with pytest.raises(StateError):
            carried(data + b"1234")


@pytest.mark.parametrize(
    ("told", "size"),
    [
        ([-5, {}, {}], 0),
        ([10**30, {}, {}], 0),
        ([float("inf"), {}, {}], 0),
        (["1", {}, {}], 0),
        ([True, {}, {}], 0),
        ([1, {"segments": [-1, False, 0]}, {}], 48),
        ([1, {"segments": [10**30, False, 0]}, {}], 0),
        ([1, {"segments": [1, False, -1]}, {}], 16),
        ([1, {"segments": [2**31 - 1, False, 2**31 - 1]}, {}], 16),
        ([1, {}, {"tree": -1}], 8),
        ([1, {}, {"tree": 0.0}], 0),
    ],
)
def test_a_carried_memory_has_counts_that_can_be(told: list[object], size: int) -> None:
    text = json.dumps(told).encode()
    text += b" " * (-(4 + len(text)) % 8)
    with pytest.raises(StateError):
        carried(np.uint32(len(text)).tobytes() + text + bytes(size))


def test_requests_and_replies_arrive_as_they_were_sent() -> None:
    pages = [
        Page("<p>Half: \ud800", "https://a.example/\udc80", capture=Capture("<urn:a>", "2026")),
        Page(b"<p>K\xe4se", None, "a", "iso-8859-1"),
    ]
    snapshot = Snapshot(
        "a", b"state", Overrides(("p",), ("nav",)), [b"one", b""], frozenset({7, 2**63})
    )
    requests = [
        Request("clean", "a", pages[:1], {"pieces": 4}, snapshot, wants_snapshot=True),
        Request("snapshot", "b", ()),
        Request("template", "a", pages),
    ]
    message = read(io.BytesIO(Batch(requests, ["c"]).to_bytes()))
    assert message is not None
    batch = Batch.from_parts(*message)
    assert batch.dropped_sites == ["c"]
    for sent, arrived in zip(requests, batch.requests, strict=True):
        assert (arrived.act, arrived.site, list(arrived.pages)) == (
            sent.act,
            sent.site,
            list(sent.pages),
        )
        assert (arrived.options, arrived.wants_snapshot) == (sent.options, sent.wants_snapshot)
        assert arrived.snapshot == sent.snapshot
    assert message[1] == []
    replies = [
        Reply(b"answer", {"pages_seen": 1}, None, b"snapshot", 9),
        Reply(lesson=b"lesson"),
        Reply(error=("fault", "rye \ud800")),
        Reply(fault=("usage", "oats")),
        Reply(),
    ]
    message = read(io.BytesIO(replies_to_bytes(replies)))
    assert message is not None
    assert replies_from_parts(*message) == replies


def test_texts_of_a_data_frame_are_texts() -> None:
    page = Page("<p>Rye", np.str_("https://a.example/"), np.str_("a"), np.str_("utf-8"))
    message = read(io.BytesIO(Batch([Request("clean", "a", [page])]).to_bytes()))
    assert message is not None
    (request,) = Batch.from_parts(*message).requests
    assert list(request.pages) == [page]


def test_a_message_is_utf_8() -> None:
    text = json.dumps({"sizes": []}).encode("utf-16")
    with pytest.raises(ValueError, match="utf-8"):
        read(io.BytesIO(len(text).to_bytes(LENGTH, "big") + text))


def test_a_limit_that_is_infinite_arrives_as_it_was_sent() -> None:
    setup = Setup(SessionSettings("auto", {}, Limits(timeout_s=float("inf")), Keeping()))
    message = read(io.BytesIO(setup.to_bytes()))
    assert message is not None
    assert Setup.from_header(message[0]).session.limits == setup.session.limits


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"replies": 3},
        {"replies": [3]},
        {"replies": [{}]},
        {"replies": [{"has": [True, False, False]}]},
        {"replies": [{"has": [False]}]},
        {"replies": [{"has": [False, False, False], "error": "none"}]},
        {"replies": [{"has": [False, False, False], "error": 3}]},
        {"replies": [{"has": [False, False, False], "facts": 3}]},
        {"replies": [{"has": [False, False, False], "held_bytes": -3}]},
    ],
)
def test_what_no_worker_says_is_refused(told: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"message|unpack"):
        replies_from_parts(told, [])


class _LargeSites:
    """Sends sites of half a megabyte."""

    def snapshot(self, site: str, url: str | None) -> Snapshot:
        return Snapshot(site, bytes(500_000))

    def wants_snapshot(self, site: str) -> bool:
        return False

    def miss_snapshot(self, site: str) -> None:
        raise AssertionError("none was wanted")


class _Listener:
    """Stands for a process, and hears how many requests it is sent at a time."""

    def __init__(self, *given: object) -> None:
        self.heard: list[int] = []
        self.is_ended = False

    def send(self, message: bytes) -> None:
        parts = read(io.BytesIO(message))
        assert parts is not None
        self.heard.append(len(parts[0]["requests"]))

    def kill(self) -> None:
        self.is_ended = True


def _worker(monkeypatch: pytest.MonkeyPatch, sites: list[str]) -> tuple[Worker, _Listener]:
    """A worker without a process that has a page of each site, and what hears for it."""
    monkeypatch.setattr("dehusk.workers.worker.Process", _Listener)
    setup = Setup(SessionSettings("auto", {}, Limits(), Keeping()))
    worker = Worker(setup, _LargeSites(), WorkerSettings(), lambda worker, event: None)
    for site in sites:
        page = Page("<p>Rye and oats.", None, site)
        worker.give(Task(Act.CLEAN, site, [page], lambda task: None, size_bytes=1000))
    return worker, cast(_Listener, worker.process)


def test_a_process_is_not_sent_many_large_sites_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, listener = _worker(monkeypatch, [f"{number}.example" for number in range(40)])
    for _ in range(5):
        worker.pump()
    assert listener.heard == [4]
    worker.handle(Said(worker.process, [Reply(held_bytes=500_000)] * 4))
    worker.pump()
    assert listener.heard == [4, 4]


def test_a_process_that_answers_what_nobody_asked_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, listener = _worker(monkeypatch, ["a", "b"])
    worker.pump()
    worker.handle(Said(worker.process, [Reply()] * 2))
    assert not listener.is_ended
    worker.handle(Said(worker.process, [Reply()]))
    assert listener.is_ended


_CHATTY = """
import os, subprocess
from dehusk import pipeline

def chatty(act):
    def meet(*given, **more):
        os.write(1, b"in C, say")
        print("in Python", flush=True)
        subprocess.run(["echo", "in another process"], check=True)
        assert os.read(0, 100) == b""
        return act(*given, **more)
    return meet

pipeline.clean = chatty(pipeline.clean)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs `echo`")
def test_what_a_library_prints_does_not_get_between_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pages = [sample.page for sample in sample_site("news", pages=4, seed=2)]
    sites = Session()
    expected = [sites.add(page).text for page in pages]
    (tmp_path / "sitecustomize.py").write_text(_CHATTY)
    path = [str(tmp_path), str(Path(dehusk.__file__).parents[1])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    with Jobs(jobs=2) as jobs:
        answers = list(jobs.clean(pages))
    assert [answer.to_json()["text"] for answer in answers] == expected
    said = capfd.readouterr()
    assert said.out == ""
    for words in ("in C, say", "in Python", "in another process"):
        assert said.err.count(words) == len(pages)
