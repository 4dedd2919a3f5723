"""Regular expressions that are compiled when they are first used.

Together they take as long as a few pages, and one page needs few of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Pattern:
    """Has what the compiled pattern has, each from when it is first asked for."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found


def pattern(written: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for a pattern that most runs do not need."""
    return cast("re.Pattern[AnyStr]", _Pattern(written, flags))
