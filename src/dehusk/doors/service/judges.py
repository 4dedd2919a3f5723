"""Judges of pages: what each calls content, kept apart, and what most of them say.

The TECO suite was marked so (chapter 6.2.1 of the thesis): four people judged each page by
themselves, then met. A judge's marks are those of the moment at which he calls a page right; what
he corrects afterwards changes them, what others correct does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path as File
from typing import Any, Final

import numpy as np

from dehusk import pipeline
from dehusk.answer.override import Overrides
from dehusk.answer.result import Result
from dehusk.doors.service.agreement import (
    Agreement,
    Ballots,
    agreement,
    majority,
    pair_agreements,
)
from dehusk.doors.service.gold import (
    Path,
    gold_nodes,
    gold_record,
    nodes_inside,
    seen_nodes,
    voted_nodes,
)
from dehusk.errors import PageError, SourceError
from dehusk.page.page import Page
from dehusk.page.parse import parse
from dehusk.page.tree import Flags, Ints, Tree
from dehusk.template.viewing import Viewed, element_path

MAX_NAME: Final = 40
"""Letters of a judge's name."""
_MAX_DIFFERENCES: Final = 50
"""Nodes that are listed because judges differ on them."""
_MAX_TEXT: Final = 120


@dataclass(frozen=True, slots=True)
class Marks:
    """What somebody calls content: paths of its roots, and of what in them is template."""

    content: tuple[Path, ...]
    excluded: tuple[Path, ...]

    @classmethod
    def of(cls, tree: Tree, nodes: Iterable[Iterable[int]]) -> Marks:
        """The marks on these roots, and on these elements in them."""
        return cls(*(tuple(tuple(element_path(tree, node)) for node in each) for each in nodes))

    @property
    def overrides(self) -> Overrides:
        """Selectors by which a page is judged as marked, whatever the method says."""
        keep, drop = ([_selector(path) for path in each] for each in (self.content, self.excluded))
        # Of one element that both select `drop` decides, so a page that is all content has none.
        return Overrides(tuple(keep), tuple(drop if "html" in keep else ["html", *drop]))


def _selector(path: Path) -> str:
    return " > ".join(["html", *(f":nth-child({position + 1})" for position in path)])


class Judges:
    """The pages that were called right, and by whom. Whoever gives no name is the judge ''."""

    def __init__(self, viewed: Viewed) -> None:
        self._viewed = viewed
        self._marks: dict[int, dict[str, Marks | None]] = {}
        """By page and judge; None where they are to be taken anew."""

    @property
    def names(self) -> list[str]:
        """All who have called a page right."""
        return sorted({name for by_judge in self._marks.values() for name in by_judge})

    @property
    def pages(self) -> list[int]:
        """The pages that somebody called right."""
        return sorted(self._marks)

    def of_page(self, page: int) -> list[str]:
        """Who has called the page right."""
        return sorted(self._marks.get(page, ()))

    def confirm(self, page: int, judge: str, *, is_right: bool) -> None:
        """Call the verdict on a page right, as the judge sees it now, or take that back.

        Raises PageError.
        """
        if is_right:
            marks = self._take(page, judge)
            self._marks.setdefault(page, {})[judge] = marks
        elif page in self._marks:
            self._marks[page].pop(judge, None)
            if not self._marks[page]:
                del self._marks[page]

    def corrected(self, pages: Iterable[int], judge: str) -> None:
        """Note that the judge has corrected pages: his marks on them are taken anew."""
        for page in pages:
            if judge in self._marks.get(page, ()):
                self._marks[page][judge] = None

    def marks(self, page: int) -> dict[str, Marks]:
        """The marks of each judge of a page. Raises PageError."""
        by_judge = self._marks.get(page, {})
        for judge in [name for name, marks in by_judge.items() if marks is None]:
            by_judge[judge] = self._take(page, judge)
        return {judge: marks for judge, marks in sorted(by_judge.items()) if marks is not None}

    def _take(self, page: int, judge: str) -> Marks:
        """The page as the judge sees it now. Raises PageError."""
        result = self._viewed.result(page, judge=judge)
        return Marks.of(result.tree, gold_nodes(result))

    def ballots(self, page: int) -> tuple[Tree, Ballots]:
        """The page, and what each judge says of all that is seen on it. Raises PageError."""
        marks = self.marks(page)
        tree = parse(self._viewed.pages[page], self._viewed.memories.limits).tree
        seen = seen_nodes(tree)
        return tree, {judge: _inside(tree, each)[seen] for judge, each in marks.items()}

    def result(self, page: int) -> Result:
        """The answer on a page by what most judges say of it. Raises PageError."""
        marks = self.marks(page)
        (merged, *others) = marks.values()
        if others:
            tree, ballots = self.ballots(page)
            merged = Marks.of(tree, voted_nodes(tree, majority(ballots)))
        return self._viewed.result(page, overrides=merged.overrides)

    def record(self, page: int) -> dict[str, object]:
        """The page with its gold; where judges are named, with what each of them says."""
        record = gold_record(self._viewed.pages[page], self.result(page))
        marks = self.marks(page)
        if list(marks) == [""]:
            return record
        judges = [
            {"judge": judge, "content_nodes": each.content, "excluded_nodes": each.excluded}
            for judge, each in marks.items()
        ]
        found = agreement([self.ballots(page)[1]])
        return record | {"judges": judges, "agreement": None if found is None else told(found)}

    def agreement(self) -> dict[str, Any]:
        """How far judges agree on all pages that several have judged."""
        several = [page for page, by_judge in self._marks.items() if len(by_judge) > 1]
        pages = [self.ballots(page)[1] for page in sorted(several)]
        return {"pages": len(pages)} | _told(pages)

    def page_agreement(self, page: int) -> dict[str, Any]:
        """How far judges agree on a page, and the nodes on which they differ."""
        tree, ballots = self.ballots(page)
        return _told([ballots]) | {"differences": list(_differences(tree, ballots))}

    def read(self, file: File, refused: Callable[[str], object]) -> int:
        """Take in the marks of an exported file; how many there were for pages that are here.

        Marks without a judge's name are of one called as the file is. `refused` is told of marks
        on a page that was another one then. Raises SourceError.
        """
        pages = enumerate(self._viewed.pages)
        numbers: dict[object, int] = {(p.url, pipeline.site_of(p)): n for n, p in pages}
        count = 0
        for place, record in _records(file):
            number = numbers.get((record.get("url"), record.get("site")))
            if number is None:
                continue
            tree = parse(self._viewed.pages[number], self._viewed.memories.limits).tree
            is_same = _is_built_alike(tree, record.get("html"))
            for given in record.get("judges") or [record]:
                judge, marks = _read_marks(given, place)
                if not is_same or nodes_inside(tree, marks.content, marks.excluded) is None:
                    refused(f"{place}: marks of another version of {record.get('url')}, left out")
                    continue
                self._marks.setdefault(number, {})[judge or file.stem[:MAX_NAME]] = marks
                count += 1
        if not count:
            raise SourceError(f"{file}: no marks of a page that is shown")
        return count


def _is_built_alike(tree: Tree, html: object) -> bool:
    """Have both the same elements, so that a path leads to the same? True where none is known."""
    if not isinstance(html, str):
        return True
    try:
        other = parse(Page(html, tree.url)).tree
    except PageError:
        return False
    own, others = (each.tag[~each.is_text] for each in (tree, other))
    return np.array_equal(own, others) and np.array_equal(_depths(tree), _depths(other))


def _depths(tree: Tree) -> Ints:
    return tree.depth[~tree.is_text]


def _records(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a file of gold, each with its place. Raises SourceError."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            record = json.loads(line) if line.strip() else None
            if isinstance(record, dict):
                yield f"{file}:{number}", record
            elif record is not None:
                raise SourceError(f"{file}:{number}: no record")
    except OSError as fault:
        raise SourceError(f"{file}: {fault.strerror}") from fault
    except (ValueError, RecursionError) as fault:
        raise SourceError(f"{file}: not gold as the viewer writes it") from fault


def _read_marks(given: Mapping[str, Any], place: str) -> tuple[str, Marks]:
    """A judge's name, which may be empty, and his marks. Raises SourceError."""
    try:
        content, excluded = (
            tuple(tuple(map(int, path)) for path in given.get(name) or ())
            for name in ("content_nodes", "excluded_nodes")
        )
    except (AttributeError, TypeError, ValueError) as fault:
        raise SourceError(f"{place}: marks that are no paths of nodes") from fault
    return str(given.get("judge") or "")[:MAX_NAME], Marks(content, excluded)


def _inside(tree: Tree, marks: Marks) -> Flags:
    inside = nodes_inside(tree, marks.content, marks.excluded)
    assert inside is not None, "marks are made of this page, or were looked at when read"
    return inside


def told(found: Agreement) -> dict[str, Any]:
    """The agreement as plain data, rounded."""
    kappa = None if found.kappa is None else round(found.kappa, 3)
    return asdict(found) | {"alike": round(found.alike, 4), "kappa": kappa}


def _told(pages: list[Ballots]) -> dict[str, Any]:
    found = agreement(pages)
    return {
        "all": None if found is None else told(found),
        "pairs": [told(pair) for pair in pair_agreements(pages)],
    }


def _differences(tree: Tree, ballots: Ballots) -> Iterator[dict[str, Any]]:
    """The nodes on which judges differ, and who calls them content."""
    table = np.array(list(ballots.values()))
    nodes = np.flatnonzero(seen_nodes(tree))
    differ = np.flatnonzero(table.any(axis=0) & ~table.all(axis=0))
    for place in differ[:_MAX_DIFFERENCES].tolist():
        node = int(nodes[place])
        text = tree.text(node) if tree.is_text[node] else f"<{tree.name(node)}>"
        yield {
            "node": node,
            "text": " ".join(text.split())[:_MAX_TEXT],
            "content": [judge for judge, ballot in ballots.items() if ballot[place]],
            "template": [judge for judge, ballot in ballots.items() if not ballot[place]],
        }
