"""`dehusk methods`: what methods there are, and their settings."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from dehusk.errors import UsageError
from dehusk.methods import DEFAULT, METHODS
from dehusk.methods.written import is_writable


def run(arguments: argparse.Namespace) -> int:
    """List the methods, or one method's settings with their defaults."""
    name = arguments.name
    if name is None:
        for method, kind in METHODS.items():
            mark = " (default)" if method == DEFAULT else ""
            sys.stdout.write(f"{method}{mark}\n    {_summary(kind)}\n")
        return 0
    if name not in METHODS:
        raise UsageError(f"no method is called {name!r}; there are: {', '.join(METHODS)}")
    sys.stdout.write(f"{name}: {_summary(METHODS[name])}\n")
    for field in filter(is_writable, fields(METHODS[name])):
        default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
        sys.stdout.write(f"    {field.name}={default}\n")
    return 0


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]
