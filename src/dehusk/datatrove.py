"""Where datatrove's users find the step: `from dehusk.datatrove import Clean`."""

from dehusk.doors.datatrove import Clean, Text

__all__ = ["Clean", "Text"]
