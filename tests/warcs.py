"""WARC files written for the tests: whole records, and what can happen to them."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence

import zstandard


def page(number: int) -> bytes:
    """A page that does not pack to nothing, the same on every run."""
    state, words = number + 1, []
    for _ in range(300):
        state = (state * 1_103_515_245 + 12_345) % 2**31
        words.append(f"{state >> 8:x}")
    return f"<title>Page {number}</title><p>Sack {number}: {' '.join(words)}".encode()


def url(number: int) -> str:
    return f"https://mill.example/{number}"


def http(body: bytes, *headers: str, status: int = 200, kind: str = "text/html") -> bytes:
    lines = [f"HTTP/1.1 {status} OK", *([f"Content-Type: {kind}"] if kind else []), *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def record(block: bytes, target: str = "", kind: str = "response", **fields: str) -> bytes:
    """A record; `fields` are added to its header, or replace what is in it."""
    content = "application/http; msgtype=response" if kind == "response" else "text/html"
    lines = {"WARC-Type": kind, "WARC-Date": "2026-01-02T03:04:05Z", "WARC-Target-URI": target}
    lines |= {"WARC-Record-ID": f"<urn:uuid:{len(block):032x}>", "Content-Type": content}
    lines["Content-Length"] = str(len(block))
    lines |= {name.replace("_", "-"): value for name, value in fields.items()}
    written = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    return b"WARC/1.1\r\n" + written.encode() + b"\r\n" + block + b"\r\n\r\n"


def response(number: int, **fields: str) -> bytes:
    """A record with page `number`."""
    return record(http(page(number)), url(number), **fields)


def whole(data: bytes) -> bytes:
    return data


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".warc": whole,
    ".warc.gz": gzip.compress,
    ".warc.zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def archive(records: Sequence[bytes], suffix: str = ".warc.gz") -> bytes:
    """The records, each packed by itself."""
    return b"".join(PACKERS[suffix](each) for each in records)
