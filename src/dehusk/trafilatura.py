"""Where trafilatura's users find its calls: `from dehusk.trafilatura import extract`."""

from dehusk.doors.drop_in.trafilatura import (
    Document,
    bare_extraction,
    extract,
    extract_metadata,
    fetch_url,
)

__all__ = ["Document", "bare_extraction", "extract", "extract_metadata", "fetch_url"]
