"""Importing a file through the server that owns the database: read here, written there.

Whether and from where a file is worth reading is known before; what an importer makes of it goes
out as lines that `stream` reads, as fast as the server takes them.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

from toolfold.errors import TranscriptError
from toolfold.importers import Importer
from toolfold.ingest.batch import Problem
from toolfold.ingest.reading import Reading, Step, ahead
from toolfold.ingest.report import FileReport, failed, in_one_line, state_of
from toolfold.ingest.source import Reached, Source
from toolfold.ingest.stream import Place
from toolfold.ingest.told import Telling, place_line, source_line

Progress = Callable[[int], None]
"""Is told how many bytes of the file have been read so far."""

Post = Callable[[AsyncIterator[bytes]], Awaitable[Any]]
"""Sends a stream to be imported and returns the JSON of the answer."""


async def send(
    path: Path, importer: Importer, source: Source, post: Post, progress: Progress
) -> FileReport:
    """Read a file with an importer and have it written; return the report of an import here.

    Raises:
        UnknownIdError: if the project is there no more.
        DatabaseError: if the server goes away or fails.
    """
    reading = Reading(importer, path, Telling(), imported_line=source.imported_line)
    last: list[Step[bytes]] = []

    async def lines() -> AsyncGenerator[bytes, None]:
        yield source_line(source)
        async with aclosing(ahead(reading.steps())) as steps:
            async for step in steps:
                last[:] = [step]
                if step.batch:
                    yield step.batch
                if step.failure is None:  # Else what was read before its line is dropped.
                    reached = Reached(step.place, is_end=step.is_last)
                    yield place_line(Place(reached, step.skipped))
                progress(step.place.size)

    async with aclosing(lines()) as stream:
        try:
            answer = await post(stream)
        except TranscriptError as error:
            return failed(path, importer.name, Problem(None, error.message))
    return _report(path, importer, answer, last[0])


def _report(path: Path, importer: Importer, answer: Any, last: Step[bytes]) -> FileReport:
    failure = last.failure
    problems = [Problem(problem["line"], problem["reason"]) for problem in answer["problems"]]
    return FileReport(
        path,
        importer.name,
        state_of(failure, deleted=answer["deleted"], left=answer["sessions"]),
        added=answer["added"],
        updated=answer["updated"],
        skipped=answer["skipped"] + (last.skipped if failure else 0),
        kept_raw=answer["keptRaw"],
        repaired=answer["repaired"],
        bytes=last.place.size,
        problems=(*problems, *([failure] if failure else [])),
        sessions=tuple(session["id"] for session in answer["sessions"]),
        error=in_one_line(path, failure) if failure else None,
    )
