"""The compiled kernel, where there is one.

Each of its functions has a twin in Python and numpy that gives the same bytes. The twins are used
where the kernel was not built, and with `DEHUSK_NO_EXTENSIONS=1` in the environment.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Final

NO_EXTENSIONS: Final = "DEHUSK_NO_EXTENSIONS"


def _load() -> ModuleType | None:
    """The kernel; None without one, or where the user wants none."""
    if os.environ.get(NO_EXTENSIONS, "") not in ("", "0"):
        return None
    try:
        from dehusk import _kernel  # noqa: PLC0415  it may not be there
    except ImportError:
        return None
    return _kernel


KERNEL: Final = _load()
