"""GraphQL over HTTP: media types, statuses, and what an answer holds."""

import asyncio
from typing import Any

import httpx
import orjson
import pytest

from tests.server.conftest import RunNode
from tests.server.serving import NEW, OLD, codes, in_process, on_a_port
from tests.server.small_schema import SmallSchema
from toolfold.server import create_app
from toolfold.server.graphql_http import while_connected
from toolfold.settings import Settings


async def test_all_audits_of_graphql_http_pass(settings: Settings, run_node: RunNode) -> None:
    async with on_a_port(create_app(settings)) as host:
        results = await run_node("audits.mjs", f"http://{host}/graphql")
    assert [result for result in results if result["status"] != "ok"] == []
    assert len(results) == 61


@pytest.mark.parametrize("accept", [NEW, OLD])
async def test_a_query_is_answered_in_the_media_type_that_was_asked_for(
    client: httpx.AsyncClient, accept: str
) -> None:
    response = await client.post(
        "/graphql", json={"query": "{ hello }"}, headers={"accept": accept}
    )
    assert response.status_code == 200
    assert response.headers["content-type"] == f"{accept}; charset=utf-8"
    assert response.headers["vary"] == "Accept, Accept-Encoding"
    assert response.headers["cache-control"] == "no-store"
    assert response.content == b'{"data":{"hello":"hello you"}}'


async def test_stored_json_goes_out_byte_for_byte(client: httpx.AsyncClient) -> None:
    response = await client.post("/graphql", json={"query": "{ stored }"})
    assert response.content == ('{"data":{"stored":{"n":123456789012345678901,"s":"é"}}}'.encode())


async def test_a_client_that_accepts_neither_media_type_is_told(client: httpx.AsyncClient) -> None:
    response = await client.post(
        "/graphql", json={"query": "{ hello }"}, headers={"accept": "text/html"}
    )
    assert (response.status_code, codes(response)) == (406, ["NOT_ACCEPTABLE"])


@pytest.mark.parametrize(
    "accept", [f"{OLD}, text/event-stream", f"text/event-stream, {NEW}", "multipart/mixed"]
)
async def test_a_client_that_accepts_a_stream_too_gets_one_json_answer(
    client: httpx.AsyncClient, accept: str
) -> None:
    response = await client.post(
        "/graphql", json={"query": "{ hello }"}, headers={"accept": accept}
    )
    assert response.json() == {"data": {"hello": "hello you"}}
    assert "json" in response.headers["content-type"]


async def test_the_header_may_be_given_in_several_lines(client: httpx.AsyncClient) -> None:
    headers = [("accept", "text/html"), ("accept", NEW)]
    response = await client.get("/graphql", params={"query": "{ hello }"}, headers=headers)
    assert response.headers["content-type"].startswith(NEW)


REQUEST_ERRORS = [
    ("{", None, "GRAPHQL_PARSE_FAILED"),
    ("{ nothing }", None, "GRAPHQL_VALIDATION_FAILED"),
    ("query($name: String!) { hello(name: $name) }", None, "BAD_USER_INPUT"),
    ("query($time: DateTime!) { at(time: $time) }", {"time": "now"}, "BAD_USER_INPUT"),
    ('{ at(time: "now") }', None, "GRAPHQL_VALIDATION_FAILED"),
    ("fragment F on Query { hello }", None, "GRAPHQL_VALIDATION_FAILED"),
    ("{" + "a{" * 900, None, "DOCUMENT_TOO_LARGE"),
]


@pytest.mark.parametrize(("document", "variables", "code"), REQUEST_ERRORS)
async def test_a_request_error_has_no_data_and_a_status_by_media_type(
    client: httpx.AsyncClient, document: str, variables: dict[str, Any] | None, code: str
) -> None:
    for accept, status in ((NEW, 400), (OLD, 200)):
        body = {"query": document, "variables": variables}
        response = await client.post("/graphql", json=body, headers={"accept": accept})
        assert (response.status_code, codes(response)) == (status, [code])
        assert "data" not in response.json()


async def test_an_unknown_operation_is_a_request_error(client: httpx.AsyncClient) -> None:
    body = {"query": "query A { hello }", "operationName": "B"}
    response = await client.post("/graphql", json=body, headers={"accept": NEW})
    assert response.status_code == 400
    assert response.json()["errors"][0]["message"] == 'Unknown operation named "B".'


async def test_a_field_error_leaves_the_rest_readable(client: httpx.AsyncClient) -> None:
    body = {"query": "{ hello refused }"}
    response = await client.post("/graphql", json=body, headers={"accept": NEW})
    assert response.status_code == 200
    assert response.json() == {
        "data": {"hello": "hello you", "refused": None},
        "errors": [
            {
                "message": "first must not be negative.",
                "locations": [{"line": 1, "column": 9}],
                "path": ["refused"],
                "extensions": {"code": "BAD_USER_INPUT", "argument": "first"},
            }
        ],
    }


async def test_data_that_became_null_in_execution_is_told_as_null(
    client: httpx.AsyncClient,
) -> None:
    body = {"query": "{ brokenAll }"}
    response = await client.post("/graphql", json=body, headers={"accept": NEW})
    assert response.status_code == 200
    assert response.json()["data"] is None


async def test_what_takes_too_long_ends_with_the_deadlines_code(
    schema: SmallSchema, settings: Settings
) -> None:
    hurried = Settings(data_dir=settings.data_dir, query_seconds=1)
    async with in_process(create_app(hurried, schema=schema)) as client:
        response = await client.post("/graphql", json={"query": "{ wait }"})
    assert (response.status_code, codes(response)) == (504, ["DEADLINE_EXCEEDED"])
    assert schema.stage.cancelled.is_set()


async def test_a_client_that_goes_away_ends_its_operation(
    schema: SmallSchema, settings: Settings
) -> None:
    async with on_a_port(create_app(settings, schema=schema)) as host:
        name, port = host.split(":")
        _, writer = await asyncio.open_connection(name, int(port))
        body = orjson.dumps({"query": "{ wait }"})
        writer.write(
            b"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\n\r\n%b" % (len(body), body)
        )
        await schema.stage.started.wait()
        writer.close()
        async with asyncio.timeout(5):
            await schema.stage.cancelled.wait()


async def test_a_client_that_goes_away_just_as_all_is_done_ends_nothing() -> None:
    left = asyncio.Event()

    async def receive() -> dict[str, str]:
        left.set()
        return {"type": "http.disconnect"}

    # It is done in the round of the loop in which the client is seen to have left.
    assert await while_connected(receive, left.wait()) is True
    await asyncio.sleep(0)


async def test_a_route_that_is_not_there_is_told_in_json(client: httpx.AsyncClient) -> None:
    response = await client.get("/nothing")
    assert (response.status_code, codes(response)) == (404, ["NOT_FOUND"])


async def test_what_fails_outside_of_an_operation_is_masked_and_logged_once(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        raise TypeError("a value that cannot be written")

    monkeypatch.setattr("toolfold.server.graphql_http.response_body", fail)
    response = await client.post("/graphql", json={"query": "{ hello }"})
    assert response.status_code == 500
    (error,) = response.json()["errors"]
    assert error["message"] == "Internal error."
    assert error["extensions"]["code"] == "INTERNAL"
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert error["extensions"]["requestId"] in record.getMessage()
