"""Copies of pages cost no page of a site its content."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.doors.spark.learning import added_up
from dehusk.memory import Memory
from dehusk.memory.lessons import Lessons
from dehusk.memory.upkeep import merge_stores
from dehusk.methods.auto import Auto
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.samples import sample_site

SITE = "news-5.example"
PAGES = tuple(sample.page for sample in sample_site("news", pages=6, seed=5))
COPIES = 3
CROPS = ("rye", "oat", "wheat", "barley", "hay", "flax", "hemp", "maize", "millet", "spelt")


def _changed(html: str, places: Callable[[int], Sequence[int]], number: int) -> str:
    """The page with other words at these places of its running text."""
    texts = re.compile(r">([^<>]{40,})<")
    head, body = html.split("<body", 1)
    chosen = set(places(sum(len(text.split()) for text in texts.findall(body))))
    count = itertools.count()

    def change(match: re.Match[str]) -> str:
        words = (f"new{number}" if next(count) in chosen else w for w in match[1].split())
        return f">{' '.join(words)}<"

    return head + "<body" + texts.sub(change, body)


def _counted(html: str, number: int) -> str:
    said = f"<p>Read {1000 + number} times until {number + 2} May 2026, number a{number:04x}.</p>"
    return html.replace("</h1>", f"</h1>{said}", 1)


COPY: dict[str, Callable[[Page, int], Page]] = {
    "other URL": lambda page, n: Page(page.html, f"{page.url}?copy={n}"),
    "same URL": lambda page, _: page,
    "counter": lambda page, n: Page(_counted(str(page.html), n), f"{page.url}?copy={n}"),
    "spread": lambda page, n: Page(
        _changed(str(page.html), lambda words: range(5, words, 10), n), f"{page.url}?copy={n}"
    ),
    "stretch": lambda page, n: Page(
        _changed(str(page.html), lambda words: range(words // 3, words // 3 + words // 10), n),
        f"{page.url}?copy={n}",
    ),
}


@cache
def _site(kind: str) -> tuple[tuple[Page, ...], ...]:
    """Of each page the page itself and its copies."""
    return tuple((page, *(COPY[kind](page, n) for n in range(1, COPIES + 1))) for page in PAGES)


def _agree(one: str, other: str, least: float = 0.98) -> bool:
    first, second = (Counter(re.findall(r"\w+", text.lower())) for text in (one, other))
    return 2 * (first & second).total() >= least * (first.total() + second.total())


def _order(order: str, pages: Sequence[Sequence[Page]]) -> list[tuple[int, Page]]:
    told = [(number, page) for number, same in enumerate(pages) for page in same]
    if order == "last":
        told = [(number, same[n]) for n in range(COPIES + 1) for number, same in enumerate(pages)]
    if order == "shuffled":
        random.Random(3).shuffle(told)
    return told


def _once(learned: dict[int, Page], number: int, page: Page) -> dehusk.Result:
    """What the page says where each page was learned once, and this one last or in its place."""
    site = dehusk.Site()
    for other in {**learned, number: page}.values():
        site.learn(other.html, other.url)
    return site.ask(page.html, page.url)


@pytest.mark.parametrize("order", ["grouped", "last", "shuffled"])
@pytest.mark.parametrize("kind", COPY)
def test_copies_change_no_answer(kind: str, order: str) -> None:
    site, learned = dehusk.Site(), dict[int, Page]()
    told = _order(order, _site(kind))
    for number, page in told:
        answer = site.add(page.html, page.url).text
        assert _agree(answer, _once(learned, number, page).text)
        learned.setdefault(number, page)
    for number, page in told[:: COPIES - 1]:
        assert _agree(site.ask(page.html, page.url).text, _once(learned, number, page).text)


@pytest.mark.parametrize("kind", COPY)
def test_a_site_of_nothing_but_copies_says_what_the_page_alone_says(kind: str) -> None:
    site = dehusk.Site()
    for number in range(30):
        page = COPY[kind](PAGES[0], number)
        assert _agree(site.add(page.html, page.url).text, dehusk.extract(page.html, page.url).text)


def test_words_changed_anywhere_make_no_other_page() -> None:
    site, dice = dehusk.Site(), random.Random(4)
    site.add(PAGES[1].html, PAGES[1].url)
    for number in range(20):
        html = _changed(
            str(PAGES[1].html), lambda words: dice.sample(range(words), words // 10), number
        )
        alone = dehusk.extract(html, f"{PAGES[1].url}?{number}").text
        assert _agree(site.add(html, f"{PAGES[1].url}?{number}").text, alone)


def test_a_page_watched_a_hundred_times_keeps_its_words(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "a.husk", relearn=True) as memory:
        for number in range(100):
            html, url = _counted(str(PAGES[0].html), number), PAGES[0].url
            answer = memory.add(html, url)
            assert _agree(answer.text, dehusk.extract(html, url).text)
        assert memory.memory(SITE).size_bytes < 100_000


def test_copies_change_nothing_in_a_file_that_is_opened_for_each_page(tmp_path: Path) -> None:
    site = dehusk.Site()
    for _, page in _order("shuffled", _site("counter")):
        with dehusk.open(tmp_path / "a.husk") as memory:
            assert memory.add(page).text == site.add(page.html, page.url).text


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--two-pass"], ["--jobs", "2"]])
def test_copies_change_nothing_on_the_command_line(options: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number, page in _order("grouped", _site("counter")):
        (folder / f"{number}{len(list(folder.iterdir())):02}.html").write_text(str(page.html))
    command = ["clean", str(folder), "-o", f"{tmp_path}/out/", "-q", "--format", "text"]
    assert main([*command, *options]) == 0
    copies = [path.read_text() for path in sorted((tmp_path / "out").rglob("*.txt"))]
    assert len(copies) == len(PAGES) * (COPIES + 1)
    for number, page in enumerate(PAGES):
        once = len(_once(dict(enumerate(PAGES)), number, page).text.split())
        same = slice(number * (COPIES + 1), (number + 1) * (COPIES + 1))
        assert all(len(copy.split()) >= 0.95 * once for copy in copies[same])


def test_memories_of_halves_with_the_same_pages_add_up(tmp_path: Path) -> None:
    # Nearly: what both halves say weighs twice as much.
    halves = _order("last", _site("other URL"))
    for name, pages in (("a", halves[:9]), ("b", halves[4:14])):
        with dehusk.open(tmp_path / f"{name}.husk", ages=False) as memory:
            for _, page in pages:
                memory.learn(page)
    merge_stores(tmp_path / "a.husk", tmp_path / "b.husk", tmp_path / "c.husk")
    with dehusk.open(tmp_path / "c.husk") as merged:
        for number, page in enumerate(PAGES):
            once = _once(dict(enumerate(PAGES)), number, page).text
            both = merged.ask(page.html, page.url, is_learned=True).text
            assert _agree(both, once, 0.95)


def test_a_home_page_under_two_urls_keeps_its_words() -> None:
    site, (page, *_) = dehusk.Site(), PAGES
    first = site.add(page.html, f"https://{SITE}/").text
    assert site.add(page.html, f"https://{SITE}/index.html").text == first


def test_lessons_of_copies_change_nothing_wherever_they_are_added_up() -> None:
    method, lessons = Auto(ages=False), Lessons(Auto(ages=False), knows_pages=True)
    trees = [parse(page).tree for page in PAGES for _ in range(2)]
    told = [method.lesson(tree) for tree in trees]
    once, twice = (added_up(each, method) for each in (told[::2], told))
    after, news = lessons.after(Memory(), [lessons.written(one, SITE) for one in told], SITE)
    for memory in (twice, after):
        assert memory.pages == once.pages == len(news) == len(PAGES)
        assert memory.table("segments").count.tolist() == once.table("segments").count.tolist()


def test_memories_of_many_pages_are_added_whole() -> None:
    method = Auto(ages=False)
    memories = []
    for pages in (PAGES, PAGES[:3], PAGES[2:]):
        memory = Memory()
        for page in pages:
            memory = method.learn(memory, parse(page).tree)
        memories.append(memory)
    assert method.news(memories[0], memories[2]) is memories[2]


@pytest.mark.parametrize(
    "html",
    [
        lambda n: f"<p>Page {n} of many, which says nearly nothing.",
        lambda n: f"<p>Line {n * 7919:x}",
        lambda n: "",
        lambda n: "<nav><a href=/>Home</a></nav>",
        lambda n: _counted(f"<h1>Rye</h1><p>{' '.join(f'The {w} was cut.' for w in CROPS)}", n),
    ],
)
def test_many_pages_that_say_little_take_little(html: Callable[[int], str]) -> None:
    site, sizes = dehusk.Site(), []
    for number in range(3000):
        answer = site.add(html(number), f"https://{SITE}/{number}")
        if number % 1000 == 999:
            sizes.append(site.memory().size_bytes)
    assert answer.text == dehusk.extract(html(2999)).text
    assert sizes[2] <= 1.1 * sizes[0] + 1000
    assert sizes[2] < 1_000_000


POISON = (
    "The old mill at Barley Ford was sold on Tuesday to a family of bakers from the north, who want"
    " to grind rye there again before the winter. The council had set a price that nobody else"
    " would pay."
)


@cache
def _fifty() -> tuple[tuple[str, str], ...]:
    """Fifty different pages before and behind the place of a paragraph in their content."""
    paragraph = re.compile(r"<p[^>]*>[^<]{60,}</p>")
    found = []
    for sample in sample_site("blog", pages=110, seed=1):
        html = str(sample.page.html)
        if said := [
            m for m in paragraph.finditer(html) if m[0][3:-4].split(">")[-1] in sample.content
        ]:
            found.append((html[: said[0].end()], html[said[0].end() :]))
    return tuple(found[:50])


@pytest.mark.parametrize("poisoned", [5, 20, 25])
@pytest.mark.parametrize("are_copies", [False, True])
@pytest.mark.parametrize("box", ["<p>{}</p>", "<div class=note><p>{}</p></div>"])
def test_a_paragraph_stays_that_up_to_half_of_the_site_repeats(
    poisoned: int, are_copies: bool, box: str
) -> None:
    site, (victim, *others), poison = dehusk.Site(), _fifty(), box.format(POISON)
    assert len(others) == 49
    for number, (before, after) in enumerate(others):
        html = before + after
        if number * poisoned % 49 < poisoned:
            html = poison.join(others[0] if are_copies else (before, after))
        site.learn(html, f"https://{SITE}/{number}")
    html = poison.join(victim)
    assert POISON in site.add(html, f"https://{SITE}/victim").text.replace("\n", " ")
