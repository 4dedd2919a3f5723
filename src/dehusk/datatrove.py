"""Where datatrove's users find the step: `from dehusk.datatrove import Clean`."""

from dehusk.doors.documents import check_installed

check_installed("datatrove", "dehusk.datatrove", "datatrove")

from dehusk.doors.datatrove import Clean, Text  # noqa: E402

__all__ = ["Clean", "Text"]
