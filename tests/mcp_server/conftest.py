"""MCP clients of the SDK: in process, on a server's port, and of a command on its stdio."""

import contextlib
import dataclasses
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.left_out import leave_out
from tests.mcp_server.asking import Mcp
from tests.server.serving import on_a_port
from toolfold.documents import Documents
from toolfold.mcp_server.server import build_server
from toolfold.schema import build_schema
from toolfold.schema.context import Resources
from toolfold.server import create_app
from toolfold.settings import Settings
from toolfold.store.engine import Database

SCHEMA = build_schema()

Connect = Callable[..., AbstractAsyncContextManager[Mcp]]
"""`connect(**settings)` gives a client of a server with these settings, of the test's transport."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what npm installs where there is none, except in CI."""
    on_npm = [item for item in items if "mcp_packages" in getattr(item, "fixturenames", ())]
    if on_npm and shutil.which("npm") is None:
        leave_out(config, items, on_npm, "npm")


@pytest.fixture
def dialect() -> str:
    """Run these tests on SQLite; a test that names a dialect chooses for itself."""
    return "sqlite"


@pytest.fixture
async def mcp(database: Database, database_settings: Settings) -> AsyncIterator[Mcp]:
    """Give a client of a server in process, over the test's database."""
    async with in_process(database, database_settings) as mcp:
        yield mcp


@contextlib.asynccontextmanager
async def in_process(
    database: Database, settings: Settings, mode: str = "auto"
) -> AsyncIterator[Mcp]:
    """Give a client of a server over a database, without a transport between."""
    server = build_server(Documents(Resources(settings, database), SCHEMA))
    async with Client(server, mode=mode) as client:
        yield Mcp(client, settings.mcp_answer_bytes)


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, database_settings: Settings) -> Connect:
    """Return what connects to the test's database as clients do: once by stdio, once by HTTP."""
    given: Connect = _by_stdio if request.param == "stdio" else _by_http

    @contextlib.asynccontextmanager
    async def connect(mode: str = "auto", **settings: object) -> AsyncIterator[Mcp]:
        changed = dataclasses.replace(database_settings, **settings)  # type: ignore[arg-type]  # of any field
        async with given(changed, mode) as mcp:
            yield mcp

    return connect


@contextlib.asynccontextmanager
async def _by_stdio(settings: Settings, mode: str) -> AsyncIterator[Mcp]:
    arguments = ["-c", "from toolfold.cli import main; main()", "mcp"]
    environment = {
        "TOOLFOLD_DATA_DIR": str(settings.data_dir),
        "TOOLFOLD_DATABASE_URL": settings.database_url,
        "TOOLFOLD_MCP_ANSWER_BYTES": str(settings.mcp_answer_bytes),
        "TOOLFOLD_MCP_ALLOW_WRITING": str(settings.mcp_allow_writing),
    }
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    async with Client(parameters, mode=mode) as client:
        yield Mcp(client, settings.mcp_answer_bytes)


@contextlib.asynccontextmanager
async def _by_http(settings: Settings, mode: str) -> AsyncIterator[Mcp]:
    async with (
        on_a_port(create_app(settings)) as place,
        Client(f"http://{place}/mcp", mode=mode) as client,
    ):
        yield Mcp(client, settings.mcp_answer_bytes)
