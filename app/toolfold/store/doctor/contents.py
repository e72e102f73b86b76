"""Checks of the heavy bytes themselves."""

import base64
import hashlib
from collections.abc import AsyncIterator
from typing import Any

from sqlalchemy import Row, Select, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.errors import CorruptContentError
from toolfold.store import content
from toolfold.store.doctor.finding import Finding, content_place
from toolfold.store.tables import (
    content_chunk_table,
    content_image_table,
    content_reference_table,
    content_table,
)


async def damage(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `content-damaged`: bytes that are not those stored, read chunk by chunk."""
    column = content_table.c
    statement = select(column.hash, column.size, column.chunk_size).where(
        column.project_id == project_id
    )
    for row in (await connection.execute(statement.order_by(column.hash))).all():
        detail = await _damage(connection, project_id, row)
        if detail:
            yield Finding("content-damaged", content_place(row.hash), detail)


async def _damage(connection: AsyncConnection, project_id: str, row: Any) -> str | None:
    whole = hashlib.sha256()
    try:
        for offset in range(0, row.size, row.chunk_size):
            whole.update(
                await content.slice(connection, project_id, row.hash, offset, row.chunk_size)
            )
    except CorruptContentError as error:
        return error.message
    return None if whole.digest() == row.hash else "its bytes have another hash"


async def chunks(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `content-chunks`: chunks that are not numbered 0, 1, 2 up to the content's size."""
    column, chunk = content_table.c, content_chunk_table.c
    same = and_(chunk.project_id == column.project_id, chunk.hash == column.hash)
    count = func.count(chunk.position)
    last = func.coalesce(func.max(chunk.position), -1)
    expected = (column.size + column.chunk_size - 1) // column.chunk_size
    statement = (
        select(column.hash, column.size, count.label("chunks"), last.label("last"))
        .select_from(content_table.outerjoin(content_chunk_table, same))
        .where(column.project_id == project_id)
        .group_by(column.project_id, column.hash, column.size, column.chunk_size)
        .having(or_(count != expected, last + 1 != count))
        .order_by(column.hash)
    )
    async for row in await connection.stream(statement):
        detail = f"{row.size} bytes are in {row.chunks} chunks, the last numbered {row.last}"
        yield Finding("content-chunks", content_place(row.hash), detail)


async def unused(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `content-unused`: a content that no message refers to."""
    column, reference = content_table.c, content_reference_table.c
    used = select(reference.hash).where(
        reference.project_id == column.project_id, reference.hash == column.hash
    )
    statement = select(column.hash, column.size).where(
        column.project_id == project_id, ~used.exists()
    )
    async for row in await connection.stream(statement.order_by(column.hash)):
        detail = f"no message refers to its {row.size} bytes"
        yield Finding("content-unused", content_place(row.hash), detail)


async def images(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `content-image`: an image whose base64 is not where the content is said to have it."""
    column = content_image_table.c
    statement: Select[Any] = select(content_image_table).where(column.project_id == project_id)
    ordered = statement.order_by(column.content_hash, column.content_offset)
    for row in (await connection.execute(ordered)).all():
        if not await _is_image(connection, project_id, row):
            place = content_place(row.content_hash)
            detail = f"no image sha256:{row.hash.hex()} at byte {row.content_offset}"
            yield Finding("content-image", place, detail)


async def _is_image(connection: AsyncConnection, project_id: str, row: Row[Any]) -> bool:
    place = (row.content_hash, row.content_offset, row.content_length)
    try:
        data = base64.b64decode(await content.slice(connection, project_id, *place), validate=True)
    except (CorruptContentError, ValueError):
        return False
    return (len(data), hashlib.sha256(data).digest()) == (row.size, row.hash)
