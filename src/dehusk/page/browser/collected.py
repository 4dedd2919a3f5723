"""What the script in the page gave, as a page with boxes."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import turbohtml
from numpy.typing import NDArray

from dehusk.page.page import Boxes, Page


def page_with_boxes(page: Page, marked: str, mark: str, boxes: list[int], texts: list[int]) -> Page:
    """The page as the browser shows it: its HTML without the marks, and the box of every node.

    The HTML is read again as dehusk will read it, with the marks: a parser puts elements that a
    script nested against the rules somewhere else, and the marks go with them.
    """
    numbers = _numbers(marked, mark)
    by_number = np.array(boxes, np.float64).reshape(-1, 4)
    known = numbers >= 0
    elements = np.full((len(numbers), 4), np.nan)
    elements[known] = by_number[numbers[known]]
    runs = np.array(texts, np.float64).reshape(-1, 5)
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    counts = np.bincount(runs[:, 0].astype(np.int64), minlength=len(by_number))
    first = np.cumsum(counts) - counts
    places = np.where(known, first[numbers], 0)
    html = re.sub(rf' {mark}="[0-9]+"', "", marked)
    found = Boxes(elements, runs[:, 1:], places, np.where(known, counts[numbers], 0))
    return replace(page, html=html, charset=None, boxes=found)


def _numbers(marked: str, mark: str) -> NDArray[np.int64]:
    """The number of each element in document order; -1 where only the parser made it."""
    document = turbohtml.parse(marked, positions=False, allow_declarative_shadow_roots=False)
    found = (element.attrs.get(mark) for element in document.iter_elements())
    return np.array([-1 if number is None else int(str(number)) for number in found], np.int64)
