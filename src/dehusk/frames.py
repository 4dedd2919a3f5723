"""Messages between the service and its workers: a line of JSON that says what follows, and bytes.

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


def pack(header: Header, blobs: Sequence[bytes] = ()) -> bytes:
    """The message as bytes."""
    text = json.dumps({**header, "sizes": [len(blob) for blob in blobs]}).encode()
    return b"".join((len(text).to_bytes(LENGTH, "big"), text, *blobs))


def read(stream: IO[bytes]) -> tuple[Header, list[bytes]] | None:
    """The next message; None at the end, also where that comes in the middle of a message.

    Whoever is killed while it writes leaves the beginning of a message, which is none.
    """
    start = stream.read(LENGTH)
    if len(start) < LENGTH:
        return None
    text = stream.read(size := int.from_bytes(start, "big"))
    if len(text) < size:
        return None
    # Decoded here: `loads` would first look which encoding bytes are in.
    header: Header = json.loads(text.decode())
    blobs = [stream.read(size) for size in header["sizes"]]
    if list(map(len, blobs)) != header["sizes"]:
        return None
    return header, blobs
