"""Where readability's users find its class: `from dehusk.readability import Document`."""

from dehusk.doors.drop_in.readability import Document, Unparseable

__all__ = ["Document", "Unparseable"]
