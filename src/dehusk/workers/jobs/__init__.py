"""Pages judged by several processes, with the answers of one: `dehusk.Jobs`.

One process reads and writes; the others judge. A site belongs to one of them at a time, so that
its pages are learned in order; answers are given in the order of the pages:

    items ─► Intake ─► Seat ─► process ─► Seat ─► in order ─► answers
                        │  ▲
                        ▼  │
                       Ledger       what sites have taught, so that any process may die
"""

from __future__ import annotations

from dehusk.settings import JobSettings
from dehusk.workers.jobs.acts import Act, Done, Learned
from dehusk.workers.jobs.crew import Jobs

__all__ = ["Act", "Done", "JobSettings", "Jobs", "Learned"]
