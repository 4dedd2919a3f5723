"""What a run tells people while it goes on and when it is over, on standard error."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Final, TextIO

from dehusk.errors import DehuskError
from dehusk.result import Refusal, Result

_REFRESH_S: Final = 0.1
_COMMANDS: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
"""Control characters: a page's URL could give a terminal orders with them."""
REPLACED: Final = "\ufffd"
"""What stands for them."""


class Progress:
    """Counts answers, shows a line on a terminal, names what failed, and sums up at the end."""

    def __init__(self, stream: TextIO, total: int | None, *, is_quiet: bool) -> None:
        self._stream = stream
        self._total = total
        self._is_quiet = is_quiet
        self._is_live = stream.isatty() and not is_quiet
        self._began = time.monotonic()
        self._shown = 0.0
        self.sites: set[str] = set()
        self.pages = 0
        self.refusals = 0
        self.duplicates = 0
        self.unchanged = 0
        self.empty = 0
        self.first_empty: str | None = None
        self.characters = 0
        self.template_characters = 0.0

    def count(
        self,
        answer: Result | Refusal,
        *,
        is_duplicate: bool = False,
        is_unchanged: bool = False,
    ) -> None:
        """Take an answer in; a refusal is named at once, what is not written is only counted."""
        self.duplicates += is_duplicate
        self.unchanged += is_unchanged
        if isinstance(answer, Refusal):
            self.refusals += 1
            self._clear()
            message = _COMMANDS.sub(REPLACED, str(answer.error))
            self._stream.write(f"dehusk: {message}\n")
        else:
            self.pages += 1
            self.sites.add(answer.site)
            characters = int(answer.tree.text_length[0])
            self.characters += characters
            self.template_characters += characters * answer.template_share
            if answer.needs_render:
                self.empty += 1
                self.first_empty = self.first_empty or answer.url
        if self._is_live and time.monotonic() - self._shown > _REFRESH_S:
            self._show()

    @property
    def template_share(self) -> float:
        """The share of template so far, among visible characters."""
        return self.template_characters / self.characters if self.characters else 0.0

    def _show(self) -> None:
        self._shown = time.monotonic()
        of_total = f" of {self._total:,}" if self._total else ""
        failed = f" · {self.refusals:,} failed" if self.refusals else ""
        self._stream.write(
            f"\r\x1b[K{self.pages:,}{of_total} pages · {self._rate():,.0f}/s"
            f" · {self.template_share:.0%} template{failed}"
        )
        self._stream.flush()

    def _rate(self) -> float:
        return self.pages / max(time.monotonic() - self._began, 1e-3)

    def _dropped(self) -> str:
        """What the summary says of pages that were not written; nothing where there were none."""
        count = self.duplicates
        dropped = f", {_plural(count, 'near duplicate')} left out" if count else ""
        return dropped + (f", {self.unchanged:,} unchanged" if self.unchanged else "")

    def _scripted(self) -> str:
        """What the summary says of pages that scripts would fill; nothing where there were none."""
        if not self.empty:
            return ""
        first = f", such as {_COMMANDS.sub(REPLACED, self.first_empty)}" if self.first_empty else ""
        verb = "is" if self.empty == 1 else "are"
        return (
            f"{_plural(self.empty, 'page')} {verb} empty without scripts: needs --render{first}\n"
        )

    def _clear(self) -> None:
        if self._is_live:
            self._stream.write("\r\x1b[K")

    def finish(self, left_out: Mapping[str, int]) -> None:
        """Show the summary; `left_out` is what the sources hold beside pages."""
        self._clear()
        if self._is_quiet:
            return
        if left_out:
            counts = (f"{count:,} {what}" for what, count in sorted(left_out.items()))
            self._stream.write(f"left out: {', '.join(counts)}\n")
        if not self.pages and not self.refusals:
            self._stream.write("nothing to clean: no page was found\n")
            return
        seconds = time.monotonic() - self._began
        failed = f", {self.refusals:,} failed" if self.refusals else ""
        self._stream.write(
            f"{_plural(self.pages, 'page')} of {_plural(len(self.sites), 'site')}{failed}"
            f"{self._dropped()} in {seconds:.1f} s ({self._rate():,.0f} a second)\n"
            f"{self.template_share:.0%} of {_plural(self.characters, 'visible character')} was"
            f" template: about {_plural(round(self.template_characters / 4), 'token')} saved\n"
            f"{self._scripted()}"
        )


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
        message = _COMMANDS.sub(REPLACED, str(error))
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
            f"{_plural(self.pages, 'page')} learned, {self.known:,} known already{failed}"
            f" in {seconds:.1f} s\n"
        )


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
