"""Says which install extra is missing, before anything that needs it is imported."""

from __future__ import annotations

from dehusk.errors import MissingExtra

try:
    import pyarrow
    import pyspark
except ImportError as missing:
    raise MissingExtra("dehusk.spark", "spark") from missing

VERSIONS = {"pyarrow": pyarrow.__version__, "pyspark": pyspark.__version__}
"""What is installed."""
