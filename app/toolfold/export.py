"""A session as JSON lines: `toolfold export` writes them and `toolfold import` takes them back.

The first line is `{"toolfold": 1, "session": {…}}`, with all that the session's row says of
where it came from. Then comes `{"message": {…}}` for each message in order of sequence: its text,
its attachments as base64, its tool call with content, raw input and raw output as the stored
bytes themselves, which hold no line break. What is null or empty is left out. Server state that
a copy has anew (revisions, sums, previews) is not exported.

`toolfold.importers.toolfold_export` reads this form, and says its version.
"""

import base64
import codecs
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import orjson
from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.errors import NotFoundError
from toolfold.importers.toolfold_export import VERSION
from toolfold.store import attachment, content, message, session
from toolfold.store.page import PageRequest

PAGE_SIZE = 200
"""Messages read at once; their texts over 16 KiB and all other heavy parts are streamed."""

_SESSION_KEYS = {
    "id": "id",
    "format": "source_format",
    "sourceSession": "source_session",
    "agent": "agent",
    "title": "title",
    "status": "status",
    "cwd": "cwd",
    "gitBranch": "git_branch",
    "parent": "parent_source_session",
    "parentToolCallId": "parent_tool_call_id",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
}
_MESSAGE_KEYS = {
    "sequence": "sequence",
    "clientId": "client_id",
    "role": "role",
    "origin": "origin",
    "model": "model",
    "createdAt": "created_at",
}
_USAGE_KEYS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_tokens",
    "cacheCreationTokens": "cache_creation_tokens",
}
_TOOL_CALL_KEYS = {
    "toolCallId": "tool_call_id",
    "name": "tool_name",
    "title": "tool_title",
    "kind": "tool_kind",
    "status": "tool_status",
    "startedAt": "tool_started_at",
    "endedAt": "tool_ended_at",
    "childSession": "child_source_session",
    "contentState": "tool_content_state",
}
_HEAVY_KEYS = {
    "content": "tool_content_hash",
    "rawInput": "raw_input_hash",
    "rawOutput": "raw_output_hash",
}
_MESSAGE_COLUMNS = (
    *_MESSAGE_KEYS.values(),
    *_USAGE_KEYS.values(),
    *_TOOL_CALL_KEYS.values(),
    *_HEAVY_KEYS.values(),
    *("repaired", "attachment_count", "tool_locations", "content", "content_hash"),
)


async def stream(
    connection: AsyncConnection, project_id: str, session_id: str
) -> AsyncGenerator[bytes, None]:
    """Yield the bytes of a session's export in pieces, of which none holds more than one chunk.

    Raises:
        NotFoundError: if there is no such session.
        CorruptContentError: at a content whose bytes are not those that were stored.
    """
    key = (project_id, session_id)
    found = await session.by_keys(connection, {key}, tuple(_SESSION_KEYS.values()))
    if key not in found:
        raise NotFoundError(f"There is no session {session_id}.")
    header = {"toolfold": VERSION, "session": _said(found[key], _SESSION_KEYS)}
    yield orjson.dumps(header) + b"\n"
    after: tuple[int] | None = None
    while True:
        request = PageRequest(first=PAGE_SIZE, after=after)
        page = await message.page(
            connection, project_id, session_id, request, columns=_MESSAGE_COLUMNS
        )
        async for piece in _messages(connection, key, page.rows):
            yield piece
        if len(page.rows) < PAGE_SIZE:
            return
        after = (page.rows[-1].sequence,)


async def _messages(
    connection: AsyncConnection, key: tuple[str, str], rows: Sequence[Row[Any]]
) -> AsyncIterator[bytes]:
    with_files = {(*key, row.sequence) for row in rows if row.attachment_count}
    attachments = await attachment.by_messages(connection, with_files)
    for row in rows:
        async for piece in _message(connection, key[0], row):
            yield piece
        if row.attachment_count:
            async for piece in _attachments(connection, key[0], attachments[*key, row.sequence]):
                yield piece
        if row.tool_call_id is not None:
            async for piece in _tool_call(connection, key[0], row):
                yield piece
        yield b"}}\n"


async def _message(
    connection: AsyncConnection, project_id: str, row: Row[Any]
) -> AsyncIterator[bytes]:
    """Yield the beginning of a message's line, up to its text."""
    said = _said(row, _MESSAGE_KEYS)
    if row.repaired:
        said["repaired"] = True
    if row.input_tokens is not None:
        said["usage"] = _said(row, _USAGE_KEYS)
    yield b'{"message":' + orjson.dumps(said)[:-1]
    if row.content:
        yield b',"content":' + orjson.dumps(row.content)
    if row.content_hash is not None:
        yield b',"content":"'
        decoder = codecs.getincrementaldecoder("utf-8")()
        async for chunk in content.stream_within(connection, project_id, row.content_hash):
            yield orjson.dumps(decoder.decode(chunk))[1:-1]
        yield b'"'


async def _attachments(
    connection: AsyncConnection, project_id: str, rows: Sequence[Row[Any]]
) -> AsyncIterator[bytes]:
    for position, row in enumerate(rows):
        said = _said(row, {"mimeType": "mime_type", "name": "name"})
        yield (b"," if position else b',"attachments":[') + orjson.dumps(said)[:-1] + b',"data":"'
        rest = b""
        async for chunk in content.stream_within(connection, project_id, row.hash):
            # Base64 takes three bytes at a time; what is over waits for the next chunk.
            whole = rest + chunk
            length = len(whole) // 3 * 3
            yield base64.b64encode(whole[:length])
            rest = whole[length:]
        yield base64.b64encode(rest) + b'"}'
    yield b"]"


async def _tool_call(
    connection: AsyncConnection, project_id: str, row: Row[Any]
) -> AsyncIterator[bytes]:
    said = _said(row, _TOOL_CALL_KEYS)
    if row.tool_locations not in (None, "[]"):
        said["locations"] = orjson.Fragment(row.tool_locations)
    yield b',"toolCall":' + orjson.dumps(said)[:-1]
    for key, column in _HEAVY_KEYS.items():
        digest = getattr(row, column)
        if digest is not None:
            yield b',"%b":' % key.encode("ascii")
            async for chunk in content.stream_within(connection, project_id, digest):
                yield chunk
    yield b"}"


def _said(row: Row[Any], keys: dict[str, str]) -> dict[str, Any]:
    """Return what the row's columns say, under the export's keys, without nulls."""
    said = {key: getattr(row, column) for key, column in keys.items()}
    return {key: value for key, value in said.items() if value is not None}
