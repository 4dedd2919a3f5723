"""llms.txt and llms-full.txt: what a folder of Markdown holds, for language models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from dehusk.output.whole import check_replaceable, part_of, write_whole
from dehusk.page.patterns import pattern

LIST: Final = "llms.txt"
FULL: Final = "llms-full.txt"
_MAX_HEAD: Final = 200
"""Lines of front matter that are read."""
_WEB: Final = pattern(r"https?://[^\s<>()]+")
_BRACKETS: Final = pattern(r"([\[\]\\])")
_MARKS: Final = pattern(r"\]\([^)]*\)|[\\`*_\[\]#\s]")
"""What Markdown has besides words."""


class _Entry(NamedTuple):
    """A page that was written: its file, and what its front matter says."""

    path: Path
    inside: Path
    """The path below the site's folder."""
    title: str
    url: str
    section: str


def write_llms_txt(folder: Path) -> list[Path]:
    """Write `llms.txt` and `llms-full.txt` for every site in a folder of Markdown; their paths.

    The folder is one that `dehusk clean -o FOLDER/` has written: below it, a folder for each site.
    The files are made from what is there, so pages of earlier runs are in them. Each is written
    under another name first.
    """
    written: list[Path] = []
    for site in sorted(path for path in folder.iterdir() if path.is_dir()):
        entries = list(_entries(site))
        if entries:
            write_whole(site / LIST, _list(site.name, entries).encode("utf-8"))
            _write_full(site / FULL, site.name, entries)
            written += [site / LIST, site / FULL]
    return written


def _entries(site: Path) -> Iterator[_Entry]:
    """The pages of a site, in the order of their paths; files of others are passed over."""
    for below, folders, names in os.walk(site):
        folders.sort()
        for name in sorted(names):
            path = Path(below, name)
            head = _front_matter(path) if name.endswith(".md") else None
            if head is not None:
                inside = path.relative_to(site)
                section = inside.parts[0] if len(inside.parts) > 1 else ""
                title = " ".join(str(head.get("title") or inside.with_suffix("").name).split())
                yield _Entry(path, inside, title, str(head.get("url") or ""), section)


def _front_matter(path: Path) -> dict[str, object] | None:
    """What a page's front matter says; None where a file has none."""
    fields: dict[str, object] = {}
    with path.open(encoding="utf-8", errors="replace") as file:
        if file.readline() != "---\n":
            return None
        for _, line in zip(range(_MAX_HEAD), file, strict=False):
            if line == "---\n":
                return fields
            name, _, value = line.partition(": ")
            try:
                fields[name] = json.loads(value)
            except ValueError:
                return None
    return None


def _list(site: str, entries: list[_Entry]) -> str:
    """The list of a site's pages: a section for each folder, pages at the top first."""
    lines = [f"# {site}", "", f"> {len(entries)} pages of {site}, without their template.", ""]
    for section in sorted({entry.section for entry in entries}):
        lines += [f"## {section or 'Pages'}", ""]
        for entry in entries:
            if entry.section == section:
                title = _BRACKETS.sub(r"\\\1", entry.title)
                lines.append(f"- [{title}]({_link(entry)})")
        lines.append("")
    return "\n".join(lines)


def _link(entry: _Entry) -> str:
    """Where the page is on the web; its file beside the list, where that is not known."""
    if _WEB.fullmatch(entry.url):
        return entry.url
    return quote(entry.inside.as_posix())


def _write_full(path: Path, site: str, entries: list[_Entry]) -> None:
    """Write all pages of a site one behind another, each under its title, as it is read."""
    check_replaceable(path)
    with part_of(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"# {site}\n")
        for entry in entries:
            text = entry.path.read_text(encoding="utf-8", errors="replace")
            body = _without_title(text.partition("\n---\n")[2].strip("\n"), entry.title)
            source = f"Source: {entry.url}\n\n" if entry.url else ""
            file.write(f"\n---\n\n# {entry.title}\n\n{source}{body}\n")


def _without_title(body: str, title: str) -> str:
    """The page without its headline, if that is the title and comes first."""
    first, _, rest = body.partition("\n")
    words, wanted = (_MARKS.sub("", said).casefold() for said in (first, title))
    return rest.strip("\n") if first.startswith("#") and words == wanted else body
