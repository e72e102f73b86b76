"""Sessions, their order and filter, and the pages of their messages."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Optional

import strawberry

from toolfold.errors import BadUserInputError
from toolfold.execution.plain import Loading
from toolfold.feed.session import Place
from toolfold.schema import breakdown, fields, update_cursor
from toolfold.schema.connection import (
    Connection,
    PageInfo,
    Scope,
    page_request,
    page_size,
    wants_page_info,
)
from toolfold.schema.context import Info
from toolfold.schema.enums import SessionOrderField, SessionStatus
from toolfold.schema.message import (
    MessageConnection,
    MessageFilter,
    TokenUsage,
    message_cursor,
)
from toolfold.schema.node import Node
from toolfold.schema.rows import SessionRow, project_of_session, session_row
from toolfold.schema.scalars import BigInt, DateTime
from toolfold.schema.session_filter import (
    LATEST_FIRST,
    OLDEST_FIRST,
    SessionFilter,
    SessionOrder,
)
from toolfold.schema.session_messages import MessagesReading, load_page
from toolfold.store import message as message_store
from toolfold.store import session as session_store
from toolfold.store.page import PageRequest

if TYPE_CHECKING:
    from toolfold.schema.project import Project


@strawberry.type(description="One session of a coding agent, or of one of its sub-agents.")
class Session(Node):
    """A view of a session's row."""

    @classmethod
    def is_type_of(cls, value: Any, *_: Any) -> bool:
        """Accept session rows."""
        return isinstance(value, SessionRow)

    id: strawberry.ID = fields.global_id("Session", "project_id", "id")

    @strawberry.field(
        metadata=fields.repeatable(),
        graphql_type=Annotated["Project", strawberry.lazy("toolfold.schema.project")],
    )
    def project(root: strawberry.Parent[SessionRow], info: Info) -> Loading:
        return Loading(info.context.loaders.projects.begin(root.project_id), project_of_session)

    source_id: str | None = fields.column(
        "source_session", "What its agent, or whoever recorded it, calls it."
    )
    title: str | None = fields.column("title")
    agent: str = fields.column("agent")
    status: SessionStatus = fields.column("status")
    cwd: str | None = fields.column("cwd")
    git_branch: str | None = fields.column("git_branch")

    @strawberry.field(
        description="The session that started this one as a sub-agent, and the call that did.",
        metadata=fields.repeatable(),
        graphql_type=Optional["Session"],
    )
    def parent(root: strawberry.Parent[SessionRow], info: Info) -> Loading | None:
        if root.parent_id is None:
            return None
        key = (root.project_id, root.parent_id)
        return Loading(info.context.loaders.sessions.begin(key), session_row)

    parent_tool_call_id: str | None = fields.column("parent_tool_call_id")

    @strawberry.field(
        description="The sessions of its sub-agents, oldest first.",
        graphql_type="SessionConnection",
    )
    async def children(
        root: strawberry.Parent[SessionRow],
        info: Info,
        *,
        first: int | None = None,
        after: str | None = None,
    ) -> Connection:
        parent = root.key
        scope = Scope.of("children", *parent, types=(str, str, str))
        request = page_request(info, scope, first, after, None, None)
        where = session_store.SessionFilter(parent=parent, include_children=True)
        order = OLDEST_FIRST.order()
        return await session_connection(info, (root.project_id,), request, order, where, scope)

    created_at: DateTime = fields.column("created_at")
    updated_at: DateTime = fields.column("updated_at")
    message_count: int = fields.column("message_count")
    tool_call_count: int = fields.column("tool_call_count")
    content_size: BigInt = fields.column("content_size", "Sum of its tool calls' `contentSize`s.")
    content_breakdown: breakdown.ContentBreakdown | None = breakdown.of_session
    usage: TokenUsage | None = fields.view("TokenUsage", "input_tokens")

    @strawberry.field(
        description=(
            "Where `sessionUpdates` goes on from: with this as `after`, all that happens after "
            "the session was read here is told. Select it beside `messages`, and nothing is missed."
        )
    )
    def updates_cursor(root: strawberry.Parent[SessionRow]) -> str:
        return update_cursor.encode(root.key, Place.end(root))

    @strawberry.field(
        description=(
            "Oldest first; `last`/`before` page backwards and the order of edges never changes. "
            "`aroundSequence` centres the page there. `compact: null` is the server's default "
            "(`limits.compactModeDefault`), `false` asks for every content up to the hard budget."
        ),
        graphql_type=MessageConnection,
    )
    async def messages(
        root: strawberry.Parent[SessionRow],
        info: Info,
        *,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
        around_sequence: int | None = None,
        filter: MessageFilter | None = None,
        compact: bool | None = None,
    ) -> Connection:
        if around_sequence is None:
            arguments = (first, after, last, before)
            reading, page = await load_page(info, root.key, arguments, filter, compact=compact)
        else:
            around = around_request(info, around_sequence, first, after, last, before)
            where = filter or MessageFilter()
            reading = MessagesReading.of(info, root.key, where, compact=compact)
            page = await reading.page_around(info, around)
        scope = reading.scope
        count = partial(reading.count, info)
        return Connection(page, page.rows, lambda row: message_cursor(scope, row.sequence), count)


def around_request(
    info: Info, sequence: int, first: int | None, *others: object
) -> message_store.Around:
    """Return what a page centred at a sequence asks of the store.

    Raises:
        BadUserInputError: if anything but `first` goes with it, or it is not a sequence.
    """
    if any(other is not None for other in others):
        raise BadUserInputError("aroundSequence goes with first alone.", argument="aroundSequence")
    if sequence < 1:
        raise BadUserInputError("aroundSequence counts from 1.", argument="aroundSequence")
    size = page_size(info, first, None)
    return message_store.Around(sequence, size, wants_page_info(info))


@strawberry.type(description="A session and its cursor.")
class SessionEdge:
    """Relay's edge."""

    cursor: str
    node: Session


@strawberry.type(description="A page of sessions.")
class SessionConnection:
    """Relay's connection."""

    edges: list[SessionEdge]
    nodes: list[Session] = fields.rows()
    page_info: PageInfo

    @strawberry.field(description="How many sessions the filter lets through.")
    async def total_count(root: strawberry.Parent[Connection]) -> int:
        return await root.count()


async def named_sessions(info: Info, name: str) -> list[SessionRow | None]:
    """Return the rows of the sessions that a person means by an id; none for a blank one."""
    if not name.strip():
        return []
    async with info.context.database.read() as connection:
        found = await session_store.by_source(connection, None, name)
    info.context.ledger.charge_rows(len(found))
    return [session_row(row) for row in found]


async def sessions_page(
    info: Info,
    project_ids: tuple[str, ...] | None,
    arguments: tuple[int | None, str | None, int | None, str | None],
    filter: SessionFilter | None,
    order_by: SessionOrder | None,
) -> Connection:
    """Return a page of the sessions of these projects, of all that may be read if None.

    Raises:
        BadUserInputError: naming the argument that cannot be used.
    """
    where = filter or SessionFilter()
    order_by = order_by or LATEST_FIRST
    by_text = order_by.field in (SessionOrderField.CREATED_AT, SessionOrderField.UPDATED_AT)
    facts = ("sessions", project_ids, where.facts(), order_by.field, order_by.direction)
    scope = Scope.of(*facts, types=(str if by_text else int, str, str))
    request = page_request(info, scope, *arguments)
    return await session_connection(
        info, project_ids, request, order_by.order(), where.where(), scope
    )


async def session_connection(
    info: Info,
    project_ids: tuple[str, ...] | None,
    request: PageRequest,
    order: session_store.SessionOrder,
    where: session_store.SessionFilter,
    scope: Scope,
) -> Connection:
    """Return the connection of one page of sessions."""
    async with info.context.database.read(single=request.is_single) as connection:
        page = await session_store.page(
            connection,
            project_ids,
            request,
            order=order,
            where=where,
            columns=session_store.COLUMNS,
        )

    async def count() -> int:
        async with info.context.database.read(single=True) as connection:
            return await session_store.count(connection, project_ids, where=where)

    def cursor_of(row: Any) -> str:
        return scope.encode((getattr(row, order.field), row.project_id, row.id))

    rows = [session_row(row) for row in page.rows]
    return Connection(page, rows, cursor_of, count)
