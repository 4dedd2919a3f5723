"""What the tests that compare memories share."""

from __future__ import annotations

import json
from pathlib import Path

from dehusk.memory.upkeep import export_lines


def contents(path: Path) -> list[dict[str, object]]:
    """All that a memory holds, but for when it was put there, and in which order on shelves."""
    lines = [json.loads(line) for line in export_lines(path)]
    return [line | {"changed": 0, "shelves": sorted(line.get("shelves", []))} for line in lines]
