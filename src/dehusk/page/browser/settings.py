"""How a browser is given what pages ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Resource:
    """What a page asked for: a script, a style sheet, data."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


Fetch = Callable[[str], Resource | None]
"""A function from a URL to what is there; None refuses it. Called from several threads."""
