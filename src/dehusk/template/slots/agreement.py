"""What the pages of a family say together about texts that they all have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from dehusk.answer.labels import Label
from dehusk.template.slots.places import LabelledPage

_MIN_PAGES: Final = 4
_MIN_PAGES_SHARE: Final = 0.8
"""A text on so many pages of the family, at the same path, belongs to all of them."""
_MIN_TEMPLATE_SHARE: Final = 0.2
"""It is template if it was so on this share of them: methods learn, and know less at first. What
no page calls template, such as 'Parameters' above a table, stays content."""


def agreed(pages: Sequence[LabelledPage]) -> list[LabelledPage]:
    """The pages with texts that all have, and that are template on some, made template on all."""
    if len(pages) < _MIN_PAGES:
        return list(pages)
    keys = [page.tree.own_hash ^ (page.tree.path_hash << np.uint64(1)) for page in pages]
    texts = [page.tree.is_text & page.tree.shown & (page.tree.text_length > 0) for page in pages]
    is_template = [page.labels == Label.TEMPLATE.value for page in pages]
    everywhere = _on_pages([key[text] for key, text in zip(keys, texts, strict=True)])
    template = _on_pages(
        [key[text & own] for key, text, own in zip(keys, texts, is_template, strict=True)]
    )
    common = [
        key
        for key, count in everywhere.items()
        if count >= _MIN_PAGES_SHARE * len(pages)
        and template.get(key, 0) >= _MIN_TEMPLATE_SHARE * count
    ]
    turned = np.array(sorted(common), np.uint64)
    return [
        replace(page, labels=np.where(text & np.isin(key, turned), Label.TEMPLATE, page.labels))
        for page, key, text in zip(pages, keys, texts, strict=True)
    ]


def _on_pages(keys: Sequence[np.ndarray[tuple[int], np.dtype[np.uint64]]]) -> dict[int, int]:
    """On how many pages each key is."""
    if not keys:
        return {}
    found, counts = np.unique(np.concatenate([np.unique(own) for own in keys]), return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
