"""`dehusk review`: what is doubtful about sites, and questions whose answers become rules."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Final

from msgspec import structs

from dehusk.doors.cli.checks import check_targets
from dehusk.doors.cli.progress import plain, print_table
from dehusk.doors.looking import PageCount, read_into
from dehusk.doors.options import chosen_method, make_limits, plural
from dehusk.errors import SelectorError, UsageError
from dehusk.memory.opening import open as open_session
from dehusk.memory.rules import Action, Rule, overrides_of
from dehusk.memory.session import Session
from dehusk.sources import check_saved
from dehusk.template.doubts import DoubtfulPage, Question
from dehusk.template.survey import Survey, survey
from dehusk.template.viewing import Viewed

_KEYS: Final = {"k": Action.KEEP, "d": Action.DROP}
_PROMPT: Final = "Keep it as content, drop it as template, skip, or quit? [k/d/s/q] "
_FILL_IN: Final = (
    "Replace each ? by keep (it is content), drop (it is template) or skip. Scores go from"
    " 0 (content) to 1 (template)."
)
_HOW: Final = "to give answers, fill in this list: `dehusk review --memory FILE --answers LIST`"
_NOT_ANSWERED: Final = ("?", "skip")
_Answers = list[tuple[str, Rule]]
"""Rules with the sites that they are for."""


def run(arguments: argparse.Namespace) -> int:
    """Take answers, and list or ask what is left; 1 if some page could not be used."""
    check_saved(arguments.sources)
    check_targets(arguments)
    if arguments.answers and not arguments.memory:
        raise UsageError("--answers needs --memory FILE: answers are saved there, as rules")
    if not arguments.sources and not arguments.memory:
        raise UsageError("name pages to look at (SOURCE), or a memory (--memory FILE)")
    given = _read_answers(arguments.answers) if arguments.answers else []
    is_asking = bool(arguments.sources and arguments.memory) and not arguments.json
    is_asking = is_asking and not arguments.answers and sys.stdin.isatty() and sys.stdout.isatty()
    with opened(arguments, is_written=bool(given) or is_asking) as memories:
        if arguments.answers:
            _keep(memories, given)
        if not arguments.sources:
            return 0 if arguments.answers else _list(memories, is_json=arguments.json)
        viewed = Viewed(memories)
        failures = read_into(viewed, arguments)
        asked = _review(viewed, is_asking=is_asking, is_json=arguments.json)
        if asked and not is_asking and not arguments.json:
            sys.stderr.write(f"dehusk: {_HOW}\n")
    return 1 if failures else 0


def _review(viewed: Viewed, *, is_asking: bool, is_json: bool) -> int:
    """Ask or list the questions of each site; how many there are."""
    asked = 0
    for site in viewed.sites:
        count = PageCount("judged")
        found = survey(viewed, site, count.step)
        count.end()
        questions = found.doubts.questions()
        asked += len(questions)
        if not is_asking:
            _write(found, questions, is_json=is_json)
        elif not _ask(viewed.memories, found, questions):
            break
    return asked


def opened(arguments: argparse.Namespace, *, is_written: bool) -> AbstractContextManager[Session]:
    """The memories that pages are judged by, and that rules are kept in."""
    name, settings = chosen_method(arguments)
    settings |= {"limits": make_limits(arguments), "keep": arguments.keep, "drop": arguments.drop}
    if not arguments.memory:
        return nullcontext(Session(method=name, **settings))
    return open_session(
        arguments.memory, durable="page", reads_only=not is_written, method=name, **settings
    )


def _list(memories: Session, *, is_json: bool) -> int:
    """What a memory knows of the answers on its sites, those that changed first."""
    known = [(row.name, memories.usual(row.name)) for row in memories.sites()]
    known.sort(key=lambda one: (one[1].shift is None, one[1].confidence or 1.0, one[0]))
    if is_json:
        for site, usual in known:
            fields = {
                "site": site,
                "answers": usual.pages,
                "template_share": usual.template_share,
                "confidence": usual.confidence,
                "answers_changed": usual.shift and structs.asdict(usual.shift),
            }
            sys.stdout.write(json.dumps(fields) + "\n")
        return 0
    rows = [
        (
            site,
            f"{usual.pages:,}",
            _number(usual.template_share),
            _number(usual.confidence),
            f"on page {usual.shift.page:,}: {usual.shift}" if usual.shift else "-",
        )
        for site, usual in known
    ]
    print_table(("site", "answers", "template", "expected F1", "changed"), rows)
    sys.stdout.write("\nfor questions, name the pages too: dehusk review SOURCE --memory FILE\n")
    return 0


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _read_answers(name: str) -> _Answers:
    """The rules that a file of answers comes to. Raises UsageError, with the line."""
    try:
        stream = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        lines = stream.decode("utf-8").split("\n")
    except OSError as fault:
        raise UsageError(f"{name}: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        raise UsageError(f"{name}: not text in UTF-8") from fault
    site, found = None, []
    for number, line in enumerate(map(str.strip, lines), 1):
        verb, _, selector = line.partition(" ")
        if not line or verb.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            site = line[1:-1]
        elif verb in tuple(Action) and selector.strip() and site is not None:
            found.append((site, _rule(verb, selector.strip(), f"{name}, line {number}")))
        elif verb not in _NOT_ANSWERED or site is None:
            raise UsageError(
                f"{name}, line {number}: expected [SITE], and below it lines such as `keep CSS`,"
                " `drop CSS` or `skip CSS`"
            )
    return found


def _rule(action: str, selector: str, place: str) -> Rule:
    """The rule of a line. Raises UsageError for what is not CSS."""
    rule = Rule(Action(action), selector)
    try:
        overrides_of((rule,))
    except SelectorError as error:
        raise UsageError(f"{place}: {selector!r} is not CSS: {error.reason}") from error
    return rule


def _keep(memories: Session, rules: _Answers) -> None:
    """Keep all rules, or none where one cannot be, and say how many."""
    if not rules:
        sys.stderr.write("nothing was answered, nothing changed: replace each ? by keep or drop\n")
        return
    with memories.unit():
        for site, rule in rules:
            memories.add_rule(site, rule.action, rule.selector)
    memories.commit()
    sites = plural(len({site for site, _ in rules}), "site")
    sys.stderr.write(f"{plural(len(rules), 'rule')} of {sites} saved\n")


def _ask(memories: Session, found: Survey, questions: Sequence[Question]) -> bool:
    """Ask somebody at the terminal; False when they quit."""
    _say(_heading(found, questions))
    if lost := [page for page in found.doubts.unsure_pages() if page.is_mostly_removed]:
        _say(_listed(lost))
    for number, question in enumerate(questions, 1):
        _say(f"\n{number} of {len(questions)}: {_about(question)}")
        answer = _answer()
        if answer == "q":
            return False
        if action := _KEYS.get(answer):
            rule = memories.add_rule(found.site, action, question.selector)
            memories.commit()
            _say(f"saved as a rule of {plain(found.site)}: {rule.action} {plain(rule.selector)}")
    return True


def _answer() -> str:
    """One of k, d, s, q; the end of the input is q."""
    while True:
        try:
            given = input(_PROMPT).strip().lower()[:1]
        except EOFError:
            return "q"
        if given in ("k", "d", "s", "q"):
            return given


def _write(found: Survey, questions: Sequence[Question], *, is_json: bool) -> None:
    """List a site's questions: for programs, or as a file of answers that can be filled in."""
    pages = found.doubts.unsure_pages()
    if is_json:
        fields = {
            "site": found.site,
            "pages": found.pages,
            "confidence": found.confidence,
            "mostly_removed": found.doubts.mostly_removed,
            "questions": [asdict(question) for question in questions],
            "unsure_pages": [asdict(page) for page in pages],
        }
        sys.stdout.write(json.dumps(fields) + "\n")
        return
    _say(_commented(_heading(found, questions)))
    if questions:
        _say(f"# {_FILL_IN}")
    _say(f"[{plain(found.site)}]")
    for question in questions:
        _say(_commented(_about(question)))
        _say(f"? {plain(question.selector)}\n")
    if pages:
        _say(_commented(_listed(pages)) + "\n")


def _heading(found: Survey, questions: Sequence[Question]) -> str:
    expected = "" if found.confidence is None else f", expected F1 {found.confidence:.2f}"
    many = plural(len(questions), "question") if questions else ""
    asked = many or "no questions: nothing that pages share is in doubt"
    return f"{plain(found.site)}: {plural(found.pages, 'page')}{expected}; {asked}"


def _about(question: Question) -> str:
    """A question in a few lines."""
    dropped = question.pages - question.kept_pages
    judged = f"kept on {question.kept_pages:,}, dropped on {dropped:,}"
    lines = [
        plain(question.selector),
        f"on {plural(question.pages, 'page')}: {judged}; score {question.score:.2f}",
    ]
    return "\n".join([*lines, *(f"  “{plain(one.text[:100])}”" for one in question.examples)])


def _listed(pages: Sequence[DoubtfulPage]) -> str:
    """Pages in a few lines."""
    head = "Pages to look at, with their expected F1, and how much of their own text the site took:"
    return "\n".join([head, *map(_page, pages)])


def _page(page: DoubtfulPage) -> str:
    name = plain(page.url or page.title or "a page without a URL")
    return f"  {_number(page.confidence)}  {page.site_removed or 0:4.0%}  {name}"


def _commented(text: str) -> str:
    return "\n".join(f"# {line}" for line in text.split("\n"))


def _say(text: str) -> None:
    sys.stdout.write(text.encode("utf-8", "replace").decode() + "\n")
