"""What a service says when it does not do what it was asked: one form for all."""

from __future__ import annotations

import json


class Failed(Exception):
    """A request that is not answered as it wished: status, code for programs, words for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def body(self) -> bytes:
        """The answer, as JSON."""
        error = {"code": self.code, "message": self.message}
        return json.dumps({"error": error}, ensure_ascii=False).encode("utf-8", "replace")
