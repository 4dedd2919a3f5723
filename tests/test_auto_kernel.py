"""How the kernel reads, learns and judges, against the plain account of it in `reference`."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk import _kernel
from dehusk.memory import Memory, Table
from dehusk.methods.auto import Auto, copies_of
from dehusk.methods.auto.atlas import load_atlas
from dehusk.methods.auto.features import (
    EVIDENCE,
    PAGE_FEATURES,
    SITE_FEATURES,
    Feature,
    width,
)
from dehusk.methods.auto.model import load_model
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Tree
from dehusk.settings import Limits
from dehusk_bench.samples import KINDS, sample_site
from dehusk_bench.train.context import CARRIED, READ
from odd_pages import ODD_PAGES
from pages_to_scan import HARD, HOSTILE, TEXTS
from reference import atlas, judging, learning, sketch, steps
from reference.images import template_images
from reference.reading import CHARACTER_KINDS, FOREIGN, LOWER, SPACE, UPPER

ROOT = Path(__file__).parents[1]
OWN_PAGES = sorted((ROOT / "tests" / "pages").rglob("*.html"))


def _same(mine: object, theirs: np.typing.NDArray[np.generic]) -> None:
    """The same numbers, byte for byte."""
    found = np.asarray(mine)
    assert found.dtype == theirs.dtype
    assert found.tobytes() == np.ascontiguousarray(theirs).tobytes()


def _same_reading(mine: _kernel.Reading, theirs: learning.Reading) -> None:
    for name in ("segments", "first", "container", "levels", "low", "high", "chars", "link_chars"):
        _same(getattr(mine, name), getattr(theirs.blocks, name))
    for name in ("places", "surroundings", "keys", "texts"):
        _same(getattr(mine, name), getattr(theirs.keys, name))
    _same(mine.owners, theirs.blocks.owner)
    _same(mine.lengths, theirs.blocks.lengths)
    _same(mine.page_features, theirs.features)


def _same_tables(mine: Memory, theirs: learning.Tables) -> None:
    for name, table in theirs.items():
        found, keys = mine.table(name), sorted(table.count)
        assert found.keys.tolist() == keys
        assert found.count.tolist() == [table.count[key] for key in keys]
        assert found.last.tolist() == [table.last[key] for key in keys]
        if table.sums:
            assert found.sums is not None
            assert found.sums.tolist() == [table.sums[key] for key in keys]


def _same_judgement(memory: Memory, tree: Tree, tables: learning.Tables, shift: float) -> None:
    """All that is said of the page, from its blocks to its type."""
    model = load_model()
    page, mine = learning.read(tree, model.lexicon), tree.once(model.read)
    opinion = _kernel.opinion(mine, model.page.kernel)
    logits = judging.outputs(model.page, page.features)[:, 0]
    copies = max(copies_of(memory, Auto().lesson(tree)), 1)
    fade = max(0.0, 1 - (memory.pages - copies) / 5)
    lean = atlas.lean(tree, page, load_atlas()) * fade
    theirs = judging.judge(model, tables, memory.pages, page, logits, shift, -1, lean, copies)
    favour = {-1.0: "precision", 0.0: "balance", 1.0: "recall"}[shift]
    found = Auto(favour=favour)._judge(memory, tree)
    _same(opinion.logits, logits)
    _same(opinion.content, steps.probability(logits))
    types = judging.page_types(model, page, steps.probability(logits), 1.0)
    rows = _kernel.site_features(mine, opinion, memory.tables, memory.pages, types, copies)
    _same(np.frombuffer(rows, np.float32), theirs.features)
    for name in ("evidence", "content", "comments", "scores"):
        _same(getattr(found, name), getattr(theirs, name))
    assert found.threshold == theirs.threshold
    assert found.types == types.tolist()
    known = Auto(type="forum")._judge(memory, tree)
    forum = model.types.index("forum")
    told = judging.judge(model, tables, memory.pages, page, logits, 0.0, forum, lean, copies)
    assert known.types[forum] == 1
    _same(known.content, told.content)
    scores = judging.spread(page, theirs.scores)
    scores[template_images(tree, tables["texts"].count, memory.pages, copies)] = 1.0
    _same(Auto(favour=favour).score(memory, tree), scores)
    row = judging.pooled(page, steps.probability(logits))
    _same(np.frombuffer(_kernel.type_features(mine, opinion), np.float32), row)
    kind, is_last, family = _kernel.kind(
        mine, opinion, memory.tables, memory.pages, model.type.kernel
    )
    assert kind == judging.page_types(model, page, steps.probability(logits)).tolist()
    said = Auto().lesson(tree).table("contents").keys.tolist()
    assert is_last == judging.is_last_page(tables["contents"], memory.pages, said)
    assert [family] == learning.family_of(page, steps.probability(logits)).tolist()


def _assert_as_the_reference(pages: list[str], shift: float = 0.0) -> None:
    """Pages of a site, one after another."""
    method, memory, tables = Auto(ages=False), Memory(), dict[str, learning.Table]()
    model = load_model()
    for html in pages:
        tree = parse(Page(html), Limits(max_nodes=2_000_000)).tree
        page = learning.read(tree, model.lexicon)
        _same_reading(tree.once(model.read), page)
        content = steps.probability(judging.outputs(model.page, page.features)[:, 0])
        tables = learning.then(tables, learning.lesson(page, content), memory.pages)
        memory = method.limit(memory.then(method.lesson(tree)))
        _same_tables(memory, tables)
        if len(page.blocks):
            _same_judgement(memory, tree, tables, shift)
            assert method.has_new_template(memory) == judging.is_template_new(
                tables["segments"], memory.pages
            )


@pytest.mark.parametrize("kind", KINDS)
def test_sample_sites_are_judged_as_the_reference_says(kind: str) -> None:
    pages = [str(page.page.html) for page in sample_site(kind, pages=5)]
    _assert_as_the_reference(pages, {"docs": 1.0, "news": -1.0}.get(kind, 0.0))


def test_the_test_pages_are_judged_as_the_reference_says() -> None:
    assert OWN_PAGES
    _assert_as_the_reference([path.read_text("utf-8") for path in OWN_PAGES])


def test_long_rows_of_siblings_are_judged_as_the_reference_says() -> None:
    text = "the mill had a miller who walked along the river, which was long and cold, even in June"
    rows = "".join(f"<p>In {year} {text}.</p>" for year in range(1000))
    foot = "<p>Copyright 2020 The mill. All rights reserved.</p>"
    _assert_as_the_reference([f"<title>Years</title><h1>Years</h1>{rows}{foot}"])


def test_odd_and_hard_pages_are_judged_as_the_reference_says() -> None:
    _assert_as_the_reference([*ODD_PAGES, *HARD.values()])


SCRIPTS = (
    "Ähnlich wie Roggen, „sagt er“, wächst Weizen… Łódź, Ưu, Ș, ſ – ¿no?",
    "Рожь растёт; ОНА (как пшеница) ЖЁЛТАЯ! Ґанок, Ѣ, ҐӁӂ ԱԲ աբ։ Ωραίο; Άλφα·",
    "ينمو الجاودار، ثم ينضج؛ هل رأيته؟ ۱۲۳ ٤٥٦ می‌شود۔ שיפון „גדל״ כאן.",
    "राई बढ़ती है। १२३ ข้าวไรย์เติบโต ๑๒ ລາວ ស្រូវ។ မြန်မာ။ ቃል፡ሌላ፣ ነው።",
    "ライ麦は「大きく」育つ、そして熟す。（１２）ＡＢｃ：ｶﾅ。",
    "호밀은 자란다. 黑麦，生长！𠀀𠀁 \U0001f33e",
    "a&nbsp;b &amp; c &lt;d&gt; e&amp;nbsp;.&nbsp; ",
    'he said "no." \u2009',
)


@pytest.mark.parametrize("title", ["", "Rye of the north", "Oats of the west", "Barley"])
def test_articles_behind_each_other_are_read_as_the_reference_says(title: str) -> None:
    text = f"<p>{'The rye is ripe. ' * 15}</p>"
    headings = [f"<h1>{grain}</h1>" for grain in ("Rye of the north", "Oats of the west")]
    articles = text + "".join(f"<div>{heading}</div>{text}" for heading in headings * 2)
    _assert_as_the_reference(
        [
            f"<head><title>{title} | Mill</title></head><h1>Mill</h1>{start}{articles}{end}"
            for start in ("", text)
            for end in ("", headings[1], headings[1] * 2 + text)
        ]
    )


def test_texts_of_all_scripts_are_read_as_the_reference_says() -> None:
    blocks = "".join(f"<p>{text}<a href=x>{text}</a></p>" for text in SCRIPTS)
    _assert_as_the_reference([f"<main>{blocks}</main>", *SCRIPTS])


_BODY = "The rye is ripe, and the mill turns day and night since Monday. Nobody sleeps."


def _stating(json: str, *blocks: str) -> str:
    text = "".join(f"<p>{block}</p>" for block in blocks)
    return f"<script type=application/ld+json>{json}</script>{text}"


STATEMENTS = (
    _stating(
        f'{{"@type":"NewsArticle","articleBody":"{_BODY}"}}', _BODY, _BODY * 2, "Other text", "x"
    ),
    _stating(
        '{"articleBody" : ["Ro\\u0067gen w\\u00e4chst \\ud83c\\udf3e hier \\"sagt\\" er\\n\\/"]}',
        "Roggen wächst \U0001f33e hier, „<b>sagt</b>“ er&nbsp;/",
    ),
    _stating(
        '{"articleBody":"&lt;p&gt;<p class=x>One &amp;&nbsp;two&#39;three</p> four five',
        "One two three four five",
    ),
    _stating(
        '{"@type":["Product"],"x":"articleBody", "articleBody":{"y":"no such text"}', "no such text"
    ),
    _stating(
        '{"articleBody":"' + "rye and oats " * 30_000 + '"}', "rye and oats", "Rye and Oats" * 9
    ),
    _stating('{"articleBody":"\\u00' + "\\" * 99, "u00"),
    _stating('"articleBody":"x' * 999, "articleBody"),
    "<meta property=og:type content=Article><p>x",
    "<meta property=og:type content=website><p>x",
    "<meta name=article:published_time content=2020><meta property=og:type content=website><p>x",
    "<meta property=og:type><meta property=og:type content=''><p>x",
)


@pytest.mark.parametrize("html", STATEMENTS)
def test_what_a_page_states_is_read_as_the_reference_says(html: str) -> None:
    tree = parse(Page(html)).tree
    model = load_model()
    _same_reading(tree.once(model.read), learning.read(tree, model.lexicon))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *'"\\:,{}[]<>&; ',
                "articleBody",
                "@type",
                "Article",
                "\\u00e4",
                "\\ud83c",
                "rye is ripe now",
                "&amp;",
                "é",
                "\u2019",
            ]
        ),
        max_size=40,
    ).map("".join)
)
def test_any_json_is_read_as_the_reference_says(json: str) -> None:
    tree = parse(Page(_stating(json, "The rye is ripe now, it é is"))).tree
    model = load_model()
    _same_reading(tree.once(model.read), learning.read(tree, model.lexicon))


def test_the_kinds_of_letters_are_those_of_unicode() -> None:
    """But for a few of the first 65,536 characters: letters, white space, and case."""
    wrong, cases = [], []
    for code in (*range(0x80, 0xD800), *range(0xF900, 0x10000)):
        category, kind = unicodedata.category(chr(code)), int(CHARACTER_KINDS[code])
        is_letter, is_mark = kind & 7 in (LOWER, UPPER, FOREIGN), category[0] in "SPZ"
        is_upper, is_lower = kind == UPPER or kind & 32, kind == LOWER or kind & 64
        if (category[0] in "LM" and not is_letter) or (is_mark and is_letter):
            wrong.append(f"{code:x}")
        if (category == "Ll" and is_upper) or (category == "Lu" and is_lower):
            cases.append(f"{code:x}")
        assert category != "Zs" or kind == SPACE or code == 0x1680
    assert len(wrong) < 1000, wrong  # Radicals, signs within scripts, rare modifiers.
    assert len(cases) < 200, cases


@pytest.mark.parametrize(
    "name", ["nested elements", "unclosed", "entities", "white space", "hidden", "JSON"]
)
def test_hostile_pages_are_judged_as_the_reference_says(name: str) -> None:
    _assert_as_the_reference([HOSTILE[name], HOSTILE[name]])


_NAMED = (
    "<div class='post Main-menu'>", "<div class='a1 sideBar'>", "<p id=navTop>", "<h1>", "</h1>",
    "<main role=main>", "<ul><li><a href=x>", "</ul>", "<section class='card'><p>", "</section>",
    "<title>a long title of the page</title>", "A long title of ", "Ends here.", "终。", "x" * 90,
    "&nbsp;", 'text class="foot', "\xa0\u2009mixed CASE, 12", "<footer class='\tteaser  more'>",
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=100)
@given(
    st.lists(
        st.lists(st.sampled_from(_NAMED) | st.sampled_from(TEXTS), max_size=30).map("".join),
        min_size=1,
        max_size=3,
    )
)
def test_any_mixture_is_judged_as_the_reference_says(pages: list[str]) -> None:
    _assert_as_the_reference(pages)


_SAME = "<div><section><p>The mill stands by the river.<p>It is open all year, but for Sunday.\
<p>Guided tours begin at the door of the old barn.</section></div>"


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ("<table>", "<tr>", "<td>", "<th>", "</table>", "Weight", "12 kg", "rye and oats",
                 "<p>", "<a href=x>", "</a>", "A long text of the page that goes on and on. ",
                 "<ul>", "<li>", "</ul>", "<dl>", "<dt>", "<dd>", _SAME)
            ),
            max_size=30,
        ).map("".join),
        min_size=5,
        max_size=7,
    )
)  # fmt: skip
def test_tables_lists_and_what_is_the_same_are_judged_as_the_reference_says(
    pages: list[str],
) -> None:
    _assert_as_the_reference([page + _SAME for page in pages])


@settings(max_examples=200)
@given(
    st.integers(7, 60),
    st.lists(st.tuples(st.integers(3, 9), st.integers(0, 7)), max_size=12, min_size=5),
    st.integers(0, 9),
)
def test_a_new_template_is_seen_as_the_reference_says(
    pages: int, texts: list[tuple[int, int]], fresh: int
) -> None:
    rows = [*((count, pages - ago) for count, ago in texts), *[(3, pages)] * fresh]
    count, last = np.array(rows, np.uint32).T.copy()
    table = Table(np.arange(len(rows), dtype=np.uint64), count, last)
    plain = learning.Table(last=dict(enumerate(last.tolist())))
    plain.count.update(dict(enumerate(count.tolist())))
    found = _kernel.is_template_new({"segments": table}, pages)
    assert found == judging.is_template_new(plain, pages)


def test_a_memory_that_has_not_learned_the_page_is_asked_in_the_same_way() -> None:
    model, memory, tables = load_model(), Memory(), dict[str, learning.Table]()
    for page in sample_site("shop", pages=4):
        tree = parse(page.page).tree
        if memory.pages:
            _same_judgement(memory, tree, tables, 0.0)
        plain = learning.read(tree, load_model().lexicon)
        content = steps.probability(judging.outputs(model.page, plain.features)[:, 0])
        tables = learning.then(tables, learning.lesson(plain, content), memory.pages)
        memory = Auto().learn(memory, tree)


def test_probabilities_are_those_of_the_exponential_function_to_fifteen_digits() -> None:
    logits = np.concatenate((np.linspace(-40, 40, 20_001), [0.0, -0.0, 30.0, -30.0]))
    found = steps.probability(logits)
    true = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    assert np.allclose(found, true, rtol=1e-15, atol=0)
    assert (np.diff(found[:20_001]) >= 0).all()


def _narrow_network() -> _kernel.Network:
    """One that reads less than the site network gives to any context network."""
    return _kernel.Network(*(np.ones(size, np.float32) for size in (3, 1, 2, 2, 3, 3)))


def test_what_does_not_fit_together_is_refused() -> None:
    model = load_model()
    networks = (model.type.kernel, model.site.kernel, model.context.kernel)
    page = parse(Page("<p>some text<p>and more")).tree.once(model.read)
    empty = parse(Page("")).tree.once(model.read)
    opinion = _kernel.opinion(page, model.page.kernel)
    nobody = _kernel.opinion(empty, model.page.kernel)
    with pytest.raises(ValueError, match="inputs"):
        _kernel.opinion(page, model.site.kernel)
    with pytest.raises(ValueError, match="inputs"):
        _kernel.judge(page, opinion, {}, 1, model.page.kernel, *networks[1:], 0.0)
    with pytest.raises(ValueError, match="context network"):
        _kernel.judge(page, opinion, {}, 1, *networks[:2], _narrow_network(), 0.0)
    with pytest.raises(ValueError, match="another page"):
        _kernel.judge(page, nobody, {}, 1, *networks, 0.0)
    with pytest.raises(ValueError, match="without text"):
        _kernel.kind(empty, nobody, {}, 1, model.type.kernel)
    with pytest.raises(ValueError, match="opinion_of_logits"):
        _kernel.opinion_of_logits(page, np.zeros(3))
    with pytest.raises(ValueError, match="site_features"):
        _kernel.site_features(page, opinion, {}, 1, np.zeros(6))
    with pytest.raises(ValueError, match="spread"):
        _kernel.spread(page, np.zeros(3))
    with pytest.raises(ValueError, match="outputs"):
        model.page.kernel.outputs(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="Network"):
        _kernel.Network(*[np.ones(3, np.float32)] * 6)
    with pytest.raises(ValueError, match="a table places with 0 sums"):
        _kernel.judge(page, opinion, {"places": opinion.lesson["texts"]}, 1, *networks, 0.0)
    with pytest.raises(TypeError):
        _kernel.read(page, model.lexicon.kernel)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _kernel.judge(page, opinion, {"texts": 1}, 1, *networks, 0.0)  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="dict"):
        _kernel.is_template_new([], 9)  # type: ignore[arg-type]


def test_an_opinion_is_kept_with_the_reading_and_is_that_of_the_network_asked() -> None:
    tree = parse(Page("<p>some text<p>and more")).tree
    model = load_model()
    page = tree.once(model.read)
    first = _kernel.opinion(page, model.page.kernel)
    assert _kernel.opinion(page, model.page.kernel) is first
    shifted = type(model.page)(
        model.page.hidden, model.page.hidden_bias, model.page.output, model.page.output_bias + 1,
        model.page.floor, model.page.ceiling,
    )  # fmt: skip
    other = _kernel.opinion(page, shifted.kernel)
    assert np.allclose(np.asarray(other.logits), np.asarray(first.logits) + 1)
    again = _kernel.opinion(page, model.page.kernel)
    assert bytes(again.logits) == bytes(first.logits)


# --- the list of features ---


def test_the_features_stand_behind_each_other_and_have_a_name_each() -> None:
    for features in (PAGE_FEATURES, EVIDENCE, SITE_FEATURES):
        assert [each.first for each in features[1:]] == [
            each.columns.stop for each in features[:-1]
        ]
        assert len({(each.group, each.name) for each in features}) == len(features)
        assert all(each.meaning for each in features)


def test_the_shipped_model_reads_all_features() -> None:
    written = json.loads((ROOT / "src/dehusk/methods/auto/model.json").read_text("utf-8"))
    assert len(written["page"]["hidden"]) == width(PAGE_FEATURES)
    assert len(written["site"]["hidden"]) == width(SITE_FEATURES)
    assert len(written["type"]["hidden"]) == 2 * width(PAGE_FEATURES)
    read = len(written["context"]["hidden"])
    assert (read, len(written["site"]["output_bias"])) == (READ, READ + 2 * CARRIED)
    assert len(written["confidence"]["hidden"]) == _kernel.CONFIDENCE_FEATURES


def feature_table() -> str:
    """The features as docs/methods/auto.md has them."""

    def row(feature: Feature) -> str:
        count = f" ({feature.width})" if feature.width > 1 else ""
        return f"`{feature.name}`{count} {feature.meaning}"

    lines = ["| group | read by | features |", "|---|---|---|"]
    site = {(feature.group, feature.name) for feature in SITE_FEATURES}
    listed = [
        *PAGE_FEATURES,
        *(feature for feature in SITE_FEATURES if feature.group in ("evidence", "opinion")),
    ]
    for group in dict.fromkeys(feature.group for feature in listed):
        features = [feature for feature in listed if feature.group == group]
        networks = ["page"] if features[0] in PAGE_FEATURES else []
        read = [feature.name for feature in features if (group, feature.name) in site]
        if len(read) == len(features):
            networks.append("site")
        elif read:
            networks[-1] += f"; site: {', '.join(f'`{name}`' for name in read)}"
        if group in ("container", "tags", "names"):
            meaning = features[0].meaning.replace(features[0].name, "…")
            cell = f"{', '.join(f'`{feature.name}`' for feature in features)}: {meaning}"
        else:
            cell = "; ".join(map(row, features))
        lines.append(f"| {group} | {', '.join(networks)} | {cell} |")
    return "\n".join(lines) + "\n"


def test_the_docs_list_the_features() -> None:
    docs = (ROOT / "docs" / "methods" / "auto.md").read_text("utf-8")
    found = re.search(r"^\| group \| read by .*?(?=\n\n)", docs, re.MULTILINE | re.DOTALL)
    assert found
    assert f"{found[0]}\n" == feature_table(), f"docs/methods/auto.md needs\n\n{feature_table()}"


@given(st.lists(st.sets(st.integers(0, 40)), max_size=6), st.sets(st.integers(0, 40), max_size=32))
def test_copies_are_counted_as_the_reference_counts(pages: list[set[int]], own: set[int]) -> None:
    site = Memory()
    for page in pages:
        keys = np.array(sorted(page), np.uint64)
        site = site.then(Memory(1, {"contents": Table.of_page(keys, 1)}))
    keys = np.array(sorted(own), np.uint64)
    lasts = [max((n for n, page in enumerate(pages, 1) if key in page), default=0) for key in keys]
    expected = sketch.copies(site.table("contents").counts_of(keys).tolist(), lasts)
    assert _kernel.copies(site.tables, {"contents": Table.of_page(keys, 1)}) == expected
    assert _kernel.copies({}, site.tables) == 0


@given(
    st.lists(st.tuples(*[st.floats(0, 1)] * 2, st.integers(1, 5000)), max_size=12),
    st.lists(st.floats(0, 1), min_size=7, max_size=7),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_what_tells_how_good_an_answer_is_is_as_the_reference_says(
    blocks: list[tuple[float, float, int]], types: list[float], threshold: float, removed: float
) -> None:
    content, comments, chars = np.array(blocks, np.float64).reshape(-1, 3).T.copy()
    row = _kernel.confidence_features(content, comments, chars, types, threshold, removed)
    theirs = judging.confidence_features(content, comments, chars, types, threshold, removed)
    assert len(row) == 4 * _kernel.CONFIDENCE_FEATURES
    assert np.frombuffer(row, np.float32) == pytest.approx(theirs, abs=1e-5)
