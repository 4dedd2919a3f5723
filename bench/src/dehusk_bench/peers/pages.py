"""Other extractors to measure against, each at its best, loaded only when asked for.

Nothing can stop one that hangs on a page: they run in this process, and a clock around C code does
not end it.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, TypeVar

from dehusk.page import tags

Peer = Callable[[str, str | None], str]
"""HTML and the page's URL in, text out."""

_LINES: Final = (*tags.BLOCK, "br")
_CELLS: Final = ("td", "th")
_LANG: Final = re.compile(r"<html[^>]{0,2000}?\slang\s*=\s*[\"']?([a-zA-Z]{2,3})", re.IGNORECASE)
_HEAD: Final = 4000
"""Characters in which a page says its language, if it does."""
_SCRIPTS: Final = {
    "ja": re.compile("[\u3041-\u30ff]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ko": re.compile("[\uac00-\ud7a3]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
}
"""Letters that tell a language, roughly: Ukrainian is taken for Russian."""
_LETTERS: Final = 200_000
_MIN_LETTERS: Final = 100
_STOP_LISTS: Final = {
    "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fi": "Finnish",
    "fr": "French", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ko": "Korean",
    "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
}  # fmt: skip
"""jusText's lists of stop words by the language that a page names."""

_Loaded = TypeVar("_Loaded")


def load_peers() -> tuple[dict[str, Peer], list[str]]:
    """The peers by name, and a note on each whose package is not installed or does not load."""
    return load_all(PEERS)


def load_all(
    loaders: Mapping[str, Callable[[], _Loaded]], remedy: str = "pip install 'dehusk-bench[peers]'"
) -> tuple[dict[str, _Loaded], list[str]]:
    """What could be loaded, by name, and a note on each that could not."""
    loaded: dict[str, _Loaded] = {}
    notes: list[str] = []
    for name, load in loaders.items():
        try:
            loaded[name] = load()
        except ImportError as missing:
            notes.append(f"{name} is left out ({missing}): {remedy}")
        except Exception as fault:  # noqa: BLE001  a package that breaks as it loads is left out too
            notes.append(f"{name} is left out: {type(fault).__name__} as it loads ({fault})")
    return loaded, notes


def import_quietly(name: str) -> Any:
    """The module, without what it warns of as it loads: nobody here can mend it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(name)


def language_of(html: str) -> str:
    """The language that the page names, else the one that its script tells; empty if neither does.

    >>> language_of('<!doctype html><html class=a lang="de-AT"><p>Grüß Gott')
    'de'
    """
    found = _LANG.search(html[:_HEAD])
    if found:
        return found[1].lower()
    letters = {name: len(script.findall(html[:_LETTERS])) for name, script in _SCRIPTS.items()}
    best = max(letters, key=letters.__getitem__)
    return best if letters[best] >= _MIN_LETTERS else ""


def _load_trafilatura(**settings: bool) -> Peer:
    """trafilatura, without comments unless asked for: they help on forums and hurt on news."""
    module = import_module("trafilatura")
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    logging.getLogger("htmldate").setLevel(logging.CRITICAL)
    given = {"include_comments": False, **settings}

    def extract(html: str, url: str | None) -> str:
        return module.extract(html, url=url, **given) or ""

    return extract


def _load_resiliparse() -> Peer:
    """resiliparse's main content, without the link targets and list numbers that it would add."""
    module = import_module("resiliparse.extract.html2text")

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        text: str = module.extract_plain_text(
            html, main_content=True, links=False, list_bullets=False
        )
        return text

    return extract


def html_text(html: str) -> str:
    """The text of a piece of HTML, with blocks on their own lines."""
    if not html.strip():
        return ""
    root = import_module("lxml.html").fromstring(html)
    for element in root.iter(*_LINES):
        element.text = f"\n{element.text or ''}"
        element.tail = f"\n{element.tail or ''}"
    for element in root.iter(*_CELLS):
        element.tail = f" {element.tail or ''}"
    text: str = root.text_content()
    return text


def _load_readability() -> Peer:
    """readability-lxml's summary, which is HTML, as text."""
    module = import_module("readability")
    logging.getLogger("readability").setLevel(logging.CRITICAL)

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        return html_text(module.Document(html).summary())

    return extract


def _load_rs_trafilatura() -> Peer:
    """rs-trafilatura, which looks for the type of the page and then for its content."""
    module = import_module("rs_trafilatura")

    def extract(html: str, url: str | None) -> str:
        text: str = module.extract(html, url=url).main_content
        return text

    return extract


def _load_turbohtml() -> Peer:
    """The parser's own extraction of the main text."""
    import turbohtml  # noqa: PLC0415  as the others: only when it is measured

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        return turbohtml.parse(html, positions=False).main_text()

    return extract


def _load_justext() -> Peer:
    """jusText with the stop words of the language that the page names, else without any.

    Without stop words its thresholds of them are 0, as its makers advise.
    """
    module = import_module("justext")

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        name = _STOP_LISTS.get(language_of(html) or "en")
        if name is None:
            paragraphs = module.justext(html, frozenset(), stopwords_low=0, stopwords_high=0)
        else:
            paragraphs = module.justext(html, module.get_stoplist(name))
        return "\n".join(each.text for each in paragraphs if not each.is_boilerplate)

    return extract


def _load_boilerpy3(extractor: str) -> Peer:
    """One of boilerpy3's extractors."""
    module = import_module("boilerpy3.extractors")
    logging.getLogger("boilerpy3").setLevel(logging.CRITICAL)
    run = getattr(module, extractor)(raise_on_failure=False)

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        text: str = run.get_content(html)
        return text

    return extract


def _load_newspaper() -> Peer:
    """newspaper4k's text of an article, in the language that the page names if it knows it."""
    module = import_quietly("newspaper")
    known = {str(code) for code in import_module("newspaper.languages").valid_languages()}
    logging.getLogger("newspaper").setLevel(logging.CRITICAL)

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        language = language_of(html)
        text: str = module.fulltext(html, language=language if language in known else "en")
        return text

    return extract


def _load_goose() -> Peer:
    """goose3's cleaned text; it looks for the language that a page names, and fetches nothing."""
    module = import_quietly("goose3")
    logging.getLogger("goose3").setLevel(logging.CRITICAL)

    def extract(html: str, url: str | None) -> str:  # noqa: ARG001
        settings = {"enable_image_fetching": False, "target_language": language_of(html) or "en"}
        with module.Goose(settings) as goose:
            text: str = goose.extract(raw_html=html).cleaned_text
            return text

    return extract


def load_all_text() -> Peer:
    """All that a browser would show, by dehusk's own tree and text."""
    import numpy as np  # noqa: PLC0415  as the others: only when it is measured

    from dehusk.answer.labels import Label  # noqa: PLC0415
    from dehusk.answer.text import text  # noqa: PLC0415
    from dehusk.page.page import Page  # noqa: PLC0415
    from dehusk.page.parse import parse  # noqa: PLC0415

    def extract(html: str, url: str | None) -> str:
        tree = parse(Page(html, url)).tree
        labels = np.where(tree.shown, Label.CONTENT, Label.HIDDEN).astype(np.int8)
        return text(tree, labels)

    return extract


PEERS: Final[dict[str, Callable[[], Peer]]] = {
    "trafilatura": _load_trafilatura,
    "trafilatura-fast": lambda: _load_trafilatura(fast=True),
    "trafilatura-precision": lambda: _load_trafilatura(favor_precision=True),
    "trafilatura-comments": lambda: _load_trafilatura(include_comments=True),
    "rs-trafilatura": _load_rs_trafilatura,
    "resiliparse": _load_resiliparse,
    "readability": _load_readability,
    "justext": _load_justext,
    "boilerpy3": lambda: _load_boilerpy3("DefaultExtractor"),
    "boilerpy3-article": lambda: _load_boilerpy3("ArticleExtractor"),
    "newspaper4k": _load_newspaper,
    "goose3": _load_goose,
    "turbohtml": _load_turbohtml,
    "all-text": load_all_text,
}
"""Every peer that looks at one page by its name, and how to load it."""
