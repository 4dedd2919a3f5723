"""The options of `dehusk sites`, apart from its work: `dehusk --help` passes through."""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.doors.cli.options import add_memory_file

_ACTS: Final = {
    "show": (
        "what a site has taught",
        "Show a site: its pages, its tables, its families, and their templates.",
    ),
    "forget": ("take a site out", "Take sites out, with all that is kept of them."),
    "rules": (
        "what you have corrected",
        "List the rules of a site, add one, or take one back. Every page of the site obeys them.",
    ),
    "check": (
        "look for damage",
        "Read and verify everything: say exactly what is damaged and what is still good.",
    ),
    "vacuum": ("give back room", "Rewrite the file without the room that is not used."),
    "upgrade": ("bring to this format", "Bring a file of an older dehusk to the present format."),
    "merge": (
        "add two memories up",
        "Write the sites of two memories into a new one; common sites are added up.",
    ),
    "export": ("write as JSON lines", "Write a memory as JSON lines, a line for each site."),
    "import": ("read from JSON lines", "Add the sites of an export to a memory."),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the parser its acts; without one the sites are listed."""
    # Not for the parser to ask for: it may stand behind the act, and merge has none.
    add_memory_file(parser, is_required=True).required = False
    parser.add_argument("--json", action="store_true", help="one JSON line for each site")
    acts = parser.add_subparsers(dest="act", metavar="ACT")
    # By itself the parser would write as if there had to be an act.
    parser.usage = "%(prog)s [-h] [--memory FILE] [--json] [ACT ...]"
    made = {
        name: acts.add_parser(name, help=short, description=long)
        for name, (short, long) in _ACTS.items()
    }
    for name, act in made.items():
        if name != "merge":
            # It may stand before the act or behind it: one not given must not hide the other.
            memory = add_memory_file(act, is_required=True)
            memory.required, memory.default = False, argparse.SUPPRESS
    made["show"].add_argument("site", metavar="SITE", help="the site's name")
    made["show"].add_argument(
        "--against",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="pages of the site: show the template of each family too, found by comparing them",
    )
    made["forget"].add_argument("sites", nargs="+", metavar="SITE", help="the sites' names")
    made["rules"].add_argument("site", metavar="SITE", help="the site's name")
    made["rules"].add_argument("--keep", metavar="CSS", help="add: what this selects is content")
    made["rules"].add_argument("--drop", metavar="CSS", help="add: what this selects is template")
    made["rules"].add_argument("--remove", metavar="RULE", help="take a rule back, by its name")
    made["check"].add_argument(
        "--repair",
        action="store_true",
        help="keep only what is good; the damaged file stays beside it, as FILE-damaged",
    )
    made["merge"].add_argument("first", metavar="A", help="a memory")
    made["merge"].add_argument("second", metavar="B", help="another one of the same method")
    made["merge"].add_argument(
        "-o", "--output", metavar="C", required=True, help="the new memory to write"
    )
    made["export"].add_argument(
        "-o", "--output", metavar="FILE", help="where to write (default: standard output)"
    )
    made["import"].add_argument(
        "file", metavar="FILE", help="what `dehusk sites export` wrote; - for standard input"
    )
