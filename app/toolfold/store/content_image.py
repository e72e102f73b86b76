"""Where images stand in contents, by what holds them: the table `content_image`."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.chunks import Key
from toolfold.store.selection import one_of
from toolfold.store.tables import content_image_table

_image = content_image_table.c
_content = (_image.project_id, _image.content_hash)


async def by_contents(
    connection: AsyncConnection, keys: Collection[Key]
) -> dict[Key, list[Row[Any]]]:
    """Return the images in each content, as they stand in it; an empty list where it has none.

    Images, sounds and other bytes alike; equal ones once.
    """
    found: dict[Key, list[Row[Any]]] = {key: [] for key in keys}
    if not found:
        return found
    selection = select(content_image_table).where(one_of(connection, _content, found))
    for row in await connection.execute(selection.order_by(_image.content_offset)):
        found[row.project_id, row.content_hash].append(row)
    return found
