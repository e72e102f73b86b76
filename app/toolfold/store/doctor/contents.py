"""Checks of the heavy bytes themselves."""

import base64
import hashlib
from collections.abc import AsyncIterator
from typing import Any

from sqlalchemy import Connection, Row, Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.errors import CorruptContentError
from toolfold.store import content
from toolfold.store.content import Verdict
from toolfold.store.doctor.finding import Finding, content_place
from toolfold.store.tables import (
    content_image_table,
    content_reference_table,
    content_table,
)


async def damage(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `content-damaged`: bytes, chunks or sizes that are not those that were stored."""

    def damaged(synchronous: Connection) -> list[Verdict]:
        verdicts = content.verify_all(synchronous, project_id)
        return [verdict for verdict in verdicts if verdict.problem]

    for verdict in await connection.run_sync(damaged):
        yield Finding("content-damaged", content_place(verdict.digest), str(verdict.problem))


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
