"""The log of a service: lines of JSON."""

from __future__ import annotations

import json
import logging
import time
from typing import Any, Final, TextIO

LOG: Final = logging.getLogger("dehusk.service")
_SERVER: Final = logging.getLogger("uvicorn.error")


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
