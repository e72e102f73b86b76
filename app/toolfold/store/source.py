"""Sources: the files that were imported, and how far."""

from collections.abc import AsyncIterator
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.tables import record_table, source_table

_column = source_table.c
_RECORDS_AT_ONCE = 100


async def by_id(connection: AsyncConnection, project_id: str, source_id: str) -> Row[Any] | None:
    """Return every column of a source, None if there is none."""
    statement = select(source_table).where(
        _column.project_id == project_id, _column.id == source_id
    )
    return (await connection.execute(statement)).one_or_none()


async def records(
    connection: AsyncConnection, project_id: str, source_id: str
) -> AsyncIterator[Row[int, bytes]]:
    """Yield `line` and `raw` of a source's records in their order, few at a time."""
    column = record_table.c
    after = -1
    while True:
        statement = select(column.line, column.raw).where(
            column.project_id == project_id, column.source_id == source_id, column.line > after
        )
        ordered = statement.order_by(column.line, column.position).limit(_RECORDS_AT_ONCE)
        rows = (await connection.execute(ordered)).all()
        for row in rows:
            yield row
        if len(rows) < _RECORDS_AT_ONCE:
            return
        after = rows[-1].line


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
