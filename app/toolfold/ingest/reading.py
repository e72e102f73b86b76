"""Reading a file into batches: what a worker does while the one before is written."""

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from toolfold.errors import AppError
from toolfold.importers import Importer, Transcript
from toolfold.importers.jsonl import Checkpoint, LineReader
from toolfold.ingest.batch import Problem
from toolfold.ingest.gathering import MAX_ENTRIES
from toolfold.transcript import Entry, Message

B = TypeVar("B")
B_co = TypeVar("B_co", covariant=True)

_logger = logging.getLogger(__name__)


def unexpected(event: str, source_format: str, error: Exception) -> str:
    """Log an error that no one foresaw, and return how a report names it.

    An error's text may hold a transcript's content, which is for neither.
    """
    name = type(error).__name__
    where = "".join(traceback.format_tb(error.__traceback__))
    _logger.error(event, extra={"format": source_format, "error": name, "where": where})
    return name


@dataclass(frozen=True, slots=True)
class Step(Generic[B]):
    """A batch, and the place in the file up to which it and those before it tell everything.

    `skipped` counts messages that were left out because they were imported before. The last step
    is of the file's end, or has the `failure` that ended the reading; then its batch is empty.
    """

    batch: B
    place: Checkpoint
    skipped: int
    is_last: bool = False
    failure: Problem | None = None


class Gathering(Protocol[B_co]):
    """What makes batches of entries: `Gatherer`, or `Telling` for those that are sent."""

    @property
    def is_full(self) -> bool:
        """Whether it is time to take the batch."""

    def add(self, entry: Entry) -> None:
        """Add an entry."""

    def skip(self, entry: Entry) -> None:
        """Learn whose session is meant from an entry that need not be written again."""

    def take(self) -> B_co:
        """Return what was gathered, and start anew."""

    def drop(self) -> None:
        """Forget what was gathered."""


class Reading(Generic[B]):
    """One file being read by an importer; lines up to `imported_line` are not told again."""

    def __init__(
        self,
        importer: Importer,
        path: Path,
        gatherer: Gathering[B],
        *,
        imported_line: int = 0,
    ) -> None:
        self._importer = importer
        self._path = path
        self._imported_line = imported_line
        self._lines = LineReader(path)
        self._gatherer = gatherer
        self._line = 0
        self._skipped = 0
        self._passed_by = 0

    def steps(self) -> Iterator[Step[B]]:
        """Yield the steps of an import, lazily; what goes wrong is the last one's failure."""
        try:
            for entry in self._importer.parse(Transcript(self._path, self._lines)):
                if entry.line is not None and entry.line != self._line:
                    if self._is_due and (place := self._place_before(entry.line)):
                        yield self._step(place)
                    self._line = entry.line
                self._take(entry)
            last = self._step(self._lines.end(), is_last=True)
        except AppError as error:
            last = self._failed(error.message)
        except OSError as error:
            last = self._failed(f"cannot be read: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 (one file must not end the import of a folder)
            reason = unexpected("importer failed", self._importer.name, error)
            last = self._failed(f"the importer failed ({reason})")
        yield last

    @property
    def _is_due(self) -> bool:
        return self._gatherer.is_full or self._passed_by >= MAX_ENTRIES

    def _place_before(self, line: int) -> Checkpoint | None:
        """Return the place before a line, None if the importer has read on beyond it."""
        place = self._lines.checkpoint()
        return place if place.line == line - 1 else None

    def _take(self, entry: Entry) -> None:
        if entry.line is None or entry.line > self._imported_line:
            self._gatherer.add(entry)
            return
        self._gatherer.skip(entry)
        self._passed_by += 1
        self._skipped += isinstance(entry.value, Message)

    def _step(self, place: Checkpoint, *, is_last: bool = False) -> Step[B]:
        step = Step(self._gatherer.take(), place, self._skipped, is_last=is_last)
        self._skipped = self._passed_by = 0
        return step

    def _failed(self, reason: str) -> Step[B]:
        place = self._lines.checkpoint()
        problem = Problem(place.line + 1, reason)
        self._gatherer.drop()
        nothing = self._gatherer.take()
        return Step(nothing, place, self._skipped, is_last=True, failure=problem)


async def ahead(steps: Iterator[Step[B]]) -> AsyncGenerator[Step[B], None]:
    """Yield each step while a thread makes the next one."""
    loop = asyncio.get_running_loop()
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toolfold-import")
    try:
        making = loop.run_in_executor(thread, next, steps, None)
        while (step := await making) is not None:
            making = loop.run_in_executor(thread, next, steps, None)
            yield step
    finally:
        # One that is cut off does not wait for the step that is being made.
        thread.shutdown(wait=False, cancel_futures=True)
