"""Images that most pages of a site have are template; those of the content stay."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import dehusk
from dehusk import _kernel
from dehusk.doors.cli import main
from dehusk.memory import Memory
from dehusk.methods.auto import Auto
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.urls import base_of
from dehusk.settings import Limits

CROPS = ("rye", "oats", "wheat", "barley", "hay", "flax", "hemp", "maize", "millet", "spelt")
HOST = "https://mill.example"
ARROW = '<a href="next.html"><img src="{}" alt="Next"></a>'


def _page(number: int, images: Sequence[str]) -> str:
    """An article that says what no other says, with these images between its paragraphs."""
    chance = random.Random(number)
    shown = [image if "<" in image else f'<img src="{image}" alt="Seen">' for image in images]
    paragraphs = (
        f"<p>{' '.join(f'{chance.choice(CROPS)}{chance.randrange(999)}' for _ in range(40))}.</p>"
        for _ in range(5)
    )
    body = "".join(
        f"{paragraph}<p>{image}</p>"
        for paragraph, image in zip(paragraphs, [*shown, *[""] * (5 - len(shown))], strict=True)
    )
    title = f"{CROPS[number % len(CROPS)].title()} of field {number}"
    return (
        f"<title>{title}</title><body><nav><a href=/>Home</a> <a href=/all>All fields</a></nav>"
        f"<article><h1>{title}</h1>{body}<p>And so the field is done, for this year.</p></article>"
        "<footer>The mill, since 1802</footer>"
    )


def _last(pages: Sequence[tuple[str, str]]) -> dehusk.Result:
    site = dehusk.Site()
    return [site.add(html, url) for html, url in pages][-1]


def test_an_image_that_every_page_has_is_template_and_one_of_the_content_stays() -> None:
    pages = []
    for number in range(8):
        folder, up = ("deep/er/", "../../") if number % 2 else ("", "./")
        arrow = ARROW.format(f"{up}images/left.gif")
        pages.append((_page(number, [arrow, f"own{number}.png"]), f"{HOST}/{folder}{number}.html"))
    result = _last(pages)
    assert "left.gif" not in result.markdown
    assert f"![Seen]({HOST}/deep/er/own7.png)" in result.markdown
    assert "left.gif" not in result.content
    assert "own7.png" in result.content
    assert "left.gif" not in result.safe_html
    assert "own7.png" in result.safe_html


def test_an_image_is_kept_on_a_page_alone_and_until_three_other_pages_have_it() -> None:
    site = dehusk.Site()
    pages = [site.add(_page(n, ["/left.gif"]), f"{HOST}/{n}") for n in range(4)]
    assert ["left.gif" in page.markdown for page in pages] == [True, True, True, False]


def test_an_image_that_no_more_than_half_of_the_other_pages_have_stays() -> None:
    pages = [(_page(n, ["/note.png"] if n % 2 else []), f"{HOST}/{n}") for n in range(21)]
    assert "note.png" in _last(pages[:20]).markdown
    assert "note.png" not in _last([pages[0], *pages[1::2]]).markdown


def test_copies_of_a_page_do_not_make_its_image_template() -> None:
    others = [(_page(n, []), f"{HOST}/{n}") for n in range(4)]
    copies = [(_page(9, ["/photo.jpg"]), f"{HOST}/9?print={n}") for n in range(7)]
    assert "photo.jpg" in _last([*others, *copies]).markdown


def test_images_of_one_name_in_folders_of_their_own_stay() -> None:
    pages = [(_page(n, ["cover.jpg"]), f"{HOST}/{n}/index.html") for n in range(8)]
    assert f"{HOST}/7/cover.jpg" in _last(pages).markdown


def test_memories_that_are_added_up_count_the_pages_of_an_image() -> None:
    method = Auto()
    trees = [
        parse(Page(_page(n, ["/left.gif", f"{n}.png"]), f"{HOST}/{n}"), Limits()).tree
        for n in range(8)
    ]
    halves = [Memory(), Memory()]
    for number, tree in enumerate(trees):
        halves[number % 2] = method.learn(halves[number % 2], tree)
    scores = method.score(halves[0].plus(halves[1]), trees[0])
    images = [node for node in range(len(trees[0])) if trees[0].name(node) == "img"]
    assert scores[images[0]] == 1
    assert np.isnan(scores[images[1]])


def test_explain_says_that_the_site_has_an_image_everywhere() -> None:
    method, memory = Auto(), Memory()
    for number in range(5):
        tree = parse(Page(_page(number, ["/left.gif"]), f"{HOST}/{number}"), Limits()).tree
        memory = method.learn(memory, tree)
    said = method.explain(memory, tree)
    image = next(node for node in range(len(tree)) if tree.name(node) == "img")
    assert said.score[image] == 1
    assert said.reasons[said.reason[image]] == "most pages of the site have this image"


def test_an_image_of_a_folder_is_known_from_all_its_levels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(6):
        folder = tmp_path / "site" / ("a" if number % 2 else "")
        folder.mkdir(parents=True, exist_ok=True)
        image = "../pictures/up.gif" if number % 2 else "pictures/up.gif"
        (folder / f"{number}.html").write_text(_page(number, [image, f"{number}.png"]), "utf-8")
    assert main(["clean", str(tmp_path / "site"), "-o", f"{tmp_path}/out/"]) == 0
    capsys.readouterr()
    last = next((tmp_path / "out").rglob("*5*.md")).read_text("utf-8")
    assert "5.png" in last
    assert "up.gif" not in last


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://mill.example/i/up.png", None),
        ("http://mill.example/i/up.png", "https://other.example/"),
        ("//mill.example/i/up.png", "file:a/b.html"),
        ("/i/up.png", "https://mill.example/a/b/c.html?d=/e#/f"),
        (" i/up.png\n", "https://mill.example"),
        ("i/up.png", "https://mill.example/?a/b"),
        ("up.png", "https://mill.example/i/a.html"),
        ("./up.png", "https://mill.example/i/"),
        ("../i/up.png", "https://mill.example/a/b.html"),
        ("../../../i/up.png", "https://mill.example/a/b.html"),
    ],
)
def test_an_image_is_the_same_however_its_address_is_written(written: str, url: str | None) -> None:
    assert _key(written, url) == _key("https://mill.example/i/up.png", None)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://mill.example/i/a.html?/", "file:a/b.html"),
        ("/i/", "https://mill.example/a/b/c.html"),
        ("../i/x#/y", "https://mill.example/a/b.html"),
        ("//mill.example/i/", "https://other.example/"),
        ("mailto:a/b", "https://mill.example/i/a.html"),
        ("", "https://mill.example/i/a.html"),
    ],
)
def test_an_image_is_known_by_what_the_page_says_its_addresses_are_relative_to(
    base: str, url: str
) -> None:
    assert _key("up.png", url, f"<base href='{base}'><base href=/no/>") == _key(
        "https://mill.example/i/up.png", None
    )


def _key(written: str, url: str | None, head: str = "") -> bytes:
    tree = parse(Page(f"{head}<p>x<img src='{written}'>", url), Limits()).tree
    return bytes(_kernel.images(tree.kernel, (base_of(tree, url).url or url or "").encode())[1])


def test_images_on_a_page_without_an_address_are_as_they_are_written() -> None:
    assert _key("../../i/up.png", None) == _key("i/up.png", None)
    assert _key("i/up.png", None) != _key("up.png", None)
    assert _key("data:image/gif;base64,R0", None) == b""


def test_the_source_of_a_node_that_is_not_there_is_refused() -> None:
    tree = parse(Page("<p>x<img src=y>"), Limits()).tree
    with pytest.raises(IndexError):
        _kernel.image_source(tree.kernel, len(tree))
    with pytest.raises(OverflowError):
        _kernel.image_source(tree.kernel, -1)


def test_a_long_base_and_many_images_of_a_picture_take_no_more_than_their_number() -> None:
    base = f"<base href='https://mill.example/{'x' * 500_000}/'>" + "<img src=a>" * 20_000
    picture = f"<picture><source srcset='{'a 1w, ' * 16_000}'>{'<img src=b>' * 10_000}</picture>"
    for page in (base, picture):
        began = time.process_time()
        assert dehusk.Site().add(f"{page}<p>Rye", "https://mill.example/").markdown
        assert time.process_time() - began < 2
