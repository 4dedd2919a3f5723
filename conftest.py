"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("dehusk", deadline=None)
settings.load_profile("dehusk")  # No test depends on how busy the machine is.
