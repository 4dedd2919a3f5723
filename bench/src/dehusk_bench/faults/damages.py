"""Files with damaged bytes: what they give is what was written, or an error that says so."""

from __future__ import annotations

import gzip
import random
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

import dehusk
from dehusk.errors import DehuskError
from dehusk.memory import dump, upkeep
from dehusk_bench.faults.rounds import Outcome, Rounds
from dehusk_bench.speed.archives import records

_NAMES: Final = [f"s{number}.example" for number in range(8)]
_PAGES: Final = 14
_ARCHIVED: Final = 40
_ZEROED: Final = (16, 512, 4096, 20_000)


def damaged(whole: bytes, dice: random.Random) -> bytes:
    """The bytes with some of them flipped, cut off or zeroed."""
    data = bytearray(whole)
    kind = dice.randrange(3)
    if kind == 0:
        for _ in range(dice.choice((1, 1, 8, 100))):
            data[dice.randrange(len(data))] ^= dice.randrange(1, 256)
    elif kind == 1:
        del data[dice.randrange(len(data)) :]
    else:
        start, length = dice.randrange(len(data)), dice.choice(_ZEROED)
        data[start : start + length] = bytes(len(data[start : start + length]))
    return bytes(data)


def run_damages(rounds: Rounds, count: int) -> int:
    """Damage a memory so often; how many times something wrong was served."""
    with tempfile.TemporaryDirectory() as folder:
        whole, file = Path(folder) / "whole.husk", Path(folder) / "a.husk"
        _make_memory(whole)
        told, data = _told(whole), whole.read_bytes()

        def one(dice: random.Random, _: int) -> Outcome:
            file.write_bytes(damaged(data, dice))
            try:
                found = upkeep.check_store(file).findings
                outcome = "found" if found else "harmless"
            except DehuskError:
                outcome = "refused"
            except Exception as fault:  # noqa: BLE001  what nobody foresaw is what is looked for
                return "fault", f"check: {type(fault).__name__}: {fault}"
            try:
                served = _told(file)
            except Exception as fault:  # noqa: BLE001  the same
                return "fault", f"reading: {type(fault).__name__}: {fault}"
            wrong = [key for key, value in served.items() if value != told[key]]
            if outcome == "harmless" and served != told:
                return outcome, "check found nothing, but something is missing"
            return outcome, f"served wrong: {wrong[0]}" if wrong else ""

        return rounds.run("damages", count, one).wrong


def _make_memory(file: Path) -> None:
    """A memory of some sites, with rules."""
    with dehusk.open(file) as memory:
        for number in range(_PAGES):
            for name in _NAMES:
                words = "".join(f"<p>{name} {number} {line}</p>" for line in range(20))
                memory.add(f"<nav>Home</nav>{words}", f"https://{name}/{number}")
        for name in _NAMES:
            memory.add_rule(name, "drop", "nav")
            memory.add_rule(name, "keep", f"#{name[:2]}")


def _told(file: Path) -> dict[tuple[str, str], object]:
    """What a memory says of each site, as far as it says anything."""
    told: dict[tuple[str, str], object] = {}
    try:
        memory = dehusk.open(file, reads_only=True)
    except DehuskError:
        return told
    with memory:
        for name in _NAMES:
            with suppress(DehuskError):
                told["rules", name] = memory.rules(name)
            with suppress(DehuskError):
                told["memory", name] = dump(memory.memory(name), memory.method.name, site=name)
    return told


def run_archives(rounds: Rounds, count: int) -> int:
    """Damage a packed web archive so often; how many times a page came out that was not in it."""
    with tempfile.TemporaryDirectory() as folder:
        whole, file = Path(folder) / "whole.warc.gz", Path(folder) / "a.warc.gz"
        _make_archive(whole)
        data = whole.read_bytes()
        pages = {(page.url, page.html) for page in dehusk.read(whole)}
        assert len(pages) == _ARCHIVED

        def one(dice: random.Random, _: int) -> Outcome:
            file.write_bytes(damaged(data, dice))
            failures: list[object] = []
            try:
                read = {(p.url, p.html) for p in dehusk.read(file, failed=failures.append)}
            except DehuskError:
                return "refused", ""
            except Exception as fault:  # noqa: BLE001  what nobody foresaw is what is looked for
                return "fault", f"{type(fault).__name__}: {fault}"
            if read - pages:
                return "read", "a page came out that was never written"
            if len(read) < len(pages) and not failures:
                return "read", f"{len(pages) - len(read)} pages are missing in silence"
            return ("whole" if len(read) == len(pages) else "read in part"), ""

        return rounds.run("archives", count, one).wrong


def _make_archive(file: Path) -> None:
    """A web archive of some pages, each record packed by itself."""
    file.write_bytes(b"".join(gzip.compress(record, mtime=0) for record in records(_ARCHIVED)))
