"""`dehusk report`: one self-contained page about sites."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dehusk import __version__
from dehusk.doors.cli.checks import check_targets
from dehusk.doors.cli.review import opened
from dehusk.doors.looking import PageCount, read_into
from dehusk.doors.options import plural
from dehusk.output.whole import unwritable, write_whole
from dehusk.sources import check_saved
from dehusk.template.report import report_html
from dehusk.template.viewing import Viewed


def run(arguments: argparse.Namespace) -> int:
    """Write the page; 1 if some page of the sources could not be used."""
    check_saved(arguments.sources)
    check_targets(arguments)
    with opened(arguments, is_written=False) as memories:
        viewed = Viewed(memories)
        failures = read_into(viewed, arguments)
        count = PageCount("judged")
        page = report_html(viewed, memories.method.name, __version__, count.step).encode()
        count.end()
    if arguments.output in (None, "-"):
        sys.stdout.buffer.write(page)
        sys.stdout.buffer.flush()
    else:
        try:
            write_whole(Path(arguments.output), page)
        except OSError as fault:
            raise unwritable(arguments.output, fault) from fault
        pages, sites = plural(len(viewed.pages), "page"), plural(len(viewed.sites), "site")
        sys.stderr.write(f"{arguments.output}: a report on {pages} of {sites}\n")
    return 1 if failures else 0
