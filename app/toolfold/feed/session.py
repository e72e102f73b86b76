"""What a follower of a session is told: all that the store has after its place, then what comes.

A follower holds its place in the order of revisions. When it is woken it reads what changed after
that place, each message once in its newest form. So nothing is lost between two connections or
two processes, and a slow follower costs nothing.
"""

import asyncio
import functools
import hashlib
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from sqlalchemy import Row

from toolfold.errors import DeadlineError
from toolfold.events import Events, Position, SessionKey, Watch
from toolfold.feed.shared import SharedReads
from toolfold.store import message as message_store
from toolfold.store import session as session_store
from toolfold.store.engine import Database

STRETCH_ROWS = 100
"""Messages that are read at once."""

STALE_SECONDS = 1
"""How old a stretch may be when there is news: the rest of an older one is read again."""

OWN_COLUMNS = (
    "title",
    "agent",
    "status",
    "cwd",
    "git_branch",
    "parent_id",
    "parent_tool_call_id",
    "created_at",
)
"""The columns of a session that do not follow from its messages."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a follower has come, in a process or across connections.

    It was told all up to `revision`. Every message up to the sequence `seen` was there to see.
    `own` is a digest of the session's own columns as it knows them. `incarnation` is the session's:
    another one under its id has another.
    """

    revision: int
    seen: int
    own: str
    incarnation: str

    @classmethod
    def start(cls, session: Any) -> "Place":
        """Return the place of a follower that knows a session's row and none of its messages."""
        return cls(0, 0, own_digest(session), session.incarnation)

    @classmethod
    def end(cls, session: Any) -> "Place":
        """Return the place of a follower that knows a session as its row says it is."""
        own = own_digest(session)
        return cls(session.head_revision, session.head_sequence, own, session.incarnation)

    def is_of(self, session: Any) -> bool:
        """Say whether it is a place in this session, not in one that had its id before.

        A lower revision is that of a database that was brought back from an older copy.
        """
        is_same = bool(self.incarnation == session.incarnation)
        return is_same and bool(self.revision <= session.head_revision)


@dataclass(frozen=True, slots=True)
class MessageChanged:
    """A message in its newest form; `is_new` if no older one was told."""

    place: Place
    row: Row[Any]
    is_new: bool


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """A session whose own columns are no more as the follower knew them."""

    place: Place
    row: Row[Any]


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """All that was stored has been told."""

    place: Place


@dataclass(frozen=True, slots=True)
class Deleted:
    """There is no such session any more, and nothing will follow."""

    place: Place


News = MessageChanged | SessionChanged | CaughtUp | Deleted


def own_digest(session: Any) -> str:
    """Return what tells one state of a session's own columns from another."""
    values = [getattr(session, name) for name in OWN_COLUMNS]
    return hashlib.sha256(orjson.dumps(values)).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Stretch:
    """What the store has after a revision, as of one moment; `session` is None if it is gone.

    `own` is the digest of the session's own columns, made once for all who share the stretch.
    `is_whole` if there is nothing beyond `messages`.
    """

    session: Row[Any] | None
    own: str
    messages: Sequence[Row[Any]]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class _Question:
    """What is after a revision of a session, of each message these columns."""

    database: Database
    seconds: float
    key: SessionKey
    columns: tuple[str, ...]
    revision: int

    async def read(self) -> Stretch:
        try:
            async with asyncio.timeout(self.seconds):
                return await self._read()
        except TimeoutError as error:
            raise DeadlineError(f"An update took over {self.seconds} s to read.") from error

    async def _read(self) -> Stretch:
        async with self.database.read() as connection:
            session = (await session_store.by_keys(connection, {self.key})).get(self.key)
            if session is None:
                return Stretch(None, "", (), is_whole=True)
            own = own_digest(session)
            if session.head_revision <= self.revision:
                return Stretch(session, own, (), is_whole=True)
            rows = await message_store.changed_after(
                connection, *self.key, self.revision, limit=STRETCH_ROWS, columns=self.columns
            )
            return Stretch(session, own, rows, is_whole=len(rows) < STRETCH_ROWS)


def _reaches(told: Position | None, stretch: Stretch) -> bool:
    """Say whether a stretch was read after this position was told."""
    if told is None or told.revision is None or stretch.session is None:
        return True
    return bool(stretch.session.head_revision >= told.revision)


@dataclass(frozen=True, slots=True)
class SessionFeed:
    """Where followers of sessions read, and what wakes them. One read may take `seconds`."""

    database: Database
    events: Events
    reads: SharedReads
    seconds: float

    async def follow(
        self, key: SessionKey, place: Place, columns: tuple[str, ...]
    ) -> AsyncGenerator[News, None]:
        """Tell what is after a place, for as long as the session is there.

        `columns` of each message are read: the key and `revision` must be among them.

        Raises:
            DeadlineError: if a read takes too long.
        """
        follower = _Follower(place, _Seen(place.seen))
        with self.events.watch_session(*key) as watch:
            while True:
                told = watch.take().get(key)
                revision = follower.place.revision
                question = _Question(self.database, self.seconds, key, columns, revision)
                stretch = await self.reads.read(question, functools.partial(_reaches, told))
                if stretch.session is None or not follower.place.is_of(stretch.session):
                    yield Deleted(follower.place)
                    return
                for news in follower.tell(stretch, stretch.session, watch):
                    yield news
                if not follower.is_behind:
                    await watch.news()


@dataclass(slots=True)
class _Seen:
    """Which messages a follower was told of: all up to `last` but the `skipped` ones, in order."""

    last: int
    skipped: dict[int, None] = field(default_factory=dict)

    @property
    def all_up_to(self) -> int:
        """The sequence up to which all were told."""
        return next(iter(self.skipped), self.last + 1) - 1

    def take(self, sequence: int) -> bool:
        """Note a message; say whether it is new."""
        if sequence <= self.last:
            return self.skipped.pop(sequence, False) is None
        # Those between have changed since, so they come later in the order of revisions.
        self.skipped.update(dict.fromkeys(range(self.last + 1, sequence)))
        self.last = sequence
        return True


@dataclass(slots=True)
class _Follower:
    """One follower's place. `is_behind` until it was told all that there is."""

    place: Place
    seen: _Seen
    is_behind: bool = True

    def tell(self, stretch: Stretch, session: Row[Any], watch: Watch) -> Iterator[News]:
        """Yield what a stretch holds, and stop when the rest is better read again."""
        read_at = time.monotonic()
        for row in stretch.messages:
            is_new = self.seen.take(row.sequence)
            seen = self.seen.all_up_to
            self.place = replace(self.place, revision=row.revision, seen=seen)
            yield MessageChanged(self.place, row, is_new)
            if watch.has_news and time.monotonic() - read_at > STALE_SECONDS:
                self.is_behind = True
                return
        if stretch.is_whole:
            yield from self._at_the_end(session, stretch.own)
        else:
            self.is_behind = True

    def _at_the_end(self, session: Row[Any], own: str) -> Iterator[News]:
        is_changed = own != self.place.own
        self.place = replace(self.place, revision=session.head_revision, own=own)
        if is_changed:
            yield SessionChanged(self.place, session)
        if self.is_behind:
            self.is_behind = False
            yield CaughtUp(self.place)
