"""Which addresses are public."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dehusk.errors import SettingError
from dehusk.settings import CrawlSettings
from dehusk.sources.crawl.addresses import Allowed, why_not_public

PRIVATE = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
    "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::2", "::7f00:1", "::10.0.0.1",
    "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::8.8.8.8", "64:ff9b:1::1", "64:ff9b:1:ffff::1", "100::1", "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1",
    "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1",
    "fd12:3456:789a::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "feff::1", "ff02::1",
    "ff0e::1", "2600:1f18::5efe:10.0.0.1", "2600:1f18::200:5efe:127.0.0.1", "", "localhost",
]  # fmt: skip
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "192.0.1.1",
          "2606:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888", "2600::1"]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_the_public_webs_is_refused(address: str) -> None:
    assert why_not_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_let_through(address: str) -> None:
    assert why_not_public(address) is None


@given(st.integers(0, 2**32 - 1))
def test_no_ipv4_address_gets_through_inside_an_ipv6_address(number: int) -> None:
    inner = IPv4Address(number)
    for outer in (f"::ffff:{inner}", f"::{inner}", f"64:ff9b::{inner}", f"2600::5efe:{inner}"):
        assert why_not_public(outer)


@given(st.integers(0, 2**32 - 1))
def test_what_python_calls_private_is_refused(number: int) -> None:
    address = IPv4Address(number)
    if address.is_private or address.is_multicast or address.is_reserved:
        assert why_not_public(str(address)) or str(address) in ("192.0.0.9", "192.0.0.10")


NEVER = [
    "169.254.169.254", "169.254.0.1", "fe80::1", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200",
    "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "ff02::1",
    "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254",
    "2001:0:4136:e378:8000:63bf:5601:5601",
]  # fmt: skip
"""Link-local addresses and those of metadata, also where another address carries them."""


@pytest.mark.parametrize("address", NEVER)
def test_what_is_never_allowed_is_not_allowed_by_a_network_around_it(address: str) -> None:
    every = Allowed(("0.0.0.0/0", "::/0", "metadata.example", address))
    assert every.why_not("metadata.example", address)


def test_of_private_addresses_those_of_named_hosts_and_networks_are_allowed() -> None:
    allowed = Allowed(("10.1.0.0/16", "Mill.example", "[::1]", "127.0.0.1"))
    for host, address in [
        ("any.example", "10.1.2.3"), ("mill.example.", "192.168.0.1"), ("x.example", "::1"),
        ("localhost", "127.0.0.1"), ("any.example", "8.8.8.8"),
    ]:  # fmt: skip
        assert allowed.why_not(host, address) is None
    for host, address in [
        ("any.example", "10.2.0.1"), ("a.mill.example", "192.168.0.1"), ("x.example", "127.0.0.2"),
        ("any.example", "::ffff:10.1.2.3"),
    ]:  # fmt: skip
        assert allowed.why_not(host, address)


@pytest.mark.parametrize(
    ("network", "carrier"),
    [
        ("64:ff9b::/96", "64:ff9b::a00:1"), ("64:ff9b:1::/48", "64:ff9b:1::a00:1"),
        ("64:ff9b:1::/48", "64:ff9b:1:a00:0:100::"), ("64:ff9b:1::/48", "64:ff9b:1:a:0:1::"),
        ("64:ff9b:1::/48", "64:ff9b:1:0:a:0:100:0"), ("2002::/16", "2002:a00:1::1"),
        ("::ffff:0:0/96", "::ffff:10.0.0.1"), ("::/96", "::10.0.0.1"),
        ("2001::/32", "2001:0:808:808::f5ff:fffe"), ("fd00::/8", "fd00::5efe:10.0.0.1"),
    ],
)  # fmt: skip
def test_a_network_allows_no_private_address_that_its_addresses_carry(
    network: str, carrier: str
) -> None:
    assert Allowed((network,)).why_not("any.example", carrier) == "private"
    assert Allowed((network, "10.0.0.1")).why_not("any.example", carrier) is None


def test_an_allowed_network_is_read_as_ipv4_only_where_it_carries_that() -> None:
    allowed = Allowed(("fd00::/8", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "::1"))
    for address in (
        "fd00:e123:4567::1", "fd00::a9fe:a9fe", "64:ff9b::8.8.8.8", "64:ff9b:1::8.8.8.8",
        "64:ff9b:1:808:8:800::", "2002:808:808::1", "::1",
    ):  # fmt: skip
        assert allowed.why_not("any.example", address) is None


@pytest.mark.parametrize("named", [True, "10.0.0.0/8", ("a/b",), ("",), ("10.0.0.0/99",)])
def test_what_is_neither_a_host_nor_a_network_is_refused_by_name(named: object) -> None:
    with pytest.raises(SettingError, match="host"):
        CrawlSettings(allow_private=named)  # type: ignore[arg-type]
