"""Writing a batch: the one way in, inside a transaction that is under way."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sqlalchemy import Connection, RowMapping

from toolfold.errors import ArchivedSessionError
from toolfold.events import Position
from toolfold.ingest import deletion, family, gathering, sessions
from toolfold.ingest.batch import Batch, SessionBatch
from toolfold.ingest.columns import Columns
from toolfold.ingest.deletion import Met, Written
from toolfold.ingest.messages import Messages
from toolfold.ingest.preparation import timestamp
from toolfold.store.recording import content, message, session
from toolfold.store.recording.content import Reference
from toolfold.store.recording.rows import Values
from toolfold.transcript import Entry, SessionStatus


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """What a transaction did to one session: the positions before and after it, and the rest.

    `updated` are the sequences of stored messages that changed, `repeated` counts the stored
    messages that were told again, and `skipped` those of them that are as they were. A session
    that refused everything has its `refusal`.
    """

    session_id: str
    head_before: int
    head_sequence: int
    head_revision: int
    updated: tuple[int, ...]
    repeated: int
    skipped: int
    refusal: ArchivedSessionError | None = None

    @property
    def added(self) -> int:
        """How many messages are new."""
        return self.head_sequence - self.head_before

    def with_revision(self, revisions: Mapping[str, int]) -> "SessionCounts":
        """Return the same with the session's revision among these by id, if it is there."""
        return replace(self, head_revision=revisions.get(self.session_id, self.head_revision))


@dataclass(frozen=True, slots=True)
class Counts:
    """What a transaction did, by session, in the order in which the batch tells of them.

    `joined` has the `head_revision` of the other sessions that found their parent by it, by id.
    `deleted` are the ids, as the batch gives them, of sessions that were left out, as they were
    deleted while they were told. `met` is what the import has met by now.
    """

    sessions: tuple[SessionCounts, ...]
    joined: Mapping[str, int] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()
    met: Met = deletion.NOTHING

    @property
    def added(self) -> int:
        """How many messages are new."""
        return sum(counts.added for counts in self.sessions)

    @property
    def updated(self) -> int:
        """How many stored messages changed."""
        return sum(len(counts.updated) for counts in self.sessions)

    @property
    def skipped(self) -> int:
        """How many messages were there already, and are as they were."""
        return sum(counts.skipped for counts in self.sessions)

    @property
    def refused(self) -> bool:
        """Whether any session refused its part."""
        return any(counts.refusal is not None for counts in self.sessions)

    def positions(self, project_id: str) -> list[Position]:
        """Return what to publish after the commit: where each session is that took something."""
        written = {
            counts.session_id: counts.head_revision
            for counts in self.sessions
            if counts.refusal is None
        }
        return [Position(project_id, *item) for item in {**written, **self.joined}.items()]


def record(
    connection: Connection,
    project_id: str,
    entries: Iterable[Entry],
    *,
    format: str,  # noqa: A002 (the source's format, as everywhere)
    now: datetime,
) -> Counts:
    """Prepare and write entries in a transaction that is under way.

    Whoever has much to write prepares it first, so that the writer is not held up: see `write`.

    Raises:
        InvalidJsonError: if there is JSON that cannot be stored.
        TranscriptError: if there is a `Record` among them, which only a file's import keeps.
    """
    batch = gathering.prepare(entries, source_format=format)
    return write(connection, project_id, batch, base_time=now)


def write(
    connection: Connection,
    project_id: str,
    batch: Batch,
    *,
    base_time: datetime,
    met: Met = deletion.NOTHING,
) -> Counts:
    """Write a prepared batch in a transaction that is under way; the batch is left as it is.

    What is stored already is not written again: messages are known by their session and client
    id. An archived session refuses its part of the batch, and the rest is written. `base_time` is
    that of a session of which no time is told, and of messages that follow none with a time. The
    rest of a session that was deleted since the import `met` it is left out.
    """
    ids = {one.identity.id for one in batch.sessions.values()}
    transaction = _Transaction(connection, project_id, batch, timestamp(base_time))
    transaction.locked = session.lock(connection, project_id, ids)
    deleted = deletion.deleted(batch, met, transaction.stored)
    batch = batch.without(deleted)
    in_order = sorted(batch.sessions, key=lambda own_id: batch.sessions[own_id].identity.id)
    counts = {own_id: transaction.write_session(batch.sessions[own_id]) for own_id in in_order}
    transaction.write_contents()
    joined = transaction.advance_joined()
    return Counts(
        tuple(counts[own_id].with_revision(joined) for own_id in batch.sessions),
        joined,
        deleted,
        met.after(transaction.written, deleted),
    )


@dataclass(slots=True)
class _Transaction:
    """The work of one transaction; contents are written last, when their uses are known."""

    connection: Connection
    project_id: str
    batch: Batch
    base_time: str
    locked: dict[str, RowMapping] = field(default_factory=dict)
    gained: set[Reference] = field(default_factory=set)
    lost: set[Reference] = field(default_factory=set)
    attachments: list[Values] = field(default_factory=list)
    joined: set[str] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    written: dict[str, Written] = field(default_factory=dict)

    def write_session(self, one: SessionBatch) -> SessionCounts:
        stored = self.stored(one)
        if stored is not None and stored["status"] == SessionStatus.ARCHIVED:
            self._met(one, stored)
            return _refused(stored)
        agent = one.identity.source_format or self.batch.format
        row = stored or sessions.new_row(self.project_id, one.identity, one.said, agent=agent)
        base_time = row.get("created_at") or self.base_time
        messages = Messages(self.connection, row, base_time=base_time)
        messages.take(one)
        said = one.said
        if one.live_at is not None and (messages.added or messages.changed):
            said = {**said, "updated_at": one.live_at}
        latest = max(self.base_time, timestamp(datetime.now(UTC)))
        updated = sessions.updated(row, said, messages, base_time=self.base_time, latest=latest)
        self._write_rows(stored, updated, messages)
        self._met(one, updated)
        self.joined.update(family.join_children(self.connection, updated, messages))
        changed = tuple(one["sequence"] for one in messages.changed)
        return SessionCounts(
            session_id=row["id"],
            head_before=row["head_sequence"],
            head_sequence=messages.head_sequence,
            head_revision=updated["head_revision"],
            updated=changed,
            repeated=len(messages.repeated),
            skipped=len(messages.repeated.difference(changed)),
        )

    def write_contents(self) -> None:
        needed = {reference.hash for reference in self.gained}
        content.add_missing(
            self.connection, self.project_id, (self.batch.contents[digest] for digest in needed)
        )
        content.refer(self.connection, self.project_id, self.gained)
        content.attach(self.connection, self.attachments)
        content.release(self.connection, self.project_id, self.lost, timestamp(datetime.now(UTC)))

    def advance_joined(self) -> dict[str, int]:
        """Count it as a change of a session that it was joined to its parent, but not of a new one.

        Done last, when no row that was read before is written any more.
        """
        return session.advance(self.connection, self.project_id, self.joined - self.added)

    def stored(self, one: SessionBatch) -> Columns | None:
        """Return the row of the session that is meant, which no one else can write."""
        identity = one.identity
        stored = self.locked.get(identity.id)
        if stored is None and identity.source_format and identity.source_session:
            # The same session of the same source may have come under an id of its own.
            other = session.id_by_source(
                self.connection, self.project_id, identity.source_format, identity.source_session
            )
            if other is not None:
                stored = session.lock(self.connection, self.project_id, {other})[other]
        return None if stored is None else dict(stored)

    def _met(self, one: SessionBatch, row: Columns) -> None:
        self.written[one.identity.id] = Written(row["id"], row["incarnation"])

    def _write_rows(self, stored: Columns | None, row: Columns, messages: Messages) -> None:
        if stored is None or row["parent_source_session"] != stored["parent_source_session"]:
            row |= family.parent(self.connection, row)
        if stored is None:
            row["incarnation"] = session.add(self.connection, row)
            self.added.add(row["id"])
            self.joined.update(family.adopt_waiting(self.connection, row))
        messages.write()
        if stored is not None:
            if sessions.has_unsure_usage(stored, messages):
                row |= message.usage_sums(self.connection, self.project_id, row["id"])
            changes = {name: value for name, value in row.items() if stored[name] != value}
            if changes and "head_revision" not in changes:
                # The session itself has changed, and none of its messages.
                changes["head_revision"] = row["head_revision"] = row["head_revision"] + 1
            if changes:
                session.change(self.connection, self.project_id, row["id"], changes)
        self.gained |= messages.gained()
        self.lost |= messages.lost()
        self.attachments += messages.attachments


def _refused(stored: Columns) -> SessionCounts:
    return SessionCounts(
        session_id=stored["id"],
        head_before=stored["head_sequence"],
        head_sequence=stored["head_sequence"],
        head_revision=stored["head_revision"],
        updated=(),
        repeated=0,
        skipped=0,
        refusal=ArchivedSessionError(
            f"Session {stored['id']} is archived and takes nothing until it is reopened."
        ),
    )
