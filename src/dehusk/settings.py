"""What a page may cost. Without numpy, so that the command line can show it at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dehusk.errors import SettingError

MAX_DEPTH: Final = 512
"""Where browsers and the parser stop nesting elements: what comes deeper become siblings there."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may cost before it is refused with a `PageError`.

    Depth is not refused: elements below `max_depth` become siblings, as in browsers.
    """

    max_bytes: int = 20_000_000
    max_nodes: int = 500_000
    max_depth: int = MAX_DEPTH
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        if self.max_depth > MAX_DEPTH:
            raise SettingError(f"limits: max_depth is at most {MAX_DEPTH}, as in browsers")
        for name in ("max_bytes", "max_nodes", "max_depth", "timeout_s"):
            if not getattr(self, name) > 0:
                raise SettingError(f"limits: {name} must be above 0")
