"""The atlas of themes: what many sites have taught of elements that are called alike."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.errors import SettingError
from dehusk.page.hashing import Hashes
from dehusk.page.tree import Floats, Tree

_SIGN: Final = b"dehusk atlas 1\n\0"
_ROW_BYTES: Final = 9
MAX_BYTES: Final = 500_000
MAX_LEAN: Final = 4.0
"""As a logit: it turns what the networks are fairly sure of, not what they are sure of."""
_UNIT: Final = 16
"""Leans are kept in sixteenths."""
_SHIPPED: Final = Path(__file__).with_name("themes.atlas")
NO_ATLAS: Final = "none"
"""What the setting `atlas` says for no atlas."""


class Atlas(Struct, frozen=True, eq=False):
    """Keys of elements, `_kernel.theme_keys`, in ascending order, and what each adds to the logits
    of the blocks inside, in sixteenths.

    As a file, numbers with the lowest byte first:

        "dehusk atlas 1\\n\\0"   16 bytes
        keys                    8 bytes each
        leans                   1 byte each
    """

    keys: Hashes
    leans: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.keys)

    def dump(self) -> bytes:
        """The atlas as it is saved."""
        return _SIGN + self.keys.astype("<u8").tobytes() + self.leans.tobytes()

    @staticmethod
    def load(written: bytes) -> Atlas:
        """The atlas that `dump` gave these bytes for; ValueError for anything else."""
        rows, rest = divmod(len(written) - len(_SIGN), _ROW_BYTES)
        if not written.startswith(_SIGN) or rest or len(written) > MAX_BYTES:
            raise ValueError("no atlas")
        keys = np.frombuffer(written, "<u8", rows, len(_SIGN)).astype(np.uint64)
        leans = np.frombuffer(written, np.int8, rows, len(_SIGN) + 8 * rows)
        if (keys[1:] <= keys[:-1]).any() or (np.abs(leans.astype(int)) > MAX_LEAN * _UNIT).any():
            raise ValueError("an atlas without order, or beyond its limits")
        return Atlas(keys, leans)


@lru_cache(maxsize=16)
def load_atlas(path: str | None = None) -> Atlas:
    """The atlas in a file, or the one that comes with dehusk; SettingError for any other file."""
    source = _SHIPPED if path is None else Path(path)
    try:
        with source.open("rb") as file:
            return Atlas.load(file.read(MAX_BYTES + 1))
    except OSError as fault:
        raise SettingError(f"auto: atlas {source}: {fault.strerror}") from fault
    except ValueError as fault:
        raise SettingError(
            f"auto: atlas {source} is not of this version: make one with `dehusk sites atlas`"
        ) from fault


MIN_SITES: Final = 3
"""Sites that must have an element before it counts: one alone, or two, write nothing."""
_AGREED: Final = 0.1
"""What is inside must be content, or template, on the mean of the sites up to this: else the
names say where something stands, and not what. Without this limit wcxb-dev lost 0.002."""
_PRIOR: Final = 1.0
"""Sites that say what the networks say: 2, and 0.15 for agreed, took a sixth of the gain."""
_FACTOR: Final = 1.5
"""1, with leans up to 2, instead of 1.5 and 4 took two fifths of the gain on docs-dev."""
_LEAST: Final = 0.25
"""A lean that is less is left out: it decides nothing."""
_WHOLE: Final = 0.02
"""The share of a page that an element must hold for its site to count as a whole one."""
_PAGE_CHARS: Final = 200.0
"""A page with less text is taken for one of that length: its elements tell less."""


class AtlasMaker:
    """Gathers what pages tell of their elements, site by site."""

    def __init__(self) -> None:
        self._sites: dict[str, list[tuple[Hashes, Floats]]] = {}

    def add(
        self, site: str, tree: Tree, page: _kernel.Reading, content: Floats, expected: Floats
    ) -> None:
        """Count a page: of each block what share is content (nan: unknown), and what share the
        networks expect by the page alone.
        """
        chars = np.asarray(page.chars) * ~np.isnan(content)
        weight = chars / max(float(chars.sum()), _PAGE_CHARS)
        container = np.asarray(page.container)
        sums = np.stack(
            [
                tree.sums(np.bincount(container, weight * each, len(tree)))
                for each in (np.ones(len(weight)), np.nan_to_num(content), expected)
            ],
            axis=1,
        )
        keys = np.frombuffer(_kernel.theme_keys(page), np.uint64)
        told = (keys != 0) & (sums[:, 0] > 1e-9)
        self._sites.setdefault(site, []).append(_added(keys[told], sums[told]))

    @property
    def sites(self) -> Collection[str]:
        """The sites that have told something."""
        return self._sites.keys()

    def make(self, without: Collection[str] = ()) -> Atlas:
        """What three sites or more agree on, of those that are not left out."""
        found = [_of_site(pages) for site, pages in self._sites.items() if site not in without]
        if not found:
            return Atlas(np.zeros(0, np.uint64), np.zeros(0, np.int8))
        keys, sums = _added(*(np.concatenate(each) for each in zip(*found, strict=True)))
        sites, whole, content, expected = sums.T
        share, before = content / whole, expected / whole
        after = (content + _PRIOR * before) / (whole + _PRIOR)
        leans = np.clip(_FACTOR * (_logit(after) - _logit(before)), -MAX_LEAN, MAX_LEAN)
        is_agreed = (share < _AGREED) | (share > 1 - _AGREED)
        kept = np.flatnonzero((sites >= MIN_SITES) & is_agreed & (np.abs(leans) >= _LEAST))
        room = (MAX_BYTES - len(_SIGN)) // _ROW_BYTES
        kept = np.sort(kept[np.argsort(-sites[kept], kind="stable")[:room]])
        return Atlas(keys[kept], np.rint(_UNIT * leans[kept]).astype(np.int8))


def _of_site(pages: list[tuple[Hashes, Floats]]) -> tuple[Hashes, Floats]:
    """A site's word on each key, by which it counts once at most, however many pages it has."""
    keys, sums = _added(*(np.concatenate(each) for each in zip(*pages, strict=True)))
    whole = np.minimum(1.0, sums[:, 0] / _WHOLE)
    shares = whole[:, None] * sums[:, 1:] / sums[:, :1]
    return keys, np.column_stack((np.ones(len(keys)), whole, shares))


def _added(keys: Hashes, sums: Floats) -> tuple[Hashes, Floats]:
    """The keys in ascending order, each once, with its rows added up."""
    unique, place = np.unique(keys, return_inverse=True)
    columns = [np.bincount(place, column, len(unique)) for column in sums.T]
    return unique, np.stack(columns, axis=1)


def _logit(share: Floats) -> Floats:
    held = np.clip(share, 0.01, 0.99)
    return np.asarray(np.log(held / (1 - held)))
