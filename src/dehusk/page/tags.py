"""What dehusk knows of HTML's element names: their numbers and the sets they belong to.

A tree stores a tag as a small number. `#text` is the number of every text node, `#other` the
number of every element whose name is not in HTML (custom elements, SVG, MathML).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

TEXT: Final = 0
OTHER: Final = 1

NAMES: Final = (
    "#text", "#other",
    "a", "abbr", "acronym", "address", "applet", "area", "article", "aside", "audio", "b", "base",
    "basefont", "bdi", "bdo", "bgsound", "big", "blink", "blockquote", "body", "br", "button",
    "canvas", "caption", "center", "cite", "code", "col", "colgroup", "data", "datalist", "dd",
    "del", "desc", "details", "dfn", "dialog", "dir", "div", "dl", "dt", "em", "embed", "fieldset",
    "figcaption", "figure", "font", "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4",
    "h5", "h6", "head", "header", "hgroup", "hr", "html", "i", "iframe", "image", "img", "input",
    "ins", "kbd", "keygen", "label", "legend", "li", "link", "listing", "main", "map", "mark",
    "marquee", "math", "menu", "meta", "meter", "nav", "nobr", "noembed", "noframes", "noscript",
    "object", "ol", "optgroup", "option", "output", "p", "param", "path", "picture", "plaintext",
    "pre", "progress", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "script", "search",
    "section", "select", "slot", "small", "source", "span", "strike", "strong", "style", "sub",
    "summary", "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th",
    "thead", "time", "title", "tr", "track", "tt", "u", "ul", "use", "var", "video", "wbr", "xmp",
)  # fmt: skip
"""Every tag number's name; the number is the place in this tuple."""

NUMBERS: Final = {name: number for number, name in enumerate(NAMES)}

VOID: Final = (
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input",
    "keygen", "link", "meta", "param", "source", "track", "wbr",
)  # fmt: skip
"""HTML elements that are written without an end tag."""

RAW: Final = ("iframe", "noembed", "noframes", "plaintext", "script", "style", "xmp")
"""HTML elements whose text is written without escapes."""

NEWLINE_EATERS: Final = ("listing", "pre", "textarea")
"""HTML elements that lose a newline at their front, which is therefore written twice."""

NEVER_SHOWN: Final = (
    "audio", "canvas", "datalist", "desc", "head", "iframe", "noembed", "noframes", "noscript",
    "script", "style", "template", "title", "video",
)  # fmt: skip
"""Elements whose text a browser with JavaScript does not show."""

BLOCK: Final = (
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd",
    "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
    "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html",
    "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup", "option", "p", "plaintext",
    "pre", "search", "section", "select", "summary", "table", "tbody", "tfoot", "textarea",
    "thead", "title", "tr", "ul", "xmp",
)  # fmt: skip
"""Elements that stand on lines of their own."""


def numbers(*names: str) -> NDArray[np.bool_]:
    """A table by tag number that is true for `names`; unknown names are refused with KeyError."""
    table = np.zeros(len(NAMES), np.bool_)
    table[[NUMBERS[name] for name in names]] = True
    return table


def listed(*names: str) -> tuple[int, ...]:
    """The tag numbers of `names`; unknown names are refused with KeyError."""
    return tuple(NUMBERS[name] for name in names)
