"""What a site has taught, how it is forgotten, and its plain saved form."""

from dehusk.memory.forgetting import fair_worth, keep_best, life_left, life_time, limited, shrink
from dehusk.memory.memory import Memory
from dehusk.memory.saved import Settings, carried, carry, check_settings, dump, load
from dehusk.memory.tables import Counts, Sums, Table

__all__ = [
    "Counts",
    "Memory",
    "Settings",
    "Sums",
    "Table",
    "carried",
    "carry",
    "check_settings",
    "dump",
    "fair_worth",
    "keep_best",
    "life_left",
    "life_time",
    "limited",
    "load",
    "shrink",
]
