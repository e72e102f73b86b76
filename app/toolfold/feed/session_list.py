"""What a follower of a list of sessions is told: which changed, as they are, not too often."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row

from toolfold.errors import DeadlineError
from toolfold.events import Events, Position, SessionKey, Watch
from toolfold.feed.shared import SharedReads
from toolfold.store import session as session_store
from toolfold.store.engine import Database

INTERVAL_SECONDS = 1.0
"""The least time between two tellings of one session."""

BATCH_SESSIONS = 100
"""Sessions that are read at once."""

Rows = Mapping[SessionKey, Row[Any]]


@dataclass(frozen=True, slots=True)
class Listed:
    """A session that changed: its row, or None if it is there no more."""

    key: SessionKey
    row: Row[Any] | None


@dataclass(frozen=True, slots=True)
class SessionListFeed:
    """Where followers of lists read, and what wakes them. One read may take `seconds`."""

    database: Database
    events: Events
    reads: SharedReads
    seconds: float

    async def follow(self, project_id: str | None) -> AsyncGenerator[Listed, None]:
        """Tell which sessions of a project, of all if None, change from now on.

        Raises:
            DeadlineError: if a read takes too long.
        """
        waiting = _Waiting()
        with self.events.watch_sessions(project_id) as watch:
            while True:
                waiting.add(watch.take())
                ready = waiting.take_ready()
                if not ready:
                    await waiting.until_ready_or_news(watch)
                    continue
                question = _Question(self.database, self.seconds, frozenset(ready))
                rows = await self.reads.read(question, functools.partial(_reach, ready))
                for key in ready:
                    yield Listed(key, rows.get(key))


@dataclass(frozen=True, slots=True)
class _Question:
    """The rows of these sessions."""

    database: Database
    seconds: float
    keys: frozenset[SessionKey]

    async def read(self) -> Rows:
        try:
            async with asyncio.timeout(self.seconds), self.database.read() as connection:
                return await session_store.by_keys(connection, self.keys)
        except TimeoutError as error:
            raise DeadlineError(f"Sessions took over {self.seconds} s to read.") from error


def _reach(told: Mapping[SessionKey, Position], rows: Rows) -> bool:
    """Say whether rows were read after these positions were told."""
    return all(
        row.head_revision >= (told[key].revision or 0) for key, row in rows.items() if key in told
    )


@dataclass(slots=True)
class _Waiting:
    """Sessions that changed and are still to be told, and when others were told last."""

    changed: dict[SessionKey, Position] = field(default_factory=dict)
    told_at: dict[SessionKey, float] = field(default_factory=dict)

    def add(self, news: Mapping[SessionKey, Position]) -> None:
        self.changed |= news

    def take_ready(self) -> dict[SessionKey, Position]:
        """Return the sessions that may be told now, and note that they were."""
        now = asyncio.get_running_loop().time()
        # Only who was told within the interval has to wait.
        since = now - INTERVAL_SECONDS
        self.told_at = {key: at for key, at in self.told_at.items() if at > since}
        ready = [key for key in self.changed if key not in self.told_at][:BATCH_SESSIONS]
        self.told_at |= dict.fromkeys(ready, now)
        return {key: self.changed.pop(key) for key in ready}

    async def until_ready_or_news(self, watch: Watch) -> None:
        ready_at = min((self.told_at[key] for key in self.changed), default=None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(ready_at and ready_at + INTERVAL_SECONDS):
                await watch.news()
