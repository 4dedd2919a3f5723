"""`dehusk bench faults`: what dehusk survives."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.faults import shim
from dehusk_bench.faults.damages import run_archives, run_damages
from dehusk_bench.faults.disturbed import run_errors, run_kills, run_memory
from dehusk_bench.faults.power import run_power
from dehusk_bench.faults.rounds import Rounds
from dehusk_bench.faults.scenes import SCENES
from dehusk_bench.faults.soak import run_soak
from dehusk_bench.options import positive

DESCRIPTION: Final = (
    "Disturb what writes memories and files, again and again, and verify what is left each time:"
    " nothing lost, nothing counted twice, nobody locked out, no damage served in silence. Rounds"
    " come from a seed; with --state a run goes on from where the last one came to."
)

_DISTURBED: Final[dict[str, tuple[str, Callable[[Rounds, int, Sequence[str]], int]]]] = {
    "kills": ("kill a process at any call to its files, some in the middle of a write", run_kills),
    "power": ("cut the power: writes that were not synced are lost, torn or reordered", run_power),
    "errors": ("have call after call fail, as on a bad and on a full disk", run_errors),
    "memory": ("refuse a process one allocation of memory", run_memory),
}
_DAMAGED: Final[dict[str, tuple[str, Callable[[Rounds, int], int]]]] = {
    "damages": ("flip, cut and zero bytes of memories", run_damages),
    "archives": ("flip, cut and zero bytes of web archives", run_archives),
}
_SOAK: Final = "soak"
_NAMES: Final = (*_DISTURBED, *_DAMAGED, _SOAK)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser the options."""
    told = {
        **_DISTURBED,
        **_DAMAGED,
        _SOAK: ("learn many pages of many sites, and time them", None),
    }
    parser.add_argument(
        "names",
        nargs="+",
        choices=_NAMES,
        metavar="NAME",
        help="; ".join(f"{name}: {meaning[0]}" for name, meaning in told.items()),
    )
    parser.add_argument(
        "--scene",
        dest="scenes",
        action="append",
        choices=list(SCENES),
        metavar="NAME",
        help=f"what is disturbed: {', '.join(SCENES)}; may be repeated (default: all)",
    )
    figures = {
        "--rounds": (100, "rounds of each experiment and scene"),
        "--sites": (50, "sites of the soak"),
        "--pages": (2000, "pages of the soak"),
    }
    for option, (default, meaning) in figures.items():
        parser.add_argument(
            option,
            type=positive,
            default=default,
            metavar="N",
            help=f"{meaning} (default: %(default)s)",
        )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the rounds")
    parser.add_argument(
        "--state", metavar="FILE", help="where the rounds are counted that are done"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the experiments and print what came of them; 1 if anything went wrong."""
    if not shim.is_loaded() and any(name in _DISTURBED for name in arguments.names):
        return shim.run_with_shim(_words(arguments))
    rounds = Rounds(arguments.seed, Path(arguments.state) if arguments.state else None)
    scenes = arguments.scenes or list(SCENES)
    wrong = 0
    for name in arguments.names:
        if name in _DISTURBED:
            wrong += _DISTURBED[name][1](rounds, arguments.rounds, scenes)
        elif name in _DAMAGED:
            wrong += _DAMAGED[name][1](rounds, arguments.rounds)
        else:
            if arguments.pages < arguments.sites:
                raise UsageError("a soak has at least a page of each site")
            wrong += run_soak(arguments.sites, arguments.pages)
    return 1 if wrong else 0


def _words(arguments: argparse.Namespace) -> list[str]:
    """The command line again, for a process with the shim."""
    words = ["bench", "faults", *arguments.names]
    for option in ("rounds", "sites", "pages", "seed", "state"):
        value = getattr(arguments, option)
        if value is not None:
            words += [f"--{option}", str(value)]
    for scene in arguments.scenes or ():
        words += ["--scene", scene]
    return words
