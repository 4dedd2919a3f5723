"""What the networks of `auto` read of a block, by name (`src/kernel/features.def`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from dehusk import _kernel


class Feature(NamedTuple):
    """A number that a network reads, or one for each level of a block's surroundings."""

    group: str
    name: str
    first: int
    """Where it stands in a row."""
    width: int
    most: int
    """A count from which on more makes no difference; 0 for none."""
    meaning: str

    @property
    def columns(self) -> slice:
        """Where its numbers stand in a row."""
        return slice(self.first, self.first + self.width)


PAGE_FEATURES: Final = tuple(Feature(*row) for row in _kernel.PAGE_FEATURES)
EVIDENCE: Final = tuple(Feature(*row) for row in _kernel.EVIDENCE)
SITE_FEATURES: Final = tuple(Feature(*row) for row in _kernel.SITE_FEATURES)


def width(features: Sequence[Feature]) -> int:
    """How many numbers a row has."""
    return features[-1].first + features[-1].width


def columns_by_name(features: Sequence[Feature]) -> dict[str, slice]:
    """Where each feature, as `group.name`, and each group stands in a row."""
    columns = {f"{feature.group}.{feature.name}": feature.columns for feature in features}
    for feature in features:
        begin = columns.get(feature.group, feature.columns).start
        columns[feature.group] = slice(begin, feature.columns.stop)
    return columns
