"""Sources: how far a file was imported, and the records that were kept raw."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Column, Connection, and_, delete, or_, select, union, update

from toolfold.store.recording.rows import Values, insert_missing, insert_or_update, portions
from toolfold.store.tables import record_table, source_table, told_session_table

AT_END = 0
"""The line of a record that only the file's end told."""


def advance(connection: Connection, row: Values) -> None:
    """Say how far a file has been imported; `row` has every column of `source`."""
    insert_or_update(connection, source_table, row)


def progress(connection: Connection, project_id: str, source_id: str) -> tuple[int, bytes]:
    """Return how far a source has been read and the digest of that; 0 and none if it is new."""
    column = source_table.c
    statement = select(column.line, column.digest).where(
        column.project_id == project_id, column.id == source_id
    )
    row = connection.execute(statement).one_or_none()
    return (0, b"") if row is None else (row.line, row.digest)


def tell_of(
    connection: Connection, project_id: str, source_id: str, session_ids: Collection[str]
) -> None:
    """Say that a source, which is there, told of these sessions."""
    _tell_of(connection, project_id, source_id, session_ids, is_deleted=False)


def leave_out(
    connection: Connection, project_id: str, source_id: str, session_ids: Collection[str]
) -> None:
    """Say that a source, which is there, has sessions that are as little wanted as deleted ones."""
    _tell_of(connection, project_id, source_id, session_ids, is_deleted=True)


def left_out(connection: Connection, project_id: str, source_id: str) -> set[str]:
    """Return the ids of the sessions that a live source told of and that were deleted."""
    told = told_session_table.c
    statement = select(told.session_id).where(
        told.project_id == project_id, told.source_id == source_id, told.is_deleted
    )
    return set(connection.execute(statement).scalars())


def _tell_of(
    connection: Connection,
    project_id: str,
    source_id: str,
    session_ids: Collection[str],
    *,
    is_deleted: bool,
) -> None:
    rows = [
        {
            "project_id": project_id,
            "source_id": source_id,
            "session_id": session_id,
            "is_deleted": is_deleted,
        }
        for session_id in sorted(session_ids)
    ]
    insert_missing(connection, told_session_table, rows)


def forget_sessions(connection: Connection, project_id: str, session_ids: Sequence[str]) -> None:
    """Let the files that told of these sessions be read anew; there are as many as fit a statement.

    A source that told of no other session goes, and its raw records with it. Of another one the
    records stay, as they may be the other sessions'. One that is live stays, and knows which of its
    sessions are deleted.
    """
    source, told = source_table.c, told_session_table.c
    theirs = union(
        select(told.source_id).where(
            told.project_id == project_id, told.session_id.in_(session_ids)
        ),
        select(source.id).where(
            source.project_id == project_id, source.session_id.in_(session_ids)
        ),
    )
    source_ids = list(connection.execute(theirs).scalars())
    of_these = and_(told.project_id == project_id, told.session_id.in_(session_ids))
    in_project = source.project_id == project_id
    for portion in portions(source_ids):
        is_live = select(source.id).where(in_project, source.id.in_(portion), source.is_live)
        live = set(connection.execute(is_live).scalars())
        connection.execute(
            update(told_session_table)
            .where(of_these, told.source_id.in_(sorted(live)))
            .values(is_deleted=True)
        )
        connection.execute(
            delete(told_session_table).where(
                of_these, told.source_id.in_(sorted(set(portion) - live))
            )
        )
        others = select(told.source_id).where(
            told.project_id == project_id, told.source_id.in_(portion), ~told.is_deleted
        )
        shared = set(connection.execute(others.distinct()).scalars())
        _delete(connection, project_id, record_table.c.source_id, set(portion) - shared)
        gone = set(portion) - shared - live
        _delete(connection, project_id, told.source_id, gone)
        _delete(connection, project_id, source.id, gone)
        _begin_again(connection, project_id, shared - live)


def _delete(
    connection: Connection, project_id: str, column: Column[Any], ids: Collection[str]
) -> None:
    """Delete the rows of a project that have one of these ids in a column."""
    table = column.table
    connection.execute(
        delete(table).where(table.c.project_id == project_id, column.in_(sorted(ids)))
    )


def _begin_again(connection: Connection, project_id: str, source_ids: Collection[str]) -> None:
    """Let nothing of sources have been read; their records go when their files are read again."""
    statement = update(source_table).where(
        source_table.c.project_id == project_id, source_table.c.id.in_(sorted(source_ids))
    )
    unread = {"size": 0, "digest": hashlib.sha256().digest(), "line": 0, "companions": None}
    connection.execute(statement.values(unread))


def keep(connection: Connection, rows: Sequence[Values]) -> None:
    """Keep records raw; `rows` have every column of `record`, and their source is there."""
    insert_missing(connection, record_table, rows)


def forget_after(connection: Connection, project_id: str, source_id: str, line: int) -> None:
    """Delete the raw records of the lines after `line`, which are about to be read again."""
    column = record_table.c
    connection.execute(
        delete(record_table).where(
            column.project_id == project_id,
            column.source_id == source_id,
            or_(column.line > line, column.line == AT_END),
        )
    )
