"""Where datatrove's users find the step: `from dehusk.datatrove import Clean`."""

from dehusk.errors import MissingExtra

try:
    from dehusk.doors.datatrove import Clean, Text
except ModuleNotFoundError as missing:
    raise MissingExtra("dehusk.datatrove", "datatrove") from missing

__all__ = ["Clean", "Text"]
