"""One write on behalf of a client, and the news of it.

A client that goes away, or whose operation's time is up, stops waiting: what was begun is
written all the same, and told to whoever follows.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from sqlalchemy import Connection

from toolfold.events import Position
from toolfold.schema.context import Info

T = TypeVar("T")

_running: set[asyncio.Task[object]] = set()
"""The event loop itself holds tasks only weakly."""


async def write(
    info: Info,
    function: Callable[[Connection], T],
    positions: Callable[[T], Iterable[Position]],
) -> T:
    """Return the result of `function` in a transaction of its own; publish its positions.

    Raises:
        RefusedError: what `function` refuses; then nothing was written.
        DatabaseError: if the database fails.
    """
    resources = info.context.resources

    async def run() -> T:
        written = await resources.database.write(function)
        resources.events.publish(positions(written))
        return written

    return await to_its_end(run())


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of work that goes on when its caller is cancelled."""
    task = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_forget)
    return await asyncio.shield(task)


def _forget(task: asyncio.Task[object]) -> None:
    _running.discard(task)
    if not task.cancelled():
        # Whoever no longer waits does not want to know.
        task.exception()
