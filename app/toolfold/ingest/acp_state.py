"""How far a stream of ACP messages is, and what makes values of what follows.

That needs what is open: a text that is still being spoken, the turn's calls and terminals. It
follows from the messages alone, which are kept; whoever has no state, or one that is not where the
stream is, makes it anew from them.

An index does not say where a stream is: its session may have been deleted and made again, and
another server have recorded other messages of it. So the stream's source has a digest over all
that it was told, with the times at which that came, and a state has it too.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import zstandard

from toolfold import stored_json
from toolfold.importers.acp import notifications
from toolfold.importers.acp.outbox import Told
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.acp.turn import Moment
from toolfold.importers.acp.updates import SessionUpdates
from toolfold.ingest.acp_names import Key, Names
from toolfold.ingest.growth import Growth
from toolfold.store import source
from toolfold.store.engine import Database
from toolfold.transcript import Json

FORMAT = "acp-stream"
"""The format of a stream's source, which no file has."""


class MovedError(Exception):
    """Another process has taken the stream further since its state was made."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The index that is expected next, and the digest over what came before it."""

    index: int
    digest: bytes


START = Progress(0, b"")


@dataclass(slots=True)
class State:
    """A stream as far as `progress`, and what makes values of what follows."""

    updates: SessionUpdates
    progress: Progress = START
    growth: Growth = field(default_factory=Growth)
    names: Names = field(default_factory=Names)

    def take(
        self, messages: Sequence[Json], time: datetime, raw: bytes
    ) -> tuple[list[Told], set[Key]]:
        """Return what the next messages, which came at one time, make known, and what is open.

        With it come the keys of the messages that are told for the first time. `raw` is how the
        stream's messages are kept.
        """
        told = [*self._take(messages, time, raw), *self.updates.show()]
        return told, self.names.note(told)

    def follow(self, raws: Iterable[bytes]) -> None:
        """Take records that are stored, and so told."""
        for raw in raws:
            time, others, messages = _unpack(raw)
            self.names.know(others)
            self.names.note(self._take(messages, time, raw))

    def show(self) -> None:
        """Count what is open as told as it stands."""
        self.names.note(self.updates.show())

    def _take(self, messages: Sequence[Json], time: datetime, raw: bytes) -> list[Told]:
        told: list[Told] = []
        for message in messages:
            try:
                told += notifications.take(self.updates, message, Moment(time))
            except NotUnderstoodError:
                # It is kept with the others.
                continue
        if messages:
            digest = hashlib.sha256(self.progress.digest + raw).digest()
            self.progress = Progress(self.progress.index + len(messages), digest)
        return told


async def current(database: Database, key: tuple[str, str], state: State | None) -> State:
    """Return the state of a stream where it is stored to be: the one given, if it gets there.

    The one given is changed, and is of no use if this raises.

    Raises:
        MovedError: if the stream is deleted meanwhile.
    """
    end = await stored(database, key)
    if state is not None:
        # Another server may have taken the stream on, or one that is no longer there.
        await _follow(database, key, state, end.index)
        if state.progress == end:
            return state
    state = State(SessionUpdates(key[1]))
    await _follow(database, key, state, end.index)
    if state.progress.index != end.index:
        raise MovedError
    # A stream that began before there were digests has another one.
    state.progress = end
    return state


async def stored(database: Database, key: tuple[str, str]) -> Progress:
    """Return how far a stream is stored; it is at its start if nothing is."""
    async with database.read(single=True) as connection:
        row = await source.by_id(connection, key[0], stream_id(key))
    return START if row is None else Progress(row.line, row.digest)


async def _follow(database: Database, key: tuple[str, str], state: State, end: int) -> None:
    """Take a state on through the records that are stored, up to an index if they reach it.

    They are read a portion at a time, as others want the connection while one is worked through;
    and what is open is shown once, as it grows with what was taken.
    """
    if state.progress.index >= end:
        return
    while state.progress.index < end:
        async with database.read(single=True) as connection:
            raws = await source.records(
                connection, key[0], stream_id(key), state.progress.index, end
            )
        if not raws:
            return
        await asyncio.to_thread(state.follow, raws)
    await asyncio.to_thread(state.show)


def pack(messages: Sequence[Json], time: datetime, others: Mapping[Key, str]) -> bytes:
    """Return messages as they are kept: lines of JSON, the first of which is of them all.

    It says when they came, and which of the client ids from there on are others than their own.
    """
    head: dict[str, Json] = {"time": time.isoformat()}
    if others:
        head["names"] = [[*key, name] for key, name in others.items()]
    return zstandard.compress(b"\n".join(map(stored_json.encode, [head, *messages])))


def stream_id(key: tuple[str, str]) -> str:
    """Return the id of a stream's source."""
    return hashlib.sha256(f"{FORMAT}\n{key[1]}".encode()).hexdigest()


def _unpack(raw: bytes) -> tuple[datetime, dict[Key, str], list[Json]]:
    """Return when messages came, which of their client ids are others, and the messages."""
    first, *lines = zstandard.decompress(raw).split(b"\n")
    head = stored_json.decode(first)
    others = {(own_id, own): name for own_id, own, name in head.get("names", [])}
    return datetime.fromisoformat(head["time"]), others, list(map(stored_json.decode, lines))
