"""Toolfold over HTTP and WebSocket: routes, lifespan, wiring."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route, WebSocketRoute
from strawberry.schema import BaseSchema

from toolfold.access import AccessMiddleware
from toolfold.documents import Documents
from toolfold.errors import AppError, NotFoundError
from toolfold.relay import relaying
from toolfold.schema import build_schema
from toolfold.schema.caches import DocumentCaches
from toolfold.schema.context import Resources
from toolfold.server import content_routes, health, import_route, problems, trusted_documents
from toolfold.server.compression import CompressionMiddleware
from toolfold.server.graphql_http import GraphQLEndpoint
from toolfold.server.graphql_socket import GraphQLSocket
from toolfold.server.mcp_route import McpEndpoint
from toolfold.server.sweeping import sweeping
from toolfold.server.viewer import Pages
from toolfold.settings import Settings
from toolfold.store.engine import Database


def create_app(
    settings: Settings,
    *,
    schema: BaseSchema | None = None,
    pages: Pages | None = None,
    mcp: McpEndpoint | None = None,
) -> Starlette:
    """Return the server as an ASGI application; its lifespan opens and closes the database.

    An empty database is set up. Starting fails with a `DatabaseError` for one that cannot be
    used. While it runs, `app.state.resources` has the settings and the database. Whoever is about
    to stop it sets `app.state.stopping`. `schema`, `pages` and `mcp` are Toolfold's own unless
    others are given.

    Raises:
        SettingsError: for a manifest of trusted documents that cannot be used.
    """
    caches = DocumentCaches()
    served = schema or build_schema(caches)
    trusted = trusted_documents.load(settings, served, caches)
    mcp_endpoint = mcp or McpEndpoint()
    viewer = pages or Pages()

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        database = await Database.open(settings, create=True)
        resources = Resources(settings, database)
        app.state.resources = resources
        try:
            async with (
                relaying(database, resources.events),
                sweeping(database, settings),
                mcp_endpoint.hosting(Documents(resources, served)),
            ):
                yield
        finally:
            await database.close()

    app = Starlette(
        routes=[
            Route("/graphql", GraphQLEndpoint(served, trusted).answer, methods=["GET", "POST"]),
            WebSocketRoute("/graphql", GraphQLSocket(served, trusted)),
            Route("/mcp", mcp_endpoint),
            Route(
                "/api/projects/{project}/sessions/{session}/messages/{sequence}/tool-content",
                content_routes.tool_content,
            ),
            Route("/api/projects/{project}/blobs/{hash}", content_routes.blob),
            Route("/api/projects/{project}/import", import_route.import_lines, methods=["POST"]),
            Route("/healthz", health.healthz),
            Route("/readyz", health.readyz),
            *viewer.routes(),
        ],
        middleware=[
            Middleware(AccessMiddleware),
            Middleware(problems.FailureMiddleware),
            Middleware(CompressionMiddleware),
        ],
        exception_handlers={
            HTTPException: problems.answer_http_exception,
            NotFoundError: problems.answer_not_found,
            AppError: problems.answer_app_error,
        },
        lifespan=lifespan,
    )
    app.router.default = viewer.or_page(app.router.default)
    app.state.stopping = asyncio.Event()
    return app
