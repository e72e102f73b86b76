"""A file as the source of an import: what is remembered of it, in the transaction that writes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from toolfold.importers.jsonl import START, Checkpoint
from toolfold.ingest import identity
from toolfold.ingest.batch import Batch
from toolfold.ingest.preparation import timestamp
from toolfold.ingest.writing import Counts, write
from toolfold.store.recording import session, source


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is being imported.

    `imported_line` is the last line that is not told again, `companions` the digest of the files
    beside it, `changed_at` the time of what tells no time, `session_id` the session that it was
    known to tell of, if it was. Of a file of which a session `is_refused`, nothing is remembered as
    read, so that it can be imported once the session takes it. One that `is_live` is told while it
    is written; what it goes on to tell of a session that was deleted meanwhile is left out.
    """

    id: str
    path: str
    format: str
    companions: bytes
    changed_at: datetime
    imported_line: int = 0
    session_id: str | None = None
    is_refused: bool = False
    is_live: bool = False

    def telling(self, session_ids: Iterable[str], *, is_refused: bool = False) -> "Source":
        """Return the source as one that tells first of the first of these, unless it is known."""
        told = replace(self, is_refused=self.is_refused or is_refused)
        if told.session_id is not None:
            return told
        return replace(told, session_id=next(iter(session_ids), None))


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a source is told: the place, and whether that is its end."""

    place: Checkpoint
    is_end: bool = False


def begin(connection: Connection, project_id: str, told: Source) -> None:
    """Forget the raw records that are about to be told again."""
    source.forget_after(connection, project_id, told.id, told.imported_line)


def write_part(
    connection: Connection,
    project_id: str,
    told: Source,
    batch: Batch,
    reached: Reached,
    *,
    now: datetime,
) -> Counts:
    """Write a batch and how far it brings the import, in a transaction that is under way.

    `reached` may be before the batch's end, never beyond it.
    """
    deleted = _deleted(connection, project_id, told, batch) if told.is_live else frozenset()
    batch = batch.without(deleted)
    counts = write(connection, project_id, batch, base_time=told.changed_at)
    session_ids = [one.identity.id for one in batch.sessions.values()]
    told = told.telling(session_ids, is_refused=counts.refused)
    if told.is_refused:
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
    source.leave_out(connection, project_id, told.id, deleted)
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
    return replace(counts, deleted=deleted)


def _deleted(connection: Connection, project_id: str, told: Source, batch: Batch) -> frozenset[str]:
    """Return the ids of the batch's sessions that were deleted since the source told of them.

    What such a session has started since is as little wanted.
    """
    ids = {one.identity.id for one in batch.sessions.values()}
    # A session that is not deleted by now cannot be until all is written.
    stored = session.lock(connection, project_id, ids)
    left_out = source.left_out(connection, project_id, told.id)
    for one in batch.sessions.values():
        parent = one.said.get("parent_source_session")
        if parent is None or one.identity.id in stored:
            continue
        if identity.of_source(batch.format, parent).id in left_out:
            left_out.add(one.identity.id)
    return frozenset(left_out & ids)
