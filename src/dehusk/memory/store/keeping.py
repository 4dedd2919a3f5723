"""How much a store keeps."""

from __future__ import annotations

from dataclasses import dataclass

from dehusk.errors import SettingError


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much a store keeps."""

    max_site_bytes: int = 16_000_000
    """Of each site, in memory. Beyond it what has the least of its life time left goes."""
    max_known_pages: int = 100_000
    """Of each site: pages that are known not to be learned twice, 16 bytes each, the last ones."""
    max_total_bytes: int = 4_000_000_000
    """Of all sites together. Beyond it the sites go that have not changed for longest."""
    max_active_bytes: int = 128_000_000
    """Of the sites that are held in memory; the others are read again when they are asked for."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise SettingError(f"keeping: {name} must be at least 1")
