"""Networks with one hidden layer, fitted to pages by JAX, the same on every run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dehusk.errors import UsageError
from dehusk.methods.auto.model import Matrix, Network
from dehusk.page.tree import Floats

_SAME: Final = 1.001e-3
FAR: Final = 6.0
"""Standard deviations from the mean at which inputs are cut."""
_HALF: Final = 0.5
"""Words added above and below when F1 is taken: a page of few is not all or none."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """How a network is fitted: Adam, rate rising and falling, dropout, weights pulled to 0."""

    members: int = 2
    """Networks that are fitted from different starts; their mean is one wider network."""
    width: int = 32
    epochs: int = 8
    batch: int = 8192
    """Blocks of a step, of whole pages."""
    rate: float = 3e-3
    decay: float = 1e-3
    dropout: float = 0.15
    by_block: float = 1.0
    """How much it counts what each block should be: cross-entropy."""
    by_page: float = 0.0
    """How much it counts how good the answer on each page would be: F1, of probabilities."""
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A page to be fitted to, a row for each of its blocks."""

    wanted: Matrix
    """What each row should be, 0 … 1 in each column; nan where nobody knows."""
    weight: Floats
    """How much each row counts."""
    words: Floats
    hits: Floats
    content_words: float
    """For F1; nan where the content is not known."""
    page_weight: float
    """How much the F1 counts."""

    def __len__(self) -> int:
        return len(self.weight)


Numbers = NDArray[np.floating[Any]]
"""Rows as they are kept: some in half precision, to save memory."""
Rows = Callable[[int, np.random.Generator | None], Numbers]
"""The rows of the example of this number: with a generator, one of the forms it may be met in."""


class _Batch(NamedTuple):
    """Examples behind each other, filled up with rows that count nothing."""

    rows: Matrix
    wanted: Matrix
    weight: Matrix
    words: Matrix
    hits: Matrix
    owner: Any
    content: Matrix
    page_weight: Matrix


def fit(
    examples: Sequence[Example], rows: Rows, settings: Fitting, *, is_choice: bool = False
) -> Network:
    """The network that gives `wanted` for the rows, as logits.

    The columns are questions by themselves; with `is_choice` exactly one of them is right.
    UsageError where there is nothing to fit to.
    """
    batches = Batches(examples, rows, settings)
    members = [
        _descend(batches, replace(settings, seed=settings.seed + n), is_choice=is_choice)
        for n in range(settings.members)
    ]
    return network_of(members, batches.scale)


def network_of(members: Sequence[Sequence[Matrix]], scale: tuple[Matrix, Matrix]) -> Network:
    """The mean of networks with these weights and biases, for rows that are not scaled."""
    hidden, hidden_bias, output, output_bias = zip(*members, strict=True)
    return scaled_layer(
        np.concatenate(hidden, axis=1),
        np.concatenate(hidden_bias),
        scale,
        (np.concatenate(output) / len(members)).astype(np.float32),
        np.mean(output_bias, axis=0),
    )


def scaled_layer(
    hidden: Matrix, bias: Matrix, scale: tuple[Matrix, Matrix], output: Matrix, output_bias: Matrix
) -> Network:
    """The network of weights and biases for scaled rows, made for rows as they are."""
    mean, spread = scale
    weights = hidden / spread[:, None]
    weights[spread < _SAME] = 0  # What never differed has taught nothing, and so has no say.
    return Network(
        hidden=weights.astype(np.float32),
        hidden_bias=(bias - mean @ weights).astype(np.float32),
        output=output.astype(np.float32),
        output_bias=output_bias.astype(np.float32),
        floor=(mean - FAR * spread).astype(np.float32),
        ceiling=(mean + FAR * spread).astype(np.float32),
    )


def _scale(count: int, rows: Rows) -> tuple[Matrix, Matrix]:
    """The mean of each column, and how much it differs: of all rows."""
    total, sums, squares = 0, np.zeros(1), np.zeros(1)
    for place in range(count):
        own = rows(place, None).astype(np.float64)
        total, sums, squares = total + len(own), sums + own.sum(0), squares + (own**2).sum(0)
    mean = sums / total
    spread = np.sqrt(np.maximum(squares / total - mean**2, 0)) + 1e-3
    return mean.astype(np.float32), spread.astype(np.float32)


def load_jax() -> tuple[Any, Any]:
    """JAX and Optax."""
    try:
        import jax  # noqa: PLC0415  only training needs them
        import optax  # noqa: PLC0415
    except ImportError as fault:
        raise UsageError(
            "fitting networks needs an extra: pip install 'dehusk-bench[train]'"
        ) from fault
    return jax, optax


class Batches:
    """Examples in batches, in a new order in each epoch, and how their columns are scaled.

    UsageError where there is nothing to fit to.
    """

    def __init__(
        self, examples: Sequence[Example], rows: Rows, settings: Fitting,
        unscaled: Iterable[slice] = (),
    ) -> None:  # fmt: skip
        known = [np.where(np.isnan(each.wanted[:, 0]), 0, each.weight) for each in examples]
        if not any(weight.any() for weight in known):
            raise UsageError("the gold says nothing of any block: there is nothing to train on")
        self.examples, self.rows, self.settings = examples, rows, settings
        self.scale = _scale(len(examples), rows)
        for columns in unscaled:
            self.scale[0][columns], self.scale[1][columns] = 0, 1

    def __call__(self, random: np.random.Generator) -> Iterator[tuple[list[int], Any, Any]]:
        """For all epochs: the examples of a batch, the batch, and the rate of the step."""
        _, optax = load_jax()
        settings, done = self.settings, 0
        steps = settings.epochs * sum(1 for _ in _parts(self.examples, settings.batch, random))
        rate = optax.warmup_cosine_decay_schedule(
            settings.rate / 10, settings.rate, math.ceil(steps / 20), steps + 1, settings.rate / 100
        )
        for _ in range(settings.epochs):
            for part in _parts(self.examples, settings.batch, random):
                yield (
                    part,
                    _batch(self.examples, self.rows, part, settings.batch, random),
                    rate(done),
                )
                done += 1


def start(random: np.random.Generator, shape: tuple[int, int], spread: float) -> Matrix:
    """Weights to begin with."""
    return (random.standard_normal(shape) * spread).astype(np.float32)


def _descend(batches: Batches, settings: Fitting, *, is_choice: bool) -> list[Matrix]:
    """The weights and biases after all epochs."""
    random = np.random.default_rng(settings.seed)
    columns, width = len(batches.scale[0]), settings.width
    outputs = batches.examples[0].wanted.shape[1]
    values = [
        start(random, (columns, width), math.sqrt(2 / columns)),
        np.zeros(width, np.float32),
        start(random, (width, outputs), math.sqrt(1 / width)),
        np.zeros(outputs, np.float32),
    ]
    stepper = _stepper(replace(settings, seed=0, epochs=0), is_choice=is_choice)
    return descend(stepper, values, batches, settings.seed, random)


_MAX_PAGES: Final = 192


def _parts(
    examples: Sequence[Example], most: int, random: np.random.Generator
) -> Iterator[list[int]]:
    """The examples in a new order, so many together as their rows allow."""
    part: list[int] = []
    count = 0
    for place in random.permutation(len(examples)).tolist():
        size = min(len(examples[place]), most)
        if part and (count + size > most or len(part) == _MAX_PAGES):
            yield part
            part, count = [], 0
        part.append(place)
        count += size
    yield part


def _batch(
    examples: Sequence[Example], rows: Rows, part: list[int], size: int, random: np.random.Generator
) -> _Batch:
    """The examples of a part; of one that is too long, its first rows."""
    first = rows(part[0], None)
    batch = _Batch(
        np.zeros((size, first.shape[1]), np.float32),
        np.zeros((size, examples[0].wanted.shape[1]), np.float32),
        np.zeros((size, examples[0].wanted.shape[1]), np.float32),
        np.zeros(size, np.float32),
        np.zeros(size, np.float32),
        np.full(size, _MAX_PAGES - 1, np.int32),
        np.ones(_MAX_PAGES, np.float32),
        np.zeros(_MAX_PAGES, np.float32),
    )
    at = 0
    for number, place in enumerate(part):
        example = examples[place]
        own = slice(at, at + min(len(example), size))
        at, count = own.stop, own.stop - own.start
        wanted = example.wanted[:count]
        is_known = ~np.isnan(wanted)
        batch.rows[own] = rows(place, random)[:count]
        batch.wanted[own] = np.where(is_known, wanted, 0)
        batch.weight[own] = np.where(is_known, example.weight[:count, None], 0)
        batch.owner[own] = number
        if not np.isnan(example.content_words) and count == len(example):
            batch.words[own], batch.hits[own] = example.words, example.hits
            batch.content[number] = example.content_words
            batch.page_weight[number] = example.page_weight
    return batch


class Stepper(NamedTuple):
    """How to descend: where it begins, and a step down the slope of the loss of a batch."""

    begin: Callable[[Any], Any]
    step: Callable[..., tuple[Any, Any]]


def stepper_of(loss: Callable[..., Any], decays: Sequence[float]) -> Stepper:
    """How to descend by Adam, each of the values pulled to 0 so much at each step.

    The loss is that of the values, a key for what is left to chance, and what a step is given.
    """
    jax, optax = load_jax()
    descent = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())

    @jax.jit  # type: ignore[untyped-decorator]
    def step(values: Any, state: Any, key: Any, rate: Any, *given: Any) -> tuple[Any, Any]:
        slopes = jax.grad(loss)(values, key, *given)
        updates, state = descent.update(slopes, state, values)
        found = zip(values, updates, decays, strict=True)
        return [value - rate * (update + decay * value) for value, update, decay in found], state

    return Stepper(descent.init, step)


def descend(
    stepper: Stepper,
    values: list[Matrix],
    batches: Batches,
    seed: int,
    random: np.random.Generator,
    more: Callable[[list[int]], tuple[Any, ...]] = lambda _: (),
) -> list[Matrix]:
    """The values after all epochs; `more` is what a step is given besides the batch."""
    jax, _ = load_jax()
    state, key = stepper.begin(values), jax.random.PRNGKey(seed)
    for part, batch, rate in batches(random):
        key, own = jax.random.split(key)
        given = (batches.scale, batch, *more(part))
        values, state = stepper.step(values, state, own, rate, *given)
    return [np.asarray(value) for value in values]


@lru_cache
def _stepper(settings: Fitting, *, is_choice: bool) -> Stepper:
    """How to fit a network; compiled once."""
    _, optax = load_jax()

    def loss(values: Any, key: Any, scale: tuple[Any, Any], batch: _Batch) -> Any:
        logits = logits_of(values, key, scaled(batch.rows, scale), settings)
        if not is_choice:
            return loss_of(logits, batch, settings)
        return _mean(optax.softmax_cross_entropy(logits, batch.wanted), batch.weight[:, 0])

    return stepper_of(loss, [settings.decay] * 4)


def scaled(rows: Any, scale: tuple[Any, Any]) -> Any:
    """The rows with their columns scaled, and cut where they are far from the mean."""
    mean, spread = scale
    return ((rows - mean) / spread).clip(-FAR, FAR)


def logits_of(values: Sequence[Any], key: Any, inputs: Any, settings: Fitting) -> Any:
    """What a network of these weights and biases says, some of its units dropped."""
    jax, _ = load_jax()
    hidden, hidden_bias, output, output_bias = values
    return dropped(jax.nn.relu(inputs @ hidden + hidden_bias), key, settings) @ output + output_bias


def dropped(active: Any, key: Any, settings: Fitting) -> Any:
    """What units say, without some of them."""
    jax, _ = load_jax()
    kept = jax.random.bernoulli(key, 1 - settings.dropout, active.shape)
    return jax.numpy.where(kept, active / (1 - settings.dropout), 0)


def loss_of(logits: Any, batch: _Batch, settings: Fitting) -> Any:
    """How wrong the logits are, by blocks and by pages."""
    jax, optax = load_jax()
    each = optax.sigmoid_binary_cross_entropy(logits, batch.wanted)
    wrong = settings.by_block * _mean(each, batch.weight).sum()
    if settings.by_page:
        f1 = _page_f1(jax, logits[:, 0], batch)
        wrong += settings.by_page * _mean(1 - f1, batch.page_weight)
    return wrong


def _mean(values: Any, weight: Any) -> Any:
    return (values * weight).sum(axis=0) / weight.sum(axis=0).clip(1e-6)


def _page_f1(jax: Any, logits: Any, batch: _Batch) -> Any:
    """F1 of the words of each page, each block kept as far as it is likely."""
    likely = jax.nn.sigmoid(logits)
    found, given = (
        jax.ops.segment_sum(likely * each, batch.owner, _MAX_PAGES)
        for each in (batch.hits, batch.words)
    )
    return (2 * found + _HALF) / (batch.content + given + _HALF)
