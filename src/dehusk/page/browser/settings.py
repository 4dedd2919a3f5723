"""What a browser can be told, and how it is given what pages ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dehusk.errors import SettingError


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """How pages are shown: the window, and how long scripts may go on after the page is loaded."""

    width: int = 1280
    height: int = 1024
    """Of the window, in pixels of CSS. The boxes are those of the whole page, also below it."""
    script_s: float = 5.0
    """Time on the page's own clock, after loading, for its timers and animations. It passes as fast
    as the machine can; 5 s is what `setTimeout` chains of client-side frameworks stay under."""
    max_requests: int = 200
    """Requests of one page that `fetch` is asked for; those that follow are refused."""

    def __post_init__(self) -> None:
        for name in ("width", "height", "script_s"):
            if not getattr(self, name) > 0:
                raise SettingError(f"browser: {name} must be above 0")
        if self.max_requests < 0:
            raise SettingError("browser: max_requests must be 0 or above")


@dataclass(frozen=True, slots=True)
class Resource:
    """What a page asked for: a script, a style sheet, data."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


Fetch = Callable[[str], Resource | None]
"""A function from a URL to what is there; None refuses it. Called from several threads."""
