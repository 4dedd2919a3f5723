"""`dehusk spark`: the same on a cluster."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from dehusk.doors import spark
from dehusk.doors.options import chosen_method, make_limits, make_source_settings
from dehusk.doors.spark.memories import check_lasting
from dehusk.doors.spark.rows import held
from dehusk.doors.spark.session import SparkSettings, make_session
from dehusk.errors import SourceError, UsageError
from dehusk.sources.compression import open_packed, unpack


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked on a cluster; 1 if anything could not be read or used."""
    settings = _settings(arguments)
    settings.make_method()
    if arguments.one_pass and arguments.memory is None:
        raise UsageError("--one-pass answers by what is known: name it with --memory")
    paths = _paths(arguments)
    session = make_session(arguments.master, _conf(arguments.conf))
    session.sparkContext.setLogLevel("ERROR")
    try:
        check_lasting(session, arguments.memory or "")
        return _clean(arguments, session, settings, paths)
    finally:
        session.stop()


def _clean(
    arguments: argparse.Namespace, session: SparkSession, settings: SparkSettings, paths: list[str]
) -> int:
    """Clean all files, and say what came of it."""
    start = time.monotonic()
    spark.check_target(session, arguments.output)  # Learning may take hours.
    pages = spark.read_pages(session, paths, settings.source, tasks=settings.tasks)
    counts = _written(arguments, pages, settings)
    if not arguments.quiet:
        took_s = time.monotonic() - start
        failed = f", {counts.failed:,} failed" if counts.failed else ""
        sys.stderr.write(f"dehusk: {counts.pages:,} pages{failed}, {took_s:.1f} s\n")
    return 1 if counts.failed else 0


def _written(
    arguments: argparse.Namespace, pages: DataFrame, settings: SparkSettings
) -> spark.Written:
    """Write the answers on all pages, and leave a memory where one is named."""

    def write(answers: DataFrame) -> spark.Written:
        is_ordered, by = not arguments.unordered, arguments.partition_by
        return spark.write(answers, arguments.output, arguments.format, in_order=is_ordered, by=by)

    place, session = arguments.memory, pages.sparkSession
    if place is None:
        return write(spark.clean(pages, settings))
    memories = spark.read_memory(session, place, settings)
    if not arguments.one_pass:
        spark.write_memory(spark.learn(pages, settings, memories), place)
        return write(spark.clean(pages, settings, spark.read_memory(session, place, settings)))
    answers = spark.clean(pages, settings, memories)
    with held(answers, StorageLevel.DISK_ONLY):  # Used for the output, then for what it teaches.
        counts = write(answers)
        spark.write_memory(spark.learn(answers, settings, memories), place)
    return counts


def _settings(arguments: argparse.Namespace) -> SparkSettings:
    method, settings = chosen_method(arguments)
    return SparkSettings(
        method=method,
        settings=settings,
        limits=make_limits(arguments),
        source=make_source_settings(arguments),
        keep=tuple(arguments.keep),
        drop=tuple(arguments.drop),
        tasks=arguments.tasks,
    )


def _paths(arguments: argparse.Namespace) -> list[str]:
    """The sources, and those that --paths lists. Raises UsageError."""
    paths = [*arguments.sources]
    if arguments.paths:
        try:
            with open_packed(Path(arguments.paths), arguments.paths) as packed:
                lines = unpack(packed, None).readall().decode().split()
        except (SourceError, OSError, UnicodeDecodeError) as fault:
            raise UsageError(f"{arguments.paths}: {fault}") from fault
        paths += [arguments.prefix + line for line in lines]
    if "-" in paths:
        raise UsageError("executors cannot read standard input; name files or folders")
    if not paths:
        raise UsageError("nothing to read: name a SOURCE, or a list of them with --paths")
    return paths


def _conf(written: Sequence[str]) -> dict[str, str]:
    """The settings of Spark's that are given. Raises UsageError."""
    pairs = [item.partition("=") for item in written]
    for name, is_given, _ in pairs:
        if not is_given:
            raise UsageError(f"--conf {name}: write it as NAME=VALUE")
    return {name: value for name, _, value in pairs}
