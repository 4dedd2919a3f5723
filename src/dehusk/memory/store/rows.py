"""The rows of a store as data, each with a checksum of its own.

A damaged database can lose rows or serve others without a word, so every row can be checked, and
what belongs together says how much there is of it: a site's row says how many pages there are in
its snapshot and in its log, the store's row how many sites there are.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from dehusk.errors import StateError, StoreDamaged

FORMAT: Final = 2
"""The version of the layout in `statements`; 1 had no families and revisions."""


def site_id(name: str) -> int:
    """The number of a site: 63 bits of its name's digest; 0 stands for no site."""
    if not name:
        return 0
    return int.from_bytes(blake2b(encode(name), digest_size=8).digest(), "little") >> 1


def encode(name: str) -> bytes:
    """A name as bytes; names out of pages may hold what UTF-8 does not know."""
    return name.encode("utf-8", "surrogatepass")


def checksum(*values: object) -> int:
    """The CRC-32 of plain values."""
    return zlib.crc32(repr(values).encode())


@dataclass(frozen=True, slots=True)
class SiteRow:
    """What a store says of a site without reading its memory."""

    name: str
    pages: int = 0
    """Pages learned in all."""
    folded: int = 0
    """Pages in the snapshot; those behind them are in the log."""
    snapshot_bytes: int = 0
    log_bytes: int = 0
    changed: int = 0
    """When a page was last learned, in seconds since 1970."""
    families: int = 0
    """Templates that the method tells apart; 0 where it does not."""
    revision: int = 0
    """How often the method saw the template change; 0 where it does not look."""

    @property
    def id(self) -> int:
        """The site's number."""
        return site_id(self.name)

    @property
    def size_bytes(self) -> int:
        """What the store holds of the site."""
        return self.snapshot_bytes + self.log_bytes

    def values(self) -> tuple[bytes | int, ...]:
        """The row as it is written, its checksum last."""
        plain = (
            encode(self.name),
            self.pages,
            self.folded,
            self.snapshot_bytes,
            self.log_bytes,
            self.changed,
            self.families,
            self.revision,
        )
        return (*plain, checksum(self.id, *plain))

    @classmethod
    def read(cls, number: int, values: tuple[object, ...]) -> SiteRow:
        """The row that was written under that number. Raises StoreDamaged."""
        name, *numbers, written = values
        try:
            assert isinstance(name, bytes)
            row = cls(name.decode("utf-8", "surrogatepass"), *(int(str(n)) for n in numbers))
        except (AssertionError, ValueError) as fault:
            raise StoreDamaged(f"the row of site number {number} is damaged") from fault
        if row.values()[-1] != written or row.id != number:
            raise StoreDamaged(f"the row of site {row.name!r} is damaged", row.name)
        return row


@dataclass(frozen=True, slots=True)
class StoreRow:
    """What a store says of itself."""

    method: str
    settings: Mapping[str, object]
    format: int = FORMAT
    sites: int = 0
    mark: int = 0
    """All sites' numbers, xored: tells which set of sites there is."""
    forgotten: int = 0
    """Sites that left because the whole was too large."""

    def text(self) -> str:
        """The row as JSON."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps(fields | {"settings": dict(self.settings)}, sort_keys=True)

    @classmethod
    def read(cls, text: object, written: object) -> StoreRow:
        """The row out of its JSON. Raises StoreDamaged, and StateError for a newer format."""
        if not isinstance(text, str) or checksum(text) != written:
            raise StoreDamaged("the store's own row is damaged")
        fields = json.loads(text)
        if fields["format"] > FORMAT:
            raise StateError(
                f"written by a newer dehusk (format {fields['format']}); this one reads up to"
                f" format {FORMAT}"
            )
        return cls(**fields)
