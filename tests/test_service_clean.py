"""`/v1/clean` as people with curl and agents ask it: by URL, for Markdown, without headers."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from dehusk_bench.speed.serve import running
from hostile_server import Behaviour, Hostile, serve
from test_service import Client

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from dehusk.doors.service.accept import preferred

PAGE = (
    b"<title>Rye</title><nav><a href=/>Home</a></nav><main><h1>Rye</h1>"
    b"<p>A hardy grain, see <a href=/oats>oats</a>.</p><h2>Sowing</h2><p>In autumn.</p></main>"
)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON, MARKDOWN, TEXT = "application/json", "text/markdown", "text/plain"
SITE: dict[str, Behaviour] = {
    "/rye": lambda r: r.page(PAGE),
    "/old": lambda r: r.redirect("/rye"),
    "/hidden": lambda r: r.page(PAGE),
    "/robots.txt": lambda r: r.page(b"User-agent: *\nDisallow: /hidden\n"),
    "/k%C3%A4se": lambda r: r.page("<h1>Käse</h1><p>Der Käse reift im Keller.</p>".encode()),
}
LOADED = pytest.mark.slow


@pytest.fixture(scope="module")
def service() -> Iterator[Client]:
    """A service that loads pages from this machine too."""
    pytest.importorskip("protego", reason="the extra crawl is not installed")
    options = ["--fetch", "--allow-private", "127.0.0.1", "--delay", "0", "--workers", "1"]
    with running("--method", "segments", *options) as started:
        yield Client(*started)


@pytest.fixture
def site() -> Iterator[Hostile]:
    with serve(SITE) as server:
        yield server


def at(url: str, **query: str) -> str:
    """The path that asks for the page at a URL."""
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return f"/v1/clean?url={quote(url, safe='')}{more}"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("image/png", JSON),
        ("nonsense", JSON),
        (";;q=,", JSON),
        ("text/markdown", MARKDOWN),
        ("TEXT/Markdown; charset=utf-8; variant=GFM", MARKDOWN),
        ("text/plain", TEXT),
        ("text/*", MARKDOWN),
        ("text/markdown, text/html, */*", MARKDOWN),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", JSON),
        ("application/json, text/plain, */*", JSON),
        ("text/plain, text/markdown", TEXT),
        ("text/markdown;q=0.5, text/plain;q=0.9", TEXT),
        ("text/markdown;q=0.5, */*", JSON),
        ("application/json;q=0, */*", MARKDOWN),
        ("application/json;q=0", JSON),
        ("text/markdown;q=0, text/*", TEXT),
        ("text/markdown;q=nan, text/plain;q=0.3", MARKDOWN),
    ],
)
def test_the_format_that_is_accepted_best_is_given_and_json_where_none_is(
    accept: str, kind: str
) -> None:
    assert preferred([accept]) == kind
    assert preferred(accept.split(",")) == kind


@LOADED
@pytest.mark.parametrize("posted", [True, False])
def test_markdown_and_text_come_to_who_accepts_them(
    service: Client, site: Hostile, posted: bool
) -> None:
    def ask(accept: str, **query: str) -> tuple[str, str]:
        path, headers = at(f"{site.url}/rye", **query), {"Accept": accept}
        answer = service.ask("POST" if posted else "GET", path, PAGE if posted else None, headers)
        assert answer.status == 200
        return answer.headers["content-type"], answer.body.decode()

    kind, markdown = ask(MARKDOWN)
    assert kind == "text/markdown; charset=utf-8"
    assert markdown.startswith(f'---\nurl: "{site.url}/rye"\n')
    assert f"\n\n# Rye\n\nA hardy grain, see [oats]({site.url}/oats).\n" in markdown
    assert "see oats." in ask(MARKDOWN, links="text")[1]
    assert ask(TEXT)[0] == "text/plain; charset=utf-8"
    assert ask(TEXT)[1].endswith("Rye\nA hardy grain, see oats.\nSowing\nIn autumn.\n")
    for accept in (JSON, "*/*", "image/png"):
        kind, line = ask(accept)
        assert kind == "application/json"
        assert json.loads(line)["url"] == f"{site.url}/rye"


@LOADED
def test_a_page_is_loaded_by_its_url_and_learned(service: Client, site: Hostile) -> None:
    answer = service.ask("GET", at(f"{site.url}/old", site="by-url.example"))
    assert answer.status == 200
    assert answer.json["url"] == f"{site.url}/rye"
    assert "A hardy grain" in answer.json["text"]
    assert site.asked() == ["/old", "/rye"]
    unlearned = service.ask(
        "GET", at(f"{site.url}/k%C3%A4se", site="by-url.example", learn="false")
    )
    assert "Der Käse reift" in unlearned.json["text"]
    assert service.ask("GET", "/v1/site?name=by-url.example").json["pages"] == 1


@LOADED
def test_a_service_without_fetch_says_so_to_who_names_a_url() -> None:
    with running("--workers", "1") as started, serve(SITE) as site:
        for path in (at(f"{site.url}/rye"), "/v1/clean"):
            answer = Client(*started).ask("GET", path)
            assert (answer.status, answer.json["error"]["code"]) == (403, "no_fetch")
            assert "--fetch" in answer.json["error"]["message"]
        assert site.requests == []


@LOADED
def test_a_url_leads_to_no_private_address_unless_allowed(site: Hostile) -> None:
    with running("--workers", "1", "--fetch") as started:
        port = site.url.rpartition(":")[2]
        for host in ("127.0.0.1", "localhost", "[::1]", "0177.1", "nobody.invalid"):
            answer = Client(*started).ask("GET", at(f"http://{host}:{port}/rye"))
            assert (answer.status, answer.json["error"]["code"]) == (422, "private_address")
            assert "no public address" in answer.json["error"]["message"]
        assert site.requests == []


@LOADED
def test_a_page_that_cannot_be_loaded_is_422_with_its_reason_whatever_is_accepted(
    service: Client, site: Hostile
) -> None:
    for path, code in (("/hidden", "robots"), ("/none", "status")):
        answer = service.ask("GET", at(site.url + path), None, {"Accept": MARKDOWN})
        assert (answer.status, answer.json["error"]["code"]) == (422, code)
        assert answer.headers["content-type"] == "application/json"
        assert answer.json["url"] == site.url + path
    assert "/hidden" not in site.asked()
    secret = service.ask("GET", at(site.url.replace("//", "//ann:secret@") + "/none"))
    assert secret.status == 422
    assert b"secret" not in secret.body


@LOADED
def test_the_name_and_password_in_a_url_are_told_to_nobody_else(
    service: Client, site: Hostile
) -> None:
    answer = service.ask("GET", at(site.url.replace("//", "//ann:secret@") + "/rye"))
    assert answer.status == 200
    assert b"secret" not in answer.body


@LOADED
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "url: "),
        ("?url=", "url: "),
        ("?url=https://a.example/&url=https://b.example/", "url: given more than once"),
        ("?url=ftp://a.example/", "not an address on the web"),
        ("?url=file:///etc/passwd", "not an address on the web"),
        ("?url=a.example/rye", "not an address on the web"),
        ("?url=https://a.example/" + "a" * 3000, "url: "),
        ("?url=https://a.example/?a=1&b=2", "an & within url is written %26"),
        ("?url=https://a.example/&learn=perhaps", "learn: "),
    ],
)
def test_a_url_that_cannot_be_asked_for_is_400_with_a_sentence(
    service: Client, query: str, words: str
) -> None:
    answer = service.ask("GET", f"/v1/clean{query}")
    assert (answer.status, answer.json["error"]["code"]) == (400, "bad_request")
    assert words in answer.json["error"]["message"]


@LOADED
@pytest.mark.parametrize("url", ["http://käse.example/", "http://a.example/" + "a" * 200_000])
def test_a_request_that_is_no_http_is_answered_as_json_too(service: Client, url: str) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as opened:
        opened.sendall(f"GET /v1/clean?url={url} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head, _, body = b"".join(iter(lambda: opened.recv(9999), b"")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert "percent-encoded" in json.loads(body)["error"]["message"]


@LOADED
def test_a_body_that_nobody_names_is_html_with_curls_own_name_too(service: Client) -> None:
    for headers in ({}, FORM, {"Content-Type": ""}):
        for path in ("/v1/clean?site=unnamed.example", "/v1/explain"):
            answer = service.ask("POST", path, PAGE, headers)
            assert answer.status == 200, answer.body
    latin = "<meta charset=iso-8859-1><p>Käse</p>".encode("latin-1")
    assert service.ask("POST", "/v1/clean", latin, FORM).json["text"] == "Käse"


@LOADED
@pytest.mark.parametrize(
    ("body", "kind", "status", "words"),
    [
        (b"", None, 400, "there is no page"),
        (b"", FORM["Content-Type"], 400, "there is no page"),
        (b' {"html": "<p>Rye"}', FORM["Content-Type"], 415, "looks like JSON"),
        (b'{\n"html": "<p>Rye"}', None, 415, "looks like JSON"),
        (b"url=https://a.example/", FORM["Content-Type"], 415, "a form is no page"),
        (b"html=%3Cp%3ERye", FORM["Content-Type"], 415, "a form is no page"),
        (b"--x\r\n", "multipart/form-data; boundary=x", 415, "text/html or application/json"),
        (PAGE, "image/png", 415, "text/html or application/json"),
    ],
)
def test_a_body_that_is_no_page_gets_a_sentence_that_says_what_to_send(
    service: Client, body: bytes, kind: str | None, status: int, words: str
) -> None:
    answer = service.ask("POST", "/v1/clean", body, {"Content-Type": kind} if kind else {})
    assert answer.status == status
    assert words in answer.json["error"]["message"]


@LOADED
@pytest.mark.parametrize(
    ("query", "accept", "words"),
    [
        ("pieces=9", MARKDOWN, "text/markdown has no pieces"),
        ("pieces=9", TEXT, "text/plain has no pieces"),
        ("images=none", TEXT, "text/plain has none"),
        ("heading_path=true", JSON, "add pieces=N"),
    ],
)
def test_what_a_format_has_no_place_for_is_refused_before_a_page_is_loaded(
    service: Client, site: Hostile, query: str, accept: str, words: str
) -> None:
    loaded = at(f"{site.url}/rye") + f"&{query}"
    for answer in (
        service.ask("GET", loaded, None, {"Accept": accept}),
        service.ask("POST", f"/v1/clean?{query}", PAGE, {"Accept": accept}),
    ):
        assert (answer.status, answer.json["error"]["code"]) == (400, "bad_request")
        assert words in answer.json["error"]["message"]
    assert site.requests == []


@LOADED
def test_pieces_begin_with_the_headings_above_them_if_that_is_asked_for(service: Client) -> None:
    query = "?pieces=5&heading_path=true"
    pieces = service.ask("POST", f"/v1/clean{query}", PAGE).json["pieces"]
    assert pieces[-1]["text"] == "Rye\nSowing\nIn autumn."
    plain = service.ask("POST", "/v1/clean?pieces=5", PAGE).json["pieces"]
    assert plain[-1]["text"] == "Sowing\nIn autumn."
    line = json.dumps({"html": PAGE.decode()}).encode()
    assert service.ask("POST", f"/v1/batch{query}", line).json["pieces"] == pieces
    assert service.ask("POST", "/v1/batch?heading_path=true", line).status == 400


@LOADED
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/clean", "GET, HEAD, OPTIONS, POST"),
        ("/v1/rules", "DELETE, GET, HEAD, OPTIONS, POST"),
        ("/v1/batch", "OPTIONS, POST"),
        ("/health", "GET, HEAD, OPTIONS"),
        ("/docs", "GET, HEAD, OPTIONS"),
    ],
)
def test_allow_lists_all_methods_of_a_path(service: Client, path: str, allowed: str) -> None:
    other = service.ask("PUT", path, b"")
    assert (other.status, other.headers["allow"]) == (405, allowed)
    assert allowed in other.json["error"]["message"]
    asked = service.ask("OPTIONS", path)
    assert (asked.status, asked.headers["allow"], asked.body) == (204, allowed, b"")
    assert service.ask("OPTIONS", "/nowhere").status == 404
    if "HEAD" not in allowed:
        assert service.ask("HEAD", path).headers["allow"] == allowed


@LOADED
def test_head_is_answered_as_get_without_a_body(service: Client, site: Hostile) -> None:
    for path in ("/health", "/docs", at(f"{site.url}/rye", learn="false"), "/v1/clean", "/none"):
        head, get = service.ask("HEAD", path), service.ask("GET", path)
        assert (head.status, head.headers, head.body) == (get.status, get.headers, b"")
        assert get.body
    assert (
        'method="HEAD",route="/health",status="200"' in service.ask("GET", "/metrics").body.decode()
    )


@LOADED
def test_a_web_page_makes_the_service_load_nothing_by_the_address_of_an_image(
    service: Client, site: Hostile
) -> None:
    path = at(f"{site.url}/rye")
    for foreign in ("cross-site", "same-site"):
        answer = service.ask("GET", path, None, {"Sec-Fetch-Site": foreign})
        assert (answer.status, answer.json["error"]["code"]) == (403, "origin")
        assert service.ask("GET", "/docs", None, {"Sec-Fetch-Site": foreign}).status == 200
    assert site.requests == []
    for own in ("none", "same-origin"):
        assert service.ask("GET", path, None, {"Sec-Fetch-Site": own}).status == 200


@LOADED
def test_a_page_that_does_not_come_in_time_is_given_up() -> None:
    options = ["--fetch", "--allow-private", "127.0.0.1", "--workers", "1", "--deadline", "1.5"]
    hangs: dict[str, Behaviour] = {"*": lambda _: time.sleep(20)}
    with running(*options) as started, serve(hangs) as site:
        answer = Client(*started).ask("GET", at(f"{site.url}/rye"))
        assert (answer.status, answer.json["error"]["code"]) == (422, "fetch_timeout")
        assert "dehusk_searches 0" in Client(*started).ask("GET", "/metrics").body.decode()


@LOADED
def test_the_description_names_both_ways_and_all_formats(service: Client) -> None:
    described = service.ask("GET", "/openapi.json").json["paths"]["/v1/clean"]
    for method in ("get", "post"):
        assert list(described[method]["responses"]["200"]["content"]) == [JSON, MARKDOWN, TEXT]
    names = {one["name"]: one["required"] for one in described["get"]["parameters"]}
    assert names.pop("url") is True
    assert set(names.values()) == {False}
    assert "requestBody" not in described["get"]
    assert "503" in described["get"]["responses"]
