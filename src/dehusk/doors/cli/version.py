"""What this dehusk is made of, known without loading numpy or the parser."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from dehusk import __version__, _kernel


def version_line() -> str:
    """Version, kernel and model: `dehusk 0.1.0 (kernel abi3 1f2e3d4c, model 7 5a6b7c8d)`."""
    return f"dehusk {__version__} (kernel {kernel_name()}, model {model_name()})"


def kernel_name() -> str:
    """The interface that the kernel was built for, and the first digits of its hash."""
    path = Path(_kernel.__file__)
    # On Windows the name does not say that it is the limited one.
    interface = path.name.split(".")[1] if path.name.count(".") > 1 else "abi3"
    return f"{interface} {_digits(path.read_bytes())}"


def model_name() -> str:
    """The format of `auto`'s model and the first digits of its hash; `missing` without one."""
    path = Path(__file__).parents[2] / "methods" / "auto" / "model.json"
    if not path.exists():
        return "missing"
    written = path.read_bytes()
    found = re.match(rb'\{"version":(\d+)', written)
    return f"{found[1].decode() if found else '?'} {_digits(written)}"


def _digits(content: bytes) -> str:
    return sha256(content).hexdigest()[:8]
