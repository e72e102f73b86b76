"""Projects: what everything else belongs to."""

import uuid
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store import page as pages
from toolfold.store.page import Ordering, Page, PageRequest
from toolfold.store.selection import pick
from toolfold.store.tables import project_table

COLUMNS = tuple(project_table.columns.keys())
POSITION_COLUMNS = ("name", "id")
"""The columns whose values are a project's place in a page."""

DEFAULT_ID = "default"
"""The id of the project `default`, which every database has from the start."""

_ordering = Ordering(tuple(pick(project_table.columns, POSITION_COLUMNS)))


async def page(
    connection: AsyncConnection,
    request: PageRequest,
    *,
    project_ids: Collection[str] | None = None,
    columns: Sequence[str] = COLUMNS,
) -> Page:
    """Read a page in order of name, of these projects or of all; its keys are (name, id)."""
    selection = select(*pick(project_table.columns, columns)).where(*_readable(project_ids))
    return await pages.read(connection, selection, _ordering, request)


async def count(connection: AsyncConnection, project_ids: Collection[str] | None = None) -> int:
    """Count these projects, or all."""
    statement = select(func.count()).select_from(project_table).where(*_readable(project_ids))
    return (await connection.execute(statement)).scalar_one()


async def by_ids(
    connection: AsyncConnection, ids: Collection[str], columns: Sequence[str] = COLUMNS
) -> dict[str, Row[Any]]:
    """Return the row of each id that exists; the id comes last if it is not asked for."""
    selection = select(*pick(project_table.columns, columns, ("id",)))
    rows = (await connection.execute(selection.where(project_table.c.id.in_(list(ids))))).all()
    return {row.id: row for row in rows}


async def by_name(
    connection: AsyncConnection, name: str, columns: Sequence[str] = COLUMNS
) -> Row[Any] | None:
    """Return the row of the project of this name, None if there is none."""
    selection = select(*pick(project_table.columns, columns))
    return (await connection.execute(selection.where(project_table.c.name == name))).one_or_none()


def create(connection: Connection, name: str) -> str:
    """Make a project under a random id and return the id; that of the one there is, if any."""
    found = select(project_table.c.id).where(project_table.c.name == name)
    existing: str | None = connection.execute(found).scalar_one_or_none()
    if existing is not None:
        return existing
    project_id = str(uuid.uuid4())
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    connection.execute(insert(project_table).values(id=project_id, name=name, created_at=now))
    return project_id


def _readable(project_ids: Collection[str] | None) -> list[ColumnElement[bool]]:
    return [] if project_ids is None else [project_table.c.id.in_(list(project_ids))]
