"""Plots as SVG, for the docs and for a browser: lines over numbers, bars by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

Points = Sequence[tuple[float, float]]
"""Places on a line, x and y; those without a y are left out beforehand."""

_WIDTH: Final = 640
_HEIGHT: Final = 380
_LEFT: Final = 64
_RIGHT: Final = 24
_TOP: Final = 40
_BOTTOM: Final = 56
_COLOURS: Final = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#444444",
    "#882255",
    "#999933",
    "#aaaaaa",
)
"""Told apart by people who do not see all colours; every line has its own mark besides."""
_DASHES: Final = (
    "none",
    "7 3",
    "2 3",
    "9 3 2 3",
    "4 4",
    "1 4",
    "12 4",
    "6 2 1 2",
    "3 2",
    "14 3 3 3",
)
_TICKS: Final = 5
_FONTS: Final = "DejaVu Sans, Liberation Sans, Arial, Helvetica, sans-serif"
"""Named, because what makes PNG of the plots does not know `sans-serif`."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """A range of values, drawn from one place to another."""

    low: float
    high: float
    start: float
    stop: float
    is_log: bool = False

    def place(self, value: float) -> float:
        """Where a value is drawn."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(value) - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.stop - self.start)

    def ticks(self) -> list[float]:
        """The values to name: powers of ten, or round numbers."""
        if self.is_log:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return [10.0**power for power in powers] or [self.low, self.high]
        step = _round_step((self.high - self.low) / _TICKS)
        first = math.ceil(self.low / step - 1e-9)
        return [step * number for number in range(first, int(self.high / step + 1e-9) + 1)]

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.is_log else value


def line_plot(
    title: str,
    labels: tuple[str, str],
    lines: Mapping[str, Points],
    *,
    log_x: bool = False,
    y_range: tuple[float, float] | None = None,
) -> str:
    """An SVG document with a line for each name; `labels` are those of the x and the y axis.

    Lines without points are left out; with none at all the axes run from 0 to 1. With `log_x` all
    x are above 0.
    """
    lines = {name: sorted(points) for name, points in lines.items() if points}
    x_values = [x for points in lines.values() for x, _ in points] or [0.1 if log_x else 0.0, 1.0]
    y_values = [y for points in lines.values() for _, y in points] or [0.0, 1.0]
    x_axis = _Axis(*_spread(min(x_values), max(x_values), log_x), _LEFT, _WIDTH - _RIGHT, log_x)
    y_axis = _Axis(*(y_range or _padded(y_values)), _HEIGHT - _BOTTOM, _TOP)
    parts = _frame(title, labels)
    parts += [_x_tick(x_axis.place(value), f"{value:g}") for value in x_axis.ticks()]
    parts += [_y_tick(y_axis.place(value), f"{value:.3g}") for value in y_axis.ticks()]
    for number, (name, points) in enumerate(lines.items()):
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in points]
        parts += _line(number, places)
        parts.append(_legend(number, name))
    return _document(parts)


def bar_plot(title: str, y_label: str, groups: Mapping[str, Mapping[str, float]]) -> str:
    """An SVG document with a group of bars for each name, a bar for each name in it, from 0 on."""
    names = list(dict.fromkeys(name for bars in groups.values() for name in bars))
    values = [value for bars in groups.values() for value in bars.values()]
    y_axis = _Axis(*_padded([0.0, *values, 0.1]), _HEIGHT - _BOTTOM, _TOP)
    parts = _frame(title, ("", y_label))
    parts += [_y_tick(y_axis.place(value), f"{value:.3g}") for value in y_axis.ticks()]
    room = (_WIDTH - _LEFT - _RIGHT) / max(len(groups), 1)
    width = 0.8 * room / max(len(names), 1)
    zero = y_axis.place(0.0)
    for place, (group, bars) in enumerate(groups.items()):
        left = _LEFT + place * room + 0.1 * room
        parts.append(_x_tick(left + 0.4 * room, group))
        for name, value in bars.items():
            number = names.index(name)
            top = y_axis.place(value)
            parts.append(
                f'<rect x="{left + number * width:.1f}" y="{min(top, zero):.1f}"'
                f' width="{width * 0.9:.1f}" height="{abs(zero - top):.1f}"'
                f' fill="{_colour(number)}"/>'
            )
    parts += [_legend(number, name) for number, name in enumerate(names)]
    return _document(parts)


def _document(parts: Sequence[str]) -> str:
    """The parts as an SVG document."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
        f' width="{_WIDTH}" height="{_HEIGHT}" font-family="{_FONTS}" font-size="12">'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def _frame(title: str, labels: tuple[str, str]) -> list[str]:
    """Background, title, axes and their labels."""
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    middle = (_TOP + bottom) / 2
    x_label = f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 12}" text-anchor="middle">'
    y_label = f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
    return [
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" font-weight="bold">{escape(title)}</text>',
        f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="black"/>',
        f"{x_label}{escape(labels[0])}</text>",
        f"{y_label}{escape(labels[1])}</text>",
    ]


def _x_tick(x: float, name: str) -> str:
    """A mark on the x axis with its name."""
    bottom = _HEIGHT - _BOTTOM
    return (
        f'<path d="M{x:.1f} {bottom}v5" stroke="black"/>'
        f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{escape(name)}</text>'
    )


def _y_tick(y: float, name: str) -> str:
    """A line across the plot with its value."""
    return (
        f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#dddddd"/>'
        f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>'
    )


def _line(number: int, places: Points) -> list[str]:
    """A line with a dot at each place."""
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    colour = _colour(number)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    dash = _DASHES[number % len(_DASHES)]
    line = (
        f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"'
        f' stroke-dasharray="{dash}"/>'
    )
    return [line, *dots]


def _legend(number: int, name: str) -> str:
    """The name of a line or bar in its colour, below the title, three beside each other."""
    x = _LEFT + 10 + (number % 3) * 180
    y = _TOP + 4 + (number // 3) * 16
    return (
        f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{_colour(number)}"/>'
        f'<text x="{x + 15}" y="{y}">{escape(name)}</text>'
    )


def _colour(number: int) -> str:
    """The colour of a line or bar."""
    return _COLOURS[number % len(_COLOURS)]


def _spread(low: float, high: float, is_log: bool) -> tuple[float, float]:  # noqa: FBT001
    """A range that is not empty."""
    if high > low:
        return low, high
    return (low / 2, low * 2) if is_log else (low - 0.5, low + 0.5)


def _padded(values: Sequence[float]) -> tuple[float, float]:
    """The range of the values with some room above it for the legend."""
    low, high = _spread(min(values), max(values), is_log=False)
    return low, high + 0.2 * (high - low)


def _round_step(step: float) -> float:
    """The next larger one of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step * 0.999)
