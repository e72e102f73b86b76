"""Reading files in a process beside the one that writes, for an import that is large.

To make batches of a file takes twice as long as to write them, nearly all of it Python's own work,
which no two threads of a process do at once. The process is a copy of the command's, made before
that has threads: it takes no time to start, and shares the memory of what is loaded.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from toolfold.importers import Importer
from toolfold.importers.jsonl import Checkpoint
from toolfold.ingest.batch import Batch, Problem
from toolfold.ingest.gathering import Gatherer
from toolfold.ingest.reading import Reading, Step

MIN_BYTES = 16_000_000
"""For less than that a process is not worth its while."""


@dataclass(frozen=True, slots=True)
class _Request:
    importer: Importer
    path: Path
    imported_line: int


class ReadingProcess:
    """A process that reads one file at a time, and is a step ahead of who asked for it."""

    def __init__(self) -> None:
        """Start it; see `is_possible`."""
        context = multiprocessing.get_context("fork")
        self._connection, other = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(other, self._connection), name="toolfold-reading", daemon=True
        )
        self._process.start()
        other.close()
        self._is_free = True

    @staticmethod
    def is_possible() -> bool:
        """Say whether there can be one: a copy of a process that has threads could hang."""
        return (
            "fork" in multiprocessing.get_all_start_methods()
            and threading.active_count() == 1
            and _cores() > 1
        )

    @property
    def is_free(self) -> bool:
        """Whether it can read a file: it lives, and no file that it began was left unread."""
        return self._is_free

    def steps(self, importer: Importer, path: Path, *, imported_line: int) -> Iterator[Step[Batch]]:
        """Yield what `Reading` yields of a file; blocks, so it is for a thread."""
        self._is_free = False
        place = Checkpoint(0, 0, b"")
        try:
            self._connection.send(_Request(importer, path, imported_line))
            while True:
                step: Step[Batch] = self._connection.recv()
                place = step.place
                self._is_free = step.is_last
                yield step
                if step.is_last:
                    return
        except (EOFError, OSError):
            problem = Problem(place.line + 1, "the process that read it has ended")
            yield Step(Batch(importer.name), place, 0, is_last=True, failure=problem)

    def close(self) -> None:
        """End it, whatever it does."""
        self._is_free = False
        self._process.kill()
        self._process.join()
        self._connection.close()


def _serve(connection: Connection, others: Connection) -> None:
    """Read the files that are asked for until no one can ask any more."""
    others.close()
    # Ctrl-C is for the process that writes, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while True:
            request: _Request = connection.recv()
            gatherer = Gatherer(request.importer.name, keeps_raw=True)
            reading = Reading(
                request.importer, request.path, gatherer, imported_line=request.imported_line
            )
            for step in reading.steps():
                connection.send(step)


def _cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
