"""The parts of a crawler, each by itself."""

from __future__ import annotations

import gzip
import time
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from dehusk.errors import StateError
from dehusk.sources.crawl import robots
from dehusk.sources.crawl.fetch import Packed, Response, make_decoder
from dehusk.sources.crawl.frontier import Entry, Frontier, key_of, normal_url, read_start, shape_of
from dehusk.sources.crawl.judge import read
from dehusk.sources.crawl.network import read_retry_after
from dehusk.sources.crawl.robots import Manners, for_one, read_reservations
from dehusk.sources.crawl.scope import Traps
from dehusk.sources.crawl.sitemaps import read_sitemap
from dehusk.sources.crawl.state import State, open_state


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("https://example.org:443/a#b", "https://example.org/a"),
        ("https://user:pw@example.org:8443/", "https://example.org:8443/"),
        ("http://example.org./a b?q=ü", "http://example.org/a%20b?q=%C3%BC"),
        ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
        ("http://example.org/a;jsessionid=1F?sid=2&x=1&utm_source=n", "http://example.org/a?x=1"),
        ("http://example.org/(S(abcdefghij123))/a", "http://example.org/a"),
        ("http://[::1]:80/", "http://[::1]/"),
    ],
)
def test_a_url_has_one_spelling(written: str, normal: str) -> None:
    assert normal_url(written) == normal


@pytest.mark.parametrize(
    "written", ["", "mailto:a@b.example", "http://", "http://[x/", "http://a:99999/", "a" * 9000]
)
def test_what_is_no_url_has_no_spelling(written: str) -> None:
    assert normal_url(written) is None


@given(st.text(max_size=60))
def test_any_text_has_a_spelling_that_stays_or_none(text: str) -> None:
    normal = normal_url(f"http://example.org/{text}")
    assert normal is not None
    assert normal_url(normal) == normal


def test_spellings_that_mean_the_same_have_one_key() -> None:
    assert key_of("http://a.example/x/../y?b=2&a=1") == key_of("http://a.example/y?a=1&b=2")
    assert key_of("http://a.example/%7ey") == key_of("http://a.example/~y")
    assert key_of("http://a.example/y") != key_of("http://a.example/Y")


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/", "/"),
        ("/about", "/*"),
        ("/news/2026/11/a-long-story.html", "/news/#/#/*.html"),
        ("/shop/red-shoes-42/", "/shop/*/"),
        ("/item.php?id=7&page=2", "/*.php?id&page"),
        ("/p/123", "/p/#"),
    ],
)
def test_alike_urls_have_one_shape(path: str, shape: str) -> None:
    assert shape_of(f"http://a.example{path}") == shape


def test_a_start_keeps_its_password_to_itself() -> None:
    start = read_start("https://user:p%40ss@a.example:8443/x")
    assert start.url == "https://a.example:8443/x"
    assert start.origin == "https://a.example:8443"
    assert start.authorization == "Basic dXNlcjpwQHNz"


def test_other_crawlers_rules_are_read_in_time_and_do_not_count() -> None:
    names = "".join(f"User-agent: bot{n}\n" for n in range(15_000))
    rules = "".join(f"Disallow: /{n}\n" for n in range(15_000))
    text = f"User-agent: Dehusk/1.0 # we\nDisallow: /no\n\n{names}{rules}\nUser-agent: *\n"
    began = time.process_time()
    manners = Manners("dehusk", Protego.parse(for_one(text, "dehusk")))
    assert time.process_time() - began < 5
    assert manners.allows("http://a.example/7")
    assert not manners.allows("http://a.example/no/x")


_PATTERNS = st.lists(
    st.tuples(
        st.sampled_from(["User-agent: *", "User-agent: dehusk", "User-agent: b", "", "x: y"]),
        st.sampled_from(["Allow", "Disallow", "disalow", "Crawl-delay"]),
        st.text("/ab*$%ü?", max_size=6).map(lambda text: "/" + text) | st.just(""),
    ),
    max_size=12,
)


@pytest.mark.parametrize("most", [0, 1, 3])
@given(rules=_PATTERNS, paths=st.lists(st.text("/abü?$", max_size=6), max_size=6))
def test_too_many_rules_forbid_whatever_they_did_one_by_one(
    most: int, rules: list[tuple[str, str, str]], paths: list[str]
) -> None:
    text = "".join(f"{agent}\n{rule}: {pattern}\n" for agent, rule, pattern in rules)
    each = Manners("dehusk", Protego.parse(for_one(text, "dehusk")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(robots, "_MAX_RULES", most)
        fewer = Manners("dehusk", Protego.parse(for_one(text, "dehusk")))
    urls = [f"http://a.example/{path}" for path in (*paths, *(row[2][1:] for row in rules))]
    assert [url for url in urls if fewer.allows(url) and not each.allows(url)] == []


@pytest.mark.parametrize("rule", ["/p{}", "/a/{}", "/*{}x", "/{}$", "/{}\nAllow: /a/{}/"])
def test_a_robots_txt_of_20000_rules_costs_a_url_a_millisecond_or_so(rule: str) -> None:
    rules = "".join(f"Disallow: {rule.replace('{}', str(n))}\n" for n in range(20_000))
    manners = Manners("dehusk", Protego.parse(for_one(f"User-agent: *\n{rules}", "dehusk")))
    began = time.process_time()
    for number in range(100):
        manners.allows(f"http://a.example/a/{number}/of/a/page")
    assert (time.process_time() - began) / 100 < 0.003


def test_a_folder_of_which_too_much_is_forbidden_is_forbidden_whole() -> None:
    rules = "".join(f"Disallow: /users/{n}\n" for n in range(2000))
    text = f"User-agent: *\nDisallow: /*.pdf$\n{rules}User-agent: other\nDisallow: /\n"
    manners = Manners("dehusk", Protego.parse(for_one(text, "dehusk")))
    asked = ("/users/x", "/a.pdf", "/users", "/a.html")
    allowed = [manners.allows(f"http://a.example{path}") for path in asked]
    assert allowed == [False, False, True, True]


def test_a_delay_can_be_said_in_two_ways() -> None:
    for line, delay_s in [("Crawl-delay: 2.5", 2.5), ("Request-rate: 1/10s", 10), ("", 0)]:
        assert Manners("x", Protego.parse(f"User-agent: *\n{line}\n")).delay_s == delay_s
    assert Manners("x", None).delay_s == 0
    assert not Manners("x", None).allows("http://a.example/")


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[1, null]", b'[{"location": 1}]', b"[" * 100_000, b"\xff"]
)
def test_reservations_that_cannot_be_read_reserve_nothing(body: bytes) -> None:
    assert read_reservations(body) == ()


@pytest.mark.parametrize(
    ("pattern", "path", "is_held"),
    [
        ("/a/*", "/a/b", True),
        ("/a", "/ab", True),
        ("/*.pdf$", "/x/y.pdf", True),
        ("/*.pdf$", "/x.pdfs", False),
        ("/a$", "/ab", False),
        ("/*a*a*a*a*a*a*a*a*b", "/" + "a" * 5000, False),
    ],
)
def test_a_reservation_holds_where_its_pattern_matches(
    pattern: str, path: str, *, is_held: bool
) -> None:
    assert Manners("x", None, ((pattern, True),)).reserves(path) is is_held


URLSET = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> http://a.example/1?a=1&amp;b=2 </loc><image><loc>http://a.example/i</loc></image></url>
<url><loc>ftp://a.example/2</loc></url><url><loc><![CDATA[http://a.example/3]]></loc></url>"""


def test_a_sitemap_names_its_pages_also_where_it_is_cut_off() -> None:
    urls = ["http://a.example/1?a=1&b=2", "http://a.example/3"]
    whole = read_sitemap(URLSET + b"</urlset>")
    assert (whole.pages, whole.fault) == (urls, "")
    assert read_sitemap(gzip.compress(URLSET + b"</urlset>")).pages == urls
    cut = read_sitemap(URLSET)
    assert cut.pages == urls
    assert cut.fault


@given(st.binary(max_size=300))
def test_no_sitemap_breaks_the_reader(body: bytes) -> None:
    for data in (body, b"<urlset>" + body, gzip.compress(body), gzip.compress(body)[:-3]):
        assert isinstance(read_sitemap(data).pages, list)


def test_a_web_page_in_place_of_a_sitemap_names_nothing() -> None:
    page = read_sitemap(b"<!doctype html><html><a href='http://a.example/'>x</a>")
    assert (page.pages, page.fault) == ([], "")


@given(st.binary(max_size=5000), st.integers(1, 700))
def test_what_is_packed_comes_out_however_it_is_cut(data: bytes, size: int) -> None:
    raw = zlib.compressobj(wbits=-15)
    forms = {
        "gzip": gzip.compress(data) + gzip.compress(data),
        "deflate": zlib.compress(data * 2),
        "x-gzip": gzip.compress(data * 2) + b"\0\0\0padding",
        "identity": data * 2,
    }
    for name, packed in forms.items():
        decoder = make_decoder(name)
        assert decoder is not None
        pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
        assert b"".join(out for piece in pieces for out in decoder.feed(piece)) == data * 2
        assert decoder.is_whole
    bare = Packed(is_gzip=False)
    packed = raw.compress(data) + raw.flush()
    assert b"".join(bare.feed(packed)) == data


def test_a_bomb_comes_out_in_small_steps() -> None:
    decoder = Packed(is_gzip=True)
    largest = max(map(len, decoder.feed(gzip.compress(bytes(10_000_000)))))
    assert largest <= 1 << 16


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("120", 120), ("Thu, 01 Jan 1970 00:01:40 GMT", 90), ("Thu, 01 Jan 1970 00:00:01 GMT", 0)],
)
def test_a_retry_after_is_a_number_or_a_date(written: str, seconds: float) -> None:
    assert read_retry_after(written, 10) == seconds


@given(st.text(max_size=40))
def test_no_retry_after_breaks_the_reader(written: str) -> None:
    found = read_retry_after(written, 10)
    assert found is None or found >= 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4)), max_size=40))
def test_a_frontier_that_is_put_back_goes_on_as_the_first(
    kinds: list[tuple[int, int, int]],
) -> None:
    entries = [
        Entry(n, f"u{n}", "s", depth, f"shape{shape}", f"place{place}")
        for n, (shape, place, depth) in enumerate(kinds)
    ]
    one, two = Frontier(), Frontier()
    for entry in entries:
        one.put(entry)
    half = [one.take(["s"]) for _ in range(len(entries) // 2)]
    taken = {entry.number for entry in half if entry}
    two.put_back((entry, entry.number in taken) for entry in entries)
    rest = [one.take(["s"]) for _ in entries]
    assert rest == [two.take(["s"]) for _ in entries]
    assert len(one) == len(two) == 0
    assert {entry.number for entry in rest if entry} | taken == set(range(len(entries)))


def test_a_parameter_that_matters_once_is_kept() -> None:
    traps = Traps()
    for number in range(20):
        traps.learn(f"http://a.example/q?z={number}", number)
    for number in range(20):
        traps.learn(f"http://a.example/r?w={number}", 9 if number else 8)
    assert traps.dropped == frozenset()
    for number in range(6):
        traps.learn(f"http://a.example/s?v={number}", 1)
    assert traps.dropped == {"v"}


def test_what_a_page_says_to_crawlers_is_read_with_its_base() -> None:
    html = b"""<base href="/docs/"><link rel="canonical" href="one"><meta http-equiv=Refresh
        content="5; URL='two'"><map><area href=three></map><ul><li><a href="four#x">4</a>
        <a href="//other.example/five">5</a><a href="http://[x">6</a><a>7</a></ul>"""
    response = Response("http://a.example/x", 200, (("content-type", "text/html"),), html)
    reading = read(response, "http://a.example/x", "dehusk")
    assert [link.url for link in reading.links] == [
        "http://a.example/docs/three",
        "http://a.example/docs/four#x",
        "http://other.example/five",
        "http://a.example/docs/two",
    ]
    assert reading.links[1].place == "li>ul>body>html"
    assert reading.canonical == "http://a.example/docs/one"


@given(st.binary(max_size=400))
def test_no_page_breaks_the_reader_of_links(body: bytes) -> None:
    response = Response(
        "http://a.example/x", 200, (("content-type", "text/html; charset=no"),), body
    )
    for link in read(response, "http://a.example/x", "dehusk").links:
        normal = normal_url(link.url)
        assert normal is None or urlsplit(normal).scheme in ("http", "https")


def test_a_state_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    def fill(state: State) -> None:
        with state.transaction():
            state.set_facts({"seeds": "x" * 100_000})

    with open_state(tmp_path / "state") as state:
        pages = state.connection.execute("pragma page_count").fetchone()[0]
        state.connection.execute(f"pragma max_page_count = {pages}")  # As on a full disk.
        with pytest.raises(StateError, match="cannot be written"):
            fill(state)
        assert state.fact("seeds") is None
