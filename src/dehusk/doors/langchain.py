"""A loader for LangChain: sites in, documents of their content out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from dehusk.doors.documents import Documents, check_installed

check_installed("langchain_core", "dehusk.langchain", "langchain")

from langchain_core.document_loaders import BaseLoader  # noqa: E402
from langchain_core.documents import Document  # noqa: E402


class DehuskLoader(BaseLoader):  # type: ignore[misc]  # where LangChain is not installed
    """Documents of the pages of all sources that the command line reads.

    `metadata` has `source` and `url`, `site`, `title`, `author`, `published`, `confidence`,
    `site_removed` and more, as far as they are known. `options` are those of `Documents`. Raises
    UsageError.
    """

    def __init__(self, *sources: str | os.PathLike[str], **options: Any) -> None:
        self._sources = sources
        self._documents = Documents(**options)

    def lazy_load(self) -> Iterator[Document]:
        """The documents, each as soon as its page is read."""
        for text, facts in self._documents.read(*self._sources):
            source = {"source": facts["url"]} if "url" in facts else {}
            yield Document(page_content=text, metadata=source | facts)
