"""Checks of the heavy bytes themselves."""

import base64
import hashlib
from collections.abc import AsyncIterator
from typing import Any

from sqlalchemy import Connection, Row, Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold import stored_json
from toolfold.errors import CorruptContentError
from toolfold.store import content
from toolfold.store import images as images_of
from toolfold.store.chunks import Key
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
    """Yield `content-unused`: one that no message refers to, and no content begins with.

    Unless it has been replaced: then it is deleted in time.
    """
    column, reference, above = (
        content_table.c,
        content_reference_table.c,
        content_table.alias("above").c,
    )
    used = select(reference.hash).where(
        reference.project_id == column.project_id, reference.hash == column.hash
    )
    rested_on = select(above.hash).where(
        above.project_id == column.project_id, above.base_hash == column.hash
    )
    statement = select(column.hash, column.size).where(
        column.project_id == project_id,
        column.replaced_at.is_(None),
        ~used.exists(),
        ~rested_on.exists(),
    )
    async for row in await connection.stream(statement.order_by(column.hash)):
        detail = f"nothing refers to its {row.size} bytes"
        yield Finding("content-unused", content_place(row.hash), detail)


async def images(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `content-image`: an image that is not where it is said to be, or is not said to be."""
    async for finding in _misplaced_images(connection, project_id):
        yield finding
    async for finding in _missing_images(connection, project_id):
        yield finding


async def _misplaced_images(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    column = content_image_table.c
    statement: Select[Any] = select(content_image_table).where(column.project_id == project_id)
    ordered = statement.order_by(column.content_hash, column.content_offset)
    for row in (await connection.execute(ordered)).all():
        if not await _is_image(connection, project_id, row):
            place = content_place(row.content_hash)
            detail = f"no image sha256:{row.hash.hex()} at byte {row.content_offset}"
            yield Finding("content-image", place, detail)


async def _missing_images(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield the images in the contents of tool calls that no row leads to."""
    reference, row = content_reference_table.c, content_image_table.c
    arrays = (
        select(reference.hash)
        .where(reference.project_id == project_id, reference.part == "tool_content")
        .distinct()
        .order_by(reference.hash)
    )
    for digest in (await connection.execute(arrays)).scalars().all():
        known = select(row.hash).where(row.project_id == project_id, row.content_hash == digest)
        found = await _images_in(connection, (project_id, digest))
        if found:
            found -= set((await connection.execute(known)).scalars())
        for image in sorted(found):
            detail = f"nothing leads to its image sha256:{image.hex()}"
            yield Finding("content-image", content_place(digest), detail)


async def _images_in(connection: AsyncConnection, key: Key) -> set[bytes]:
    """Return the hashes of the images in a content; none of one that is absent or damaged."""
    data = (await content.by_hashes(connection, {key})).get(key)
    if not isinstance(data, bytes) or not any(mark in data for mark in images_of.MARKS):
        return set()
    try:
        value = stored_json.decode(data)
    except ValueError:
        return set()
    return {image.hash for image in images_of.find(value, data)}


async def _is_image(connection: AsyncConnection, project_id: str, row: Row[Any]) -> bool:
    place = (row.content_hash, row.content_offset, row.content_length)
    try:
        data = base64.b64decode(await content.slice(connection, project_id, *place), validate=True)
    except (CorruptContentError, ValueError):
        return False
    return (len(data), hashlib.sha256(data).digest()) == (row.size, row.hash)
