"""Sessions made, changed and deleted, apart from their messages."""

from datetime import UTC, datetime

import strawberry

from toolfold.errors import InvalidInputError, UnknownIdError
from toolfold.events import Position
from toolfold.ingest import lifecycle
from toolfold.ingest.columns import Columns
from toolfold.ingest.lifecycle import Made, NewSession
from toolfold.ingest.light_texts import MAX_PATH_CHARACTERS
from toolfold.schema.context import Info
from toolfold.schema.enums import SessionStatus
from toolfold.schema.global_id import SessionKey, encode, session_key
from toolfold.schema.mutation import texts
from toolfold.schema.mutation.outcome import Outcome, settle, show_session
from toolfold.schema.mutation.projects import known_project
from toolfold.schema.mutation.user_errors import UserError, of_refusal
from toolfold.schema.mutation.writing import write
from toolfold.schema.session import Session


@strawberry.input(
    description=(
        "A `clientSessionId` that was used before in the project means the session made with it, "
        "which is left as it is. `parentId` is in the same project."
    )
)
class CreateSessionInput:
    """The input of `createSession`."""

    project_id: strawberry.ID
    agent: str
    title: str | None = strawberry.UNSET
    cwd: str | None = strawberry.UNSET
    client_session_id: str | None = strawberry.UNSET
    parent_id: strawberry.ID | None = strawberry.UNSET
    parent_tool_call_id: str | None = strawberry.UNSET
    client_mutation_id: str | None = strawberry.UNSET


@strawberry.input(description="A field that is absent stays as it is; a null title is none.")
class UpdateSessionInput:
    """The input of `updateSession`."""

    id: strawberry.ID
    title: str | None = strawberry.UNSET
    status: SessionStatus | None = strawberry.UNSET
    client_mutation_id: str | None = strawberry.UNSET


@strawberry.input(description="The sessions of its sub-agents go with it.")
class DeleteSessionInput:
    """The input of `deleteSession`."""

    id: strawberry.ID
    client_mutation_id: str | None = strawberry.UNSET


@strawberry.type(description="The session that was made, now or before.")
class CreateSessionPayload:
    """An `Outcome`."""

    session: Session | None = strawberry.field(resolver=show_session, graphql_type=Session | None)
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type(description="The session as it is now.")
class UpdateSessionPayload:
    """An `Outcome`."""

    session: Session | None = strawberry.field(resolver=show_session, graphql_type=Session | None)
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type(description="The id of the session that was deleted.")
class DeleteSessionPayload:
    """An `Outcome`."""

    deleted_id: strawberry.ID | None
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type
class SessionMutations:
    """The part of the mutation root that is of sessions."""

    @strawberry.field(graphql_type=CreateSessionPayload)
    async def create_session(self, info: Info, input: CreateSessionInput) -> Outcome:
        async def create() -> Outcome:
            project_id = known_project(input.project_id, "projectId")
            new = _new_session(input, project_id)
            now = datetime.now(UTC)
            made = await write(
                info,
                lambda connection: lifecycle.create(connection, project_id, new, now=now),
                lambda made: [Position(project_id, made.session_id, 0)] if made.is_new else [],
            )
            outcome = Outcome(session_key=(project_id, made.session_id))
            outcome.errors += _of_another_agent(made, input)
            return outcome

        return await settle(info, input, create)

    @strawberry.field(graphql_type=UpdateSessionPayload)
    async def update_session(self, info: Info, input: UpdateSessionInput) -> Outcome:
        async def update() -> Outcome:
            key = known_session(input.id, "id")
            said = _said(input)
            now = datetime.now(UTC)
            await write(
                info,
                lambda connection: lifecycle.change(connection, *key, said, now=now),
                lambda revision: [Position(*key, revision)],
            )
            return Outcome(session_key=key)

        return await settle(info, input, update)

    @strawberry.field(graphql_type=DeleteSessionPayload)
    async def delete_session(self, info: Info, input: DeleteSessionInput) -> Outcome:
        async def delete() -> Outcome:
            key = known_session(input.id, "id")
            await write(
                info,
                lambda connection: lifecycle.remove(connection, *key),
                lambda removed: [Position(key[0], session_id, None) for session_id in removed],
            )
            return Outcome(deleted_id=strawberry.ID(encode("Session", *key)))

        return await settle(info, input, delete)


def known_session(global_id: str, *path: str) -> SessionKey:
    """Return the key in an id.

    Raises:
        UnknownIdError: with this path, if it is no id of a session.
    """
    key = session_key(global_id)
    # No stored text has a NUL, and PostgreSQL refuses to look for one.
    if key is None or "\x00" in "".join(key):
        raise UnknownIdError("There is no such session.", *path)
    return key


def _new_session(asked: CreateSessionInput, project_id: str) -> NewSession:
    parent_id = None
    if asked.parent_id:
        parent_project, parent_id = known_session(asked.parent_id, "parentId")
        if parent_project != project_id:
            raise UnknownIdError("There is no such session in the project.", "parentId")
    return NewSession(
        agent=texts.name(asked.agent, "agent"),
        title=texts.optional_title(asked.title, "title"),
        cwd=texts.optional(asked.cwd, "cwd", limit=MAX_PATH_CHARACTERS),
        client_id=texts.optional_identifier(asked.client_session_id, "clientSessionId"),
        parent_id=parent_id,
        parent_tool_call_id=texts.optional_identifier(
            asked.parent_tool_call_id, "parentToolCallId"
        ),
    )


def _said(asked: UpdateSessionInput) -> Columns:
    said: Columns = {}
    if texts.is_given(asked.title):
        said["title"] = texts.optional_title(asked.title, "title")
    if texts.is_given(asked.status):
        if asked.status is None:
            raise InvalidInputError("A status cannot be null.", "status")
        said["status"] = asked.status.value
    return said


def _of_another_agent(made: Made, asked: CreateSessionInput) -> list[UserError]:
    if made.has_agent:
        return []
    message = "This id was used before for a session of another agent, which stays as it is."
    return [of_refusal(InvalidInputError(message, "clientSessionId"), asked)]
