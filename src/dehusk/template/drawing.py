"""The pages that link each other, as a small picture: a key page, around it those that vote."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Final
from unicodedata import east_asian_width
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from dehusk.template.graph import LinkGraph

_SIZE: Final = 360
_INNER, _OUTER = 76, 144
"""How far from the key page those stand that vote, and the others."""
_MAX_LABEL: Final = 20
_FONT: Final = 10.5
_STYLES: Final = {
    "key": ('fill="#33691e" stroke="#33691e"', '#222'),
    "voter": ('fill="#dcedc8" stroke="#33691e"', '#222'),
    "other": ('fill="#fff" stroke="#888"', '#666'),
}  # fmt: skip
"""Attributes, which the style sheet of a page that shows the picture outranks."""
_HALO: Final = 'stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
"""Keeps lines out of words."""


def draw_graph(graph: LinkGraph) -> str:
    """The picture in SVG: the key page, those that vote, others, and a line where pages link.

    A line is dashed where only one of the two links the other. Pointing at a page shows its URL.
    """
    places = [_place(number, graph) for number in range(len(graph.urls))]
    labels = [_label(url) for url in graph.urls]
    # Labels stand under the middle of their pages: the picture is as wide as they need.
    reach = [_width(label) / 2 for label in labels]
    left = min(0.0, *(x - half for (x, _), half in zip(places, reach, strict=True)))
    right = max(_SIZE, *(x + half for (x, _), half in zip(places, reach, strict=True)))
    known = frozenset(graph.links)
    pairs = sorted({(min(pair), max(pair)) for pair in known})
    pairs.sort(key=lambda pair: pair[1] <= graph.voters)  # Those that vote on top.
    lines = [
        _line(*places[one], *places[other], _style(one, other, graph.voters, known))
        for one, other in pairs
    ]
    dots = [
        _dot(url, labels[number], *places[number], _kind(number, graph))
        for number, url in enumerate(graph.urls)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="{left:g} 0'
        f' {right - left:g} {_SIZE + 10}"'
        f' role="img" font-family="sans-serif" font-size="{_FONT}" text-anchor="middle">\n'
        f"<title>{_text(graph.message)}</title>\n{''.join(lines)}{''.join(dots)}</svg>\n"
    )


def _place(number: int, graph: LinkGraph) -> tuple[float, float]:
    """Where a page stands: the key page in the middle, voters around it, others around these."""
    middle = _SIZE / 2
    if number == 0:
        return middle, middle
    is_voter = number <= graph.voters
    count = graph.voters if is_voter else len(graph.urls) - 1 - graph.voters
    turn = (number - 1 if is_voter else number - 1 - graph.voters) / count * 2 * pi - pi / 2
    radius = _INNER if is_voter else _OUTER
    return round(middle + radius * cos(turn), 1), round(middle + radius * sin(turn), 1)


def _kind(number: int, graph: LinkGraph) -> str:
    return "key" if number == 0 else "voter" if number <= graph.voters else "other"


def _style(one: int, other: int, voters: int, links: frozenset[tuple[int, int]]) -> str:
    """How the line between two pages is drawn."""
    style = 'class="strong" stroke="#33691e"' if other <= voters else 'stroke="#ccc"'
    is_mutual = (one, other) in links and (other, one) in links
    return style if is_mutual else f'{style} stroke-dasharray="3 3"'


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line {style} x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>\n'


def _dot(url: str, label: str, x: float, y: float, kind: str) -> str:
    is_key, (style, ink) = kind == "key", _STYLES[kind]
    return (
        f'<g class="{kind}"><title>{_text(url)}</title>'
        f'<circle {style} cx="{x:g}" cy="{y:g}" r="{11 if is_key else 8}"/>'
        f'<text fill="{ink}" {_HALO} x="{x:g}" y="{y + (26 if is_key else 22):g}">{_text(label)}'
        "</text></g>\n"
    )


def _label(url: str) -> str:
    """What stands under a page: the end of its name."""
    name = _short_name(url)
    return name if len(name) <= _MAX_LABEL else f"…{name[1 - _MAX_LABEL :]}"


def _width(label: str) -> float:
    """How wide a label is at most: letters of East Asia are square, few others as wide as `W`."""
    return sum(_FONT if east_asian_width(c) in "WF" else 0.7 * _FONT for c in label) + _FONT


def _short_name(url: str) -> str:
    """The path of a URL with its query, for people."""
    if not url:
        return "a page without a URL"
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return unquote(parts.path + (f"?{parts.query}" if parts.query else "")) or "/"


def _text(text: str) -> str:
    """The text as XML has it, which knows no control characters."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))
