"""Sample sites, made up page by page, with the gold label of every node.

A site is a kind, a seed and a language: the seed decides its layout, its class names, its
vocabulary and what it puts around its content. A page depends on its site and its number alone.

What is content: titles and texts, tables and lists, pictures with captions; the teasers of a list;
a product's price, data and reviews; who wrote a forum post, and when. What is template: menus, ways
through the site, related pages, the contents of a page, forms, buttons, advertising, consent; the
line that says who wrote an article and when, since it describes the page; a forum member's box
and signature; 'read more', 'reply', 'was this helpful?'.

A text is content or template by construction. An element is content if it shows any content, else
template if it shows anything; what shows nothing goes with the place it was made for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dehusk.errors import UsageError
from dehusk_bench.samples import blog, docs, forum, news, shop, stories, tables, topics, town
from dehusk_bench.samples.folder import write_site
from dehusk_bench.samples.language import LANGS
from dehusk_bench.samples.page import SamplePage, make_page
from dehusk_bench.samples.site import plan_site

__all__ = [
    "KINDS", "LANGS", "OTHER_KINDS", "SHARED_KINDS", "SamplePage", "sample_site", "write_site",
]  # fmt: skip

_KINDS: Final = {
    module.KIND.name: module.KIND for module in (news, shop, forum, docs, town, blog, tables)
}
KINDS: Final = tuple(_KINDS)
_OTHER_KINDS: Final = {docs.CLASSES.name: docs.CLASSES}
OTHER_KINDS: Final = tuple(_OTHER_KINDS)
"""Kinds that only training asks for: `classes` are references that repeat inherited members on page
after page, inside the content."""
_SHARED_KINDS: Final = {module.KIND.name: module.KIND for module in (stories, topics)}
SHARED_KINDS: Final = tuple(_SHARED_KINDS)
"""Kinds whose sites write of the same things, in English: `stories` the same ones, under templates
of three weights (seed modulo 3); `topics` of the same five topics, each site in pages of its own. A
page's `subject` says which."""


def sample_site(
    kind: str, *, pages: int = 30, seed: int = 0, lang: str = "en", first: int = 0
) -> Iterator[SamplePage]:
    """The first pages of a site, one after another, in the order a crawler would meet them.

    `first` leaves out so many at the beginning. Raises UsageError for a kind that there is not, or
    a language that is not in `LANGS`.
    """
    kinds = _KINDS | _OTHER_KINDS | _SHARED_KINDS
    if kind not in kinds:
        raise UsageError(f"no sample site of the kind {kind!r}: there are {', '.join(kinds)}")
    if lang not in LANGS or (lang != "en" and kind in _SHARED_KINDS):
        known = "en" if kind in _SHARED_KINDS else ", ".join(LANGS)
        raise UsageError(f"no sample site {kind} in the language {lang!r}: there are {known}")
    site = plan_site(kinds[kind], seed, lang)
    return (make_page(site, index) for index in range(first, first + pages))
