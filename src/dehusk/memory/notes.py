"""What a store notes of sites beside what they taught: answers that were given, and examples."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from dehusk.answer.result import Result
from dehusk.memory.lessons import page_digest
from dehusk.output import Rendered
from dehusk.page.hashing import digest
from dehusk.page.page import Page

if TYPE_CHECKING:
    from dehusk.memory.store import Shelf

ANSWERS: Final = "answers"
"""What the shelf of a site's answers is called."""
_COUNT: Final = b"#"
"""The key of the number of pages on the shelf; pages have keys of eight bytes."""
_GIVEN: Final = struct.Struct("<8sQ")
"""The digest of an answer's text, and the revision that it first came from."""
_NUMBER: Final = struct.Struct("<Q")


class Answer(Struct, frozen=True):
    """What is noted of an answer: the page's key, the digest of its text, and its revision."""

    key: bytes
    text: bytes
    revision: int


def answer_of(page: Page, result: Result) -> Answer:
    """What is noted of the answer on a page."""
    key = page_digest(page, with_html=False).to_bytes(8, "little")
    return Answer(key, digest(result.text), result.revision)


def rendered_answer(answer: Rendered) -> Answer:
    """What is noted of an answer that another process has given."""
    return Answer(answer.page_key, answer.text_digest, answer.revision)


def note_answer(shelf: Shelf, answer: Answer, max_pages: int, since: int | None = None) -> bool:
    """Put the answer on its site's shelf; True where it is another than before, or the first.

    With `since`, also where it is the same as the last time but not as old as that revision: who
    asks twice with one number is given the same pages twice.

    A page takes 24 bytes besides what the store adds. Beyond `max_pages` no further page is put
    there, and the answer on it counts as the first each time: nothing that changed is left out. To
    let the oldest go instead would help nobody, since pages come in the same order each time.
    """
    before = shelf.get(answer.key)
    if before is None:
        count = _NUMBER.unpack(shelf.get(_COUNT) or _NUMBER.pack(0))[0]
        if count < max_pages:
            shelf.put(_COUNT, _NUMBER.pack(count + 1))
            shelf.put(answer.key, _GIVEN.pack(answer.text, answer.revision))
        return True
    given, revision = _GIVEN.unpack(before)
    if given != answer.text:
        shelf.put(answer.key, _GIVEN.pack(answer.text, answer.revision))
        return True
    return since is not None and revision > since


def noted_answers(shelf: Shelf, since: int = 0, after: bytes | None = None) -> Iterator[Answer]:
    """The answers on a site's shelf that first came from a revision above `since`, by key."""
    for key, value in shelf.items(after=after):
        if key != _COUNT:
            text, revision = _GIVEN.unpack(value)
            if revision > since:
                yield Answer(key, text, revision)


EXAMPLES: Final = "families"
"""What the shelf of a site's examples is called."""
_MAX_URL: Final = 2_000
"""Bytes of a URL; a page with a longer one is no example."""


class Examples(Struct, frozen=True):
    """The URL of the first page of each family; numbers of families go up to four digits."""

    shelf: Shelf

    def get(self, family: int) -> str | None:
        """The example of a family; None if there is none."""
        found = self.shelf.get(_key(family))
        return None if found is None else found.decode("utf-8", "surrogatepass")

    def families(self) -> set[int]:
        """The families that have one, read in one go."""
        return {int.from_bytes(key, "big") for key, _ in self.shelf.items()}

    def put(self, family: int, url: str) -> bool:
        """Take the page for its family's example; False where its URL is too long for that."""
        written = url.encode("utf-8", "surrogatepass")
        if len(written) <= _MAX_URL:
            self.shelf.put(_key(family), written)
        return len(written) <= _MAX_URL


def _key(family: int) -> bytes:
    return family.to_bytes(4, "big")
