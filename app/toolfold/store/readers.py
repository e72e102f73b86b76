"""Connections for those who read, lent in the order in which they were asked for.

SQLAlchemy's pools give a connection that has come back to whoever asks next, and send those who
were waiting to the end of the queue: under load some wait for as long as ten others take.
"""

import asyncio
from typing import Any, Protocol

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from toolfold.errors import DatabaseError

TURN_SECONDS = 30
"""How long a reader waits for its turn."""


class Readers(Protocol):
    """Lends connections that only read."""

    async def lend(self, *, single: bool) -> AsyncConnection:
        """Return a connection in no transaction yet; `single` is as of `Database.read`."""

    async def take_back(self, connection: AsyncConnection) -> None:
        """End its transaction, and let the next reader have it."""


class Turns:
    """So many at once, and those who wait in their order."""

    def __init__(self, count: int) -> None:
        self._free = asyncio.Semaphore(count)

    async def take(self) -> None:
        """Wait for a turn, which is to be given back.

        Raises:
            DatabaseError: if it does not come in time.
        """
        if not self._free.locked():
            await self._free.acquire()
            return
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._free.acquire()
        except TimeoutError as error:
            raise DatabaseError(
                f"The database cannot be used: {TURN_SECONDS} s have passed, and all its readers"
                " are still at work."
            ) from error

    def give_back(self) -> None:
        """Let the next one have it."""
        self._free.release()


class PooledReaders:
    """Lends the connections of a pool that others use too."""

    def __init__(self, reader: AsyncEngine, single_reader: AsyncEngine, count: int) -> None:
        self._reader = reader
        self._single_reader = single_reader
        self._turns = Turns(count)

    async def lend(self, *, single: bool) -> AsyncConnection:
        """Return a connection of the pool."""
        await self._turns.take()
        try:
            return await (self._single_reader if single else self._reader).connect().start()
        except BaseException:
            self._turns.give_back()
            raise

    async def take_back(self, connection: AsyncConnection) -> None:
        """Give it back to the pool, also for a task that is cancelled."""
        try:
            await asyncio.shield(connection.close())
        finally:
            self._turns.give_back()


class HeldReaders:
    """Lends connections that stay open: to take one from a pool costs as much as to read with it.

    They are SQLite's, whose transactions end without being waited for.
    """

    def __init__(self, reader: AsyncEngine, count: int) -> None:
        self._reader = reader
        self._turns = Turns(count)
        self._resting: list[AsyncConnection] = []
        self._is_closed = False

    async def lend(self, *, single: bool) -> AsyncConnection:
        """Return the connection that was used last, whose cache is the warmest, or a new one."""
        await self._turns.take()
        try:
            resting = self._resting
            connection = resting.pop() if resting else await self._reader.connect().start()
        except BaseException:
            self._turns.give_back()
            raise
        _driver(connection).begins_none = single
        return connection

    async def take_back(self, connection: AsyncConnection) -> None:
        """End its transaction; what was interrupted or has failed is closed."""
        try:
            core = connection.sync_connection
            if self._is_closed:
                await asyncio.shield(connection.invalidate())
            if core is None or core.invalidated:
                await asyncio.shield(connection.close())
                return
            # Core knows of a transaction only if it was Core that executed.
            core.rollback()
            _driver(connection).end()
            self._resting.append(connection)
        finally:
            self._turns.give_back()

    async def close(self) -> None:
        """Close those that nobody uses; the others are closed when they are taken back."""
        self._is_closed = True
        while self._resting:
            await self._resting.pop().close()


def _driver(connection: AsyncConnection) -> Any:
    core: Any = connection.sync_connection
    return core.connection.driver_connection
