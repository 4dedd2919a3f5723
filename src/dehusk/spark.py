"""Where Spark's users find the door: `from dehusk import spark`."""

from dehusk.doors.spark import *  # noqa: F403  its public names are ours
from dehusk.doors.spark import __all__  # noqa: F401
