"""Rounds of an experiment: each from a seed of its own, counted, and gone on with after a break."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

Outcome = tuple[str, str]
"""What a round came to in a word, and what is wrong; nothing where all is well."""
Round = Callable[[random.Random, int], Outcome]
_SAVED_S: Final = 2.0
_MAX_WRONG: Final = 20
"""Wrong rounds whose words are kept."""


@dataclass(slots=True)
class Tally:
    """What rounds have come to."""

    rounds: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    wrong: int = 0
    said: list[str] = field(default_factory=list)
    """What was wrong, of the first ones."""


class Rounds:
    """Runs rounds; with a file, goes on from where an earlier run came to."""

    def __init__(self, seed: int, file: Path | None = None) -> None:
        self._seed = seed
        self._file = file
        self._tallies: dict[str, Tally] = {}
        if file is not None and file.exists():
            for name, saved in json.loads(file.read_text(encoding="utf-8")).items():
                self._tallies[name] = Tally(**saved)

    def run(self, name: str, count: int, one: Round) -> Tally:
        """The tally of so many rounds, those of earlier runs included, and a line about it."""
        tally = self._tallies.setdefault(f"{name} {self._seed}", Tally())
        saved = time.monotonic()
        while tally.rounds < count:
            dice = random.Random(f"{self._seed} {name} {tally.rounds}")  # noqa: S311  no secrets
            outcome, wrong = one(dice, tally.rounds)
            if wrong:
                tally.wrong += 1
                tally.said += [f"round {tally.rounds}: {wrong}"][: _MAX_WRONG - len(tally.said)]
            tally.outcomes[outcome] = tally.outcomes.get(outcome, 0) + 1
            tally.rounds += 1
            if time.monotonic() - saved > _SAVED_S:
                self._save()
                saved = time.monotonic()
        self._save()
        outcomes = ", ".join(f"{word}: {count:,}" for word, count in sorted(tally.outcomes.items()))
        sys.stdout.write(f"{name}: {tally.rounds:,} rounds ({outcomes}); wrong: {tally.wrong:,}\n")
        sys.stdout.write("".join(f"  {said}\n" for said in tally.said))
        sys.stdout.flush()
        return tally

    def _save(self) -> None:
        if self._file is not None:
            part = self._file.with_name(f"{self._file.name}-new")
            tallies = {name: asdict(tally) for name, tally in self._tallies.items()}
            part.write_text(json.dumps(tallies, indent=1), encoding="utf-8")
            part.replace(self._file)
