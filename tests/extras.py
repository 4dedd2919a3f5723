"""Packages and programs that not everybody has installed."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import NoReturn

import pytest

from dehusk.errors import MissingExtra


def missing(what: object) -> NoReturn:
    """Skip the test, for this reason; in CI, where nothing may be missing, it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(str(what))
    pytest.skip(str(what))


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
