"""What the user decides with selectors, whatever a method says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dehusk
from dehusk.answer.labels import Label, Reason, label, overrule
from dehusk.answer.override import Overrides, choose
from dehusk.doors.cli import main
from dehusk.errors import PageTimeout, SelectorError, SettingError
from dehusk.methods.written import with_wishes
from dehusk.page.page import Page
from dehusk.page.parse import parse

HTML = (
    "<nav>Home <b>You <i>are</i> here</b></nav><main><p>Rye</p><div class=advert>Buy"
    "<p class=note>Rye is <em>not</em> for sale</p></div></main><script>x</script>"
)


@pytest.mark.parametrize(
    ("keep", "drop", "text"),
    [
        ((), "nav", "Rye\nBuy\nRye is not for sale"),
        ((), (".advert", "nav"), "Rye"),
        (".note", (".advert", "nav"), "Rye\nRye is not for sale"),
        ("nav b", ("nav", "nav i", ".advert"), "You here\nRye"),
        (".advert", ".advert", "Home You are here\nRye"),
        ((), "html", ""),
        ("em", "html", "not"),
        ((), ".none", "Home You are here\nRye\nBuy\nRye is not for sale"),
    ],
)
def test_what_is_selected_is_kept_or_dropped_and_the_innermost_decides(
    keep: str | tuple[str, ...], drop: str | tuple[str, ...], text: str
) -> None:
    result = dehusk.extract(HTML, method="segments", keep=keep, drop=drop)
    assert [line.split() for line in result.text.split("\n")] == [
        line.split() for line in text.split("\n")
    ]
    assert "".join(result.markdown.replace("*", "").split()) == "".join(text.split())


def test_what_a_site_repeats_stays_where_the_user_keeps_it() -> None:
    site = dehusk.Site(keep="nav")
    for number in range(8):
        result = site.add(f"<nav><a href=/>Home</a></nav><p>Page {number}</p><footer>End</footer>")
    assert result.text == "Home\nPage 7"
    assert [link.template for link in result.links] == [False]
    assert site.ask("<nav>Home</nav><p>New</p>").text == "Home\nNew"


def test_a_file_of_memories_takes_selectors_too(tmp_path: Path) -> None:
    with dehusk.open(tmp_path / "x.husk", drop=["nav"]) as memory:
        answers = list(memory.clean([("<nav>Home</nav><p>Rye</p>", "https://grain.example/1")]))
    assert [answer.text for answer in answers] == ["Rye"]


def test_every_node_says_that_the_user_decided() -> None:
    result = dehusk.extract(HTML, keep=".note", drop=".advert")
    reasons = {(node.tag, node.text): node.reason for node in result.nodes}
    assert reasons["#text", "Buy"] is Reason.DROPPED
    assert reasons["em", None] is Reason.KEPT
    assert reasons["div", None] is Reason.HOLDS_CONTENT
    assert reasons["script", None] is Reason.NEVER_SHOWN
    dropped = dehusk.extract(HTML, drop=("main > p", ".advert"))
    reasons = {(node.tag, node.text): node.reason for node in dropped.nodes}
    assert reasons["main", None] is Reason.HOLDS_TEMPLATE


@pytest.mark.parametrize("selector", ["p[", "", "::x", "p:nonesuch", "p,"])
def test_what_is_not_css_is_refused(selector: str) -> None:
    with pytest.raises(SelectorError):
        dehusk.extract(HTML, keep=selector)
    with pytest.raises(SelectorError):
        dehusk.Site(drop=["p", selector])


def test_a_selector_that_would_take_too_long_is_refused_with_the_page() -> None:
    html = "<p>x</p>" * 10_001
    assert dehusk.extract(html, method="segments", drop="p").text == ""
    with pytest.raises(PageTimeout, match="takes too long"):
        dehusk.extract(html, drop=":HAS(b) p")


def test_elements_too_deep_for_the_tree_are_selected_with_all_they_hold() -> None:
    limits = dehusk.Limits(max_depth=4)
    html = "<div><div><div class=x><div><b>in</b></div></div><i>out</i></div></div>"
    assert dehusk.extract(html, method="segments", limits=limits, drop=".x").text == "out"


_PIECES = st.sampled_from(
    ["<div>", "<div class=k>", "<p class=d>", "<b class='k d'>", "</div>", "</b>", "word ",
     "<img src=a>", "<i hidden>", "<table><tr><td class=k>", "<svg>", "<template class=d>", "<hr>"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=40))
def test_every_text_goes_with_the_innermost_selected_element(pieces: list[str]) -> None:
    parsed = parse(Page("".join(pieces)))
    tree = parsed.tree
    wanted = Overrides((".k",), (".d",))
    scores = np.full(len(tree), np.nan)
    before = label(tree, scores)
    after = overrule(tree, before, choose(tree, parsed.document, wanted))
    for node in range(len(tree)):
        up, expected = node, before.labels[node]
        while up >= 0:
            classes = tree.attributes(up).get("class", "").split()
            if classes:
                expected = Label.TEMPLATE if "d" in classes else Label.CONTENT
                break
            up = int(tree.parent[up])
        if tree.shown[node] and tree.text_length[node] and tree.is_text[node]:
            assert after.labels[node] == expected
        if not tree.shown[node]:
            assert after.labels[node] == Label.HIDDEN


def test_the_command_line_keeps_and_drops(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text(HTML, encoding="utf-8")
    text = ["--format", "text", "-q"]
    assert main(["clean", str(page), *text, "--drop", "nav", "--drop", ".advert"]) == 0
    assert capfd.readouterr().out.strip() == "Rye"
    assert main(["template", str(page), "--drop", "nav"]) == 0
    html = capfd.readouterr().out
    assert "<nav>Home" in html
    assert "Rye" not in html
    assert main(["clean", str(page), "--keep", "p["]) == 2
    assert "p[" in capfd.readouterr().err


def test_only_a_method_that_can_be_told_takes_what_to_favour(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text(HTML, encoding="utf-8")
    arguments = ["clean", str(page), "--method", "segments", "--favour", "recall"]
    assert main(arguments) == 2
    assert "segments does not support it" in capfd.readouterr().err
    with pytest.raises(SettingError, match="rtdm"):
        with_wishes("rtdm", [], {"favour": "recall"})
    assert with_wishes("rtdm", ["a=b"], {"favour": None}) == ["a=b"]
