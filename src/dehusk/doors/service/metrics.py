"""Figures of a running service, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
"""Others are counted as one: anybody can make them up, without a token too."""
_BOUNDS_S: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """Counters and a histogram; one process writes them, so nothing is locked."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        """By method, route and status."""
        self.pages: Counter[str] = Counter()
        """By what became of them: `ok`, or the code of the error."""
        self.learned = 0
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
            *_head("dehusk_pages_total", "counter", "Pages judged, by what became of them."),
            *(
                f'dehusk_pages_total{{outcome="{code}"}} {n}'
                for code, n in sorted(self.pages.items())
            ),
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


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} {kind}"
