"""Sessions: pages in any order and filter, rows by key, and the ways in which others name them.

A session's key is (project id, session id). `project_ids` are the projects that may be read;
None is all of them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Row, Select, false, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store import page as pages
from toolfold.store.fetching import Query, Reading, fetch, run
from toolfold.store.page import Ordering, Page, PageRequest
from toolfold.store.selection import is_key, one_of, pick
from toolfold.store.tables import session_table

T = TypeVar("T")

Key = tuple[str, str]
"""(project id, session id)."""

ToolCallKey = tuple[str, str, str]
"""(project id, session id of the parent, tool call id)."""

COLUMNS = tuple(session_table.columns.keys())
KEY_COLUMNS = ("project_id", "id")
ORDER_FIELDS = ("created_at", "updated_at", "content_size", "message_count")

_PARENT_COLUMNS = ("parent_id", "parent_source_session")

NAMED_LIMIT = 10
"""The most sessions that an ambiguous name is answered with."""


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """An order of sessions; those with an equal value of `field` follow their keys."""

    field: str = "updated_at"
    descending: bool = True

    def __post_init__(self) -> None:
        if self.field not in ORDER_FIELDS:
            raise ValueError(f"Sessions are not ordered by {self.field}.")

    @property
    def columns(self) -> tuple[str, str, str]:
        """The columns whose values are a session's place in a page."""
        return (self.field, *KEY_COLUMNS)


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions are meant; None does not restrict, and an empty list meets none.

    `status` holds lower-case statuses, `updated_after` a time as it is stored. Without
    `include_children`, only sessions that no other session started are meant; a child that
    waits for its parent is one too. `parent` restricts to the children of that session.
    """

    status: Collection[str] | None = None
    agent: str | None = None
    updated_after: str | None = None
    title_contains: str | None = None
    include_children: bool = False
    parent: Key | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions that a session meets."""
        table = session_table.c
        conditions: list[ColumnElement[bool]] = []
        if self.status is not None:
            conditions.append(table.status.in_(list(self.status)))
        if self.agent is not None:
            conditions.append(table.agent == self.agent)
        if self.updated_after is not None:
            conditions.append(table.updated_at > self.updated_after)
        if self.title_contains is not None:
            # SQLite's LIKE would end its pattern at a NUL, which no title has.
            meets_none = "\0" in self.title_contains
            contains = table.title.icontains(self.title_contains, autoescape=True)
            conditions.append(false() if meets_none else contains)
        return [*conditions, *self._parentage()]

    def _parentage(self) -> list[ColumnElement[bool]]:
        table = session_table.c
        if self.parent is not None:
            return [table.project_id == self.parent[0], table.parent_id == self.parent[1]]
        if self.include_children:
            return []
        return [table.parent_id.is_(None), table.parent_source_session.is_(None)]


LATEST_FIRST = SessionOrder()
TOP_LEVEL = SessionFilter()


async def page(
    connection: AsyncConnection,
    project_ids: Collection[str] | None,
    request: PageRequest,
    *,
    order: SessionOrder = LATEST_FIRST,
    where: SessionFilter = TOP_LEVEL,
    columns: Sequence[str] = COLUMNS,
) -> Page:
    """Read a page; the request's keys are the values of `order.columns`."""
    selection = select(*pick(session_table.columns, columns))
    selection = selection.where(*_readable(project_ids), *where.conditions())
    ordering = Ordering(tuple(pick(session_table.columns, order.columns)), order.descending)
    return await pages.read(connection, selection, ordering, request)


async def count(
    connection: AsyncConnection,
    project_ids: Collection[str] | None,
    where: SessionFilter = TOP_LEVEL,
) -> int:
    """Count the sessions that meet the filter."""
    matching = (*_readable(project_ids), *where.conditions())
    statement = select(func.count()).select_from(session_table).where(*matching)
    return (await connection.execute(statement)).scalar_one()


async def by_keys(
    connection: AsyncConnection, keys: Collection[Key], columns: Sequence[str] = COLUMNS
) -> dict[Key, Any]:
    """Return the row of each key that exists; the key's columns come last if not asked for."""
    if not keys:
        return {}
    if len(keys) == 1:
        (key,) = keys
        given = dict(zip(KEY_COLUMNS, key, strict=True))
        rows = await fetch(connection, _by_key(tuple(columns)), given)
    else:
        selection = select(*pick(session_table.columns, columns, KEY_COLUMNS))
        key_columns = pick(session_table.columns, KEY_COLUMNS)
        rows = await fetch(connection, selection.where(one_of(connection, key_columns, keys)))
    return {(row.project_id, row.id): row for row in rows}


async def with_page(
    connection: AsyncConnection, key: Key, page: Reading[T]
) -> tuple[Any, T | None]:
    """Return a session's row, all its columns, and what a page of what is in it comes to.

    Both are None if there is no such session.
    """
    return await run(connection, _with_page(key, page))


def _with_page(key: Key, page: Reading[T]) -> Reading[tuple[Any, T | None]]:
    given = dict(zip(KEY_COLUMNS, key, strict=True))
    rows = yield Query(_by_key(COLUMNS), given)
    if not rows:
        return None, None
    return rows[0], (yield from page)


@lru_cache(maxsize=64)
def _by_key(columns: tuple[str, ...]) -> Select[Any]:
    """Return the selection of one session; to make it takes longer than to read with it."""
    selection = select(*pick(session_table.columns, columns, KEY_COLUMNS))
    return selection.where(is_key(pick(session_table.columns, KEY_COLUMNS)))


async def revisions(
    connection: AsyncConnection, project_ids: Collection[str] | None
) -> dict[Key, int]:
    """Return the `head_revision` of every session."""
    table = session_table.c
    selection = select(table.project_id, table.id, table.head_revision)
    rows = await connection.execute(selection.where(*_readable(project_ids)))
    return {(project_id, session_id): revision for project_id, session_id, revision in rows}


async def by_parent_tool_calls(
    connection: AsyncConnection, keys: Collection[ToolCallKey], columns: Sequence[str] = COLUMNS
) -> dict[ToolCallKey, Row[Any]]:
    """Return the session that each tool call started, the first where it started several.

    The key's columns come last if not asked for.
    """
    if not keys:
        return {}
    key_columns = ("project_id", "parent_id", "parent_tool_call_id")
    selection = select(*pick(session_table.columns, columns, key_columns))
    key = pick(session_table.columns, key_columns)
    # What the keys imply is the condition of the index, which SQLite does not see in them.
    has_parent = session_table.c.parent_id.is_not(None)
    selection = selection.where(has_parent, one_of(connection, key, keys))
    selection = selection.order_by(session_table.c.created_at.desc(), session_table.c.id.desc())
    rows = (await connection.execute(selection)).all()
    return {(row.project_id, row.parent_id, row.parent_tool_call_id): row for row in rows}


async def by_source(
    connection: AsyncConnection,
    project_ids: Collection[str] | None,
    source_session: str,
    columns: Sequence[str] = COLUMNS,
) -> Sequence[Row[Any]]:
    """Return the sessions that a person means by an id: Toolfold's own, or the agent's.

    Those whose id it is; if there are none, those whose id begins with it, at most
    `NAMED_LIMIT`; of these the one that no other started, if that is one. More than one is for
    the caller to tell apart. Those that no other started come first, of these the latest.
    """
    table = session_table.c
    ids = (table.id, table.source_session)
    exact = [column == source_session for column in ids]
    # Not LIKE, which is blind to case in SQLite.
    length = len(source_session)
    beginning = [func.substr(column, 1, length) == source_session for column in ids]
    for conditions in (exact, beginning):
        selection = select(*pick(session_table.columns, columns, _PARENT_COLUMNS))
        selection = selection.where(*_readable(project_ids), or_(*conditions))
        # Those that no other started come first: of these it depends which one is meant.
        started = or_(table.parent_id.is_not(None), table.parent_source_session.is_not(None))
        order = (started, table.updated_at.desc(), table.id.desc())
        rows = (await connection.execute(selection.order_by(*order).limit(NAMED_LIMIT))).all()
        if rows and conditions is exact:
            return rows
    # Agents name a sub-agent's session after the one that started it.
    own = [row for row in rows if row.parent_id is None and row.parent_source_session is None]
    return own if len(own) == 1 else rows


def _readable(project_ids: Collection[str] | None) -> list[ColumnElement[bool]]:
    if project_ids is None:
        return []
    if len(project_ids) == 1:
        # As an equality it leaves the order to the index.
        return [session_table.c.project_id == next(iter(project_ids))]
    return [session_table.c.project_id.in_(list(project_ids))]
