"""A network with one hidden layer, fitted to rows with weights, the same on every run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dehusk.errors import UsageError
from dehusk.methods.auto.model import Matrix, Network

_SAME = 1.001e-3
_FAR = 6.0
"""Standard deviations from the mean at which inputs are cut."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """How a network is fitted: Adam, rate falling to nothing, dropout, weights pulled to 0."""

    members: int = 2
    """Networks that are fitted from different starts; their mean is one wider network."""
    width: int = 32
    epochs: int = 12
    batch: int = 2048
    rate: float = 3e-3
    decay: float = 1e-3
    dropout: float = 0.15
    """With twice the dropout and thirty times the decay the site network gained 0.006 on held-out
    sites of news-dev, and lost 0.007 of the values of swde-dev and 0.001 on the samples; with other
    weights of the corpora it lost on docs-dev and news-dev too. No clear gain, so the lesser."""
    seed: int = 0


def fit(
    rows: Matrix,
    wanted: Matrix,
    weight: Matrix,
    settings: Fitting,
    *,
    is_choice: bool = False,
) -> Network:
    """The network that gives `wanted` (0 … 1 in each column) for the rows, as logits.

    The columns are questions by themselves; with `is_choice` exactly one of them is right.
    UsageError where there is nothing to fit to.
    """
    if not weight.any():
        raise UsageError("the gold says nothing of any block: there is nothing to train on")
    mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    spread = rows.std(axis=0, dtype=np.float64).astype(np.float32) + np.float32(1e-3)
    inputs = np.clip((rows - mean) / spread, -_FAR, _FAR).astype(np.float32)
    weight = weight / weight.mean()
    members = [
        _descend(
            inputs, wanted, weight, replace(settings, seed=settings.seed + n), is_choice=is_choice
        )
        for n in range(settings.members)
    ]
    hidden, hidden_bias, output, output_bias = zip(*members, strict=True)
    scaled = np.concatenate(hidden, axis=1) / spread[:, None]
    scaled[spread < _SAME] = 0  # What never differed has taught nothing, and so has no say.
    return Network(
        hidden=scaled.astype(np.float32),
        hidden_bias=(np.concatenate(hidden_bias) - mean @ scaled).astype(np.float32),
        output=(np.concatenate(output) / settings.members).astype(np.float32),
        output_bias=np.mean(output_bias, axis=0).astype(np.float32),
        floor=(mean - _FAR * spread).astype(np.float32),
        ceiling=(mean + _FAR * spread).astype(np.float32),
    )


def _descend(
    inputs: Matrix, wanted: Matrix, weight: Matrix, settings: Fitting, *, is_choice: bool
) -> list[Matrix]:
    """The weights and biases after all epochs."""
    random = np.random.default_rng(settings.seed)
    columns, width, outputs = inputs.shape[1], settings.width, wanted.shape[1]
    values = [
        (random.standard_normal((columns, width)) * np.sqrt(2 / columns)).astype(np.float32),
        np.zeros(width, np.float32),
        (random.standard_normal((width, outputs)) * np.sqrt(1 / width)).astype(np.float32),
        np.zeros(outputs, np.float32),
    ]
    # One very heavy row must not decide a batch.
    weight = np.minimum(weight, 20.0).astype(np.float32)[:, None]
    batches = max(len(inputs) // settings.batch, 1)
    adam = _Adam(values, settings, settings.epochs * batches)
    for _ in range(settings.epochs):
        order = random.permutation(len(inputs))
        for batch in np.array_split(order, batches):
            slopes = _slopes(
                values, inputs[batch], wanted[batch], weight[batch], random, settings.dropout,
                is_choice=is_choice,
            )  # fmt: skip
            values = adam.step(values, slopes)
    return values


def _slopes(
    values: list[Matrix],
    inputs: Matrix,
    wanted: Matrix,
    weight: Matrix,
    random: np.random.Generator,
    dropout: float,
    *,
    is_choice: bool,
) -> list[Matrix]:
    """How the loss (cross-entropy) of a batch grows with each weight and bias."""
    hidden, hidden_bias, output, output_bias = values
    # Half as many inputs as hidden units are left out, the same for the whole batch.
    inputs = inputs * (random.random(inputs.shape[1], np.float32) > dropout / 2)
    before = inputs @ hidden + hidden_bias
    kept = (random.random(before.shape, np.float32) > dropout) / np.float32(1 - dropout)
    active = np.maximum(before, 0) * kept
    logits = np.clip(active @ output + output_bias, -30, 30)
    if is_choice:
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        given = shares / shares.sum(axis=1, keepdims=True)
    else:
        given = 1 / (1 + np.exp(-logits))
    error = (given - wanted) * weight / np.float32(len(inputs))
    back = (error @ output.T) * (before > 0) * kept
    return [inputs.T @ back, back.sum(axis=0), active.T @ error, error.sum(axis=0)]


class _Adam:
    """Steps down the slopes (Kingma and Ba, 2015), with weights pulled to 0 apart from them."""

    def __init__(self, values: list[Matrix], settings: Fitting, steps: int) -> None:
        self._settings, self._steps, self._step = settings, steps, 0
        self._mean = [np.zeros_like(value) for value in values]
        self._square = [np.zeros_like(value) for value in values]

    def step(self, values: list[Matrix], slopes: list[Matrix]) -> list[Matrix]:
        """The weights and biases after one more step."""
        self._step += 1
        rate = self._settings.rate * (1 - self._step / self._steps) + 1e-5
        stepped: list[Matrix] = []
        for place, (value, slope) in enumerate(zip(values, slopes, strict=True)):
            mean = self._mean[place] = 0.9 * self._mean[place] + 0.1 * slope
            square = self._square[place] = 0.999 * self._square[place] + 0.001 * slope**2
            size = mean / (1 - 0.9**self._step)
            spread = np.sqrt(square / (1 - 0.999**self._step)) + 1e-8
            pull = self._settings.decay * value if value.ndim > 1 else 0.0
            stepped.append((value - rate * (size / spread + pull)).astype(np.float32))
        return stepped
