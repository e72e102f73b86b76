"""What processes on one database can notice of each other, beside what they read and write.

PostgreSQL carries short texts between them (NOTIFY), outside of any write's transaction: one
there would hold up every other writer's commit. SQLite has no such thing, but a connection sees
cheaply whether another has written. Neither is certain, so whoever listens looks from time to
time as well.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

from sqlalchemy.ext.asyncio import AsyncEngine

from toolfold.store.failures import told_while_connecting

SQLITE_SECONDS = 0.5
"""How often a SQLite file is looked at."""

POSTGRESQL_SECONDS = 10.0
"""How often a process looks whether it was told of everything."""

MAX_TEXT_BYTES = 7_999
"""What PostgreSQL carries at once."""

_CHANNEL = "toolfold"


class Exchange(Protocol):
    """One process's way to the others."""

    async def tell(self, text: str) -> None:
        """Tell the other processes, as far as the database can; at most `MAX_TEXT_BYTES`.

        Raises:
            DatabaseError: if it is out of reach.
        """

    async def time_to_look(self) -> None:
        """Return when others may have written what they could not tell.

        Raises:
            DatabaseError: if it is out of reach.
        """


class SqliteExchange:
    """Sees that the file was written by another connection, of this process or of another."""

    def __init__(self, data_version: Callable[[], Awaitable[int]]) -> None:
        self._data_version = data_version
        self._seen: int | None = None

    async def tell(self, text: str) -> None:
        """Do nothing: the others will see."""

    async def time_to_look(self) -> None:
        """Return when the file was written since the last time."""
        while True:
            version = await self._data_version()
            if version != self._seen:
                self._seen = version
                return
            await asyncio.sleep(SQLITE_SECONDS)


class PostgresqlExchange:
    """A connection of its own that listens and notifies."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def tell(self, text: str) -> None:
        """Notify the processes that listen."""
        with told_while_connecting():
            await self._connection.execute("SELECT pg_notify($1, $2)", _CHANNEL, text)

    async def time_to_look(self) -> None:
        """Return after a while, if the connection is still there."""
        await asyncio.sleep(POSTGRESQL_SECONDS)
        with told_while_connecting():
            await self._connection.execute("SELECT 1")


@contextlib.asynccontextmanager
async def postgresql_exchange(
    engine: AsyncEngine, told: Callable[[str], None]
) -> AsyncIterator[PostgresqlExchange]:
    """Give a way to the other processes over a connection of `engine`, which is in autocommit.

    `told` is called with what they tell.

    Raises:
        DatabaseError: if the server is out of reach.
    """

    def received(connection: Any, process: int, _channel: str, text: str) -> None:
        if process != connection.get_server_pid():
            told(text)

    async with contextlib.AsyncExitStack() as stack:
        with told_while_connecting():
            connection = await stack.enter_async_context(engine.connect())
            driver: Any = (await connection.get_raw_connection()).driver_connection
            await driver.add_listener(_CHANNEL, received)
        yield PostgresqlExchange(driver)
