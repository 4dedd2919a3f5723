"""Worker processes: started, asked one page at a time, ended when they do not answer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from typing import Final

from dehusk.memory.lending import Terms
from dehusk.settings import ServiceSettings
from dehusk.workers.frames import LENGTH, Header, pack

_MAX_HEADER: Final = 1_000_000
_BUFFER: Final = 1 << 20
"""Bytes of an answer that are read ahead."""


class WorkerLost(Exception):
    """The process that worked on the page is gone; the message says why."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Worker:
    """A process that judges pages, and the sites that it was lent."""

    def __init__(self, terms: Terms, settings: ServiceSettings) -> None:
        self.lock = asyncio.Lock()
        """Held by whoever asks; those who wait are served in order."""
        self.sites: set[str] = set()
        self.starts = 0
        self._terms = terms
        self._settings = settings
        self._process: Process | None = None

    async def start(self) -> Process:
        """The process that runs, started where none does."""
        if self._process is not None and self._process.returncode is None:
            return self._process
        self.sites.clear()
        self.starts += 1
        # One thread: numpy's would each reserve memory that counts against the limit. And what has
        # pages of strangers in its hands is told no secret.
        single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        inherited = {name: value for name, value in os.environ.items() if name != "DEHUSK_TOKEN"}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "dehusk.doors.service.work", stdin=PIPE, stdout=PIPE,
            limit=_BUFFER, env=inherited | single, start_new_session=True,
        )  # fmt: skip
        hello = {
            "terms": asdict(self._terms),
            "memory_bytes": self._settings.memory_bytes,
            "cpu_s": self._settings.cpu_s,
        }
        self._send(self._process, pack(hello))
        return self._process

    async def ask(
        self, header: Header, blobs: Sequence[bytes], timeout_s: float
    ) -> tuple[Header, list[bytes]]:
        """The reply to a message. Raises WorkerLost; the next message finds a new process."""
        process = await self.start()
        try:
            async with asyncio.timeout(timeout_s):
                self._send(process, pack(header, blobs))
                return await self._receive(process)
        except TimeoutError:
            await self.stop()
            raise WorkerLost("timeout", f"it took longer than {timeout_s:.0f} s") from None
        except (asyncio.IncompleteReadError, ConnectionError, ValueError, KeyError):
            await self.stop()
            raise WorkerLost(*_end(process.returncode, self._settings.cpu_s)) from None
        except BaseException:
            # Whoever asked has gone: what the process would say next answers nobody's question.
            await self.stop()
            raise

    @staticmethod
    def _send(process: Process, message: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(message)

    @staticmethod
    async def _receive(process: Process) -> tuple[Header, list[bytes]]:
        assert process.stdout is not None
        size = int.from_bytes(await process.stdout.readexactly(LENGTH), "big")
        if size > _MAX_HEADER:
            raise ValueError("not a message")
        header: Header = json.loads(await process.stdout.readexactly(size))
        return header, [await process.stdout.readexactly(size) for size in header["sizes"]]

    async def stop(self) -> None:
        """End the process."""
        self.sites.clear()
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with suppress(ProcessLookupError):  # It may be quicker.
                process.kill()
        await process.wait()


def _end(status: int | None, cpu_s: float) -> tuple[str, str]:
    """Why a process ended, as a code and in words."""
    if status == -signal.SIGPROF:
        return "timeout", f"it took more than {cpu_s:g} s of CPU time"
    return "fault", "its process ended: too much memory, or a fault in the parser"


class Pool:
    """All workers. A site always goes to the same one, so that its pages stay in order."""

    def __init__(self, terms: Terms, settings: ServiceSettings) -> None:
        self.workers = [Worker(terms, settings) for _ in range(settings.workers)]

    def of(self, site: str) -> Worker:
        """The worker of a site."""
        digest = blake2b(site.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return self.workers[int.from_bytes(digest, "big") % len(self.workers)]

    async def start(self) -> None:
        """Start all of them."""
        await asyncio.gather(*(worker.start() for worker in self.workers))

    async def stop(self) -> None:
        """End all of them."""
        await asyncio.gather(*(worker.stop() for worker in self.workers))
