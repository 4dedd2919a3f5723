"""What answers on a site usually look like, and whether they have suddenly changed.

Of each site a few numbers are held: mean and variance of three measures over its earlier pages, and
the measures of its last ten. When these are far from what the site had, something has happened that
nobody asked for: a wall before the pages, a new design, a server that sends errors as pages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import expm1, log1p, sqrt
from typing import Final, NamedTuple, Self

from msgspec import Struct, field
from msgspec.structs import asdict, astuple

SHELF: Final = "usual"
"""What the shelf of a site's usual answers is called."""
KEY: Final = b"usual"
_LAST: Final = 10
"""Pages that are compared with all before them: one odd page is none of a change."""
_MIN_PAGES: Final = 20
"""Pages that must have come before: fewer do not tell what is usual."""
_FAR: Final = 2.0
"""How many standard deviations of single pages the median of the last ones must be away. With 2.0,
2.5 and 3.0 none of 149 sites of docs-dev and sites-dev, of 25 to 60 pages, raised an alarm by
itself; a wall of 600 characters in the place of 15 pages, after 25, raised one on 148, 147, 144."""


class _Measure(NamedTuple):
    """Something that is told of every answer."""

    words: str
    floor: float
    """Below this distance nothing has changed, however alike pages were."""
    only_falls: bool = False
    is_log: bool = False


_MEASURES: Final = (
    _Measure("template share", 0.2),
    _Measure("content length", 1.1, is_log=True),  # Three times as long, or a third.
    _Measure("confidence", 0.15, only_falls=True),
)


class Shift(Struct, frozen=True):
    """A sudden change of a site's answers."""

    measure: str
    """What has changed: template share, content length or confidence."""
    before: float
    now: float
    page: int
    """After how many answers on the site it was seen."""
    url: str | None = None

    def __str__(self) -> str:
        if self.measure == "content length":
            return f"content of about {self.now:,.0f} characters a page, {self.before:,.0f} before"
        return f"{self.measure} of about {self.now:.2f}, {self.before:.2f} before"


class Usual(Struct):
    """What is usual on a site."""

    pages: int = 0
    """Answers so far."""
    counts: list[int] = field(default_factory=lambda: [0] * len(_MEASURES))
    means: list[float] = field(default_factory=lambda: [0.0] * len(_MEASURES))
    squares: list[float] = field(default_factory=lambda: [0.0] * len(_MEASURES))
    """Sums of squared distances from the mean."""
    last: list[list[float | None]] = field(default_factory=list)
    """The measures of the last answers."""
    shift: Shift | None = None
    """The last change, if there was one."""

    @property
    def template_share(self) -> float | None:
        """The mean share of template; None before there are answers."""
        return self._mean(0)

    @property
    def confidence(self) -> float | None:
        """The mean F1 to be expected; None where the method does not say."""
        return self._mean(2)

    def _mean(self, number: int) -> float | None:
        values = [row[number] for row in self.last]
        told = [value for value in values if value is not None]
        count = self.counts[number] + len(told)
        whole = self.means[number] * self.counts[number] + sum(told)
        return round(whole / count, 4) if count else None

    def take(
        self,
        template_share: float,
        characters: int,
        confidence: float | None,
        url: str | None = None,
    ) -> Shift | None:
        """Add an answer; the change that it makes certain, if any."""
        self.pages += 1
        length = log1p(characters * (1 - template_share))
        self.last.append([round(template_share, 4), round(length, 4), confidence])
        if len(self.last) > _LAST:
            self._settle(self.last.pop(0))
        found = self._shift(url)
        if found is not None:
            # What is usual begins anew, so that a change is told of once.
            fresh = Usual()
            self.counts, self.means, self.squares = fresh.counts, fresh.means, fresh.squares
            self.shift = found
        return found

    def _settle(self, values: Sequence[float | None]) -> None:
        """Count an answer as one of the usual ones (Welford)."""
        for number, value in enumerate(values):
            if value is not None:
                self.counts[number] += 1
                away = value - self.means[number]
                self.means[number] += away / self.counts[number]
                self.squares[number] += away * (value - self.means[number])

    def _shift(self, url: str | None) -> Shift | None:
        for number, measure in enumerate(_MEASURES):
            told = [row[number] for row in self.last]
            values = [value for value in told if value is not None]
            count, mean = self.counts[number], self.means[number]
            if count < _MIN_PAGES or len(values) < _LAST:
                continue
            # By hand: numpy takes 31 µs for so few, this 0.7.
            ordered = sorted(values)
            away = (ordered[(_LAST - 1) // 2] + ordered[_LAST // 2]) / 2 - mean
            spread = sqrt(self.squares[number] / count)
            if abs(away) < max(measure.floor, _FAR * spread) or (measure.only_falls and away > 0):
                continue
            pair = (expm1(value) if measure.is_log else value for value in (mean, mean + away))
            before, now = (round(value, 4) for value in pair)
            return Shift(measure.words, before, now, self.pages, url)
        return None

    def written(self) -> bytes:
        """The numbers as bytes."""
        fields = asdict(self) | {"shift": self.shift and astuple(self.shift)}
        return json.dumps(fields).encode()

    @classmethod
    def read(cls, written: bytes | None) -> Self:
        """The numbers that `written` gave; of a new site without, or where they cannot be read."""
        if written is None:
            return cls()
        try:
            fields = json.loads(written)
            found = cls(**{**fields, "shift": fields["shift"] and Shift(*fields["shift"])})
            found._shift(None)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            return cls()
        return found

    @classmethod
    def of_more(cls, one: bytes | None, other: bytes) -> bytes:
        """Of two that were written of one site, the one that knows of more answers."""
        return max((one or b"", other), key=lambda each: (cls.read(each or None).pages, each))
