"""Calls that take long: progress is told, and cancelling one stops what it reads."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.builders import store_session, text_block, text_message, tool_message
from tests.mcp_server.conftest import Connect
from tests.server.serving import on_a_port
from toolfold.documents import Documents
from toolfold.mcp_server import queries
from toolfold.mcp_server.server import build_server
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode
from toolfold.server import create_app
from toolfold.server.mcp_route import McpEndpoint
from toolfold.settings import Settings
from toolfold.store.engine import Database

SESSION = encode("Session", "default", "session-1")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_progress_says_how_full_the_answer_is(
    connect: Connect, database: Database, mode: str
) -> None:
    await store_session(database, [text_message(f"Message {at}.") for at in range(1, 21)])
    told: list[tuple[float, float | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 (the SDK names it)
        told.append((progress, total))

    async with connect(mode) as mcp:
        arguments = {"session_id": SESSION}
        await mcp.client.call_tool("get_session_messages", arguments, progress_callback=tell)
    assert len(told) == 20
    assert told == sorted(told)
    assert all(total is not None and progress <= total for progress, total in told)


class Held(Documents):
    """Documents whose texts are found once it was told that they are being read."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self.is_told = asyncio.Event()

    async def response(
        self, document: str, variables: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        if document == queries.FIND:
            await self.is_told.wait()
        return await super().response(document, variables)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_long_read_of_one_output_tells_that_it_goes_on(
    database: Database, database_settings: Settings, mode: str
) -> None:
    await store_session(database, [tool_message([text_block("hay\nneedle\n")])])
    documents = Held(Resources(database_settings, database))
    told: list[tuple[float, float | None, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        if len(told) == 2:
            documents.is_told.set()

    arguments = {"session_id": SESSION, "sequence": 1, "find": "needle"}
    async with over_http(documents, mode) as client:
        called = client.call_tool("get_tool_content", arguments, progress_callback=tell)
        result = await asyncio.wait_for(called, 30)
    assert (result.structured_content or {})["match_count"] == 1
    assert 0 < told[0][0] < told[1][0]
    assert all(total is None for _, total, _ in told)
    assert all((message or "").startswith("reading output of message 1") for *_, message in told)


class Waiting(Documents):
    """Documents that are read for ever, and say when that is over."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self.is_reading = asyncio.Event()
        self.is_over = asyncio.Event()

    async def response(
        self, document: str, variables: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        self.is_reading.set()
        try:
            async with self._resources.database.read() as connection:
                # As a statement that takes long: nothing else ends it.
                await asyncio.Event().wait()
                del connection
        finally:
            self.is_over.set()
        return await super().response(document, variables)


@contextlib.asynccontextmanager
async def over_http(documents: Documents, mode: str) -> AsyncIterator[Client]:
    endpoint = McpEndpoint(lambda _: build_server(documents))
    app = create_app(documents.settings, mcp=endpoint)
    async with on_a_port(app) as place, Client(f"http://{place}/mcp", mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_call_that_is_cancelled_stops_its_query(
    database: Database, database_settings: Settings, mode: str
) -> None:
    documents = Waiting(Resources(database_settings, database))
    async with over_http(documents, mode) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "get_session", {"session_id": SESSION})
            await documents.is_reading.wait()
            group.cancel_scope.cancel()
        await asyncio.wait_for(documents.is_over.wait(), 10)
        # The connection was given back, and the server goes on.
        assert (await client.list_tools()).tools
