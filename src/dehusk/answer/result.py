"""The answer on one page. What it shows is rendered when it is asked for, and only then."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from threading import local
from typing import TYPE_CHECKING, Final
from weakref import ref

import numpy as np
from msgspec import Raw, json

from dehusk.answer.describe import Description, describe, needs_scripts
from dehusk.answer.fingerprint import fingerprint
from dehusk.answer.html import content_html, marked_html, template_html
from dehusk.answer.labels import Label, Labels, Reason, label
from dehusk.answer.languages import language_of
from dehusk.answer.markdown import markdown
from dehusk.answer.override import Overrides, choose
from dehusk.answer.problem import MOST_SURE, Problem, problem_of
from dehusk.answer.safe_html import safe_html
from dehusk.answer.text import Link, characters, links, links_json, text
from dehusk.errors import DehuskError, PageError
from dehusk.memory import Table
from dehusk.memory.tables import EMPTY
from dehusk.methods.contract import Assessment, Explanation, Verdict
from dehusk.page.page import Capture, Page, check_time
from dehusk.page.parse import parse
from dehusk.page.tree import Choices, Tree
from dehusk.settings import Limits, MarkdownSettings

if TYPE_CHECKING:
    from dehusk.answer.pieces import ContentPiece
    from dehusk.answer.regions import Region
    from dehusk.answer.verdicts import Node, Section

FIELDS: Final = (
    "url", "site", "title", "text", "markdown", "template_share", "pages_seen", "family",
    "revision", "template_changed", "type", "type_confidence", "lang", "author", "published",
    "modified", "summary", "image", "site_name", "tags", "structured", "comments", "confidence",
    "problem", "site_removed", "fingerprint", "links", "error",
)  # fmt: skip
"""The fields of the JSON line, in order. Every one is always there; some may follow (schema)."""
MUCH_REMOVED: Final = 0.5
"""Pages of whose own text the site took more than this share are named to the user."""


@dataclass(frozen=True)
class Result:
    """One page's answer: text, Markdown, HTML, template, links and what it says about itself."""

    url: str | None
    site: str
    pages_seen: int
    """Pages of the site learned so far, this one included."""
    labels: Labels = field(repr=False)
    _page: Page = field(repr=False)
    _limits: Limits = field(repr=False)
    _tree: Tree | None = field(repr=False)
    """None once it was let go: it is some three times as large as the page."""
    capture: Capture | None = None
    """How an archive or a crawl came to the page, where it says."""
    explanation: Explanation | None = field(default=None, repr=False)
    """What the scores are made of; None where nobody asked, or the method cannot say."""
    markdown_settings: MarkdownSettings = field(default=MarkdownSettings(), repr=False)
    """What Markdown has of links, images and tables."""
    _judge: Callable[[], Verdict] = field(default=Verdict, repr=False)
    _assessment: Assessment | None = field(default=None, repr=False)
    _places: Table = field(default=EMPTY, repr=False)
    """Where the site's pages show their dates and authors."""
    _emptied: Problem | None = None
    """The problem for which nothing of the page is kept."""

    def __post_init__(self) -> None:
        _stays(self)

    @property
    def tree(self) -> Tree:
        """The page as a tree; read again if other answers have followed this one."""
        tree = self._tree
        if tree is None:
            tree = self.__dict__["_tree"] = parse(self._page, self._limits).tree
            _stays(self)
        return tree

    def _let_go(self) -> None:
        """Keep the page and what was found, and nothing large that can be had again."""
        found = self._assessment
        if found is not None:
            comments, confidence, removed = found.comments(), self.confidence, self.site_removed
            found = Assessment(found.scores, lambda: comments, lambda: confidence, lambda: removed)
        _ = self.problem
        verdict = self.verdict
        self.__dict__.update(_tree=None, _assessment=found, _judge=lambda: verdict)
        for name in _LARGE:
            self.__dict__.pop(name, None)

    @cached_property
    def verdict(self) -> Verdict:
        """Family, type and change of template, if the method gives them."""
        return self._judge()

    @property
    def family(self) -> int | None:
        """Names, within the site, the pages that share a template with this one."""
        return self.verdict.family

    @property
    def type(self) -> str | None:
        """Article, listing, collection, forum, product, documentation, service or other."""
        return self.verdict.type

    @property
    def type_confidence(self) -> float | None:
        """How sure the type is, 0 … 1."""
        return self.verdict.type_confidence

    @property
    def template_changed(self) -> bool | None:
        """True on the page that shows that the site's template has changed."""
        return self.verdict.template_changed

    @cached_property
    def text(self) -> str:
        """The content as plain text, blocks on their own lines."""
        return text(self.tree, self.labels.labels)

    @cached_property
    def comments(self) -> str | None:
        """What readers wrote below the content, as plain text; None if the method cannot tell,
        or was told to keep or to drop it.
        """
        found = self._assessment.comments() if self._assessment else None
        if found is None or not found.any():
            return None if found is None else ""
        by_user = self.labels.reasons == Reason.DROPPED.value
        found = found & (self.labels.labels == Label.TEMPLATE.value) & ~by_user
        return (
            text(self.tree, label(self.tree, np.where(found, 0.0, 1.0)).labels)
            if found.any()
            else ""
        )

    @cached_property
    def confidence(self) -> float | None:
        """The F1 of words that the method expects of the text, 0 … 1, whatever the user keeps or
        drops; None if the method cannot say, or the page has no text. Low on a page with a problem.
        """
        sure = self._assessment.confidence() if self._assessment else None
        return sure if sure is None or self.problem is None else min(sure, MOST_SURE)

    @cached_property
    def problem(self) -> Problem | None:
        """Why the page is hardly what you wanted, such as a wall or an error; None if it may be."""
        if self._emptied is not None:
            return self._emptied
        return problem_of(
            self.tree, self.labels.labels, self.text, self.characters, self._assessment,
            self.capture.status if self.capture else None,
        )  # fmt: skip

    @cached_property
    def site_removed(self) -> float | None:
        """The share of the characters that the page alone would keep that its site took away,
        0 … 1; None if the method cannot say.
        """
        return self._assessment.site_removed() if self._assessment else None

    @cached_property
    def markdown(self) -> str:
        """The content as Markdown, links absolute; `written_with` gives another style."""
        return markdown(self.tree, self.labels.labels, self.url, self.markdown_settings)

    def written_with(self, settings: MarkdownSettings) -> Result:
        """The same answer, with Markdown written as these settings say."""
        return replace(self, markdown_settings=settings)

    @cached_property
    def html(self) -> str:
        """The whole page as HTML, its elements marked `data-dehusk="template|content"`."""
        return marked_html(self.tree, self.labels.labels)

    @cached_property
    def content(self) -> str:
        """The content alone as an HTML page, its elements as the page has them."""
        return content_html(self.tree, self.labels.labels)

    @cached_property
    def safe_html(self) -> str:
        """The content as a fragment of HTML without anything that runs, links absolute."""
        return safe_html(self.tree, self.labels.labels, self.url)

    @cached_property
    def template(self) -> str:
        """The template alone as an HTML page."""
        return template_html(self.tree, self.labels.labels)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The page's links, each labelled template or content."""
        return links(self.tree, self.labels.labels, self.url)

    @property
    def template_share(self) -> float:
        """The share of template among visible characters, 0 … 1."""
        whole, template = self._characters
        return template / whole if whole else 0.0

    @property
    def characters(self) -> int:
        """The page's visible characters, template and content."""
        return self._characters[0]

    @cached_property
    def _characters(self) -> tuple[int, int]:
        return characters(self.tree, self.labels.labels)

    @cached_property
    def description(self) -> Description:
        """Title, language, author, dates and more, if the page states or shows them."""
        fetched = self.capture.date if self.capture else None
        return describe(self.tree, self.labels.labels, self.url, fetched, self._places)

    @property
    def title(self) -> str | None:
        """The page's own title, without what the site adds."""
        return self.description.title

    @cached_property
    def lang(self) -> str | None:
        """The language that the page says it is in, such as `pt-BR`, else that of its text."""
        return self.description.lang or language_of(self.text)

    @property
    def author(self) -> str | None:
        """Who wrote the page, with commas between the names."""
        return self.description.author

    @property
    def published(self) -> str | None:
        """When the page was published, as ISO 8601."""
        return self.description.published

    @property
    def modified(self) -> str | None:
        """When the page was last changed, as ISO 8601."""
        return self.description.modified

    @property
    def summary(self) -> str | None:
        """What the page says it is about."""
        return self.description.summary

    @property
    def image(self) -> str | None:
        """The address of the image that stands for the page."""
        return self.description.image

    @property
    def site_name(self) -> str | None:
        """What the site calls itself."""
        return self.description.site_name

    @property
    def tags(self) -> tuple[str, ...]:
        """What the page is filed under."""
        return self.description.tags

    @cached_property
    def structured(self) -> dict[str, object] | None:
        """The page's JSON-LD, microdata and Open Graph as it states them; None if it has none."""
        from dehusk.answer.structured import structured  # noqa: PLC0415  few ask for it

        return structured(self.tree, self.url)

    @cached_property
    def fingerprint(self) -> str:
        """A 64-bit SimHash of the content's words, in hex: similar for near duplicates."""
        return fingerprint(self.text)

    def pieces(self, max_tokens: int) -> list[ContentPiece]:
        """The content in pieces of at most this many tokens (characters / 4), for retrieval."""
        from dehusk.answer.pieces import pieces  # noqa: PLC0415  few ask for what needs these

        return pieces(self.tree, self.labels.labels, max_tokens, self.url, self.markdown_settings)

    @cached_property
    def sections(self) -> tuple[Section, ...] | None:
        """The sections of the page that show a text of their own, in document order.

        None from a method that does not smooth.
        """
        from dehusk.answer.verdicts import sections_of  # noqa: PLC0415

        return sections_of(self.tree, self.labels)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node with its score, label and reason, in document order."""
        from dehusk.answer.verdicts import nodes_of  # noqa: PLC0415

        return nodes_of(self.tree, self.labels)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The parts of the page that were kept or dropped as a whole, in order, and why."""
        from dehusk.answer.regions import regions  # noqa: PLC0415

        return regions(self.tree, self.labels, self.explanation)

    @cached_property
    def needs_render(self) -> bool:
        """True for a page that is empty until its scripts have run: show it in a browser first."""
        return needs_scripts(self.tree)

    @property
    def revision(self) -> int:
        """Which state of the site's memory the answer comes from: the pages it had learned.

        Two answers with the same revision come from the same memory. Anything that a site learns
        may change its answers, so the number must rise with every page.
        """
        return self.pages_seen

    def choices(self, wanted: Overrides) -> Choices:
        """For each node the label that these selectors give it, or -1 if they do not select it."""
        parsed = parse(self._page, self._limits, by_parser=True)
        return choose(parsed.tree, parsed.document, wanted)

    @property
    def error(self) -> None:
        """None: the page was read."""
        return None

    def to_json(
        self, piece_tokens: int | None = None, *, is_raw: bool = False, has_structured: bool = False
    ) -> dict[str, object]:
        """The page's JSON line; null stands for what this version or method does not know.

        With `piece_tokens` it also has `pieces` of at most that many tokens each, and with
        `has_structured` what the page states for machines, else null. `is_raw` is for who writes
        it with msgspec: links are a `Raw`, JSON already.
        """
        parts = (
            "description", "verdict", "text", "comments", "markdown", "template_share",
            "fingerprint",
        )  # fmt: skip
        for name in parts:
            getattr(self, name)  # Kept from now on. Each may be long: the clock is asked between.
            check_time("rendering")
        links = links_json(self.tree, self.labels.labels, self.url)
        check_time("rendering")
        description, verdict = self.description, self.verdict
        confidence = verdict.type_confidence
        fields: dict[str, object] = {
            "url": self.url,
            "site": self.site,
            "title": description.title,
            "text": self.text,
            "markdown": self.markdown,
            "template_share": round(self.template_share, 4),
            "pages_seen": self.pages_seen,
            "family": verdict.family,
            "revision": self.revision,
            "template_changed": verdict.template_changed,
            "type": verdict.type,
            "type_confidence": None if confidence is None else round(confidence, 3),
            "lang": self.lang,
            "author": description.author,
            "published": description.published,
            "modified": description.modified,
            "summary": description.summary,
            "image": description.image,
            "site_name": description.site_name,
            "tags": list(description.tags) or None,
            "structured": self.structured if has_structured else None,
            "comments": self.comments,
            "confidence": None if self.confidence is None else round(self.confidence, 3),
            "problem": self.problem,
            "site_removed": None if self.site_removed is None else round(self.site_removed, 3),
            "fingerprint": self.fingerprint,
            "links": Raw(links) if is_raw else json.decode(links),
            "error": None,
        }
        if self.capture and self.capture.truncated:
            fields["truncated"] = self.capture.truncated
        if self.needs_render:
            fields["needs_render"] = True
        if piece_tokens is not None:
            fields["pieces"] = [asdict(piece) for piece in self.pieces(piece_tokens)]
        return fields


_RECENT: Final = local()
"""Of each thread the answers that came last."""
_MAX_RECENT: Final = 4
"""Answers whose trees stay at hand: users look at the last one, or compare a few."""
_LARGE: Final = (
    "text", "comments", "markdown", "html", "content", "safe_html", "template", "links",
    "sections", "nodes", "regions", "structured",
)  # fmt: skip
"""What was rendered, and goes with the tree."""


def _stays(result: Result) -> None:
    """Let the tree of this answer stay, and that of the one that has stayed longest go."""
    recent: deque[ref[Result]] = _RECENT.__dict__.setdefault("answers", deque())
    recent.append(ref(result))
    if len(recent) > _MAX_RECENT:
        last = recent.popleft()()
        if last is not None and last is not result:
            with suppress(Exception):  # It keeps its tree, and says so to who asks for it.
                last._let_go()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A page, or a piece of input, that could not be used, and why."""

    url: str | None
    site: str | None
    error: DehuskError
    pages_seen: None = None
    text: None = None
    markdown: None = None
    html: None = None
    problem: None = None
    capture: None = None

    def to_json(
        self,
        piece_tokens: int | None = None,
        *,
        has_structured: bool = False,  # noqa: ARG002  there is nothing of it
    ) -> dict[str, object]:
        """The JSON line of a page that failed: an error, and null for everything unknown."""
        error = self.error
        code = error.code if isinstance(error, PageError) else "source"
        message = error.reason if isinstance(error, PageError) else str(error)
        known = {"url": self.url, "site": self.site, "error": {"code": code, "message": message}}
        more = {} if piece_tokens is None else {"pieces": None}
        return dict.fromkeys(FIELDS) | known | more
