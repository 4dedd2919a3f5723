"""What a node is, and why: the verdict on every node of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dehusk.page.tree import Floats, Ints


class Label(IntEnum):
    """What a node is. The numbers are those of the label arrays.

    Arrays are compared with a member's `value`: of a member itself numpy asks for attributes, and
    a Ctrl-C that comes while it asks is lost.
    """

    CONTENT = 0
    TEMPLATE = 1
    HIDDEN = 2
    """Never shown, so neither."""


class Reason(IntEnum):
    """Why a node has its label."""

    SCORED_CONTENT = 0
    """Its score is 0.5 or less."""
    SCORED_TEMPLATE = 1
    """Its score is above 0.5."""
    FOLLOWS_ANCESTOR = 2
    """Nothing about it was judged; it goes with what it stands in."""
    NO_OPINION = 3
    """Nothing on the page was judged: kept."""
    HOLDS_CONTENT = 4
    """Something below it is content."""
    HOLDS_TEMPLATE = 5
    """All that can be seen below it is template."""
    NEVER_SHOWN = 6
    """A browser does not show it."""
    KEPT = 7
    """The user keeps it."""
    DROPPED = 8
    """The user drops it."""

    @property
    def words(self) -> str:
        """The reason for people to read."""
        by_user = {Reason.KEPT: "your rule keeps it", Reason.DROPPED: "your rule drops it"}
        return by_user.get(self) or self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The verdict on every node of a tree: score, label and reason, in document order."""

    scores: Floats
    """0 content … 1 template, nan for no opinion."""
    labels: NDArray[np.int8]
    """Numbers of `Label`."""
    reasons: NDArray[np.int8]
    """Numbers of `Reason`."""
    sections: Ints | None = None
    """Of each node the node that its section begins with; None from a method without smoothing."""
