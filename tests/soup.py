"""Tag soup: pages whose markup is as wrong as can be."""

from __future__ import annotations

import random
import re

from dehusk import _kernel

_TAGS = [name for name in _kernel.TAG_NAMES if name[0] != "#"]
_FOREIGN = ["mi", "mo", "mtext", "annotation-xml", "g", "foreignObject", "linearGradient"]
_ODD = ["isindex", "command", "mglyph", "selectedcontent", "rye-field", f"a-{'long-' * 9}name"]
_NAMES = [*_TAGS, *_FOREIGN, *_ODD]
_COMMON = re.findall(
    r"\w+",
    """div p a b i font nobr span table caption colgroup col tbody tr td th ul li dl dt dd select
    option optgroup form button input svg math title h1 h2 pre textarea script style head body html
    hr br object noscript ruby rb rt rtc rp template""",
)
_ATTRIBUTES = re.findall(
    r"(?m)^.*$",
    """


 class=a
 id='b&amp;c'
 x=&lt y=&copy=1 z="&eacute;\xa0>"
 A=1 a=2
 type=hidden
 viewBox=1 xlink:href=q
 /
 = b
/a/b
 charset=utf-8
 "q
 a<b
 hidden style='a:b'""",
)
_TEXTS = [
    *("rye", " ", "\n", "\n\n", "\r\n", "\r", "a b", "\xa0", "é", "日本", "𝒙", "<", ">", '"', "<3"),
    *("&amp;", "&nbsp;", "&#10;", "&copy;", "&notit;", "a&b", "&#x80;", "&#0;", "&#xD800;"),
    *(
        "&ampx",
        "&lt",
        "&lt;b",
        "]]>",
        "<![CDATA[a]]>",
        "<?x?>",
        "<?xml y?>",
        "</>",
        "</ x>",
        "<!x>",
    ),
    *("<!--c-->", "<!---->", "<!-->", "<!--->", "<!-- a -- b -->", "<!--a--!>"),
    "<script><!--<script></script>--></script>",
    "<style>a<b</style>",
    "<textarea>\n\na</textarea>",
]
_DOCTYPES = [
    *("", "", "<!DOCTYPE html>", "<!doctype HTML >", '<?xml version="1.0"?><!DOCTYPE html>'),
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN">',
]


def _tag(chance: random.Random) -> str:
    name = chance.choice(_COMMON if chance.random() < 0.8 else _NAMES)
    if chance.random() < 0.1:
        name = name.upper()
    if chance.random() < 0.42:
        return f"</{name}>"
    return f"<{name}{chance.choice(_ATTRIBUTES)}{'/' if chance.random() < 0.05 else ''}>"


def tag_soup(chance: random.Random) -> str:
    """A page of up to 25 pieces, some of which come again and again."""
    again = [_tag(chance) for _ in range(chance.randint(3, 9))]
    pieces = [chance.choice(_DOCTYPES)]
    for _ in range(chance.randint(1, 25)):
        kind = chance.random()
        if kind < 0.4:
            pieces.append(chance.choice(again))
        else:
            pieces.append(_tag(chance) if kind < 0.65 else chance.choice(_TEXTS))
    return "".join(pieces)
