"""GraphQL over WebSocket: graphql-transport-ws, spoken by real clients to a real server."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from strawberry.http.exceptions import WebSocketDisconnected
from websockets import Subprotocol
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from tests.server.conftest import RunNode
from tests.server.serving import on_a_port
from tests.server.small_schema import UNTOLD, SmallSchema, Stage
from toolfold.schema.global_id import encode
from toolfold.server import create_app
from toolfold.server.graphql_socket import SocketAdapter, SocketHandler
from toolfold.settings import Settings

TRANSPORT_WS = Subprotocol("graphql-transport-ws")


class Socket:
    """A socket that was acknowledged, spoken to in JSON."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def send(self, **message: Any) -> None:
        await self.connection.send(orjson.dumps(message).decode())

    async def receive(self) -> Any:
        frame = await self.connection.recv()
        assert isinstance(frame, str)
        return orjson.loads(frame)

    async def run(self, operation_id: str, query: str, **payload: Any) -> list[Any]:
        """Return what answers one operation, to its end, without the operation's id."""
        await self.send(type="subscribe", id=operation_id, payload={"query": query, **payload})
        answers: list[Any] = []
        while not answers or answers[-1]["type"] == "next":
            answers.append(await self.receive())
            assert answers[-1].pop("id") == operation_id
        return answers

    async def close_code(self) -> int:
        """Return the code with which the server closes the socket."""
        with pytest.raises(ConnectionClosedError) as closed:
            await self.connection.recv()
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code


@contextlib.asynccontextmanager
async def open_socket(address: str, **options: Any) -> AsyncIterator[Socket]:
    protocols = [TRANSPORT_WS]
    async with connect(f"ws://{address}/graphql", subprotocols=protocols, **options) as connection:
        socket = Socket(connection)
        await socket.send(type="connection_init")
        assert await socket.receive() == {"type": "connection_ack"}
        yield socket


@pytest.fixture(scope="module")
async def served(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[str, SmallSchema]]:
    """One server for the module: a server takes longer to end than a test."""
    schema = SmallSchema()
    settings = Settings(data_dir=tmp_path_factory.mktemp("socket"))
    async with on_a_port(create_app(settings, schema=schema)) as host:
        yield host, schema


@pytest.fixture
def host(served: tuple[str, SmallSchema]) -> str:
    return served[0]


@pytest.fixture
def schema(served: tuple[str, SmallSchema]) -> SmallSchema:
    """Return the server's schema, on a new stage."""
    served[1].stage = Stage()
    return served[1]


@pytest.fixture
async def socket(host: str) -> AsyncIterator[Socket]:
    async with open_socket(host) as socket:
        yield socket


async def test_operations_follow_each_other_on_one_socket_in_text_frames(socket: Socket) -> None:
    expected = [{"type": "next", "payload": {"data": {"hello": "hello you"}}}, {"type": "complete"}]
    assert await socket.run("1", "{ hello }") == expected
    assert await socket.run("1", "{ hello }") == expected


async def test_stored_json_goes_through_a_text_frame_unchanged(socket: Socket) -> None:
    await socket.send(type="subscribe", id="1", payload={"query": "{ stored }"})
    assert await socket.connection.recv() == (
        '{"id":"1","type":"next","payload":{"data":{"stored":{"n":123456789012345678901,"s":"é"}}}}'
    )


async def test_a_subscription_is_told_event_by_event(socket: Socket) -> None:
    answers = await socket.run("1", "subscription { ticks(count: 2) }")
    assert [answer.get("payload") for answer in answers] == [
        {"data": {"ticks": 0}},
        {"data": {"ticks": 1}},
        None,
    ]


@pytest.mark.parametrize(
    ("document", "payload", "code"),
    [
        ("{", {}, "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", {}, "GRAPHQL_VALIDATION_FAILED"),
        ("{ hello }", {"operationName": "B" * 200}, "GRAPHQL_VALIDATION_FAILED"),
        ("query($time: DateTime!) { at(time: $time) }", {}, "BAD_USER_INPUT"),
        ("", {}, "GRAPHQL_VALIDATION_FAILED"),
    ],
)
async def test_an_error_of_the_document_is_told_and_leaves_the_socket_open(
    socket: Socket, document: str, payload: dict[str, Any], code: str
) -> None:
    for _ in range(2):
        first, *_ = await socket.run("1", document, **payload)
        errors = first["payload"] if first["type"] == "error" else first["payload"]["errors"]
        assert [error["extensions"]["code"] for error in errors] == [code]
    assert (await socket.run("2", "{ hello }"))[0]["payload"] == {"data": {"hello": "hello you"}}


async def test_a_clients_library_sees_a_syntax_error_and_what_follows(
    host: str, run_node: RunNode
) -> None:
    operations = [{"query": "{"}, {"query": "{ nothing }"}, {"query": "{ hello }"}]
    documents = orjson.dumps(operations).decode()
    syntax, validation, good = await run_node("operations.mjs", f"ws://{host}/graphql", documents)
    assert syntax["errors"][0]["message"] == "Syntax Error: Expected Name, found <EOF>."
    assert validation["errors"][0]["message"] == "Cannot query field 'nothing' on type 'Query'."
    assert good == {"results": [{"data": {"hello": "hello you"}}]}


async def test_an_unexpected_error_is_masked_in_a_query_and_in_an_event(
    socket: Socket, caplog: pytest.LogCaptureFixture
) -> None:
    answer, _ = await socket.run("1", "{ broken }")
    (error,) = answer["payload"]["errors"]
    assert error["message"] == "Internal error."
    assert error["extensions"]["requestId"] in caplog.text
    _, second, *_ = await socket.run("2", "subscription { brokenTicks }")
    assert second["payload"]["errors"][0]["message"] == "Internal error."
    assert UNTOLD not in orjson.dumps([answer, second]).decode()


async def test_a_query_over_the_deadline_ends_and_leaves_the_socket_open(
    settings: Settings,
) -> None:
    schema = SmallSchema()
    hurried = Settings(data_dir=settings.data_dir, query_seconds=1)
    async with on_a_port(create_app(hurried, schema=schema)) as host, open_socket(host) as socket:
        *_, answer = await socket.run("1", "{ wait }")
        assert answer["payload"][0]["extensions"] == {"code": "DEADLINE_EXCEEDED"}
        assert schema.stage.cancelled.is_set()
        assert (await socket.run("2", "{ hello }"))[0]["payload"]["data"] == {"hello": "hello you"}


async def test_a_client_that_completes_its_operation_ends_it(
    socket: Socket, schema: SmallSchema
) -> None:
    await socket.send(type="subscribe", id="1", payload={"query": "{ wait }"})
    await schema.stage.started.wait()
    await socket.send(type="complete", id="1")
    await schema.stage.cancelled.wait()
    assert (await socket.run("1", "{ hello }"))[-1] == {"type": "complete"}


async def test_a_client_that_goes_away_ends_its_operations(host: str, schema: SmallSchema) -> None:
    async with open_socket(host) as socket:
        await socket.send(type="subscribe", id="1", payload={"query": "{ wait }"})
        await schema.stage.started.wait()
    await schema.stage.cancelled.wait()


@pytest.mark.parametrize(
    "frame",
    [
        "[]",
        "1",
        "{",
        "{}",
        '{"type":"' + "x" * 200 + '"}',
        '{"type":["subscribe"]}',
        '{"type":"subscribe"}',
        '{"type":"subscribe","id":1,"payload":{"query":"{ hello }"}}',
        '{"type":"subscribe","id":"1","payload":[]}',
        '{"type":"subscribe","id":"1","payload":{}}',
        '{"type":"subscribe","id":"1","payload":{"query":1}}',
        '{"type":"subscribe","id":"1","payload":{"query":"{ hello }","variables":[]}}',
        '{"type":"subscribe","id":"1","payload":{"query":"{ hello }","operationName":1}}',
        '{"type":"complete"}',
        '{"type":"complete","id":[]}',
        "[" * 100_000,
        b"{}",
    ],
    ids=lambda frame: str(frame[:60]),
)
async def test_what_is_no_message_of_the_protocol_closes_the_socket(
    socket: Socket, frame: str | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    await socket.connection.send(frame)
    assert await socket.close_code() == 4400
    assert caplog.records == []


async def test_a_second_operation_under_a_long_id_closes_the_socket(socket: Socket) -> None:
    for _ in range(2):
        await socket.send(type="subscribe", id="x" * 200, payload={"query": "{ wait }"})
    assert await socket.close_code() == 4409


async def test_no_operation_runs_before_the_socket_is_acknowledged(host: str) -> None:
    async with connect(f"ws://{host}/graphql", subprotocols=[TRANSPORT_WS]) as connection:
        socket = Socket(connection)
        await socket.send(type="subscribe", id="1", payload={"query": "{ hello }"})
        assert await socket.close_code() == 4401


@pytest.mark.parametrize("protocols", [None, [Subprotocol("graphql-ws")]])
async def test_no_other_protocol_is_spoken(host: str, protocols: list[Subprotocol] | None) -> None:
    async with connect(f"ws://{host}/graphql", subprotocols=protocols) as connection:
        assert connection.subprotocol is None
        assert await Socket(connection).close_code() == 4406


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
async def test_a_page_of_another_origin_cannot_open_a_socket(host: str, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with open_socket(host, origin=origin):
            pass
    assert refused.value.response.status_code == 403


async def test_a_page_under_a_name_pointed_here_cannot_open_a_socket(host: str) -> None:
    name, port = host.split(":")
    with pytest.raises(InvalidStatus) as refused:
        async with open_socket("evil.example", host=name, port=int(port)):
            pass
    assert refused.value.response.status_code == 403


async def test_the_servers_own_page_can_open_a_socket(host: str) -> None:
    async with open_socket(host, origin=f"http://{host}") as socket:
        assert (await socket.run("1", "{ hello }"))[0]["type"] == "next"


async def test_operations_on_one_socket_run_beside_each_other(
    socket: Socket, schema: SmallSchema
) -> None:
    await socket.send(type="subscribe", id="slow", payload={"query": "{ wait }"})
    await schema.stage.started.wait()
    async with asyncio.timeout(5):
        assert (await socket.run("1", "{ hello }"))[-1] == {"type": "complete"}


@pytest.mark.parametrize("written", ["mutation", r"\u006dutation", r"mut\u0061tion"])
async def test_a_mutation_is_read_to_its_last_digit_and_refused_by_its_path(
    tmp_path: Path, written: str
) -> None:
    create = """mutation ($input: CreateSessionInput!) {
      createSession(input: $input) { session { id } errors { path } }
    }"""
    append = """mutation ($input: AppendMessagesInput!) {
      appendMessages(input: $input) {
        edges { node { toolMetadata { rawInput { slice { text } } } } } errors { path }
      }
    }"""
    project = encode("Project", "default")
    app = create_app(Settings(data_dir=tmp_path))
    async with on_a_port(app) as address, open_socket(address) as socket:
        made = {"input": {"projectId": project, "agent": "a"}}
        answers = await socket.run("1", create, variables=made)
        session_id = answers[0]["payload"]["data"]["createSession"]["session"]["id"]
        found: list[Any] = []
        for number, raw in enumerate((str(2**70), '"\\ud800"', '{"a":1,"a":2}')):
            call = {"toolCallId": "c", "rawInput": "RAW"}
            message = {"clientMessageId": f"{number}", "role": "TOOL", "toolMetadata": call}
            variables = {"input": {"sessionId": session_id, "messages": [message]}}
            payload = {"query": append, "variables": variables}
            sent = {"type": "subscribe", "id": f"a{number}", "payload": payload}
            text = orjson.dumps(sent).decode().replace("mutation", written).replace('"RAW"', raw)
            await socket.connection.send(text)
            found.append((await socket.receive())["payload"]["data"]["appendMessages"])
            assert (await socket.receive())["type"] == "complete"
    text = found[0]["edges"][0]["node"]["toolMetadata"]["rawInput"]["slice"]["text"]
    assert (text, found[0]["errors"]) == (str(2**70), [])
    path = ["input", "messages", "0", "toolMetadata", "rawInput"]
    assert found[1:] == [{"edges": None, "errors": [{"path": path}]}] * 2


@pytest.mark.parametrize("place", ['"query"', '"id"'])
async def test_a_mutation_whose_document_is_no_unicode_closes_the_socket(
    tmp_path: Path, place: str
) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    async with on_a_port(app) as address, open_socket(address) as socket:
        payload = {"query": "mutation { deleteSession { deletedId } }"}
        sent = {"type": "subscribe", "id": "1", "payload": payload}
        text = orjson.dumps(sent).decode().replace(f'{place}:"', f'{place}:"\\ud800')
        await socket.connection.send(text)
        assert await socket.close_code() == 4400


async def test_a_document_is_parsed_and_validated_once_for_all_transports(
    socket: Socket, host: str, schema: SmallSchema
) -> None:
    query = "query Once { hello }"
    for operation_id in ("1", "2"):
        assert len(await socket.run(operation_id, query)) == 2
    async with httpx.AsyncClient(base_url=f"http://{host}") as client:
        for accept in ("application/json", "text/event-stream"):
            headers = {"accept": accept}
            response = await client.post("/graphql", json={"query": query}, headers=headers)
            assert "hello you" in response.text
    caches = schema.stage.caches
    for cache in (caches.parse, caches.validate):
        assert (cache.cache_info().misses, cache.cache_info().hits) == (1, 3)


class _ClosedSocket:
    """A socket that uvicorn has closed because its client answered no ping, and its view."""

    def encode_json(self, _: object) -> str:
        return "{}"

    async def send_text(self, _: str) -> None:
        raise RuntimeError(
            "Unexpected ASGI message 'websocket.send', after sending 'websocket.close'."
        )


async def test_a_socket_that_was_closed_ends_what_sends_without_a_word_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    closed: Any = _ClosedSocket()
    adapter = SocketAdapter(closed, closed, closed)
    with pytest.raises(WebSocketDisconnected) as ended:
        await adapter.send_json({"type": "next"})
    handler = object.__new__(SocketHandler)
    await handler.handle_task_exception(ended.value)
    assert caplog.records == []
