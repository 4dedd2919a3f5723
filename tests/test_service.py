"""The HTTP service: what it answers, what it refuses, and what it survives."""

from __future__ import annotations

import gzip
import html
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import dehusk
from dehusk.doors.cli import main
from dehusk.doors.service.settings import ServiceSettings
from dehusk.errors import UsageError
from dehusk_bench.samples import sample_site
from dehusk_bench.speed.serve import running

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from dehusk.doors.service import monitoring
from dehusk.doors.service.server import listen

pytestmark = pytest.mark.slow

HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}


class Answer:
    """What the service said."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks a service that runs."""

    def __init__(self, port: int, pid: int) -> None:
        self.port = port
        self.pid = pid

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, headers or {}, encode_chunked=False)
        response = connection.getresponse()
        answer = Answer(response.status, dict(response.getheaders()), response.read())
        connection.close()
        return answer

    def clean(self, html: str | bytes, url: str, **query: str) -> Answer:
        more = "".join(f"&{name}={value}" for name, value in query.items())
        body = html.encode() if isinstance(html, str) else html
        return self.ask("POST", f"/v1/clean?url={quote(url, safe='')}{more}", body, HTML)

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(pid) for pid in children.split()]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service with small limits."""
    memory = tmp_path_factory.mktemp("service") / "a.husk"
    options = ["--memory", str(memory), "--method", "segments", "--max-body", "3000000"]
    options += ["--max-nodes", "200000", "--cpu", "2", "--worker-memory", "600000000"]
    options += ["--deadline", "20", "--origin", "https://app.example"]
    with running(*options) as (port, pid):
        yield Client(port, pid)


def test_the_service_answers_as_the_library_does(service: Client, tmp_path: Path) -> None:
    pages = [sample.page for sample in sample_site("forum", pages=8, seed=4)]
    with dehusk.open(tmp_path / "a.husk", method="segments") as memory:
        for page in pages:
            assert page.url
            answer = service.clean(page.html, page.url)
            assert answer.status == 200
            assert answer.json == memory.add(dehusk.Page(page.html, page.url)).to_json()


def test_a_page_is_learned_only_if_it_is_wished(service: Client) -> None:
    for wanted in ("false", "true", "true"):
        answer = service.clean("<p>Rye</p>", "https://asked.example/1", learn=wanted)
        assert answer.json["pages_seen"] == 1
    assert service.ask("GET", "/v1/site?name=asked.example").json["pages"] == 1


def test_a_page_may_come_as_json_or_as_bytes_in_any_charset(service: Client) -> None:
    body = json.dumps({"html": "<p>Käse</p>", "url": "https://json.example/"}).encode()
    assert service.ask("POST", "/v1/clean", body, JSON).json["text"] == "Käse"
    latin = {"Content-Type": "text/html; charset=iso-8859-1"}
    assert service.ask("POST", "/v1/clean", "<p>Käse</p>".encode("latin-1"), latin).json[
        "text"
    ] == ("Käse")
    assert service.ask("POST", "/v1/clean", b"x", {"Content-Type": "image/png"}).status == 415


def test_a_batch_is_answered_in_order_and_goes_on_behind_a_bad_page(service: Client) -> None:
    pages = [
        {"html": "<p>One</p>", "url": "https://batch.example/1"},
        {"html": "%PDF-1.7", "url": "https://batch.example/2"},
        {"html": "<p>Three</p>", "url": "https://other.example/3"},
    ]
    body = "\n".join(map(json.dumps, pages)).encode()
    answer = service.ask("POST", "/v1/batch", body)
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert [line["url"] for line in lines] == [page["url"] for page in pages]
    assert [line["text"] for line in lines] == ["One", None, "Three"]
    assert lines[1]["error"]["code"] == "not_html"


def test_half_a_surrogate_pair_and_ends_of_lines_do_no_harm_to_a_batch(service: Client) -> None:
    pages = ['{"html": "<p>Two \\ud83d"}', '{"html": "<p>a\\u2028b", "url": "https://b.example/"}']
    answer = service.ask("POST", "/v1/batch", "\n".join(pages).encode())
    lines = [json.loads(line) for line in answer.body.decode().splitlines()]
    assert [line["text"] for line in lines] == ["Two \ufffd", "a\u2028b"]


def test_a_batch_can_give_only_what_has_changed(service: Client) -> None:
    pages = [
        {"html": f"<nav>Home</nav><p>Page {n}</p>", "url": f"https://rev.example/{n}"}
        for n in range(6)
    ]
    body = "\n".join(map(json.dumps, pages)).encode()
    assert len(service.ask("POST", "/v1/batch", body).body.splitlines()) == 6
    revised = service.ask("POST", "/v1/batch?revise=last", body).body.splitlines()
    assert [json.loads(line)["text"] for line in revised] == [f"Page {n}" for n in range(4)]
    assert service.ask("POST", "/v1/batch?revise=last", body).body == b""
    listed = service.ask("GET", "/v1/revisions?site=rev.example&since=5").json
    assert len(listed["answers"]) == 5
    assert listed["next"] is None


def test_a_page_that_cannot_be_used_is_422_and_says_why(service: Client) -> None:
    answer = service.clean(b"\x89PNG\0\0\0\0", "https://bad.example/")
    assert (answer.status, answer.json["error"]["code"]) == (422, "not_html")
    answer = service.clean("<p>" * 250_000, "https://bad.example/")
    assert (answer.status, answer.json["error"]["code"]) == (422, "too_many_nodes")


def test_a_page_that_ends_its_worker_is_422_and_nothing_learned_is_lost(service: Client) -> None:
    url = "https://alive.example/"
    for number in range(3):
        service.clean(f"<nav>Home</nav><p>{number}</p>", f"{url}{number}")
    for pid in service.workers():
        os.kill(pid, signal.SIGKILL)
    answers = [service.clean(f"<p>{n}</p>", f"{url}{n}") for n in range(3, 6)]
    assert answers[-1].status == 200
    lost = sum(answer.status == 422 for answer in answers)
    assert lost <= 1  # The first may meet the process that has just died.
    assert answers[-1].json["pages_seen"] == 6 - lost


def test_pages_that_take_too_much_memory_or_time_leave_the_service_alive(tmp_path: Path) -> None:
    heavy = "".join(f"<p class=a{n}>{n} <b>rye</b></p>" for n in range(60_000))
    heavier = 2 * heavy  # Just within the limit of nodes, or that would be the answer.
    options = ["--workers", "1", "--method", "segments"]
    with running(*options, "--worker-memory", "30000000") as started:
        small = Client(*started)
        answer = small.clean(heavy, "https://heavy.example/")
        assert (answer.status, answer.json["error"]["code"]) == (422, "fault")
        assert small.clean("<p>Rye</p>", "https://light.example/").status == 200
    with running(*options, "--cpu", "0.15", "--timeout", "60", "--set", "ages=false") as started:
        slow = Client(*started)
        answer = slow.clean(heavier, "https://heavy.example/")
        assert (answer.status, answer.json["error"]["code"]) == (422, "timeout")
        assert slow.clean("<p>Rye</p>", "https://light.example/").status == 200
    with running(*options, "--deadline", "0.05", "--timeout", "60") as started:
        late = Client(*started)
        late.clean("<p>Rye</p>", "https://heavy.example/")
        answer = late.clean(heavier, "https://heavy.example/")
        assert (answer.status, answer.json["error"]["code"]) == (422, "timeout")


def test_bodies_are_limited_packed_and_in_pieces_too(service: Client) -> None:
    large = b"<p>" + b"rye " * 1_000_000
    assert service.clean(large, "https://large.example/").status == 413
    packed = {**HTML, "Content-Encoding": "gzip"}
    assert service.ask("POST", "/v1/clean", gzip.compress(large), packed).status == 413
    bomb = gzip.compress(gzip.compress(b"\0" * 300_000_000))
    assert service.ask("POST", "/v1/clean", gzip.decompress(bomb), packed).status == 413
    connection = HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request(
        "POST", "/v1/clean", (large[n : n + 9999] for n in range(0, len(large), 9999)), HTML,
        encode_chunked=True,
    )  # fmt: skip
    assert connection.getresponse().status == 413
    connection.close()


def test_packed_bodies_are_unpacked(service: Client) -> None:
    packed = {**HTML, "Content-Encoding": "gzip"}
    body = gzip.compress(b"<p>Rye") + gzip.compress(b" and oats</p>")
    assert service.ask("POST", "/v1/clean", body, packed).json["text"] == "Rye and oats"
    assert service.ask("POST", "/v1/clean", body[:-9], packed).status == 400
    assert service.ask("POST", "/v1/clean", b"not gzip", packed).status == 400
    assert service.ask("POST", "/v1/clean", b"", {**HTML, "Content-Encoding": "br"}).status == 415


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    head = b"POST /v1/clean HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/html\r\n"
    with (
        running("--deadline", "0.5", "--workers", "1") as (port, _),
        socket.create_connection(("127.0.0.1", port), timeout=60) as slow,
    ):
        slow.sendall(head + b"Content-Length: 100\r\n\r\n<p>")
        answer = b"".join(iter(lambda: slow.recv(1000), b""))  # To the end: it is closed.
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"connection: close" in answer


def test_a_head_that_does_not_come_is_not_waited_for() -> None:
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
    with running("--deadline", "0.5", "--workers", "1") as (port, _):
        for begun in (b"", head):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
                slow.sendall(begun)
                assert slow.recv(1000) == b""
        second = HTTPConnection("127.0.0.1", port, timeout=60)
        second.request("GET", "/health")
        assert second.getresponse().read()
        second.sock.sendall(head)
        assert second.sock.recv(1000) == b""
        second.close()


def test_a_misspelt_or_repeated_name_in_the_query_is_refused(service: Client) -> None:
    answer = service.ask("POST", "/v1/clean?ulr=https://a.example/", b"<p>Rye", HTML)
    assert (answer.status, answer.json["error"]["code"]) == (400, "bad_request")
    assert "query.ulr: no such name; there are" in answer.json["error"]["message"]
    assert "there are none" in service.ask("GET", "/health?a=b").json["error"]["message"]
    twice = service.ask("POST", "/v1/clean?site=a&site=b", b"<p>Rye", HTML)
    assert (twice.status, twice.json["error"]["code"]) == (400, "bad_request")
    assert "query.site: given more than once" in twice.json["error"]["message"]


def test_requests_under_another_name_or_from_a_web_page_are_refused(service: Client) -> None:
    body = b"<p>Rye</p>"
    at = f"127.0.0.1:{service.port}"
    for host in ("evil.example", f"evil.example:{service.port}", "", f"{at}@evil", "localhost:",
                 f"{at}/", "localhost:80:80", "[::1]x", f"{at}\t", f"{at}, evil"):  # fmt: skip
        assert service.ask("POST", "/v1/clean", body, {**HTML, "Host": host}).status == 421
    for origin in ("https://evil.example", "null", "http://localhost"):
        assert service.ask("POST", "/v1/clean", body, {**HTML, "Origin": origin}).status == 403
    for host in ("localhost", f"localhost:{service.port}", f"[::1]:{service.port}"):
        assert service.ask("GET", "/health", None, {"Host": host}).status == 200


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization"])
def test_a_header_that_says_who_asks_comes_once(service: Client, name: str) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as opened:
        twice = f"{name}: localhost\r\n" * 2
        usual = "" if name == "Host" else "Host: localhost\r\n"
        opened.sendall(f"GET /health HTTP/1.1\r\n{usual}{twice}\r\n".encode())
        assert opened.recv(100).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("path", ["/v1/rules", "/v1/template", "/v1/linked"])
@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"]
)
def test_json_under_another_name_is_refused(service: Client, path: str, kind: str | None) -> None:
    rule = b'{"site": "plain.example", "action": "drop", "selector": "p"}'
    answer = service.ask("POST", path, rule, {"Content-Type": kind} if kind else {})
    assert (answer.status, answer.json["error"]["code"]) == (415, "content_type")
    assert service.ask("GET", "/v1/rules?site=plain.example").json["rules"] == []


def test_only_named_origins_get_cors_headers(service: Client) -> None:
    named = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    preflight = service.ask("OPTIONS", "/v1/clean", None, named)
    assert preflight.status == 204
    assert preflight.headers["access-control-allow-origin"] == "https://app.example"
    answer = service.ask("GET", "/health", None, {"Origin": "https://app.example"})
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-origin" not in service.ask("GET", "/health").headers
    extension = {"Origin": "chrome-extension://abcdefghijklmnop"}
    answer = service.ask("GET", "/health", None, extension)
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers


def test_others_than_this_machine_need_a_token() -> None:
    with pytest.raises(UsageError, match="token"):
        ServiceSettings(host="0.0.0.0")
    with pytest.raises(UsageError, match="16 characters"):
        ServiceSettings(token="short")
    assert main(["serve", "--host", "0.0.0.0", "-q"]) == 2
    assert ServiceSettings(host="::1").known_names >= {"[::1]", "localhost"}
    assert "localhost" not in ServiceSettings(host="0.0.0.0", token="t" * 16).known_names


def test_the_root_leads_to_a_description_that_needs_nothing_from_elsewhere(service: Client) -> None:
    root = service.ask("GET", "/")
    assert (root.status, root.headers["location"]) == (307, "/docs")
    docs = service.ask("GET", "/docs")
    assert docs.status == 200
    policy = docs.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    text = docs.body.decode()
    described = json.loads(service.ask("GET", "/openapi.json").body)
    assert len(described["paths"]) > 10
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"<h2><code>{method.upper()} {path}</code></h2>" in text
    assert "<script" not in text
    assert "`" not in text
    assert "<td>any</td>" not in text
    assert "://" not in text.replace("https://grain.example", "").replace("http://127.0.0.1", "")


def test_everything_that_can_be_asked_is_described(service: Client) -> None:
    body = service.ask("GET", "/openapi.json").body
    assert b"#/$defs/" not in body
    for path, methods in json.loads(body)["paths"].items():
        for call in methods.values():
            posted = call.get("requestBody", {}).get("content", {}).get("application/json", {})
            fields = posted.get("schema", {}).get("properties", {})
            fields |= {one["name"]: one | one["schema"] for one in call.get("parameters", ())}
            for name, schema in fields.items():
                assert schema.get("description"), (path, name)
                assert schema.keys() & {"type", "anyOf", "$ref"}, (path, name)


def test_without_the_token_nothing_is_told_but_health_and_how_to_ask(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("correct horse battery\n")
    with running("--token-file", str(tmp_path / "token")) as started:
        client = Client(*started)
        assert client.ask("GET", "/health").status == 200
        docs = client.ask("GET", "/docs")
        assert docs.status == 200
        assert "Authorization: Bearer $DEHUSK_TOKEN" in html.unescape(docs.body.decode())
        assert client.ask("GET", "/v1/sites").status == 401
        wrong = {"Authorization": "Bearer correct horse battery!"}
        assert client.ask("GET", "/metrics", None, wrong).status == 401
        right = {"Authorization": "Bearer correct horse battery"}
        assert client.ask("GET", "/v1/sites", None, right).status == 200


def test_a_rule_counts_from_the_next_page_on_until_it_is_removed(service: Client) -> None:
    page = "<div class=sign>Join us</div><p>Rye</p>"
    assert service.clean(page, "https://ruled.example/1").json["text"] == "Join us\nRye"
    rule = {"site": "ruled.example", "action": "drop", "selector": ".sign"}
    added = service.ask("POST", "/v1/rules", json.dumps(rule).encode(), JSON).json
    assert added.pop("site_pages") == 1
    assert service.clean(page, "https://ruled.example/2").json["text"] == "Rye"
    assert service.ask("GET", "/v1/rules?site=ruled.example").json["rules"] == [added]
    assert service.ask("GET", "/v1/site?name=ruled.example").json["rules"] == [added]
    gone = f"/v1/rules?site=ruled.example&id={added['id']}"
    assert [service.ask("DELETE", gone).status for _ in range(2)] == [200, 404]
    assert service.clean(page, "https://ruled.example/3").json["text"] == "Join us\nRye"
    rule["selector"] = "p >"
    assert service.ask("POST", "/v1/rules", json.dumps(rule).encode(), JSON).status == 400


def test_a_rule_for_a_site_that_nobody_knows_says_so(service: Client) -> None:
    rule = {"site": "misspelt.example", "action": "drop", "selector": ".sign"}
    assert service.ask("POST", "/v1/rules", json.dumps(rule).encode(), JSON).json["site_pages"] == 0


def test_a_forgotten_site_begins_anew(service: Client) -> None:
    for number in range(3):
        service.clean(f"<p>{number}</p>", f"https://gone.example/{number}")
    assert service.ask("DELETE", "/v1/site?name=gone.example").status == 200
    assert service.ask("DELETE", "/v1/site?name=gone.example").status == 404
    assert service.clean("<p>x</p>", "https://gone.example/9").json["pages_seen"] == 1


def test_explanations_and_templates_come_from_the_pages_posted(service: Client) -> None:
    answer = service.ask("POST", "/v1/explain?url=https://why.example/", b"<p>Rye</p>", HTML)
    assert [region["label"] for region in answer.json["regions"]] == ["content"]
    pages = [
        {
            "html": f"<nav>Home</nav><h1>Rye {n}</h1><p>Text {n}</p>",
            "url": f"https://t.example/{n}",
        }
        for n in range(8)
    ]
    body = json.dumps({"page": pages[0], "others": pages[1:]}).encode()
    found = service.ask("POST", "/v1/template", body, JSON).json
    assert "<nav>Home</nav>" in found["html"]
    assert found["slots"]


def test_events_tell_of_every_page_that_is_learned(service: Client) -> None:
    connection = HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request("GET", "/v1/events")
    stream = connection.getresponse()
    assert stream.getheader("content-type", "").startswith("text/event-stream")
    assert stream.readline() == b": dehusk\n"
    service.clean("<p>Rye</p>", "https://events.example/1")
    lines: list[bytes] = []
    while not lines or not lines[-1].startswith(b"data"):
        lines.append(stream.readline())
    facts = json.loads(lines[-1].removeprefix(b"data: "))
    assert b"event: revision\n" in lines
    assert (facts["site"], facts["revision"], facts["is_learned"]) == ("events.example", 1, True)
    connection.close()


def test_figures_count_requests_and_pages(service: Client) -> None:
    service.clean("<p>Rye</p>", "https://count.example/1")
    answer = service.ask("GET", "/metrics")
    text = answer.body.decode()
    assert 'dehusk_requests_total{method="POST",route="/v1/clean",status="200"}' in text
    assert 'dehusk_pages_total{outcome="ok"}' in text
    assert 'dehusk_request_seconds_bucket{route="/v1/clean",le="+Inf"}' in text
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rpartition(" ")[2]) >= 0
    assert service.ask("GET", "/health").json["status"] == "ok"


def test_what_was_learned_is_there_after_a_restart(tmp_path: Path) -> None:
    memory = ["--memory", str(tmp_path / "a.husk")]
    with running(*memory, "--method", "segments") as started:
        for number in range(5):
            Client(*started).clean(f"<nav>Home</nav><p>{number}</p>", f"https://a.example/{number}")
    with running(*memory) as started:
        answer = Client(*started).clean("<nav>Home</nav><p>5</p>", "https://a.example/5").json
    assert (answer["pages_seen"], answer["text"]) == (6, "5")
    with dehusk.open(tmp_path / "a.husk") as after:
        assert after.memory("a.example").pages == 6


def test_many_clients_at_once_lose_nothing(service: Client) -> None:
    def post(number: int) -> None:
        for page in range(10):
            service.clean(
                f"<p>{number} {page}</p>", f"https://many-{number % 3}.example/{number}-{page}"
            )

    threads = [threading.Thread(target=post, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {site["site"]: site["pages"] for site in service.ask("GET", "/v1/sites").json["sites"]}
    assert [found[f"many-{number}.example"] for number in range(3)] == [20, 20, 20]


def test_a_method_that_follows_links_cannot_be_served() -> None:
    assert main(["serve", "--method", "hyperlink"]) == 2


def test_the_log_is_a_line_of_json_for_each_request(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as file:
        monitoring.log_to(file, is_quiet=False)
        monitoring.log(logging.INFO, "request", path="/health", status=200)
        monitoring.log_to(file, is_quiet=True)
        monitoring.log(logging.INFO, "request", path="/health", status=200)
        monitoring.LOG.handlers.clear()
    line = json.loads((tmp_path / "log").read_text())
    assert (line["event"], line["path"], line["status"]) == ("request", "/health", 200)


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match=f"port {taken.getsockname()[1]}"):
            listen("127.0.0.1", taken.getsockname()[1])


@pytest.mark.filterwarnings("default")
def test_no_request_that_the_description_allows_breaks_the_service(service: Client) -> None:
    schemathesis = pytest.importorskip("schemathesis")

    @schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator]
    def lines(_context: Any, value: Any) -> bytes:
        return str(value).encode("utf-8", "surrogatepass")

    base = f"http://127.0.0.1:{service.port}"
    schema = schemathesis.openapi.from_url(f"{base}/openapi.json")
    calls: list[int] = []
    for found in schema.get_all_operations():
        if found.ok().path != "/v1/events":  # It does not end.
            _check_operation(found.ok(), base, calls)
    assert len(calls) > 100


def _check_operation(operation: Any, base: str, calls: list[int]) -> None:
    """Ask for what the description allows; every answer must be one that it names."""
    known = {int(status) for status in operation.definition.raw["responses"]}

    @settings(
        max_examples=25, derandomize=True, database=None, deadline=None,
        phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy())
    def check(case: Any) -> None:
        response = case.call(base_url=base)
        calls.append(response.status_code)
        assert response.status_code < 500, (case, response.content)
        assert response.status_code in known, (case, response.content)

    check()


def test_a_sudden_change_of_answers_is_told_of(service: Client) -> None:
    for number in range(34):
        text = f"The harvest of {number} was good, and the barn of field {number} is full of rye. "
        html = f"<nav>Home News</nav><p>{text * 20}" if number < 24 else f"<p>Wait {number}"
        answer = service.clean(html, f"https://walled.example/{number}")
        assert answer.status == 200
    told = service.ask("GET", "/v1/site?name=walled.example").json["answers_changed"]
    assert told["measure"] == "content length"
    assert told["before"] > 1000 > told["now"]
    assert service.ask("GET", "/v1/site?name=grain.example").json.get("answers_changed") is None
