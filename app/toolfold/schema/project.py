"""Projects: what everything belongs to."""

from typing import Any

import strawberry

from toolfold.schema import fields
from toolfold.schema.connection import Connection, PageInfo, Scope, page_request
from toolfold.schema.context import Info
from toolfold.schema.node import Node
from toolfold.schema.rows import ProjectRow, project_row
from toolfold.schema.scalars import DateTime
from toolfold.schema.session import SessionConnection, sessions_page
from toolfold.schema.session_filter import LATEST_FIRST, SessionFilter, SessionOrder
from toolfold.store import project as project_store


@strawberry.type(description="What sessions belong to; an id of another one reads as absent.")
class Project(Node):
    """A view of a project's row."""

    @classmethod
    def is_type_of(cls, value: Any, *_: Any) -> bool:
        """Accept project rows."""
        return isinstance(value, ProjectRow)

    id: strawberry.ID = fields.global_id("Project", "id")

    name: str = fields.column("name")
    created_at: DateTime = fields.column("created_at")

    @strawberry.field(graphql_type=SessionConnection)
    async def sessions(
        root: strawberry.Parent[ProjectRow],
        info: Info,
        *,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
        filter: SessionFilter | None = None,
        order_by: SessionOrder | None = LATEST_FIRST,
    ) -> Connection:
        arguments = (first, after, last, before)
        return await sessions_page(info, (root.id,), arguments, filter, order_by)


@strawberry.type(description="A project and its cursor.")
class ProjectEdge:
    """Relay's edge."""

    cursor: str
    node: Project


@strawberry.type(description="A page of projects, by name.")
class ProjectConnection:
    """Relay's connection."""

    edges: list[ProjectEdge]
    nodes: list[Project] = fields.rows()
    page_info: PageInfo

    @strawberry.field(description="How many projects there are.")
    async def total_count(root: strawberry.Parent[Connection]) -> int:
        return await root.count()


async def projects_page(
    info: Info, first: int | None, after: str | None, last: int | None, before: str | None
) -> Connection:
    """Return a page of the projects that may be read, by name.

    Raises:
        BadUserInputError: naming the argument that cannot be used.
    """
    scope = Scope.of("projects", types=(str, str))
    request = page_request(info, scope, first, after, last, before)
    async with info.context.database.read(single=request.is_single) as connection:
        page = await project_store.page(connection, request, columns=project_store.COLUMNS)

    async def count() -> int:
        async with info.context.database.read(single=True) as connection:
            return await project_store.count(connection)

    rows = [project_row(row) for row in page.rows]
    return Connection(page, rows, lambda row: scope.encode((row.name, row.id)), count)
