"""How many processes work on pages, and how far reading may run ahead of them."""

from __future__ import annotations

from dataclasses import dataclass

from dehusk.errors import UsageError


@dataclass(frozen=True, slots=True)
class JobSettings:
    """How many processes work on pages, and what is held for them."""

    jobs: int = 2
    max_ahead_bytes: int = 64_000_000
    """Bytes of pages and answers that are held at most, besides one page: reading waits for the
    slowest. Where the pages of a site stand together, as many sites are worked on at a time as
    find room here."""
    max_ahead_pages: int = 10_000
    """Pages and answers that are held at most."""
    max_held_bytes: int = 128_000_000
    """What the sites that a process holds may take in it, as `Keeping.max_active_bytes`."""
    patience_s: float = 30.0
    """A process that is silent so much longer than three times a page's `timeout_s` is ended."""

    def __post_init__(self) -> None:
        for name in ("jobs", "max_ahead_bytes", "max_ahead_pages", "max_held_bytes"):
            if getattr(self, name) < 1:
                raise UsageError(f"jobs: {name} must be at least 1")
