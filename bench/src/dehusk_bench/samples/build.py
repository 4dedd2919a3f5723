"""The nodes that sample pages are built of: elements that carry their label, texts and comments."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from dehusk.answer.labels import Label


class Comment(NamedTuple):
    """A comment: written, but no node."""

    text: str


class Element(NamedTuple):
    """An element, its attributes as they are written, and what is in it.

    A plain `str` among the children is a text node. What stands in an element has its label, down
    to the next element that has one of its own.
    """

    tag: str
    attributes: str
    children: tuple[Child, ...]
    label: Label | None = None
    """None for that of the element above."""
    is_hidden: bool = False
    """Does it have the `hidden` attribute?"""
    is_implied: bool = False
    """Are its tags left out, for the parser to add them? Only for the tbody of a table."""


Child: TypeAlias = Element | Comment | str


def escape_attribute(value: str) -> str:
    """The value as it is written between double quotes."""
    if "&" in value or '"' in value:
        return value.replace("&", "&amp;").replace('"', "&quot;")
    return value


def attributes(values: dict[str, str | bool | None]) -> str:
    """The attributes as they are written, a space before each.

    In a name `_` stands for `-`, and one at the end is dropped (`for_`). True gives a bare name;
    False and None leave the attribute out.
    """
    written = ""
    for key, value in values.items():
        name = key.rstrip("_").replace("_", "-")
        if value is True:
            written += f" {name}"
        elif value is not None and value is not False:
            written += f' {name}="{escape_attribute(value)}"'
    return written


def el(
    tag: str,
    *children: Child,
    label: Label | None = None,
    hidden: bool = False,
    **values: str | bool | None,
) -> Element:
    """An element with the attributes given by name, as `attributes` writes them."""
    written = attributes(values) + " hidden" if hidden else attributes(values)
    return Element(tag, written, children, label, hidden)
