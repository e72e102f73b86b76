"""Toolfold's own schema over HTTP and WebSocket: what only the whole of it can show."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import orjson
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.builders import text_block, tool_message
from tests.server.conftest import RunNode
from tests.server.serving import on_a_port
from tests.server.stored import Served, name_of
from tests.server.test_graphql_socket import open_socket
from tests.statements import statements
from toolfold import stored_json
from toolfold.schema.global_id import encode
from toolfold.server import create_app
from toolfold.settings import Settings
from toolfold.store import content, message, postgresql, sqlite
from toolfold.transcript import Attachment, Json

PAGE = """
query Page($id: ID!) {
  session(id: $id) { messages { nodes { toolMetadata { content contentOmitted { reason } } } } }
}
"""
ONE = "query One($id: ID!) { message(id: $id) { toolMetadata { content rawInput { json } } } }"
ENDLESS = text(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
)


@contextlib.asynccontextmanager
async def serve(settings: Settings, **values: Any) -> AsyncIterator[tuple[str, Served]]:
    """Serve on a port; give `host:port` and the server."""
    app = create_app(replace(settings, **values))
    async with on_a_port(app) as host, httpx.AsyncClient(base_url=f"http://{host}") as client:
        await client.get("/healthz")
        yield host, Served(client, app)


async def store(served: Served, *contents: Json) -> str:
    """Store a session of tool calls and return its global id."""
    await served.store(*(tool_message(content) for content in contents))
    return encode("Session", "default", "s")


async def post(served: Served, query: str, **variables: Any) -> httpx.Response:
    return await served.client.post("/graphql", json={"query": query, "variables": variables})


async def test_a_page_with_contents_goes_out_as_it_was_recorded(
    database_settings: Settings,
) -> None:
    recorded = [[text_block("café 😀")], {"n": 123456789012345678901, "f": 1.5}, [None], None]
    async with serve(database_settings) as (_, served):
        session = await store(served, *recorded)
        response = await post(served, PAGE, id=session)
    assert response.status_code == 200
    stored = [b"null" if value is None else stored_json.encode(value) for value in recorded]
    node = b'{"toolMetadata":{"content":%b,"contentOmitted":null}}'
    nodes = b",".join(node % data for data in stored)
    assert response.content.startswith(
        b'{"data":{"session":{"messages":{"nodes":[%b]}}},"extensions":' % nodes
    )


async def test_every_url_leads_to_the_bytes_of_its_hash(served: Served) -> None:
    document = """
    query ($id: ID!) {
      message(id: $id) {
        attachments { url }
        toolMetadata { contentUrl contentHash rawInput { url hash } rawOutput { url hash } }
      }
    }
    """
    call = tool_message(["content"], raw_input={"in": 1}, raw_output="out")
    picture = Attachment(b"\x89PNG", "image/png")
    await served.store(replace(call, attachments=(picture,)))
    response = await post(served, document, id=encode("Message", "default", "s", 1))
    shown = response.json()["data"]["message"]
    tool = shown["toolMetadata"]
    for url, hashed, expected in (
        (tool["contentUrl"], tool["contentHash"], b'["content"]'),
        (tool["rawInput"]["url"], tool["rawInput"]["hash"], b'{"in":1}'),
        (tool["rawOutput"]["url"], tool["rawOutput"]["hash"], b'"out"'),
        (shown["attachments"][0]["url"], name_of(b"\x89PNG"), b"\x89PNG"),
    ):
        answer = await served.get(url)
        assert (answer.status_code, answer.content) == (200, expected)
        assert answer.headers["etag"] == f'"{hashed}"'


async def test_a_block_that_is_not_known_goes_out_at_any_depth_and_width(
    database_settings: Settings,
) -> None:
    block: Json = {"type": "strange", "n": 10**40}
    for _ in range(400):
        block = {"type": "strange", "in": [block]}
    document = """
    query ($id: ID!) {
      message(id: $id) { toolMetadata { blocks { ... on UnknownBlock { raw } } } }
    }
    """
    async with serve(database_settings) as (_, served):
        await store(served, [block])
        response = await post(served, document, id=encode("Message", "default", "s", 1))
    assert response.status_code == 200
    assert stored_json.encode(block) in response.content


async def test_each_operation_of_a_socket_has_its_own_budget_and_its_own_reads(
    database_settings: Settings,
) -> None:
    """A page takes the whole compact budget, so that a second one would find nothing left."""
    async with serve(database_settings, compact_budget_bytes=400) as (host, served):
        session = await store(served, [text_block("x" * 300)])
        async with open_socket(host) as socket:
            with statements(served.database) as seen:
                answers = [
                    (await socket.run(str(n), PAGE, variables={"id": session}))[0] for n in "123"
                ]
            # What one operation has loaded is not there for the next, which may find it changed.
            read = [sql for sql in seen if "content_chunk" in sql]
    for answer in answers:
        (node,) = answer["payload"]["data"]["session"]["messages"]["nodes"]
        assert node["toolMetadata"]["contentOmitted"] is None
        budget = answer["payload"]["extensions"]["contentBudget"]
        assert (
            budget["requestedBytes"]
            == budget["deliveredBytes"]
            == len(stored_json.encode([text_block("x" * 300)]))
        )
    assert len(read) == 3


async def test_a_clients_library_gets_the_same_page_twice_over_one_socket(
    settings: Settings, run_node: RunNode
) -> None:
    async with serve(settings, compact_budget_bytes=400) as (host, served):
        session = await store(served, [text_block("x" * 300)])
        operation = {"query": PAGE, "variables": {"id": session}}
        documents = orjson.dumps([operation, operation]).decode()
        url = f"ws://{host}/graphql"
        first, second = await run_node("operations.mjs", url, documents)
    assert first == second
    (result,) = first["results"]
    (node,) = result["data"]["session"]["messages"]["nodes"]
    assert node == {"toolMetadata": {"content": [text_block("x" * 300)], "contentOmitted": None}}


async def never_ends(connection: AsyncConnection, *_: Any, **__: Any) -> Any:
    """Stand in for a read that takes longer than anyone waits."""
    await connection.execute(ENDLESS)


CONNECTIONS = {"sqlite": sqlite.READERS, "postgresql": postgresql.READERS}
READS = [(message, "by_keys", ONE), (content, "by_hashes", ONE)]


@pytest.mark.parametrize(("module", "name", "query"), READS, ids=["read", "loader"])
async def test_reads_are_interrupted_at_the_deadline_on_every_connection(
    database_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    query: str,
) -> None:
    async with serve(database_settings, query_seconds=1) as (_, served):
        await served.store(tool_message(["x"], raw_input={"y": 1}))
        variables = {"id": encode("Message", "default", "s", 1)}
        connections = CONNECTIONS[served.database.dialect]
        async with contextlib.AsyncExitStack() as stack:
            # All are open before the time runs.
            for _ in range(connections):
                await stack.enter_async_context(served.database.read())
        with monkeypatch.context() as patch:
            patch.setattr(module, name, never_ends)
            reads = (post(served, query, **variables) for _ in range(connections))
            answers = await asyncio.gather(*reads)
        assert {answer.status_code for answer in answers} == {504}
        async with asyncio.timeout(5):
            answer = await post(served, query, **variables)
    assert answer.json()["data"]["message"]["toolMetadata"]["content"] == ["x"]


@pytest.mark.parametrize(("module", "name", "query"), READS, ids=["read", "loader"])
async def test_a_read_is_interrupted_when_its_client_goes_away(
    database_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    query: str,
) -> None:
    reading = asyncio.Semaphore(0)

    async def told(connection: AsyncConnection, *_: Any, **__: Any) -> Any:
        reading.release()
        await never_ends(connection)

    async with serve(database_settings, query_seconds=60) as (_, served):
        await served.store(tool_message(["x"], raw_input={"y": 1}))
        variables = {"id": encode("Message", "default", "s", 1)}
        with monkeypatch.context() as patch:
            patch.setattr(module, name, told)
            for _ in range(6):
                leaving = asyncio.ensure_future(post(served, query, **variables))
                await reading.acquire()
                leaving.cancel()
        async with asyncio.timeout(5):
            answer = await post(served, query, **variables)
    assert answer.json()["data"]["message"]["toolMetadata"]["content"] == ["x"]
