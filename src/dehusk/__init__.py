"""dehusk tells what a web page says from what its site repeats.

import dehusk
dehusk.extract(html, url).text          # one page
site = dehusk.Site()                    # a site, learned page by page
site.add(html, url).markdown
with dehusk.open("crawl.husk") as memory:   # any number of sites, in a file
    for result in memory.clean(pages): ...
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dehusk.browser import Browser
    from dehusk.crawling import crawl
    from dehusk.durability import Durable
    from dehusk.errors import DehuskError, PageError, StateError
    from dehusk.fingerprint import Seen
    from dehusk.jobs import Jobs, JobSettings
    from dehusk.memories import Memories, open  # noqa: A004  as users write it
    from dehusk.model import Label, Limits, Page, Reason
    from dehusk.output import Rendered, Shape
    from dehusk.result import Node, Refusal, Result, Section
    from dehusk.site import Site, extract
    from dehusk.sources.crawl.settings import CrawlSettings
    from dehusk.store import Keeping, Shelf
    from dehusk.templates import Template, template_of

__version__ = "0.1.0"

__all__ = [
    "Browser",
    "CrawlSettings",
    "DehuskError",
    "Durable",
    "JobSettings",
    "Jobs",
    "Keeping",
    "Label",
    "Limits",
    "Memories",
    "Node",
    "Page",
    "PageError",
    "Reason",
    "Refusal",
    "Rendered",
    "Result",
    "Section",
    "Seen",
    "Shape",
    "Shelf",
    "Site",
    "StateError",
    "Template",
    "__version__",
    "crawl",
    "extract",
    "open",
    "template_of",
]

_HOMES = {
    "Browser": "browser",
    "CrawlSettings": "sources.crawl.settings",
    "DehuskError": "errors",
    "Durable": "durability",
    "JobSettings": "jobs",
    "Jobs": "jobs",
    "Keeping": "store",
    "Label": "model",
    "Limits": "model",
    "Memories": "memories",
    "Node": "result",
    "Page": "model",
    "PageError": "errors",
    "Reason": "model",
    "Refusal": "result",
    "Rendered": "output",
    "Result": "result",
    "Section": "result",
    "Seen": "fingerprint",
    "Shape": "output",
    "Shelf": "store",
    "Site": "site",
    "StateError": "errors",
    "crawl": "crawling",
    "extract": "site",
    "open": "memories",
    "Template": "templates",
    "template_of": "templates",
}
"""Where each public name lives. Loaded on first use, so that `dehusk --help` needs neither numpy
nor the parser."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'dehusk' has no attribute {name!r}")
    return getattr(import_module(f"dehusk.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
