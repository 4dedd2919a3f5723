"""Bodies unpacked while they come, never much more of them than asked for."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final, Protocol

ACCEPTED: Final = "gzip, deflate"
"""What a server is told it may send: what can be unpacked here in steps of a known size."""
_STEP: Final = 1 << 16
"""Bytes unpacked at a time: what a bomb can make beyond the limit before it is noticed."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_GZIP_MAGIC: Final = b"\x1f\x8b"


class Decoder(Protocol):
    """Unpacks a body piece by piece."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What comes out for the next bytes. Raises zlib.error for damage."""

    @property
    def is_whole(self) -> bool:
        """False where the packed data must go on."""


class Plain:
    """Bytes as they are."""

    is_whole = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bytes themselves."""
        yield data


class Packed:
    """gzip, of one or more members, or deflate, with or without its header."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._inner = zlib.decompressobj(_GZIP if is_gzip else zlib.MAX_WBITS)
        self._has_begun = False
        self._behind = b""
        """What came behind the end and is too short to say what it is."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What the bytes unpack to, in steps. What stands behind the end is passed over."""
        data, self._behind = self._behind + data, b""
        while data:
            if self._inner.eof:
                # More members are more of the body; anything else is padding, as for browsers.
                if not self._is_gzip or not data.startswith(_GZIP_MAGIC):
                    self._behind = data if data == _GZIP_MAGIC[:1] else b""
                    return
                self._inner = zlib.decompressobj(_GZIP)
            yield self._unpack(data)
            data = self._inner.unconsumed_tail or self._inner.unused_data

    def _unpack(self, data: bytes) -> bytes:
        """The next step. Some servers call deflate what has no zlib header: tried second."""
        try:
            piece = self._inner.decompress(data, _STEP)
        except zlib.error:
            if self._is_gzip or self._has_begun:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
            piece = self._inner.decompress(data, _STEP)
        self._has_begun = True
        return piece

    @property
    def is_whole(self) -> bool:
        """True at the end of the packed data, and where nothing was packed at all."""
        return self._inner.eof or not self._has_begun


def make_decoder(encoding: str) -> Decoder | None:
    """What unpacks a body with this `Content-Encoding`; None for one that was not asked for."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return Plain()
    if name in ("gzip", "x-gzip"):
        return Packed(is_gzip=True)
    return Packed(is_gzip=False) if name == "deflate" else None
