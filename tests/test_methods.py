"""The contract that every method obeys; a new method is picked up without a change here."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass

import numpy as np
import pytest

from dehusk.errors import SettingError, StateError, UsageError
from dehusk.memory import Memory, dump, load
from dehusk.methods import (
    DEFAULT,
    METHODS,
    AdditiveMethod,
    Explains,
    Method,
    knows_copies,
    make_method,
)
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree

PAGES = [
    "<header>" + "".join(f"<a href=/{m}>Year {m}</a> " for m in range(8)) + "</header>"
    "<table><tr><td>All the harvests of the valley, year by year</td></tr></table>"
    f"<main><h1>Harvest {n}</h1>"
    f"<p>In year {n} there were {n * 7} sacks of rye. The summer had been dry, and the mill by the"
    f" river stood still until rain came back in the last week of September.</p><img src=a.png>"
    + "".join(f"<section class=s{n}{m}><b>Field {n}{m}</b></section>" for m in range(n))
    + "</main>"
    "<aside hidden>later</aside><footer>All rights reserved</footer><script>x()</script>"
    for n in range(8)
]
ODD = [
    "",
    "   ",
    "<p>",
    "<p hidden>x",
    "no tags",
    "<script>a<b</script>",
    "<svg><text>t</text></svg>",
]


def _tree(html: str) -> Tree:
    number = PAGES.index(html) if html in PAGES else len(PAGES)
    return parse(Page(html, f"https://grain.example/{number}")).tree


def _load(url: str) -> Tree | None:
    number = url.rpartition("/")[2]
    is_page = number.isdecimal() and int(number) < len(PAGES)
    return _tree(PAGES[int(number)]) if is_page else None


def _make(name: str) -> Method:
    """The method; one that follows links can follow those between PAGES."""
    has_loader = "loader" in METHODS[name].__dataclass_fields__
    return make_method(name, loader=_load) if has_loader else make_method(name)


@pytest.fixture(params=sorted(METHODS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _learned(name: str, pages: list[str]) -> Memory:
    memory, method = Memory(), _make(name)
    for html in pages:
        memory = method.learn(memory, _tree(html))
    return memory


def test_a_method_is_a_frozen_dataclass_that_inherits_from_nothing(name: str) -> None:
    kind = METHODS[name]
    assert is_dataclass(kind)
    assert kind.__bases__ == (object,)
    first = fields(kind)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(make_method(name), first, None)
    assert make_method(name).name == name


def test_every_method_says_in_one_line_what_it_does(name: str) -> None:
    first = (METHODS[name].__doc__ or "").partition("\n")[0]
    assert first.endswith(".")
    assert not first.startswith(f"{METHODS[name].__name__}(")


def test_a_setting_of_another_type_is_refused(name: str) -> None:
    for field in fields(METHODS[name]):
        if field.default is not None:
            with pytest.raises(SettingError, match=field.name):
                make_method(name, **{field.name: object()})


@pytest.mark.parametrize("html", [*ODD, PAGES[0]])
def test_there_is_a_score_for_each_node_in_range_or_nan(name: str, html: str) -> None:
    method, tree = _make(name), _tree(html)
    for memory in (Memory(), _learned(name, PAGES)):
        scores = method.score(method.learn(memory, tree), tree)
        assert scores.shape == (len(tree),)
        seen = scores[~np.isnan(scores)]
        assert ((seen >= 0) & (seen <= 1)).all()


def test_something_is_template_and_something_is_content(name: str) -> None:
    scores = _make(name).score(_learned(name, PAGES), _tree(PAGES[5]))
    assert (scores > 0.5).any()
    assert (scores <= 0.5).any()


def test_what_is_never_shown_has_no_score(name: str) -> None:
    method, tree = _make(name), _tree(PAGES[0])
    scores = method.score(_learned(name, PAGES), tree)
    assert np.isnan(scores[~tree.shown]).all()


def test_learning_leaves_the_old_memory_and_the_tree_as_they_were(name: str) -> None:
    memory = _learned(name, PAGES[:4])
    before, tree = dump(memory, name), _tree(PAGES[5])
    arrays = [array.copy() for array in (tree.parent, tree.own_hash, tree.text_length)]
    _make(name).learn(memory, tree)
    assert dump(memory, name) == before
    after = (tree.parent, tree.own_hash, tree.text_length)
    assert all((a == b).all() for a, b in zip(arrays, after, strict=True))


def test_asking_changes_nothing(name: str) -> None:
    memory, method = _learned(name, PAGES), _make(name)
    before, tree = dump(memory, name), _tree(PAGES[2])
    first, second = method.score(memory, tree), method.score(memory, tree)
    assert dump(memory, name) == before
    assert np.array_equal(first, second, equal_nan=True)


def test_a_page_that_was_learned_long_ago_can_be_asked_about(name: str) -> None:
    odd = "<p>Once</p><b>upon</b><table><tr><td>a <td>time</table>"
    memory = _learned(name, [odd, *PAGES * 4])
    scores = _make(name).score(memory, _tree(odd))
    seen = scores[~np.isnan(scores)]
    assert ((seen >= 0) & (seen <= 1)).all()


@pytest.mark.parametrize("html", [*ODD, PAGES[0]])
def test_an_explanation_is_of_every_node_and_of_the_score_that_is_given(
    name: str, html: str
) -> None:
    method, tree = _make(name), _tree(html)
    if not isinstance(method, Explains):
        assert not hasattr(method, "explain")
        return
    for memory in (Memory(), _learned(name, PAGES)):
        learned = method.learn(memory, tree)
        given = method.explain(learned, tree)
        assert np.array_equal(given.score, method.score(learned, tree), equal_nan=True)
        for scores in (given.page_score, given.site_score):
            assert scores.shape == (len(tree),)
            seen = scores[~np.isnan(scores)]
            assert ((seen >= 0) & (seen <= 1)).all()
        assert given.reason.shape == (len(tree),)
        assert ((given.reason >= -1) & (given.reason < len(given.reasons))).all()
        assert all(reason.strip() for reason in given.reasons)


def test_state_saves_and_loads(name: str) -> None:
    memory, method = _learned(name, PAGES), _make(name)
    again = load(dump(memory, name), name)
    tree = _tree(PAGES[3])
    assert np.array_equal(method.score(memory, tree), method.score(again, tree), equal_nan=True)
    assert dump(again, name) == dump(memory, name)
    with pytest.raises(StateError):
        load(dump(memory, name), "another")


def test_learning_adds_what_the_page_alone_teaches(name: str) -> None:
    method = _make(name)
    if not isinstance(method, AdditiveMethod):
        assert not hasattr(method, "lesson")
        return
    memory = Memory()
    for html in PAGES:
        lesson = method.lesson(_tree(html))
        assert lesson.pages == 1
        lesson = load(dump(lesson, name), name)
        news = method.news(memory, lesson) if knows_copies(method) else lesson
        added = memory if news is None else method.limit(memory.then(news))
        memory = method.learn(memory, _tree(html))
        assert dump(added, name) == dump(memory, name)
        assert dump(method.limit(memory), name) == dump(memory, name)


def test_every_page_is_counted_but_for_copies(name: str) -> None:
    counted = _learned(name, PAGES + ODD).pages
    assert counted == len(PAGES + ODD) or knows_copies(_make(name))
    assert counted >= len(PAGES)


def test_unknown_settings_are_refused_by_name(name: str) -> None:
    with pytest.raises(SettingError, match="wobble"):
        make_method(name, wobble=1)


def test_an_unknown_method_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="nonesuch"):
        make_method("nonesuch")


def test_the_default_is_a_method() -> None:
    assert DEFAULT in METHODS


_DIGESTS = """
import hashlib, sys
from dehusk.memory import Memory, dump
from dehusk.methods import METHODS, make_method
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.template.templates import PageLoader
pages = [Page(html, f"https://grain.example/{n}") for n, html in enumerate(sys.argv[1:])]
for name, kind in METHODS.items():
    settings = {"loader": PageLoader(pages)} if "loader" in kind.__dataclass_fields__ else {}
    method, memory, digest = make_method(name, **settings), Memory(), hashlib.sha256()
    for page in pages:
        tree = parse(page).tree
        memory = method.learn(memory, tree)
        digest.update(method.score(memory, tree).tobytes())
    digest.update(dump(memory, method.name))
    print(name, digest.hexdigest())
"""


@pytest.mark.slow
def test_the_answers_are_the_same_in_every_process() -> None:
    told = []
    for seed in ("0", "1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        run = subprocess.run(
            [sys.executable, "-c", _DIGESTS, *PAGES],
            capture_output=True, text=True, check=True, env=environment, timeout=300,
        )  # fmt: skip
        told.append(run.stdout.splitlines())
    assert [line.split()[0] for line in told[0]] == list(METHODS)
    assert told[0] == told[1] == told[2]
