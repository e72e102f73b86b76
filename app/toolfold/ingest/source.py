"""A file as the source of an import: what is remembered of it, in the transaction that writes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from toolfold.importers.jsonl import START, Checkpoint
from toolfold.ingest.batch import Batch
from toolfold.ingest.deletion import Met
from toolfold.ingest.preparation import timestamp
from toolfold.ingest.writing import Counts, write
from toolfold.store.recording import source


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is being imported.

    `imported_line` is the last line that is not told again, `companions` the digest of the files
    beside it, `changed_at` the time of what tells no time, `session_id` the session that it was
    known to tell of, if it was. `written_line` is the line up to which this import has written it.
    Of a file of which a session `is_refused`, or was deleted meanwhile so that it `is_forgotten`,
    nothing is remembered as read, so that the next import reads it from the start. One that
    `is_live` is told while it is written, and remembers what of it was deleted.
    """

    id: str
    path: str
    format: str
    companions: bytes
    changed_at: datetime
    imported_line: int = 0
    session_id: str | None = None
    is_refused: bool = False
    is_forgotten: bool = False
    is_live: bool = False
    written_line: int | None = None

    def telling(self, session_ids: Iterable[str]) -> "Source":
        """Return the source as one that tells first of the first of these, unless it is known."""
        if self.session_id is not None:
            return self
        return replace(self, session_id=next(iter(session_ids), None))


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a source is told: the place, and whether that is its end."""

    place: Checkpoint
    is_end: bool = False


def write_part(  # noqa: PLR0913 - what is written, and what it follows.
    connection: Connection,
    project_id: str,
    told: Source,
    batch: Batch,
    reached: Reached,
    *,
    met: Met,
    now: datetime,
) -> tuple[Counts, Source]:
    """Write a batch and how far it brings the import, in a transaction that is under way.

    `reached` may be before the batch's end, never beyond it. The source is returned as the next
    part is to be given it.
    """
    if told.written_line is None:  # The raw records that are about to be told again.
        source.forget_after(connection, project_id, told.id, told.imported_line)
    if told.is_live:
        left_out = source.left_out(connection, project_id, told.id)
        met = replace(met, deleted=met.deleted | left_out)
    else:
        told = replace(told, is_forgotten=_is_forgotten(connection, project_id, told))
        met = replace(met, lacks_beginnings=told.is_forgotten and told.imported_line > 0)
    counts = write(connection, project_id, batch, base_time=told.changed_at, met=met)
    session_ids = [one.session_id for one in counts.sessions]
    told = told.telling(session_ids)
    told = replace(
        told,
        is_refused=told.is_refused or counts.refused,
        is_forgotten=told.is_forgotten or (bool(counts.deleted) and not told.is_live),
    )
    if told.is_refused or told.is_forgotten:
        reached = Reached(START)
    source.advance(
        connection,
        {
            "project_id": project_id,
            "id": told.id,
            "path": told.path,
            "format": told.format,
            "session_id": told.session_id,
            "size": reached.place.size,
            "digest": reached.place.digest,
            "line": reached.place.line,
            "companions": told.companions if reached.is_end else None,
            "imported_at": timestamp(now),
            # What comes after the end is an import of the same as any.
            "is_live": told.is_live and not reached.is_end,
        },
    )
    source.tell_of(connection, project_id, told.id, session_ids)
    if told.is_live:
        source.leave_out(connection, project_id, told.id, counts.deleted)
    source.keep(
        connection,
        [
            {
                "project_id": project_id,
                "source_id": told.id,
                "line": record.line,
                "position": record.position,
                "reason": record.reason,
                "raw": record.raw,
            }
            for record in batch.records
        ],
    )
    return counts, replace(told, written_line=reached.place.line)


def _is_forgotten(connection: Connection, project_id: str, told: Source) -> bool:
    """Say whether a session of the source was deleted since it was read or last written to."""
    before = told.imported_line if told.written_line is None else told.written_line
    line, _ = source.progress(connection, project_id, told.id)
    return told.is_forgotten or line < before
