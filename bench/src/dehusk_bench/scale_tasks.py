"""How Spark spreads the pages of a large site: the tasks of each step, and what they took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

HEADER: Final = (
    "step", "tasks", "with the site", "its most in one", "longest s", "all tasks s",
)  # fmt: skip
LEARNING: Final = "learning"
ANSWERING: Final = "answering"


@dataclass(frozen=True, slots=True)
class Step:
    """What the tasks of one step took, and how the pages of the largest site lay in them."""

    name: str
    tasks_s: list[float]
    """How long each task ran, waiting included."""
    site_pages: list[int]
    """Pages of the site in each task that had any."""

    def cells(self) -> list[str]:
        """A row of the table."""
        most = max(self.site_pages, default=0) / max(1, sum(self.site_pages))
        return [
            self.name, str(len(self.tasks_s)), str(len(self.site_pages)), f"{most:.0%}",
            f"{max(self.tasks_s, default=0):.1f}", f"{sum(self.tasks_s):.1f}",
        ]  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """All figures."""
        return asdict(self)


def measured_steps(pages: Any, answers: Any) -> list[Step]:
    """The three steps that judge pages, after a run whose jobs were of these two groups.

    `answers` must be cached: the tasks that its rows lie in are then those that made them. The
    site of a page is its host.
    """
    from pyspark.sql import functions as fn  # noqa: PLC0415 - an extra

    counts = answers.groupBy("site").count().orderBy(fn.desc("count"), "site").first()
    if counts is None:
        return []
    site, size = counts
    context = answers.sparkSession.sparkContext
    # In the order of Spark's numbers: read, find the lessons, add them up; read again, answer.
    _, lessons, added, *_ = _stages(context, LEARNING)
    _, answered, *_ = _stages(context, ANSWERING)
    return [
        Step("lessons", lessons, _per_task(pages.where(fn.expr("parse_url(url, 'HOST')") == site))),
        Step("adding up", added, [size]),
        Step("answers", answered, _per_task(answers.where(answers.site == site))),
    ]


def _per_task(rows: Any) -> list[int]:
    """How many rows each task has that has any."""
    from pyspark.sql import functions as fn  # noqa: PLC0415 - an extra

    return sorted(row["count"] for row in rows.groupBy(fn.spark_partition_id()).count().collect())


def _stages(context: Any, group: str) -> Iterator[list[float]]:
    """How long each task ran, for each stage of the group that was not found done already."""
    tracker = context.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group))
    store = context._jsc.sc().statusStore()  # Spark offers Python no other way to it.
    for stage in sorted({stage for job in jobs if job is not None for stage in job.stageIds}):
        tasks = store.taskList(stage, 0, 1_000_000).iterator()
        ran: list[float] = []
        while tasks.hasNext():
            metrics = tasks.next().taskMetrics()
            if metrics.isDefined():
                ran.append(metrics.get().executorRunTime() / 1000)
        if ran:
            yield ran
