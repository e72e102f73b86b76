"""Keyset pages: a part of an ordered selection, found by key and never by counting rows.

The terms are Relay's. `after` and `before` are keys of the ordering's columns; both bound the
page, exclusively. Rows come in the connection's order whichever end they are taken from.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Row,
    Select,
    Text,
    false,
    literal,
    select,
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.cursor import Key

_LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """Which part of an ordered selection is asked for: its `first` rows or its `last` ones.

    Exactly one of the two is given. `with_page_info` asks whether there are rows on either
    side, which may cost a statement.
    """

    first: int | None = None
    last: int | None = None
    after: Key | None = None
    before: Key | None = None
    with_page_info: bool = False

    def __post_init__(self) -> None:
        if (self.first is None) == (self.last is None):
            raise ValueError("A page is of the first rows or of the last rows.")


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in the connection's order, and whether the selection has more on either side.

    Both are false if the request did not ask for page info.
    """

    rows: Sequence[Row[Any]]
    has_next: bool
    has_previous: bool


@dataclass(frozen=True, slots=True)
class Ordering:
    """Columns, together unique in the selection, that all rise or all fall."""

    columns: tuple[ColumnElement[Any], ...]
    descending: bool = False

    def turned(self) -> "Ordering":
        """Return the same order from its other end."""
        return Ordering(self.columns, not self.descending)

    def terms(self) -> list[ColumnElement[Any]]:
        """Return the terms of ORDER BY."""
        return [column.desc() if self.descending else column.asc() for column in self.columns]

    def after(self, key: Key) -> ColumnElement[bool]:
        """Return the condition of the rows after `key`."""
        return self._compare(key, operator.lt if self.descending else operator.gt)

    def from_(self, key: Key) -> ColumnElement[bool]:
        """Return the condition of the rows at `key` and after it."""
        return self._compare(key, operator.le if self.descending else operator.ge)

    def _compare(
        self, key: Key, compare: Callable[[Any, Any], ColumnElement[bool]]
    ) -> ColumnElement[bool]:
        values = [_bound(value) for value in key]
        if len(self.columns) == 1:
            return compare(self.columns[0], values[0])
        return compare(tuple_(*self.columns), tuple_(*values))


def _bound(value: str | int) -> BindParameter[Any]:
    """Return a key's value as a parameter of its own type, not of the column's.

    A cursor may hold any integer, also one that no column does; both databases take 64 bits.
    """
    if isinstance(value, str):
        return literal(value, Text)
    return literal(max(-_LARGEST_INTEGER, min(value, _LARGEST_INTEGER)), BigInteger)


async def read(
    connection: AsyncConnection, selection: Select[Any], ordering: Ordering, request: PageRequest
) -> Page:
    """Read one page of `selection`, which has no order or limit of its own."""
    if request.last is not None:
        part = _Part(selection, ordering.turned(), request.last, request.before, request.after)
        rows, behind, ahead = await part.read(connection, with_page_info=request.with_page_info)
        return Page(rows[::-1], has_next=behind, has_previous=ahead)
    part = _Part(selection, ordering, request.first or 0, request.after, request.before)
    rows, behind, ahead = await part.read(connection, with_page_info=request.with_page_info)
    return Page(rows, has_next=ahead, has_previous=behind)


@dataclass(frozen=True, slots=True)
class _Part:
    """A page seen from the end it is taken from: `size` rows from `start` on, before `end`."""

    selection: Select[Any]
    ordering: Ordering
    size: int
    start: Key | None
    end: Key | None

    async def read(
        self, connection: AsyncConnection, *, with_page_info: bool
    ) -> tuple[Sequence[Row[Any]], bool, bool]:
        """Return the rows, and whether there are others behind them and ahead of them."""
        if not with_page_info:
            return await self._rows(connection, self.size), False, False
        rows = await self._rows(connection, self.size + 1)
        more = len(rows) > self.size
        behind = None if self.start is None else self.ordering.turned().from_(self.start)
        ahead = None if self.end is None or more else self._from_end(self.end)
        found = await self._exist(connection, behind, ahead)
        return rows[: self.size], found[0], more or found[1]

    async def _rows(self, connection: AsyncConnection, limit: int) -> Sequence[Row[Any]]:
        if limit == 0:
            return []
        selection = self.selection
        if self.start is not None:
            selection = selection.where(self.ordering.after(self.start))
        if self.end is not None:
            selection = selection.where(self.ordering.turned().after(self.end))
        selection = selection.order_by(*self.ordering.terms()).limit(limit)
        rows: Sequence[Row[Any]] = (await connection.execute(selection)).all()
        return rows

    def _from_end(self, end: Key) -> ColumnElement[bool]:
        # An end before the start leaves no rows; what is ahead is then ahead of the start.
        condition = self.ordering.from_(end)
        return condition if self.start is None else condition & self.ordering.after(self.start)

    async def _exist(
        self, connection: AsyncConnection, *conditions: ColumnElement[bool] | None
    ) -> list[bool]:
        """Say for each condition whether any row meets it, in one statement if need be."""
        if not any(condition is not None for condition in conditions):
            return [False for _ in conditions]
        columns = [
            false() if condition is None else self.selection.where(condition).exists()
            for condition in conditions
        ]
        return [bool(answer) for answer in (await connection.execute(select(*columns))).one()]
