"""dehusk tells what a web page says from what its site repeats.

import dehusk
dehusk.extract(html, url).text          # one page
site = dehusk.Site()                    # a site, learned page by page
site.add(html, url).markdown
for result in dehusk.clean("crawl.warc.gz", memory="crawl.husk"): ...   # any number of sites
"""

from importlib import import_module
from typing import TYPE_CHECKING

try:
    import_module("dehusk._kernel")
except ImportError as missing:
    raise ImportError(
        f"dehusk's compiled kernel cannot be loaded ({missing}): install dehusk again"
        " (pip install --force-reinstall dehusk), or run"
        " `python setup.py build_ext --inplace` in its source tree",
        name=__name__,  # By this, `python -m dehusk` says it without a traceback.
    ) from missing

if TYPE_CHECKING:
    from dehusk.answer.fingerprint import Seen
    from dehusk.answer.labels import Label, Reason
    from dehusk.answer.result import Refusal, Result
    from dehusk.answer.verdicts import Node, Section
    from dehusk.errors import DehuskError, PageError, StateError
    from dehusk.memory.opening import Site, extract, open  # noqa: A004  as users write it
    from dehusk.memory.session import Session
    from dehusk.memory.store import Shelf
    from dehusk.output import Rendered, Shape
    from dehusk.page.browser import Browser
    from dehusk.page.page import Page
    from dehusk.settings import (
        CrawlSettings,
        Durable,
        JobSettings,
        Keeping,
        Limits,
        MarkdownSettings,
        SiteBy,
        SourceSettings,
    )
    from dehusk.sources import Failure, read
    from dehusk.template.fetching import template_at
    from dehusk.template.templates import Template, template_of
    from dehusk.workers.cleaning import clean
    from dehusk.workers.crawling import crawl
    from dehusk.workers.jobs import Jobs

__version__ = "0.1.0"

__all__ = [
    "Browser",
    "CrawlSettings",
    "DehuskError",
    "Durable",
    "Failure",
    "JobSettings",
    "Jobs",
    "Keeping",
    "Label",
    "Limits",
    "MarkdownSettings",
    "Node",
    "Page",
    "PageError",
    "Reason",
    "Refusal",
    "Rendered",
    "Result",
    "Section",
    "Seen",
    "Session",
    "Shape",
    "Shelf",
    "Site",
    "SiteBy",
    "SourceSettings",
    "StateError",
    "Template",
    "__version__",
    "clean",
    "crawl",
    "extract",
    "open",
    "read",
    "template_at",
    "template_of",
]

_HOMES = {
    "Browser": "page.browser",
    "CrawlSettings": "settings",
    "DehuskError": "errors",
    "Durable": "settings",
    "Failure": "sources",
    "JobSettings": "settings",
    "Jobs": "workers.jobs",
    "Keeping": "settings",
    "Label": "answer.labels",
    "Limits": "settings",
    "MarkdownSettings": "settings",
    "Node": "answer.verdicts",
    "Page": "page.page",
    "PageError": "errors",
    "Reason": "answer.labels",
    "Refusal": "answer.result",
    "Rendered": "output",
    "Result": "answer.result",
    "Section": "answer.verdicts",
    "Seen": "answer.fingerprint",
    "Session": "memory.session",
    "Shape": "output",
    "Shelf": "memory.store",
    "Site": "memory.opening",
    "SiteBy": "settings",
    "SourceSettings": "settings",
    "StateError": "errors",
    "clean": "workers.cleaning",
    "crawl": "workers.crawling",
    "extract": "memory.opening",
    "open": "memory.opening",
    "read": "sources",
    "Template": "template.templates",
    "template_at": "template.fetching",
    "template_of": "template.templates",
}
"""Where each public name lives. Loaded on first use, so that `dehusk --help` needs neither numpy
nor the parser."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'dehusk' has no attribute {name!r}")
    return getattr(import_module(f"dehusk.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
