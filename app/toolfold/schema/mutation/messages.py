"""Messages appended, and tool calls patched."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import strawberry
from graphql import FieldNode

from toolfold.errors import InvalidInputError
from toolfold.ingest import appending, patching
from toolfold.ingest.appending import Appended, Limits
from toolfold.schema import selection
from toolfold.schema.context import Info
from toolfold.schema.guard import bulk_access
from toolfold.schema.message import (
    Message,
    MessageEdge,
    MessageFilter,
    message_columns,
    message_scope,
)
from toolfold.schema.mutation import texts
from toolfold.schema.mutation.message_inputs import (
    NewMessage,
    ToolCallUpdateInput,
    messages_of,
    updates_of,
)
from toolfold.schema.mutation.outcome import Outcome, settle, show_session
from toolfold.schema.mutation.sessions import known_session
from toolfold.schema.mutation.user_errors import UserError, of_refusal
from toolfold.schema.mutation.writing import write
from toolfold.schema.rows import message_rows
from toolfold.schema.session import Session
from toolfold.settings import Settings
from toolfold.store import message as message_store


@strawberry.input(
    description=(
        "With `expectedSequence` it fails with a ConflictError unless the session ends there, or "
        "all of it was appended there before."
    )
)
class AppendMessagesInput:
    """The input of `appendMessages`."""

    session_id: strawberry.ID
    expected_sequence: int | None = strawberry.UNSET
    messages: list[NewMessage]
    client_mutation_id: str | None = strawberry.UNSET


@strawberry.input(description="Updates in order; those of one call are one change.")
class UpdateToolCallsInput:
    """The input of `updateToolCalls`."""

    session_id: strawberry.ID
    updates: list[ToolCallUpdateInput]
    client_mutation_id: str | None = strawberry.UNSET


async def _show_edges(root: Outcome, info: Info) -> list[Any] | None:
    raw = selection.raw_info(info)
    nodes = selection.named(selection.subfields(raw.field_nodes, raw), "node")
    return await _stored(root, info, nodes)


async def _show_messages(root: Outcome, info: Info) -> list[Any] | None:
    return await _stored(root, info, list(selection.raw_info(info).field_nodes))


async def _stored(root: Outcome, info: Info, nodes: list[FieldNode]) -> list[Any] | None:
    """Return the rows of the outcome's messages, in the order in which they were asked for."""
    keys = root.message_keys
    if keys is None or root.session_key is None:
        return None
    columns = message_columns(info, nodes, "Message")
    async with info.context.database.read(single=True) as connection:
        found = await message_store.by_keys(connection, set(keys), columns)
    access = bulk_access(compact=None, default=info.context.settings.compact_mode_default)
    scope = message_scope(root.session_key, MessageFilter())
    rows = {row.key: row for row in message_rows(columns, found.values(), access, scope)}
    # One that was deleted since is not there any more.
    return [rows[key] for key in keys if key in rows]


@strawberry.type(description="`appendedCount` were new; the rest were replays.")
class AppendMessagesPayload:
    """An `Outcome`."""

    edges: list[MessageEdge] | None = strawberry.field(
        description="The messages as they are stored, in the order in which they were sent.",
        resolver=_show_edges,
        graphql_type=list[MessageEdge] | None,
    )
    session: Session | None = strawberry.field(resolver=show_session, graphql_type=Session | None)
    appended_count: int
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type(description="The message of each update, in the order in which they were sent.")
class UpdateToolCallsPayload:
    """An `Outcome`."""

    messages: list[Message] | None = strawberry.field(
        resolver=_show_messages, graphql_type=list[Message] | None
    )
    session: Session | None = strawberry.field(resolver=show_session, graphql_type=Session | None)
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type
class MessageMutations:
    """The part of the mutation root that is of messages."""

    @strawberry.field(
        description=(
            "Atomic and idempotent: a repeated `clientMessageId` returns the stored message, never "
            "a second one."
        ),
        graphql_type=AppendMessagesPayload,
    )
    async def append_messages(self, info: Info, input: AppendMessagesInput) -> Outcome:
        async def append() -> Outcome:
            project_id, session_id = known_session(input.session_id, "sessionId")
            limits = _limits(info.context.settings)
            limits.require("messages", count=len(input.messages))
            messages = messages_of(input.messages)
            sent = await asyncio.to_thread(appending.prepare, session_id, messages, limits)
            expected = texts.given(input.expected_sequence)
            now = datetime.now(UTC)
            appended = await write(
                info,
                lambda connection: appending.append(
                    connection, project_id, sent, expected=expected, now=now
                ),
                lambda appended: [appended.position],
            )
            return _appended(appended, (project_id, session_id), input)

        return await settle(info, input, append)

    @strawberry.field(
        description=(
            "Patches, as ACP `tool_call_update`: an absent field keeps, an array replaces (`[]` "
            "too), null clears name, title, locations, content and raw values, a null kind or "
            "status is an InvalidInputError; a call not yet seen is appended."
        ),
        graphql_type=UpdateToolCallsPayload,
    )
    async def update_tool_calls(self, info: Info, input: UpdateToolCallsInput) -> Outcome:
        async def update() -> Outcome:
            project_id, session_id = known_session(input.session_id, "sessionId")
            limits = _limits(info.context.settings)
            limits.require("updates", count=len(input.updates))
            updates = updates_of(input.updates)
            patches = await asyncio.to_thread(patching.prepare, session_id, updates, limits)
            now = datetime.now(UTC)
            patched = await write(
                info,
                lambda connection: patching.patch(connection, project_id, patches, now=now),
                lambda patched: [patched.position],
            )
            key = project_id, session_id
            return Outcome(session_key=key, message_keys=[(*key, n) for n in patched.sequences])

        return await settle(info, input, update)


def _limits(settings: Settings) -> Limits:
    return Limits(settings.max_batch_messages, settings.max_batch_bytes)


def _appended(
    appended: Appended, session_key: tuple[str, str], asked: AppendMessagesInput
) -> Outcome:
    message = "The id was used before with other content: the message stays as it was first sent."
    clashes = [
        InvalidInputError(message, "messages", place, "clientMessageId")
        for place in appended.clashes
    ]
    return Outcome(
        session_key=session_key,
        message_keys=[(*session_key, sequence) for sequence in appended.sequences],
        appended_count=appended.added,
        errors=[of_refusal(clash, asked) for clash in clashes],
    )
