"""What the store's queries have in common: the columns asked for, and rows by many keys."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    func,
    literal,
    select,
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.base import ReadOnlyColumnCollection

Columns = Mapping[str, ColumnElement[Any]] | ReadOnlyColumnCollection[str, Column[Any]]
"""Columns by name: a table's, or a choice of a module's own."""


def pick(
    columns: Columns, names: Sequence[str], always: Sequence[str] = ()
) -> list[ColumnElement[Any]]:
    """Return the columns of these names in this order, then those of `always` not among them."""
    return [columns[name] for name in [*names, *(name for name in always if name not in names)]]


def is_key(columns: Sequence[ColumnElement[Any]]) -> ColumnElement[bool]:
    """Return the condition of the row under one key, whose parameters are named as `columns`."""
    return and_(*(column == bindparam(column.key, type_=column.type) for column in columns))


def one_of(
    connection: AsyncConnection | Connection,
    columns: Sequence[ColumnElement[Any]],
    keys: Collection[tuple[Any, ...]],
) -> ColumnElement[bool]:
    """Return the condition of the rows whose `columns` are one of `keys`, found by index.

    PostgreSQL plans a list of a thousand pairs thirty times slower than arrays of their halves.
    """
    if connection.dialect.name == "sqlite":
        return tuple_(*columns).in_(list(keys))
    arrays = [
        literal(list(values), ARRAY(column.type))
        for column, values in zip(columns, zip(*keys, strict=True), strict=True)
    ]
    names = [f"key_{position}" for position in range(len(columns))]
    wanted = func.unnest(*arrays).table_valued(*names).render_derived()
    return tuple_(*columns).in_(select(*wanted.c))
