"""One run of `dehusk`, which says at its end what it took: CPU time, and memory at its highest.

    python -m dehusk_bench.scale_run FILE clean SOURCE --jobs 2 …

writes a line of JSON to FILE.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path


def _figures(who: int) -> tuple[float, int]:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def run(arguments: list[str]) -> int:
    """Run the command, and write down what it took."""
    # As the workers have it, so that both are measured alike.
    from dehusk.doors.cli import main  # noqa: PLC0415

    began = time.monotonic()
    status = main(arguments[1:])
    own, others = _figures(resource.RUSAGE_SELF), _figures(resource.RUSAGE_CHILDREN)
    taken = {
        "wall_s": time.monotonic() - began,
        "reader_s": own[0],
        "workers_s": others[0],
        "reader_bytes": own[1],
        "worker_bytes": others[1],
    }
    Path(arguments[0]).write_text(json.dumps(taken), "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
