"""`dehusk methods`: what methods there are, and their settings."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import fields
from inspect import getsource
from itertools import pairwise
from textwrap import dedent
from typing import Final

from dehusk.methods import DEFAULT, METHODS, unknown_method
from dehusk.methods.written import is_writable

_SENTENCE: Final = re.compile(r"(?<=\.) ")


def run(arguments: argparse.Namespace) -> int:
    """List the methods, or one method's settings with their defaults."""
    name = arguments.name
    if name is None:
        for method, kind in METHODS.items():
            mark = " (default)" if method == DEFAULT else ""
            sys.stdout.write(f"{method}{mark}\n    {_summary(kind)}\n")
        return 0
    if name not in METHODS:
        raise unknown_method(name)
    sys.stdout.write(f"{name}: {_summary(METHODS[name])}\n")
    meanings = _meanings(METHODS[name])
    for field in filter(is_writable, fields(METHODS[name])):
        default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
        said = f"        {meanings[field.name]}\n" if field.name in meanings else ""
        sys.stdout.write(f"    {field.name}={default}\n{said}")
    return 0


def _meanings(kind: type) -> dict[str, str]:
    """What the settings of a method mean, by name: the first sentence that its source says of each.

    Nothing where the source is not there.
    """
    try:
        (tree,) = ast.parse(dedent(getsource(kind))).body
    except (OSError, SyntaxError):
        return {}
    assert isinstance(tree, ast.ClassDef)
    return {
        setting.target.id: _SENTENCE.split(" ".join(said.value.value.split()))[0]
        for setting, said in pairwise(tree.body)
        if isinstance(setting, ast.AnnAssign)
        and isinstance(setting.target, ast.Name)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    }


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]
