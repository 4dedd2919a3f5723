"""What other extractors take for a page."""

from __future__ import annotations

from dehusk.errors import UsageError


def html_of(given: object) -> str | bytes:
    """The HTML of text, bytes, a response with `data`, or an element of lxml. Raises UsageError."""
    data = getattr(given, "data", given)
    if isinstance(data, str | bytes):
        return data
    if type(given).__module__.partition(".")[0] == "lxml":
        from lxml import etree  # noqa: PLC0415  whoever has the element has lxml

        html: str = etree.tostring(given, method="html", encoding="unicode")
        return html
    raise UsageError(
        f"a page is given as text, bytes or an lxml element, not {type(given).__name__}"
    )
