"""Frames that are computed once for several uses, beside those that the caller holds himself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import StorageLevel
from pyspark.sql import DataFrame


class Hold:
    """Says whether a frame is to be let go of when its block ends."""

    def __init__(self) -> None:
        self.is_kept = False

    def keep(self) -> None:
        """Hold the frame beyond the block."""
        self.is_kept = True


@contextmanager
def held(frame: DataFrame, level: StorageLevel) -> Iterator[Hold]:
    """Have the frame computed once, however often it is used in the block.

    One that the caller has cached, he and nobody else lets go of: Spark knows a cache by what is
    computed, so that letting go of ours would let go of his.
    """
    hold = Hold()
    its = frame.storageLevel
    if its.useMemory or its.useDisk:
        yield hold
        return
    frame.persist(level)
    try:
        yield hold
    finally:
        if not hold.is_kept:
            frame.unpersist()
