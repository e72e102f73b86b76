"""How the page of a session's messages is read: by itself, or ahead, together with the session.

A session's row and a page of what is in it are two statements, and to ask the store for both at
once costs little more than to ask for one. So a query for one session looks below it. If there is
one plain page of messages, it is read too, and kept for the field that shows it, under all that
such a page depends on. That field is charged as ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphql import (
    BooleanValueNode,
    FieldNode,
    IntValueNode,
    NullValueNode,
    StringValueNode,
    VariableNode,
)

from toolfold.errors import BadUserInputError, DatabaseError
from toolfold.schema import selection
from toolfold.schema.connection import Scope, item_nodes, page_asked, page_request
from toolfold.schema.context import Info
from toolfold.schema.global_id import SessionKey
from toolfold.schema.guard import Access, bulk_access
from toolfold.schema.message import MessageFilter, message_columns, message_scope
from toolfold.schema.rows import SessionRow, message_rows, session_row
from toolfold.store import message as message_store
from toolfold.store import session as session_store
from toolfold.store.fetching import MakeRows
from toolfold.store.page import Page, PageRequest

PageArguments = tuple[Any, Any, Any, Any]
"""The arguments of a page: `first`, `after`, `last`, `before`."""

_FIELD = "messages"
_ARGUMENTS = ("first", "after", "last", "before")


@dataclass(frozen=True, slots=True)
class MessagesReading:
    """How a connection's messages are read from the store."""

    session: SessionKey
    columns: tuple[str, ...]
    where: message_store.MessageFilter
    scope: Scope
    access: Access

    @classmethod
    def of(
        cls, info: Info, session: SessionKey, where: MessageFilter, *, compact: bool | None
    ) -> "MessagesReading":
        """Return how the connection of the field being resolved is read."""
        return cls(
            session,
            _columns(info),
            where.where(),
            message_scope(session, where),
            bulk_access(compact=compact, default=info.context.settings.compact_mode_default),
        )

    async def page(self, info: Info, request: PageRequest) -> Page:
        """Return a page."""
        async with info.context.database.read(single=request.is_single) as connection:
            return await message_store.page(connection, *self.session, request, **self._given())

    async def page_around(self, info: Info, around: message_store.Around) -> Page:
        """Return the page around a message."""
        async with info.context.database.read() as connection:
            return await message_store.page_around(
                connection, *self.session, around, **self._given()
            )

    async def count(self, info: Info) -> int:
        """Return how many messages there are."""
        async with info.context.database.read(single=True) as connection:
            return await message_store.count(connection, *self.session, self.where)

    async def with_session(self, info: Info, request: PageRequest) -> tuple[Any, Page | None]:
        """Return the session's row, and a page if there is one."""
        page = message_store.page_reading(*self.session, request, **self._given())
        async with info.context.database.read(single=True) as connection:
            row, found = await session_store.with_page(connection, self.session, page)
        info.context.loaders.sessions.prime(self.session, row)
        return row, found

    def _given(self) -> dict[str, Any]:
        make_rows: MakeRows = partial(
            message_rows,
            self.columns,
            access=self.access,
            scope=self.scope,
            known=self.session,
        )
        # The first columns are the session's key.
        columns = self.columns[len(self.session) :]
        return {"columns": columns, "where": self.where, "make_rows": make_rows}


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A page that may be read together with its session, and as how many rows it is charged."""

    reading: MessagesReading
    request: PageRequest
    rows: int
    place: tuple[Any, ...]


async def load_session(info: Info, key: SessionKey) -> SessionRow | None:
    """Return a session's row, None if there is none; reads its page of messages ahead."""
    try:
        ahead = _ahead(info, key)
        if ahead is not None:
            row, page = await ahead.reading.with_session(info, ahead.request)
            if page is not None:
                info.context.ahead[ahead.place] = ahead, page
            return session_row(row)
    except (BadUserInputError, DatabaseError):
        # The field that it is of meets it again, and tells.
        pass
    return session_row(await info.context.loaders.sessions.load(key))


async def load_page(
    info: Info,
    session: SessionKey,
    arguments: PageArguments,
    where: MessageFilter | None,
    *,
    compact: bool | None,
) -> tuple[MessagesReading, Page]:
    """Return the page that the field being resolved asks for, and how it was read.

    Raises:
        BadUserInputError: naming the argument that cannot be used.
        TooManyRowsError: if the page does not fit the operation.
    """
    nodes = selection.raw_info(info).field_nodes
    found = info.context.ahead.pop(_place(session, nodes, arguments, compact), None)
    if found is not None and where is None:
        ahead, page = found
        info.context.ledger.charge_rows(ahead.rows)
        return ahead.reading, page
    reading = MessagesReading.of(info, session, where or MessageFilter(), compact=compact)
    return reading, await reading.page(info, page_request(info, reading.scope, *arguments))


def _ahead(info: Info, key: SessionKey) -> _Ahead | None:
    """Return what may be read together with the only session that an operation asks for.

    Raises:
        BadUserInputError: if that cannot be used.
    """
    raw = selection.raw_info(info)
    nodes = selection.remembered(raw, raw.field_nodes, _Ahead, lambda: _only_page(raw))
    given = None if nodes is None else _plain_arguments(nodes[0], raw.variable_values)
    if nodes is None or given is None:
        return None
    compact = given.pop("compact", None)
    below: Info = type(info)(_raw_info=raw._replace(field_nodes=nodes), _field=info._field)  # noqa: SLF001 - as Strawberry makes its own.
    reading = MessagesReading.of(below, key, MessageFilter(), compact=compact)
    first, after, last, before = (given.get(name) for name in _ARGUMENTS)
    arguments: PageArguments = (first, after, last, before)
    request, rows = page_asked(below, reading.scope, *arguments)
    fits = info.context.ledger.rows_used + rows <= info.context.settings.max_rows
    if not fits or not request.is_single:
        return None
    return _Ahead(reading, request, rows, _place(key, nodes, arguments, compact))


def _only_page(raw: selection.RawInfo) -> list[FieldNode] | None:
    """Return the nodes of the page below the operation's only field; None if not one page."""
    root = raw.operation.selection_set.selections
    fields = selection.subfields(raw.field_nodes, raw).values()
    pages = [nodes for nodes in fields if nodes[0].name.value == _FIELD]
    is_only = len(root) == 1 and isinstance(root[0], FieldNode) and len(pages) == 1
    return pages[0] if is_only else None


def _columns(info: Info) -> tuple[str, ...]:
    """Return the columns of the items of the connection being resolved."""
    raw = selection.raw_info(info)
    return selection.remembered(
        raw,
        raw.field_nodes,
        message_columns,
        lambda: message_columns(info, item_nodes(info), "Message"),
    )


def _place(
    session: SessionKey, nodes: Sequence[FieldNode], arguments: PageArguments, *compact: bool | None
) -> tuple[Any, ...]:
    """Return all that it depends on which page the field at these nodes shows, and how."""
    return (session, *map(id, nodes), arguments, *compact)


def _plain_arguments(node: FieldNode, variables: Any) -> dict[str, Any] | None:
    """Return the arguments of a page that depends on these alone; None if on others."""
    given: dict[str, Any] = {}
    for argument in node.arguments or ():
        name, value = argument.name.value, argument.value
        if name not in _ARGUMENTS and name != "compact":
            return None
        match value:
            case VariableNode():
                given[name] = variables.get(value.name.value)
            case IntValueNode():
                given[name] = int(value.value)
            case StringValueNode() | BooleanValueNode():
                given[name] = value.value
            case NullValueNode():
                given[name] = None
            case _:
                return None
    return given
