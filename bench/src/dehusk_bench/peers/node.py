"""Peers that run in Node, each in a process of its own that is asked page by page.

Their packages are not Python's: `make node-peers` has npm install them into a folder, which
`DEHUSK_NODE_PEERS` names if it is another. Their CPU time is not ours, so none is measured.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any, Final
from weakref import finalize

from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk_bench.peers.pages import Peer, html_text

FOLDER: Final = "DEHUSK_NODE_PEERS"
"""The environment variable that names the folder in which npm has installed the packages."""
_USUAL_FOLDER: Final = "~/.cache/dehusk/node-peers"
_WORKER: Final = Path(__file__).with_name("node_worker.mjs")
_TIMEOUT_S: Final = 60.0
"""The largest pages take seconds; what takes longer hangs."""


class Worker:
    """A process that answers JSON lines with JSON lines.

    One that hangs is killed; after that, and after one that ended by itself, a new one is started
    for the next page.
    """

    def __init__(self, command: Sequence[str], timeout_s: float = _TIMEOUT_S) -> None:
        self._command, self.timeout_s = command, timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    def ask(self, question: object) -> dict[str, Any]:
        """The answer. Raises RuntimeError with what the process says, or if it does not answer."""
        if self._process is None:
            self._start()
        return self._exchange(json.dumps(question).encode() + b"\n")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            _end(self._process)
            self._process = None

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  the command is ours
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        finalize(self, _end, self._process)
        self._exchange(b"")

    def _exchange(self, line: bytes) -> dict[str, Any]:
        """Send the line and wait for one. Raises RuntimeError."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        # A pipe has no timeout of its own on every system, and its end is heard on all.
        timer = Timer(self.timeout_s, process.kill)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(line)
            process.stdin.flush()
            said = process.stdout.readline()
        except OSError:
            said = b""
        finally:
            timer.cancel()
        if not said:
            self.close()
            raise RuntimeError("the process has ended, or took too long and was ended")
        answer: dict[str, Any] = json.loads(said)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, if it runs, and close its pipes."""
    process.kill()
    with suppress(OSError, ValueError):  # Pipes that are closed already.
        process.communicate()


def _load(tool: str) -> Peer:
    """The extractor of that name. Raises ImportError where Node or a package is missing."""
    node = shutil.which("node")
    if node is None:
        raise ImportError("there is no node")
    folder = Path(os.environ.get(FOLDER) or _USUAL_FOLDER).expanduser()
    try:
        worker = Worker([node, str(_WORKER), str(folder.absolute()), tool])
    except (OSError, RuntimeError) as fault:
        raise ImportError(str(fault).partition("\n")[0]) from fault

    def extract(html: str, url: str | None) -> str:
        # linkedom takes HTML as it is written, so it gets what an HTML5 parser makes of it. With
        # jsdom both extractors kept as many words on 16 pages of articles-dev, and took eight
        # times as long.
        whole = parse(Page(html, url)).tree.source.decode("utf-8", "replace")
        return html_text(worker.ask({"html": whole, "url": url})["html"])

    return extract


NODE_PEERS: Final[dict[str, Callable[[], Peer]]] = {
    name: partial(_load, name) for name in ("mozilla-readability", "defuddle")
}
"""Every peer that runs in Node by its name, and how to load it."""
