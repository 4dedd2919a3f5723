"""Says which install extra is missing, before anything that needs it is imported."""

from __future__ import annotations

from dehusk.doors.documents import check_installed

for package in ("pyarrow", "pyspark"):
    check_installed(package, "dehusk.spark", "spark")

import pyarrow  # noqa: E402
import pyspark  # noqa: E402

VERSIONS = {"pyarrow": pyarrow.__version__, "pyspark": pyspark.__version__}
"""What is installed."""
