"""What is measured: dehusk's methods and its peers, behind one kind of call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dehusk.bench.peers import Peer, load_peers
from dehusk.loader import PageLoader
from dehusk.memory import Memory
from dehusk.methods import DEFAULT, Method
from dehusk.methods.hyperlink import Hyperlink
from dehusk.methods.written import parse_method
from dehusk.model import Limits, Page, Tree
from dehusk.pipeline import clean
from dehusk.result import Result


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a contender says of a page; one that labels no nodes has no tree."""

    text: str
    tree: Tree | None = None
    labels: NDArray[np.int8] | None = None
    state_bytes: float | None = None
    """What a method remembers of the site, per page seen."""


Ask = Callable[[Page], Answer]


@dataclass(frozen=True, slots=True)
class Contender:
    """A method or a peer. `start` gives what answers on the pages of one site, in order.

    One that follows links needs the pages of the site beforehand; others are given none.
    """

    name: str
    start: Callable[[Sequence[Page]], Ask]
    needs_pages: bool = False


def learner(method: Method) -> Callable[[Page], tuple[Result, Memory]]:
    """A call that cleans the pages of one site in order, from an empty memory on."""
    memory, limits = Memory(), Limits()

    def add(page: Page) -> tuple[Result, Memory]:
        nonlocal memory
        result, memory = clean(page, memory, method, limits)
        return result, memory

    return add


def method_contender(written: str) -> Contender:
    """The method written `NAME` or `NAME:SETTING=VALUE,…`; UsageError if there is none."""
    method = parse_method(written)

    def start(pages: Sequence[Page]) -> Ask:
        follower = method
        if isinstance(method, Hyperlink):
            follower = replace(method, loader=PageLoader(pages))
        add = learner(follower)

        def ask(page: Page) -> Answer:
            result, memory = add(page)
            state = memory.size_bytes / memory.pages
            return Answer(result.text, result.tree, result.labels.labels, state)

        return ask

    return Contender(written, start, isinstance(method, Hyperlink))


def peer_contender(name: str, peer: Peer) -> Contender:
    """A peer, which learns nothing from one page for the next."""

    def ask(page: Page) -> Answer:
        assert isinstance(page.html, str)
        return Answer(peer(page.html, page.url))

    return Contender(name, lambda _: ask)


def make_contenders(
    methods: Iterable[str], *, with_peers: bool
) -> tuple[Sequence[Contender], Sequence[str]]:
    """The methods (the default one if none is named), then the peers; and notes on missing ones."""
    names = dict.fromkeys(methods) or {DEFAULT: None}
    contenders = [method_contender(name) for name in names]
    if not with_peers:
        return contenders, ()
    peers, notes = load_peers()
    return [*contenders, *(peer_contender(name, peer) for name, peer in peers.items())], notes
