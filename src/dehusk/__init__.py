"""dehusk tells what a web page says from what its site repeats.

import dehusk
dehusk.extract(html, url).text          # one page
site = dehusk.Site()                    # a site, learned page by page
site.add(html, url).markdown
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dehusk.browser import Browser
    from dehusk.errors import DehuskError, PageError
    from dehusk.model import Label, Limits, Page, Reason
    from dehusk.result import Node, Result
    from dehusk.site import Site, extract

__version__ = "0.1.0"

__all__ = [
    "Browser",
    "DehuskError",
    "Label",
    "Limits",
    "Node",
    "Page",
    "PageError",
    "Reason",
    "Result",
    "Site",
    "__version__",
    "extract",
]

_HOMES = {
    "Browser": "browser",
    "DehuskError": "errors",
    "Label": "model",
    "Limits": "model",
    "Node": "result",
    "Page": "model",
    "PageError": "errors",
    "Reason": "model",
    "Result": "result",
    "Site": "site",
    "extract": "site",
}
"""Where each public name lives. Loaded on first use, so that `dehusk --help` needs neither numpy
nor the parser."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'dehusk' has no attribute {name!r}")
    return getattr(import_module(f"dehusk.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
