"""The three small networks of `auto`, and the plain file they come in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dehusk.errors import SettingError
from dehusk.kernel import KERNEL
from dehusk.methods.auto.columns import Matrix, width
from dehusk.methods.auto.looks import COLUMNS as LOOKS
from dehusk.methods.auto.looks import HIGHEST
from dehusk.methods.auto.weighing import COLUMNS as SITE
from dehusk.page.tree import Floats

Weights = NDArray[np.float32]

_VERSION: Final = 4
_MAX_UNITS: Final = 512
"""Hidden units that the kernel has room for."""
_SHIPPED: Final = Path(__file__).with_name("model.json")


@dataclass(frozen=True, eq=False)
class Network:
    """One hidden layer: numbers in, one number out per row and output."""

    hidden: Weights
    hidden_bias: Weights
    output: Weights
    output_bias: Weights
    floor: Weights
    ceiling: Weights
    """Inputs are cut to what training saw: a hostile page gets no further than an odd one."""

    @cached_property
    def arrays(self) -> tuple[bytes, ...]:
        """All of it, as the kernel takes it. As bytes: of arrays Python takes longer to show."""
        arrays = (
            self.hidden, self.hidden_bias, self.output, self.output_bias, self.floor, self.ceiling
        )  # fmt: skip
        return tuple(array.tobytes() for array in arrays)

    def __call__(self, rows: Matrix) -> Floats:
        """The outputs for each row."""
        if KERNEL is not None:
            memory = KERNEL.network(np.ascontiguousarray(rows), *self.arrays)
            return np.frombuffer(memory, np.float64).reshape(len(rows), len(self.output_bias))
        inputs = np.clip(rows, self.floor, self.ceiling)
        active = np.maximum(_products(inputs, self.hidden, self.hidden_bias), 0)
        return np.asarray(_products(active, self.output, self.output_bias), np.float64)


def _products(inputs: Matrix, weights: Weights, bias: Weights) -> Matrix:
    """Inputs times weights, added to the bias one input after another.

    A product of matrices would add them up in an order of its own, which differs from machine to
    machine; so the compiled kernel could not give the same bytes.
    """
    total = np.repeat(bias[None], len(inputs), axis=0)
    for place in np.flatnonzero(inputs.any(axis=0)).tolist():
        total += inputs[:, place, None] * weights[place]
    return total


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What was learned from pages with gold: a network for each question."""

    page: Network
    """How much of content a block looks like, as a logit."""
    site: Network
    """The same, given what the site says."""
    type: Network
    """How much the page is of each of `types`, as logits."""
    types: tuple[str, ...]


@lru_cache(maxsize=16)
def load_model(path: str | None = None) -> Model:
    """The model in a file, or the one that comes with dehusk; SettingError for any other file."""
    source = _SHIPPED if path is None else Path(path)
    try:
        written = json.loads(source.read_text("utf-8"))
        return _read(written)
    except OSError as fault:
        raise SettingError(f"auto: model {source}: {fault.strerror}") from fault
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise SettingError(f"auto: model {source} is no model of this version") from fault


def save_model(model: Model, path: Path) -> None:
    """Write the model as JSON, numbers with five digits, one line for each array."""
    written: dict[str, Any] = {"version": _VERSION, "types": list(model.types)}
    for name in ("page", "site", "type"):
        network: Network = getattr(model, name)
        written[name] = {
            field: [_rounded(row) for row in getattr(network, field)]
            for field in ("hidden", "hidden_bias", "output", "output_bias", "floor", "ceiling")
        }
    text = json.dumps(written, separators=(",", ":")).replace('],"', '],\n"')
    path.write_text(text + "\n", "utf-8")


def _rounded(value: Any) -> Any:
    """The number, or the row of numbers, with five digits."""
    if np.ndim(value):
        return [_rounded(each) for each in value]
    return float(f"{float(value):.5g}")


def _read(written: Mapping[str, Any]) -> Model:
    """The model that the file says. Raises ValueError, TypeError or KeyError."""
    if written["version"] != _VERSION:
        raise ValueError
    page = _network(written["page"], width(LOOKS), 1)
    site = _network(written["site"], width(SITE), 1)
    page, site = capped(page, LOOKS), capped(site, SITE)
    types = tuple(map(str, written["types"]))
    return Model(page, site, _network(written["type"], 2 * width(LOOKS), len(types)), types)


def capped(network: Network, columns: Mapping[str, slice]) -> Network:
    """The network with its inputs cut at `looks.HIGHEST`, as far as it has these columns."""
    ceiling = network.ceiling.copy()
    for part in HIGHEST.keys() & columns.keys():
        for place, value in HIGHEST[part].items():
            column = columns[part].start + place
            ceiling[column] = min(ceiling[column], value)
    return replace(network, ceiling=ceiling)


def _network(arrays: Mapping[str, Sequence[Any]], inputs: int, outputs: int) -> Network:
    """The network of these arrays, which must fit together. Raises ValueError."""
    network = Network(**{name: np.asarray(rows, np.float32) for name, rows in arrays.items()})
    units = len(network.hidden_bias)
    shapes = (
        units <= _MAX_UNITS,
        network.hidden.shape == (inputs, units),
        network.hidden_bias.shape == (units,),
        network.output.shape == (units, outputs),
        network.output_bias.shape == (outputs,),
        network.floor.shape == network.ceiling.shape == (inputs,),
        all(np.isfinite(getattr(network, name)).all() for name in arrays),
    )
    if not all(shapes):
        raise ValueError
    return network
