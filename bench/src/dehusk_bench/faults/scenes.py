"""What is disturbed: each scene writes to a folder, and knows what must be there afterwards."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final
from unittest.mock import patch

import dehusk
from dehusk.doors.cli import main
from dehusk.errors import StateError, UsageError
from dehusk.memory import upkeep
from dehusk.memory.store.rows import checksum
from dehusk_bench.faults.forked import Forked

Say = Callable[[int], None]
"""Is told the number of pages that are lasting."""
PAGES: Final = 30
_SITES: Final = 3
_COMMIT_EVERY: Final = 5
_CRAWLED: Final = 12
"""Pages of the site that is crawled."""
_LIMITS: Final = dehusk.Limits(timeout_s=1000.0)
"""A busy machine must not end the experiment."""
_HUSK: Final = "a.husk"
_SOURCE: Final = "pages.jsonl"


@dataclass(frozen=True, slots=True)
class Scene:
    """A way of writing: what there is before, what is done, and what is wrong afterwards."""

    prepare: Callable[[Path], None]
    act: Callable[[Path, Say], object]
    finish: Callable[[Path], str]
    """Do it again, undisturbed; says what is wrong, or nothing."""
    is_synced: bool = True
    """False where files besides the memory are written, which a power cut may take."""


def verify(scene: Scene, folder: Path, said: int, whole: object) -> str:
    """What is wrong with a folder after a disturbance; nothing where all is well.

    `whole` is what `contents` gives of an undisturbed run.
    """
    husk = folder / _HUSK
    try:
        report = upkeep.check_store(husk)
    except UsageError as none:
        if "no such memory" not in str(none) or said > 0:
            return f"refused: {none}"
    except StateError as old:
        if scene is not SCENES["upgrade"] or "older format" not in str(old) or said > 0:
            return f"refused: {old}"
    else:
        if report.findings:
            return f"damaged: {report.findings[0].message}"
        if sum(site.pages for site in report.good) < said:
            return f"{said} pages were lasting, {sum(site.pages for site in report.good)} are there"
    fault = scene.finish(folder)
    if fault:
        return fault
    parts = [path.name for path in folder.rglob(".*part")]
    if parts:
        return f"left behind: {parts[0]}"
    return "" if contents(husk) == whole else "the memory is not that of an undisturbed run"


def contents(husk: Path) -> list[tuple[object, ...]]:
    """What each site of a memory has taught."""
    lines = [json.loads(line) for line in upkeep.export_lines(husk)]
    return [(line.get("site"), line.get("memory")) for line in lines]


def command(*words: str) -> int:
    """The status of a command, run silently in this process; its workers are forked from it."""
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        patch("dehusk.workers.child.Popen", Forked),
    ):
        return main(words)


def _page(number: int) -> dehusk.Page:
    """The page of that number: every one is another, all of a site have a menu."""
    return dehusk.Page(_html(number), f"https://s{number % _SITES}.example/{number}")


def _html(number: int) -> str:
    lines = "".join(f"<p>page {number} line {line}</p>" for line in range(12))
    return f"<nav>Home News</nav>{lines}"


def _write_source(folder: Path) -> None:
    pages = [_page(number) for number in range(PAGES)]
    lines = [json.dumps({"url": page.url, "html": page.html}) + "\n" for page in pages]
    (folder / _SOURCE).write_text("".join(lines), encoding="utf-8")


def _add_pages(folder: Path, say: Say, durable: str) -> None:
    with dehusk.open(folder / _HUSK, durable=durable, limits=_LIMITS) as memory:
        for number in range(PAGES):
            memory.add(_page(number))
            if durable == dehusk.Durable.BATCH and number % _COMMIT_EVERY == _COMMIT_EVERY - 1:
                memory.commit()
            if durable == dehusk.Durable.PAGE or number % _COMMIT_EVERY == _COMMIT_EVERY - 1:
                say(number + 1)


def _added(folder: Path) -> str:
    _add_pages(folder, lambda _: None, dehusk.Durable.PAGE)
    return ""


def _run(folder: Path, say: Say, *words: str) -> None:
    if command(*_words(folder, words)) == 0:
        say(PAGES)


def _finish(folder: Path, *words: str) -> str:
    status = command(*_words(folder, words))
    return f"status {status} afterwards" if status else ""


def _words(folder: Path, words: tuple[str, ...]) -> list[str]:
    """The words of a command, with the folder's names in them."""
    return [word.replace("@", f"{folder}/") for word in words]


def _cleaned(*output: str, is_folder: bool) -> Scene:
    """Pages cleaned into a folder or a file, with a memory; gone on with by --resume."""
    words = ("clean", f"@{_SOURCE}", "--memory", f"@{_HUSK}", "-q", "--timeout", "1000", *output)

    def finish(folder: Path) -> str:
        fault = _finish(folder, *words, "--resume")
        if is_folder:
            count = sum(1 for path in folder.rglob("*.md") if path.stat().st_size)
            return fault or ("" if count == PAGES else f"{count} files of {PAGES}")
        lines = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
        urls = [json.loads(line)["url"] for line in lines]
        return fault or ("" if urls == [_page(n).url for n in range(PAGES)] else "pages are amiss")

    return Scene(_write_source, partial(_act, words), finish, is_synced=False)


class _Served(BaseHTTPRequestHandler):
    """Answers with the page of the number that the path is; all link to all."""

    def do_GET(self) -> None:
        """Send it."""
        number = self.path.removeprefix("/") or "0"
        is_there = number.isdecimal() and int(number) < _CRAWLED
        self.send_response(HTTPStatus.OK if is_there else HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if is_there:
            links = "".join(f"<a href=/{to}>Page {to}</a> " for to in range(1, _CRAWLED))
            self.wfile.write(f"{_html(int(number))}<nav>{links}</nav>".encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Nothing."""


@cache
def _served() -> str:
    """Where the pages are served on this machine, as long as this process lives."""
    server = HTTPServer(("127.0.0.1", 0), _Served)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def _crawl(folder: Path, say: Say, *more: str) -> int:
    haste = ("--allow-private", "127.0.0.1", "--delay", "0")
    patience = ("--timeout", "1000", "--fetch-timeout", "1000")
    files = ("-o", f"{folder}/out.jsonl", "--memory", f"{folder}/{_HUSK}")
    status = command("crawl", _served(), "-q", *files, *haste, *patience, *more)
    if status == 0:
        say(_CRAWLED)
    return status


def _crawled(folder: Path) -> str:
    """Go on with the crawl; says what is wrong with what it wrote."""
    status = _crawl(folder, lambda _: None, "--resume")
    lines = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    urls = {json.loads(line)["url"] for line in lines}
    if status or len(urls) != len(lines) or len(urls) != _CRAWLED:
        return f"status {status} afterwards, {len(lines)} lines of {len(urls)} pages"
    return ""


def _act(words: tuple[str, ...], folder: Path, say: Say) -> None:
    _run(folder, say, *words)


def _commanded(prepare: Callable[[Path], None], *words: str) -> Scene:
    """A command that can be given again."""
    return Scene(prepare, partial(_act, words), lambda folder: _finish(folder, *words))


def _prepare_import(folder: Path) -> None:
    _added(folder)
    (folder / "export.jsonl").write_text("".join(upkeep.export_lines(folder / _HUSK)), "utf-8")
    (folder / _HUSK).unlink()


def _prepare_upgrade(folder: Path) -> None:
    _added(folder)
    _downgrade(folder / _HUSK)


def _downgrade(husk: Path) -> None:
    """Make the file one of format 1, which had neither families nor revisions."""
    with closing(sqlite3.connect(husk)) as connection:
        columns = "id, name, pages, folded, snapshot_bytes, log_bytes, changed"
        rows: list[Any] = connection.execute(f"SELECT {columns} FROM site").fetchall()  # noqa: S608
        for column in ("families", "revision"):
            connection.execute(f"ALTER TABLE site DROP COLUMN {column}")
        for row in rows:
            update = "UPDATE site SET checksum = ? WHERE id = ?"
            connection.execute(update, (checksum(*row), row[0]))
        for table in ("store", "store_copy"):
            (body,) = connection.execute(f"SELECT body FROM {table}").fetchone()  # noqa: S608
            body = json.dumps(json.loads(body) | {"format": 1}, sort_keys=True)
            values = (body, checksum(body))
            connection.execute(f"UPDATE {table} SET body = ?, checksum = ?", values)  # noqa: S608
        connection.execute("PRAGMA user_version = 1")
        connection.commit()


def _nothing(folder: Path) -> None:
    """What there is before: nothing."""


def _one_page(folder: Path) -> None:
    (folder / "page.html").write_text("<nav>Home</nav><p>Harvest</p>", encoding="utf-8")


def _create(folder: Path, say: Say) -> None:
    if command("learn", f"{folder}/page.html", "--memory", f"{folder}/{_HUSK}", "-q") == 0:
        say(1)


SCENES: Final = {
    "creation": Scene(
        _one_page,
        _create,
        lambda folder: _finish(folder, "clean", "@page.html", "--memory", f"@{_HUSK}", "-q"),
    ),
    "page": Scene(_nothing, partial(_add_pages, durable=dehusk.Durable.PAGE), _added),
    "batch": Scene(_nothing, partial(_add_pages, durable=dehusk.Durable.BATCH), _added),
    "learn": _commanded(
        _write_source, "learn", f"@{_SOURCE}", "--memory", f"@{_HUSK}", "-q", "--timeout", "1000"
    ),
    "folder": _cleaned("-o", "@out/", is_folder=True),
    "jobs": _cleaned("-o", "@out.jsonl", "--jobs", "2", is_folder=False),
    "crawl": Scene(_nothing, _crawl, _crawled, is_synced=False),
    "import": _commanded(
        _prepare_import, "sites", "import", "@export.jsonl", "--memory", f"@{_HUSK}"
    ),
    "upgrade": _commanded(_prepare_upgrade, "sites", "upgrade", "--memory", f"@{_HUSK}"),
}
"""The scenes by name."""


def fresh(prepared: Path, folder: Path) -> None:
    """Make the folder what was prepared."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prepared, folder)
