"""The networks of `auto`, the words that tell it something, and the plain file they come in."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import replace
from numpy.typing import NDArray

from dehusk import _kernel
from dehusk.errors import SettingError
from dehusk.methods.auto.features import (
    PAGE_FEATURES,
    SITE_FEATURES,
    Feature,
    columns_by_name,
    width,
)
from dehusk.page.tree import Floats, Tree
from dehusk.settings import PageType

Matrix = NDArray[np.float32]

_VERSION: Final = 8
_MAX_UNITS: Final = 512
"""Hidden units that the kernel has room for."""
_TYPES: Final = columns_by_name(SITE_FEATURES)["opinion.types"]
_TYPE_COUNT: Final = _TYPES.stop - _TYPES.start
_SHIPPED: Final = Path(__file__).with_name("model.json")


class Network(Struct, frozen=True, eq=False, dict=True):
    """One hidden layer: numbers in, one number out per row and output."""

    hidden: Matrix
    hidden_bias: Matrix
    output: Matrix
    output_bias: Matrix
    floor: Matrix
    ceiling: Matrix
    """Inputs are cut to what training saw: a hostile page gets no further than an odd one."""

    @cached_property
    def kernel(self) -> _kernel.Network:
        """The network as the kernel's functions take it."""
        return _kernel.Network(
            self.hidden, self.hidden_bias, self.output, self.output_bias, self.floor, self.ceiling
        )

    def __call__(self, rows: Matrix) -> Floats:
        """The outputs for each row."""
        outputs = np.frombuffer(self.kernel.outputs(np.ascontiguousarray(rows)))
        return outputs.reshape(len(rows), len(self.output_bias))


Numbers = Mapping[str, Sequence[float]]
"""By word, what it tells."""


class Lexicon(Struct, frozen=True, eq=False, dict=True):
    """Words that tell something: in the names of elements, and in short texts."""

    names: Numbers
    texts: Numbers

    @cached_property
    def kernel(self) -> _kernel.Lexicon:
        """The words as the kernel takes them; ValueError where a word has not as many numbers."""
        return _kernel.Lexicon(
            names=_lines(self.names),
            name_numbers=_rows(self.names),
            texts=_lines(self.texts),
            text_numbers=_rows(self.texts),
        )


def _packed(numbers: Numbers) -> Numbers:
    """The same in half of the memory: lists of Python's numbers take 200 bytes a word."""
    return {word: array("f", row) for word, row in numbers.items()}


def _lines(numbers: Numbers) -> bytes:
    lines = "\n".join((*numbers, ""))
    if lines.count("\n") != len(numbers):
        raise ValueError
    return lines.encode()


def _rows(numbers: Numbers) -> Matrix:
    # One after another: numpy takes three times as long to look into each row.
    rows = np.array([*chain.from_iterable(numbers.values())], np.float32)
    if not np.isfinite(rows).all() or len({*map(len, numbers.values())}) > 1:
        raise ValueError
    return rows


class Model(Struct, frozen=True, eq=False):
    """What was learned from pages with gold: a network for each question."""

    lexicon: Lexicon

    page: Network
    """How much of content a block looks like, as a logit."""
    type: Network
    """How much the page is of each of `types`, as logits."""
    site: Network
    """What a block tells the blocks before and behind it, given what the site says of it."""
    context: Network
    """How much of content a block is, and how much of comments, given what all blocks of the page
    tell, as logits."""
    confidence: Network
    """The F1 of words to be expected of the page's text, as a logit."""
    types: tuple[str, ...]

    def read(self, tree: Tree) -> _kernel.Reading:
        """The page as `auto` reads it: its blocks, their features, and their keys in the memory."""
        return _kernel.read(tree.kernel, self.lexicon.kernel)


@lru_cache(maxsize=16)
def load_model(path: str | None = None) -> Model:
    """The model in a file, or the one that comes with dehusk; SettingError for any other file."""
    source = _SHIPPED if path is None else Path(path)
    try:
        # A quarter of the time of the standard library, with the same numbers.
        return _read(decode(source.read_bytes()))
    except OSError as fault:
        raise SettingError(f"auto: model {source}: {fault.strerror}") from fault
    except (
        ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError,
    ) as fault:  # fmt: skip
        raise SettingError(f"auto: {source} is not a model of this version") from fault


def save_model(model: Model, path: Path) -> None:
    """Write the model as JSON, numbers with five digits, one line for each array."""
    written: dict[str, Any] = {"version": _VERSION, "types": list(model.types)}
    for name in ("page", "type", "site", "context", "confidence"):
        network: Network = getattr(model, name)
        written[name] = {
            field: [_rounded(row) for row in getattr(network, field)]
            for field in ("hidden", "hidden_bias", "output", "output_bias", "floor", "ceiling")
        }
    written["lexicon"] = {
        field: {word: _rounded(row) for word, row in getattr(model.lexicon, field).items()}
        for field in ("names", "texts")
    }
    text = json.dumps(written, separators=(",", ":"), ensure_ascii=False).replace('],"', '],\n"')
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
    page = _network(written["page"], width(PAGE_FEATURES), 1)
    kind = _network(written["type"], 2 * width(PAGE_FEATURES), _TYPE_COUNT)
    context = _network(written["context"], None, 2)
    site = _network(written["site"], width(SITE_FEATURES), None)
    confidence = _network(written["confidence"], _kernel.CONFIDENCE_FEATURES, 1)
    read, given = len(context.floor), len(site.output_bias)
    carried, rest = divmod(given - read, 2)
    if carried < 0 or rest or 2 * carried > read:
        raise ValueError
    types = tuple(map(str, written["types"]))
    if sorted(types) != sorted(PageType):
        raise ValueError
    lexicon = Lexicon(**{name: _packed(words) for name, words in written["lexicon"].items()})
    lexicon.kernel  # noqa: B018  What does not fit together is found now.
    return Model(
        lexicon=lexicon,
        page=capped(page, PAGE_FEATURES),
        type=kind,
        site=capped(site, SITE_FEATURES),
        context=context,
        confidence=confidence,
        types=types,
    )


def capped(network: Network, features: Sequence[Feature]) -> Network:
    """The network with its inputs cut at the `most` of its features."""
    ceiling = network.ceiling.copy()
    for feature in features:
        if feature.most:
            own = feature.columns
            ceiling[own] = np.minimum(ceiling[own], np.log1p(feature.most))
    return replace(network, ceiling=ceiling)


def _network(
    arrays: Mapping[str, Sequence[Any]], inputs: int | None, outputs: int | None
) -> Network:
    """The network of these arrays, which must fit together. Raises ValueError."""
    network = Network(**{name: np.asarray(rows, np.float32) for name, rows in arrays.items()})
    units = len(network.hidden_bias)
    inputs = len(network.floor) if inputs is None else inputs
    outputs = len(network.output_bias) if outputs is None else outputs
    shapes = (
        max(units, outputs) <= _MAX_UNITS,
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
