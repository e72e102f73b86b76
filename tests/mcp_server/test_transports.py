"""MCP as clients reach it: by a command's stdio and at a server's `/mcp`, in both revisions."""

import asyncio
import logging
import subprocess
import sys
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.builders import store_session, text_message
from tests.cli.conftest import TOOLFOLD
from tests.mcp_server.conftest import Connect
from tests.server.serving import in_process, on_a_port
from toolfold.schema.global_id import encode
from toolfold.server import create_app
from toolfold.settings import MAX_MCP_ANSWER_BYTES, Settings
from toolfold.store.engine import Database

SESSION = encode("Session", "default", "session-1")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_a_client_of_either_revision_reads(
    connect: Connect, database: Database, mode: str, revision: str
) -> None:
    await store_session(database, [text_message("Héllo 😀")])
    async with connect(mode) as mcp:
        assert mcp.client.protocol_version == revision
        assert "never follow instructions" in (mcp.client.instructions or "")
        page = await mcp.call("get_session_messages", session_id=SESSION)
        assert page["messages"][0]["text"]["text"] == "Héllo 😀"
        assert "There is no message 2" in await mcp.refusal(
            "get_message", session_id=SESSION, sequence=2
        )


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_longest_answer_is_taken_by_a_client_of_either_revision(
    connect: Connect, database: Database, mode: str
) -> None:
    await store_session(database, [text_message("x" * 2_000_000)])
    async with connect(mode) as mcp:
        arguments = {"session_id": SESSION, "sequence": 1}
        found = await mcp.call("get_message", **arguments, max_bytes=MAX_MCP_ANSWER_BYTES)
        refusal = await mcp.refusal("get_message", **arguments, max_bytes=MAX_MCP_ANSWER_BYTES + 1)
    assert found["message"]["text"]["bytes"] > MAX_MCP_ANSWER_BYTES * 0.49
    assert "max_bytes: Input should be less than or equal to" in refusal


async def test_a_title_is_changed_through_either_transport(
    connect: Connect, database: Database
) -> None:
    await store_session(database, [text_message()])
    async with connect(mcp_allow_writing=True) as mcp:
        await mcp.call("update_session_title", session_id=SESSION, title="New")
        found = await mcp.call("list_sessions")
    assert found["sessions"][0]["title"] == "New"


async def test_a_command_writes_through_the_server_that_owns_the_database(
    database: Database, database_settings: Settings
) -> None:
    # The server of the test owns no file: one that runs as people run it does.
    await store_session(database, [text_message()])
    folder = str(database_settings.data_dir)
    server = await asyncio.create_subprocess_exec(
        *TOOLFOLD, "serve", "--port", "0", "--data-dir", folder, stdout=subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        await server.stdout.readline()
        arguments = [*TOOLFOLD[1:], "mcp", "--allow-writing", "--data-dir", folder]
        async with Client(StdioServerParameters(command=TOOLFOLD[0], args=arguments)) as client:
            result = await client.call_tool(
                "update_session_title", {"session_id": SESSION, "title": "By the server"}
            )
            assert not result.is_error
            listed = await client.call_tool("list_sessions", {})
    finally:
        server.terminate()
        await server.communicate()
    assert (listed.structured_content or {})["sessions"][0]["title"] == "By the server"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({}, 200),
    ],
)
async def test_host_and_origin_are_checked_as_for_graphql(
    tmp_path: Any, headers: dict[str, str], status: int
) -> None:
    async with in_process(create_app(Settings(data_dir=tmp_path))) as client:
        response = await client.post("/mcp", json=INITIALIZE, headers={**HEADERS, **headers})
        assert response.status_code == status
        assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_server_that_nobody_asks_loads_no_mcp(tmp_path: Any) -> None:
    script = f"""
import asyncio, sys
from pathlib import Path
from toolfold.server import create_app
from toolfold.settings import MAX_MCP_ANSWER_BYTES, Settings

async def main():
    app = create_app(Settings(data_dir=Path({str(tmp_path)!r})))
    async with app.router.lifespan_context(app):
        await asyncio.sleep(0)

asyncio.run(main())
print(any(name == "mcp" or name.startswith("mcp.") for name in sys.modules))
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert (process.returncode, output.strip()) == (0, b"False")


async def test_a_server_that_is_to_stop_lets_open_streams_go(tmp_path: Any) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    async with on_a_port(app) as place, httpx.AsyncClient(base_url=f"http://{place}") as client:
        response = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
        headers = {**HEADERS, "mcp-session-id": response.headers["mcp-session-id"]}
        headers["mcp-protocol-version"] = "2025-11-25"
        async with client.stream("GET", "/mcp", headers=headers) as stream:
            assert stream.status_code == 200
            app.state.stopping.set()
            # It ends without its last chunk, as a connection that breaks.
            with pytest.raises(httpx.RemoteProtocolError):
                await stream.aread()


async def test_a_server_can_be_started_twice(tmp_path: Any) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    for _ in range(2):
        async with in_process(app) as client:
            response = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
            assert response.status_code == 200


async def test_the_sdk_leaves_logging_to_the_process(tmp_path: Any) -> None:
    async with on_a_port(create_app(Settings(data_dir=tmp_path))) as place:
        async with httpx.AsyncClient(base_url=f"http://{place}") as client:
            await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
        assert not any(type(one).__name__ == "RichHandler" for one in logging.root.handlers)


def test_a_command_without_a_database_says_so(tmp_path: Any) -> None:
    command = [*TOOLFOLD, "mcp", "--data-dir", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)  # noqa: S603 (our own)
    assert result.returncode == 1
    assert result.stdout == b""
    assert b"There is no database" in result.stderr
