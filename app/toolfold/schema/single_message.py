"""How a message is read that is asked for by its own id: together with its content, if it can be.

What the guard will decide can then be said from the row, before the content is read. The field
that shows the content decides and is charged as ever, and finds it in the loader.
"""

from typing import Any

from graphql import FieldNode

from toolfold.errors import DatabaseError
from toolfold.loaders import ContentKey
from toolfold.schema import selection
from toolfold.schema.connection import NO_SCOPE
from toolfold.schema.context import Info
from toolfold.schema.global_id import MessageKey
from toolfold.schema.guard import SINGLE
from toolfold.schema.message import message_columns
from toolfold.schema.rows import MessageRow, message_rows
from toolfold.store import message as message_store
from toolfold.store import message_content


async def load_message(info: Info, key: MessageKey) -> MessageRow | None:
    """Return the message that the field being resolved is of, None if there is none."""
    nodes = selection.raw_info(info).field_nodes
    columns = message_columns(info, nodes, MessageRow.typename, "tool_call_id")
    found = await _found(info, key, columns)
    if found is None:
        return None
    row: MessageRow
    (row,) = message_rows(columns, [found], SINGLE, NO_SCOPE)
    return row


async def _found(info: Info, key: MessageKey, columns: tuple[str, ...]) -> Any:
    most = _bytes_ahead(info)
    if most is not None:
        try:
            return await _with_content(info, key, columns, most)
        except DatabaseError:
            # The field that it is of meets it again, and tells.
            pass
    async with info.context.database.read(single=True) as connection:
        return (await message_store.by_keys(connection, {key}, columns)).get(key)


async def _with_content(info: Info, key: MessageKey, columns: tuple[str, ...], most: int) -> Any:
    def wanted(row: Any) -> ContentKey | None:
        if row.tool_call_id is None or row.tool_content_hash is None:
            return None
        return (row.project_id, row.tool_content_hash) if row.tool_content_size <= most else None

    # A content that is deleted in between is missing, and in no other state.
    async with info.context.database.read(single=True) as connection:
        row, data = await message_content.by_key(connection, key, columns, wanted)
    if data is not None:
        info.context.loaders.contents.prime((row.project_id, row.tool_content_hash), data)
    return row


def _bytes_ahead(info: Info) -> int | None:
    """Return how long the tool call's content may be to be read with the message; None if not so.

    It is if the operation asks for nothing else that is charged: then the budget has room for it,
    or the guard refuses it.
    """
    raw = selection.raw_info(info)
    root = raw.operation.selection_set.selections
    if len(root) != 1 or not isinstance(root[0], FieldNode):
        return None
    fields = selection.subfields(raw.field_nodes, raw)
    calls = selection.named(fields, "toolMetadata")
    below = selection.subfields(calls, raw)
    keys = [key for key, nodes in fields.items() if nodes[0].name.value == "toolMetadata"]
    shown = [nodes for nodes in below.values() if nodes[0].name.value == "content"]
    if len(keys) != 1 or len(shown) != 1 or selection.named(fields, "content"):
        return None
    # What is charged beside a content is an object, and so has a selection.
    beside = [nodes[0] for key, nodes in fields.items() if key not in keys]
    beside += [nodes[0] for nodes in below.values() if nodes[0].name.value != "contentOmitted"]
    if any(node.selection_set is not None for node in beside):
        return None
    return info.context.settings.content_budget_bytes - info.context.ledger.hard_used
