"""Checks of what a session says of its messages, and of its parent."""

from collections.abc import AsyncIterator
from typing import Any

from sqlalchemy import Row, Select, and_, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.store.doctor.finding import Finding, session_place
from toolfold.store.message import sum_of
from toolfold.store.tables import message_table, session_table

_SUMS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
_COUNTED = {
    "message_count": func.count(message_table.c.sequence),
    "head_sequence": func.coalesce(func.max(message_table.c.sequence), 0),
    "tool_call_count": func.count(message_table.c.tool_call_id),
    "content_size": func.coalesce(func.sum(message_table.c.tool_content_size), 0),
    **{name: sum_of(message_table.c[name]) for name in _SUMS},
}
"""What a session's row repeats of its messages, and how that is counted."""


async def counts(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `session-counts`: a count or sum in the row that is not that of the messages."""
    counted = [value.label(f"counted_{name}") for name, value in _COUNTED.items()]
    stored = [session_table.c[name] for name in _COUNTED]
    rows = await connection.stream(_by_session(project_id, *stored, *counted))
    async for row in rows.mappings():
        for name in _COUNTED:
            is_stored, is_counted = row[name], row[f"counted_{name}"]
            if is_stored != is_counted:
                detail = f"{name} is {is_stored}, and its messages have {is_counted}"
                yield Finding("session-counts", session_place(row["id"]), detail)


async def sequences(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `session-sequence`: messages that are not numbered 1, 2, 3 without a gap."""
    columns = (
        func.count(message_table.c.sequence).label("messages"),
        func.min(message_table.c.sequence).label("first"),
        func.max(message_table.c.sequence).label("last"),
    )
    async for row in await connection.stream(_by_session(project_id, *columns)):
        if row.messages and (row.first, row.last) != (1, row.messages):
            detail = f"{row.messages} messages are numbered from {row.first} to {row.last}"
            yield Finding("session-sequence", session_place(row.id), detail)


async def revisions(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `session-revision`: a revision that two messages share, or that is yet to come."""
    columns = (
        session_table.c.head_revision,
        func.count(message_table.c.sequence).label("messages"),
        func.count(message_table.c.revision.distinct()).label("distinct_count"),
        func.min(message_table.c.revision).label("first"),
        func.max(message_table.c.revision).label("last"),
    )
    async for row in await connection.stream(_by_session(project_id, *columns)):
        detail = _revision_detail(row)
        if detail:
            yield Finding("session-revision", session_place(row.id), detail)


def _revision_detail(row: Row[Any]) -> str | None:
    if not row.messages:
        return None
    if row.distinct_count != row.messages:
        return f"{row.messages} messages have {row.distinct_count} different revisions"
    if row.first < 1 or row.last > row.head_revision:
        return (
            f"messages have revisions {row.first} to {row.last},"
            f" and the session's own is {row.head_revision}"
        )
    return None


def _by_session(project_id: str, *columns: Any) -> Select[Any]:
    """Select the id and `columns` of each session, joined with its messages and grouped."""
    same = and_(
        message_table.c.project_id == session_table.c.project_id,
        message_table.c.session_id == session_table.c.id,
    )
    return (
        select(session_table.c.id, *columns)
        .select_from(session_table.outerjoin(message_table, same))
        .where(session_table.c.project_id == project_id)
        .group_by(session_table.c.project_id, session_table.c.id)
        .order_by(session_table.c.id)
    )


async def parents(connection: AsyncConnection, project_id: str) -> AsyncIterator[Finding]:
    """Yield `session-parent`: a parent that is absent, is not joined though it is there, or loops.

    A parent that has not been imported yet is not a finding.
    """
    columns = session_table.c
    statement: Select[Any] = select(
        columns.id,
        columns.source_format,
        columns.source_session,
        columns.parent_id,
        columns.parent_source_session,
    ).where(columns.project_id == project_id)
    rows = (await connection.execute(statement.order_by(columns.id))).all()
    parent_of = {row.id: row.parent_id for row in rows}
    id_of = {(row.source_format, row.source_session): row.id for row in rows}
    for row in rows:
        detail = _parent_detail(row, parent_of, id_of)
        if detail:
            yield Finding("session-parent", session_place(row.id), detail)


def _parent_detail(
    row: Row[Any],
    parent_of: dict[str, str | None],
    id_of: dict[tuple[str | None, str | None], str],
) -> str | None:
    if row.parent_id is not None and row.parent_id not in parent_of:
        return f"its parent {row.parent_id} does not exist"
    if row.parent_source_session is not None:
        named = id_of.get((row.source_format, row.parent_source_session))
        if named != row.parent_id:
            return f"it names the parent {named}, and is joined to {row.parent_id}"
    if row.id in _ancestors(row.id, parent_of):
        return "it is its own ancestor"
    return None


def _ancestors(session_id: str, parent_of: dict[str, str | None]) -> set[str]:
    found: set[str] = set()
    parent = parent_of.get(session_id)
    while parent is not None and parent not in found:
        found.add(parent)
        parent = parent_of.get(parent)
    return found
