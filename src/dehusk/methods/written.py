"""Methods and their settings as people write them on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import Any

from dehusk.errors import SettingError
from dehusk.methods import METHODS, Method, make_method, unknown_method, unknown_setting


def parse_method(written: str) -> Method:
    """The method that `NAME` or `NAME:SETTING=VALUE,SETTING=VALUE` stands for."""
    name, _, settings = written.partition(":")
    items: list[str] = []
    for part in settings.split(",") if settings else []:
        if "=" in part or not items:
            items.append(part)
        else:  # A setting may be a list: separators=p,div
            items[-1] += f",{part}"
    return make_method(name, **parse_settings(name, items))


def parse_settings(method: str, written: Sequence[str]) -> dict[str, object]:
    """The settings by name, each of the type that the method's default has."""
    if method not in METHODS:
        raise unknown_method(method)
    known = {field.name: field for field in fields(METHODS[method])}
    settings: dict[str, object] = {}
    for item in written:
        name, is_given, value = item.partition("=")
        if not is_given:
            raise SettingError(f"--set {item}: write it as NAME=VALUE")
        if name not in known:
            raise unknown_setting(
                method, name, (each for each in known if is_writable(known[each]))
            )
        if not is_writable(known[name]):
            raise SettingError(f"--set {name}: cannot be set on the command line")
        default = known[name].default
        settings[name] = value if default is None else _parse(name, value, default)
    return settings


def is_writable(setting: Field[Any]) -> bool:
    """Can it be written? Without a default only the annotation says so: the name of a file."""
    return setting.default is not None or setting.type == "str | None"


def with_wishes(method: str, written: Sequence[str], wishes: Mapping[str, str | None]) -> list[str]:
    """The settings as written, and those that options of their own say.

    Raises SettingError for a method that cannot be told.
    """
    said = {name: wish for name, wish in wishes.items() if wish is not None}
    for name, wish in said.items():
        if method in METHODS and name not in METHODS[method].__dataclass_fields__:
            raise SettingError(f"--{name} {wish}: the method {method} does not support it")
    return [*written, *(f"{name}={wish}" for name, wish in said.items())]


def _parse(name: str, value: str, default: Any) -> object:
    """The value as the type of the default."""
    if isinstance(default, bool):
        if value not in ("true", "false"):
            raise SettingError(
                f"--set {name}: {value!r} is neither true nor false: write one of these"
            )
        return value == "true"
    if isinstance(default, tuple):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    try:
        return type(default)(value)
    except ValueError:
        kind = {"int": "a whole number", "float": "a number"}[type(default).__name__]
        raise SettingError(f"--set {name}: {value!r} is not {kind}") from None
