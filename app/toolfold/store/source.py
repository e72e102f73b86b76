"""Sources: the files that were imported, and how far."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.tables import record_table, source_table

_column = source_table.c
_RECORDS_AT_ONCE = 100
_BY_IDS = select(source_table).where(
    _column.project_id == bindparam("project"), _column.id.in_(bindparam("ids", expanding=True))
)


async def by_id(connection: AsyncConnection, project_id: str, source_id: str) -> Row[Any] | None:
    """Return every column of a source, None if there is none."""
    return (await by_ids(connection, project_id, [source_id])).get(source_id)


async def by_ids(
    connection: AsyncConnection, project_id: str, source_ids: Sequence[str]
) -> dict[str, Row[Any]]:
    """Return every column of the sources that there are, by id; at most a few hundred."""
    given = {"project": project_id, "ids": source_ids}
    return {row.id: row for row in await connection.execute(_BY_IDS, given)}


async def records(
    connection: AsyncConnection, project_id: str, source_id: str, start: int, end: int
) -> Sequence[bytes]:
    """Return the first of a source's records, as they are kept, from line `start` to before `end`.

    There may be more; there is none left if none is returned.
    """
    column = record_table.c
    statement = select(column.raw).where(
        column.project_id == project_id,
        column.source_id == source_id,
        column.line >= start,
        column.line < end,
    )
    ordered = statement.order_by(column.line, column.position).limit(_RECORDS_AT_ONCE)
    return (await connection.execute(ordered)).scalars().all()


async def by_bytes(
    connection: AsyncConnection, project_id: str, digest: bytes, companions: bytes
) -> Row[Any] | None:
    """Return a source that was imported to its end and had these bytes and these companions."""
    statement = select(source_table).where(
        _column.project_id == project_id,
        _column.digest == digest,
        _column.companions == companions,
    )
    return (await connection.execute(statement.order_by(_column.id).limit(1))).first()
