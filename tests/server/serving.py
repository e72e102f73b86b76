"""Ways to run the server under test: in process, or on a port of its own."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

BASE_URL = "http://127.0.0.1:7878"
NEW = "application/graphql-response+json"
OLD = "application/json"


def codes(response: httpx.Response) -> list[str]:
    """Return the codes of a response's errors."""
    return [error["extensions"]["code"] for error in response.json()["errors"]]


@contextlib.asynccontextmanager
async def in_process(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client that calls the started application without a socket between."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client,
    ):
        yield client


@contextlib.asynccontextmanager
async def on_a_port(app: ASGIApp) -> AsyncIterator[str]:
    """Serve the application with uvicorn on a free port; give `host:port`."""
    # Bound and listening before the server is up: whoever connects waits for it.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        try:
            yield "{}:{}".format(*listener.getsockname())
        finally:
            server.should_exit = True
            await serving
