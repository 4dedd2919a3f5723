"""What is measured: dehusk's methods and its peers, behind one kind of call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dehusk.answer.result import Result
from dehusk.errors import UsageError
from dehusk.memory import Memory
from dehusk.methods import DEFAULT, Method
from dehusk.methods.auto import Auto
from dehusk.methods.auto.atlas import NO_ATLAS
from dehusk.methods.auto.model import load_model
from dehusk.methods.papers.hyperlink import Hyperlink
from dehusk.methods.written import parse_method
from dehusk.page.page import Page
from dehusk.page.tree import Tree
from dehusk.pipeline import Setup, clean
from dehusk.template.templates import PageLoader
from dehusk_bench.peers.node import NODE_PEERS
from dehusk_bench.peers.pages import Peer, load_all, load_peers
from dehusk_bench.peers.sites import SITE_PEERS, SitePeer


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a contender says of a page; one that labels no nodes has no tree."""

    text: str
    tree: Tree | None = None
    labels: NDArray[np.int8] | None = None
    state_bytes: float | None = None
    """What a method remembers of the site, per page seen."""
    is_timed: bool = True
    """False for the work of another process, whose CPU time cannot be told page by page."""


Ask = Callable[[Page], Answer]

FOLDS_FILE: Final = "folds.json"
"""Which sites each of the models beside it has not seen: a number by site."""


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
    memory, setup = Memory(), Setup(method)

    def add(page: Page) -> tuple[Result, Memory]:
        nonlocal memory
        result, (memory, _) = clean(page, memory, setup)
        return result, memory

    return add


def method_contender(written: str, folds: Path | None = None) -> Contender:
    """The method written `NAME` or `NAME:SETTING=VALUE,…`; UsageError if there is none.

    With `folds`, a folder that training wrote, `auto` judges each site with a model that has not
    seen the site.
    """
    method = parse_method(written)
    unseen = {} if folds is None else read_folds(folds)

    def start(pages: Sequence[Page]) -> Ask:
        add: Callable[[Page], tuple[Result, Memory]] | None = None

        def ask(page: Page) -> Answer:
            nonlocal add
            if add is None:
                add = learner(for_site(method, pages, unseen.get(page.site or "")))
            result, memory = add(page)
            state = memory.size_bytes / memory.pages
            return Answer(result.text, result.tree, result.labels.labels, state)

        return ask

    return Contender(written, start, isinstance(method, Hyperlink))


def for_site(method: Method, pages: Sequence[Page], model: Path | None) -> Method:
    """The method with what it needs for one site: its pages, or a model that has not seen it."""
    if isinstance(method, Hyperlink):
        method = replace(method, loader=PageLoader(pages))
    if isinstance(method, Auto) and model is not None:
        # The atlas that comes with dehusk has seen the site.
        return replace(method, model=str(model), atlas=method.atlas or NO_ATLAS)
    if isinstance(method, Hyperlink) and model is not None:
        return replace(method, model=str(model))
    return method


def read_folds(folder: Path) -> dict[str, Path]:
    """The model that has not seen a site, by site; UsageError if training wrote none there.

    Raises SettingError for models of another version: else every page would fail by itself.
    """
    try:
        written = json.loads((folder / FOLDS_FILE).read_text("utf-8"))
        models = {
            str(site): folder / f"fold-{int(number)}.json" for site, number in written.items()
        }
    except (OSError, ValueError, AttributeError) as fault:
        raise UsageError(f"--folds {folder}: no folder that `dehusk train auto` wrote") from fault
    for path in sorted(set(models.values())):
        load_model(str(path))
    return models


def unseen_note(models: Mapping[str, Path], sites: Iterable[str]) -> str:
    """How many of the sites there is a model for that has not seen them."""
    judged = set(sites)
    return (
        f"{len(judged & models.keys())} of {len(judged)} sites by a model of `auto` that has not"
        " seen them"
    )


def peer_contender(name: str, peer: Peer, *, is_timed: bool = True) -> Contender:
    """A peer, which learns nothing from one page for the next."""

    def ask(page: Page) -> Answer:
        assert isinstance(page.html, str)
        return Answer(peer(page.html, page.url), is_timed=is_timed)

    return Contender(name, lambda _: ask)


def site_peer_contender(name: str, peer: SitePeer) -> Contender:
    """A peer that looks at the pages of a site, all at once or one after another."""

    def start(pages: Sequence[Page]) -> Ask:
        extract = peer.start(pages)
        return lambda page: Answer(extract(str(page.html), page.url))

    return Contender(name, start, peer.needs_pages)


def make_contenders(
    methods: Iterable[str],
    *,
    with_peers: bool,
    with_methods: bool = True,
    folds: Path | None = None,
) -> tuple[Sequence[Contender], Sequence[str]]:
    """The methods (the default one if none is named), then the peers; and notes on missing ones."""
    names = (dict.fromkeys(methods) or {DEFAULT: None}) if with_methods else {}
    contenders = [method_contender(name, folds) for name in names]
    if not with_peers:
        return contenders, ()
    peers, notes = load_peers()
    node_peers, node_notes = load_all(NODE_PEERS, "make node-peers")
    site_peers, site_notes = load_all(SITE_PEERS)
    contenders += [peer_contender(name, peer) for name, peer in peers.items()]
    contenders += [peer_contender(name, peer, is_timed=False) for name, peer in node_peers.items()]
    contenders += [site_peer_contender(name, peer) for name, peer in site_peers.items()]
    return contenders, [*notes, *node_notes, *site_notes]
