"""What a request carries, read within limits: packed or not, in pieces or whole."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from contextlib import suppress
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from starlette.requests import ClientDisconnect, Request

from dehusk.doors.service.accept import KINDS
from dehusk.doors.service.server import Failed
from dehusk.methods.papers.hyperlink import Equality, Hyperlink, best_settings
from dehusk.methods.papers.hyperlink.addresses import host_of
from dehusk.output.formats import whole_fields
from dehusk.page.page import Page
from dehusk.settings import MAX_LOADS, Images, Links, MarkdownSettings, Tables
from dehusk.template.linked import MAX_URL

_AUTO: Final = 32 + zlib.MAX_WBITS
"""zlib or gzip, by how it begins."""
_STEP: Final = 1 << 20
_CHARSET: Final = re.compile(r'charset="?([A-Za-z0-9._:+-]{1,40})', re.IGNORECASE)
_HTML: Final = ("text/html", "application/xhtml+xml")
_FORM: Final = "application/x-www-form-urlencoded"
"""What curl calls everything that follows `--data`."""
_JSON_BODY: Final = re.compile(rb'\s*\{\s*"')
_Model = TypeVar("_Model", bound=BaseModel)
MAX_NAME: Final = MAX_URL
"""Characters of a URL or of a site's name."""
_MAX_LOADS: Final = 1000
_MAX_FETCHED: Final = 100
_Address = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
_Url = Annotated[str | None, Field(max_length=MAX_NAME, description="Where the page came from.")]
_Site = Annotated[
    str | None,
    Field(min_length=1, max_length=MAX_NAME, description="Its site; else its URL's host."),
]


class PagePost(BaseModel):
    """A page as a client posts it."""

    model_config = ConfigDict(extra="forbid")

    html: str = Field(description="The page.")
    url: _Url = None
    site: _Site = None

    def page(self) -> Page:
        """The page."""
        return Page(self.html, self.url, self.site)


class AnswerQuery(BaseModel):
    """What may be asked of the answer on a page."""

    pieces: int | None = Field(
        None, ge=1, le=1_000_000, description="Add pieces of at most so many tokens."
    )
    heading_path: bool = Field(
        default=False, description="Begin the text of each piece with the headings above it."
    )
    links: Links = Field(default=Links.KEEP, description="Links in Markdown.")
    images: Images = Field(default=Images.KEEP, description="Images in Markdown.")
    tables: Tables = Field(default=Tables.GFM, description="Tables in Markdown.")
    learn: bool = Field(default=True, description="Learn the page, too.")

    def markdown(self) -> MarkdownSettings:
        """How Markdown is asked for."""
        return MarkdownSettings(self.links, self.images, self.tables, self.heading_path)

    def options(self) -> dict[str, Any]:
        """The same as `Service.clean` takes it."""
        return {"learns": self.learn, "pieces": self.pieces, "markdown": self.markdown()}

    def check(self, kind: str = "application/json") -> None:
        """Raise Failed for what an answer of this media type has no place for."""
        row = KINDS[kind].row
        if self.heading_path and not self.pieces:
            raise _bad("heading_path says how pieces begin: add pieces=N")
        if self.pieces and not row.has_pieces:
            raise _bad(f"{kind} has no pieces: ask with Accept: application/json")
        is_usual = self.markdown() == MarkdownSettings(heading_path=self.heading_path)
        if not (is_usual or row.has_markdown):
            raise _bad(f"links, images and tables are about Markdown: {kind} has none")


class CleanQuery(AnswerQuery):
    """A page that is posted, in the query."""

    url: _Url = None
    site: _Site = None


class LoadQuery(CleanQuery):
    """A page that the service is to load."""

    url: str = Field(min_length=1, max_length=MAX_NAME, description="The page to load.")


class BatchQuery(AnswerQuery):
    """What may be asked of all pages of a batch."""

    revise: str | None = Field(
        None,
        pattern="^(last|[0-9]{1,15})$",
        description="Only answers that have changed since this revision, or since the `last` one.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.revise is not None and not self.learn:
            raise ValueError("revise takes note of answers, so it needs learn")
        return self


class TemplatePost(BaseModel):
    """A page and others of its site."""

    model_config = ConfigDict(extra="forbid")

    page: PagePost
    others: list[PagePost] = Field(
        default_factory=list, max_length=1000, description="Other pages of its site."
    )


class KeyPost(BaseModel):
    """The page whose template is looked for, by the pages that it links."""

    model_config = ConfigDict(extra="forbid")

    html: str | None = Field(None, description="The page; else it is fetched, with `fetch`.")
    url: str = Field(min_length=1, max_length=MAX_NAME, description="Where it came from.")
    site: _Site = None


class LoadedPost(BaseModel):
    """A page that was asked for, and loaded."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(min_length=1, max_length=MAX_NAME, description="As it was asked for.")
    html: str = Field(description="The page.")
    location: str | None = Field(
        None, min_length=1, max_length=MAX_NAME, description="Where a redirect led, if one did."
    )


class LinkedPost(BaseModel):
    """A page, what was loaded of the pages that it links, and the method's settings."""

    model_config = ConfigDict(extra="forbid")

    page: KeyPost
    pages: list[LoadedPost] = Field(
        default_factory=list, max_length=_MAX_LOADS, description="Pages loaded so far."
    )
    failed: list[_Address] = Field(
        default_factory=list, max_length=_MAX_LOADS, description="URLs that led nowhere."
    )
    size: int = Field(3, ge=1, le=64, description="Pages that must link to each other.")
    votes: int | None = Field(
        None, ge=1, le=64, description="Pages that must have a node to make it template."
    )
    max_loads: int | None = Field(
        None,
        ge=2,
        le=_MAX_LOADS,
        description="Pages to ask for at most, the key page included: 5, or two more than `size`;"
        f" {MAX_LOADS} by the equality `paper`.",
    )
    equality: Equality = Field(Equality.TEXT, description="When two nodes are the same.")
    menu: StrictBool = Field(default=False, description="Follow the links of the menu first.")
    fetch: StrictBool = Field(
        default=False, description="Let the service load the pages, if it was started to do so."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.fetch and self.page.html is None:
            raise ValueError("page.html: needed where the service does not fetch")
        if self.fetch and (self.max_loads or 0) > _MAX_FETCHED:
            raise ValueError(f"max_loads: at most {_MAX_FETCHED} where the service fetches")
        host = host_of(self.page.url)
        seen = set()
        for number, page in enumerate(self.pages):
            if host_of(page.url) != host:
                raise ValueError(f"pages.{number}.url: another host than that of the page")
            if page.url in seen:
                raise ValueError(f"pages.{number}.url: given more than once")
            seen.add(page.url)
        return self

    def settings(self) -> dict[str, Any]:
        """The method's settings, as plain data. Raises SettingError."""
        given = {
            "size": self.size, "votes": self.votes, "max_loads": self.max_loads,
            "equality": self.equality.value, "menu": self.menu,
        }  # fmt: skip
        settings = {"max_loads": MAX_LOADS} | best_settings(
            {name: value for name, value in given.items() if value is not None}
        )
        Hyperlink(**settings)
        return settings


class RulePost(BaseModel):
    """A rule of a site."""

    model_config = ConfigDict(extra="forbid")

    site: str = Field(min_length=1, max_length=MAX_NAME, description="The site's name.")
    action: str = Field(pattern="^(keep|drop)$", description="`keep` or `drop`.")
    selector: str = Field(min_length=1, max_length=500, description="What it is about, in CSS.")


CLEAN: Final = TypeAdapter(CleanQuery)
LOAD: Final = TypeAdapter(LoadQuery)
BATCH: Final = TypeAdapter(BatchQuery)
PAGE: Final = TypeAdapter(PagePost)
TEMPLATE: Final = TypeAdapter(TemplatePost)
RULE: Final = TypeAdapter(RulePost)
LINKED: Final = TypeAdapter(LinkedPost)


async def read_body(request: Request, max_bytes: int, timeout_s: float) -> bytes:
    """The whole body, unpacked. Raises Failed: 408 too slow, 413 too large, 415, 400."""
    unpack = _unpacker(request.headers.get("content-encoding", "").strip().lower(), max_bytes)
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > max_bytes:
        raise _too_large(max_bytes)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout_s):
            async for piece in request.stream():
                whole = unpack(piece, size)
                size += len(whole)
                if size > max_bytes:
                    raise _too_large(max_bytes)
                pieces.append(whole)
    except TimeoutError:
        raise Failed(408, "slow", f"the body did not come within {timeout_s:g} s") from None
    except ClientDisconnect:
        raise Failed(400, "cut_off", "the body is incomplete") from None
    unpack(b"", size)
    return b"".join(pieces)


def _too_large(max_bytes: int) -> Failed:
    return Failed(413, "too_large", f"more than {max_bytes} bytes, decompressed")


def _unpacker(encoding: str, max_bytes: int) -> Any:
    """A call that unpacks a piece of a body, never to more than fits; b"" ends it."""
    if encoding in ("", "identity"):
        return lambda piece, _size: piece
    if encoding not in ("gzip", "deflate", "x-gzip"):
        raise Failed(
            415, "encoding", f"a body may be compressed with gzip or deflate, not {encoding!r}"
        )
    state = zlib.decompressobj(_AUTO)

    def unpack(piece: bytes, size: int) -> bytes:
        nonlocal state
        if not piece:
            if size and not state.eof:
                raise Failed(400, "packing", "the packed body is not whole")
            return b""
        found = []
        try:
            while piece:
                room = max_bytes - size + 1
                whole = state.decompress(piece, min(room, _STEP)) if room > 0 else b""
                found.append(whole)
                size += len(whole)
                if size > max_bytes:
                    raise _too_large(max_bytes)
                piece = state.unused_data if state.eof else state.unconsumed_tail
                if state.eof and piece:
                    state = zlib.decompressobj(_AUTO)  # gzip files may follow one another.
        except zlib.error:
            raise Failed(400, "packing", f"the body is not {encoding}") from None
        return b"".join(found)

    return unpack


def read_json(request: Request, adapter: TypeAdapter[_Model], body: bytes) -> _Model:
    """What a body of JSON says. Raises Failed: 400, 415.

    Under another name it is refused: a web page may send plain text anywhere without being asked.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Failed(415, "content_type", "send the body as application/json")
    return validated(adapter, body)


def read_page(request: Request, body: bytes, url: str | None, site: str | None) -> Page:
    """The page of a request: JSON, or HTML as it is, also if nobody says so. Raises Failed."""
    kind = request.headers.get("content-type", "").strip().lower()
    if kind.startswith("application/json"):
        post = validated(PAGE, body)
        return Page(post.html, post.url or url, post.site or site)
    if not kind.startswith(_HTML):
        _check_unnamed(kind, body)
        return Page(body, url, site)
    charset = _CHARSET.search(kind)
    return Page(body, url, site, charset[1] if charset else None)


def _check_unnamed(kind: str, body: bytes) -> None:
    """Raise Failed for a body that is not called HTML, and is none."""
    if kind and not kind.startswith(_FORM):
        words = "a page is text/html or application/json; a body without a name is HTML"
    elif not body:
        raise _bad(
            "there is no page: post it as the body, or GET /v1/clean?url=… to have it loaded"
        )
    elif _JSON_BODY.match(body):
        words = "this looks like JSON: say so with Content-Type: application/json (curl --json)"
    elif kind and b"<" not in body:
        words = "a form is no page: post its HTML as the body, and url and site in the query"
    else:
        return
    raise Failed(415, "content_type", words)


def _bad(words: str) -> Failed:
    return Failed(400, "bad_request", words)


def read_pages(body: bytes, max_pages: int) -> list[Page]:
    """The pages of JSON lines. Raises Failed: 400, 413."""
    lines = [(n, line) for n, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    if len(lines) > max_pages:
        raise Failed(413, "too_many_pages", f"more than {max_pages} pages at once")
    pages = []
    for number, line in lines:
        try:
            post = validated(PAGE, line)
        except Failed as failed:
            # What reads the line calls it the first.
            words = failed.message.replace(" at line 1 column", " at column")
            raise Failed(400, failed.code, f"line {number}: {words}") from None
        pages.append(post.page())
    return pages


def validated(adapter: TypeAdapter[_Model], given: bytes | dict[str, str]) -> _Model:
    """The object that a body of JSON, or a query, describes. Raises Failed: 400."""
    try:
        if isinstance(given, bytes):
            return adapter.validate_json(given)
        return adapter.validate_python(given)
    except ValidationError as fault:
        if isinstance(given, bytes) and b"\\u" in given:
            with suppress(ValueError, RecursionError, ValidationError):
                # It takes no half of a surrogate pair, which pages have.
                return adapter.validate_python(whole_fields(json.loads(given)))
        raise Failed(400, "bad_request", first_fault(fault)) from None


def first_fault(fault: ValidationError) -> str:
    """What is wrong first, and where."""
    first = fault.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    words = first["msg"].removeprefix("Value error, ")
    return f"{place}: {words}" if place else words
