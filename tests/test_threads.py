"""Threads over one site, many sites, one file and one tree: answers are those of one thread.

Where the interpreter has no global lock (a free-threaded Python) the threads run at the same time,
everywhere else they take turns as often as they can: what the kernel locks is only shown by the
first. Build one with `--disable-gil`, install dehusk there, and run this file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any, TypeVar

import numpy as np
import pytest

import dehusk
from dehusk import _kernel
from dehusk.memory import Table
from dehusk.memory.opening import Site
from dehusk.methods.auto import Auto
from dehusk.methods.auto.model import load_model
from dehusk.page.page import Page
from dehusk.page.parse import parse
from odd_pages import ODD_PAGES

THREADS = 8
SOURCES = sorted((Path(__file__).parent / "pages").glob("*/page.html"))
Done = TypeVar("Done")


@pytest.fixture(autouse=True)
def _turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def _pages(count: int, site: str) -> list[Page]:
    """Pages of a site: plain ones and odd ones in turn, the latter for the parser too."""
    sources = [path.read_text("utf-8") for path in SOURCES]
    pages = []
    for number in range(count):
        inner = (sources[number // 3 % len(sources)], "", ODD_PAGES[number % len(ODD_PAGES)])
        fields = "<p>".join(f"Field {number}{n}" for n in range(40))
        html = (
            f"<nav><a href=/>Home of {site}</a> <a href=/news>News</a></nav><main>"
            f"<h1>Harvest {number}</h1>{fields}<p>By Ann Miller, 3 May 2021</p>"
            f"<p>{site} has cut field {number}: rye, oats and a little wheat.</p>"
            f"{inner[number % 3]}</main>"
            "<footer>Imprint of the mill</footer>"
        )
        pages.append(Page(html, f"https://{site}/{number}"))
    return pages


def _at_once(act: Callable[[int], Done], threads: int = THREADS) -> list[Done]:
    """What each of the threads comes to, which begin together."""
    start = Barrier(threads)

    def begin(number: int) -> Done:
        start.wait()
        return act(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(begin, range(threads)))


def _line(result: dehusk.Result) -> str:
    return json.dumps(result.to_json())


def _lines(site: dehusk.Session, pages: list[Page]) -> list[str]:
    return [_line(site.add(page)) for page in pages]


def test_each_answer_of_threads_over_one_site_is_that_of_its_turn() -> None:
    site, pages = Site("mill.example"), _pages(96, "mill.example")

    def add(thread: int) -> list[tuple[int, Page, str]]:
        found = []
        for page in pages[thread::THREADS]:
            result = site.add(page)
            found.append((result.pages_seen, page, _line(result)))
        return found

    answers = sorted(answer for found in _at_once(add) for answer in found)
    assert [turn for turn, _, _ in answers] == list(range(1, len(pages) + 1))
    alone = Site("mill.example")
    assert _lines(alone, [page for _, page, _ in answers]) == [line for _, _, line in answers]
    assert alone.dump() == site.dump()


def test_threads_with_a_site_each_answer_as_one_thread_does() -> None:
    def clean(number: int) -> tuple[list[str], bytes]:
        site = Site(f"{number}.example")
        return _lines(site, _pages(36, f"{number}.example")), site.dump()

    assert _at_once(clean) == [clean(number) for number in range(THREADS)]


@pytest.mark.parametrize("method", ["segments", "style-tree", "cetr", "page"])
def test_threads_answer_by_other_methods_as_one_thread_does(method: str) -> None:
    def clean(number: int) -> list[str]:
        return _lines(Site(method=method), _pages(9, f"{number}.example"))

    assert _at_once(clean, 4) == [clean(number) for number in range(4)]


def test_threads_over_one_file_write_what_one_thread_writes(tmp_path: Path) -> None:
    def clean(session: dehusk.Session, number: int) -> list[str]:
        return _lines(session, _pages(20, f"{number}.example"))

    kept: dict[str, Any] = {}
    with dehusk.open(tmp_path / "many.husk", durable="page") as session:
        kept["many"] = _at_once(lambda number: clean(session, number))
    with dehusk.open(tmp_path / "one.husk") as session:
        kept["one"] = [clean(session, number) for number in range(THREADS)]
    assert kept["many"] == kept["one"]
    for name in kept:
        with dehusk.open(tmp_path / f"{name}.husk", reads_only=True) as session:
            kept[name] = [session.state(f"{number}.example") for number in range(THREADS)]
    assert kept["many"] == kept["one"]


def test_sites_are_held_sent_and_dropped_while_threads_ask() -> None:
    session, pages = dehusk.Session(), _pages(4, "mill.example")
    for page in pages:
        session.add(page)
    snapshot, answer = session.snapshot("mill.example"), session.ask(pages[0]).text

    def act(thread: int) -> None:
        for number in range(40):
            name = f"{thread}-{number % 5}.example"
            session.hold(name, session.memory("mill.example"))
            assert session.held_bytes(name) > 0
            assert session.snapshot("mill.example") == snapshot
            assert session.ask(pages[0]).text == answer
            session.drop(name)

    _at_once(act)
    assert list(session.memories) == ["mill.example"]


def test_threads_that_share_a_tree_get_the_same_of_it() -> None:
    for page in _pages(24, "mill.example")[::5]:
        expected = _asked(page, 1)[0]
        assert _asked(page, THREADS) == [expected] * THREADS


def _asked(page: Page, threads: int) -> list[tuple[object, ...]]:
    """What threads find that ask for everything of one tree, each in an order of its own."""
    site, tree = Site(), parse(page).tree
    site.add(page)
    method, model = Auto(), load_model()
    other = model.page.kernel, _network(model.page)

    def ask(thread: int) -> tuple[object, ...]:
        memory = method.learn(site.memory(), tree)
        opinions = []
        for turn in range(20):
            network = other[(thread + turn) % 2]
            opinions.append(_kernel.opinion(tree.once(model.read), network).logits.tobytes())
        scores = method.score(memory, tree).tobytes()
        source = {tree.kernel.source for _ in range(5)}
        return (
            scores,
            source,
            tree.subtree_hash.tobytes(),
            frozenset(opinions),
            tree.text_length.sum(),
        )

    return _at_once(ask, threads)


def _network(like: Any) -> _kernel.Network:
    """Another network that says the same."""
    return _kernel.Network(
        like.hidden, like.hidden_bias, like.output, like.output_bias, like.floor, like.ceiling
    )


@pytest.mark.parametrize("is_read_only", [False, True])
def test_an_array_that_another_thread_writes_to_leads_the_kernel_nowhere(
    is_read_only: bool,
) -> None:
    keys = np.arange(20_000, dtype=np.uint64)
    table, kept, ended = Table.of_page(keys), np.zeros(len(keys), np.bool_), Event()
    seen = kept.view()
    seen.flags.writeable = not is_read_only

    def write() -> None:
        while not ended.is_set():
            kept[:] = True
            kept[::2] = False

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            for _ in range(300):
                found = table.only(seen)
                assert len(found.keys) <= len(keys)
                assert (np.diff(found.keys) > 0).all()
        finally:
            ended.set()
        writing.result()


def test_a_table_that_another_thread_replaces_stays_as_long_as_it_is_read() -> None:
    keys = np.arange(8, dtype=np.uint64)
    tables, ended = {"segments": Table.of_page(keys)}, Event()

    def replace() -> None:
        while not ended.is_set():
            tables["segments"] = Table.of_page(keys)

    with ThreadPoolExecutor(2) as pool:
        replacing = [pool.submit(replace) for _ in range(2)]
        try:
            assert not any(_kernel.is_template_new(tables, 5) for _ in range(20_000))
        finally:
            ended.set()
        for done in replacing:
            done.result()


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a global lock"
)
def test_a_free_threaded_python_stays_so_when_it_loads_the_kernel() -> None:
    code = "import sys, dehusk._kernel; print(sys._is_gil_enabled())"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
