"""Messages between a process and its workers: a line of JSON that says what follows, and bytes.

    4 bytes   length of the JSON, big-endian
    JSON      an object; its `sizes` are the lengths of the bytes that follow
    bytes     pages, answers, lessons

Plain data both ways: a worker that a page has taken over can send nonsense, and nothing that runs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any, Final

Header = dict[str, Any]
LENGTH: Final = 4
_MAX_SIZE: Final = (1 << 8 * LENGTH) - 1
"""Of the bytes that follow, each as of the JSON: far more than any page or memory has, and a number
that a file can be asked for."""


def pack(header: Header, blobs: Sequence[bytes] = ()) -> bytes:
    """The message as bytes."""
    text = json.dumps({**header, "sizes": [len(blob) for blob in blobs]}).encode()
    return b"".join((len(text).to_bytes(LENGTH, "big"), text, *blobs))


def read(stream: IO[bytes]) -> tuple[Header, list[bytes]] | None:
    """The next message; None at the end, also where that comes in the middle of a message.

    Whoever is killed while it writes leaves the beginning of a message, which is none. Raises
    ValueError for what cannot be a message.
    """
    start = stream.read(LENGTH)
    if len(start) < LENGTH:
        return None
    text = stream.read(size := int.from_bytes(start, "big"))
    if len(text) < size:
        return None
    header = _header(text)
    blobs = [stream.read(size) for size in header["sizes"]]
    if list(map(len, blobs)) != header["sizes"]:
        return None
    return header, blobs


def _header(text: bytes) -> Header:
    """What a message says of itself. Raises ValueError for what is no such thing."""
    try:
        # Decoded here: `loads` would first look which encoding bytes are in.
        header = json.loads(text.decode())
    except RecursionError as fault:
        raise ValueError("no message: brackets in brackets") from fault
    sizes = header.get("sizes") if isinstance(header, dict) else None
    if not isinstance(sizes, list) or not all(map(_is_size, sizes)):
        raise ValueError("no message: it does not say what follows")
    return header  # type: ignore[no-any-return]


def _is_size(size: object) -> bool:
    return type(size) is int and 0 <= size <= _MAX_SIZE
