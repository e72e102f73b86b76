"""Importing one file: opened, read in batches, written.

A worker thread parses and prepares the next batch while one is written. Each batch and the place
in the file that it reaches are one transaction, so an import that is cut off goes on from there.
"""

from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection

from toolfold.errors import DatabaseError, UnknownIdError
from toolfold.events import Events
from toolfold.importers import Importer
from toolfold.ingest import projects
from toolfold.ingest.batch import Batch, Problem
from toolfold.ingest.opening import Opened, Opener
from toolfold.ingest.reading import Step, ahead, unexpected
from toolfold.ingest.report import FileReport, in_one_line, state_of
from toolfold.ingest.sending import Post, Progress, send
from toolfold.ingest.source import Reached, Source, write_part
from toolfold.ingest.tally import Tally
from toolfold.ingest.writing import Counts
from toolfold.store.engine import Database


async def import_file(  # noqa: PLR0913 - each may be given by a caller without the others.
    database: Database,
    project_id: str,
    path: Path,
    *,
    importer: Importer | None = None,
    opened: Opened | FileReport | None = None,
    progress: Progress | None = None,
    events: Events | None = None,
) -> FileReport:
    """Import one file into a project that exists, by the importer given or the one detected.

    Nothing is written for a file that is unchanged since it was imported, or was moved. One that
    grew, or whose import was cut off, is read again and only what is new is written; any other
    change is compared message by message. What is wrong with a file is in its report. Sessions
    and messages without any time get that of the file's last change. A process whose sessions are
    followed gives its `events`, which are told after each commit. A caller that has `opened` the
    file already gives what came of it.

    Raises:
        UnknownIdError: if the project was deleted meanwhile.
        DatabaseError: if the database fails.
    """
    found = opened or await Opener(database, project_id).open(path, importer)
    if isinstance(found, FileReport):
        return found
    try:
        return await _Import(database, project_id, found, events).run(progress or _untold)
    finally:
        found.is_over.set()


async def send_file(  # noqa: PLR0913 - as with `import_file`.
    database: Database,
    project_id: str,
    path: Path,
    post: Post,
    *,
    importer: Importer | None = None,
    opened: Opened | FileReport | None = None,
    progress: Progress | None = None,
) -> FileReport:
    """Import one file as `import_file` does, but have it written by the server that `post` is to.

    The database is only read here. The server tells who follows the sessions.

    Raises:
        UnknownIdError: if the project was deleted meanwhile.
        DatabaseError: if the database or the server fails.
    """
    found = opened or await Opener(database, project_id).open(path, importer)
    if isinstance(found, FileReport):
        return found
    try:
        return await send(path, found.importer, found.source, post, progress or _untold)
    finally:
        found.is_over.set()


def _untold(_byte_count: int) -> None:
    """Progress that no one wants to know."""


@dataclass(slots=True)
class _Import:
    """An import that is running, and what it has done so far."""

    database: Database
    project_id: str
    opened: Opened
    events: Events | None
    source: Source = field(init=False)
    bytes: int = 0
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.source = self.opened.source

    async def run(self, progress: Progress) -> FileReport:
        async with aclosing(ahead(self.opened.steps())) as steps:
            async for step in steps:
                failure = await self._take(step)
                progress(self.bytes)
                if failure is not None:
                    return self._report(failure)
        return self._report(None)

    async def _take(self, step: Step[Batch]) -> Problem | None:
        """Write a step, if there is anything to write; return what ends the import, if it does."""
        batch = step.batch
        is_news = bool(batch.sessions or batch.records)
        if is_news or (step.is_last and step.failure is None):
            now = datetime.now(UTC)
            try:
                counts, self.source = await self.database.write(
                    lambda connection: self._write(connection, step, now)
                )
            except (DatabaseError, UnknownIdError):
                raise
            except Exception as error:  # noqa: BLE001 (one file must not end that of a folder)
                reason = unexpected("writing an import failed", self.opened.importer.name, error)
                return Problem(None, f"cannot be written ({reason})")
            if self.events is not None:
                self.events.publish(counts.positions(self.project_id))
            self.tally.count(counts)
        self.bytes = step.place.size
        self.tally.passed_by += step.skipped
        self.tally.take(batch)
        return step.failure

    def _write(
        self, connection: Connection, step: Step[Batch], now: datetime
    ) -> tuple[Counts, Source]:
        """Write a step in a transaction that may be run again.

        Raises:
            UnknownIdError: if the project was deleted meanwhile.
        """
        projects.require(connection, self.project_id)
        reached = Reached(step.place, is_end=step.is_last)
        return write_part(
            connection,
            self.project_id,
            self.source,
            step.batch,
            reached,
            met=self.tally.met,
            now=now,
        )

    def _report(self, failure: Problem | None) -> FileReport:
        tally, path = self.tally, self.opened.path
        return FileReport(
            path,
            self.opened.importer.name,
            state_of(failure, deleted=tally.deleted, left=tally.sessions),
            added=tally.added,
            updated=tally.updated,
            skipped=tally.skipped,
            kept_raw=tally.kept_raw,
            repaired=tally.repaired,
            bytes=self.bytes,
            problems=(*tally.problems, *([failure] if failure else [])),
            sessions=tuple(tally.sessions),
            error=in_one_line(path, failure) if failure else None,
        )
