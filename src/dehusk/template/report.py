"""A page to share about sites: what was found, what is saved, the template, examples, doubts.

One HTML file without scripts, pictures or requests. All that pages say is written as text, so that
nothing of theirs can act in it; the policy in its head forbids what would.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from dehusk.answer.labels import Label
from dehusk.answer.regions import Region
from dehusk.answer.result import Result
from dehusk.errors import PageError
from dehusk.template.doubts import DoubtfulPage, Question
from dehusk.template.survey import Survey, survey
from dehusk.template.templates import Template
from dehusk.template.viewing import Viewed

STYLE: Final = files("dehusk.template").joinpath("report.css").read_text(encoding="utf-8")
"""How the page looks: type, tables, light and dark."""
POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    f"{b64encode(sha256(STYLE.encode()).digest()).decode()}'"
)
"""Allows that style sheet, and nothing else."""
_MAX_SITES: Final = 20
"""Sites that are told of at length; all are in the table."""
_EXAMPLES: Final = 3
_MEANING: Final = (
    "Template is what the pages of a site repeat: menus, banners, footers, lists of other pages."
    " Content is what is left. Scores go from 0 (content) to 1 (template). Expected F1 is how good"
    " dehusk expects its answer to be: 1 is perfect. Tokens are characters / 4."
)
_MAX_MARKDOWN: Final = 4_000
_MAX_TEMPLATE: Final = 20_000
_MAX_REGIONS: Final = 25
_MAX_SLOTS: Final = 12


@dataclass(frozen=True, slots=True)
class SiteReport:
    """What is told of a site."""

    survey: Survey
    template: Template | None
    """Of the family with most pages; None where none can be found."""
    examples: tuple[Result, ...]
    questions: tuple[Question, ...]


def site_report(viewed: Viewed, site: str, step: Callable[[], object] = lambda: None) -> SiteReport:
    """What is told of a site at length; `step` is called for each page."""
    found = survey(viewed, site, step)
    examples, template = [], None
    for number in _chosen(viewed, site):
        try:
            examples.append(viewed.result(number))
            template = template or viewed.template(number)
        except PageError:
            continue
    return SiteReport(found, template, tuple(examples), tuple(found.doubts.questions()))


def _chosen(viewed: Viewed, site: str) -> list[int]:
    """A page out of the middle of each of the largest families, then others."""
    families: dict[int | None, list[int]] = {}
    for number in viewed.sites[site].pages:
        families.setdefault(viewed.families[number], []).append(number)
    largest = sorted(families.values(), key=len, reverse=True)
    first = [pages[len(pages) // 2] for pages in largest]
    others = [number for pages in largest for number in pages if number not in first]
    return [*first, *others][:_EXAMPLES]


def report_html(
    viewed: Viewed, method: str, version: str, step: Callable[[], object] = lambda: None
) -> str:
    """The page about all sites that were looked at, those with most pages at length.

    `step` is called for each page.
    """
    names = sorted(viewed.sites, key=lambda name: (-len(viewed.sites[name].pages), name))
    told = [site_report(viewed, name, step) for name in names[:_MAX_SITES]]
    rest = [survey(viewed, name, step) for name in names[_MAX_SITES:]]
    surveys = [*(one.survey for one in told), *rest]
    made = f"Made by dehusk {version}, method {method}."
    return "".join(_document(surveys, told, made, _left_out(viewed)))


def _left_out(viewed: Viewed) -> str:
    """Says which pages of the source this is not about."""
    said = []
    if viewed.is_cut:
        said.append(f"Only the first {len(viewed.pages):,} pages were read; there are more.")
    if viewed.refusals:
        said.append(f"Pages that could not be used, and are not counted: {len(viewed.refusals):,}.")
    return " ".join(said)


def _document(
    surveys: Sequence[Survey], told: Iterable[SiteReport], made: str, left_out: str
) -> Iterator[str]:
    title = surveys[0].site if len(surveys) == 1 else f"{len(surveys):,} sites"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n'
    yield '<meta name="referrer" content="no-referrer">\n'
    yield f"<title>{_text(title)} · dehusk</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    yield f"<header>\n<h1>{_bdi(title)}</h1>\n<p>What the pages say, and what the site repeats."
    yield f" {left_out}</p>\n</header>\n<main>\n{_table(surveys) if len(surveys) > 1 else ''}"
    for one in told:
        yield from _site(one, is_alone=len(surveys) == 1)
    yield f"</main>\n<footer><p>{_MEANING}</p><p>{_text(made)}</p></footer>\n"
    yield "</body>\n</html>\n"


def _table(surveys: Sequence[Survey]) -> str:
    """All sites, a row each."""
    rows = "".join(
        f"<tr><th scope=row>{_bdi(one.site)}</th><td>{one.pages:,}</td>"
        f"<td>{one.words.before:,}</td><td>{one.words.after:,}</td><td>{one.template_share:.0%}</td>"
        f"<td>{one.words.tokens_saved:,}</td><td>{_number(one.confidence)}</td></tr>\n"
        for one in surveys
    )
    heads = ("pages", "words before", "after", "template", "tokens saved", "expected F1")
    head = "".join(f"<th scope=col>{name}</th>" for name in heads)
    return (
        '<section>\n<h2>All sites</h2>\n<div class="wide" tabindex="0" role="region"'
        f' aria-label="All sites"><table>\n<thead><tr><th scope=col>site</th>{head}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody>\n</table></div>\n</section>\n"
    )


def _site(one: SiteReport, *, is_alone: bool) -> Iterator[str]:
    """All that is told of a site."""
    found = one.survey
    yield f"<section>\n<h2>{'Summary' if is_alone else _bdi(found.site)}</h2>\n"
    yield _figures(found)
    yield _before_and_after(found)
    yield _found(found)
    if one.template is not None:
        yield _template(one.template)
    yield "<h3>Examples</h3>\n" + "".join(map(_example, one.examples))
    yield from _doubts(found, one.questions)
    yield "</section>\n"


def _figures(found: Survey) -> str:
    words = found.words
    figures = (
        (f"{found.pages:,}", "page" if found.pages == 1 else "pages"),
        (f"{found.template_share:.0%}", "of the text is template"),
        (f"{words.tokens_saved:,}", "tokens saved"),
        (_number(found.confidence), "expected F1"),
    )
    cells = "".join(f"<div><dd>{value}</dd><dt>{name}</dt></div>" for value, name in figures)
    return f'<dl class="figures">{cells}</dl>\n'


def _before_and_after(found: Survey) -> str:
    """Two bars: words before, words after."""
    before, after = found.words.before, found.words.after
    share = after / before if before else 0.0
    return (
        '<svg class="bars" viewBox="0 0 600 64" role="img" aria-label="'
        f'{before:,} words before, {after:,} after"><rect class="gone" width="600" height="26"/>'
        f'<rect class="left" width="{600 * share:.1f}" height="26"/>'
        f'<rect class="left" y="34" width="{600 * share:.1f}" height="26"/></svg>\n'
        f"<p>{before:,} words before, <b>{after:,}</b> after.</p>\n"
    )


def _found(found: Survey) -> str:
    """Families, types, and what could not be used."""
    families = len([family for family in found.families if family is not None])
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in found.types.most_common() if kind)
    lines = []
    if families:
        lines.append(f"Families (groups of pages that share a template): {families:,}")
    if kinds:
        lines.append(f"Kinds of pages: {kinds}")
    if found.empty:
        lines.append(f"Pages of which nothing is left, because all is template: {found.empty:,}")
    if found.scripted:
        lines.append(f"Pages that are empty without their scripts: {found.scripted:,}")
    if lost := found.doubts.mostly_removed:
        lines.append(f"Pages that keep less than half of what they say alone: {lost:,}")
    if found.refusals:
        lines.append(f"Pages that could not be judged: {len(found.refusals):,}")
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f"<h3>What was found</h3>\n<ul>{items}</ul>\n" if items else ""


def _template(template: Template) -> str:
    """The template of the largest family: its slots, and its HTML to read."""
    rows = "".join(map(_slot, template.slots[:_MAX_SLOTS]))
    pages = len(template.results)
    table = (
        f'<div class="wide" tabindex="0" role="region" aria-label="Slots of'
        f' {_text(template.result.site)}">'
        "<table>\n<thead><tr><th scope=col>slot</th><th scope=col>pages</th><th scope=col>selector"
        f"</th><th scope=col>example</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
    many = "1 page" if pages == 1 else f"{pages:,} pages"
    html = _pre(template.html, _MAX_TEMPLATE)
    return (
        f"<h3>The template</h3>\n<p>Of the largest family, found on {many} of it. Slots are the"
        f" places that content fills{':' if rows else '; none were found.'}</p>\n"
        f"{table if rows else ''}<details><summary>The template as HTML</summary>{html}</details>\n"
    )


def _slot(slot: dict[str, object]) -> str:
    examples = slot["examples"]
    value = str(examples[0]["value"]) if isinstance(examples, list) and examples else ""
    return (
        f"<tr><th scope=row>{_text(str(slot['name']))}</th><td>{slot['pages']}</td>"
        f"<td><code>{_text(str(slot['css']))}</code></td><td>{_bdi(value)}</td></tr>\n"
    )


def _example(result: Result) -> str:
    """A page: what was kept and dropped of it and why, and the Markdown that comes out."""
    regions = "".join(map(_region, result.regions[:_MAX_REGIONS]))
    more = len(result.regions) - _MAX_REGIONS
    rest = f"<li>… {more:,} more</li>" if more > 0 else ""
    return (
        f"<article>\n<h4>{_bdi(result.title or 'Untitled')}</h4>\n<p>{_link(result.url)}"
        f" · {result.template_share:.0%} template</p>\n"
        f'<div class="pair"><div><h5>Before: kept and dropped</h5><ul class="regions">{regions}'
        f"{rest}</ul></div><div><h5>After: Markdown</h5>{_pre(result.markdown, _MAX_MARKDOWN)}"
        "</div></div>\n</article>\n"
    )


def _region(region: Region) -> str:
    kind, verb = ("gone", "dropped") if region.label is Label.TEMPLATE else ("left", "kept")
    return (
        f'<li class="{kind}"><span>{_bdi(region.text)}</span>'
        f"<small>{verb}: {_text(region.reason)}</small></li>"
    )


def _doubts(found: Survey, questions: Sequence[Question]) -> Iterator[str]:
    """Questions, and pages to look at."""
    yield "<h3>What is doubtful</h3>\n"
    if questions:
        yield "<p>Is this content or template? Answers to these questions would improve the"
        yield " most. <code>dehusk review</code> asks them.</p>\n<ol>"
        yield "".join(map(_question, questions)) + "</ol>\n"
    else:
        yield "<p>No questions: nothing that pages share is in doubt.</p>\n"
    if pages := found.doubts.unsure_pages():
        yield "<p>Pages to look at, with their expected F1, and how much of their own text the site"
        yield " took:</p>\n<ul>"
        yield "".join(map(_page, pages)) + "</ul>\n"


def _question(question: Question) -> str:
    dropped = question.pages - question.kept_pages
    said = "".join(f"<q>{_bdi(example.text)}</q> " for example in question.examples)
    return (
        f"<li><code>{_text(question.selector)}</code>: kept on {question.kept_pages:,} and dropped"
        f" on {dropped:,} of the pages that have it; score {question.score:.2f}<br>{said}"
        "</li>\n"
    )


def _page(page: DoubtfulPage) -> str:
    return f"<li>{_number(page.confidence)} · {page.site_removed or 0:.0%} {_link(page.url)}</li>\n"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _pre(text: str, most: int) -> str:
    """Text as it is, up to so many characters."""
    cut = f"{text[:most]}\n…" if len(text) > most else text
    return f'<pre dir="auto" tabindex="0">{_text(cut)}</pre>'


def _link(url: str | None) -> str:
    """A URL; a link that sends no referrer, if it is one of the web."""
    if not url:
        return "a page without a URL"
    shown = _bdi(url if len(url) <= 200 else f"{url[:199]}…")
    if not url.lower().startswith(("https://", "http://")):
        return shown
    return f'<a href="{_text(url)}" rel="noopener noreferrer nofollow">{shown}</a>'


def _bdi(text: str) -> str:
    """Text of a page inside a line: its direction is its own."""
    return f"<bdi>{_text(text)}</bdi>"


def _text(text: str) -> str:
    """Text that is nothing but text."""
    clean = "".join(c if c.isprintable() or c in "\n\t\u200c\u200d" else "\ufffd" for c in text)
    return escape(clean.encode("utf-8", "replace").decode())
