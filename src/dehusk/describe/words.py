"""Small readings of text and addresses that the parts of a description share."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit


def collapse(text: str) -> str:
    """The text in one line; half surrogate pairs, which JSON can hold, become U+FFFD."""
    text = " ".join(text.split())
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def host_of(url: str) -> str:
    """The host of a URL, without user and port; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def absolute(written: str, url: str | None) -> str | None:
    """A web address, made absolute if it can be; None for all else."""
    if not written.strip():
        return None
    try:
        address = urljoin(url or "", written.strip())
        scheme = urlsplit(address).scheme
    except ValueError:
        return None
    return address if scheme in ("http", "https") and host_of(address) else None
