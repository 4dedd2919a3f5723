"""Old names of a session, for code that has not moved to it yet."""

from dehusk.memory.opening import Site, extract
from dehusk.memory.session import Session as Sites

__all__ = ["Site", "Sites", "extract"]
