"""The options of the other commands, apart from their work: help must not wait for it."""

from __future__ import annotations

import argparse
from typing import Final

from dehusk.doors import options
from dehusk.doors.cli import web_options
from dehusk.doors.options import add_memory_file, positive_int

_ACTS: Final = {
    "show": (
        "what a site has taught",
        "Show a site: its pages, its tables, its families, and their templates.",
    ),
    "forget": ("remove a site", "Remove sites, with everything that is kept about them."),
    "rules": (
        "what you have corrected",
        "List the rules of a site, add one, or remove one. They apply to all pages of the site.",
    ),
    "check": (
        "look for damage",
        "Read and verify everything: say exactly what is damaged and what is still good.",
    ),
    "vacuum": ("free unused space", "Rewrite the file without unused space."),
    "upgrade": ("update the format", "Convert a file of an older dehusk to the current format."),
    "merge": (
        "add up two memories",
        "Write the sites of two memories into a new one; common sites are added up.",
    ),
    "export": ("write as JSON lines", "Write a memory as JSON lines, a line for each site."),
    "import": ("read from JSON lines", "Add the sites of an export to a memory."),
    "atlas": (
        "make an atlas of themes from its sites",
        "Write an atlas of themes, out of the sites that the memory knows well and their pages.",
    ),
}


def add_methods(parser: argparse.ArgumentParser) -> None:
    """Which method to show."""
    parser.add_argument("name", nargs="?", metavar="METHOD", help="show this method's settings")


def _add_one_page(parser: argparse.ArgumentParser) -> None:
    """What the commands on one page share."""
    options.add_site(parser)
    options.add_method(parser)
    options.add_memory_file(parser)
    options.add_overrides(parser)
    options.add_limits(parser)


def _add_page(parser: argparse.ArgumentParser, what: str, others: str) -> None:
    """A page, and others of its site."""
    parser.add_argument("page", metavar="PAGE", help=what)
    parser.add_argument(
        "--against",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help=others,
    )


def add_explain(parser: argparse.ArgumentParser) -> None:
    """The page, what to compare it with, and how to show it."""
    _add_page(
        parser,
        "a file, or the URL of a page in --against",
        "pages to learn first, as for `dehusk clean` (default: none, so that PAGE is judged as"
        " `dehusk clean PAGE` judges it)",
    )
    options.add_url(parser, "PAGE is a file")
    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="a table for people, or JSON for programs (default: %(default)s)",
    )
    _add_one_page(parser)


def add_template(parser: argparse.ArgumentParser) -> None:
    """The page, what to compare it with, and what to write."""
    _add_page(
        parser,
        "a file, the URL of a page in --against, or a web address: without --against it is fetched,"
        " and so are the pages to compare with, by its links",
        "the pages to compare with, as for `dehusk clean` (default: the folder of PAGE)",
    )
    parser.add_argument(
        "--format",
        choices=("html", "json", "sections", "slots", "rules", "graby", "graph"),
        default="html",
        help="html: the template, its slots marked; as JSON: slots (their selectors and values),"
        " rules (selectors of content and of what to strip), json (every node's verdict), sections"
        " (of a method that smooths); graby: a site config of graby and wallabag; graph: the pages"
        " that link each other, as a picture in SVG (default: %(default)s)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write (default: standard output)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say what is compared")
    options.add_render(parser)
    options.add_search(parser)
    web_options.add_fetching(parser)
    _add_one_page(parser)


def _add_looked_at(parser: argparse.ArgumentParser, *, is_needed: bool = True) -> None:
    """Pages of sites that are looked at as a whole, and how they are judged."""
    parser.add_argument(
        "sources",
        nargs="+" if is_needed else "*",
        metavar="SOURCE",
        help="pages, as for `dehusk clean`, except web addresses",
    )
    parser.add_argument(
        "--pages",
        type=positive_int,
        default=1000,
        metavar="N",
        help="read at most this many pages (default: %(default)s)",
    )
    _add_one_page(parser)


def add_review(parser: argparse.ArgumentParser) -> None:
    """The pages to look at, and the answers."""
    _add_looked_at(parser, is_needed=False)
    parser.add_argument(
        "--answers",
        metavar="FILE",
        help="keep these answers as rules: what `dehusk review` wrote, each ? replaced by keep,"
        " drop or skip; - for standard input",
    )
    parser.add_argument("--json", action="store_true", help="one JSON line for each site")


def add_report(parser: argparse.ArgumentParser) -> None:
    """The pages to tell of, and where to write."""
    _add_looked_at(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write (default: standard output)"
    )


def add_sites(parser: argparse.ArgumentParser) -> None:
    """Give the parser its acts; without one the sites are listed."""
    # Not for the parser to ask for: it may stand behind the act, and merge has none.
    add_memory_file(parser, is_required=True).required = False
    parser.add_argument("--json", action="store_true", help="one JSON line for each site")
    acts = parser.add_subparsers(dest="act", metavar="COMMAND")
    # By itself the parser would write as if there had to be an act.
    parser.usage = "%(prog)s [-h] [--memory FILE] [--json] [COMMAND ...]"
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
        "--json", action="store_true", default=argparse.SUPPRESS, help="one JSON line"
    )
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
    made["rules"].add_argument("--remove", metavar="RULE", help="remove a rule, by its name")
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
    made["atlas"].add_argument(
        "sources", nargs="+", metavar="SOURCE", help="pages that the memory was learned from"
    )
    made["atlas"].add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the atlas to write"
    )


def add_spark(parser: argparse.ArgumentParser) -> None:
    """Give the parser its acts."""
    acts = parser.add_subparsers(dest="act", metavar="COMMAND", required=True)
    _add_spark_clean(
        acts.add_parser(
            "clean",
            help="files in, content out, in two passes",
            description="Clean files on a Spark cluster in two passes: learn all, then answer.",
        )
    )


def _add_spark_clean(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    group.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="a file or folder as `dehusk clean` takes it, where all executors see it, or the"
        " address of one (s3://…, hdfs://…)",
    )
    group.add_argument("--paths", metavar="FILE", help="a list of further sources, one per line")
    group.add_argument(
        "--prefix", default="", metavar="ADDRESS", help="put this before each line of --paths"
    )
    options.add_site(parser)
    options.add_method(parser)
    options.add_overrides(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", required=True, metavar="DIR",
        help="the folder to write to, which must not exist; or an address (s3://…)",
    )  # fmt: skip
    group.add_argument(
        "--format", choices=("jsonl", "parquet"), default="jsonl",
        help="JSON lines, or Parquet with a column for each field (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--unordered", action="store_true",
        help="do not sort the output into the order of the input",
    )  # fmt: skip
    group.add_argument(
        "--partition-by", action="append", choices=("site", "lang", "type"), default=[],
        help="a folder for each value of the field (lang=en/); may be repeated",
    )  # fmt: skip
    group.add_argument("-q", "--quiet", action="store_true", help="no summary")
    _add_spark_memory(parser)
    _add_cluster(parser)
    options.add_limits(parser)


def _add_spark_memory(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("memory")
    group.add_argument(
        "--memory", metavar="DIR",
        help="a folder, its address, or table:NAME: go on from what the last run left there, and"
        " leave what sites have taught after this one",
    )  # fmt: skip
    group.add_argument(
        "--one-pass", action="store_true",
        help="with --memory: answer by what it had before this run, reading each page once",
    )  # fmt: skip


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "--tasks", type=positive_int, metavar="N",
        help="how many tasks Spark cuts the work into (default: by the size of the data)",
    )  # fmt: skip
    group.add_argument(
        "--master",
        metavar="MASTER",
        help="where to run: local[2], spark://…, yarn (default: as spark-submit says, else all"
        " cores of this machine)",
    )
    group.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of Spark; may be repeated",
    )


def add_demo(parser: argparse.ArgumentParser) -> None:
    """What the demo makes, and where."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="demo",
        help="the folder to write to (default: %(default)s)",
    )
    parser.add_argument(
        "--pages",
        type=positive_int,
        default=40,
        metavar="N",
        help="pages of each site (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="other seeds give other sites (default: %(default)s)",
    )


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Where what is learned lasts, and how pages are fetched."""
    options.add_memory_file(parser)
    options.add_loading(parser)
    options.add_limits(parser)


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """What to look at besides what is installed."""
    add_memory_file(parser, is_required=True).required = False
    parser.add_argument("--json", action="store_true", help="one JSON line for each check")


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Whose script is wanted."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
