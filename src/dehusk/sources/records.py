"""Pages out of JSON lines: one object a line, read one by one, however long the file is."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Final

from dehusk import _kernel
from dehusk.errors import DamagedRecord, NotHtml, PageError, PageTooLarge, SourceError
from dehusk.page.page import Page
from dehusk.page.urls import site_of
from dehusk.settings import SourceSettings
from dehusk.sources.compression import ByteStream
from dehusk.sources.items import Failure

_USUAL: Final = SourceSettings()
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_OPTIONAL: Final = (_USUAL.url_field, _USUAL.site_field)
_SNIFFED: Final = 1024
"""How far the first byte that is not white space is looked for."""
_SKIPPED: Final = 1 << 20
"""Bytes of a line that is too long that are passed over at a time."""
_LARGE: Final = 1_000_000
"""Bytes of a line for which memory counts more than a millisecond."""
_OPTION: Final = "--html-field"
_SHOWN_NAMES: Final = 12
_SHOWN_NAME: Final = 40
"""How many fields a message lists, and how many characters of each name: both are others' data."""


def _max_line(settings: SourceSettings) -> int:
    """The bytes that a line may have.

    Escapes can make a page longer in JSON than it is: twice as long where all of it is Chinese
    written as `\\u4e2d`. The page itself is measured when it is parsed.
    """
    return 2 * settings.max_bytes + 1_000_000


def starts_record(stream: ByteStream) -> bool:
    """True where the first character that is not white space is `{`."""
    size = 4
    while size <= _SNIFFED:
        head = stream.head(size)
        start = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
        if start or len(head) < size:
            return start.startswith(b"{")
        size *= 2
    return False


def first_lines(lines: Iterator[bytes]) -> list[bytes]:
    """The first line that is not blank, and the blank ones before it."""
    first: list[bytes] = []
    for line in lines:
        first.append(line)
        if line.strip():
            break
    return first


def is_record(line: bytes, settings: SourceSettings) -> bool:
    """True for a line that holds a JSON object with a page."""
    try:
        record = _parse(line.removeprefix(_BYTE_ORDER_MARK))
    except ValueError:
        return False
    return isinstance(record, dict) and isinstance(record.get(settings.html_field), str)


def read_lines(stream: io.BufferedIOBase, settings: SourceSettings) -> Iterator[bytes]:
    """Each line; of one that is longer than allowed only so much that this can be seen.

    None is held while the next is waited for.
    """
    return iter(partial(_read_line, stream, _max_line(settings)), b"")


def _read_line(stream: io.BufferedIOBase, limit: int) -> bytes:
    """The next line; empty at the end."""
    line = stream.readline(limit + 1)
    rest = line if len(line) > limit else b""
    while rest and not rest.endswith(b"\n"):
        rest = stream.readline(_SKIPPED)
    return line


def read_records(
    lines: Iterator[bytes], name: str, folder: str, settings: SourceSettings
) -> Iterator[Page | Failure]:
    """The pages of JSON lines in order, and a Failure for each line that holds none.

    Blank lines are passed over. Raises SourceError where the lines are damaged, and for a JSON
    array, which is not written in lines.
    """
    limit = _max_line(settings)
    hint: Callable[[Iterable[str]], str] = field_hint
    missing = named_fields(settings)
    for number in count(1):
        line = next(lines, b"")
        if not line:
            break
        place = f"{name}:{number}"
        # Files that were put one behind another have a mark at the head of each.
        record = line.removeprefix(_BYTE_ORDER_MARK)
        start = record[:_SNIFFED].lstrip()
        if number == 1 and start.startswith(b"["):
            raise SourceError(f"{place}: a JSON array, not JSON lines (one object a line)")
        if len(line) > limit:
            fault = PageTooLarge(None, f"{place}: a line of more than {limit} bytes")
            yield Failure(None, site_of(None, None, folder, settings), fault)
        elif start or record.strip():  # Not stripped if need not be: that would copy it.
            item = _read_record(record, place, folder, settings, hint, missing)
            if isinstance(item, Failure) and _OPTION in str(item.error):
                hint = _no_hint  # Said once: the other lines will be like this one.
            del line, record  # Pages can be large: one form of this one is enough.
            yield item
            del item
    if number > 1:
        warn_of_fields(name, missing)


def named_fields(settings: SourceSettings) -> dict[str, str]:
    """The options that name a field that records need not have, by the field."""
    named = {settings.url_field: "--url-field", settings.site_field: "--site-field"}
    return {field: option for field, option in named.items() if field not in _OPTIONAL}


def warn_of_fields(name: str, missing: Mapping[str, str]) -> None:
    """Say which fields that were asked for no record of a source has."""
    for field, option in missing.items():
        import logging  # noqa: PLC0415  most runs have nothing to log

        log = logging.getLogger("dehusk")
        log.warning("dehusk: %s: no record has the field `%s` of %s", name, field, option)


def field_hint(names: Iterable[str]) -> str:
    """What a message on a missing page adds: the fields that are there, and how to name one."""
    names = list(names)
    shown = ", ".join(f"`{name[:_SHOWN_NAME]}`" for name in names[:_SHOWN_NAMES])
    more = ", …" if len(names) > _SHOWN_NAMES else ""
    return f"; there are {shown}{more}: {_OPTION} names the one with the page" if names else ""


def _no_hint(_: Iterable[str]) -> str:
    return ""


def _read_record(
    line: bytes,
    place: str,
    folder: str,
    settings: SourceSettings,
    hint: Callable[[Iterable[str]], str],
    missing: dict[str, str],
) -> Page | Failure:
    """The page that a line holds, or why it holds none; its fields are no longer missing."""
    url = stated = None
    if len(line) > _LARGE:
        _kernel.trim()  # The page takes seven times as much: what is free need not stand beside it.
    try:
        record = _parse(line)
        if not isinstance(record, dict):
            raise DamagedRecord(
                None, f"{place}: a record is a JSON object, with `{settings.html_field}`"
            )
        for field in missing.keys() & record.keys():
            del missing[field]
        url = _optional_text(record, settings.url_field, place)
        stated = _optional_text(record, settings.site_field, place)
        html = record.get(settings.html_field)
        if not isinstance(html, str):
            more = "" if settings.html_field in record else hint(record)
            raise NotHtml(url, f"{place}: no `{settings.html_field}` with text{more}")
        return Page(html, url, site_of(url, stated, folder, settings))
    except PageError as fault:
        error = fault
    except ValueError as fault:
        error = DamagedRecord(None, f"{place}: {fault}")
    return Failure(url, site_of(url, stated, folder, settings), error)


def _parse(line: bytes) -> object:
    """The JSON value that a line holds; ValueError with a phrase for people where it holds none."""
    from msgspec import json as quick  # noqa: PLC0415  who reads no records need not wait for it

    # Little more than half the time of the standard library, which takes what is not quite JSON,
    # and says best what is wrong.
    with suppress(ValueError, RecursionError):
        return quick.decode(line)
    try:
        # Python refuses numbers of thousands of digits, and nobody asks for them.
        return json.loads(line.strip().decode("utf-8"), parse_int=float)
    except UnicodeDecodeError as fault:
        raise ValueError(f"not UTF-8 (byte {fault.start + 1} of the line)") from fault
    except json.JSONDecodeError as fault:
        raise ValueError(f"not JSON ({fault.msg}, column {fault.colno})") from fault
    except RecursionError as fault:
        raise ValueError("JSON that is nested too deeply") from fault


def _optional_text(record: dict[str, object], field: str, place: str) -> str | None:
    """The text in a field; None where it is missing, null or empty."""
    value = record.get(field)
    if value is None or isinstance(value, str):
        return value or None
    raise DamagedRecord(None, f"{place}: `{field}` is not text")
