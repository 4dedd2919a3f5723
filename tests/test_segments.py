"""The method `segments` against its paper (Wang et al., WWW 2008)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dehusk.errors import SettingError
from dehusk.memory import Memory
from dehusk.methods.papers.segments import Segments
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree


def _tree(html: str) -> Tree:
    return parse(Page(html)).tree


def _learn(method: Segments, *pages: str) -> Memory:
    memory = Memory()
    for html in pages:
        memory = method.learn(memory, _tree(html))
    return memory


def _score_of(text: str, memory: Memory, html: str, method: Segments | None = None) -> float:
    tree = _tree(html)
    node = next(i for i in range(len(tree)) if tree.is_text[i] and tree.text(i) == text)
    return float((method or Segments()).score(memory, tree)[node])


def test_a_segment_is_template_from_its_fifth_page_on() -> None:
    # Section 2.3: a document frequency of at least 5, the page itself included (section 2.2).
    html = "<div>menu</div>"
    assert _score_of("menu", _learn(Segments(), *[html] * 4), html) == 0.0
    assert _score_of("menu", _learn(Segments(), *[html] * 5), html) == 1.0


def test_the_same_text_at_another_path_is_another_segment() -> None:
    # Section 2: the same contents, and the same DOM path.
    memory = _learn(Segments(), *["<div>menu</div>"] * 5)
    other = Segments().learn(memory, _tree("<div><p>menu</p></div>"))
    assert _score_of("menu", other, "<div><p>menu</p></div>") == 0.0


def test_a_segment_counts_once_a_page() -> None:
    html = "<div>menu</div>" * 5
    assert _score_of("menu", _learn(Segments(), html), html) == 0.0


def test_a_block_is_template_above_a_ratio_of_0_7_and_not_at_it() -> None:
    # Section 2.3: lengths of template segments over lengths of all segments, larger than 0.7.
    known = "<div><b>1234567</b></div>"
    at, above = "<div><b>1234567</b>abc</div>", "<div><b>1234567</b>ab</div>"
    memory = _learn(Segments(), *[known] * 5)
    for html, is_template in ((at, False), (above, True)):
        learned = Segments().learn(memory, _tree(html))
        assert (_score_of("1234567", learned, html) > 0.5) is is_template
        tail = html.removesuffix("</div>").rpartition("</b>")[2]
        assert (_score_of(tail, learned, html) > 0.5) is is_template


def test_blocks_are_what_stands_between_separating_tags() -> None:
    # Section 2.1, step 1: an inline tag does not end a block, a DIV does.
    html = "<div>menu <i>of</i> the site<div>new</div>more menu</div>"
    memory = _learn(Segments(), *["<div>menu <i>of</i> the site<div>x</div>more menu</div>"] * 5)
    learned = Segments().learn(memory, _tree(html))
    assert _score_of("of", learned, html) == 1.0
    assert _score_of("new", learned, html) == 0.0
    assert _score_of("more menu", learned, html) == 1.0


def test_comments_cut_text_into_segments() -> None:
    # Section 2.1, step 2: segments are cut by tags, processing instructions and comments.
    memory = _learn(Segments(), *["<div>menu<!-- x --></div>"] * 5)
    learned = Segments().learn(memory, _tree("<div>menu<!-- y -->!</div>"))
    assert _score_of("menu", learned, "<div>menu<!-- y -->!</div>") > 0.5


@pytest.mark.parametrize(("base", "factor"), [(50.0, 20.0), (10.0, 3.0)])
@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_the_life_time_is_the_papers_logistic_function(
    base: float, factor: float, count: int
) -> None:
    # Section 2.4: t = Tb·N / (1 + (N - 1)·e^-(df - 1)).
    expected = base * factor / (1 + (factor - 1) * math.exp(-(count - 1)))
    method = Segments(base_life=base, life_factor=factor)
    assert method.life_time(np.array([count], np.uint32))[0] == pytest.approx(expected)


def test_a_segment_seen_once_lives_for_tb_and_any_other_for_at_most_tb_times_n() -> None:
    life = Segments(base_life=50, life_factor=20).life_time(np.array([1, 1000], np.uint32))
    assert life[0] == pytest.approx(50)
    assert life[1] == pytest.approx(50 * 20)


def test_a_segment_leaves_the_table_after_its_life_time_and_not_before() -> None:
    # Section 2.4: time is counted in pages.
    method = Segments(base_life=3, life_factor=1)
    once = "<p>once</p>"
    others = [f"<p>other {number}</p>" for number in range(4)]
    assert len(_learn(method, once, *others[:3]).table("segments")) == 4
    assert len(_learn(method, once, *others[:4]).table("segments")) == 4  # 'once' has left


def test_a_segment_that_comes_back_lives_on() -> None:
    method = Segments(base_life=3, life_factor=1)
    pages = [f"<p>a</p><p>{n}</p>" if n % 3 == 0 else f"<p>{n}</p>" for n in range(13)]
    memory = _learn(method, *pages)
    assert memory.table("segments").count.max() == 5


def test_without_ageing_nothing_leaves() -> None:
    method = Segments(base_life=1, life_factor=1, ages=False)
    assert len(_learn(method, *[f"<p>{n}</p>" for n in range(50)]).table("segments")) == 50


def test_memories_add_up_when_nothing_ages() -> None:
    method = Segments(ages=False)
    pages = [f"<div>menu</div><p>{n % 7}</p>" for n in range(20)]
    whole = _learn(method, *pages).table("segments")
    parts = _learn(method, *pages[:8]).plus(_learn(method, *pages[8:])).table("segments")
    assert (whole.keys == parts.keys).all()
    assert (whole.count == parts.count).all()


def test_an_elements_score_is_the_mean_of_the_text_below_it() -> None:
    memory = _learn(Segments(), *["<div>1234</div>"] * 5)
    html = "<body><div>1234</div><p>12345678</p>"
    learned = Segments().learn(memory, _tree(html))
    tree = _tree(html)
    assert Segments().score(learned, tree)[0] == pytest.approx(4 / 12)


def test_what_is_hidden_is_not_learned() -> None:
    memory = _learn(Segments(), "<p hidden>x</p><script>y</script><noscript>z</noscript>")
    assert len(memory.table("segments")) == 0


@pytest.mark.parametrize(
    "settings",
    [{"base_life": 0.0}, {"life_factor": 0.5}, {"ratio_threshold": 1.0}, {"separators": ("nope",)}],
)
def test_impossible_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingError, match="segments"):
        Segments(**settings)  # type: ignore[arg-type]


def test_a_flood_of_new_segments_stays_within_the_limit_and_the_template_stays() -> None:
    method = Segments(max_keys=200)
    menu = "<div>menu</div>"
    memory = _learn(method, *[f"{menu}<p>{n}</p>" for n in range(6)])
    for n in range(12):
        flood = "".join(f"<p>{n} {m}</p>" for m in range(150))
        memory = method.learn(memory, _tree(flood))
        assert len(memory.table("segments")) <= 200
    assert _score_of("menu", method.learn(memory, _tree(menu)), menu, method) > 0.5


def test_a_limit_that_holds_no_segments_is_refused() -> None:
    with pytest.raises(SettingError, match="max_keys"):
        Segments(max_keys=3)
