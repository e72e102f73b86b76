"""Relay connections over keyset pages: arguments, cursors, `PageInfo`."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import strawberry
from graphql import FieldNode
from strawberry.utils.str_converters import to_camel_case

from toolfold import cursor
from toolfold.errors import BadUserInputError
from toolfold.schema import selection
from toolfold.schema.context import Info
from toolfold.store.page import Page, PageRequest

DEFAULT_PAGE_SIZE = 50
MAX_FILTER_VALUES = 100
MAX_FILTER_CHARACTERS = 1_000


@strawberry.type(description="Where a page lies in its connection; true in both directions.")
class PageInfo:
    """Relay's `PageInfo`."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True, slots=True)
class Scope:
    """What a connection's cursors are of: a name, its order and filter, and its key's columns."""

    name: str
    types: tuple[type, ...]

    @classmethod
    def of(cls, *facts: Any, types: tuple[type, ...]) -> "Scope":
        """Return the scope that these facts (JSON values) make out."""
        digest = hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS))
        return cls(digest.hexdigest()[:12], types)

    def encode(self, key: Sequence[str | int]) -> str:
        """Return the cursor of the row under `key`."""
        return cursor.encode(self.name, key)

    def decode(self, text: str | None, *, argument: str) -> cursor.Key | None:
        """Return the key in a cursor argument, None if it was not given.

        Raises:
            BadUserInputError: naming the argument, for any other string.
        """
        if text is None:
            return None
        key = cursor.decode(self.name, text, types=self.types)
        if key is None:
            raise BadUserInputError(
                f"{argument} is not a cursor of this connection, order and filter.",
                argument=argument,
            )
        return key


NO_SCOPE = Scope("", ())
"""Of rows that are in no connection and so have no cursor."""


def given_filter(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a filter restricts, by field; null and `false` restrict nothing.

    Raises:
        BadUserInputError: if a list has more than `MAX_FILTER_VALUES`, or a text more than
            `MAX_FILTER_CHARACTERS`.
    """
    given = {name: value for name, value in values.items() if value not in (None, False)}
    for name, value in given.items():
        if isinstance(value, list) and len(value) > MAX_FILTER_VALUES:
            raise BadUserInputError(
                f"filter.{to_camel_case(name)} may list {MAX_FILTER_VALUES} values: "
                f"got {len(value)}.",
                argument="filter",
            )
        if isinstance(value, str) and len(value) > MAX_FILTER_CHARACTERS:
            raise BadUserInputError(
                f"filter.{to_camel_case(name)} may have {MAX_FILTER_CHARACTERS} characters: "
                f"got {len(value)}.",
                argument="filter",
            )
    return given


def page_size(info: Info, first: int | None, last: int | None) -> int:
    """Return the size of the page that is asked for, charged to the operation's rows.

    Raises:
        BadUserInputError: naming `first` or `last`.
        TooManyRowsError: if it does not fit the operation.
    """
    size = _size_asked(info, first, last)
    info.context.ledger.charge_rows(_rows_asked(info, size))
    return size


def _size_asked(info: Info, first: int | None, last: int | None) -> int:
    maximum = info.context.settings.max_page_size
    if first is not None and last is not None:
        raise BadUserInputError("first and last cannot be combined.", argument="last")
    for name, value in (("first", first), ("last", last)):
        if value is not None and not 0 <= value <= maximum:
            raise BadUserInputError(
                f"{name} must be between 0 and {maximum}: got {value}.", argument=name
            )
    size = first if first is not None else last
    return min(DEFAULT_PAGE_SIZE, maximum) if size is None else size


def _rows_asked(info: Info, size: int) -> int:
    """Return what a page is charged: an empty one as one row, and a count as another.

    They cost a statement each.
    """
    return max(1, size) + _asked(info).counts


def page_request(
    info: Info,
    scope: Scope,
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
) -> PageRequest:
    """Return what a connection's arguments ask of the store.

    Raises:
        BadUserInputError: naming the argument that cannot be used.
        TooManyRowsError: if the page does not fit the operation.
    """
    request, rows = page_asked(info, scope, first, after, last, before)
    info.context.ledger.charge_rows(rows)
    return request


def page_asked(
    info: Info,
    scope: Scope,
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
) -> tuple[PageRequest, int]:
    """Return what a connection's arguments ask of the store, and as how many rows it counts.

    Raises:
        BadUserInputError: naming the argument that cannot be used.
    """
    after_key = scope.decode(after, argument="after")
    before_key = scope.decode(before, argument="before")
    size = _size_asked(info, first, last)
    request = PageRequest(
        first=None if last is not None else size,
        after=after_key,
        last=None if last is None else size,
        before=before_key,
        with_page_info=wants_page_info(info),
    )
    return request, _rows_asked(info, size)


def wants_page_info(info: Info) -> bool:
    """Say whether the connection being resolved is asked for `pageInfo`."""
    return _asked(info).page_info


class _Asked(NamedTuple):
    """What a connection is asked for beside its items: `pageInfo`, and how often its count."""

    page_info: bool
    counts: int


def _asked(info: Info) -> _Asked:
    raw = selection.raw_info(info)

    def find_out() -> _Asked:
        fields = selection.subfields(raw.field_nodes, raw)
        counts = len(selection.named(fields, "totalCount"))
        return _Asked(bool(selection.named(fields, "pageInfo")), counts)

    return selection.remembered(raw, raw.field_nodes, _Asked, find_out)


def item_nodes(info: Info) -> list[FieldNode]:
    """Return the nodes that select the items of the connection being resolved."""
    raw = selection.raw_info(info)
    fields = selection.subfields(raw.field_nodes, raw)
    edges = selection.subfields(selection.named(fields, "edges"), raw)
    return [*selection.named(fields, "nodes"), *selection.named(edges, "node")]


@dataclass(frozen=True, slots=True)
class Edge:
    """An item and its cursor, for connections whose items are few."""

    cursor: str
    node: Any


class Connection:
    """A page of rows: what the connection types' fields show."""

    def __init__(
        self,
        page: Page,
        rows: Sequence[Any],
        cursor_of: Callable[[Any], str],
        count: Callable[[], Awaitable[int]],
    ) -> None:
        self.page = page
        self.rows = rows
        self.cursor_of = cursor_of
        self.count = count

    @property
    def edges(self) -> list[Edge]:
        """The rows with their cursors."""
        return [Edge(self.cursor_of(row), row) for row in self.rows]

    @property
    def page_info(self) -> PageInfo:
        """The page's place."""
        return PageInfo(
            has_next_page=self.page.has_next,
            has_previous_page=self.page.has_previous,
            start_cursor=self.cursor_of(self.rows[0]) if self.rows else None,
            end_cursor=self.cursor_of(self.rows[-1]) if self.rows else None,
        )
