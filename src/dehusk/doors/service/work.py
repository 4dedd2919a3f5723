"""A worker process: judges pages that others send, within limits that the system enforces.

It holds no file and writes none. A page that takes too much CPU time ends the process; one that
takes too much memory meets a MemoryError, or ends it too. The service starts another.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any, Final

from dehusk import pipeline
from dehusk.answer.marks import marks_of
from dehusk.answer.override import Overrides
from dehusk.answer.result import Refusal, Result
from dehusk.doors.service.gold import node_gold, strip_marks, teco_score, template_score
from dehusk.errors import DehuskError, NotHtml, PageError, PageFault
from dehusk.memory.answers import answer_of
from dehusk.memory.lending import Borrower, Loan, Terms, terms_of
from dehusk.methods import settings_of
from dehusk.page.page import Page
from dehusk.template.templates import template_of
from dehusk.workers.frames import Header, pack, read

Reply = tuple[Header, list[bytes]]


def limit(memory_bytes: int) -> None:
    """Let this process take so much more memory (on Linux), and write no file and no core."""
    with suppress(OSError):
        now = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + memory_bytes, now + memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _page(header: Header, html: bytes) -> Page:
    """The page that a message describes."""
    given = html.decode("utf-8", "surrogatepass") if header["is_text"] else html
    return Page(given, header["url"], header["site"], header["charset"])


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


class Bench:
    """What a worker works with: the borrowed sites, and the acts it knows."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._borrower = Borrower(terms)
        self._acts: Final[dict[str, Callable[[Header, list[bytes]], Reply]]] = {
            "clean": self._clean,
            "marks": self._clean,
            "benchmark": self._benchmark,
            "explain": self._explain,
            "template": self._template,
            "state": self._state,
        }

    def answer(self, header: Header, blobs: list[bytes]) -> Reply:
        """The reply to a message. A page that cannot be used gives an `error`."""
        loan = header.get("loan")
        if loan:
            overrides = Overrides(tuple(loan["keep"]), tuple(loan["drop"]))
            self._borrower.borrow(Loan(loan["site"], blobs.pop(), overrides))
        if not self._borrower.has(header["site"]):
            return {"is_missing": True}, []
        try:
            return self._acts[header["act"]](header, blobs)
        except PageError as error:
            return self._refusal(header, error)
        except MemoryError:
            return self._refusal(header, PageFault(None, "it takes more memory than is allowed"))
        except DehuskError as error:
            return {"usage": str(error)}, []
        except Exception as fault:  # noqa: BLE001 - the outermost loop: counted and named
            unforeseen = PageFault(None, f"{type(fault).__name__}: {fault}")
            return self._refusal(header, unforeseen)

    def _refusal(self, header: Header, error: PageError) -> Reply:
        """The reply on a page that could not be used."""
        refusal = Refusal(header["page"]["url"], header["site"], error)
        return {"error": error.code, "message": error.reason}, [_json(refusal.to_json())]

    def _clean(self, header: Header, blobs: list[bytes]) -> Reply:
        """The JSON line of a page, what is noted of it, and what it taught."""
        page = _page(header["page"], blobs[0])
        answers: list[bytes] = []

        def render(result: Result) -> None:
            if header["act"] == "marks":
                answers.append(_json(_marked(result)))
            else:
                answers.append(_json(result.to_json(header.get("pieces"))))

        result, lesson = self._borrower.clean(page, render, learns=header["learns"])
        noted = answer_of(page, result)
        facts = {
            "key": noted.key.hex(), "text": noted.text.hex(), "revision": noted.revision,
            "family": result.family, "template_changed": result.template_changed,
            "is_learned": lesson is not None,
        }  # fmt: skip
        return facts, [answers[0]] if lesson is None else [answers[0], lesson]

    def _explain(self, header: Header, blobs: list[bytes]) -> Reply:
        """The regions of a page, and why."""
        result = self._borrower.explain(_page(header["page"], blobs[0]))
        regions = [
            {name: _plain(value) for name, value in asdict(region).items()}
            | {"label": region.label.name.lower()}
            for region in result.regions
        ]
        answer = {
            "url": result.url,
            "site": result.site,
            "method": self._terms.method,
            "pages_seen": result.pages_seen,
            "template_share": round(result.template_share, 4),
            "needs_render": result.needs_render,
            "regions": regions,
        }
        return {}, [_json(answer)]

    def _benchmark(self, header: Header, blobs: list[bytes]) -> Reply:
        """How well the template of a page with TECO's marks is found."""
        marked = _page(header["page"], blobs[0])
        tree, paths = strip_marks(marked)
        page = Page(tree.source, marked.url, marked.site, "utf-8")
        result, _ = self._borrower.clean(page, lambda result: result.text, learns=False)
        gold = node_gold(result.tree, paths, ()) if paths else None
        if gold is None:
            raise NotHtml(marked.url, "no mark of the TECO suite on it (class TECO_notTemplate)")
        labels = result.labels.labels
        scores = {
            name: score(gold, result.tree, labels)._asdict()
            for name, score in (("template", template_score), ("teco", teco_score))
        }
        facts = {"url": result.url, "site": result.site, "pages_seen": result.pages_seen}
        return {}, [_json(facts | {"method": self._terms.method} | scores)]

    def _template(self, header: Header, blobs: list[bytes]) -> Reply:
        """The template of a page's family: HTML, slots, rules."""
        page, *others = (
            _page(given, html) for given, html in zip(header["pages"], blobs, strict=True)
        )
        refused: list[PageError] = []
        settings: dict[str, Any] = settings_of(self._borrower.method)
        template = template_of(
            page, others, method=self._terms.method, limits=self._terms.limits,
            refused=refused.append, **settings,
        )  # fmt: skip
        answer = {
            "url": page.url,
            "site": pipeline.site_of(page),
            "method": self._terms.method,
            "pages": len(template.results),
            "html": template.html,
            "slots": template.slots,
            "rules": template.rules,
            "refused": [{"url": e.url, "code": e.code, "message": e.reason} for e in refused],
        }
        return {}, [_json(answer)]

    def _state(self, header: Header, blobs: list[bytes]) -> Reply:
        """What a site has come to."""
        del blobs
        return {}, [self._borrower.state(header["site"])]


def _marked(result: Result) -> dict[str, Any]:
    """The verdict on every node, by address, and what an extension shows besides."""
    facts = {
        "url": result.url,
        "site": result.site,
        "title": result.description.title,
        "pages_seen": result.pages_seen,
        "template_share": round(result.template_share, 4),
        "template": result.template,
        "markdown": result.markdown,
    }
    return facts | marks_of(result)


def _plain(value: Any) -> Any:
    """The value as JSON knows it: no nan."""
    if isinstance(value, float):
        return None if isnan(value) else round(value, 4)
    return value


def run() -> None:
    """Answer messages from standard input until it ends."""
    # Whatever a library prints must not get between the messages.
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    first = read(stdin)
    if first is None:
        return
    terms, cpu_s = first[0]["terms"], first[0]["cpu_s"]
    bench = Bench(terms_of(terms))
    limit(first[0]["memory_bytes"])
    while (message := read(stdin)) is not None:
        # Ends this process by SIGPROF; the limit of resources knows whole seconds only.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        stdout.write(pack(*bench.answer(*message)))
        stdout.flush()


if __name__ == "__main__":
    run()
