"""The batch functions of one operation: what resolvers load by key, in one statement per table.

Each opens a transaction of its own and returns one result per key, in the order asked. The
loaders cache for the operation's life, so distinct keys are read once in it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

from toolfold.store import attachment, content, project, session
from toolfold.store.engine import Database

ContentKey = tuple[str, bytes]
"""(project id, SHA-256)."""

K = TypeVar("K")
V = TypeVar("V")

Load = Callable[[Database, Sequence[K]], Coroutine[Any, Any, list[V]]]
"""Reads what is under each key, in the order of the keys."""


class Loaders:
    """The loaders of one operation; made anew for each, never shared."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading: set[asyncio.Task[Any]] = set()
        self.contents = self._loader(load_contents)
        self.projects = self._loader(load_projects)
        self.sessions = self._loader(load_sessions)
        self.child_sessions = self._loader(load_child_sessions)
        self.attachments = self._loader(load_attachments)

    def cancel(self) -> None:
        """Interrupt what is still being read: a batch is a task of its own, which would go on."""
        for reading in self._reading:
            reading.cancel()

    def _loader(self, load: Load[K, V]) -> DataLoader[K, V]:
        async def batch(keys: list[K]) -> list[V]:
            reading = asyncio.ensure_future(load(self._database, keys))
            self._reading.add(reading)
            reading.add_done_callback(self._reading.discard)
            return await reading

        return DataLoader(load_fn=batch)


async def load_contents(database: Database, keys: Sequence[ContentKey]) -> list[Any]:
    """Return the stored bytes of each key; None where there are none, the error where damaged."""
    async with database.read() as connection:
        found = await content.by_hashes(connection, set(keys))
    return [found.get(key) for key in keys]


async def load_projects(database: Database, keys: Sequence[str]) -> list[Any]:
    """Return the row of each project id, None where there is none."""
    async with database.read() as connection:
        found = await project.by_ids(connection, set(keys))
    return [found.get(key) for key in keys]


async def load_sessions(database: Database, keys: Sequence[tuple[str, str]]) -> list[Any]:
    """Return the row of each (project id, session id), None where there is none."""
    async with database.read() as connection:
        found = await session.by_keys(connection, set(keys), session.COLUMNS)
    return [found.get(key) for key in keys]


async def load_child_sessions(
    database: Database, keys: Sequence[tuple[str, str, str]]
) -> list[Any]:
    """Return the session that each (project, session, tool call id) started, None where none."""
    async with database.read() as connection:
        found = await session.by_parent_tool_calls(connection, set(keys), session.COLUMNS)
    return [found.get(key) for key in keys]


async def load_attachments(
    database: Database, keys: Sequence[tuple[str, str, int]]
) -> list[list[Any]]:
    """Return the attachments' rows of each (project, session, sequence), in their order."""
    async with database.read() as connection:
        found = await attachment.by_messages(connection, set(keys))
    return [found.get(key, []) for key in keys]
