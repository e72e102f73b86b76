"""GraphQL over HTTP: media types, statuses, and what no request may do."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import orjson
import pytest

from tests.server.conftest import RunNode
from tests.server.serving import in_process, on_a_port
from tests.server.small_schema import SmallSchema, Stage
from toolfold.server import create_app
from toolfold.settings import Settings

NEW = "application/graphql-response+json"
OLD = "application/json"


@pytest.fixture
def schema() -> SmallSchema:
    return SmallSchema()


@pytest.fixture
def stage(schema: SmallSchema) -> Stage:
    return schema.stage


@pytest.fixture
async def client(settings: Settings, schema: SmallSchema) -> AsyncIterator[httpx.AsyncClient]:
    async with in_process(create_app(settings, schema=schema)) as client:
        yield client


def codes(response: httpx.Response) -> list[str]:
    return [error["extensions"]["code"] for error in response.json()["errors"]]


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
    assert response.headers["vary"] == "Accept"
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
    "accept", ["text/event-stream", f"{OLD}, text/event-stream", "multipart/mixed"]
)
async def test_a_client_that_accepts_a_stream_gets_one_json_answer(
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


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_other_methods_are_refused(client: httpx.AsyncClient, method: str) -> None:
    response = await client.request(method, "/graphql", json={"query": "{ hello }"})
    assert (response.status_code, codes(response)) == (405, ["METHOD_NOT_ALLOWED"])
    assert set(response.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


async def test_a_get_answers_a_query(client: httpx.AsyncClient) -> None:
    parameters = {
        "query": "query Q($name: String!) { hello(name: $name) }",
        "variables": '{"name":"é"}',
        "operationName": "Q",
        "extensions": "",
    }
    response = await client.get("/graphql", params=parameters)
    assert response.json() == {"data": {"hello": "hello é"}}


async def test_a_head_says_what_a_get_would(client: httpx.AsyncClient) -> None:
    response = await client.head("/graphql", params={"query": "{ hello }"})
    assert response.status_code == 200
    assert response.headers["content-length"] == str(len('{"data":{"hello":"hello you"}}'))


async def test_a_browser_that_opens_the_address_gets_no_page_from_elsewhere(
    client: httpx.AsyncClient,
) -> None:
    accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    response = await client.get("/graphql", headers={"accept": accept})
    assert (response.status_code, codes(response)) == (400, ["BAD_REQUEST"])
    assert response.headers["content-type"] == "application/json"
    assert "<" not in response.text


@pytest.mark.parametrize("accept", [NEW, OLD])
async def test_a_get_never_changes_anything(
    client: httpx.AsyncClient, stage: Stage, accept: str
) -> None:
    parameters = {"query": "mutation { change }"}
    response = await client.get("/graphql", params=parameters, headers={"accept": accept})
    assert (response.status_code, codes(response)) == (405, ["METHOD_NOT_ALLOWED"])
    assert response.headers["allow"] == "POST"
    assert stage.changes == 0


async def test_a_named_mutation_beside_a_query_is_refused_by_get(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    document = "query Q { hello } mutation M { change }"
    response = await client.get("/graphql", params={"query": document, "operationName": "M"})
    assert response.status_code == 405
    response = await client.get("/graphql", params={"query": document, "operationName": "Q"})
    assert response.json() == {"data": {"hello": "hello you"}}
    assert stage.changes == 0


async def test_a_post_runs_a_mutation(client: httpx.AsyncClient) -> None:
    response = await client.post("/graphql", json={"query": "mutation { change }"})
    assert response.json() == {"data": {"change": 1}}


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_subscription_is_sent_to_the_websocket(
    client: httpx.AsyncClient, method: str
) -> None:
    given = {"query": "subscription { ticks }"}
    response = await (
        client.get("/graphql", params=given)
        if method == "GET"
        else client.post("/graphql", json=given)
    )
    assert (response.status_code, codes(response)) == (400, ["BAD_REQUEST"])
    assert "WebSocket" in response.text


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "text/plain",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
    ],
)
async def test_a_body_of_a_type_that_a_form_can_send_is_refused(
    client: httpx.AsyncClient, content_type: str | None
) -> None:
    headers = {} if content_type is None else {"content-type": content_type}
    response = await client.post("/graphql", content=b'{"query":"{ hello }"}', headers=headers)
    assert (response.status_code, codes(response)) == (415, ["UNSUPPORTED_MEDIA_TYPE"])


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON; Charset=UTF-8", 'application/json;charset="utf8"'],
)
async def test_json_in_utf8_is_accepted_however_it_is_written(
    client: httpx.AsyncClient, content_type: str
) -> None:
    headers = {"content-type": content_type}
    response = await client.post("/graphql", content=b'{"query":"{ hello }"}', headers=headers)
    assert response.json() == {"data": {"hello": "hello you"}}


async def test_a_compressed_body_is_refused(client: httpx.AsyncClient) -> None:
    headers = {"content-type": OLD, "content-encoding": "gzip"}
    response = await client.post("/graphql", content=b"\x1f\x8b", headers=headers)
    assert response.status_code == 415


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b'"{ hello }"',
        b"{}",
        b'{"query":""}',
        b'{"query":null}',
        b'{"query":["{ hello }"]}',
        b'{"query":"{ hello }","variables":[]}',
        b'{"query":"{ hello }","operationName":{}}',
        b'{"query":"{ hello }","extensions":"x"}',
        b'{"query":"\xff"}',
        b'{"query":"{ hello(name: \\"\\ud800\\") }"}',
        b'{"query":"{ hello }","variables":{"a":NaN}}',
        b'{"query":"{ hello }","variables":{"a":' + b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("accept", [NEW, OLD])
async def test_a_body_that_is_no_request_is_a_bad_request(
    client: httpx.AsyncClient, body: bytes, accept: str
) -> None:
    headers = {"content-type": OLD, "accept": accept}
    response = await client.post("/graphql", content=body, headers=headers)
    assert (response.status_code, codes(response)) == (400, ["BAD_REQUEST"])
    assert "data" not in response.json()


async def test_requests_in_batches_are_not_served(client: httpx.AsyncClient) -> None:
    response = await client.post("/graphql", json=[{"query": "{ hello }"}])
    assert (response.status_code, codes(response)) == (400, ["BAD_REQUEST"])
    assert "batches" in response.text


@pytest.mark.parametrize(
    "parameters", [{}, {"query": ""}, {"query": "{ hello }", "variables": "{"}]
)
async def test_a_get_that_is_no_request_is_a_bad_request(
    client: httpx.AsyncClient, parameters: dict[str, str]
) -> None:
    response = await client.get("/graphql", params=parameters)
    assert (response.status_code, codes(response)) == (400, ["BAD_REQUEST"])


async def test_a_body_over_the_limit_is_refused_by_its_length(
    settings: Settings, client: httpx.AsyncClient
) -> None:
    headers = {"content-type": OLD, "content-length": str(settings.max_body_bytes + 1)}
    response = await client.post("/graphql", content=b"", headers=headers)
    assert (response.status_code, codes(response)) == (413, ["PAYLOAD_TOO_LARGE"])


async def test_a_body_over_the_limit_is_refused_while_it_comes(
    schema: SmallSchema, settings: Settings
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 1024

    small = Settings(data_dir=settings.data_dir, max_body_bytes=4096)
    async with in_process(create_app(small, schema=schema)) as client:
        response = await client.post("/graphql", content=endless(), headers={"content-type": OLD})
    assert (response.status_code, codes(response)) == (413, ["PAYLOAD_TOO_LARGE"])
    assert sent == 5


async def test_a_body_of_just_the_limit_is_read(schema: SmallSchema, settings: Settings) -> None:
    body = b'{"query":"{ hello }"}'
    exact = Settings(data_dir=settings.data_dir, max_body_bytes=len(body))
    async with in_process(create_app(exact, schema=schema)) as client:
        response = await client.post("/graphql", content=body, headers={"content-type": OLD})
        assert response.status_code == 200
        response = await client.post("/graphql", content=body + b" ", headers={"content-type": OLD})
        assert response.status_code == 413


REQUEST_ERRORS = [
    ("{", None, "GRAPHQL_PARSE_FAILED"),
    ("{ nothing }", None, "GRAPHQL_VALIDATION_FAILED"),
    ("query($name: String!) { hello(name: $name) }", None, "BAD_USER_INPUT"),
    ("query($time: DateTime!) { at(time: $time) }", {"time": "now"}, "BAD_USER_INPUT"),
    ('{ at(time: "now") }', None, "GRAPHQL_VALIDATION_FAILED"),
    ("fragment F on Query { hello }", None, "GRAPHQL_VALIDATION_FAILED"),
    ("{" + "a{" * 900, None, "GRAPHQL_PARSE_FAILED"),
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
