"""A session's stream of ACP messages, recorded as it comes in.

The importer's own code makes values of it, see `acp_state`. The messages are kept, in the
transaction that writes what they say; what no one understands is kept too.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from toolfold.errors import ConflictError, UnknownIdError
from toolfold.events import Position
from toolfold.importers.acp import NAME
from toolfold.importers.acp.outbox import Told
from toolfold.ingest import acp_names, acp_state, lifecycle, retelling
from toolfold.ingest.acp_names import Key, TakenError
from toolfold.ingest.acp_state import FORMAT, MovedError, Progress, State, stream_id
from toolfold.ingest.appending import naming
from toolfold.ingest.batch import Batch
from toolfold.ingest.gathering import Gatherer
from toolfold.ingest.preparation import timestamp
from toolfold.ingest.writing import write
from toolfold.store import session as sessions
from toolfold.store.engine import Database
from toolfold.store.recording import session
from toolfold.store.recording import source as recorded
from toolfold.transcript import Entry, Json, Session, SessionStatus

MAX_STATES = 100
"""Streams whose state is remembered; of others it is made anew when they go on."""

MAX_GROWTH_BYTES = 64 * 1024 * 1024
"""What is remembered of parts that grow; of streams that have rested longest it is forgotten."""

_ATTEMPTS = 5


@dataclass(slots=True)
class _Stream:
    """What a process remembers of a stream; one writer at a time has its lock."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The index that is expected next, and what to publish."""

    next_index: int
    positions: tuple[Position, ...] = ()


@dataclass(frozen=True, slots=True)
class _News:
    """The messages of one call that are new, ready to be written.

    They came at `time`, and `raw` is how they are kept; `before` is how far the stream was, and
    `after` how far it is with them. `unsure` are the keys of messages that are told for the first
    time under client ids that others may have.
    """

    before: Progress
    after: Progress
    time: datetime
    batch: Batch
    raw: bytes
    unsure: set[Key]


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
        names: dict[Key, str] = {}
        async with stream.lock:
            for _ in range(_ATTEMPTS):
                row = await _session(database, key)
                lifecycle.check_open(row.status, "sessionId")
                # It is put back when all that it has taken in is stored.
                state, stream.state = stream.state, None
                try:
                    state = await acp_state.current(database, key, state)
                    if first_index > state.progress.index:
                        stream.state = state
                        raise _gap(state.progress.index, first_index)
                    new = messages[state.progress.index - first_index :]
                    found = await _record(database, state, row, new, names)
                except TakenError as taken:
                    names |= taken.names
                    continue
                except MovedError:
                    continue
                stream.state = state
                self._forget_growth()
                return found
        raise ConflictError(
            "Others write this stream.", "fromIndex", current=await next_index(database, key)
        )

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


async def next_index(database: Database, key: tuple[str, str]) -> int:
    """Return the index that a session's stream expects next; 0 if there is no such session."""
    return (await acp_state.stored(database, key)).index


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


async def _record(
    database: Database, state: State, row: Any, new: Sequence[Json], names: Mapping[Key, str]
) -> Recorded:
    key = (row.project_id, row.id)
    news = await asyncio.to_thread(_take, state, row, new, names)

    def record(connection: Connection) -> Recorded:
        stored = lifecycle.require_open(connection, *key, "sessionId")
        if Progress(*recorded.progress(connection, key[0], stream_id(key))) != news.before:
            raise MovedError
        if news.before == news.after:
            return Recorded(news.after.index)
        acp_names.require_own(connection, key, news.batch, news.unsure)
        return _write(connection, stored, news)

    return await database.write(record)


def _gap(index: int, first_index: int) -> ConflictError:
    problem = f"The next index is {index}: what is before {first_index} is lacking."
    return ConflictError(problem, "fromIndex", current=index)


def _take(state: State, row: Any, messages: Sequence[Json], names: Mapping[Key, str]) -> _News:
    """Take the next messages in, and make what they say ready to be written.

    `names` are the client ids of those that cannot be stored under their own.
    """
    time = datetime.now(UTC)
    before = state.progress
    raw = acp_state.pack(messages, time, names)
    state.names.know(names)
    told, new = state.take(messages, time, raw)
    batch = _batch(state, told, row, time)
    acp_names.patch(batch, {key: names[key] for key in new & names.keys()})
    return _News(before, state.progress, time, batch, raw, new - state.names.others.keys())


def _batch(state: State, told: Iterable[Told], row: Any, time: datetime) -> Batch:
    """Return what the stream makes known as a batch; a text that is told again replaces itself."""
    # What does not fit a row is kept: all messages are.
    gatherer = Gatherer(row.source_format or NAME, keeps_raw=True, growth=state.growth)
    gatherer.add(naming(row.id))
    is_live = Session(status=SessionStatus.ACTIVE)
    gatherer.add(Entry(row.id, None, is_live))
    of_child = replace(is_live, agent=row.agent, cwd=row.cwd)
    for name, value in told:
        gatherer.add(Entry(name, None, state.names.stored(name, value)))
        if isinstance(value, Session) and name != row.id:
            gatherer.add(Entry(name, None, of_child))
    batch = gatherer.take()
    for one in batch.sessions.values():
        one.live_at = timestamp(time)
        for message in one.told.values():
            if message.columns["tool_call_id"] is None:
                message.patch |= {column: message.columns[column] for column in retelling.TEXT}
    return batch


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
        "source_id": stream_id(key),
        "line": news.before.index,
        "position": 0,
        "reason": "messages of a stream",
        "raw": news.raw,
    }
    recorded.advance(connection, _source(key, news))
    recorded.keep(connection, [record])
    return Recorded(news.after.index, tuple(counts.positions(project_id)))


def _source(key: tuple[str, str], news: _News) -> dict[str, Any]:
    return {
        "project_id": key[0],
        "id": stream_id(key),
        "path": "",
        "format": FORMAT,
        "session_id": key[1],
        "size": 0,
        "digest": news.after.digest,
        "line": news.after.index,
        "companions": None,
        "imported_at": timestamp(news.time),
    }
