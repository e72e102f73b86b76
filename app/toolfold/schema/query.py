"""The roots of a query."""

from collections.abc import Sequence
from typing import Any

import strawberry

from toolfold.errors import BadUserInputError
from toolfold.schema import selection
from toolfold.schema.connection import NO_SCOPE, Connection
from toolfold.schema.context import Info
from toolfold.schema.global_id import MessageKey, decode, message_key, project_key, session_key
from toolfold.schema.guard import SINGLE, Access, bulk_access
from toolfold.schema.limits import ServerLimits
from toolfold.schema.message import Message, message_columns
from toolfold.schema.node import Node
from toolfold.schema.project import Project, ProjectConnection, projects_page
from toolfold.schema.rows import (
    MessageRow,
    ProjectRow,
    SessionRow,
    ToolMetadataRow,
    message_rows,
    project_row,
    session_row,
)
from toolfold.schema.session import Session, SessionConnection, named_sessions, sessions_page
from toolfold.schema.session_filter import LATEST_FIRST, SessionFilter, SessionOrder
from toolfold.schema.session_messages import load_session
from toolfold.schema.single_message import load_message
from toolfold.store import message as message_store

MAX_NODES = 100


@strawberry.type(description="What can be read.")
class Query:
    """The query root."""

    @strawberry.field(
        description="Any object by id; null when absent or in another project.",
        graphql_type=Node | None,
    )
    async def node(self, info: Info, id: strawberry.ID) -> Any:
        return (await load_nodes(info, [id], SINGLE))[0]

    @strawberry.field(
        description="Up to 100; null in the place of an absent one. A bulk position for the guard.",
        graphql_type=list[Node | None],
    )
    async def nodes(
        self, info: Info, *, ids: list[strawberry.ID], compact: bool | None = None
    ) -> list[Any]:
        if len(ids) > MAX_NODES:
            raise BadUserInputError(
                f"ids must be at most {MAX_NODES}: got {len(ids)}.", argument="ids"
            )
        info.context.ledger.charge_rows(len(ids))
        access = bulk_access(compact=compact, default=info.context.settings.compact_mode_default)
        return await load_nodes(info, ids, access)

    @strawberry.field(graphql_type=Project | None)
    async def project(self, info: Info, id: strawberry.ID) -> ProjectRow | None:
        key = project_key(id)
        return None if key is None else project_row(await info.context.loaders.projects.load(key))

    @strawberry.field(graphql_type=Session | None)
    async def session(self, info: Info, id: strawberry.ID) -> SessionRow | None:
        key = session_key(id)
        return None if key is None else await load_session(info, key)

    @strawberry.field(
        description="Not a bulk position: its content is limited by the hard budget alone.",
        graphql_type=Message | None,
    )
    async def message(self, info: Info, id: strawberry.ID) -> MessageRow | None:
        key = message_key(id)
        return None if key is None else await load_message(info, key)

    @strawberry.field(
        description="The projects that may be read, by name.", graphql_type=ProjectConnection
    )
    async def projects(
        self,
        info: Info,
        *,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Connection:
        return await projects_page(info, first, after, last, before)

    @strawberry.field(
        description="The sessions of all projects that may be read.",
        graphql_type=SessionConnection,
    )
    async def sessions(
        self,
        info: Info,
        *,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
        filter: SessionFilter | None = None,
        order_by: SessionOrder | None = LATEST_FIRST,
    ) -> Connection:
        return await sessions_page(info, None, (first, after, last, before), filter, order_by)

    @strawberry.field(
        description=(
            "The sessions that a person means by an id: the session's own without its project, "
            "the agent's (`sourceId`), or the beginning of one. At most 10."
        ),
        graphql_type=list[Session],
    )
    async def sessions_named(self, info: Info, name: str) -> list[Any]:
        return await named_sessions(info, name)

    @strawberry.field(
        description="What this server enforces, so that clients need not hard-code it."
    )
    def limits(self, info: Info) -> ServerLimits:
        return ServerLimits.of(info.context.settings)


async def load_nodes(info: Info, ids: Sequence[str], access: Access) -> list[Any]:
    """Return the row of each id, in the order asked; None for one that is absent or no id."""
    messages = {key for text in ids if (key := message_key(text))}
    tools = {key for text in ids if (key := message_key(text, typename="ToolMetadata"))}
    message_found = await load_messages(info, messages, access, MessageRow)
    tool_found = await load_messages(info, tools, access, ToolMetadataRow)
    return [await _node(info, text, message_found, tool_found) for text in ids]


async def _node(
    info: Info, text: str, messages: dict[MessageKey, Any], tools: dict[MessageKey, Any]
) -> Any:
    global_id = decode(text)
    typename = global_id.typename if global_id else None
    if typename == "Project" and (project := project_key(text)):
        return project_row(await info.context.loaders.projects.load(project))
    if typename == "Session" and (session := session_key(text)):
        return session_row(await info.context.loaders.sessions.load(session))
    if typename == "Message" and (message := message_key(text)):
        return messages.get(message)
    if typename == "ToolMetadata" and (message := message_key(text, typename=typename)):
        row = tools.get(message)
        return row if row is not None and row.tool_call_id is not None else None
    return None


async def load_messages(
    info: Info, keys: set[MessageKey], access: Access, base: type[MessageRow]
) -> dict[MessageKey, Any]:
    """Return the messages under `keys`, with the columns that the field being resolved selects."""
    if not keys:
        return {}
    nodes = selection.raw_info(info).field_nodes
    columns = message_columns(info, nodes, base.typename, "tool_call_id")
    async with info.context.database.read(single=True) as connection:
        found = await message_store.by_keys(connection, keys, columns)
    rows = message_rows(columns, found.values(), access, NO_SCOPE, base)
    return {row.key: row for row in rows}
