"""The plain bytes of a web archive, member by member, and what of it cannot be unpacked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from dehusk.sources.compression import INFLATE_FAULTS, Inflater, ZstdUnpacker, new_inflater

Read = Callable[[int], bytes]
"""Gives the next bytes of a file, at most so many and not always all; none at its end."""

_STEP: Final = 1 << 14
"""Packed bytes read at a time. Pages of 270 kB took the same CPU time with 16 kB, 64 kB and 256 kB;
small records take less with 16, because what stands behind a member is copied for each."""
_PLAIN_STEP: Final = 1 << 20
"""Plain bytes read or unpacked at a time: most records fit, and need not be put together again."""
_ZSTD_STEP: Final = 512
"""Packed bytes given to zstd at a time where a frame does not say its size: its decoder cannot be
told to stop, and 4 packed bytes can hold 128 kB."""
_MAX_FRAME: Final = 1 << 26
"""Plain bytes of a zstd frame that may be unpacked at once."""
_MIN_FIRST: Final = 16
"""Plain bytes of a member that come in one piece, so that its first word can be seen."""
_MAX_KEPT: Final = 1 << 25
"""Packed bytes of a member that are kept, to look for other members in should it be damaged."""
_AGAIN: Final = 1 << 28
_AGAIN_FACTOR: Final = 16
"""Packed bytes that may be looked at again behind damage, at once and for each byte of the file;
then the search only goes forward. A file can be built in which a member seems to begin every few
bytes, and reading it must still take time in proportion to its size."""
_GZIP: Final = b"\x1f\x8b\x08"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
"""What begins the frame with the dictionary for all others, where a .warc.zst has one."""
_MAX_DICTIONARY: Final = 1 << 24


class Piece(NamedTuple):
    """Plain bytes of a member: where in the file it begins, and whether these bytes begin it.

    A file that is not packed is one member.
    """

    data: bytes
    offset: int
    starts: bool


class Gap(NamedTuple):
    """A member that cannot be unpacked to its end, where it begins, and why."""

    offset: int
    reason: str


Source = Callable[[int], Piece | Gap | None]
"""Gives the next piece, or why there is none here; None at the end. Told how many plain bytes are
missing from the record that is read, 0 if none is: what is not packed is read in such steps."""


def plain_source(read: Read) -> Source:
    """The pieces of a file that is not packed."""
    starts = True

    def source(missing: int) -> Piece | None:
        nonlocal starts
        data = read(min(max(missing, _STEP), _PLAIN_STEP) if missing else _PLAIN_STEP)
        piece = Piece(data, 0, starts)
        starts = False
        return piece if data else None

    return source


def gzip_source(read: Read) -> Source:
    """The pieces of a file packed by gzip, and a Gap for each member that is damaged."""
    packing = _Packing(_GZIP, lambda _: new_inflater(31), INFLATE_FAULTS)
    return _Members(read, packing, b"", 0).source()


def zstd_source(read: Read) -> Source:
    """The pieces of a file packed by zstd; MissingExtra without the extra for it.

    A dictionary may come first, itself packed or not, as the WARC community has agreed.
    """
    data = _at_least(read, b"", 8)
    offset, dictionary = 0, b""
    if data.startswith(DICTIONARY):
        offset = 8 + int.from_bytes(data[4:8], "little")
        if offset <= _MAX_DICTIONARY:
            data = _at_least(read, data, offset)
            dictionary, data = _unpacked_dictionary(data[8:offset]), data[offset:]
        else:
            offset = 0  # Skipped as a frame without data; what needs it cannot be unpacked.
    unpacker = ZstdUnpacker(dictionary)
    packing = _Packing(_ZSTD, lambda head: _Zstd(unpacker, head), (OSError,))
    return _Members(read, packing, data, offset).source()


def _at_least(read: Read, data: bytes, size: int) -> bytes:
    """The data with more behind it; shorter than the size only at the end of the file."""
    while len(data) < size and (more := read(max(_STEP, size - len(data)))):
        data += more
    return data


def _unpacked_dictionary(written: bytes) -> bytes:
    """The dictionary, which may be a zstd frame itself; empty where it is damaged."""
    if not written.startswith(_ZSTD):
        return written
    decoder = _Zstd(ZstdUnpacker(), written)
    plain = b""
    try:
        while written and not decoder.eof and len(plain) <= _MAX_DICTIONARY:
            plain += decoder.decompress(written, 0)
            written = decoder.unconsumed_tail
    except OSError:
        return b""
    return plain


@dataclass(frozen=True, slots=True)
class _Packing:
    """How members of one kind are known and unpacked."""

    magic: bytes
    new_decoder: Callable[[bytes], Inflater]
    """A decoder for the member that begins with these bytes."""
    faults: tuple[type[Exception], ...]


class _Zstd:
    """A zstd frame, fed in steps that no bomb can grow far in."""

    def __init__(self, unpacker: ZstdUnpacker, head: bytes) -> None:
        size = unpacker.stated_size(head)
        is_small = size is not None and size <= _MAX_FRAME
        self._step = _STEP if is_small else _ZSTD_STEP
        self._frame = unpacker.new_frame()
        self.unused_data = self.unconsumed_tail = b""

    @property
    def eof(self) -> bool:
        """True behind the end of the frame."""
        return self._frame.eof

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """The plain bytes of one step of the data; the rest is `unconsumed_tail`."""
        rest = b""
        if len(data) > self._step:
            data, rest = data[: self._step], data[self._step :]
        plain = self._frame.decompress(data, max_length)
        self.unused_data = self._frame.unused_data + rest if self.eof else b""
        self.unconsumed_tail = b"" if self.eof else rest
        return plain


class _Members:
    """The members of a packed file, one behind another, and the way on behind a damaged one."""

    def __init__(self, read: Read, packing: _Packing, data: bytes, offset: int) -> None:
        self._read = read
        self._packing = packing
        self._data = data
        """Packed bytes that were read and not used."""
        self._end = offset + len(data)
        """Where in the file `_data` ends."""
        self._again = 0
        """Packed bytes of damaged members that were looked at again."""

    def source(self) -> Source:
        """The pieces, for whoever asks; how much is missing does not matter."""
        pieces = self._pieces()
        return lambda _: next(pieces, None)

    def _pieces(self) -> Iterator[Piece | Gap]:
        """Each member in pieces; for a damaged one a Gap behind what could be unpacked of it."""
        while self._fill():
            start = self._end - len(self._data)
            kept: list[bytes] = []
            try:
                yield from self._member(start, kept)
                continue
            except EOFError:
                reason = "the file ends inside it"
            except self._packing.faults as fault:
                reason = f"it cannot be unpacked ({fault})"
            yield Gap(start, reason)
            self._search(kept)

    def _more(self) -> bytes:
        data = self._read(_STEP)
        self._end += len(data)
        return data

    def _fill(self) -> bool:
        """True where there is another byte; zeros between members are passed over."""
        data = self._data
        while not data or not data[0]:
            data = data.lstrip(b"\0") or self._more()
            if not data:
                break
        self._data = data
        return bool(data)

    def _member(self, start: int, kept: list[bytes]) -> Iterator[Piece]:
        """The pieces of the member that begins here; its packed bytes are `kept`, unless too many.

        A piece is given when the next one has been unpacked without a fault: the last of them is
        covered by the member's checksum then.
        """
        decoder = self._packing.new_decoder(self._data)
        kept.append(self._data)
        starts, plain = True, b""
        while not decoder.eof:
            data = self._data or self._more()
            if not data:
                raise EOFError
            if not self._data:
                kept.append(data)
                if self._end - start > _MAX_KEPT:
                    kept.clear()
            more = decoder.decompress(data, _PLAIN_STEP)
            self._data = decoder.unused_data or decoder.unconsumed_tail
            if len(plain) < _MIN_FIRST:
                plain += more
            elif more:
                yield Piece(plain, start, starts)
                plain, starts = more, False
        if plain:
            yield Piece(plain, start, starts)

    def _search(self, kept: list[bytes]) -> None:
        """Go to where the next member seems to begin, behind the start of the damaged one."""
        magic = self._packing.magic
        self._again += sum(map(len, kept))
        if self._again > _AGAIN + _AGAIN_FACTOR * self._end:
            self._data = b""
        elif kept:
            self._data = b"".join(kept)[1:]
        while (at := self._data.find(magic)) < 0:
            more = self._more()
            if not more:
                self._data = b""
                return
            self._data = self._data[-len(magic) + 1 :] + more
        self._data = self._data[at:]
