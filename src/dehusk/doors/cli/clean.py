"""`dehusk clean`: pages in, content out."""

from __future__ import annotations

import argparse
import io
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dehusk import pipeline
from dehusk.answer.fingerprint import Seen
from dehusk.answer.result import Refusal, Result
from dehusk.doors.cli.checks import (
    check_folders,
    check_jobs,
    check_options,
    check_revision,
    check_targets,
)
from dehusk.doors.cli.learn import (
    learn_again,
    learn_first,
    make_sites,
    opened_browser,
    unlocked_stdin,
)
from dehusk.doors.cli.progress import Progress
from dehusk.doors.options import (
    chosen_method,
    make_limits,
    make_markdown_settings,
    make_source_settings,
)
from dehusk.errors import NotWritten, UsageError
from dehusk.memory.notes import rendered_answer
from dehusk.memory.session import Session
from dehusk.methods import HYPERLINK
from dehusk.output import (
    NOTHING,
    Format,
    Rendered,
    Writer,
    Written,
    is_markdown_folder,
    named_format,
    open_writer,
    write_llms_txt,
)
from dehusk.page.page import Page
from dehusk.settings import MarkdownSettings
from dehusk.sources import Failure, Read, count_pages, is_web, read_pages, rereadable
from dehusk.sources.items import as_shown
from dehusk.workers.answering import Learned, answer_on

if TYPE_CHECKING:
    from dehusk.page.browser import Browser

_Answers = Generator[tuple[Page | Failure, Result | Rendered | Refusal | None], None, None]
"""Each item with its answer, in order; None where an earlier run has written that."""
_LAST: Final = "last"
"""--revise: since each page was last answered on, whatever revision that was."""


def run(arguments: argparse.Namespace) -> int:
    """Clean all sources; 1 if anything could not be read or used."""
    check_jobs(arguments)
    with opened_browser(arguments) as browser:
        return _clean(arguments, browser)


def _clean(arguments: argparse.Namespace, browser: Browser | None) -> int:
    """Clean all sources, as the browser shows them if there is one."""
    limits, source_settings = make_limits(arguments), make_source_settings(arguments)
    _revision(arguments)
    check_options(arguments)
    check_targets(arguments)
    check_folders(arguments.sources)
    with ExitStack() as stack:
        fetch = None
        if any(map(is_web, arguments.sources)):
            from dehusk.doors.cli import linked  # noqa: PLC0415 - needs an extra

            method, settings = chosen_method(arguments)
            if method == HYPERLINK:
                return linked.clean(arguments, settings, browser)
            fetch = stack.enter_context(linked.opened_web(arguments))
        stdin = unlocked_stdin() if arguments.jobs > 1 else None
        read: Read = partial(read_pages, arguments.sources, source_settings, stdin, fetch=fetch)
        if arguments.two_pass:
            read = stack.enter_context(rereadable(arguments.sources, source_settings))
        if browser is not None:
            read = _shown(read, partial(as_shown, browser=browser, limits=limits))
        sites = stack.enter_context(make_sites(arguments, limits, browser))
        check_revision(arguments, sites)
        return _answer_all(arguments, read, sites)


def _shown(
    read: Read, show: Callable[[Iterable[Page | Failure]], Iterator[Page | Failure]]
) -> Read:
    """What reads the items as the browser shows them."""
    return lambda left_out: show(read(left_out))


def _answer_all(arguments: argparse.Namespace, read: Read, sites: Session) -> int:
    """Answer on all items and write the answers; 1 if anything could not be read or used."""
    left_out: Counter[str] = Counter()
    writer = make_writer(arguments, resumes=arguments.resume)
    answers = _in_jobs if arguments.jobs > 1 else _one_by_one
    is_live = sys.stderr.isatty() and not arguments.quiet
    total = count_pages(arguments.sources) if is_live else None
    progress = make_progress(arguments, total, sites)
    is_whole = False
    # Closed before the memory is: what processes have taught goes there.
    with writer, closing(answers(arguments, read, sites, left_out, writer)) as each:
        try:
            _write_all(arguments, each, sites, writer, progress)
            is_whole = True
        finally:
            progress.finish(left_out, is_whole=is_whole)
    if arguments.llms_txt:
        write_llms_txt(Path(arguments.output))
    return 1 if progress.refusals else 0


def make_progress(
    arguments: argparse.Namespace,
    total: int | None,
    sites: Session | None = None,
    queue: Callable[[], int] | None = None,
) -> Progress:
    """What the run tells people, as the options say; of sites, also where answers change."""
    return Progress(
        sys.stderr,
        total,
        is_quiet=arguments.quiet,
        is_json=arguments.log_format == "json",
        # Pages that go to the terminal are progress enough; a line would stay between them.
        is_live=not _is_shown(arguments),
        queue=queue,
        watch=sites.watch if sites else None,
        skips_problems=arguments.skip_problems,
        view=shlex.join(["dehusk", "view", *(_readable(arguments.sources) or ["SOURCE"])]),
    )


def _readable(sources: Sequence[str]) -> list[str]:
    """The sources that other commands can read again."""
    return [source for source in sources if source != "-" and not is_web(source)]


def _is_shown(arguments: argparse.Namespace) -> bool:
    """Do the pages go to a terminal?"""
    return arguments.output in (None, "-") and sys.stdout is not None and sys.stdout.isatty()


def _write_all(
    arguments: argparse.Namespace,
    answers: _Answers,
    sites: Session,
    writer: Writer,
    progress: Progress,
) -> None:
    """Write all answers that are wanted, and count them all."""
    seen = Seen() if arguments.unique else None
    for item, answer in answers:
        if answer is None:
            progress.earlier += 1
        elif seen and _is_repeated(seen, answer):
            progress.count(answer, is_duplicate=True)
        elif not is_wanted(arguments, item, answer, sites):
            progress.count(answer, is_unchanged=True)
        else:
            refusal = write(arguments, writer, answer)
            progress.count(refusal or answer)
        del item, answer  # Pages can be large: none is held while the next is worked on.


def write(
    arguments: argparse.Namespace, writer: Writer, answer: Result | Rendered | Refusal
) -> Refusal | None:
    """Write an answer, if it is wanted; a Refusal where its file cannot be made."""
    if arguments.skip_problems and answer.problem is not None:
        return None
    try:
        writer.write(answer)
    except NotWritten as error:
        return Refusal(answer.url, answer.site, error)
    return None


def _one_by_one(
    arguments: argparse.Namespace,
    read: Read,
    sites: Session,
    left_out: Counter[str],
    writer: Writer,
) -> _Answers:
    """The answers of this process."""
    is_learned = arguments.two_pass
    if is_learned:
        learn_first(arguments, read(None), sites)
    for item in read(left_out):
        if not _is_written(arguments, item, writer):
            yield item, answer_on(item, sites, writer.prepare, is_learned=is_learned)
        else:
            if isinstance(item, Page) and not is_learned:
                learn_again(item, sites)  # As the earlier run did when it wrote the answer.
            yield item, None
        del item


def _in_jobs(
    arguments: argparse.Namespace,
    read: Read,
    sites: Session,
    left_out: Counter[str],
    writer: Writer,
) -> _Answers:
    """The answers of several processes."""
    from dehusk.workers.jobs import Act, Jobs  # noqa: PLC0415  one process needs none of it

    def plan(item: Page | Failure) -> Act:
        if _is_written(arguments, item, writer):
            return Act.SKIP if arguments.two_pass or isinstance(item, Failure) else Act.LEARN
        return Act.ASK if arguments.two_pass else Act.CLEAN

    with Jobs(
        sites,
        arguments.jobs,
        shape=writer.shape,
        is_sketching=arguments.unique,
        splits_sites=arguments.split_sites,
    ) as jobs:
        if arguments.two_pass:
            learn_first(arguments, read(None), sites, jobs)
        for done in jobs.run(read(left_out), plan):
            if done.act in (Act.LEARN, Act.SKIP) or isinstance(done.outcome, Learned):
                yield done.item, None
            else:
                yield done.item, done.outcome


def _is_written(arguments: argparse.Namespace, item: Page | Failure, writer: Writer) -> bool:
    """True for an item whose answer an earlier run has written, where this one goes on with it."""
    if not arguments.resume:
        return False
    site = pipeline.site_of(item) if isinstance(item, Page) else item.site
    return writer.holds_next(item.url, site)


def _is_repeated(seen: Seen, answer: Result | Rendered | Refusal) -> bool:
    """Does the content of a page nearly repeat that of an earlier one?"""
    if isinstance(answer, Rendered):
        return seen.add_sketch(list(answer.sketch))
    return isinstance(answer, Result) and seen.add(answer.text)


def _revision(arguments: argparse.Namespace) -> int | None:
    """The revision of --revise; None for the last answers, or without --revise.

    Raises UsageError without a memory that could know what was answered before.
    """
    if arguments.revise is None:
        return None
    if not arguments.memory:
        raise UsageError("--revise needs --memory: only a memory knows what was answered before")
    return None if arguments.revise == _LAST else int(arguments.revise)


def is_wanted(
    arguments: argparse.Namespace,
    item: Page | Failure,
    answer: Result | Rendered | Refusal,
    sites: Session,
) -> bool:
    """True for an answer that is to be written; a memory takes note of each that is given."""
    if not sites.is_lasting or isinstance(answer, Refusal) or isinstance(item, Failure):
        return True
    since = _revision(arguments)
    if isinstance(answer, Rendered):
        is_changed = sites.note_given(answer.site, rendered_answer(answer), since)
    else:
        is_changed = sites.note(item, answer, since)
    return is_changed or arguments.revise is None


def make_writer(
    arguments: argparse.Namespace, written: Written = NOTHING, *, resumes: bool = False
) -> Writer:
    """A writer to where the options say, behind what was already written. Raises UsageError."""
    if sys.stdout is None and arguments.output in (None, "-"):
        raise UsageError("standard output is closed; name a file with -o")
    chosen = Format(arguments.format) if arguments.format else None
    is_bare = arguments.front_matter is False
    if arguments.llms_txt and (is_bare or not is_markdown_folder(arguments.output, chosen)):
        raise UsageError("--llms-txt needs a folder of Markdown with front matter: -o FOLDER/")
    written_as = chosen or named_format(arguments.output) or Format.MARKDOWN
    if arguments.heading_path and not arguments.pieces and written_as is not Format.PIECES:
        raise UsageError("--heading-path says how pieces begin: add --pieces N, or --format pieces")
    plain = MarkdownSettings(heading_path=arguments.heading_path)
    is_asked = make_markdown_settings(arguments) != plain
    if is_asked and not written_as.row.has_markdown:
        raise UsageError(
            f"--links, --images and --tables say how Markdown is written; {written_as} has none"
        )
    if arguments.front_matter is not None and not written_as.row.has_front_matter:
        option = "--no-front-matter" if is_bare else "--front-matter"
        raise UsageError(f"{option} is about Markdown; {written_as} has no front matter")
    return open_writer(
        arguments.output,
        chosen,
        sys.stdout.buffer if sys.stdout else io.BytesIO(),
        sources=[source for source in arguments.sources if not is_web(source)],
        piece_tokens=arguments.pieces,
        is_bare=is_bare,
        has_structured=arguments.structured,
        written=written,
        resumes=resumes,
    )
