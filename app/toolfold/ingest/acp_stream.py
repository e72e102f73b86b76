"""A session's stream of ACP messages, recorded as it comes in.

The importer's own code makes values of it, and needs for that what is open: a text that is still
being spoken, the turn's calls and terminals. That state follows from the messages alone, so the
messages are what is kept, in the transaction that writes what they say; whoever has no state, or
one that is not where the stream is, makes it anew from them. What no one understands is kept too.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import zstandard
from sqlalchemy import Connection

from toolfold import stored_json
from toolfold.errors import ConflictError, UnknownIdError
from toolfold.events import Position
from toolfold.importers.acp import NAME, notifications
from toolfold.importers.acp.outbox import Told
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.acp.turn import Moment
from toolfold.importers.acp.updates import SessionUpdates
from toolfold.ingest import lifecycle, retelling
from toolfold.ingest.appending import naming
from toolfold.ingest.batch import Batch
from toolfold.ingest.gathering import Gatherer
from toolfold.ingest.growth import Growth
from toolfold.ingest.preparation import timestamp
from toolfold.ingest.writing import write
from toolfold.store import session as sessions
from toolfold.store import source
from toolfold.store.engine import Database
from toolfold.store.recording import session
from toolfold.store.recording import source as recorded
from toolfold.transcript import Entry, Json, Session, SessionStatus

FORMAT = "acp-stream"
"""The format of a stream's source, which no file has."""

MAX_STATES = 100
"""Streams whose state is remembered; of others it is made anew when they go on."""

MAX_GROWTH_BYTES = 64 * 1024 * 1024
"""What is remembered of parts that grow; of streams that have rested longest it is forgotten."""

_ATTEMPTS = 5


class _MovedError(Exception):
    """Another process has taken the stream further since its state was made."""


@dataclass(slots=True)
class _State:
    """A stream as far as `index`, and what makes values of what follows."""

    updates: SessionUpdates
    index: int = 0
    growth: Growth = field(default_factory=Growth)

    def take(self, messages: Iterable[Json], time: datetime) -> list[Told]:
        """Return what the next messages, which came at one time, make known, and what is open."""
        told: list[Told] = []
        for message in messages:
            self.index += 1
            try:
                told += notifications.take(self.updates, message, Moment(time))
            except NotUnderstoodError:
                # It is kept with the others.
                continue
        return told + self.updates.show()


@dataclass(slots=True)
class _Stream:
    """What a process remembers of a stream; one writer at a time has its lock."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: _State | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The index that is expected next, and what to publish."""

    next_index: int
    positions: tuple[Position, ...] = ()


@dataclass(frozen=True, slots=True)
class _News:
    """The messages of one call that are new, ready to be written.

    They have the indexes from `index` to `end`, and came at `time`; `raw` is how they are kept.
    """

    index: int
    end: int
    time: datetime
    batch: Batch
    raw: bytes


class Streams:
    """The streams that go through one process."""

    def __init__(self) -> None:
        self._streams: OrderedDict[tuple[str, str], _Stream] = OrderedDict()

    async def record(
        self,
        database: Database,
        key: tuple[str, str],
        first_index: int,
        messages: Sequence[Json],
    ) -> Recorded:
        """Write what is new among a session's messages, of which the first has this index.

        Raises:
            UnknownIdError: if there is no such session.
            InvalidInputError: if it is archived.
            ConflictError: if messages before these are lacking; nothing is written then.
        """
        stream = self._stream(key)
        async with stream.lock:
            for _ in range(_ATTEMPTS):
                # It is put back when what it has taken in is written.
                state, stream.state = stream.state, None
                try:
                    row = await _session(database, key)
                    state = await _state(database, key, state)
                    found = await _record(database, state, row, first_index, messages)
                except _MovedError:
                    continue
                stream.state = state
                self._forget_growth()
                return found
        raise ConflictError("Others write this stream.", "fromIndex", current=first_index)

    def _stream(self, key: tuple[str, str]) -> _Stream:
        """Return what is remembered of a stream, and forget those that have rested longest."""
        stream = self._streams.setdefault(key, _Stream())
        self._streams.move_to_end(key)
        for oldest in list(self._streams)[:-MAX_STATES]:
            if not self._streams[oldest].lock.locked():
                del self._streams[oldest]
        return stream

    def _forget_growth(self) -> None:
        resting = [stream.state for stream in self._streams.values() if stream.state is not None]
        size = sum(state.growth.size for state in resting)
        for state in resting:
            if size <= MAX_GROWTH_BYTES:
                return
            size -= state.growth.size
            state.growth.clear()


async def _session(database: Database, key: tuple[str, str]) -> Any:
    """Return the session's row.

    Raises:
        UnknownIdError: if there is none.
    """
    async with database.read() as connection:
        row = (await sessions.by_keys(connection, {key})).get(key)
    if row is None:
        raise UnknownIdError("There is no such session.", "sessionId")
    return row


async def _state(database: Database, key: tuple[str, str], state: _State | None) -> _State:
    """Return the state of a stream where it is stored to be: the one given, if it is there."""
    stream_id = _stream_id(key)
    async with database.read() as connection:
        row = await source.by_id(connection, key[0], stream_id)
        if state is not None and state.index == (0 if row is None else row.line):
            return state
        state = _State(SessionUpdates(key[1]))
        async for record in source.records(connection, key[0], stream_id):
            time, messages = await asyncio.to_thread(_read_raw, record.raw)
            await asyncio.to_thread(state.take, messages, time)
    return state


async def _record(
    database: Database, state: _State, row: Any, first_index: int, messages: Sequence[Json]
) -> Recorded:
    key = (row.project_id, row.id)
    if first_index > state.index:
        raise ConflictError(
            f"The next index is {state.index}: what is before {first_index} is lacking.",
            "fromIndex",
            current=state.index,
        )
    news = await asyncio.to_thread(_take, state, row, messages[state.index - first_index :])

    def record(connection: Connection) -> Recorded:
        stored = lifecycle.require_open(connection, *key, "sessionId")
        if recorded.line_of(connection, key[0], _stream_id(key)) != news.index:
            raise _MovedError
        if news.index == news.end:
            return Recorded(news.end)
        return _write(connection, stored, news)

    return await database.write(record)


def _take(state: _State, row: Any, messages: Sequence[Json]) -> _News:
    """Take the next messages in, and make what they say ready to be written."""
    time = datetime.now(UTC)
    index = state.index
    told = state.take(messages, time)
    batch = _batch(told, row, time, state.growth)
    return _News(index, state.index, time, batch, _raw(messages, time))


def _batch(told: Iterable[Told], row: Any, time: datetime, growth: Growth) -> Batch:
    """Return what the stream makes known as a batch; a text that is told again replaces itself."""
    # What does not fit a row is kept: all messages are.
    gatherer = Gatherer(row.source_format or NAME, keeps_raw=True, growth=growth)
    gatherer.add(naming(row.id))
    is_live = Session(status=SessionStatus.ACTIVE)
    gatherer.add(Entry(row.id, None, is_live))
    of_child = replace(is_live, agent=row.agent, cwd=row.cwd)
    for name, value in told:
        gatherer.add(Entry(name, None, value))
        if isinstance(value, Session) and name != row.id:
            gatherer.add(Entry(name, None, of_child))
    batch = gatherer.take()
    for one in batch.sessions.values():
        one.live_at = timestamp(time)
        for message in one.told.values():
            if message.columns["tool_call_id"] is None:
                message.patch |= {column: message.columns[column] for column in retelling.TEXT}
    return batch


def _raw(messages: Sequence[Json], time: datetime) -> bytes:
    """Return messages as they are kept: lines of JSON, the first of which says when they came."""
    head = stored_json.encode({"time": time.isoformat()})
    return zstandard.compress(b"\n".join([head, *map(stored_json.encode, messages)]))


def _read_raw(raw: bytes) -> tuple[datetime, list[Json]]:
    head, *lines = zstandard.decompress(raw).split(b"\n")
    time = datetime.fromisoformat(stored_json.decode(head)["time"])
    return time, list(map(stored_json.decode, lines))


def _write(connection: Connection, row: Any, news: _News) -> Recorded:
    """Write what the messages say, the messages, and how far the stream is now."""
    key = project_id, session_id = row["project_id"], row["id"]
    if row["source_format"] is None:
        # The sessions of its sub-agents name it so.
        own = {"source_format": NAME, "source_session": session_id}
        session.change(connection, project_id, session_id, own)
    counts = write(connection, project_id, news.batch, base_time=news.time)
    record = {
        "project_id": project_id,
        "source_id": _stream_id(key),
        "line": news.index,
        "position": 0,
        "reason": "messages of a stream",
        "raw": news.raw,
    }
    recorded.advance(connection, _source(key, news))
    recorded.keep(connection, [record])
    return Recorded(news.end, tuple(counts.positions(project_id)))


def _source(key: tuple[str, str], news: _News) -> dict[str, Any]:
    return {
        "project_id": key[0],
        "id": _stream_id(key),
        "path": "",
        "format": FORMAT,
        "session_id": key[1],
        "size": 0,
        "digest": b"",
        "line": news.end,
        "companions": None,
        "imported_at": timestamp(news.time),
    }


def _stream_id(key: tuple[str, str]) -> str:
    return hashlib.sha256(f"{FORMAT}\n{key[1]}".encode()).hexdigest()
