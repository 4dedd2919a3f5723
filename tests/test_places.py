"""Where a site shows its dates and authors: learned from its pages, of use on later ones."""

from __future__ import annotations

import random
from functools import reduce

import numpy as np
import pytest

import dehusk
from dehusk.answer.candidates import taught, teaches
from dehusk.answer.shown import IS_AUTHOR, IS_DATE, Places, key_at, lesson_of
from dehusk.memory import Memory, dump, load
from dehusk.memory.memory import PLACES
from dehusk.methods.auto import Auto
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.pipeline import MAX_PLACES, with_lesson
from dehusk.pipeline import lesson_of as page_lesson

SITE = "https://millpond.example"


def _page(number: int, *, is_stated: bool = True, today: str = "") -> str:
    """A page that teaches: it shows the day of a fair in its head, and its own below its text."""
    pages = (_written(number, "!" * more, today, is_stated=is_stated) for more in range(99))
    return next(page for page in pages if teaches(parse(Page(page)).tree))


def _written(number: int, end: str, today: str = "", *, is_stated: bool = True) -> str:
    day = f"2024-05-{number:02}"
    meta = f'<meta property="article:published_time" content="{day}">' if is_stated else ""
    return (
        f"<html lang=en><title>Wheel {number} turns - The Millpond</title>{meta}"
        f"<main><h1>Wheel {number} turns</h1><p class=fair>{number + 2} June 2024</p>{today}"
        f"<p>The wheel number {number} turned all day, in rain and wind, and nobody minded.</p>"
        f"<p>The miller says that it has turned for {number} days, and the flour is fine{end}</p>"
        f"<div class=filed-{number}>{number} May 2024</div></main>"
    )


def _published(pages: int) -> str | None:
    """The date of a page that states none, after so many that do."""
    site = dehusk.Site()
    for number in range(1, pages + 1):
        site.add(_page(number), f"{SITE}/{number}")
    return site.add(_page(20, is_stated=False), f"{SITE}/20").published


def test_a_date_is_found_where_the_site_shows_its_dates() -> None:
    assert _published(0) == "2024-06-22"
    assert _published(5) == "2024-05-20"


def test_a_few_of_many_pages_teach_and_the_others_leave_no_places() -> None:
    method = Auto()
    trees = [parse(Page(_written(1, "." * more))).tree for more in range(120)]
    assert 0.1 < np.mean([teaches(tree) for tree in trees]) < 0.3
    assert all(
        (len(page_lesson(method, tree).table(PLACES)) > 0) is teaches(tree) for tree in trees
    )


def test_a_page_that_taught_nothing_takes_nothing_from_its_site() -> None:
    site = dehusk.Site()
    for number in range(1, 3):
        site.add(_page(number), f"{SITE}/{number}")
    pages = (_written(20, "." * more, is_stated=False) for more in range(99))
    page = next(page for page in pages if not teaches(parse(Page(page)).tree))
    before = site.memory().table(PLACES)
    assert site.add(page, f"{SITE}/20").published == "2024-05-20"
    assert np.array_equal(site.memory().table(PLACES).count, before.count)


def test_a_page_is_no_evidence_for_itself() -> None:
    site = dehusk.Site()
    for _ in range(5):
        result = site.add(_page(7, is_stated=False), f"{SITE}/7")
        own = parse(Page(_page(7, is_stated=False), f"{SITE}/7")).tree.once(taught)
        if result.pages_seen == 1:
            sign = Places(site.memory().table(PLACES), own).sign
            assert {sign(int(key), IS_DATE, "2024-06-09") for key in own.keys} == {None}


def test_what_pages_teach_of_places_adds_up_in_any_order() -> None:
    method = Auto(ages=False)
    lessons = [page_lesson(method, parse(Page(_page(number))).tree) for number in range(1, 9)]
    shuffled = random.Random(1).sample(lessons, len(lessons))
    one, other = (reduce(Memory.plus, each).table(PLACES) for each in (lessons, shuffled))
    assert len(one) >= 2
    for name in ("keys", "count", "sums"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_a_memory_without_places_opens_and_learns_them() -> None:
    method = Auto()
    old = method.lesson(parse(Page(_page(1))).tree)
    read = load(dump(old, "auto", site="s"), "auto", site="s")
    assert len(read.table(PLACES)) == 0
    after = with_lesson(method, read, page_lesson(method, parse(Page(_page(2))).tree))
    again = load(dump(after, "auto", site="s"), "auto", site="s").table(PLACES)
    for name in ("keys", "count", "sums"):
        assert np.array_equal(getattr(again, name), getattr(after.table(PLACES), name))


def test_a_site_has_few_places_whatever_it_sends() -> None:
    method, memory = Auto(), Memory()
    for number in range(60):
        spots = "".join(
            f"<p class={''.join(random.Random(100 * number + n).sample('abcdefghijkl', 9))}>"
            f"{n + 1} May 2024</p>"
            for n in range(28)
        )
        tree = parse(Page(_page(number % 28 + 1, today=spots))).tree
        assert len(tree.once(taught)) <= 16
        memory = with_lesson(method, memory, page_lesson(method, tree))
    assert 16 < len(memory.table(PLACES)) <= MAX_PLACES


def test_one_site_teaches_no_other() -> None:
    session = dehusk.Session()
    for number in range(1, 6):
        session.add(_page(number), f"https://other.example/{number}")
    result = session.add(_page(20, is_stated=False), f"{SITE}/20")
    assert result.published == "2024-06-22"


@pytest.mark.parametrize(
    ("values", "asked", "kind", "expected"),
    [
        ([("2024-05-01", True), ("2024-05-02", True)], "2024-05-03", IS_DATE, "place right"),
        ([("2024-05-01", False), ("2024-05-02", False)], "2024-05-03", IS_DATE, "place wrong"),
        ([("2024-05-01", True), ("2024-05-02", False)], "2024-05-03", IS_DATE, None),
        ([("2024-05-01", True)], "2024-05-03", IS_DATE, None),
        ([("2024-05-01", True)] * 4, "2024-05-01", IS_DATE, "place same"),
        ([("2024-05-01", True)] * 4, "2024-05-02", IS_DATE, "place right"),
        ([("Ada Fennel", True)] * 4, "Ada Fennel", IS_AUTHOR, "place right"),
    ],
)
def test_other_pages_say_what_a_place_is_worth(
    values: list[tuple[str, bool]], asked: str, kind: int, expected: str | None
) -> None:
    own = lesson_of({key_at(98, kind): (asked, True)})
    table = own
    for value in values:
        table = table.then(lesson_of({key_at(98, kind): value}), 1)
    assert Places(table, own).sign(98, kind, asked) == expected
    assert Places(table, own).sign(42, kind, asked) is None
