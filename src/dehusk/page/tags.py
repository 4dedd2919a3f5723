"""What dehusk knows of HTML's element names: their numbers and the sets they belong to.

A tree stores a tag as a small number. `#text` is the number of every text node, `#other` the
number of every element whose name is not in HTML (custom elements, SVG, MathML). The list of names
and sets is the kernel's (`src/kernel/tags.def`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk import _kernel

TEXT: Final = 0
OTHER: Final = 1

NAMES: Final = _kernel.TAG_NAMES
"""Every tag number's name; the number is the place in this tuple."""
NUMBERS: Final = {name: number for number, name in enumerate(NAMES)}

VOID: Final = _kernel.TAG_SETS["VOID"]
"""HTML elements that are written without an end tag."""
RAW: Final = _kernel.TAG_SETS["RAW"]
"""HTML elements whose text is written without escapes."""
NEWLINE_EATERS: Final = _kernel.TAG_SETS["EATS_NEWLINE"]
"""HTML elements that lose a newline at their front, which is therefore written twice."""
NEVER_SHOWN: Final = _kernel.TAG_SETS["NEVER_SHOWN"]
"""Elements whose text a browser with JavaScript does not show."""
BLOCK: Final = _kernel.TAG_SETS["BLOCK"]
"""Elements that stand on lines of their own."""
IMAGE: Final = _kernel.TAG_SETS["IMAGE"]
"""Elements that a reader sees as an image, which has a label of its own."""


def numbers(*names: str) -> NDArray[np.bool_]:
    """A table by tag number that is true for `names`; unknown names are refused with KeyError."""
    table = np.zeros(len(NAMES), np.bool_)
    table[[NUMBERS[name] for name in names]] = True
    return table


def listed(*names: str) -> tuple[int, ...]:
    """The tag numbers of `names`; unknown names are refused with KeyError."""
    return tuple(NUMBERS[name] for name in names)
