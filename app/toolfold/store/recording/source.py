"""Sources: how far a file was imported, and the records that were kept raw."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, or_, select

from toolfold.store.recording.rows import Values, insert_missing, insert_or_update
from toolfold.store.tables import record_table, source_table

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
