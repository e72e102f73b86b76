"""Reading files in a process beside the one that writes, for an import that is large.

To make batches of a file takes longer than to write them, nearly all of it Python's own work,
which no two threads of a process do at once. The process is a copy of the command's, made before
that has threads: it takes no time to start, and shares the memory of what is loaded.

It reads one file after the other, as far ahead of the writing as the batches that wait take little
memory: most files are one batch, so that to be ahead within a file alone would be to take turns.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
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

MAX_WAITING_BYTES = 4 * 1024 * 1024
"""So many bytes of steps wait for the writing, then the process does; some six batches' worth."""


@dataclass(frozen=True, slots=True)
class _Request:
    importer: Importer
    path: Path
    imported_line: int


class ReadingProcess:
    """A process that reads the files that are begun, in that order."""

    def __init__(self) -> None:
        """Start it; see `is_possible`."""
        context = multiprocessing.get_context("fork")
        self._connection, other = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(other, self._connection), name="toolfold-reading", daemon=True
        )
        self._process.start()
        other.close()
        self._inbox = _Inbox(self._connection)
        self._begun = 0
        self._taken = 0
        self._is_amid_a_file = False
        self._is_over = False

    @staticmethod
    def is_possible() -> bool:
        """Say whether there can be one: a copy of a process that has threads could hang."""
        return (
            "fork" in multiprocessing.get_all_start_methods()
            and threading.active_count() == 1
            and _cores() > 1
        )

    def begin(self, importer: Importer, path: Path, *, imported_line: int) -> int | None:
        """Let it read a file after those begun before; return its number, None if it cannot."""
        if self._is_over:
            return None
        try:
            self._connection.send(_Request(importer, path, imported_line))
        except OSError:
            self._is_over = True
            return None
        self._inbox.start()
        self._begun += 1
        return self._begun

    def has_next(self, number: int) -> bool:
        """Say whether the steps of this file come next.

        They do not, nor do those of any other file, if one that was begun before was left unread.
        """
        is_free = not self._is_over and not self._is_amid_a_file
        return is_free and number == self._taken + 1

    def steps(self, importer: Importer) -> Iterator[Step[Batch]]:
        """Yield what `Reading` yields of the next file; blocks, so it is for a thread."""
        self._is_amid_a_file = True
        place = Checkpoint(0, 0, b"")
        while (data := self._inbox.take()) is not None:
            step: Step[Batch] = pickle.loads(data)  # noqa: S301 (our own process made it)
            place = step.place
            if step.is_last:
                self._taken += 1
                self._is_amid_a_file = False
            yield step
            if step.is_last:
                return
        self._is_over = True
        problem = Problem(place.line + 1, "the process that read it has ended")
        yield Step(Batch(importer.name), place, 0, is_last=True, failure=problem)

    def close(self) -> None:
        """End it, whatever it does."""
        self._is_over = True
        self._process.kill()
        self._process.join()
        self._inbox.close()
        self._connection.close()


class _Inbox:
    """Takes what the process sends from its pipe, which holds but a little, until it is wanted."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: deque[bytes | None] = deque()
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(
            target=self._receive, name="toolfold-receiving", daemon=True
        )

    def start(self) -> None:
        """Begin, if it has not begun yet."""
        if self._thread.ident is None:
            self._thread.start()

    def take(self) -> bytes | None:
        """Return what was sent next, when it is there; None if nothing will be any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            data = self._waiting[0]
            if data is not None:
                self._waiting.popleft()
                self._waiting_bytes -= len(data)
                self._changed.notify_all()
            return data

    def close(self) -> None:
        """Stop; the process has ended."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    def _receive(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while not self._is_closed:
                data = self._connection.recv_bytes()
                self._put(data)
        self._put(None)

    def _put(self, data: bytes | None) -> None:
        with self._changed:
            self._waiting.append(data)
            self._waiting_bytes += len(data or b"")
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._waiting_bytes < MAX_WAITING_BYTES or self._is_closed
            )


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
                connection.send_bytes(pickle.dumps(step, pickle.HIGHEST_PROTOCOL))


def _cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
