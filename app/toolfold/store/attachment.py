"""Attachments: the files that came with a message. Their bytes are contents."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.message import KEY_COLUMNS
from toolfold.store.message import Key as MessageKey
from toolfold.store.selection import one_of, pick
from toolfold.store.tables import attachment_table

COLUMNS = tuple(attachment_table.columns.keys())


async def by_messages(
    connection: AsyncConnection, keys: Collection[MessageKey], columns: Sequence[str] = COLUMNS
) -> dict[MessageKey, list[Row[Any]]]:
    """Return the attachments of each message, in their order; an empty list where it has none.

    The message's key columns come last if not asked for.
    """
    found: dict[MessageKey, list[Row[Any]]] = {key: [] for key in keys}
    if not found:
        return found
    key = pick(attachment_table.columns, KEY_COLUMNS)
    selection = select(*pick(attachment_table.columns, columns, KEY_COLUMNS))
    selection = selection.where(one_of(connection, key, found))
    for row in await connection.execute(selection.order_by(attachment_table.c.position)):
        found[row.project_id, row.session_id, row.sequence].append(row)
    return found
