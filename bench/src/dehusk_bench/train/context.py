"""The site network and the context network behind it, fitted together.

The first one reads each block, the second one what all blocks of the page told it. Numbers are
carried along the page, forth and back, and each block says how far they are renewed. That has no
weights of its own, so that a page costs next to nothing more, and training adds up all blocks of a
batch at once. Means over what surrounds a block, beside what is carried, won nothing: F1 by blocks
of articles 0.938 as before, documentation 0.977 (0.978), news 0.937 (0.941), sites 0.955 (0.957).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dehusk.methods.auto.model import Matrix, Network
from dehusk_bench.train.fit import (  # fmt: skip
    Batches,
    Example,
    Fitting,
    Rows,
    Stepper,
    descend,
    dropped,
    load_jax,
    loss_of,
    scaled,
    scaled_layer,
    start,
    stepper_of,
)

CARRIED, OWN, UNITS = 16, 16, 32
"""Numbers that are carried in each direction, that a block has for itself, and hidden units of the
context network. With 32 hidden units of the site network as with 48 or 64: F1 by blocks of articles
0.938, 0.938, 0.939, of documentation 0.978, 0.978, 0.979, of news 0.943, 0.941, 0.943, of sites
0.956, 0.957, 0.956."""
READ: Final = 2 * CARRIED + OWN
"""Numbers that the context network reads."""
_ANY: Final = 1e6
"""What is carried is not cut: gates hold it between the fresh numbers of the page."""


def fit_context(
    examples: Sequence[Example], rows: Rows, settings: Fitting
) -> tuple[Network, Network]:
    """The networks that give `wanted` for the rows of whole pages, as logits.

    UsageError where there is nothing to fit to.
    """
    random = np.random.default_rng(settings.seed)
    batches = Batches(examples, rows, settings)
    inputs, width = len(batches.scale[0]), settings.width
    given, read = READ + 2 * CARRIED, READ
    values = [
        start(random, (inputs, width), math.sqrt(2 / inputs)),
        np.zeros(width, np.float32),
        start(random, (width, given), math.sqrt(1 / width)),
        # Some gates are mostly closed at the beginning, and so carry far, some are open.
        np.concatenate((random.uniform(-3, 1, 2 * CARRIED), np.zeros(given - 2 * CARRIED))).astype(
            np.float32
        ),
        start(random, (read, UNITS), math.sqrt(2 / read)),
        np.zeros(UNITS, np.float32),
        start(random, (UNITS, examples[0].wanted.shape[1]), math.sqrt(1 / UNITS)),
        np.zeros(examples[0].wanted.shape[1], np.float32),
    ]
    stepper = _stepper(replace(settings, seed=0, epochs=0))
    weights = descend(stepper, values, batches, settings.seed, random)
    site = scaled_layer(weights[0], weights[1], batches.scale, weights[2], weights[3])
    limit = np.full(read, _ANY, np.float32)
    hidden, bias, output, output_bias = weights[4:]
    return site, Network(hidden, bias, output, output_bias, floor=-limit, ceiling=limit)


@lru_cache
def _stepper(settings: Fitting) -> Stepper:
    """How to fit both networks; compiled once."""
    jax, _ = load_jax()

    def loss(values: Any, key: Any, scale: tuple[Any, Any], batch: Any) -> Any:
        keys = jax.random.split(key)
        active = jax.nn.relu(scaled(batch.rows, scale) @ values[0] + values[1])
        given = dropped(active, keys[0], settings) @ values[2] + values[3]
        read = context_rows(given, batch.owner)
        decided = jax.nn.relu(read @ values[4] + values[5])
        logits = dropped(decided, keys[1], settings) @ values[6] + values[7]
        return loss_of(logits, batch, settings)

    return stepper_of(loss, [settings.decay] * 8)


def context_rows(given: Any, owner: Any) -> Any:
    """What the context network reads, of pages behind each other: `owner` says whose each row is.

    As the kernel finds it for one page.
    """
    jax, _ = load_jax()
    is_other = owner[1:] != owner[:-1]
    edge = np.ones(1, np.bool_)
    forth = _carried(
        given[:, :CARRIED],
        given[:, READ : READ + CARRIED],
        jax.numpy.concatenate((edge, is_other)),
    )
    back = _carried(
        given[::-1, CARRIED : 2 * CARRIED],
        given[::-1, READ + CARRIED :],
        jax.numpy.concatenate((is_other, edge))[::-1],
    )[::-1]
    return jax.numpy.concatenate((forth, back, given[:, 2 * CARRIED : READ]), axis=1)


def _carried(gates: Any, fresh: Any, is_first: Any) -> Any:
    """What is carried after each row; nothing from the page before."""
    jax, _ = load_jax()
    opened = 0.5 + 0.5 * gates / (1 + abs(gates))
    kept = jax.numpy.where(is_first[:, None], 0, 1 - opened)

    def then(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
        return first[0] * second[0], second[0] * first[1] + second[1]

    return jax.lax.associative_scan(then, (kept, opened * fresh))[1]


def held_out(site: Network, context: Network, rows: Matrix) -> Matrix:
    """What both say of the rows of a page, as logits: as the kernel does, but in numpy."""
    given, columns = site(rows).astype(np.float32), []
    for gates, fresh, order in ((0, READ, 1), (CARRIED, READ + CARRIED, -1)):
        opened = given[::order, gates : gates + CARRIED]
        opened = 0.5 + 0.5 * opened / (1 + np.abs(opened))
        renewed = opened * given[::order, fresh : fresh + CARRIED]
        found, state = np.empty_like(renewed), np.zeros(CARRIED, np.float32)
        for row in range(len(found)):
            state = state * (1 - opened[row]) + renewed[row]
            found[row] = state
        columns.append(found[::order])
    read = np.concatenate((*columns, given[:, 2 * CARRIED : READ]), axis=1)
    return np.ascontiguousarray(context(read))
