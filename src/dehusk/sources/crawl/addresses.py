"""What may be connected to: public addresses, checked on the socket that is used.

A name is looked up once, its addresses are checked, and the connection goes to the checked address
itself. So a name that answers differently the second time (DNS rebinding) gains nothing. Every
connection goes this way, that of a redirect too.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

import httpcore2

from dehusk.errors import AddressRefused

_CONNECT_S: Final = 10.0
"""Seconds for one of several addresses, so that a dead one leaves time for the next."""

_REFUSED: Final[dict[str, tuple[str, ...]]] = {
    "this machine or network": ("0.0.0.0/8", "::/128"),
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
    "shared by a provider's customers": ("100.64.0.0/10",),
    "link-local": ("169.254.0.0/16", "fe80::/10"),
    "multicast or broadcast": ("224.0.0.0/4", "255.255.255.255/32", "ff00::/8"),
    "NAT64": ("64:ff9b::/96", "64:ff9b:1::/48"),
    "6to4": ("2002::/16", "192.88.99.0/24"),
    "Teredo": ("2001::/32",),
    "IPv4-mapped": ("::ffff:0:0/96", "::ffff:0:0:0/96"),
    "IPv4-compatible": ("::/96",),
    "reserved": (
        "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "240.0.0.0/4", "100::/64", "2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32",
        "3fff::/20", "5f00::/16",
    ),
}  # fmt: skip
"""Address blocks that are not the public web's, from the IANA registries of special-purpose
addresses. Of two that hold an address the first in this order names it."""
_BLOCKS: Final[tuple[tuple[IPv4Network | IPv6Network, str], ...]] = tuple(
    (ip_network(block), kind) for kind, blocks in _REFUSED.items() for block in blocks
)
_ISATAP: Final = (0x00005EFE, 0x02005EFE)
"""The third quarter of an IPv6 address whose last quarter is an IPv4 address of a private net."""


def why_not_public(address: str) -> str | None:
    """What kind of address it is, if it is not public; None for a public one.

    IPv6 addresses that carry an IPv4 address are not public, whatever they carry: a translator
    behind them may lead anywhere.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return "unreadable"
    for block, kind in _BLOCKS:
        if parsed.version == block.version and parsed in block:
            return kind
    if parsed.version == 6 and int(parsed) >> 32 & 0xFFFFFFFF in _ISATAP:
        return "ISATAP"
    return None


class NoName(httpcore2.ConnectError):
    """The host has no address."""


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to public addresses only, unless private ones are allowed."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._backend = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A stream to an allowed address of the host; AddressRefused if it has none."""
        addresses = await _look_up(host, port)
        allowed = [address for address in addresses if self._is_allowed(address)]
        if not allowed:
            raise _refused(host, addresses[0])
        fault: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        for address in allowed:
            time_s = _CONNECT_S if len(allowed) > 1 else timeout
            try:
                stream = await self._backend.connect_tcp(
                    address, port, time_s, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as failed:
                fault = failed
                continue
            await self._check_peer(host, stream)
            return stream
        assert fault is not None
        raise fault

    async def _check_peer(self, host: str, stream: httpcore2.AsyncNetworkStream) -> None:
        """Raise AddressRefused where the socket leads elsewhere than it was told to."""
        peer = stream.get_extra_info("server_addr")
        address = str(peer[0]) if peer else ""
        if not self._is_allowed(address):
            await stream.aclose()
            raise _refused(host, address)

    def _is_allowed(self, address: str) -> bool:
        return self._allow_private or why_not_public(address) is None

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Nothing: AddressRefused. A crawler has no business with sockets of this machine."""
        del timeout, socket_options
        raise AddressRefused(None, f"{path}: not an address of the web")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._backend.sleep(seconds)


async def _look_up(host: str, port: int) -> list[str]:
    """The addresses of a host, each once, the best first. Raises NoName."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as fault:
        raise NoName(f"no address for {host}") from fault
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _refused(host: str, address: str) -> AddressRefused:
    kind = why_not_public(address)
    reason = f"{host} leads to {address}, which is not public ({kind}); see --allow-private"
    return AddressRefused(None, reason)
