"""Projects: their rows, and everything that belongs to one removed."""

from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from toolfold.store.recording.rows import Values
from toolfold.store.tables import metadata, project_table

_column = project_table.c


def by_id(connection: Connection, project_id: str) -> RowMapping | None:
    """Return the project's row, None if there is none."""
    statement = select(project_table).where(_column.id == project_id)
    return connection.execute(statement).mappings().one_or_none()


def by_name(connection: Connection, name: str) -> RowMapping | None:
    """Return the row of the project of this name, None if there is none."""
    statement = select(project_table).where(_column.name == name)
    return connection.execute(statement).mappings().one_or_none()


def add(connection: Connection, row: Values) -> None:
    """Insert a project; `row` has every column."""
    connection.execute(insert(project_table), row)


def rename(connection: Connection, project_id: str, name: str) -> None:
    """Give a project another name, which no other has."""
    connection.execute(update(project_table).where(_column.id == project_id), {"name": name})


def remove(connection: Connection, project_id: str) -> None:
    """Delete a project and every row that belongs to it."""
    # What refers to a table comes after it in this order.
    for table in reversed(metadata.sorted_tables):
        column = _column.id if table is project_table else table.c.project_id
        connection.execute(delete(table).where(column == project_id))
