"""Rows as they are written: inserted where they are missing, and looked for by many keys."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeVar

import orjson
from sqlalchemy import ARRAY, Connection, FromClause, Table, Text, func, literal
from sqlalchemy.dialects import postgresql, sqlite

Values = Mapping[str, Any]
"""A row to write, by column name."""

_MAX_PARAMETERS = 1_000
"""How many values one statement is given; both databases have a limit beyond 30,000."""

_T = TypeVar("_T", str, bytes)


def portions(values: Collection[_T]) -> Iterator[list[_T]]:
    """Yield the values in order, as many at a time as fit a statement."""
    in_order = sorted(values)
    for start in range(0, len(in_order), _MAX_PARAMETERS):
        yield in_order[start : start + _MAX_PARAMETERS]


def table_of(connection: Connection, values: list[str]) -> FromClause:
    """Return a table of one column, `value`, that holds these values in one parameter."""
    if connection.dialect.name == "sqlite":
        array = func.json_each(orjson.dumps(values).decode())
        return array.table_valued("value", name="wanted")
    array = func.unnest(literal(values, ARRAY(Text)))
    return array.table_valued("value", name="wanted").render_derived()


def insert_all(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert rows; every row has the columns of the first."""
    if rows:
        _insert_many(connection, _insert(connection, table), rows)


def insert_missing(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert the rows whose primary key is not there yet, and leave the others as they are."""
    if rows:
        _insert_many(connection, _insert(connection, table).on_conflict_do_nothing(), rows)


def insert_or_update(connection: Connection, table: Table, row: Values) -> None:
    """Insert a row, or give the one of its primary key these values."""
    statement = _insert(connection, table)
    key = [column.name for column in table.primary_key]
    changed = {name: statement.excluded[name] for name in row if name not in key}
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_=changed), row)


def _insert_many(
    connection: Connection, statement: postgresql.Insert | sqlite.Insert, rows: Sequence[Values]
) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(statement, rows)
        return
    # Core makes a mapping of each row before it makes a tuple, which takes as long as to insert
    # it. SQLite takes the values as they are.
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(rows[0]))
    names = compiled.positiontup or []
    values = itemgetter(*names) if len(names) > 1 else lambda row: (row[names[0]],)
    connection.exec_driver_sql(str(compiled), [*map(values, rows)])


def _insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)
