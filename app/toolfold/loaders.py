"""The batch functions of one operation: what resolvers load by key, in one statement per table.

Each opens a transaction of its own and returns one result per key, in the order asked. The
loaders cache for the operation's life, so distinct keys are read once in it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import cached_property
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

from toolfold.store import attachment, content, content_image, layouts, project, session
from toolfold.store.engine import Database

ContentKey = tuple[str, bytes]
"""(project id, SHA-256)."""

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


class _Batches:
    """The batches of one loader that are being read. It knows nothing of the loader.

    A cycle with it would keep the contents of an operation until the garbage collector comes by.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any] | None] = set()
        self._have_ended = False

    async def read(self, reading: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what a batch comes to."""
        if self._have_ended:
            raise asyncio.CancelledError
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            return await reading()
        finally:
            self._tasks.discard(task)

    def end(self) -> None:
        """Cancel what is being read, and read no more."""
        self._have_ended = True
        for task in self._tasks:
            if task is not None:
                task.cancel()


class Loader(DataLoader[K, V]):
    """Loads by key, those that are asked for in one turn of the event loop together.

    An error in one place of a response cancels what other places beside it wait for. So who is
    cancelled takes nothing from the others who wait for the same, nor ends a batch.
    """

    def __init__(
        self, database: Database, load: Callable[[Database, Sequence[K]], Coroutine[Any, Any, Any]]
    ) -> None:
        batches = self._batches = _Batches()

        async def read(keys: list[K]) -> list[V]:
            found: list[V] = await batches.read(lambda: load(database, keys))
            return found

        super().__init__(load_fn=read)

    def load(self, key: K) -> Awaitable[V]:
        """Return what is loaded for a key, for one who waits."""
        return asyncio.shield(self.begin(key))

    def begin(self, key: K) -> asyncio.Future[V]:
        """Return the future of a key, which all who ask for it share: nobody is to cancel it."""
        future: asyncio.Future[V] = super().load(key)  # type: ignore[assignment]  # It is one.
        return future

    def end(self) -> None:
        """Cancel what is being read, and read no more."""
        self._batches.end()


class Loaders:
    """The loaders of one operation; made anew for each, never shared."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def end(self) -> None:
        """Cancel what is still being read: the operation waits for nothing any more."""
        for loader in vars(self).values():
            if isinstance(loader, Loader):
                loader.end()

    @cached_property
    def contents(self) -> Loader[ContentKey, Any]:
        """By `load_contents`."""
        return Loader(self._database, load_contents)

    @cached_property
    def projects(self) -> Loader[str, Any]:
        """By `load_projects`."""
        return Loader(self._database, load_projects)

    @cached_property
    def sessions(self) -> Loader[tuple[str, str], Any]:
        """By `load_sessions`."""
        return Loader(self._database, load_sessions)

    @cached_property
    def child_sessions(self) -> Loader[tuple[str, str, str], Any]:
        """By `load_child_sessions`."""
        return Loader(self._database, load_child_sessions)

    @cached_property
    def attachments(self) -> Loader[tuple[str, str, int], Any]:
        """By `load_attachments`."""
        return Loader(self._database, load_attachments)

    @cached_property
    def content_images(self) -> Loader[ContentKey, Any]:
        """By `load_content_images`."""
        return Loader(self._database, load_content_images)


async def load_contents(database: Database, keys: Sequence[ContentKey]) -> list[Any]:
    """Return the stored bytes of each key, or the error where they were deleted or are damaged."""
    async with database.read() as connection:
        found = await content.by_hashes(connection, set(keys))
        absences = await layouts.absences(connection, set(keys) - found.keys())
    everything = {**found, **absences}
    return [everything[key] for key in keys]


async def load_projects(database: Database, keys: Sequence[str]) -> list[Any]:
    """Return the row of each project id, None where there is none."""
    async with database.read(single=True) as connection:
        found = await project.by_ids(connection, set(keys))
    return [found.get(key) for key in keys]


async def load_sessions(database: Database, keys: Sequence[tuple[str, str]]) -> list[Any]:
    """Return the row of each (project id, session id), None where there is none."""
    async with database.read(single=True) as connection:
        found = await session.by_keys(connection, set(keys), session.COLUMNS)
    return [found.get(key) for key in keys]


async def load_child_sessions(
    database: Database, keys: Sequence[tuple[str, str, str]]
) -> list[Any]:
    """Return the session that each (project, session, tool call id) started, None where none."""
    async with database.read(single=True) as connection:
        found = await session.by_parent_tool_calls(connection, set(keys), session.COLUMNS)
    return [found.get(key) for key in keys]


async def load_attachments(
    database: Database, keys: Sequence[tuple[str, str, int]]
) -> list[list[Any]]:
    """Return the attachments' rows of each (project, session, sequence), in their order."""
    async with database.read(single=True) as connection:
        found = await attachment.by_messages(connection, set(keys))
    return [found.get(key, []) for key in keys]


async def load_content_images(database: Database, keys: Sequence[ContentKey]) -> list[list[Any]]:
    """Return the rows of the images in each content, as they stand in it."""
    async with database.read(single=True) as connection:
        found = await content_image.by_contents(connection, set(keys))
    return [found.get(key, []) for key in keys]
