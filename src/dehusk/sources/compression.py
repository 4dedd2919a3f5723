"""Plain bytes out of files and pipes, whatever packed them, and never much more than asked for."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from dehusk.errors import MissingExtra, SourceError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

try:  # An extra, which unpacks gzip in half the time.
    from isal import isal_zlib as inflating
except ImportError:
    import zlib as inflating  # type: ignore[no-redef]

_STEP: Final = 8192
"""Bytes unpacked at a time. What a decoder had in hand when it meets damage is lost, so this is how
much can be lost of what came before it. Reading gzipped JSON lines with pages of 80 kB took 0.80 ms
of CPU a page at 4096, 0.65 at 8192 and 0.57 at 32,768; .xz is flat above 8192."""
_ZSTD_STEP: Final = 512
"""Packed bytes given to zstd at a time: its decoder cannot be told to stop, and 4 packed bytes can
hold 128 kB, so this is what keeps a bomb at 16 MB a step."""
_XZ_MEMORY: Final = 256 << 20
"""What an .xz file may need to be unpacked; `xz -9` needs 65 MB, a bomb can ask for 4 GB."""
_FAULTS: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)


_SKIPPABLE_FRAMES: Final = tuple(bytes((0x50 + low, 0x2A, 0x4D, 0x18)) for low in range(16))
"""Frames without data, which parallel packers of zstd put first."""


class Compression(Enum):
    """The ways to pack a file that are read: name for people, end of the name, first bytes."""

    GZIP = ("gzip", ".gz", (b"\x1f\x8b",))
    XZ = ("xz", ".xz", (b"\xfd7zXZ\x00",))
    ZSTD = ("zstd", ".zst", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE_FRAMES))

    def __init__(self, label: str, suffix: str, magics: tuple[bytes, ...]) -> None:
        self.label = label
        self.suffix = suffix
        self.magics = magics


_MAX_MAGIC: Final = max(len(magic) for way in Compression for magic in way.magics)


def named_compression(name: str) -> Compression | None:
    """The compression that the end of a file's name states."""
    lowered = name.lower()
    return next((way for way in Compression if lowered.endswith(way.suffix)), None)


def unpacked_name(name: str) -> str:
    """The lower-case name of the file without the end that states its compression."""
    compression = named_compression(name)
    return name.lower().removesuffix(compression.suffix if compression else "")


INFLATE_FAULTS: Final = (zlib.error, cast("type[Exception]", inflating.error))
"""What an inflater raises on damaged data."""


class Inflater(Protocol):
    """What unpacks one gzip member or one zlib stream."""

    @property
    def eof(self) -> bool:
        """True behind the end of it."""

    @property
    def unused_data(self) -> bytes:
        """What was fed but stands behind it."""

    @property
    def unconsumed_tail(self) -> bytes:
        """What was fed but not looked at yet."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """The next plain bytes, at most so many."""


def new_inflater(bits: int) -> Inflater:
    """An inflater: 31 bits for gzip, 15 for zlib, -15 for neither header."""
    return inflating.decompressobj(bits)


class ByteStream(io.RawIOBase):
    """Bytes that can be looked at before they are read, and whose faults are SourceErrors."""

    def __init__(self, name: str, read: Callable[[int], bytes]) -> None:
        super().__init__()
        self.name = name
        self._read = read
        # A view, because a slice of bytes is a copy: many small reads of a long rest add up.
        self._ahead = memoryview(b"")

    def readable(self) -> bool:
        """Always true."""
        return True

    def take(self, size: int) -> bytes:
        """The next bytes, at most so many and not always all; none at the end."""
        if not self._ahead:
            return self._more(size)
        taken, self._ahead = bytes(self._ahead[:size]), self._ahead[size:]
        return taken

    def head(self, size: int) -> bytes:
        """The next `size` bytes, which stay unread; fewer only at the end."""
        while len(self._ahead) < size:
            more = self._more(_STEP)
            if not more:
                break
            self._ahead = memoryview(bytes(self._ahead) + more)
        return bytes(self._ahead[:size])

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """How many bytes were put into the buffer; 0 at the end."""
        view = memoryview(buffer).cast("B")
        ahead = self._ahead or memoryview(self._more(min(len(view), _STEP)))
        taken = min(len(ahead), len(view))
        view[:taken] = ahead[:taken]
        self._ahead = ahead[taken:]
        return taken

    def _more(self, size: int) -> bytes:
        try:
            return self._read(size)
        except _FAULTS as fault:
            raise SourceError(
                f"{self.name}: cannot be read to its end: {_reason(fault)}"
            ) from fault


def _reason(fault: BaseException) -> str:
    """What went wrong, for people."""
    if isinstance(fault, EOFError):
        return "it was cut off"
    if isinstance(fault, OSError) and fault.strerror:
        return fault.strerror
    return f"it is damaged ({fault})"


@contextmanager
def open_packed(path: Path, name: str) -> Iterator[ByteStream]:
    """The bytes of a file as they are; errors call it `name`. Raises SourceError."""
    try:
        file = path.open("rb")
    except OSError as fault:
        raise SourceError(f"{name}: {fault.strerror or fault}") from fault
    with file:
        yield ByteStream(name, file.read1)


@contextmanager
def open_unpacked(path: Path, name: str) -> Iterator[ByteStream]:
    """The plain bytes of a file, packed or not; errors call it `name`. Raises SourceError."""
    with open_packed(path, name) as packed:
        yield unpack(packed, named_compression(path.name))


def found_compression(packed: ByteStream) -> Compression | None:
    """The compression that the first bytes show."""
    head = packed.head(_MAX_MAGIC)
    return next((way for way in Compression if head.startswith(way.magics)), None)


def unpack(packed: ByteStream, stated: Compression | None = None) -> ByteStream:
    """The plain bytes of a stream, by what its first bytes say.

    Raises SourceError for a stream that is not what is `stated` of it, and MissingExtra.
    """
    found = found_compression(packed)
    if stated is not None and found is not stated:
        raise SourceError(f"{packed.name}: not {stated.label} data, as its name says")
    if found is None:
        return packed
    return ByteStream(packed.name, _reader(found, io.BufferedReader(packed)))


def check_supported(name: str) -> None:
    """Raise MissingExtra where a file of this name needs an extra that is not installed."""
    if named_compression(name) is Compression.ZSTD:
        ZstdUnpacker()


def _reader(compression: Compression, packed: io.BufferedIOBase) -> Callable[[int], bytes]:
    """A function that gives the next plain bytes: not many more than asked for, none at the end."""
    if compression is Compression.GZIP:
        return gzip.GzipFile(fileobj=packed, mode="rb").read1
    if compression is Compression.XZ:
        return _Frames(packed, _new_xz, 65_536).read
    return _Frames(packed, ZstdUnpacker().new_frame, _ZSTD_STEP).read


class _Decoder(Protocol):
    """What unpacks one frame: an xz stream, or a zstd frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Frames:
    """The plain bytes of frames that stand one behind another in a file."""

    def __init__(
        self, packed: io.BufferedIOBase, new_decoder: Callable[[], _Decoder], step: int
    ) -> None:
        self._packed = packed
        self._new_decoder = new_decoder
        self._step = step
        self._decoder = new_decoder()

    def read(self, size: int) -> bytes:
        """The next plain bytes; none behind the last frame. EOFError in the middle of one."""
        while True:
            data = b""
            if self._decoder.eof:
                data = self._next_frame()
                if not data:
                    return b""
                self._decoder = self._new_decoder()
            elif self._decoder.needs_input:
                data = self._packed.read1(self._step)
                if not data:
                    raise EOFError
            plain = self._decoder.decompress(data, size)
            if plain:
                return plain

    def _next_frame(self) -> bytes:
        """The first bytes of the next frame, behind any padding; none at the end of the file."""
        data = self._decoder.unused_data.lstrip(b"\0")
        while not data:
            read = self._packed.read1(self._step)
            if not read:
                return b""
            data = read.lstrip(b"\0")
        return data


def _new_xz() -> _Decoder:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


class ZstdUnpacker:
    """What unpacks zstd frames, with a dictionary where they need one."""

    def __init__(self, dictionary: bytes = b"") -> None:
        try:
            import zstandard  # noqa: PLC0415  an extra, so it may be missing
        except ImportError as missing:
            raise MissingExtra("reading .zst files", "zstd") from missing
        given = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        self._unpacker = zstandard.ZstdDecompressor(dict_data=given)
        self._fault = zstandard.ZstdError
        self._frame_size = zstandard.frame_content_size

    def new_frame(self) -> ZstdFrame:
        """What unpacks one frame; only one at a time may be in use."""
        return ZstdFrame(self._unpacker.decompressobj(), self._fault)

    def stated_size(self, head: bytes) -> int | None:
        """The plain bytes that the frame beginning with `head` says it holds; None if it does not.

        The decoder holds the frame to it.
        """
        try:
            size: int = self._frame_size(head)
        except self._fault:
            return None
        return size if size >= 0 else None


class ZstdFrame:
    """One zstd frame. All that is fed is decoded: zstd cannot be told to stop earlier."""

    needs_input = True

    def __init__(self, decoder: Any, fault: type[Exception]) -> None:
        self._decoder = decoder
        self._fault = fault

    @property
    def eof(self) -> bool:
        """True behind the end of the frame."""
        return bool(self._decoder.eof)

    @property
    def unused_data(self) -> bytes:
        """What was fed but stands behind the frame."""
        return bytes(self._decoder.unused_data)

    def decompress(self, data: bytes, max_length: int = 0) -> bytes:  # noqa: ARG002
        """The plain bytes of `data`, however many they are."""
        try:
            return bytes(self._decoder.decompress(data))
        except self._fault as fault:
            raise OSError(str(fault)) from fault
