"""The Spark door: pages in a DataFrame, or files that executors read, cleaned on a cluster.

from dehusk import spark as husk
pages = husk.read_pages(session, ["a.warc.gz", "b.warc.gz"])    # or a DataFrame of url and html
answers = husk.clean(pages)                                     # two passes: learn, then answer
husk.fields(answers).select("url", "text").write.parquet("clean/")
"""

from __future__ import annotations

from dehusk.doors.spark.extra import VERSIONS  # isort: skip  first: it names the extra that is missing
from dehusk.doors.spark.cleaning import clean
from dehusk.doors.spark.learning import learn
from dehusk.doors.spark.memories import read_memory, write_memory
from dehusk.doors.spark.reading import read_pages
from dehusk.doors.spark.session import SparkSettings, make_session
from dehusk.doors.spark.streaming import stream
from dehusk.doors.spark.writing import Written, check_target, fields, write

__all__ = [
    "VERSIONS",
    "SparkSettings",
    "Written",
    "check_target",
    "clean",
    "fields",
    "learn",
    "make_session",
    "read_memory",
    "read_pages",
    "stream",
    "write",
    "write_memory",
]
