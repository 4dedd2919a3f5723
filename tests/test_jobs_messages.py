"""What processes of one run say to each other."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest

import dehusk
from dehusk.errors import StateError
from dehusk.frames import LENGTH, pack, read
from dehusk.jobs import Jobs
from dehusk.jobs.place import Mark, Place
from dehusk.memory import Memory, Table, carried, carry, dump
from dehusk.samples import sample_site
from dehusk.site import Sites


def test_the_beginning_of_a_message_is_no_message() -> None:
    message = pack({"is_learned": True}, [b"an answer", b"", b"a lesson"])
    assert read(io.BytesIO(message)) is not None
    for length in range(len(message)):
        assert read(io.BytesIO(message[:length])) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "7", "{}", '{"sizes": 4}', '{"sizes": [-1]}', '{"sizes": [true]}',
     '{"sizes": ["4"]}', "[" * 100_000, "\udc80"],
)  # fmt: skip
def test_what_does_not_say_what_follows_is_refused(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    with pytest.raises(ValueError):  # noqa: PT011 - of JSON, of Unicode, or ours
        read(io.BytesIO(len(data).to_bytes(LENGTH, "big") + data + b"more"))


def _memories() -> list[Memory]:
    keys = np.array([1, 5, 2**63], np.uint64)
    owned = Table.of_page(keys, 3, keys[::-1].copy(), np.arange(6, dtype=np.uint64).reshape(3, 2))
    sites = Sites()
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


@pytest.mark.skipif(os.name != "posix", reason="needs inherited files")
def test_a_place_says_how_far_the_other_side_has_come() -> None:
    place = Place()
    # As the process has it that inherits it: a descriptor of its own.
    mark = Mark([os.dup(descriptor) for descriptor in place.descriptors])
    assert mark.is_shared
    for _ in range(300):
        mark.move()
    assert place.close() == 300


_CHATTY = """
import os, subprocess
from dehusk import pipeline

def chatty(act):
    def meet(*given, **more):
        os.write(1, b"in C, say")
        print("in Python")
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
    sites = Sites()
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
