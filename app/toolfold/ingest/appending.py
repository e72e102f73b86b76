"""Messages that a client appends: all of them or none, and each of them once.

A client names its messages. One that it sends again is answered with the message that is stored,
whatever became of it since; that it is the same one is told by a digest of what was sent first. One
that was imported has none, and is the same if it holds what is sent.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from toolfold import readable, stored_json
from toolfold.errors import ConflictError, TooLargeError, TranscriptError
from toolfold.events import Position
from toolfold.ingest import lifecycle, too_long
from toolfold.ingest.batch import Batch, SessionBatch, Told
from toolfold.ingest.gathering import Gatherer
from toolfold.ingest.preparation import optional_timestamp, timestamp
from toolfold.ingest.writing import write
from toolfold.store.recording import message as recorded
from toolfold.store.recording.message import USAGE
from toolfold.transcript import Entry, Json, Message, MessageRole, Session, ToolCall

CLIENT = "client"
"""What a client's batches have for the format of a source."""

_DIGEST_BYTES = 16
_NOT_SENT = frozenset(
    {
        "client_digest",
        "repaired",
        "attachment_count",
        "tool_content_state",
        "tool_started_at",
        "tool_ended_at",
        "child_source_session",
        *USAGE,
    }
)
"""The columns of a message that a client does not send."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many messages, and how many bytes of them, are taken at once."""

    messages: int
    bytes: int

    def require(self, path: str, *, count: int = 0, size: int = 0) -> None:
        """Refuse more than that.

        Raises:
            TooLargeError: with this path.
        """
        if count > self.messages:
            raise TooLargeError(
                f"At most {self.messages:,} are taken at once: got {count:,}.",
                path,
                size=count,
                limit=self.messages,
            )
        if size > self.bytes:
            raise TooLargeError(
                f"At most {self.bytes:,} bytes are taken at once: got {size:,}.",
                path,
                size=size,
                limit=self.bytes,
            )


@dataclass(frozen=True, slots=True)
class Sent:
    """Messages ready to be appended: what was sent, in order, as client ids and digests."""

    session_id: str
    names: tuple[tuple[str, bytes], ...]
    batch: Batch

    @property
    def told(self) -> SessionBatch:
        """What the batch says of the session."""
        return self.batch.sessions[self.session_id]


@dataclass(frozen=True, slots=True)
class Appended:
    """What came of it: the sequence of each message sent, and how many of them are new.

    `clashes` are the positions, among those sent, of messages that are not what is stored under
    their client id.
    """

    sequences: tuple[int, ...]
    added: int
    clashes: tuple[int, ...]
    position: Position


def prepare(session_id: str, messages: Sequence[Message], limits: Limits) -> Sent:
    """Make messages ready to be written, which takes no database.

    Raises:
        TooLargeError: if they are more than is taken at once.
        InvalidJsonError: if there is JSON that cannot be stored.
    """
    limits.require("messages", count=len(messages))
    gatherer = Gatherer(CLIENT, keeps_raw=False)
    gatherer.add(naming(session_id))
    names: list[tuple[str, bytes]] = []
    digests: dict[str, bytes] = {}
    size = 0
    for place, message in enumerate(messages):
        parts = _parts(message)
        size += sum(map(len, parts))
        limits.require("messages", size=size)
        digest = _digest(parts)
        names.append((message.client_id, digest))
        if message.client_id not in digests:
            digests[message.client_id] = digest
            entry = Entry(session_id, None, _without_repeat(message))
            add(gatherer, entry, "messages", place)
    sent = Sent(session_id, tuple(names), gatherer.take())
    for client_id, told in sent.told.told.items():
        told.columns["client_digest"] = digests[client_id]
    return sent


def naming(session_id: str) -> Entry:
    """Return the entry that says which stored session is meant by its id, and nothing else."""
    return Entry(session_id, None, Session(id=session_id))


def add(gatherer: Gatherer, entry: Entry, *path: str | int) -> None:
    """Add what a client sent.

    Raises:
        InvalidInputError: below this path, if a row cannot hold it and nothing else does.
        InvalidJsonError: if there is JSON that cannot be stored.
    """
    try:
        gatherer.add(entry)
    except TranscriptError as error:
        raise too_long.refusal(entry.value, *path) from error


def append(
    connection: Connection, project_id: str, sent: Sent, *, expected: int | None, now: datetime
) -> Appended:
    """Append what is not stored yet; `expected` is the sequence at which the session ends.

    Raises:
        UnknownIdError: if there is no such session.
        InvalidInputError: if it is archived.
        ConflictError: if it ends elsewhere, unless all of this was appended there before.
    """
    row = lifecycle.require_open(connection, project_id, sent.session_id, "sessionId")
    known = _known(connection, project_id, sent, head=row["head_sequence"])
    _require_end(sent, known, head=row["head_sequence"], expected=expected)
    new = [told for client_id, told in sent.told.told.items() if client_id not in known]
    revision = row["head_revision"]
    if new:
        (counts,) = write(connection, project_id, _only(sent, new, now), base_time=now).sessions
        revision = counts.head_revision
    first = row["head_sequence"] + 1
    numbered = {told.columns["client_id"]: place for place, told in enumerate(new, first)}
    digests = {told.columns["client_id"]: told.columns["client_digest"] for told in new}
    stored = {
        name: (one["sequence"], _stored_digest(one, sent.told.told[name]))
        for name, one in known.items()
    }
    stored |= {name: (place, digests[name]) for name, place in numbered.items()}
    return Appended(
        sequences=tuple(stored[name][0] for name, _ in sent.names),
        added=len(new),
        clashes=tuple(n for n, (name, sha) in enumerate(sent.names) if stored[name][1] != sha),
        position=Position(project_id, sent.session_id, revision),
    )


def _known(
    connection: Connection, project_id: str, sent: Sent, *, head: int
) -> Mapping[str, Mapping[str, Any]]:
    if not head:
        return {}
    client_ids = sent.told.told.keys()
    found = recorded.by_client_ids(connection, project_id, sent.session_id, client_ids)
    return {name: dict(row) for name, row in found.items()}


def _stored_digest(row: Mapping[str, Any], told: Told) -> bytes | None:
    """Return the digest of what was sent first as a stored message; None if it was something else.

    A message without one came by an import, and has that of one which says just what it holds.
    """
    digest: bytes | None = row["client_digest"]
    if digest is not None:
        return digest
    said = {name: value for name, value in told.columns.items() if name not in _NOT_SENT}
    if said["created_at"] is None:
        del said["created_at"]
    is_same = all(row[name] == value for name, value in said.items())
    return told.columns["client_digest"] if is_same else None


def _require_end(
    sent: Sent, known: Mapping[str, Mapping[str, Any]], *, head: int, expected: int | None
) -> None:
    if expected is None or expected == head:
        return
    sequences = {row["sequence"] for row in known.values()}
    is_sent_again = len(known) == len(sent.told.told) > 0 and min(sequences) == expected + 1
    if not is_sent_again:
        raise ConflictError(
            f"The session ends at {head}, not at {expected}.", "expectedSequence", current=head
        )


def _only(sent: Sent, new: Sequence[Told], now: datetime) -> Batch:
    """Return a batch of these messages, with the time at which the server has them."""
    time = timestamp(now)
    items = [
        Told({**told.columns, "created_at": told.columns["created_at"] or time}, told.attachments)
        for told in new
    ]
    session = SessionBatch(
        sent.told.identity,
        items=[*items],
        told={told.columns["client_id"]: told for told in items},
        live_at=time,
    )
    return replace(sent.batch, sessions={sent.session_id: session})


def _without_repeat(message: Message) -> Message:
    """Return a tool's message without a text that its content has too, but for white space."""
    call = message.tool_call
    if message.role is not MessageRole.TOOL or call is None or not message.content:
        return message
    if readable.text(call.content).strip() != message.content.strip():
        return message
    return replace(message, content="")


def _parts(message: Message) -> tuple[bytes, ...]:
    """Return what was sent as bytes: the light fields, the text and each heavy part."""
    call = message.tool_call
    light = [message.role, message.origin, message.model, optional_timestamp(message.created_at)]
    heavy: tuple[Json, ...] = ()
    if call is not None:
        light += _light(call)
        heavy = (call.content, call.raw_input, call.raw_output)
    return tuple(map(stored_json.encode, (light, message.content, *heavy)))


def _light(call: ToolCall) -> list[Json]:
    places = [[place.path, place.line] for place in call.locations]
    return [call.tool_call_id, call.name, call.title, call.kind, call.status, places]


def _digest(parts: Sequence[bytes]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d\n%b" % (len(part), part))
    return digest.digest()[:_DIGEST_BYTES]
