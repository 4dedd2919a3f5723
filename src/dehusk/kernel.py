"""The compiled kernel, for modules that still ask whether there is one."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from dehusk import _kernel

KERNEL: Final[ModuleType | None] = _kernel
