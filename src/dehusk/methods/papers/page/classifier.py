"""The page model: four logistic regressions, one for each range of node areas, in a plain file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from dehusk.errors import SettingError
from dehusk.methods.papers.page.features import NAMES
from dehusk.page.tree import Flags, Floats

FORMAT: Final = "dehusk-page-model"
VERSION: Final = 1
_SHIPPED: Final = "model.json"
_MAX_BYTES: Final = 1_000_000
"""A model has 8 kB; a file above this is something else."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A logistic regression for each range of areas: the first one also judges smaller nodes."""

    bounds: tuple[float, ...]
    """The areas, in square pixels, at which the second and further regressions take over."""
    weights: Floats
    """By range and feature."""
    biases: Floats
    """By range."""
    origin: Mapping[str, object] = field(default_factory=dict)
    """What the model was trained on, and how well it did."""

    def scores(self, columns: Iterable[Floats], area: Floats) -> Floats:
        """The probability of each node to be template, by the regression for its area."""
        band = np.searchsorted(self.bounds, area, side="right")
        odds = self.biases[band]
        for weights, column in zip(self.weights.T, columns, strict=True):
            odds += weights[band] * column
        result: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        return result

    def dump(self) -> str:
        """The model as JSON that `read_model` reads."""
        bands = [
            {"bias": round(bias, 5), "weights": dict(zip(NAMES, np.round(row, 5), strict=True))}
            for bias, row in zip(self.biases.tolist(), self.weights.tolist(), strict=True)
        ]
        written = {
            "format": FORMAT,
            "version": VERSION,
            "trained_on": self.origin,
            "area_bounds": [round(bound, 1) for bound in self.bounds],
            "bands": bands,
        }
        return json.dumps(written, indent=1) + "\n"


@cache
def read_model(path: str) -> Model:
    """The model in the file; the one that ships with dehusk for an empty path.

    Raises SettingError for a file that cannot be read or is no model of this version.
    """
    name = path or _SHIPPED
    try:
        if path:
            with Path(path).open("rb") as stream:
                data = stream.read(_MAX_BYTES + 1)
        else:
            data = files(__package__).joinpath(_SHIPPED).read_bytes()
        if len(data) > _MAX_BYTES:
            raise ValueError("it is too large")
        written = json.loads(data)
        return _read(written)
    except OSError as fault:
        raise SettingError(f"page: cannot read the model {name}: {fault.strerror}") from fault
    except (ValueError, TypeError, KeyError, RecursionError) as fault:
        raise SettingError(f"page: {name} is no page model of version {VERSION}: {fault}") from None


def _read(written: object) -> Model:
    """The model that the JSON stands for. Raises ValueError, TypeError or KeyError."""
    match written:
        case {"format": str(kind), "version": version} if (kind, version) != (FORMAT, VERSION):
            raise ValueError(f"it says {kind}, version {version}")
        case {"format": _, "version": _, "area_bounds": list(bounds), "bands": list(bands), **rest}:
            weights = np.array([[float(band["weights"][n]) for n in NAMES] for band in bands])
            biases = np.array([float(band["bias"]) for band in bands])
            areas = tuple(map(float, bounds))
            origin = rest.get("trained_on", {})
            if not _is_sound(areas, weights, biases) or not isinstance(origin, dict):
                raise ValueError("its numbers do not fit together")
            return Model(areas, weights, biases, origin)
    raise ValueError("its fields are others")


def _is_sound(bounds: Sequence[float], weights: Floats, biases: Floats) -> bool:
    """Is there one regression more than bounds, these rise, and all numbers are finite?"""
    is_finite: Flags = np.isfinite([weights.sum(), biases.sum(), *bounds])
    rises = all(low < high for low, high in pairwise(bounds))
    return len(weights) == len(bounds) + 1 and bool(is_finite.all()) and rises
