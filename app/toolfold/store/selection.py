"""What the store's queries have in common: the columns asked for, and rows by many keys."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, tuple_

Key = tuple[Any, ...]


def pick(
    columns: Mapping[str, ColumnElement[Any]], names: Sequence[str], always: Sequence[str] = ()
) -> list[ColumnElement[Any]]:
    """Return the columns of these names in this order, then those of `always` not among them."""
    return [columns[name] for name in [*names, *(name for name in always if name not in names)]]


def one_of(columns: Sequence[ColumnElement[Any]], keys: Collection[Key]) -> ColumnElement[bool]:
    """Return the condition of the rows whose `columns` are one of `keys`."""
    return tuple_(*columns).in_(list(keys))
