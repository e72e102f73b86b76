"""Keyset pages: a part of an ordered selection, found by key and never by counting rows.

The terms are Relay's. `after` and `before` are keys of the ordering's columns; both bound the
page, exclusively. Rows come in the connection's order whichever end they are taken from.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Select,
    Text,
    bindparam,
    cast,
    false,
    select,
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.cursor import Key
from toolfold.store.fetching import MakeRows, Query, Reading, run

Parameters = Mapping[str, Any]
"""The values of a selection's own `bindparam`s, by name."""

_Place = tuple[BindParameter[Any], ...]
"""A key in a statement: a parameter for each of its values."""

_LARGEST_INTEGER = 2**63 - 1
_NONE: Parameters = MappingProxyType({})

# To make a statement takes longer than to read fifty rows with it, so a selection that is used
# again is asked with the same statements.
_statements: WeakKeyDictionary[Select[Any], dict[tuple[Any, ...], Select[Any]]] = (
    WeakKeyDictionary()
)


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

    @property
    def is_single(self) -> bool:
        """Whether the page takes one statement at most."""
        return not self.with_page_info or (self.after is None and self.before is None)

    def __post_init__(self) -> None:
        if (self.first is None) == (self.last is None):
            raise ValueError("A page is of the first rows or of the last rows.")


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in the connection's order, and whether the selection has more on either side.

    Rows are named tuples, unless others were to be made. Both sides are false if the request did
    not ask for page info.
    """

    rows: Sequence[Any]
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

    def after(self, place: _Place) -> ColumnElement[bool]:
        """Return the condition of the rows after `place`."""
        return self._compare(place, operator.lt if self.descending else operator.gt)

    def from_(self, place: _Place) -> ColumnElement[bool]:
        """Return the condition of the rows at `place` and after it."""
        return self._compare(place, operator.le if self.descending else operator.ge)

    def _compare(
        self, place: _Place, compare: Callable[[Any, Any], ColumnElement[bool]]
    ) -> ColumnElement[bool]:
        if len(self.columns) == 1:
            return compare(self.columns[0], place[0])
        return compare(tuple_(*self.columns), tuple_(*place))


async def read(
    connection: AsyncConnection,
    selection: Select[Any],
    ordering: Ordering,
    request: PageRequest,
    parameters: Parameters = _NONE,
    make_rows: MakeRows | None = None,
) -> Page:
    """Read one page of `selection`, which has no order or limit of its own."""
    return await run(connection, reading(selection, ordering, request, parameters, make_rows))


def reading(
    selection: Select[Any],
    ordering: Ordering,
    request: PageRequest,
    parameters: Parameters = _NONE,
    make_rows: MakeRows | None = None,
) -> Reading[Page]:
    """As `read`, for what is read together with the page."""
    given = (parameters, make_rows)
    if request.last is not None:
        turned = ordering.turned()
        part = _Part(selection, turned, request.last, request.before, request.after, *given)
        rows, behind, ahead = yield from part.read(with_page_info=request.with_page_info)
        return Page(rows[::-1], has_next=behind, has_previous=ahead)
    size = request.first or 0
    part = _Part(selection, ordering, size, request.after, request.before, *given)
    rows, behind, ahead = yield from part.read(with_page_info=request.with_page_info)
    return Page(rows, has_next=ahead, has_previous=behind)


@dataclass(frozen=True, slots=True)
class _Part:
    """A page seen from the end it is taken from: `size` rows from `start` on, before `end`."""

    selection: Select[Any]
    ordering: Ordering
    size: int
    start: Key | None
    end: Key | None
    parameters: Parameters
    make_rows: MakeRows | None

    def read(self, *, with_page_info: bool) -> Reading[tuple[Sequence[Any], bool, bool]]:
        """Return the rows, and whether there are others behind them and ahead of them."""
        if not with_page_info:
            return (yield from self._rows(self.size)), False, False
        rows = yield from self._rows(self.size + 1)
        more = len(rows) > self.size
        behind = self.start is not None
        ahead = self.end is not None and not more
        found = yield from self._exist(behind=behind, ahead=ahead)
        return rows[: self.size], found[0], more or found[1]

    def _rows(self, limit: int) -> Reading[Sequence[Any]]:
        if limit == 0:
            return []
        statement = self._statement(("rows",), self._make_rows)
        values = {**self._values(), "page_limit": limit}
        rows: Sequence[Any] = yield Query(statement, values, self.make_rows, is_page=True)
        return rows

    def _make_rows(self) -> Select[Any]:
        selection = self.selection
        if self.start is not None:
            selection = selection.where(self.ordering.after(_place("page_start", self.start)))
        if self.end is not None:
            selection = selection.where(self.ordering.turned().after(_place("page_end", self.end)))
        # SQLite would plan the statement anew for each value of a bare parameter.
        limit = cast(bindparam("page_limit", type_=BigInteger), BigInteger)
        return selection.order_by(*self.ordering.terms()).limit(limit)

    def _exist(self, *, behind: bool, ahead: bool) -> Reading[tuple[bool, bool]]:
        """Say whether there are rows behind the start, and at the end or ahead, as is asked."""
        if not behind and not ahead:
            return False, False
        statement = self._statement(
            ("sides", behind, ahead), lambda: self._make_sides(behind=behind, ahead=ahead)
        )
        ((is_behind, is_ahead),) = yield Query(statement, self._values())
        return bool(is_behind), bool(is_ahead)

    def _make_sides(self, *, behind: bool, ahead: bool) -> Select[Any]:
        conditions: list[ColumnElement[bool] | None] = [None, None]
        start = None if self.start is None else _place("page_start", self.start)
        if behind and start is not None:
            conditions[0] = self.ordering.turned().from_(start)
        if ahead and self.end is not None:
            # An end before the start leaves no rows; what is ahead is then ahead of the start.
            from_end = self.ordering.from_(_place("page_end", self.end))
            conditions[1] = from_end if start is None else from_end & self.ordering.after(start)
        columns = (
            false() if condition is None else self.selection.where(condition).exists()
            for condition in conditions
        )
        names = ("behind", "ahead")
        sides: Any = [one.label(name) for one, name in zip(columns, names, strict=True)]
        statement: Select[Any] = select(*sides)
        return statement

    def _statement(self, kind: tuple[Any, ...], make: Callable[[], Select[Any]]) -> Select[Any]:
        """Return the statement of this kind for parts of this shape; its values are `_values`."""
        shape = (*kind, self.ordering, _types(self.start), _types(self.end))
        statements = _statements.setdefault(self.selection, {})
        if shape not in statements:
            statements[shape] = make()
        return statements[shape]

    def _values(self) -> dict[str, Any]:
        return {
            **self.parameters,
            **_named("page_start", self.start),
            **_named("page_end", self.end),
        }


def _types(key: Key | None) -> tuple[type, ...] | None:
    return None if key is None else tuple(type(value) for value in key)


def _place(name: str, key: Key) -> _Place:
    """Return a key's values as parameters of their own types, not of the columns'.

    A cursor may hold any integer, also one that no column does; both databases take 64 bits.
    """
    return tuple(
        bindparam(f"{name}_{position}", type_=Text() if isinstance(value, str) else BigInteger())
        for position, value in enumerate(key)
    )


def _named(name: str, key: Key | None) -> dict[str, Any]:
    return {f"{name}_{position}": _bounded(value) for position, value in enumerate(key or ())}


def _bounded(value: str | int) -> str | int:
    if isinstance(value, str):
        return value
    return max(-_LARGEST_INTEGER, min(value, _LARGEST_INTEGER))
