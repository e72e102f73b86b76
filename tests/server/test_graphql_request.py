"""GraphQL over HTTP: what is a request, and what no request may do."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.server.serving import NEW, OLD, codes, in_process
from tests.server.small_schema import SmallSchema, Stage
from toolfold.server import create_app
from toolfold.settings import Settings


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
        b'{"query":"{ hello }","variables":{"a":"\\ud800"}}',
        b'{"query":"{ hello }","variables":{"a":"\\ud800\\u0000"}}',
        b'{"query":"{ hello }","variables":{"a":"\\ud800 mutation"}}',
        b'{"query":"{ hello }","variables":{"a":"\\ud800","query":"mutation"}}',
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
