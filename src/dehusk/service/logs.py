"""The log of a service: lines of JSON."""

from __future__ import annotations

import json
import logging
import time
from typing import Any, Final, TextIO

LOG: Final = logging.getLogger("dehusk.service")


def log(level: int, event: str, **facts: Any) -> None:
    """Write a line about something that happened."""
    if LOG.isEnabledFor(level):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        LOG.log(level, json.dumps({"event": event, "time": now, **facts}))


def log_to(stream: TextIO, *, is_quiet: bool) -> None:
    """Write the log there, a line for each request; warnings only where quiet."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(message)s"))
    LOG.handlers[:] = [handler]
    LOG.propagate = False
    LOG.setLevel(logging.WARNING if is_quiet else logging.INFO)
