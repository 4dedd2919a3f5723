"""Gold for Markdown: what the elements of a page's gold content hold, or what pandoc writes of it;
pages with known formulas.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from dehusk.answer.html import content_html
from dehusk.answer.labels import Label
from dehusk.doors.service.gold import nodes_inside
from dehusk.errors import UsageError
from dehusk.page.parse import parse
from dehusk_bench.corpora import GoldPage
from dehusk_bench.markdown.parts import (
    Parts,
    outside_code,
    parts_of_html,
    read_parts,
    table_of,
)

_OPTIONS: Final = (
    "--from=html+tex_math_single_backslash-native_divs-native_spans",
    "--to=gfm+tex_math_dollars-tex_math_gfm",
    "--wrap=none", "--columns=10000",
)  # fmt: skip
_GONE: Final = (
    "//div[@class='fragment']//span[@class='lineno']",
    "//td[contains(@class,'linenos') or contains(@class,'gutter') or contains(@class,'lines')]",
    "//*[contains(@class,'headerlink') or contains(@class,'anchor-link')]",
    "//*[contains(@class,'permalink')]", "//button[contains(@class,'copy')]",
    "//script[not(starts-with(@type,'math/'))]", "//style",
    "//img",
)  # fmt: skip
"""What no reader wants: line numbers, signs of links, controls."""
_ESCAPES: Final = re.compile(r"\\(?=\n\n|\n*\Z)|(?:(?<=^)|(?<=\| ))\\(\(\w+)\\(?=\))", re.MULTILINE)
"""Backslashes that pandoc writes and no reader takes out: of a break that ends a paragraph, and of
a bracket that might be the number of an item, which is no formula."""
_MEANT: Final = {"tt": "code", "kbd": "code", "samp": "code", "textarea": "pre"}
"""Elements that are shown as others are."""
_MATH: Final = re.compile(r"\\[(\[]|<math[ >]")
_LATEX_MARKS: Final = re.compile(r"\\\(.+?\\\)|\\\[.+?\\\]|<math[ >].+?</math>", re.DOTALL)


class Gold(StrEnum):
    """What says how Markdown should read."""

    ELEMENTS = "elements"
    PANDOC = "pandoc"


class Asked(NamedTuple):
    """A page of content alone, and what its Markdown should have."""

    html: str
    gold: Parts


def gold_of(page: GoldPage, gold: Gold = Gold.ELEMENTS) -> Asked | None:
    """The content of a page by its gold nodes, and the parts that it has; None without any."""
    tree = parse(page.page).tree
    if page.content_nodes is None:
        return None
    inside = nodes_inside(tree, page.content_nodes, page.excluded_nodes)
    if inside is None or not inside.any():
        return None
    labels = np.where(inside & tree.shown, Label.CONTENT, Label.TEMPLATE).astype(np.int8)
    labels[~tree.shown] = Label.HIDDEN
    html = content_html(tree, labels)
    if gold is Gold.PANDOC:
        written = by_pandoc(_corrected(html))
        return Asked(
            html, read_parts(outside_code(_ESCAPES, lambda found: found[1] or "", written))
        )
    formulas = _formulas(html)
    plain = _LATEX_MARKS.sub(" ", html) if formulas else html
    return Asked(html, parts_of_html(_corrected(plain), formulas))


def _formulas(html: str) -> list[str]:
    """The formulas that pandoc finds."""
    if not _MATH.search(html):
        return []
    return read_parts(by_pandoc(html)).formula.split("\n")


def _corrected(html: str) -> str:
    """The page without what is not content to a reader, tables that lay it out made blocks."""
    import lxml.html  # noqa: PLC0415  needs an extra

    body = lxml.html.document_fromstring(html).body
    for path in _GONE:
        for element in body.xpath(path):
            element.drop_tree()
    for name, meant in _MEANT.items():
        for element in body.iter(name):
            element.tag = meant
    _write_listings(body)
    for table in list(body.iter("table")):
        for caption in table.findall("caption"):  # Before the table, as pages show it.
            caption.tag = "div"
            table.addprevious(caption)
        if _is_layout(table):
            parts = table.iterdescendants("tr", "td", "th", "tbody", "thead", "tfoot")
            for element in [*(part for part in parts if table_of(part) is table), table]:
                element.tag = "div"
    body.tag = "div"
    written: str = lxml.html.tostring(body, encoding="unicode")
    return written


def _write_listings(body: Any) -> None:
    """Make the listings of Doxygen preformatted."""
    for listing in body.xpath("//div[@class='fragment'][div[@class='line']]"):
        code = "\n".join(line.text_content() for line in listing)
        for line in list(listing):
            listing.remove(line)
        listing.tag, listing.text = "pre", code


def _is_layout(table: Any) -> bool:
    """Does a table only place things: one row or column, or blocks in it that no cell can hold?"""
    own = (row for row in table.iter("tr") if table_of(row) is table)
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in own]
    filled = [row for row in rows if any(cell.text_content().strip() for cell in row)]
    widest = max((len([c for c in row if c.text_content().strip()]) for row in filled), default=0)
    if len(filled) < 2 or widest < 2 or table.get("role") in ("presentation", "none"):
        return True
    if table.get("class") == "memname":  # A declaration, by Doxygen.
        return True
    blocks = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote")
    long = any(len(cell.text_content().strip()) > 1000 for row in filled for cell in row)
    return long or any(True for _ in table.iterdescendants(*blocks))


def by_pandoc(html: str) -> str:
    """What pandoc writes of HTML. Raises UsageError where it is not installed."""
    run = subprocess.run(  # noqa: S603  our own words
        (_pandoc(), *_OPTIONS), input=html, capture_output=True, text=True, check=True
    )
    return run.stdout


@cache
def _pandoc() -> str:
    """Where pandoc is: the one that the extra brings, else the system's."""
    try:
        import pypandoc  # noqa: PLC0415  needs an extra

        return str(pypandoc.get_pandoc_path())
    except (ImportError, OSError):
        if found := shutil.which("pandoc"):
            return found
    raise UsageError("pandoc is not installed: pip install 'dehusk-bench[peers]' brings it")


_LATEX: Final = (
    r"x^2+y^2=z^2", r"\frac{a}{b}", r"\sum_{i=1}^{n}i", r"\sqrt{x+1}", r"\int_{0}^{1}f(x)dx",
    r"\alpha\le\beta", r"e^{i\pi}+1=0", r"\lim_{x\to 0}\frac{\sin x}{x}", r"a_{ij}",
    r"|x|<\epsilon",
    r"\overline{AB}", r"\begin{matrix} a & b \\ c & d \end{matrix}", r"f'(x)", r"10\%",
)  # fmt: skip
_WORDS: Final = "grain mill wheel water stone flour sack miller river harvest".split()  # noqa: SIM905
_FORMS: Final = (
    (
        '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow>'
        '<annotation encoding="application/x-tex">{}</annotation></semantics></math></span>'
        '<span class="katex-html" aria-hidden="true"><span class="mord">x</span></span></span>'
    ),
    (
        '<span class="MathJax_Preview"></span><span class="MathJax"><nobr>x</nobr></span>'
        '<script type="math/tex">{}</script>'
    ),
    (
        '<mjx-container class="MathJax"><mjx-math>x</mjx-math><mjx-assistive-mml>'
        '<math><semantics><mi>x</mi><annotation encoding="application/x-tex">{}</annotation>'
        "</semantics></math></mjx-assistive-mml></mjx-container>"
    ),
    '<math alttext="{}"><mi>x</mi></math>',
    (
        '<span class="mwe-math-element"><span style="display:none"><math alttext="{}"><mi>x</mi>'
        '</math></span><img class="mwe-math-fallback-image-inline" src="a.svg" alt="{}"></span>'
    ),
    '<span class="math notranslate nohighlight">\\({}\\)</span>',
    '<span class="math inline">\\({}\\)</span>',
)
"""The usual ways to put a formula into a page: KaTeX, MathJax 2 and 3, MathML, Wikipedia, Sphinx,
pandoc."""


def made_pages(count: int) -> Iterator[Asked]:
    """Pages with formulas that are known, each page in one of the usual ways to show them."""
    for number in range(count):
        dice = random.Random(number)  # noqa: S311  no secret
        form = _FORMS[number % len(_FORMS)]
        html, markdown = ["<h1>The mill</h1>"], ["# The mill"]
        for _ in range(8):
            latex, words = dice.choice(_LATEX), " ".join(dice.choices(_WORDS, k=9))
            escaped = latex.replace("&", "&amp;").replace("<", "&lt;")
            if "script" in form:
                escaped = latex
            html.append(f"<p>{words} {form.replace('{}', escaped)} {words[::-1]}.</p>")
            markdown.append(f"{words} ${latex}$ {words[::-1]}.")
        page = f"<!DOCTYPE html><html><body><article>{''.join(html)}</article></body></html>"
        yield Asked(page, read_parts("\n\n".join(markdown)))
