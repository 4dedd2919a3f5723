"""How pages are learned and cleaned on a cluster, as plain data that is sent to every task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from dehusk.errors import SettingError, UsageError
from dehusk.memory.site import Sites
from dehusk.methods import DEFAULT, AdditiveMethod, make_method
from dehusk.settings import Limits, SourceSettings


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """How pages are learned and cleaned on a cluster."""

    method: str = DEFAULT
    """One whose memories add up."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """The method's own."""
    limits: Limits = Limits()
    source: SourceSettings = SourceSettings()
    """How the site of a page is known, and what the fields of records are called."""
    keep: tuple[str, ...] = ()
    """CSS: what it selects is content, whatever the method says."""
    drop: tuple[str, ...] = ()
    broadcast_bytes: int = 64_000_000
    """The memories of all sites together, up to which each worker process is given all of them.
    Beyond it pages and memories are brought together by site instead. Chosen, not swept: every
    worker process of a cluster holds that much."""
    part_pages: int = 2_000
    """Pages of one site that go to one task at most, where pages are brought together by site:
    a quarter of a minute's work at 7 ms a page."""

    def __post_init__(self) -> None:
        if self.broadcast_bytes < 0 or self.part_pages < 1:
            raise SettingError("spark: broadcast_bytes must be 0 or above, part_pages 1 or above")

    def make_method(self) -> AdditiveMethod:
        """The method. Raises UsageError for one whose memories do not add up."""
        method = make_method(self.method, **self.settings)
        if not isinstance(method, AdditiveMethod):
            raise UsageError(
                f"memories of {self.method} do not add up, so it cannot be learned in parts"
            )
        return method

    def make_sites(self) -> Sites:
        """Sites that answer as these settings say."""
        return Sites(
            method=self.method,
            limits=self.limits,
            keep=self.keep,
            drop=self.drop,
            **self.settings,
        )


DEFAULTS: Final = SparkSettings()
