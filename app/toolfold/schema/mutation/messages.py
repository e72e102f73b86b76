"""Messages appended, and tool calls patched."""

import asyncio
from datetime import UTC, datetime

import strawberry

from toolfold.errors import InvalidInputError
from toolfold.ingest import appending, patching
from toolfold.ingest.appending import Appended, Limits
from toolfold.schema.context import Info
from toolfold.schema.message import Message, MessageEdge
from toolfold.schema.mutation import texts
from toolfold.schema.mutation.message_inputs import (
    NewMessage,
    ToolCallUpdateInput,
    messages_of,
    updates_of,
)
from toolfold.schema.mutation.outcome import (
    Outcome,
    settle,
    show_messages,
    show_session,
)
from toolfold.schema.mutation.sessions import known_session
from toolfold.schema.mutation.user_errors import UserError, of_refusal
from toolfold.schema.mutation.writing import write
from toolfold.schema.session import Session
from toolfold.settings import Settings


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


@strawberry.type(description="`appendedCount` were new; the rest were replays.")
class AppendMessagesPayload:
    """An `Outcome`."""

    edges: list[MessageEdge] | None = strawberry.field(
        description="The messages as they are stored, in the order in which they were sent.",
        resolver=show_messages,
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
        resolver=show_messages, graphql_type=list[Message] | None
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
