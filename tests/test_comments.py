"""Comments apart from the content, the type that the user knows, and how sure an answer is."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import SettingError

_PARAGRAPHS = """\
The mill on the river was built when the old bridge fell, and for two hundred years it ground the \
rye of the whole valley. This summer its wheel turned again for the first time.
Three villages gave the timber, says the miller, who has spent every weekend of the last four \
years in the water. The stones are from the quarry behind the church, as they were.
On Saturdays visitors may carry a sack to the loft themselves. What they grind they may take home, \
and most of them do; the baker beside the mill sells the yeast to go with it.""".splitlines()
SAID = (
    "I was there on the first day, and the queue went down to the bridge.",
    "Does anybody know whether they grind spelt as well? Thank you for writing about it.",
    "My grandfather carried sacks there in the fifties. He would have liked to see it.",
    "Nice pictures! The wheel looks smaller than I remember it, but who knows.",
    "You can ask them by telephone, they are friendly people and answer at once.",
)


def commented_page(said: tuple[str, ...] = SAID) -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in _PARAGRAPHS)
    comments = "".join(
        f'<li class="comment" id="comment-{number}"><div class="comment-author">reader{number}'
        f'</div><div class="comment-meta">March {number + 1}, 2024 at 9:1{number % 10}</div>'
        f'<div class="comment-content"><p>{each}</p></div><a class="comment-reply">Reply</a></li>'
        for number, each in enumerate(said)
    )
    return (
        "<title>The mill turns again - The Valley Post</title>"
        '<nav class="menu"><a href="/">Home</a> <a href="/news">News</a> <a href="/a">Us</a></nav>'
        f'<article class="post"><h1>The mill turns again</h1>{text}</article>'
        f'<div id="comments"><h3>{len(said)} comments</h3><ol class="comment-list">{comments}</ol>'
        "<form><h3>Leave a reply</h3><label>Name</label><input><button>Post</button></form></div>"
        '<footer class="footer">Copyright The Valley Post. Imprint</footer>'
    )


def test_comments_stand_beside_the_text_and_not_in_it() -> None:
    result = dehusk.extract(commented_page(), "https://post.example/mill")
    assert result.comments is not None
    for said in SAID:
        assert said in result.comments
        assert said not in result.text
    assert _PARAGRAPHS[1] in result.text
    assert _PARAGRAPHS[1] not in result.comments
    assert "Imprint" not in result.comments


def test_comments_are_kept_or_dropped_if_the_user_wants() -> None:
    kept = dehusk.extract(commented_page(), comments="keep")
    assert SAID[2] in kept.text
    assert _PARAGRAPHS[0] in kept.text
    assert kept.comments is None
    site = dehusk.Site(comments="keep")
    regions = site.explain(commented_page(), "https://post.example/mill").regions
    assert any("you keep comments" in region.reason for region in regions)
    dropped = dehusk.extract(commented_page(), comments="drop")
    assert dropped.text == dehusk.extract(commented_page()).text
    assert dropped.comments is None


def test_a_page_without_comments_has_none_and_another_method_cannot_tell() -> None:
    assert dehusk.extract(commented_page(said=())).comments == ""
    other = dehusk.extract(commented_page(), method="segments")
    assert other.comments is None
    assert other.confidence is None


def test_what_the_user_drops_or_keeps_is_no_comment() -> None:
    assert dehusk.extract(commented_page(), keep="#comments").comments == ""
    assert dehusk.extract(commented_page(), drop="#comments").comments == ""


def test_the_type_that_the_user_knows_is_the_answers() -> None:
    result = dehusk.extract(commented_page(), type="forum")
    assert (result.type, result.type_confidence) == ("forum", 1.0)
    assert dehusk.extract(commented_page()).type == "article"


def test_wishes_that_there_are_not_are_refused() -> None:
    with pytest.raises(SettingError, match="comments is one of"):
        dehusk.extract("<p>Rye", comments="some")
    with pytest.raises(SettingError, match="type is one of"):
        dehusk.extract("<p>Rye", type="poem")


def test_an_empty_page_has_no_comments_and_no_confidence() -> None:
    result = dehusk.extract("")
    assert result.comments == ""
    assert result.confidence is None
    assert dehusk.extract("", comments="drop").comments is None


def test_confidence_is_higher_on_a_clear_article_than_on_a_heap_of_links() -> None:
    links = "".join(f'<div><a href="/{n}">Word {n}</a> and some</div>' for n in range(40))
    clear, heap = dehusk.extract(commented_page()).confidence, dehusk.extract(links).confidence
    assert clear is not None
    assert heap is not None
    assert 0 <= heap < clear <= 1


def test_the_command_line_takes_the_wishes_and_the_json_line_has_the_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_text(commented_page(), "utf-8")
    assert main(["clean", str(page), "--format", "jsonl", "--type", "article"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert SAID[0] in line["comments"]
    assert 0 <= line["confidence"] <= 1
    assert line["type"] == "article"
    assert main(["clean", str(page), "--format", "text", "--comments", "keep"]) == 0
    assert SAID[0] in capsys.readouterr().out
    assert main(["clean", str(page), "--comments", "keep", "--method", "rtdm"]) == 2
    assert "--comments keep: the method rtdm does not support it" in capsys.readouterr().err


def test_ten_thousand_comments_take_no_longer_each_than_a_thousand() -> None:
    def cpu(count: int) -> float:
        page = commented_page(tuple(f"{SAID[number % 5]} {number}" for number in range(count)))
        best = 1e9
        for _ in range(3):
            begin = time.process_time()
            assert dehusk.extract(page).comments is not None
            best = min(best, time.process_time() - begin)
        return best / count

    assert cpu(10_000) < 3 * cpu(1_000)
