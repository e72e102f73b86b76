"""Sources: how far a file was imported, and the records that were kept raw."""

import hashlib
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, delete, or_, select, union, update

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
    rows = [
        {"project_id": project_id, "source_id": source_id, "session_id": session_id}
        for session_id in sorted(session_ids)
    ]
    insert_missing(connection, told_session_table, rows)


def forget_sessions(connection: Connection, project_id: str, session_ids: Sequence[str]) -> None:
    """Let the files that told of these sessions be read anew; there are as many as fit a statement.

    A source that told of no other session goes, and its raw records with it. Of another one the
    records stay, as they may be the other sessions'.
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
    connection.execute(
        delete(told_session_table).where(
            told.project_id == project_id, told.session_id.in_(session_ids)
        )
    )
    for portion in portions(source_ids):
        others = select(told.source_id).where(
            told.project_id == project_id, told.source_id.in_(portion)
        )
        shared = set(connection.execute(others.distinct()).scalars())
        _forget(connection, project_id, set(portion) - shared)
        _begin_again(connection, project_id, shared)


def _forget(connection: Connection, project_id: str, source_ids: Collection[str]) -> None:
    for table, column in (
        (record_table, record_table.c.source_id),
        (source_table, source_table.c.id),
    ):
        connection.execute(
            delete(table).where(table.c.project_id == project_id, column.in_(sorted(source_ids)))
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
