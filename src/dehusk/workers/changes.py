"""What a crawl has found other than the crawl before it: pages new, changed, moved and gone.

All is told at the end, out of the state of the crawl: what one page says is compared with what it
said, and judged by what the whole site did. So a crawl that was cut off tells nothing wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.json import encode

from dehusk.answer.labels import Label
from dehusk.answer.result import Result
from dehusk.answer.text import visible_lengths
from dehusk.output import Format, Shape
from dehusk.output.whole import write_whole
from dehusk.page.hashing import digest
from dehusk.sources.crawl.crawler import Crawl
from dehusk.sources.crawl.frontier import key_of
from dehusk.sources.crawl.scope import LeftOut
from dehusk.sources.crawl.state import AGAIN, BUSY, GONE, PAGE, REDIRECT, UNLINKED, State

Unit = TypeVar("Unit", str, bytes)

SCHEMA: Final = """
create table if not exists crawl_written (
    number integer primary key, url text, site text, file text, texts blob, earlier blob,
    blocks text, gone integer default 0, is_pruned integer default 0, unique (url, site)
)"""
"""The pages written. `texts`: what `texts_of` gives; `earlier`: what it gave in the crawl before.
`blocks`: those added and removed. `gone`: 1 since this crawl, 2 for longer."""
_HASH: Final = 6
_MIN_ALIKE: Final = 3
"""Pages on which a text must come or go before it is a part of the template, if they are also
more than half of the site's. Two pages are often edited alike."""
_MAX_ALIKE: Final = 8
"""Gone pages that are compared by one text: pages that moved have others that tell them apart."""
_CUT: Final = (LeftOut.TOO_DEEP, LeftOut.FULL)
_ELSEWHERE: Final = (LeftOut.NOINDEX, LeftOut.TDM, LeftOut.CANONICAL, LeftOut.KNOWN)
_NOT_LINKED: Final = "no longer linked"
_THERE: Final = "there"


class Kind(StrEnum):
    """What became of a page."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"


class Change(Struct, frozen=True):
    """What became of one page, as a line of JSON says it. All fields are always there."""

    change: Kind
    url: str
    site: str
    previous_url: str | None = None
    """Where the content of a page that moved was."""
    reason: str | None = None
    """Why a page is gone."""
    added: Sequence[str] | None = None
    """Blocks that a changed page has now; None where its last output is not there."""
    removed: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What a crawl has found other than before, and why it does not know more."""

    pages: Sequence[Change]
    known: int
    """Pages that were there before."""
    doubt: str
    """Why not every page that is gone is known to be; empty after a full crawl."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many pages are new, changed, moved and gone."""
        found = Counter(str(change.change) for change in self.pages)
        return {str(kind): found[kind] for kind in Kind}

    def write(self, path: Path) -> None:
        """Write a JSON line for each page, all at once."""
        write_whole(path, b"".join(encode(change) + b"\n" for change in self.pages))


class _Row(NamedTuple):
    """A page that was written."""

    number: int
    url: str
    site: str
    texts: bytes
    earlier: bytes | None
    blocks: str | None
    gone: int

    @property
    def was_there(self) -> bool:
        return self.earlier is not None and self.gone < 2


def texts_of(result: Result) -> bytes:
    """The hashes of the texts that a page shows, each with a byte: 1 in the content, else 0."""
    tree, labels = result.tree, result.labels.labels
    found: dict[bytes, int] = {}
    for node in visible_lengths(tree).nonzero()[0].tolist():
        if written := " ".join(tree.text(node).split()):
            key = digest(written, size=_HASH)
            found[key] = found.get(key, 0) | int(labels[node] == Label.CONTENT.value)
    return b"".join(key + bytes((is_content,)) for key, is_content in found.items())


def blocks_of(data: bytes, shape: Shape) -> list[str] | None:
    """What a written page says, block by block; None for formats that are not read back."""
    written = data.decode("utf-8", "replace")
    if shape.format is Format.MARKDOWN:
        if not shape.is_bare and written.startswith("---\n"):
            written = written.partition("\n---\n")[2]
        return [block.strip("\n") for block in written.split("\n\n") if block.strip()]
    if shape.format is Format.JSONL:
        try:
            written = str(json.loads(written)["text"])
        except (ValueError, KeyError, TypeError):
            return None
    elif shape.format is not Format.TEXT:
        return None
    return [line for line in written.splitlines() if line.strip()]


def difference(earlier: Iterable[Unit], now: Iterable[Unit]) -> tuple[list[Unit], list[Unit]]:
    """What was added, and what removed, each in its order."""
    earlier, now = list(earlier), list(now)
    before, after = set(earlier), set(now)
    return [each for each in now if each not in before], [x for x in earlier if x not in after]


def begin_again(state: State) -> None:
    """Take what the pages say for what they said earlier. Doing so twice changes nothing."""
    run = state.connection.execute
    with state.transaction():
        run(
            "update crawl_written set earlier = case when gone then null else texts end,"
            " gone = case when gone then 2 else 0 end, blocks = null"
        )
        # It must come anew if it comes back: its output is not there to stay.
        pruned = "select url from crawl_written where is_pruned"
        run(f"update crawl_visits set outcome = ? where url in ({pruned})", (GONE,))  # noqa: S608


def settle(state: State, crawl: Crawl) -> Changes:
    """What became of all pages, put down in the state. Asked again it says the same."""
    query = "select number, url, site, texts, earlier, blocks, gone from crawl_written"
    rows = [_Row(*row) for row in state.connection.execute(f"{query} order by number")]
    known = [row for row in rows if row.was_there]
    doubt = _doubt(state, crawl, {row.url for row in known})
    fates = _fates(state, [row.url for row in rows], is_full=not doubt)
    other = [row for row in known if row.earlier != row.texts]
    seen = [(_shown(row.earlier).keys(), _shown(row.texts).keys()) for row in other]
    common = _common([difference(before, now) for before, now in seen], len(known))
    new = [row for row in rows if not row.was_there and fates[row.url] == _THERE]
    gone = [row for row in known if fates[row.url] not in (_THERE, "")]
    moved = _moved(gone, new, common)
    left = set(moved.values())
    lost = [row for row in gone if row not in left]
    if 2 * len(lost) > len(known):
        doubt = (
            f"{len(lost):,} of {len(known):,} pages would be gone, which looks like a fault of the"
            " site; if they are, crawl into a new folder"
        )
        gone, lost = list(left), []
    with state.transaction():
        run = state.connection.executemany
        run("update crawl_written set gone = 0 where gone = 1 and number = ?", _numbers(rows))
        run("update crawl_written set gone = 1 where number = ?", _numbers(gone))
        run("update crawl_written set gone = 0, is_pruned = 0 where number = ?", _numbers(new))
    arrived = [_arrived(row, moved.get(row.number)) for row in new]
    changed = _changed(sorted(set(other).difference(gone)), common, len(known))
    departed = [Change(Kind.GONE, row.url, row.site, reason=fates[row.url]) for row in lost]
    return Changes([*arrived, *changed, *departed], len(known), doubt)


def prune(state: State, folder: Path) -> int:
    """Take the outputs of gone pages out of the folder; how many there were.

    Only files that a crawl with this state has written there, and folders that become empty.
    """
    rows = state.connection.execute(
        "select file from crawl_written where gone and not is_pruned and file is not null"
    ).fetchall()
    count = 0
    for (name,) in rows:
        path = folder / name
        if path.is_file() or path.is_symlink():
            path.unlink()
            count += 1
        for above in path.relative_to(folder).parents[:-1]:
            with suppress(OSError):  # Others have files there.
                (folder / above).rmdir()
    with state.transaction():
        state.connection.execute("update crawl_written set is_pruned = 1 where gone")
    return count


def _numbers(rows: Iterable[_Row]) -> list[tuple[int]]:
    return [(row.number,) for row in rows]


def _shown(texts: bytes | None) -> dict[bytes, int]:
    """By the hash of a text that a page shows: is it in the content?"""
    texts, size = texts or b"", _HASH + 1
    return {texts[at : at + _HASH]: texts[at + _HASH] for at in range(0, len(texts), size)}


def _said(shown: Mapping[bytes, int], common: Set[bytes]) -> Set[bytes]:
    """The texts of the content that are not those of the template."""
    return {key for key, is_content in shown.items() if is_content} - common


def _is_same(earlier: bytes | None, now: bytes, common: Set[bytes]) -> bool:
    """Does a page show all that another says, and the other way round?

    What is shown in either is compared, as with a new design other parts of a page may be taken
    for its template.
    """
    before, after = _shown(earlier), _shown(now)
    return _said(before, common) <= after.keys() and _said(after, common) <= before.keys()


def _common(differences: Iterable[tuple[list[Unit], list[Unit]]], pages: int) -> set[Unit]:
    """What came to more than half of so many pages, or went from them: a part of the template."""
    times = Counter(unit for pair in differences for units in pair for unit in set(units))
    least = max(_MIN_ALIKE, pages // 2 + 1)
    return {unit for unit, count in times.items() if count >= least}


def _doubt(state: State, crawl: Crawl, known: Set[str]) -> str:
    """Why a page that was not met may be there all the same; empty after a full crawl."""
    if crawl.waiting:
        return "the crawl was cut off"
    if state.fact("starts") is None:
        return "the crawl could not start"
    if state.fact("earlier_reach", reach := state.fact("reach")) != reach:
        return "the crawl before had other options"
    if any(crawl.left_out[reason] for reason in _CUT):
        return "some links lead too far from the start, or the queue was full"
    if crawl.has_unread or state.fact("has_unread"):
        return "not every robots.txt and sitemap could be read"
    answered = {PAGE, REDIRECT, AGAIN, GONE, *LeftOut.__members__}
    for visit in state.visits():
        is_start_gone = visit.outcome == GONE and visit.entry.depth == 0
        has_failed = visit.entry.url in known and visit.outcome not in answered
        if is_start_gone or has_failed or visit.outcome == BUSY:
            return f"{visit.entry.url} failed"
    return ""


def _fates(state: State, urls: Iterable[str], *, is_full: bool) -> dict[str, str]:
    """What became of URLs: `_THERE`, why the page is gone, or nothing where nobody can tell."""
    outcomes = {
        visit.entry.url: (visit.outcome, visit.entry.number)
        for visit in state.visits()
        if visit.outcome != AGAIN
    }
    met = {key for key, _ in state.seen()}
    unlinked = state.fact(UNLINKED)
    of_unlinked, reasons = "", {}
    if is_full:
        of_unlinked, reasons = _NOT_LINKED, {REDIRECT: "redirects to another URL"}
        reasons |= {reason.name: str(reason) for reason in _ELSEWHERE}
    fates = {}
    for url in urls:
        outcome, number = outcomes.get(url, (None, 0))
        if outcome == GONE:
            fates[url] = "not found"
        elif outcome in (PAGE, LeftOut.UNCHANGED.name):
            is_linked = unlinked is None or number < unlinked
            fates[url] = _THERE if is_linked else of_unlinked
        elif outcome is None:
            fates[url] = of_unlinked if key_of(url) not in met else ""
        else:
            fates[url] = reasons.get(outcome, "")
    return fates


def _moved(gone: Iterable[_Row], new: Iterable[_Row], common: Set[bytes]) -> dict[int, _Row]:
    """By the number of a new page: the gone page whose content it has."""
    by_text: dict[bytes, list[_Row]] = {}
    for row in gone:
        for text in _said(_shown(row.earlier), common):
            by_text.setdefault(text, []).append(row)
    found: dict[int, _Row] = {}
    taken: set[_Row] = set()
    for row in new:
        own = sorted(_said(_shown(row.texts), common))
        alike = Counter(each for text in own for each in by_text.get(text, ())[:_MAX_ALIKE])
        for earlier, _ in alike.most_common(_MIN_ALIKE):
            if earlier not in taken and _is_same(earlier.earlier, row.texts, common):
                found[row.number] = earlier
                taken.add(earlier)
                break
    return found


def _arrived(row: _Row, earlier: _Row | None) -> Change:
    kind = Kind.MOVED if earlier else Kind.NEW
    return Change(kind, row.url, row.site, previous_url=earlier.url if earlier else None)


def _changed(rows: Sequence[_Row], common: Set[bytes], pages: int) -> Iterator[Change]:
    """Those of the pages that say something else than before."""
    blocks = {row.number: json.loads(row.blocks) for row in rows if row.blocks}
    shared: set[str] = _common(blocks.values(), pages)
    for row in rows:
        if not _is_same(row.earlier, row.texts, common):
            added, removed = (
                None if found is None else [block for block in found if block not in shared]
                for found in blocks.get(row.number, (None, None))
            )
            yield Change(Kind.CHANGED, row.url, row.site, added=added, removed=removed)
