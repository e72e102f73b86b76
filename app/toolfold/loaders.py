"""The batch functions of one operation: what resolvers load by key, in one statement per table.

Each opens a transaction of its own and returns one result per key, in the order asked. The
loaders cache for the operation's life, so distinct keys are read once in it.
"""

from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

from toolfold.store import attachment, content, content_image, layouts, project, session
from toolfold.store.engine import Database

ContentKey = tuple[str, bytes]
"""(project id, SHA-256)."""

K = TypeVar("K")
V = TypeVar("V")


class Loaders:
    """The loaders of one operation; made anew for each, never shared.

    A batch is cancelled when all who wait for it are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @cached_property
    def contents(self) -> DataLoader[ContentKey, Any]:
        """By `load_contents`."""
        return _loader(self._database, load_contents)

    @cached_property
    def projects(self) -> DataLoader[str, Any]:
        """By `load_projects`."""
        return _loader(self._database, load_projects)

    @cached_property
    def sessions(self) -> DataLoader[tuple[str, str], Any]:
        """By `load_sessions`."""
        return _loader(self._database, load_sessions)

    @cached_property
    def child_sessions(self) -> DataLoader[tuple[str, str, str], Any]:
        """By `load_child_sessions`."""
        return _loader(self._database, load_child_sessions)

    @cached_property
    def attachments(self) -> DataLoader[tuple[str, str, int], Any]:
        """By `load_attachments`."""
        return _loader(self._database, load_attachments)

    @cached_property
    def content_images(self) -> DataLoader[ContentKey, Any]:
        """By `load_content_images`."""
        return _loader(self._database, load_content_images)


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


def _loader(
    database: Database, load: Callable[[Database, Sequence[K]], Coroutine[Any, Any, list[V]]]
) -> DataLoader[K, V]:
    async def batch(keys: list[K]) -> list[V]:
        return await load(database, keys)

    return DataLoader(load_fn=batch)
