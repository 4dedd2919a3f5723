"""What the site has besides the pages in `docs`: pages made of the code, and files that docs link.

`reference/options.md` is made of the parser of the command line. Changelog, contributing and
security live at the top of the repository, where people look for them. Other files that a page
links (`../src/…`) get a page with their text, so that no link leads out of the site.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath, relpath
from typing import Any, Final

from griffe import Docstring, Extension
from mkdocs.structure.files import File, Files

from dehusk.doors.cli import make_parser

ROOT: Final = Path(__file__).parents[1]
LINK: Final = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)")
EXAMPLE: Final = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
PROJECT: Final = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
ICON: Final = "src/dehusk/doors/service/static/icon.svg"
LANGUAGES: Final = {".py": "python", ".c": "c", ".h": "c", ".js": "js", ".json": "json"}


def on_files(files: Files, config: Any) -> Files:
    """The files of `docs`, and those that are made."""
    made = {"reference/options.md": "\n".join(_options())}
    for name, place in PROJECT.items():
        made[place] = (ROOT / name).read_text("utf-8")
    pages = {f"docs/{file.src_uri}": file.content_string for file in files.documentation_pages()}
    pages |= {name: made[place] for name, place in PROJECT.items()}
    for page, text in pages.items():
        for name in _linked(page, text):
            if name not in PROJECT and not name.startswith("docs/"):
                made[_place(name)] = _shown(name)
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    files.append(File.generated(config, "images/icon.svg", abs_src_path=str(ROOT / ICON)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page, its links to files outside of `docs` leading to their pages in the site."""
    place = page.file.src_uri
    home = {place: name for name, place in PROJECT.items()}.get(place, f"docs/{place}")

    def within(link: re.Match[str]) -> str:
        name = normpath(f"{home}/../{link[1]}")
        return relpath(_place(name), f"{place}/..") if (ROOT / name).is_file() else link[1]

    return LINK.sub(within, markdown)


class Fenced(Extension):  # type: ignore[misc,unused-ignore]  # where griffe is not installed
    """Puts the examples in docstrings into fences: Markdown would take `>>>` for quotations."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring and ">>> " in obj.docstring.value:
            fenced = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
            obj.docstring = Docstring(fenced, parent=obj)


def _linked(page: str, text: str) -> Iterator[str]:
    """The files of the repository that a page links."""
    names = (normpath(f"{page}/../{link[1]}") for link in LINK.finditer(text))
    return (name for name in names if (ROOT / name).is_file())


def _place(name: str) -> str:
    """Where a file of the repository is in the site."""
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return PROJECT.get(name, f"source/{name}.md")


def _shown(name: str) -> str:
    """A page with the text of a file."""
    path = ROOT / name
    text = path.read_text("utf-8").rstrip()
    head = f"---\nsearch:\n  exclude: true\n---\n# {path.name}\n\n`{name}`\n"
    return f"{head}\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n"


def _options() -> Iterator[str]:
    """A page on every command and option, as the parser has them."""
    yield "# Every option\n"
    yield "What `--help` says, command by command. [Commands](../commands.md) says more on each."
    for name, parser in _commands(make_parser()):
        yield f"\n## `{name}`\n\n{parser.description or ''}\n"
        rows = [row for action in parser._actions if (row := _row(action))]
        if rows:
            yield from ("| option | meaning |", "|---|---|", *rows)


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command with its parser, each before those below it."""
    yield parser.prog, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _commands(below)


def _row(action: argparse.Action) -> str:
    """An option or argument and its help as a row of a table; empty for `--help`."""
    if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
        return ""
    formatter = argparse.HelpFormatter("")
    name = formatter._format_action_invocation(action)
    text = " ".join(formatter._expand_help(action).split()) if action.help else ""
    return "| `{}` | {} |".format(name, text.replace("|", "\\|"))
