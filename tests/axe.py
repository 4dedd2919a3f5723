"""What axe-core finds against a page that a browser shows."""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from extras import missing

_PACKAGE = "axe_playwright_python"
"""Where `pip install -e '.[dev]'` puts axe-core."""
_RUN = """async () => {
  const found = await axe.run(document, { iframes: false, resultTypes: ['violations'] });
  return found.violations.flatMap(
    (rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)}`));
}"""


def violations(page: Any) -> list[str]:
    """Each rule that is broken, with the element; the test is skipped without axe-core, not in CI.

    Pages of strangers are shown in frames as they are, so frames are left out.
    """
    if find_spec(_PACKAGE) is None:
        missing("axe-core is not there: pip install axe-playwright-python")
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(files(_PACKAGE).joinpath("axe.min.js").read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(_RUN)
    return found
