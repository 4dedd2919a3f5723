"""Judges of pages: what each calls content, kept apart, and what most of them say.

The TECO suite was marked so (chapter 6.2.1 of the thesis): four people judged each page by
themselves, then met. A judge's marks are those of the moment at which he calls a page right; what
he corrects afterwards changes them, what others correct does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path as File
from typing import Annotated, Any, Final

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

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
from dehusk.doors.service.bodies import first_fault
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


def _plain(name: str) -> str:
    """The name, which is shown to others: without line breaks, or signs that turn a line around."""
    if not name.isprintable():
        raise ValueError("a judge's name has invisible letters")
    return name


JudgeName = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(_plain)]
"""Who judges; empty where nobody says so."""


class _Judgement(BaseModel):
    """What a judge says of a page, in a file of gold."""

    model_config = ConfigDict(strict=True)

    judge: JudgeName | None = None
    content_nodes: list[list[NonNegativeInt]]
    excluded_nodes: list[list[NonNegativeInt]] = Field(default_factory=list)


class _Gold(_Judgement):
    """A page in a file of gold: where judges are named, its own marks are what most of them say."""

    url: str | None = None
    site: str | None = None
    html: Any = None
    judges: list[_Judgement] = Field(default_factory=list)


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
        self._marks: dict[int, dict[str, Marks]] = {}
        """By page and judge."""

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
        """Take the judge's marks anew on pages that he has corrected. Raises PageError.

        At once: later they might have in them what others have changed meanwhile.
        """
        for page in pages:
            if judge in self._marks.get(page, ()):
                self._marks[page][judge] = self._take(page, judge)

    def marks(self, page: int) -> dict[str, Marks]:
        """The marks of each judge of a page."""
        return dict(sorted(self._marks.get(page, {}).items()))

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
        own_name = "".join(filter(str.isprintable, file.stem))[:MAX_NAME]
        for place, record in _records(file):
            number = numbers.get((record.url, record.site))
            if number is None:
                continue
            tree = parse(self._viewed.pages[number], self._viewed.memories.limits).tree
            is_same = _is_built_alike(tree, record.html)
            for given in record.judges or [record]:
                content, excluded = given.content_nodes, given.excluded_nodes
                if not is_same or nodes_inside(tree, content, excluded) is None:
                    refused(f"{place}: marks of another version of {record.url}, left out")
                    continue
                marks = Marks(*(tuple(map(tuple, paths)) for paths in (content, excluded)))
                self._marks.setdefault(number, {})[given.judge or own_name] = marks
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


def _records(file: File) -> Iterator[tuple[str, _Gold]]:
    """The records of a file of gold, each with its place. Raises SourceError."""
    place = str(file)
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                place = f"{file}:{number}"
                if line.strip():
                    yield place, _Gold.model_validate(json.loads(line))
    except OSError as fault:
        raise SourceError(f"{file}: {fault.strerror}") from fault
    except ValidationError as fault:
        raise SourceError(f"{place}: {first_fault(fault)}") from fault
    except (ValueError, RecursionError) as fault:
        raise SourceError(f"{place}: not gold as the viewer writes it") from fault


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
