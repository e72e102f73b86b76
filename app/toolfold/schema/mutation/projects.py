"""Projects made, renamed and deleted."""

from datetime import UTC, datetime

import strawberry

from toolfold.errors import UnknownIdError
from toolfold.events import Position
from toolfold.ingest import projects
from toolfold.schema.context import Info
from toolfold.schema.global_id import encode, project_key
from toolfold.schema.mutation import texts
from toolfold.schema.mutation.outcome import Outcome, settle, show_project
from toolfold.schema.mutation.user_errors import UserError
from toolfold.schema.mutation.writing import write
from toolfold.schema.project import Project


@strawberry.input(description="Names are unique.")
class CreateProjectInput:
    """The input of `createProject`."""

    name: str
    client_mutation_id: str | None = strawberry.UNSET


@strawberry.input(description="A field that is absent stays as it is.")
class UpdateProjectInput:
    """The input of `updateProject`."""

    id: strawberry.ID
    name: str | None = strawberry.UNSET
    client_mutation_id: str | None = strawberry.UNSET


@strawberry.input(description="All that the project holds goes with it; `default` stays.")
class DeleteProjectInput:
    """The input of `deleteProject`."""

    id: strawberry.ID
    client_mutation_id: str | None = strawberry.UNSET


@strawberry.type(description="The project that was made.")
class CreateProjectPayload:
    """An `Outcome`."""

    project: Project | None = strawberry.field(resolver=show_project, graphql_type=Project | None)
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type(description="The project as it is now.")
class UpdateProjectPayload:
    """An `Outcome`."""

    project: Project | None = strawberry.field(resolver=show_project, graphql_type=Project | None)
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type(description="The id of the project that was deleted.")
class DeleteProjectPayload:
    """An `Outcome`."""

    deleted_id: strawberry.ID | None
    errors: list[UserError]
    client_mutation_id: str | None


@strawberry.type
class ProjectMutations:
    """The part of the mutation root that is of projects."""

    @strawberry.field(graphql_type=CreateProjectPayload)
    async def create_project(self, info: Info, input: CreateProjectInput) -> Outcome:
        async def create() -> Outcome:
            name = texts.name(input.name, "name")
            now = datetime.now(UTC)
            project_id = await write(
                info, lambda connection: projects.create(connection, name, now=now), _none
            )
            return Outcome(project_id=project_id)

        return await settle(info, input, create)

    @strawberry.field(graphql_type=UpdateProjectPayload)
    async def update_project(self, info: Info, input: UpdateProjectInput) -> Outcome:
        async def update() -> Outcome:
            project_id = known_project(input.id, "id")
            if texts.is_given(input.name):
                name = texts.name(input.name, "name")
                await write(
                    info, lambda connection: projects.rename(connection, project_id, name), _none
                )
            elif await info.context.loaders.projects.load(project_id) is None:
                raise UnknownIdError("There is no such project.", "id")
            return Outcome(project_id=project_id)

        return await settle(info, input, update)

    @strawberry.field(graphql_type=DeleteProjectPayload)
    async def delete_project(self, info: Info, input: DeleteProjectInput) -> Outcome:
        async def delete() -> Outcome:
            project_id = known_project(input.id, "id")
            await write(
                info,
                lambda connection: projects.remove(connection, project_id),
                lambda sessions: [Position(project_id, one, None) for one in sessions],
            )
            return Outcome(deleted_id=strawberry.ID(encode("Project", project_id)))

        return await settle(info, input, delete)


def known_project(global_id: str, *path: str) -> str:
    """Return the project id in an id.

    Raises:
        UnknownIdError: with this path, if it is no id of a project.
    """
    key = project_key(global_id)
    # No stored text has a NUL, and PostgreSQL refuses to look for one.
    if key is None or "\x00" in key:
        raise UnknownIdError("There is no such project.", *path)
    return key


def _none(_written: object) -> tuple[Position, ...]:
    """Return what followers of sessions learn from a change of a project alone."""
    return ()
