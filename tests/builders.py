"""Transcript values and stored sessions, in as few words as a test needs.

What a test does not say is chosen here: ids count up from 1, times are `NOW`. Rows are written
directly, so that tests of the store stand without ingest.
"""

import hashlib
import itertools
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table, insert, select

from toolfold import readable, stored_json
from toolfold.store import images
from toolfold.store.chunks import CHUNK_SIZE, compress
from toolfold.store.engine import Database
from toolfold.store.tables import (
    attachment_table,
    content_chunk_table,
    content_image_table,
    content_reference_table,
    content_table,
    message_table,
    message_text_table,
    project_table,
    session_table,
)
from toolfold.transcript import Json, Message, MessageRole, ToolCall, Usage

NOW = "2026-11-30T17:09:47.447Z"
PROJECT = "default"
SESSION = "session-1"
ROW_TEXT_BYTES = 1024
"""The longest message text that is in its row."""

TEXT_BYTES = 16 * 1024
"""The longest message text that is no content."""

_numbers = itertools.count(1)


def text_block(text: str) -> Json:
    """Return an ACP text block, as a tool call's content holds it."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def text_message(
    content: str = "Hello.", role: MessageRole = MessageRole.USER, **fields: Any
) -> Message:
    """Return a message that carries no tool call; its client id is new."""
    return Message(
        **{"client_id": f"message-{next(_numbers)}", **fields}, role=role, content=content
    )


def tool_message(content: Json = None, *, client_id: str | None = None, **fields: Any) -> Message:
    """Return a message that carries a tool call; `fields` are those of the call."""
    number = next(_numbers)
    call = ToolCall(**{"tool_call_id": f"call-{number}", **fields}, content=content)
    return Message(client_id or f"message-{number}", MessageRole.TOOL, tool_call=call)


async def store_session(
    database: Database,
    messages: Sequence[Message] = (),
    *,
    project_id: str = PROJECT,
    session_id: str = SESSION,
    **columns: Any,
) -> None:
    """Store a session of these messages; `columns` are columns of its row."""
    await database.write(
        lambda connection: add_session(
            connection, messages, project_id=project_id, session_id=session_id, **columns
        )
    )


def add_session(
    connection: Connection,
    messages: Sequence[Message] = (),
    *,
    project_id: str = PROJECT,
    session_id: str = SESSION,
    **columns: Any,
) -> None:
    """As `store_session`, in a transaction that is under way."""
    rows = [
        {**_message_row(message), "sequence": sequence, "revision": sequence}
        for sequence, message in enumerate(messages, start=1)
    ]
    session = {
        "agent": "claude-code",
        "status": "completed",
        "created_at": NOW,
        "updated_at": NOW,
        "head_sequence": len(rows),
        "head_revision": len(rows),
        "message_count": len(rows),
        "tool_call_count": sum(message.tool_call is not None for message in messages),
        "content_size": sum(row["tool_content_size"] or 0 for row in rows),
        **_usage_sums(messages),
        **columns,
    }
    key = {"project_id": project_id, "session_id": session_id}
    connection.execute(
        insert(session_table).values(project_id=project_id, id=session_id, **session)
    )
    _insert(connection, message_table, [{**key, **row} for row in rows])
    for row, message in zip(rows, messages, strict=True):
        _add_parts(connection, {**key, "sequence": row["sequence"]}, message)


def add_project(connection: Connection, project_id: str, **columns: Any) -> None:
    """Store a project, by default named after its id."""
    values = {"id": project_id, "name": project_id, "created_at": NOW, **columns}
    connection.execute(insert(project_table).values(values))


def add_content(
    connection: Connection,
    data: bytes,
    *,
    project_id: str = PROJECT,
    media_type: str = "application/json",
) -> bytes:
    """Store bytes unless they are stored, and return their SHA-256."""
    digest = hashlib.sha256(data).digest()
    key = {"project_id": project_id, "hash": digest}
    stored = select(content_table.c.size).filter_by(**key)
    if connection.execute(stored).first() is None:
        layout = {"size": len(data), "media_type": media_type, "chunk_size": CHUNK_SIZE}
        connection.execute(insert(content_table).values(**key, **layout))
        frames = enumerate(compress(data))
        chunks = [{**key, "position": position, "data": frame} for position, frame in frames]
        _insert(connection, content_chunk_table, chunks)
    return digest


async def store_images(database: Database, content: Json) -> None:
    """Say of a stored content where its images are, as recording it does."""
    data = stored_json.encode(content)
    digest = hashlib.sha256(data).digest()
    rows = [
        {
            "project_id": PROJECT,
            "hash": image.hash,
            "size": image.size,
            "media_type": image.media_type,
            "content_hash": digest,
            "content_offset": image.offset,
            "content_length": image.length,
        }
        for image in {one.hash: one for one in images.find(content, data)}.values()
    ]
    await database.write(lambda connection: _insert(connection, content_image_table, rows))


def _message_row(message: Message) -> dict[str, Any]:
    data = message.content.encode("utf-8")
    is_content, is_in_row = len(data) > TEXT_BYTES, len(data) <= ROW_TEXT_BYTES
    usage = message.usage
    return {
        "client_id": message.client_id,
        "role": message.role.value,
        "origin": message.origin,
        "model": message.model,
        "created_at": NOW,
        "repaired": message.repaired,
        **_usage_columns(usage),
        "attachment_count": len(message.attachments),
        **_call_columns(message.tool_call),
        "content_size": len(data),
        "content_hash": hashlib.sha256(data).digest() if is_content else None,
        "content_preview": None if is_in_row else message.content[:280],
        "content": message.content if is_in_row else None,
    }


def _call_columns(call: ToolCall | None) -> dict[str, Any]:
    parts = _parts(call)
    columns: dict[str, Any] = {
        f"{part}_{measure}": None if data is None else value(data)
        for part, data in parts.items()
        for measure, value in (("size", len), ("hash", lambda data: hashlib.sha256(data).digest()))
    }
    locations = (
        [{"path": place.path, "line": place.line} for place in call.locations] if call else []
    )
    state = "none_recorded" if parts["tool_content"] is None else "complete"
    return columns | {
        "tool_call_id": call and call.tool_call_id,
        "tool_name": call and call.name,
        "tool_title": call and call.title,
        "tool_kind": call and call.kind.value,
        "tool_status": call and call.status.value,
        "tool_locations": stored_json.encode(locations).decode() if call else None,
        "tool_started_at": NOW if call else None,
        "tool_ended_at": NOW if call else None,
        "child_source_session": call and call.child_session,
        "tool_content_state": call and (call.content_state or state),
        "tool_content_preview": readable.preview(call.content)
        if call and call.content is not None
        else None,
    }


def _add_parts(connection: Connection, key: dict[str, Any], message: Message) -> None:
    """Store a message's heavy bytes and what says that it uses them."""
    project_id = key["project_id"]
    parts = {part: data for part, data in _parts(message.tool_call).items() if data is not None}
    if (length := len(text := message.content.encode("utf-8"))) > TEXT_BYTES:
        parts["content"] = text
    elif length > ROW_TEXT_BYTES:
        _insert(connection, message_text_table, [{**key, "text": message.content}])
    references = [
        {**key, "hash": add_content(connection, data, project_id=project_id), "part": part}
        for part, data in parts.items()
    ]
    files = []
    for position, file in enumerate(message.attachments):
        digest = add_content(
            connection, file.data, project_id=project_id, media_type=file.mime_type
        )
        described = {"size": len(file.data), "mime_type": file.mime_type, "name": file.name}
        files.append({**key, "position": position, "hash": digest, **described})
        references.append({**key, "hash": digest, "part": "attachment"})
    # A file that came twice with a message is used once by it.
    unique = {(row["hash"], row["part"]): row for row in references}
    _insert(connection, content_reference_table, list(unique.values()))
    _insert(connection, attachment_table, files)


def _parts(call: ToolCall | None) -> dict[str, bytes | None]:
    values = (call.content, call.raw_input, call.raw_output) if call else (None, None, None)
    names = ("tool_content", "raw_input", "raw_output")
    stored = (None if value is None else stored_json.encode(value) for value in values)
    return dict(zip(names, stored, strict=True))


def _usage_columns(usage: Usage | None) -> dict[str, int | None]:
    return {
        name: None if usage is None else getattr(usage, name)
        for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
    }


def _usage_sums(messages: Sequence[Message]) -> dict[str, int | None]:
    columns = [_usage_columns(message.usage) for message in messages if message.usage]
    return {
        name: sum(column[name] or 0 for column in columns) if columns else None
        for name in _usage_columns(None)
    }


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), list(rows))
