"""Carries positions between the processes on one database.

What this process publishes is told to the others where the database can tell; what they tell is
delivered to the followers here. What could not be told (SQLite tells nothing, a notification may
be lost) is found by comparing revisions, of what is followed and nothing else.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

import orjson

from toolfold.errors import DatabaseError
from toolfold.events import Events, Position, SessionKey, Watch
from toolfold.store import session as session_store
from toolfold.store.engine import Database
from toolfold.store.exchange import MAX_TEXT_BYTES, Exchange

logger = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
"""How long after a failure the database is tried again."""

TELLING_SECONDS = 0.2
"""How often a process that follows nothing tells what it wrote."""


@contextlib.asynccontextmanager
async def relaying(database: Database, events: Events) -> AsyncIterator[None]:
    """Carry positions for as long as the block runs, whatever befalls the database meanwhile."""
    running = asyncio.create_task(_Relay(database, events).run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])


@contextlib.asynccontextmanager
async def telling(database: Database) -> AsyncIterator[Events]:
    """Give events whose positions the other processes are told, for one that follows nothing.

    All are told by the end of the block. What cannot be told is found by the others in time.

    Raises:
        DatabaseError: if the database is out of reach at the beginning.
    """
    events = Events()
    is_over = asyncio.Event()
    async with database.exchange(lambda _text: None) as exchange:
        with events.watch_this_process() as watch:
            running = asyncio.create_task(_tell_until(is_over, watch, exchange))
            try:
                yield events
            finally:
                is_over.set()
                await running


async def _tell_until(is_over: asyncio.Event, watch: Watch, exchange: Exchange) -> None:
    try:
        while not is_over.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TELLING_SECONDS):
                    await is_over.wait()
            for text in texts(watch.take().values()):
                await exchange.tell(text)
    except DatabaseError as error:
        logger.info("What was written is not told: %s", error)


def texts(positions: Iterable[Position]) -> Iterator[str]:
    """Yield positions as texts that can be told at once; one that is too long is left out."""
    text: list[str] = []
    size = 2
    for position in positions:
        item = orjson.dumps([position.project_id, position.session_id, position.revision])
        if size + len(item) + 1 > MAX_TEXT_BYTES and text:
            yield f"[{','.join(text)}]"
            text, size = [], 2
        if size + len(item) <= MAX_TEXT_BYTES:
            text.append(item.decode())
            size += len(item) + 1
    if text:
        yield f"[{','.join(text)}]"


def positions_in(text: str) -> list[Position]:
    """Return what `texts` was given; nothing for a text of another kind."""
    try:
        return [Position(*item) for item in orjson.loads(text)]
    except (TypeError, ValueError):
        return []


class _Relay:
    """One process's part in it.

    It knows the revision at which it saw each session that is followed. A session of a list that
    begins to be followed is known as it is found; any other that is not known is news.
    """

    def __init__(self, database: Database, events: Events) -> None:
        self._database = database
        self._events = events
        self._known: dict[SessionKey, int] = {}
        self._listed: set[str | None] = set()
        self._looking = asyncio.Lock()

    async def run(self) -> None:
        """Carry positions until cancelled; a failure is logged and the database tried again."""
        while True:
            try:
                async with self._database.exchange(self._receive) as exchange:
                    await self._carry(exchange)
            except Exception as error:
                logger.warning("Positions are not carried between processes", exc_info=error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _carry(self, exchange: Exchange) -> None:
        parts = [self._tell(exchange), self._look_in_time(exchange), self._look_at_new_lists()]
        tasks = [asyncio.ensure_future(part) for part in parts]
        try:
            # None of them ends but by a failure.
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _receive(self, text: str) -> None:
        positions = positions_in(text)
        self._note(positions)
        self._events.deliver(positions)

    async def _tell(self, exchange: Exchange) -> None:
        with self._events.watch_this_process() as watch:
            while True:
                await watch.news()
                positions = watch.take().values()
                self._note(positions)
                for text in texts(positions):
                    await exchange.tell(text)

    async def _look_in_time(self, exchange: Exchange) -> None:
        while True:
            await self._look()
            await exchange.time_to_look()

    async def _look_at_new_lists(self) -> None:
        while True:
            await self._events.list_watched.wait()
            self._events.list_watched.clear()
            await self._look()

    async def _look(self) -> None:
        """Deliver what is not as it was when it was seen last."""
        async with self._looking:
            projects = self._events.watched_projects()
            sessions = self._events.watched_sessions()
            found = await self._revisions(projects, sessions)
            news = [*self._changes(found, sessions), *self._deletions(found)]
            self._known, self._listed = found, projects
            self._events.deliver(news)

    async def _revisions(
        self, projects: set[str | None], sessions: set[SessionKey]
    ) -> dict[SessionKey, int]:
        """Return the revisions of the sessions that are followed, one by one or in a list."""
        if not projects and not sessions:
            return {}
        named = {project for project in projects if project is not None}
        found: dict[SessionKey, int] = {}
        async with self._database.read() as connection:
            if projects:
                listed = None if None in projects else named
                found = await session_store.revisions(connection, listed)
            rows = await session_store.by_keys(connection, sessions, ("head_revision",))
        return found | {key: row.head_revision for key, row in rows.items()}

    def _changes(
        self, found: Mapping[SessionKey, int], sessions: set[SessionKey]
    ) -> Iterator[Position]:
        for key, revision in found.items():
            known = self._known.get(key)
            is_new = key in sessions or not self._listed.isdisjoint((None, key[0]))
            if known != revision and (known is not None or is_new):
                yield Position(*key, revision)

    def _deletions(self, found: Mapping[SessionKey, int]) -> Iterator[Position]:
        # One that is merely followed no more has nobody to be told.
        return (Position(*key, None) for key in self._known.keys() - found.keys())

    def _note(self, positions: Iterable[Position]) -> None:
        """Note what followers are told already."""
        for position in positions:
            if position.revision is None:
                self._known.pop(position.key, None)
            else:
                self._known[position.key] = position.revision
