"""Importing one file: detected, compared with what is known, read in batches, written.

A worker thread parses and prepares the next batch while one is written. Each batch and the place
in the file that it reaches are one transaction, so an import that is cut off goes on from there.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio.to_thread
from sqlalchemy import Connection

from toolfold.errors import DatabaseError
from toolfold.events import Events
from toolfold.importers import Importer, detect
from toolfold.ingest import prior
from toolfold.ingest.batch import Problem
from toolfold.ingest.preparation import mend, timestamp
from toolfold.ingest.prior import Prior
from toolfold.ingest.reading import Reading, Step, unexpected
from toolfold.ingest.report import FileReport, FileState, failed, in_one_line, not_imported
from toolfold.ingest.writing import Counts, write
from toolfold.store.engine import Database
from toolfold.store.recording import source

MAX_PROBLEMS = 1_000
"""How many problems a report holds; its counts are complete."""

Progress = Callable[[int], None]
"""Is told how many bytes of the file have been read so far."""


async def import_file(
    database: Database,
    project_id: str,
    path: Path,
    *,
    importer: Importer | None = None,
    progress: Progress | None = None,
    events: Events | None = None,
) -> FileReport:
    """Import one file into a project that exists, by the importer given or the one detected.

    Nothing is written for a file that is unchanged since it was imported, or was moved. One that
    grew, or whose import was cut off, is read again and only what is new is written; any other
    change is compared message by message. What is wrong with a file is in its report. Sessions
    and messages without any time get that of the file's last change.
    A process whose sessions are followed gives its `events`, which are told after each commit.

    Raises:
        DatabaseError: if the database fails.
    """
    try:
        if importer is None:
            detected = await anyio.to_thread.run_sync(detect, path)
            if detected.importer is None:
                return not_imported(path, detected)
            importer = detected.importer
        known = await prior.look_up(database, project_id, path, importer)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        return failed(path, importer.name if importer else None, Problem(None, reason))
    if known.is_unchanged:
        sessions = () if known.session_id is None else (known.session_id,)
        return FileReport(path, importer.name, FileState.UNCHANGED, sessions=sessions)
    running = _Import(database, project_id, path, importer, known, events)
    return await running.run(progress or (lambda _byte_count: None))


@dataclass(slots=True)
class _Import:
    """An import that is running, and what it has done so far."""

    database: Database
    project_id: str
    path: Path
    importer: Importer
    known: Prior
    events: Events | None
    added: int = 0
    repeated: int = 0
    kept_raw: int = 0
    repaired: int = 0
    bytes: int = 0
    is_begun: bool = False
    problems: list[Problem] = field(default_factory=list)
    heads: dict[str, int] = field(default_factory=dict)
    """The last sequence that each session had before; in order of their first mention."""
    changed: set[tuple[str, int]] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)

    async def run(self, progress: Progress) -> FileReport:
        reading = Reading(self.importer, self.path, imported_line=self.known.imported_line)
        async with aclosing(_ahead(reading.steps())) as steps:
            async for step in steps:
                failure = await self._take(step)
                progress(self.bytes)
                if failure is not None:
                    return self._report(failure)
        return self._report(None)

    async def _take(self, step: Step) -> Problem | None:
        """Write a step, if there is anything to write; return what ends the import, if it does."""
        batch = step.batch
        is_news = bool(batch.sessions or batch.records)
        if is_news or (step.is_last and step.failure is None):
            now = datetime.now(UTC)
            try:
                counts = await self.database.write(
                    lambda connection: self._write(connection, step, now)
                )
            except DatabaseError:
                raise
            except Exception as error:  # noqa: BLE001 (one file must not end that of a folder)
                reason = unexpected("writing an import failed", self.importer.name, error)
                return Problem(None, f"cannot be written ({reason})")
            if self.events is not None:
                self.events.publish(counts.positions(self.project_id))
            self._count(counts)
            self.is_begun = True
        self.bytes = step.place.size
        self.repeated += step.skipped
        self.repaired += batch.repaired
        self.kept_raw += len(batch.records)
        self._tell(batch.problems)
        return step.failure

    def _write(self, connection: Connection, step: Step, now: datetime) -> Counts:
        """Write a step in a transaction that may be run again."""
        source_id = self.known.source_id
        if not self.is_begun:
            line = self.known.imported_line
            source.forget_after(connection, self.project_id, source_id, line)
        base_time = self.known.changed_at
        counts = write(connection, self.project_id, step.batch, base_time=base_time)
        source.advance(connection, self._source(step, now))
        source.keep(
            connection,
            [
                {
                    "project_id": self.project_id,
                    "source_id": source_id,
                    "line": record.line,
                    "position": record.position,
                    "reason": record.reason,
                    "raw": record.raw,
                }
                for record in step.batch.records
            ],
        )
        return counts

    def _source(self, step: Step, now: datetime) -> dict[str, Any]:
        told = [one.identity.id for one in step.batch.sessions.values()]
        first = next(iter([*self.heads, *told]), None)
        return {
            "project_id": self.project_id,
            "id": self.known.source_id,
            "path": mend(str(self.path.resolve())),
            "format": self.importer.name,
            "session_id": self.known.session_id or first,
            "size": step.place.size,
            "digest": step.place.digest,
            "line": step.place.line,
            "companions": self.known.companions if step.is_last else None,
            "imported_at": timestamp(now),
        }

    def _count(self, counts: Counts) -> None:
        for session in counts.sessions:
            if session.refusal is not None:
                self._refuse(session.session_id, session.refusal.message)
            head = self.heads.setdefault(session.session_id, session.head_before)
            # What this import has added itself is not an update when it changes.
            self.changed |= {(session.session_id, n) for n in session.updated if n <= head}
        self.added += counts.added
        self.repeated += sum(session.repeated for session in counts.sessions)

    def _refuse(self, session_id: str, reason: str) -> None:
        if session_id not in self.refused:
            self.refused.add(session_id)
            self._tell([Problem(None, reason)])

    def _tell(self, problems: list[Problem]) -> None:
        self.problems += problems[: MAX_PROBLEMS - len(self.problems)]

    def _report(self, failure: Problem | None) -> FileReport:
        return FileReport(
            self.path,
            self.importer.name,
            FileState.IMPORTED if failure is None else FileState.FAILED,
            added=self.added,
            updated=len(self.changed),
            skipped=max(0, self.repeated - len(self.changed)),
            kept_raw=self.kept_raw,
            repaired=self.repaired,
            bytes=self.bytes,
            problems=(*self.problems, *([failure] if failure else [])),
            sessions=tuple(self.heads),
            error=in_one_line(self.path, failure) if failure else None,
        )


async def _ahead(steps: Iterator[Step]) -> AsyncGenerator[Step, None]:
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
