"""What a page states, in one line."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text in one line; half surrogate pairs, which JSON can hold, become U+FFFD."""
    text = " ".join(text.split())
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
