"""Sessions: their rows, locked while their messages are written, and their families."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import (
    Connection,
    RowMapping,
    and_,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)

from toolfold.store.recording.rows import Values
from toolfold.store.tables import message_table, session_table

_column = session_table.c

# Made once: they run with every batch.
_LOCK = (
    select(session_table)
    .where(
        _column.project_id == bindparam("in_project"),
        _column.id.in_(bindparam("ids", expanding=True)),
    )
    # In one order everywhere: two transactions then wait for each other in one direction only.
    .order_by(_column.id)
    .with_for_update()
)
_ADD = insert(session_table).returning(_column.incarnation)
_CHANGE = update(session_table).where(
    _column.project_id == bindparam("of_project"), _column.id == bindparam("of_session")
)


def lock(connection: Connection, project_id: str, ids: Collection[str]) -> dict[str, RowMapping]:
    """Return the rows of the sessions that exist, by id, and keep others from writing them."""
    given = {"in_project": project_id, "ids": sorted(ids)}
    return {row["id"]: row for row in connection.execute(_LOCK, given).mappings()}


def id_by_source(
    connection: Connection, project_id: str, source_format: str, source_session: str
) -> str | None:
    """Return the id of the session that a format's agent knows by its own id."""
    statement = select(_column.id).where(
        _column.project_id == project_id,
        _column.source_format == source_format,
        _column.source_session == source_session,
    )
    return connection.execute(statement).scalar_one_or_none()


def add(connection: Connection, row: Values) -> str:
    """Insert a session and return its incarnation."""
    incarnation: str = connection.execute(_ADD, row).scalar_one()
    return incarnation


def change(connection: Connection, project_id: str, session_id: str, values: Values) -> None:
    """Give some columns of a session new values."""
    connection.execute(_CHANGE, {**values, "of_project": project_id, "of_session": session_id})


def advance(connection: Connection, project_id: str, ids: Collection[str]) -> dict[str, int]:
    """Let the `head_revision` of sessions grow by one, and return it by id."""
    if not ids:
        return {}
    statement = (
        update(session_table)
        .where(_column.project_id == project_id, _column.id.in_(sorted(ids)))
        .values(head_revision=_column.head_revision + 1)
        .returning(_column.id, _column.head_revision)
    )
    return {row.id: row.head_revision for row in connection.execute(statement)}


def caller(
    connection: Connection, project_id: str, source_format: str, source_session: str
) -> RowMapping | None:
    """Return the call that says it started this session; the first if several say so.

    `session_id` and `source_session` are those of the session that the call is in.
    """
    message = message_table.c
    statement = (
        select(message.session_id, _column.source_session, message.tool_call_id)
        .join(
            session_table,
            and_(_column.project_id == message.project_id, _column.id == message.session_id),
        )
        .where(
            message.project_id == project_id,
            message.child_source_session == source_session,
            _column.source_format == source_format,
        )
        .order_by(message.session_id, message.sequence)
        .limit(1)
    )
    return connection.execute(statement).mappings().one_or_none()


def ancestors(connection: Connection, project_id: str, session_id: str) -> set[str]:
    """Return the ids of a session's parent, its parent's parent and so on."""
    family = (
        select(_column.parent_id.label("id"))
        .where(_column.project_id == project_id, _column.id == session_id)
        .cte("family", recursive=True)
    )
    above = select(_column.parent_id).where(
        _column.project_id == project_id, _column.id == family.c.id
    )
    # A union leaves out what it has, so that it ends even if sessions were their own ancestors.
    statement = select(family.union(above).c.id)
    return set(connection.execute(statement).scalars()) - {None}


def descendants(connection: Connection, project_id: str, session_id: str) -> list[str]:
    """Return the ids of a session's children, their children and so on, without its own."""
    family = (
        select(_column.id)
        .where(_column.project_id == project_id, _column.parent_id == session_id)
        .cte("family", recursive=True)
    )
    below = select(_column.id).where(
        _column.project_id == project_id, _column.parent_id == family.c.id
    )
    found = set(connection.execute(select(family.union(below).c.id)).scalars())
    return sorted(found - {session_id})


def all_of(connection: Connection, project_id: str) -> list[str]:
    """Return the ids of a project's sessions."""
    statement = select(_column.id).where(_column.project_id == project_id).order_by(_column.id)
    return list(connection.execute(statement).scalars())


def waiting(connection: Connection, parent: Mapping[str, Any]) -> list[str]:
    """Return the ids of the sessions that name this one as their parent and came before it."""
    statement = select(_column.id).where(
        _column.project_id == parent["project_id"],
        _column.source_format == parent["source_format"],
        _column.parent_source_session == parent["source_session"],
        _column.parent_id.is_(None),
    )
    return list(connection.execute(statement.order_by(_column.id)).scalars())


def awaits_caller(connection: Connection, parent: Mapping[str, Any], child: str) -> str | None:
    """Return the id of the session `child` (the agent's own id) if it may be this one's child.

    It may not if it has or names another parent, and need not if it knows the call already.
    """
    own_id = parent["source_session"]
    statement = select(_column.id).where(
        _column.project_id == parent["project_id"],
        _column.source_format == parent["source_format"],
        _column.source_session == child,
        func.coalesce(_column.parent_id, parent["id"]) == parent["id"],
        func.coalesce(_column.parent_source_session, own_id) == own_id,
        or_(_column.parent_id.is_(None), _column.parent_tool_call_id.is_(None)),
    )
    return connection.execute(statement).scalar_one_or_none()
