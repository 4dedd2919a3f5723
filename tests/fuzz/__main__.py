"""`python tests/fuzz`: a run as long as one likes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import fuzz


def main() -> int:
    """Build, run, and say what came of it; 1 where anything was found."""
    parser = argparse.ArgumentParser(description=fuzz.__doc__)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="where inputs are kept that meet something new")
    parser.add_argument("--finds", type=Path, default=Path("fuzz-finds"))
    arguments = parser.parse_args()
    arguments.finds.mkdir(parents=True, exist_ok=True)
    ran = fuzz.run(
        fuzz.build(arguments.finds),
        arguments.finds.resolve(),
        arguments.seconds,
        arguments.corpus and arguments.corpus.resolve(),
        arguments.seed,
    )
    share = ran.edges / max(ran.all_edges, 1)
    sys.stdout.write(
        f"{ran.executions:,} inputs, {ran.edges:,} of {ran.all_edges:,} edges ({share:.0%})\n"
    )
    if ran.status:
        sys.stderr.write(ran.said)
    return 1 if ran.status else 0


if __name__ == "__main__":
    sys.exit(main())
