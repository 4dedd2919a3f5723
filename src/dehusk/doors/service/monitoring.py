"""What a service tells of itself: a log in lines of JSON, figures for Prometheus, and events."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final, TextIO

LOG: Final = logging.getLogger("dehusk.service")
_SERVER: Final = logging.getLogger("uvicorn.error")
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
"""Others are counted as one: anybody can make them up, without a token too."""
_BOUNDS_S: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_MAX_BEHIND: Final = 1000
"""Events that a listener may be behind before it is told that some are lost."""
_HEARTBEAT_S: Final = 15.0
"""Proxies cut off connections that are silent for longer."""


def log(level: int, event: str, **facts: Any) -> None:
    """Write a line about something that happened."""
    if LOG.isEnabledFor(level):
        LOG.log(level, _line(event, facts))


def _line(event: str, facts: dict[str, Any]) -> str:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return json.dumps({"event": event, "time": now, **facts})


class _Below(logging.Formatter):
    """What the HTTP server says itself, as a line of JSON too."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        facts = {"message": record.getMessage(), "level": record.levelname.lower()}
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return _line("server", facts)


def log_to(stream: TextIO, *, is_quiet: bool) -> None:
    """Write the log there, a line for each request; warnings only where quiet."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(message)s"))
    LOG.setLevel(logging.WARNING if is_quiet else logging.INFO)
    below = logging.StreamHandler(stream)
    below.setFormatter(_Below())
    _SERVER.setLevel(logging.WARNING)
    for logger, its in ((LOG, handler), (_SERVER, below)):
        logger.handlers[:] = [its]
        logger.propagate = False


class Metrics:
    """Counters and a histogram; one process writes them, so nothing is locked."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        """By method, route and status."""
        self.pages: Counter[str] = Counter()
        """By what became of them: `ok`, or the code of the error."""
        self.learned = 0
        self.linked: Counter[str] = Counter()
        """Steps of searches for linked pages, by what came of them."""
        self.loads: Counter[str] = Counter()
        """Pages loaded from the web, by what became of them."""
        self._times: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS_S) + 1))
        self._seconds: Counter[str] = Counter()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests[method if method in _METHODS else "other", route, status] += 1
        self._times[route][bisect_left(_BOUNDS_S, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]  # a sum of fractions

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """All figures; `gauges` are further ones by name, each with its help."""
        lines = [
            *_head("dehusk_requests_total", "counter", "Requests answered."),
            *(
                f'dehusk_requests_total{{method="{m}",route="{r}",status="{s}"}} {n}'
                for (m, r, s), n in sorted(self.requests.items())
            ),
            *_outcomes("dehusk_pages_total", "Pages judged", self.pages),
            *_outcomes("dehusk_linked_total", "Steps of searches for linked pages", self.linked),
            *_outcomes("dehusk_loads_total", "Pages loaded from the web", self.loads),
            *_head("dehusk_pages_learned_total", "counter", "Pages that taught their site."),
            f"dehusk_pages_learned_total {self.learned}",
            *_head("dehusk_request_seconds", "histogram", "From request to the end of the answer."),
            *(line for route in sorted(self._times) for line in self._histogram(route)),
        ]
        for name, (words, value) in gauges.items():
            lines += [*_head(name, "gauge", words), f"{name} {value:g}"]
        return "\n".join(lines) + "\n"

    def _histogram(self, route: str) -> Iterator[str]:
        total = 0
        for bound, count in zip((*map(str, _BOUNDS_S), "+Inf"), self._times[route], strict=True):
            total += count
            yield f'dehusk_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
        yield f'dehusk_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
        yield f'dehusk_request_seconds_count{{route="{route}"}} {total}'


def _outcomes(name: str, words: str, counts: Counter[str]) -> Iterator[str]:
    """What became of something, and how often."""
    yield from _head(name, "counter", f"{words}, by what became of them.")
    for code, count in sorted(counts.items()):
        yield f'{name}{{outcome="{code}"}} {count}'


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} {kind}"


class Listeners:
    """All who listen. Nobody who listens slowly holds the others up."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[bytes | None]] = set()
        self._number = 0

    def __len__(self) -> int:
        return len(self._queues)

    def tell(self, kind: str, facts: dict[str, Any]) -> None:
        """Send an event to everybody."""
        self._number += 1
        if not self._queues:
            return
        event = _event(kind, facts, self._number)
        for queue in self._queues:
            if queue.qsize() < _MAX_BEHIND:
                queue.put_nowait(event)
            elif queue.qsize() == _MAX_BEHIND:
                queue.put_nowait(_event("lost", {"after": self._number - 1}, self._number))

    def close(self) -> None:
        """End all streams, each behind what it was told."""
        for queue in self._queues:
            queue.put_nowait(None)

    async def listen(self) -> AsyncIterator[bytes]:
        """The events from now on, as an event stream; a comment where nothing happens."""
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            yield b": dehusk\n\n"
            while True:
                try:
                    async with asyncio.timeout(_HEARTBEAT_S):
                        event = await queue.get()
                except TimeoutError:
                    event = b": still here\n\n"
                if event is None:
                    return
                yield event
        finally:
            self._queues.discard(queue)


def _event(kind: str, facts: dict[str, Any], number: int) -> bytes:
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(facts)}\n\n".encode()
