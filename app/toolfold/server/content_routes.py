"""Stored bytes over HTTP: a tool call's content, and anything by its hash."""

import re
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from toolfold.schema.context import Resources
from toolfold.server.representation import (
    ReadRange,
    ReadWhole,
    Representation,
    answer,
    asks_for_whole,
)
from toolfold.store import content, layouts, message_content
from toolfold.store.chunks import CHUNK_SIZE, Key
from toolfold.store.engine import Database

INLINE_TYPES = frozenset(
    {
        "application/json",
        "audio/aac",
        "audio/flac",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/wav",
        "audio/webm",
        "image/avif",
        "image/bmp",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
        "text/plain",
    }
)
"""What a browser may show: nothing that can hold a script. Anything else is downloaded."""

# A tool call that is updated has other content under the same URL.
_REVALIDATED = {"cache-control": "private, no-cache"}
_IMMUTABLE = {"cache-control": "private, max-age=31536000, immutable"}

_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_SEQUENCE = re.compile(r"[1-9][0-9]{0,9}")
_MAX_SEQUENCE = 2**31 - 1
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}")
_NOT_FOUND = "There is nothing here."

_CALL_COLUMNS = ("tool_call_id", "tool_content_size", "tool_content_hash")
_BEFORE, _NONE, _AFTER = b'{"content":', b"[]", b"}"


async def tool_content(request: Request) -> Response:
    """Answer `{"content":<stored JSON>}` of the tool call that a message carries.

    The path names project, session and sequence. 404 only if there is no such message there,
    or it carries no tool call; `[]` stands for content that was not recorded.
    """
    database = _database(request)
    call, data = await _tool_call(
        database, request.path_params, max_bytes=CHUNK_SIZE if asks_for_whole(request) else 0
    )
    if call is None:
        raise HTTPException(404, _NOT_FOUND)
    digest = call.tool_content_hash
    size = len(_NONE) if digest is None else call.tool_content_size
    name = "none" if digest is None else digest.hex()
    project_id = request.path_params["project"]
    wrapped = Representation(
        len(_BEFORE) + size + len(_AFTER),
        f'"tool-content:{name}"',
        "application/json",
        _REVALIDATED,
        partial(_wrapped, database, project_id, digest, size),
        whole=None if data is None else b"".join((_BEFORE, data, _AFTER)),
    )
    return await answer(request, wrapped)


async def blob(request: Request) -> Response:
    """Answer the bytes stored under `sha256:<hex>`, or the image of that hash in a content."""
    database = _database(request)
    project_id, name = request.path_params["project"], request.path_params["hash"]
    match = _HASH.fullmatch(name)
    if match is None:
        raise HTTPException(404, _NOT_FOUND)
    digest = bytes.fromhex(match[1])
    async with database.read() as connection:
        stored = await layouts.describe(connection, project_id, digest)
        image = None if stored else await content.image(connection, project_id, digest)
    if stored:
        read = partial(content.stream, database, project_id, digest)
        # Frames one after the other are zstd too (RFC 8878, 3), but httpx cannot read them.
        is_one_frame = stored.base_hash is None and stored.size <= stored.chunk_size
        frames = partial(content.stream_frames, database, project_id, digest)
        return await answer(request, _blob(name, stored, read, frames if is_one_frame else None))
    if image:
        read = partial(content.stream_image, database, image)
        return await answer(request, _blob(name, image, read))
    raise HTTPException(404, _NOT_FOUND)


def _database(request: Request) -> Database:
    resources: Resources = request.app.state.resources
    return resources.database


async def _tool_call(
    database: Database, parameters: dict[str, str], max_bytes: int
) -> tuple[Any, bytes | None]:
    """Return the row of the tool call at a path, None if there is none, and its content.

    That is read in the same hop if it has at most `max_bytes`; else None is in its place.
    """
    project_id, session_id, place = (
        parameters[name] for name in ("project", "session", "sequence")
    )
    if not (_SEQUENCE.fullmatch(place) and int(place) <= _MAX_SEQUENCE):
        return None, None
    key = (project_id, session_id, int(place))

    def wanted(row: Any) -> Key | None:
        if row.tool_content_hash is None or row.tool_content_size > max_bytes:
            return None
        return project_id, row.tool_content_hash

    # A content that is deleted in between is missing, and in no other state.
    async with database.read(single=True) as connection:
        row, data = await message_content.by_key(connection, key, _CALL_COLUMNS, wanted)
    return (row, data) if row is not None and row.tool_call_id is not None else (None, None)


async def _wrapped(
    database: Database, project_id: str, digest: bytes | None, size: int, start: int, stop: int
) -> AsyncIterator[bytes]:
    """Yield bytes [start, stop) of the object that the route answers."""
    first, last = max(start - len(_BEFORE), 0), min(stop - len(_BEFORE), size)
    before = _BEFORE[start:stop]
    if digest is None:
        before += _NONE[first : max(last, 0)]
    elif first < last:
        async for piece in content.stream(database, project_id, digest, first, last):
            # Not before there is a piece: an error that comes first still has a status.
            yield before + piece
            before = b""
    after = len(_BEFORE) + size
    yield before + _AFTER[max(start - after, 0) : max(stop - after, 0)]


def _blob(
    name: str, row: Any, read: ReadRange, read_zstd: ReadWhole | None = None
) -> Representation:
    media_type = row.media_type.partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(media_type):
        media_type = "application/octet-stream"
    headers = dict(_IMMUTABLE)
    if media_type not in INLINE_TYPES:
        headers["content-disposition"] = "attachment"
    return Representation(row.size, f'"{name}"', media_type, headers, read, read_zstd)
