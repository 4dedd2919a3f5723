"""What may be connected to: public addresses, checked on the socket that is used.

A name is looked up once, its addresses are checked, and the connection goes to the checked address
itself. So a name that answers differently the second time (DNS rebinding) gains nothing. Every
connection goes this way, that of a redirect too.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Iterator
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

import httpcore2

from dehusk.errors import AddressRefused

_CONNECT_S: Final = 10.0
"""Seconds for one of several addresses, so that a dead one leaves time for the next."""

_REFUSED: Final[dict[str, tuple[str, ...]]] = {
    "metadata": (
        "169.254.169.254/32", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
        "fd00:ec2::254/128", "fd20:ce::254/128",
    ),
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
addresses, and those where providers tell their machines secrets. Of two that hold an address the
first in this order names it."""
_NEVER: Final = frozenset(("metadata", "link-local", "multicast or broadcast", "unreadable"))
"""Kinds that are refused whoever is allowed: nothing there is a site, and much is dangerous."""
_BLOCKS: Final[tuple[tuple[IPv4Network | IPv6Network, str], ...]] = tuple(
    (ip_network(block), kind) for kind, blocks in _REFUSED.items() for block in blocks
)
_ISATAP: Final = (0x00005EFE, 0x02005EFE)
"""The third quarter of an IPv6 address whose last quarter is an IPv4 address of a private net."""
_AT_END: Final = ("NAT64", "IPv4-mapped", "IPv4-compatible")
"""Kinds of IPv6 addresses whose last quarter is an IPv4 address."""
_NAT64_LOCAL: Final = IPv6Network("64:ff9b:1::/48")
_QUARTER: Final = 0xFFFFFFFF


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
    if parsed.version == 6 and int(parsed) >> 32 & _QUARTER in _ISATAP:
        return "ISATAP"
    return None


def _carried(address: IPv6Address, kind: str) -> Iterator[IPv4Address]:
    """The IPv4 addresses that a translator or tunnel may make of an address of this kind."""
    number = int(address)
    if kind == "6to4":
        yield IPv4Address(number >> 80 & _QUARTER)
    elif address.teredo:
        yield from address.teredo
    elif address in _NAT64_LOCAL:
        yield from _nat64_local(number)
    elif kind in _AT_END:
        yield IPv4Address(number & _QUARTER)
    if number >> 32 & _QUARTER in _ISATAP:
        yield IPv4Address(number & _QUARTER)


def _nat64_local(number: int) -> list[IPv4Address]:
    """What stands in each place that RFC 6052 has: nobody but the translator knows which counts.

    Zeros in front are padding, unless nothing else is there.
    """
    skipped = number >> 64 << 56 | number & (1 << 56) - 1  # The octet behind 64 bits is not used.
    places = (number, skipped >> 24, skipped >> 32, skipped >> 40)
    found = [IPv4Address(place & _QUARTER) for place in places]
    return [each for each in found if int(each) >> 24] or found


class Allowed:
    """Which addresses may be connected to: public ones, and those of named hosts and networks."""

    def __init__(self, named: Iterable[str] = ()) -> None:
        """`named` are hosts, addresses and networks (`10.1.0.0/16`) whose addresses are private."""
        self._hosts: set[str] = set()
        self._networks: list[IPv4Network | IPv6Network] = []
        for name in named:
            try:
                self._networks.append(ip_network(name.strip("[]"), strict=False))
            except ValueError:
                self._hosts.add(name.lower().rstrip("."))

    def why_not(self, host: str, address: str) -> str | None:
        """The kind of the address, if it may not be connected to for this host; None if it may.

        An IPv4 address inside the address must be public or allowed too.
        """
        kind = why_not_public(address)
        if kind is None or kind in _NEVER:
            return kind
        parsed = ip_address(address.partition("%")[0])
        is_named = host.lower().rstrip(".") in self._hosts or any(
            parsed.version == network.version and parsed in network for network in self._networks
        )
        if not is_named or isinstance(parsed, IPv4Address):
            return None if is_named else kind
        hidden = (self.why_not(host, str(each)) for each in _carried(parsed, kind))
        return next((each for each in hidden if each is not None), None)


class NoName(httpcore2.ConnectError):
    """The host has no address."""


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to public addresses only, and to those that are allowed by name."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
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
        allowed = [each for each in addresses if self._allowed.why_not(host, each) is None]
        if not allowed:
            raise self._refused(host, addresses[0])
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
        if self._allowed.why_not(host, address) is not None:
            await stream.aclose()
            raise self._refused(host, address)

    def _refused(self, host: str, address: str) -> AddressRefused:
        kind = self._allowed.why_not(host, address)
        advice = "" if kind in _NEVER else f"; --allow-private {host} would allow it"
        reason = f"{host} leads to {address}, which is not public ({kind}){advice}"
        return AddressRefused(None, reason)

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
        raise NoName(
            f"no address for {host}: is the name right, and is this machine online?"
        ) from fault
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
