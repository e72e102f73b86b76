"""An import that comes in as a stream of lines: whole lines become batches, each a transaction.

Memory holds one line and one batch, however long the stream is, and nothing is read on while a
batch is written. What was committed stays, whatever comes after it; the same stream sent again
adds nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio.to_thread
from sqlalchemy import Connection

from toolfold.errors import BadLineError, InvalidJsonError, TranscriptError
from toolfold.importers import toolfold_export
from toolfold.importers.jsonl import START, Line
from toolfold.ingest import projects
from toolfold.ingest.batch import Batch
from toolfold.ingest.gathering import Gatherer
from toolfold.ingest.source import Reached, Source, write_part
from toolfold.ingest.stream import Known, Place, Stream
from toolfold.ingest.tally import Tally
from toolfold.ingest.writing import Counts, write
from toolfold.store.engine import Database
from toolfold.transcript import Entry

MAX_LINE_BYTES = 512 * 1024 * 1024
"""A line is one message, and held in memory whole."""

Written = Callable[[Counts], None]


@dataclass(slots=True)
class Lines:
    """Pieces of a stream, put together to lines."""

    _number: int = 0
    _rest: list[bytes] = field(default_factory=list)
    _rest_bytes: int = 0

    def whole(self, piece: bytes) -> list[Line]:
        """Return the lines that end in this piece.

        Raises:
            BadLineError: at a line of over `MAX_LINE_BYTES`.
        """
        *ended, rest = piece.split(b"\n")
        lines = [self._line(raw) for raw in ended]
        self._rest.append(rest)
        self._rest_bytes += len(rest)
        if self._rest_bytes > MAX_LINE_BYTES:
            raise BadLineError(f"over {MAX_LINE_BYTES:,} bytes long.", line=self._number + 1)
        return lines

    def last(self) -> list[Line]:
        """Return the line that the stream ended without ending, if there is one."""
        return [self._line(b"")] if self._rest_bytes else []

    def _line(self, end: bytes) -> Line:
        raw = b"".join((*self._rest, end))
        self._rest.clear()
        self._rest_bytes = 0
        self._number += 1
        return Line(self._number, raw, terminated=True)


@dataclass(frozen=True, slots=True)
class _Part:
    """What one transaction writes of a stream, and how far it brings the source, if it has one."""

    batch: Batch
    reached: Reached | None


class Receiver:
    """One stream that is being received into a project; `tally` is what it has come to so far.

    `written` is told what each transaction did, after its commit.
    """

    def __init__(self, database: Database, project_id: str, written: Written) -> None:
        self.tally = Tally()
        self._database = database
        self._project_id = project_id
        self._written = written
        self._lines = Lines()
        self._stream = Stream()
        self._gatherer = Gatherer(toolfold_export.NAME, keeps_raw=False)
        self._source: Source | None = None
        self._reached = Reached(START)

    async def take(self, piece: bytes) -> None:
        """Take the next bytes of the stream, and write the batches that they complete.

        Raises:
            BadLineError: at a line that cannot be imported; what was not written before it is
                dropped.
            UnknownIdError: if the project is not there, or no more.
            DatabaseError: if the database fails.
        """
        lines = self._lines.whole(piece)
        if lines:
            await self._write_all(self._parts(lines))

    async def end(self) -> None:
        """Take the end of the stream, and write what is left; raises what `take` does."""
        await self._write_all(self._parts(self._lines.last()))
        await self._write_all(self._last_part())

    async def _write_all(self, parts: Iterator[_Part]) -> None:
        """Write parts, each of which a thread makes when the one before is written."""
        while (part := await anyio.to_thread.run_sync(next, parts, None)) is not None:
            writing = partial(self._write, part, datetime.now(UTC))
            counts, self._source = await self._database.write(writing)
            self.tally.take(part.batch)
            self.tally.count(counts)
            self._written(counts)

    def _write(
        self, part: _Part, now: datetime, connection: Connection
    ) -> tuple[Counts, Source | None]:
        """Write a part in a transaction that may be run again.

        Raises:
            UnknownIdError: if the project was deleted meanwhile.
        """
        projects.require(connection, self._project_id)
        project_id, met = self._project_id, self.tally.met
        if self._source is None or part.reached is None:
            return write(connection, project_id, part.batch, base_time=now, met=met), None
        return write_part(
            connection, project_id, self._source, part.batch, part.reached, met=met, now=now
        )

    def _parts(self, lines: list[Line]) -> Iterator[_Part]:
        """Gather lines; yield what is due to be written."""
        for line in lines:
            for told in self._stream.read(line):
                if isinstance(told, Source):
                    self._source = told
                    self._gatherer = Gatherer(told.format, keeps_raw=True)
                elif isinstance(told, Known):
                    self._gatherer.skip(told.entry)
                elif isinstance(told, Place):
                    self._reached = told.reached
                    self.tally.passed_by += told.passed_by
                    if told.reached.is_end or not self._gatherer.is_empty:
                        yield self._part()
                else:
                    self._add(line, told)
            # A source is cut where it tells a place, so that no line of it is written twice.
            is_due = self._gatherer.is_full if self._source is None else self._gatherer.is_overfull
            if is_due:
                yield self._part()

    def _last_part(self) -> Iterator[_Part]:
        for entry in self._stream.end():
            self._gatherer.add(entry)
        if not self._gatherer.is_empty:
            yield self._part()

    def _add(self, line: Line, entry: Entry) -> None:
        try:
            self._gatherer.add(entry)
        except (InvalidJsonError, TranscriptError) as error:
            raise BadLineError(error.message, line=line.number) from error

    def _part(self) -> _Part:
        reached = None if self._source is None else self._reached
        return _Part(self._gatherer.take(), reached)


def answer(tally: Tally) -> dict[str, Any]:
    """Return what is answered to whoever sent a stream, as JSON."""
    return {
        "added": tally.added,
        "updated": tally.updated,
        "skipped": tally.skipped,
        "repaired": tally.repaired,
        "keptRaw": tally.kept_raw,
        "sessions": [
            {
                "id": session_id,
                "added": session.added,
                "updated": len(session.updated),
                "skipped": session.skipped,
                "headSequence": session.head_sequence,
                "headRevision": session.head_revision,
                "refusal": session.refusal,
            }
            for session_id, session in tally.sessions.items()
        ],
        "deleted": sorted(tally.deleted),
        "problems": [{"line": line, "reason": reason} for line, reason in tally.problems],
    }
