"""What an agent says in ACP, recorded as it comes."""

import strawberry

from toolfold import stored_json
from toolfold.errors import InvalidInputError, UnknownIdError
from toolfold.ingest import acp_stream
from toolfold.ingest.acp_stream import Recorded
from toolfold.ingest.appending import Limits
from toolfold.schema.context import Info
from toolfold.schema.mutation.outcome import Outcome, settle, show_session
from toolfold.schema.mutation.sessions import known_session
from toolfold.schema.mutation.user_errors import UserError
from toolfold.schema.mutation.writing import to_its_end
from toolfold.schema.scalars import JSONValue
from toolfold.schema.session import Session
from toolfold.transcript import Json


@strawberry.input(
    description=(
        "`updates` are the messages with the indexes from `fromIndex` on in the session's stream, "
        "of which the first has 0."
    )
)
class RecordAcpUpdatesInput:
    """The input of `recordAcpUpdates`."""

    session_id: strawberry.ID
    from_index: int
    updates: list[JSONValue]
    client_mutation_id: str | None = strawberry.UNSET


@strawberry.type(
    description="`nextIndex` is the index that is expected next, also where the input was refused."
)
class RecordAcpUpdatesPayload:
    """An `Outcome`."""

    next_index: int
    session: Session | None = strawberry.field(resolver=show_session, graphql_type=Session | None)
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type
class AcpMutations:
    """The part of the mutation root that is of ACP."""

    @strawberry.field(
        description=(
            "Raw ACP `session/update` notifications in order; chunks are merged. Idempotent by "
            "`fromIndex`: the place of the first one in the session's stream."
        ),
        graphql_type=RecordAcpUpdatesPayload,
    )
    async def record_acp_updates(self, info: Info, input: RecordAcpUpdatesInput) -> Outcome:
        async def record() -> Outcome:
            key = known_session(input.session_id, "sessionId")
            _require_messages(info, input)
            recorded = await to_its_end(_record(info, key, input.from_index, input.updates))
            return Outcome(session_key=key, next_index=recorded.next_index)

        outcome = await settle(info, input, record)
        if outcome.session_key is None:
            outcome.next_index = await _expected(info, input.session_id)
        return outcome


async def _record(
    info: Info, key: tuple[str, str], first_index: int, messages: list[Json]
) -> Recorded:
    resources = info.context.resources
    recorded = await resources.streams.record(resources.database, key, first_index, messages)
    resources.events.publish(recorded.positions)
    return recorded


async def _expected(info: Info, session_id: str) -> int:
    """Return the index from which a refused client is to go on."""
    try:
        key = known_session(session_id, "sessionId")
    except UnknownIdError:
        return 0
    return await acp_stream.next_index(info.context.resources.database, key)


def _require_messages(info: Info, asked: RecordAcpUpdatesInput) -> None:
    settings = info.context.settings
    limits = Limits(settings.max_batch_messages, settings.max_batch_bytes)
    limits.require("updates", count=len(asked.updates))
    for place, message in enumerate(asked.updates):
        if not isinstance(message, dict):
            raise InvalidInputError("A message must be an object.", "updates", place)
    limits.require("updates", size=sum(len(stored_json.encode(one)) for one in asked.updates))
    if asked.from_index < 0:
        raise InvalidInputError("An index is at least 0.", "fromIndex")
