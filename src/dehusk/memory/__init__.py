"""What a site has taught, and its plain saved form."""

from dehusk.memory.saved import dump, load
from dehusk.memory.tables import Counts, Memory, Sums, Table

__all__ = ["Counts", "Memory", "Sums", "Table", "dump", "load"]
