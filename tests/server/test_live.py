"""Following a session through real clients and a real server, over connections that break."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import orjson
import pytest
from starlette.applications import Starlette

from tests.builders import tool_message
from tests.schema.conftest import content_of
from tests.schema.following import SIZES_OF_UPDATES, write
from tests.server.conftest import RunNode
from tests.server.serving import on_a_port
from tests.server.test_graphql_socket import Socket, open_socket
from tests.statements import statements
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode
from toolfold.server import create_app
from toolfold.settings import Settings
from toolfold.transcript import Message, MessageRole, ToolCallUpdate, ToolStatus, Value


def said(client_id: object, content: str = "Words.") -> Message:
    return Message(str(client_id), MessageRole.ASSISTANT, content)


@dataclass(slots=True)
class Server:
    """A server on a port, and the resources with which its process writes."""

    host: str
    app: Starlette

    @property
    def resources(self) -> Resources:
        resources: Resources = self.app.state.resources
        return resources

    async def answers(self) -> None:
        """Wait until the server has answered."""
        async with httpx.AsyncClient(base_url=f"http://{self.host}") as client:
            assert (await client.get("/healthz")).status_code == 200

    async def no_one_follows(self) -> None:
        """Wait until no session is followed any more."""
        async with asyncio.timeout(5):
            while self.resources.events.watched_sessions():
                await self.answers()

    async def write(self, *values: Value) -> str:
        """Record values of one session, publish, and return the session's id."""
        counts = await write(self.resources.database, self.resources.events, *values)
        return encode("Session", "default", counts.sessions[0].session_id)


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Server]:
    app = create_app(settings)
    async with on_a_port(app) as host:
        server = Server(host, app)
        await server.answers()
        yield server


@pytest.fixture
async def server(database_settings: Settings) -> AsyncIterator[Server]:
    async with running(database_settings) as server:
        yield server


async def updates(socket: Socket, operation_id: str = "1") -> AsyncIterator[dict[str, Any]]:
    """Yield the updates that come for one operation."""
    while (answer := await socket.receive())["type"] == "next":
        assert answer["id"] == operation_id
        assert "errors" not in answer["payload"], answer
        yield answer["payload"]["data"]["sessionUpdates"]


async def subscribe(socket: Socket, id_: str, after: str | None = None) -> None:
    payload = {"query": SIZES_OF_UPDATES, "variables": {"id": id_, "after": after}}
    await socket.send(type="subscribe", id="1", payload=payload)


async def until_caught_up(socket: Socket) -> tuple[list[dict[str, Any]], str]:
    """Return the updates before the next `CaughtUp`, and its cursor."""
    told: list[dict[str, Any]] = []
    async for update in updates(socket):
        if update["__typename"] == "CaughtUp":
            return told, update["cursor"]
        told.append(update)
    raise AssertionError("The subscription has ended.")


@pytest.mark.parametrize("kind", ["ws", "sse"])
async def test_a_client_whose_connection_breaks_is_told_each_change_once(
    server: Server, run_node: RunNode, kind: str
) -> None:
    id_ = await server.write(*(said(number) for number in range(1, 151)))
    scheme = {"ws": "ws", "sse": "http"}[kind]
    url = f"{scheme}://{server.host}/graphql"
    following = asyncio.ensure_future(run_node("follow.mjs", kind, url, id_, "400", "70"))
    for number in range(151, 401):
        await server.write(said(number))
    outcome = await following
    assert outcome["messages"] == [[number, number] for number in range(1, 401)]
    # What had arrived before the break was told after it.
    assert outcome["connections"] >= 2


async def test_a_follower_goes_on_after_the_server_was_restarted(
    database_settings: Settings,
) -> None:
    async with running(database_settings) as server, open_socket(server.host) as socket:
        id_ = await server.write(said(1), said(2))
        await subscribe(socket, id_)
        told, cursor = await until_caught_up(socket)
        assert len(told) == 2
    async with running(database_settings) as server, open_socket(server.host) as socket:
        await server.write(said(3), said(1, "Words, and more."))
        await subscribe(socket, id_, cursor)
        told, _ = await until_caught_up(socket)
        assert [update["message"]["sequence"] for update in told] == [3, 1]


async def test_whoever_is_5000_behind_gets_exactly_those(server: Server) -> None:
    id_ = await server.write(said(0))
    async with open_socket(server.host) as socket:
        await subscribe(socket, id_)
        _, cursor = await until_caught_up(socket)
    for start in range(1, 5_001, 500):
        await server.write(*(said(number) for number in range(start, start + 500)))
    async with open_socket(server.host) as socket:
        await subscribe(socket, id_, cursor)
        told, _ = await until_caught_up(socket)
    assert [update["message"]["revision"] for update in told] == list(range(2, 5_002))


async def test_what_is_wrong_with_a_subscription_ends_it_and_not_the_socket(
    server: Server,
) -> None:
    id_ = await server.write(said(1))
    async with open_socket(server.host) as socket:
        for variables, code in [
            ({"id": "nothing"}, "NOT_FOUND"),
            ({"id": id_, "after": "nothing"}, "BAD_USER_INPUT"),
        ]:
            (answer,) = await socket.run("1", SIZES_OF_UPDATES, variables=variables)
            assert answer["type"] == "error"
            assert [error["extensions"]["code"] for error in answer["payload"]] == [code]
        await subscribe(socket, id_)
        told, _ = await until_caught_up(socket)
        assert len(told) == 1


async def test_a_client_that_completes_its_subscription_leaves_nothing_behind(
    server: Server,
) -> None:
    id_ = await server.write(said(1))
    async with open_socket(server.host) as socket:
        await subscribe(socket, id_)
        await until_caught_up(socket)
        assert server.resources.events.watched_sessions()
        await socket.send(type="complete", id="1")
        await server.no_one_follows()


EVENTS = {"accept": "text/event-stream"}


async def test_a_subscription_comes_as_server_sent_events(server: Server) -> None:
    id_ = await server.write(said(1))
    body = {"query": SIZES_OF_UPDATES, "variables": {"id": id_}}
    async with (
        httpx.AsyncClient(base_url=f"http://{server.host}") as client,
        client.stream("POST", "/graphql", json=body, headers=EVENTS) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.aiter_lines()
        assert await anext(lines) == "event: next"
        data = await anext(lines)
        assert data.startswith("data: ")
        update = orjson.loads(data[6:])["data"]["sessionUpdates"]
        assert update["message"]["sequence"] == 1
        assert await anext(lines) == ""
    await server.no_one_follows()


OUTPUTS = """
subscription($id: ID!) {
  sessionUpdates(sessionId: $id) {
    __typename
    ... on MessageUpdate { message { sequence revision toolMetadata { content } } }
  }
}
"""


async def test_a_reader_that_stops_is_read_nothing_for_and_goes_on_with_the_latest(
    server: Server,
) -> None:
    count = 150
    call = tool_message(client_id="c", tool_call_id="c", status=ToolStatus.IN_PROGRESS)
    id_ = await server.write(call, said("last"))
    # The client takes a frame at a time from the network.
    async with open_socket(server.host, max_queue=1, compression=None) as socket:
        payload = {"query": OUTPUTS, "variables": {"id": id_}}
        await socket.send(type="subscribe", id="1", payload=payload)
        with statements(server.resources.database) as seen:
            for number in range(count):
                content = content_of(200_000, mark=str(number))
                await server.write(ToolCallUpdate("c", content=content))
        # What fits the network's buffers was sent; 30 MB passed.
        reads = [sql for sql in seen if "SELECT content_chunk" in sql]
        assert len(reads) < 100
        told = []
        async for update in updates(socket):
            if "message" in update:
                told.append(update["message"]["revision"])
                if told[-1] == count + 2:
                    break
    assert len(told) < 100
    assert told == sorted(set(told))
