"""A reader for LlamaIndex: sites in, documents of their content out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

from dehusk.doors.documents import Documents, check_installed

check_installed("llama_index.core", "dehusk.llama_index", "llama-index")

from llama_index.core.readers.base import BaseReader  # noqa: E402
from llama_index.core.schema import Document  # noqa: E402

_FOR_EMBEDDING: Final = {"title", "headings"}
_FOR_MODELS: Final = {"url", "title", "headings", "author", "published"}
"""What LlamaIndex writes before the text. All else would only dilute it, and a long summary would
be more than a chunk may have of metadata, which is an error there."""


class DehuskReader(BaseReader):  # type: ignore[misc]  # where LlamaIndex is not installed
    """Documents of the pages of all sources that the command line reads.

    `metadata` has `url`, `site`, `title`, `author`, `published`, `confidence`, `site_removed`
    and more, as far as they are known. `options` are those of `Documents`. Raises UsageError.
    """

    def __init__(self, **options: Any) -> None:
        self._documents = Documents(**options)

    def lazy_load_data(self, *sources: str | os.PathLike[str]) -> Iterator[Document]:
        """The documents of the sources, each as soon as its page is read."""
        for text, facts in self._documents.read(*sources):
            yield Document(
                text=text,
                metadata=facts,
                excluded_embed_metadata_keys=[key for key in facts if key not in _FOR_EMBEDDING],
                excluded_llm_metadata_keys=[key for key in facts if key not in _FOR_MODELS],
            )
