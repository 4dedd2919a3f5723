"""Packages that not everybody has installed."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from types import ModuleType

import pytest

from dehusk.errors import MissingExtra


def imported(name: str) -> ModuleType:
    """The module; the tests are skipped where it is not installed, but fail in CI."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of its own imports.
        try:
            return import_module(name)
        except (ModuleNotFoundError, MissingExtra) as missing:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(str(missing), allow_module_level=True)
