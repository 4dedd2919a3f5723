"""What a run tells people while it goes on and when it is over, on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TextIO

from msgspec.structs import asdict

from dehusk.answer.problem import counted
from dehusk.answer.result import MUCH_REMOVED, Refusal, Result
from dehusk.doors.options import plural
from dehusk.errors import DehuskError, MemoryDamaged, PageError
from dehusk.memory.usual import Shift
from dehusk.output import Rendered
from dehusk.page.patterns import pattern

_REFRESH_S: Final = 0.1
_LOGGED_EVERY_S: Final = 10.0
"""Seconds between two lines on how a run is getting on, in a log for programs."""
_COMMANDS: Final = pattern("[\x00-\x1f\x7f-\x9f]")
"""Control characters: a page's URL could give a terminal orders with them."""


class Progress:
    """Counts answers, shows a line on a terminal, names what failed, and sums up at the end.

    The line stays away without `is_live`. With `is_json` every line is a JSON object with `event`:
    `failed`, `progress`, `template_changed`, `answers_changed` or `summary`.
    A source that has a queue tells its length with `queue`. `watch` is told of each answer, and
    says where those of its site have suddenly changed: `Session.watch`. `view` is the command that
    shows the pages. With `skips_problems`, pages with a problem are not written.
    """

    def __init__(
        self,
        stream: TextIO,
        total: int | None,
        *,
        is_quiet: bool,
        is_json: bool = False,
        is_live: bool = True,
        queue: Callable[[], int] | None = None,
        watch: Callable[..., Shift | None] | None = None,
        skips_problems: bool = False,
        view: str = "dehusk view SOURCE",
    ) -> None:
        self._stream = stream
        self._total = total
        self._watch = watch
        self._is_quiet = is_quiet
        self._is_json = is_json
        self._is_live = is_live and stream.isatty() and not is_quiet and not is_json
        self._queue = queue
        self._began = time.monotonic()
        self._shown = self._began if is_json else 0.0
        self.sites: set[str] = set()
        self.pages = 0
        self.duplicates = 0
        self.earlier = 0
        """Pages that an earlier run has written."""
        self.unchanged = 0
        self.changes: Mapping[str, int] = {}
        """Of a crawl: how many pages are other than in the one before, by what became of them."""
        self.scripted = _Named("is", "are", " empty without scripts: needs --render")
        self.emptied = _Named("is", "are", " all template, so nothing is left")
        half = "less than half of what"
        self.lost = _Named(
            f"keeps {half} it says alone", f"keep {half} they say alone", then=f": `{plain(view)}`"
        )
        self.problems: Counter[str] = Counter()
        self._skips_problems = skips_problems
        self._damaged: set[str | None] = set()
        self.errors: Counter[str] = Counter()
        """Failures by the code of their error."""
        self.characters = 0
        self.template_characters = 0.0

    def count(
        self,
        answer: Result | Rendered | Refusal,
        *,
        is_duplicate: bool = False,
        is_unchanged: bool = False,
    ) -> None:
        """Take an answer in; a refusal is named at once, what is not written is only counted."""
        self.duplicates += is_duplicate
        self.unchanged += is_unchanged
        if isinstance(answer, Refusal):
            self._name(answer)
        else:
            self.pages += 1
            self.sites.add(answer.site)
            self.characters += answer.characters
            self.template_characters += answer.characters * answer.template_share
            if answer.template_changed:
                self._name_change(answer)
            self._name_shift(answer)
            if answer.problem is not None:
                self.problems[answer.problem] += 1
            if answer.needs_render:
                self.scripted.count(answer.url)
            elif answer.characters and answer.template_share >= 1 and answer.problem is None:
                self.emptied.count(answer.url)
            if (answer.site_removed or 0) > MUCH_REMOVED:
                self.lost.count(answer.url)
        since = time.monotonic() - self._shown
        if self._is_live and since > _REFRESH_S:
            self._show()
        elif self._is_json and not self._is_quiet and since > _LOGGED_EVERY_S:
            self._shown = time.monotonic()
            self._log("progress", self._figures())

    def _name(self, refusal: Refusal) -> None:
        """Say what failed, and why."""
        error = refusal.error
        code = error.code if isinstance(error, PageError) else "source"
        self.errors[code] += 1
        if isinstance(error, MemoryDamaged):
            # Every page of its site meets the damage; to say it once is enough.
            if refusal.site in self._damaged:
                return
            self._damaged.add(refusal.site)
        if self._is_json:
            self._log("failed", {"url": refusal.url, "code": code, "message": str(error)})
        else:
            self._clear()
            self._stream.write(f"dehusk: {plain(str(error))}\n")

    def _name_change(self, answer: Result | Rendered) -> None:
        """Say that a site has a new template: who selects by rules must look at them again."""
        if self._is_json:
            self._log("template_changed", {"site": answer.site, "url": answer.url})
        elif not self._is_quiet:
            self._clear()
            where = plain(answer.url or f"page {answer.revision}")
            self._stream.write(f"dehusk: {plain(answer.site)} has a new template, by {where}\n")

    def _name_shift(self, answer: Result | Rendered) -> None:
        """Say that the answers on a site are no longer what they were; quiet or not."""
        look = (answer.template_share, answer.characters, answer.confidence, answer.url)
        shift = self._watch(answer.site, *look) if self._watch else None
        if shift is None:
            return
        if self._is_json:
            self._log("answers_changed", {"site": answer.site} | asdict(shift))
        else:
            self._clear()
            where = plain(answer.url or f"page {answer.revision}")
            line = f"{plain(answer.site)}: answers suddenly changed, noticed at {where}: {shift}"
            self._stream.write(f"dehusk: {line}\n")

    def warn(self, message: str) -> None:
        """Say what went wrong without costing a page."""
        if self._is_json:
            self._log("warning", {"message": message})
        elif not self._is_quiet:
            self._clear()
            self._stream.write(f"dehusk: {plain(message)}\n")

    def loaded(self, url: str, found: str | None) -> None:
        """Say that a page to compare with was loaded, under which URL."""
        led = {"redirected": found} if found not in (None, url) else {}
        where = f" (redirected to {found})" if led else ""
        self._tell("loaded", {"url": url} | led, f"loaded {url}{where}")

    def not_loaded(self, url: str, reason: str) -> None:
        """Say why a page that could be compared with is not: another may take its place."""
        self._tell("not_loaded", {"url": url, "reason": reason}, f"not loaded {url}: {reason}")

    def left_out(self, url: str, reason: str) -> None:
        """Say why a page that was loaded is not compared with."""
        self._tell("left_out", {"url": url, "reason": reason}, f"left out {url}: {reason}")

    def compared(self, url: str | None, message: str, *, is_judged: bool) -> None:
        """Say what a page was compared with, and what was missing; quiet or not, if all was."""
        fields = {"url": url, "message": message}
        self._tell("compared", fields, message, is_needed=not is_judged)

    def _tell(
        self, event: str, fields: Mapping[str, object], line: str, *, is_needed: bool = False
    ) -> None:
        if self._is_quiet and not is_needed:
            return
        if self._is_json:
            self._log(event, fields)
        else:
            self._clear()
            self._stream.write(f"{plain(line)}\n")
            self._stream.flush()

    @property
    def refusals(self) -> int:
        """How many failed."""
        return self.errors.total()

    @property
    def template_share(self) -> float:
        """The share of template so far, among visible characters."""
        return self.template_characters / self.characters if self.characters else 0.0

    def _show(self) -> None:
        self._shown = time.monotonic()
        of_total = f" of {self._total:,}" if self._total else ""
        queue = f" · {self._queue():,} waiting" if self._queue else ""
        failed = f" · failed: {_by_kind(self.errors)}" if self.errors else ""
        self._stream.write(
            f"\r\x1b[K{self.pages:,}{of_total} pages · {self._rate():,.0f}/s"
            f" · {self.template_share:.0%} template{queue}{failed}"
        )
        self._stream.flush()

    def _rate(self) -> float:
        return self.pages / max(time.monotonic() - self._began, 1e-3)

    def _dropped(self) -> str:
        """What the summary says of pages that were not written; nothing where there were none."""
        count = self.duplicates
        dropped = f", {plural(count, 'near duplicate')} left out" if count else ""
        dropped += f", {self.earlier:,} already written" if self.earlier else ""
        return dropped + (f", {self.unchanged:,} unchanged" if self.unchanged else "")

    def _clear(self) -> None:
        if self._is_live:
            self._stream.write("\r\x1b[K")

    def _log(self, event: str, fields: Mapping[str, object]) -> None:
        self._stream.write(json.dumps({"event": event} | dict(fields)) + "\n")
        self._stream.flush()

    def _figures(self) -> dict[str, object]:
        """All that is known, for programs."""
        queue: dict[str, object] = {"waiting": self._queue()} if self._queue else {}
        queue |= {"changes": self.changes} if self.changes else {}
        return {
            "pages": self.pages,
            "sites": len(self.sites),
            "seconds": round(time.monotonic() - self._began, 1),
            "pages_per_second": round(self._rate(), 1),
            "template_share": round(self.template_share, 4),
            "tokens_saved": round(self.template_characters / 4),
            "failed": dict(self.errors),
            "duplicates": self.duplicates,
            "there_already": self.earlier,
            "needs_render": self.scripted.pages,
            "all_template": self.emptied.pages,
            "mostly_removed": self.lost.pages,
            "problems": dict(self.problems),
        } | queue

    def finish(
        self,
        left_out: Mapping[str, int] | None = None,
        then: str = "",
        *,
        is_whole: bool = True,
    ) -> None:
        """Show the summary, with what was left out and why, and what one could do then.

        `is_whole`: the run came to its end, so what was not found is not there.
        """
        self._clear()
        if self._is_quiet:
            return
        if self._is_json:
            self._log("summary", self._figures() | {"left_out": dict(left_out or {})})
            return
        is_one = self.refusals == 1 and not self.pages
        if is_one and not then and not any((left_out or {}).values()):
            return  # One page was wanted, and why it is not there has been said.
        if self.pages or self.errors:
            self._stream.write(self._headlines())
        elif is_whole and self.earlier:
            self._stream.write(
                f"nothing left to clean: {plural(self.earlier, 'page')} already written\n"
            )
        elif is_whole and left_out and any(left_out.values()):
            self._stream.write("nothing to clean: all that was found was left out\n")
        elif is_whole and not then:
            self._stream.write("nothing to clean: no page was found\n")
        self._stream.write(_table(self.errors, left_out or {}))
        self._stream.write(then)

    def _headlines(self) -> str:
        seconds = time.monotonic() - self._began
        failed = f", {self.refusals:,} failed" if self.errors else ""
        if not self.pages:
            return f"no page could be cleaned{failed} in {seconds:.1f} s\n"
        return (
            f"{plural(self.pages, 'page')} of {plural(len(self.sites), 'site')}{failed}"
            f"{self._dropped()} in {seconds:.1f} s ({self._rate():,.0f} a second)\n"
            f"{self.template_share:.0%} of {plural(self.characters, 'visible character')} was"
            f" template: about {plural(round(self.template_characters / 4), 'token')} saved\n"
            f"{self.scripted}{self.emptied}{self.lost}{self._unwanted()}"
        )

    def _unwanted(self) -> str:
        """The line of the summary on pages that are not what was wanted; empty for none."""
        if not (total := self.problems.total()):
            return ""
        kinds = ", ".join(counted(count, kind) for kind, count in self.problems.most_common())
        are = "page is" if total == 1 else "pages are"
        end = "; left out" if self._skips_problems else ""
        return f"{total:,} {are} not what you wanted: {kinds}{end}\n"


class _Named:
    """Counts pages that one thing is said of; as text, a line of the summary, or none."""

    def __init__(self, one: str, many: str, what: str = "", then: str = "") -> None:
        self._one, self._many = one + what, many + what
        self._then = then
        self.pages = 0
        self._first: str | None = None

    def count(self, url: str | None) -> None:
        """Take a page in."""
        self.pages += 1
        self._first = self._first or url

    def __str__(self) -> str:
        if not self.pages:
            return ""
        first = f", such as {plain(self._first)}" if self._first else ""
        what = self._one if self.pages == 1 else self._many
        return f"{plural(self.pages, 'page')} {what}{first}{self._then}\n"


class LearningProgress:
    """Counts pages that are learned, shows a line on a terminal, names what failed, sums up."""

    def __init__(self, stream: TextIO, total: int | None, *, is_quiet: bool) -> None:
        self._stream = stream
        self._of_total = f" of {total:,}" if total else ""
        self._is_quiet = is_quiet
        self._is_live = stream.isatty() and not is_quiet
        self._began = self._shown = time.monotonic()
        self.pages = 0
        self.known = 0
        self.refusals = 0

    def count(self, *, is_new: bool) -> None:
        """Take a page in that was learned, or was known."""
        self.pages += is_new
        self.known += not is_new
        if self._is_live and time.monotonic() - self._shown > _REFRESH_S:
            self._shown = time.monotonic()
            done = self.pages + self.known
            self._stream.write(f"\r\x1b[K{done:,}{self._of_total} pages")
            self._stream.flush()

    def refuse(self, error: DehuskError) -> None:
        """Name what could not be read or used."""
        self.refusals += 1
        clear = "\r\x1b[K" if self._is_live else ""
        message = plain(str(error))
        self._stream.write(f"{clear}dehusk: {message}\n")

    def finish(self) -> None:
        """Show the summary."""
        if self._is_live:
            self._stream.write("\r\x1b[K")
        if self._is_quiet:
            return
        seconds = time.monotonic() - self._began
        failed = f", {self.refusals:,} failed" if self.refusals else ""
        self._stream.write(
            f"{plural(self.pages, 'page')} learned, {self.known:,} known already{failed}"
            f" in {seconds:.1f} s\n"
        )


def _table(errors: Mapping[str, int], left_out: Mapping[str, int]) -> str:
    """Counts with what they count: failures by code, then what was left out, most first."""
    rows = [(count, f"failed: {kind}") for kind, count in errors.items()]
    rows = sorted(rows, key=lambda row: (-row[0], row[1]))
    others = [(count, f"left out: {reason}") for reason, count in left_out.items() if count]
    rows += sorted(others, key=lambda row: (-row[0], row[1]))
    width = max((len(f"{count:,}") for count, _ in rows), default=0)
    return "".join(f"  {count:>{width},}  {what}\n" for count, what in rows)


def _by_kind(errors: Counter[str]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in errors.most_common(3))


def plain(text: str) -> str:
    """The text without what could give a terminal orders."""
    return _COMMANDS.sub("\ufffd", text)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write the rows under their header to standard output; the first column to the left."""
    clean = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *clean, strict=True)]
    for row in (header, ["-" * width for width in widths], *clean):
        first, *rest = (
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        line = "  ".join((first, *rest)).rstrip()
        sys.stdout.write(line.encode("utf-8", "replace").decode() + "\n")
