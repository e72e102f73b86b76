"""Server-sent events: graphql-sse's distinct connections mode."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest

from tests.server.serving import OLD, codes
from toolfold.server import event_stream
from toolfold.server.event_stream import EventStreamResponse

EVENTS = {"accept": "text/event-stream"}


def events(response: httpx.Response) -> list[Any]:
    """Return the data of each event of a stream that has come to its end."""
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    *told, complete, end = response.text.split("\n\n")
    assert (complete, end) == ("event: complete\ndata: ", "")
    assert all(event.startswith("event: next\ndata: ") for event in told)
    return [json.loads(event.removeprefix("event: next\ndata: ")) for event in told]


async def test_a_subscription_is_told_event_by_event(client: httpx.AsyncClient) -> None:
    body = {"query": "subscription($n: Int!) { ticks(count: $n) }", "variables": {"n": 2}}
    response = await client.post("/graphql", json=body, headers=EVENTS)
    assert events(response) == [{"data": {"ticks": 0}}, {"data": {"ticks": 1}}]
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["vary"] == "Accept"


async def test_an_event_source_subscribes_by_get(client: httpx.AsyncClient) -> None:
    parameters = {"query": "subscription { ticks(count: 1) }"}
    response = await client.get("/graphql", params=parameters, headers=EVENTS)
    assert events(response) == [{"data": {"ticks": 0}}]


async def test_a_query_is_answered_as_one_event_if_events_are_all_that_is_accepted(
    client: httpx.AsyncClient,
) -> None:
    response = await client.post("/graphql", json={"query": "{ stored }"}, headers=EVENTS)
    assert events(response) == [{"data": {"stored": {"n": 123456789012345678901, "s": "é"}}}]


@pytest.mark.parametrize(
    ("method", "document", "code"),
    [
        ("POST", "{", "GRAPHQL_PARSE_FAILED"),
        ("POST", "subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("POST", "query($time: DateTime!) { at(time: $time) }", "BAD_USER_INPUT"),
        ("GET", "mutation { change }", "GRAPHQL_VALIDATION_FAILED"),
    ],
)
async def test_what_is_wrong_with_the_document_is_told_in_the_stream(
    client: httpx.AsyncClient, method: str, document: str, code: str
) -> None:
    given: dict[str, Any] = {"json" if method == "POST" else "params": {"query": document}}
    response = await client.request(method, "/graphql", headers=EVENTS, **given)
    (result,) = events(response)
    assert [error["extensions"]["code"] for error in result["errors"]] == [code]
    assert "data" not in result


async def test_an_unexpected_error_is_masked_and_ends_the_stream(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"query": "subscription { brokenTicks }"}
    first, second = events(await client.post("/graphql", json=body, headers=EVENTS))
    assert first == {"data": {"brokenTicks": 0}}
    (error,) = second["errors"]
    assert error["message"] == "Internal error."
    assert error["extensions"]["requestId"] in caplog.text


async def test_what_is_no_request_is_refused_as_ever(client: httpx.AsyncClient) -> None:
    response = await client.post("/graphql", json=[], headers=EVENTS)
    assert (response.status_code, codes(response)) == (400, ["BAD_REQUEST"])


async def test_a_subscription_for_json_is_told_what_to_accept(client: httpx.AsyncClient) -> None:
    body = {"query": "subscription { ticks }"}
    response = await client.post("/graphql", json=body, headers={"accept": OLD})
    assert response.status_code == 400
    assert "text/event-stream" in response.json()["errors"][0]["message"]


async def test_a_head_request_begins_no_stream(client: httpx.AsyncClient) -> None:
    parameters = {"query": "subscription { ticks }"}
    response = await client.head("/graphql", params=parameters, headers=EVENTS)
    assert response.status_code == 400


async def test_a_silent_stream_is_kept_alive_until_its_client_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_stream, "PING_SECONDS", 0.001)
    has_ended = asyncio.Event()

    async def bodies() -> AsyncGenerator[Any, None]:
        try:
            yield {"data": 1}
            await asyncio.get_running_loop().create_future()
        finally:
            has_ended.set()

    sent: list[bytes] = []
    is_silent = asyncio.Event()

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        if len(sent) == 5:
            is_silent.set()

    async def receive() -> Any:
        await is_silent.wait()
        return {"type": "http.disconnect"}

    response = EventStreamResponse(bodies(), asyncio.Event())
    await response({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)
    assert sent[1] == b'event: next\ndata: {"data":1}\n\n'
    assert set(sent[2:]) == {b":\n\n"}
    assert has_ended.is_set()


async def test_a_client_that_goes_amid_an_event_ends_the_stream() -> None:
    has_ended = asyncio.Event()

    async def bodies() -> AsyncGenerator[Any, None]:
        try:
            while True:
                yield {"data": 1}
        finally:
            has_ended.set()

    is_blocked = asyncio.Event()

    async def send(message: Any) -> None:
        if message.get("body"):
            is_blocked.set()
            await asyncio.get_running_loop().create_future()

    async def receive() -> Any:
        await is_blocked.wait()
        return {"type": "http.disconnect"}

    response = EventStreamResponse(bodies(), asyncio.Event())
    await response({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)
    assert has_ended.is_set()


async def test_a_stream_ends_where_it_is_when_the_server_is_to_stop() -> None:
    has_ended = asyncio.Event()

    async def bodies() -> AsyncGenerator[Any, None]:
        try:
            yield {"data": 1}
            stopping.set()
            await asyncio.get_running_loop().create_future()
        finally:
            has_ended.set()

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        await asyncio.get_running_loop().create_future()

    stopping = asyncio.Event()
    response = EventStreamResponse(bodies(), stopping)
    await response({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)
    assert has_ended.is_set()
    assert [one.get("body") for one in sent] == [None, b'event: next\ndata: {"data":1}\n\n', b""]
    assert not sent[-1]["more_body"]
