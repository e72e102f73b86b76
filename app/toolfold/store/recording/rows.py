"""Rows as they are written: inserted where they are missing, and looked for by many keys."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

import orjson
from sqlalchemy import ARRAY, Connection, Dialect, FromClause, Table, Text, bindparam, func
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


def table_of(dialect: Dialect, parameter: str) -> FromClause:
    """Return a table of one column, `value`, that holds the values of one parameter.

    They are given as `values_of` has them.
    """
    if dialect.name == "sqlite":
        return func.json_each(bindparam(parameter)).table_valued("value", name="wanted")
    array = func.unnest(bindparam(parameter, type_=ARRAY(Text)))
    return array.table_valued("value", name="wanted").render_derived()


def values_of(dialect: Dialect, values: list[str]) -> str | list[str]:
    """Return the value of a `table_of`'s parameter."""
    return orjson.dumps(values).decode() if dialect.name == "sqlite" else values


def insert_all(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert rows; every row has the columns of the first."""
    _insert_many(connection, table, rows, is_missing=False)


def insert_missing(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    """Insert the rows whose primary key is not there yet, and leave the others as they are."""
    _insert_many(connection, table, rows, is_missing=True)


def insert_or_update(connection: Connection, table: Table, row: Values) -> None:
    """Insert a row, or give the one of its primary key these values."""
    statement = _insert(connection.dialect, table)
    key = [column.name for column in table.primary_key]
    changed = {name: statement.excluded[name] for name in row if name not in key}
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_=changed), row)


def _insert_many(
    connection: Connection, table: Table, rows: Sequence[Values], *, is_missing: bool
) -> None:
    if not rows:
        return
    if connection.dialect.name != "sqlite":
        statement = _insert(connection.dialect, table)
        connection.execute(statement.on_conflict_do_nothing() if is_missing else statement, rows)
        return
    # Core makes a mapping of each row before it makes a tuple, which takes as long as to insert
    # it. SQLite takes the values as they are.
    sql, values = _compiled_insert(connection.dialect, table, tuple(rows[0]), is_missing)
    connection.exec_driver_sql(sql, [*map(values, rows)])


@lru_cache(maxsize=128)
def _compiled_insert(
    dialect: Dialect,
    table: Table,
    columns: tuple[str, ...],
    is_missing: bool,  # noqa: FBT001 (lru_cache tells names from places)
) -> tuple[str, Callable[[Values], tuple[Any, ...]]]:
    """Return an INSERT as the driver takes it, and what makes its values of a row."""
    statement = _insert(dialect, table)
    if is_missing:
        statement = statement.on_conflict_do_nothing()
    compiled = statement.compile(dialect=dialect, column_keys=columns)
    names = compiled.positiontup or []
    values = itemgetter(*names) if len(names) > 1 else lambda row: (row[names[0]],)
    return str(compiled), values


def _insert(dialect: Dialect, table: Table) -> postgresql.Insert | sqlite.Insert:
    return sqlite.insert(table) if dialect.name == "sqlite" else postgresql.insert(table)
