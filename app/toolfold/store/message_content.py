"""A message together with a content of it: one hop to SQLite's thread, as for one of the two."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store import content, message
from toolfold.store.chunks import Key as ContentKey
from toolfold.store.fetching import Reading, run


async def by_key(
    connection: AsyncConnection,
    key: message.Key,
    columns: Sequence[str],
    wanted: Callable[[Any], ContentKey | None],
) -> tuple[Any, bytes | None]:
    """Return a message's row, and the whole bytes of the content that `wanted` names of it.

    The row is None if there is none, and the key's columns come last in it if not asked for. The
    bytes are None if `wanted`, given the row, names no content, and if they are missing or damaged:
    who then asks for them alone is told why. `wanted` runs where the reading does.
    """
    return await run(connection, _reading(connection, key, columns, wanted))


def _reading(
    connection: AsyncConnection,
    key: message.Key,
    columns: Sequence[str],
    wanted: Callable[[Any], ContentKey | None],
) -> Reading[tuple[Any, bytes | None]]:
    row = yield from message.key_reading(key, columns)
    content_key = None if row is None else wanted(row)
    if content_key is None:
        return row, None
    data = (yield from content.reading(connection, {content_key})).get(content_key)
    return row, data if isinstance(data, bytes) else None
