"""A page's content in pieces, each with what is known of its page: what an index takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

PIECE_TOKENS: Final = 400
"""Tokens of a piece unless `--pieces` says how many. Chosen, not swept: embedding models that read
512 tokens keep room for a title, and for texts of which four characters are more than a token."""
_OF_THE_PAGE: Final = ("url", "site", "title", "lang", "author", "published")


def page_pieces(fields: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """The fields of each piece of a page's JSON line, which is the `piece` of so many `pieces`."""
    page, pieces = {name: fields[name] for name in _OF_THE_PAGE}, fields["pieces"]
    for number, piece in enumerate(pieces, 1):
        yield page | {"piece": number, "pieces": len(pieces)} | piece
