"""Trusted documents: asked for by their hash in every form and over every transport."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from tests.server.conftest import RunNode
from tests.server.serving import NEW, OLD, codes, in_process, on_a_port
from tests.server.small_schema import SmallSchema
from tests.server.stored import Served
from tests.server.test_graphql_socket import open_socket
from toolfold.schema.global_id import encode
from toolfold.server import create_app
from toolfold.settings import Settings

MANIFESTS = Path(__file__).parent / "manifests"

HELLO = "query Hello($name: String!) { hello(name: $name) }"
CHANGE = "mutation Change { change }"
TICKS = "subscription Ticks { ticks }"
OTHER = "{ hello }"
VARIABLES = {"name": "é"}
GREETED = {"data": {"hello": "hello é"}}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def persisted(text: str) -> dict[str, Any]:
    """Return the extensions by which Apollo and urql name a document."""
    return {"persistedQuery": {"version": 1, "sha256Hash": sha256(text)}}


MANIFEST = {sha256(text): text for text in (HELLO, CHANGE, TICKS)}


def settings_with(folder: Path, manifest: object, *, only: bool = False) -> Settings:
    path = folder / "manifest.json"
    path.write_text(manifest if isinstance(manifest, str) else json.dumps(manifest), "utf-8")
    return Settings(data_dir=folder, trusted_documents=str(path), trusted_documents_only=only)


@pytest.fixture
def trusting(tmp_path: Path) -> Settings:
    return settings_with(tmp_path, MANIFEST)


@pytest.fixture
def strict(tmp_path: Path) -> Settings:
    return settings_with(tmp_path, MANIFEST, only=True)


def in_process_over(settings: Settings) -> Any:
    return in_process(create_app(settings, schema=SmallSchema()))


async def post(client: httpx.AsyncClient, accept: str = NEW, **body: Any) -> httpx.Response:
    return await client.post("/graphql", json=body, headers={"accept": accept})


@pytest.mark.parametrize(
    "named",
    [
        {"extensions": persisted(HELLO)},
        {"extensions": persisted(HELLO), "query": HELLO},
        {"extensions": persisted(HELLO), "query": None},
        {"documentId": f"sha256:{sha256(HELLO)}"},
        {"documentId": sha256(HELLO).upper()},
        {"doc_id": sha256(HELLO)},
        {"documentId": sha256(HELLO), "extensions": persisted(HELLO)},
        {"query": HELLO},
    ],
)
async def test_a_trusted_document_is_executed_however_it_is_named(
    strict: Settings, named: dict[str, Any]
) -> None:
    async with in_process_over(strict) as client:
        posted = await post(client, variables=VARIABLES, **named)
        parameters = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in {"variables": VARIABLES, **named}.items()
            if value is not None
        }
        got = await client.get("/graphql", params=parameters)
    assert (posted.status_code, posted.json()) == (200, GREETED)
    assert (got.status_code, got.json()) == (200, GREETED)


@pytest.mark.parametrize("accept", [NEW, OLD])
async def test_an_unknown_hash_is_told_as_clients_expect(trusting: Settings, accept: str) -> None:
    async with in_process_over(trusting) as client:
        for named in (
            {"extensions": persisted(OTHER)},
            {"documentId": sha256(OTHER)},
            {"documentId": "Page"},
        ):
            response = await post(client, accept, **named)
            assert response.status_code == (400 if accept == NEW else 200)
            assert response.json() == {
                "errors": [
                    {
                        "message": "PersistedQueryNotFound",
                        "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"},
                    }
                ]
            }


async def test_another_document_is_executed_with_its_hash_and_not_remembered(
    trusting: Settings,
) -> None:
    async with in_process_over(trusting) as client:
        with_query = await post(client, query=OTHER, extensions=persisted(OTHER))
        again = await post(client, extensions=persisted(OTHER))
    assert with_query.json() == {"data": {"hello": "hello you"}}
    assert codes(again) == ["PERSISTED_QUERY_NOT_FOUND"]


@pytest.mark.parametrize(
    "named",
    [
        {"documentId": sha256(HELLO), "extensions": persisted(CHANGE)},
        {"documentId": 5},
        {"extensions": {"persistedQuery": True}},
        {"extensions": {"persistedQuery": {"version": 2, "sha256Hash": sha256(HELLO)}}},
        {"extensions": {"persistedQuery": {"version": 1}}},
    ],
)
async def test_what_is_no_hash_or_two_is_an_error_unless_there_is_a_text(
    trusting: Settings, named: dict[str, Any]
) -> None:
    async with in_process_over(trusting) as client:
        response = await post(client, variables=VARIABLES, **named)
        with_text = await post(client, variables=VARIABLES, query=HELLO, **named)
    assert (response.status_code, codes(response)) == (400, ["BAD_DOCUMENT_HASH"])
    assert with_text.json() == GREETED


@pytest.mark.parametrize("text", [OTHER, "{ hello(name: null) }"])
async def test_a_text_is_executed_whatever_hash_comes_with_it(
    trusting: Settings, text: str
) -> None:
    async with in_process_over(trusting) as client:
        for named in (
            {"extensions": persisted(HELLO)},
            {"extensions": persisted(CHANGE)},
            {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "Page"}}},
            {"documentId": "sha256:1"},
        ):
            alone = await post(client, query=text)
            assert (await post(client, query=text, **named)).json() == alone.json()


EQUIVALENT = (
    HELLO,
    "query Hello($name:String!){hello(name:$name)}",
    f"# A comment.\n{HELLO}\n",
    "query Hello($name: String!) { __typename hello(name: $name) hello(name: $name) }",
)
UNLIKE = (
    OTHER,
    "query Hello($name: String!) { hello(name: $name) a: hello }",
    "query Hello($name: String!) { name: hello(name: $name) }",
    'query Hello($name: String!) { hello(name: "x") }',
    'query Hello($name: String! = "x") { hello(name: $name) }',
    "query Hello($name: String!) { hello(name: $name) @skip(if: false) }",
    "query Hello($name: String!) { hello(name: $name) name: __typename }",
    "query Other($name: String!) { hello(name: $name) }",
    f"{HELLO} {OTHER}",
    f"{HELLO} {CHANGE} query Other {{ hello }}",
    "{",
    "{ " + "a { " * 900 + "b" + " }" * 900 + " }",
    f"{HELLO}{' ' * 70_000}",
)


async def test_only_texts_that_ask_for_the_same_as_a_trusted_document_are_executed(
    strict: Settings,
) -> None:
    async with in_process_over(strict) as client:
        for named in ({}, {"extensions": persisted(HELLO)}, {"documentId": sha256(OTHER)}):
            for text in EQUIVALENT:
                data = (await post(client, query=text, variables=VARIABLES, **named)).json()["data"]
                assert data["hello"] == "hello é"
            for text in UNLIKE:
                response = await post(client, query=text, variables=VARIABLES, **named)
                assert (response.status_code, codes(response)) == (400, ["DOCUMENT_NOT_TRUSTED"])


async def test_a_mutation_is_executed_in_the_order_of_the_trusted_document_alone(
    tmp_path: Path,
) -> None:
    text = "mutation { first: change second: change }"
    schema = SmallSchema()
    app = create_app(settings_with(tmp_path, {sha256(text): text}, only=True), schema=schema)
    async with in_process(app) as client:
        refused = await post(client, query="mutation { second: change first: change }")
        assert codes(refused) == ["DOCUMENT_NOT_TRUSTED"]
        assert schema.stage.changes == 0
        done = await post(client, query=f"{text} # As it was.")
    assert done.json() == {"data": {"first": 1, "second": 2}}


async def test_a_server_without_trusted_documents_says_so(
    client: httpx.AsyncClient,
) -> None:
    response = await post(client, extensions=persisted(HELLO))
    assert codes(response) == ["PERSISTED_QUERY_NOT_SUPPORTED"]
    assert response.json()["errors"][0]["message"] == "PersistedQueryNotSupported"
    response = await post(client, query=HELLO, variables=VARIABLES, extensions=persisted(HELLO))
    assert response.json() == GREETED


async def test_only_trusted_documents_are_executed_if_that_is_set(strict: Settings) -> None:
    async with in_process_over(strict) as client:
        for body in ({"query": OTHER}, {"query": OTHER, "extensions": persisted(OTHER)}):
            response = await post(client, **body)
            assert (response.status_code, codes(response)) == (400, ["DOCUMENT_NOT_TRUSTED"])
        got = await client.get("/graphql", params={"query": OTHER})
        assert codes(got) == ["DOCUMENT_NOT_TRUSTED"]
        missing = await post(client, variables={})
    assert (missing.status_code, codes(missing)) == (400, ["BAD_REQUEST"])


async def test_a_mutation_by_hash_is_for_post_alone(trusting: Settings) -> None:
    async with in_process_over(trusting) as client:
        got = await client.get("/graphql", params={"documentId": sha256(CHANGE)})
        assert (got.status_code, got.headers["allow"]) == (405, "POST")
        posted = await post(client, extensions=persisted(CHANGE))
    assert posted.json() == {"data": {"change": 1}}


APPEND = """
mutation Append($input: AppendMessagesInput!) {
  appendMessages(input: $input) { appendedCount errors { __typename path } }
}
"""
READ = "query ($id: ID!) { message(id: $id) { toolMetadata { rawInput { slice { text } } } } }"


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("given", "kept"),
    [(b"123456789012345678901234567890", "123456789012345678901234567890"), (b'"\\u00e9"', '"é"')],
)
async def test_a_mutations_variables_are_read_exactly_by_hash_as_by_text(
    database_settings: Settings, tmp_path: Path, given: bytes, kept: str
) -> None:
    settings = settings_with(tmp_path, {sha256(APPEND): APPEND})
    settings = dataclasses.replace(settings, data_dir=database_settings.data_dir)
    stored = []
    app = create_app(settings)
    async with in_process(app) as client:
        await Served(client, app).store()
        by_hash: dict[str, Any] = {"documentId": sha256(APPEND)}
        for sequence, named in enumerate(
            ({"query": APPEND}, by_hash, {"payload": {}, **by_hash}), 1
        ):
            body = orjson.dumps({"variables": {"input": _call(sequence)}, **named})
            body = body.replace(b'"INPUT"', given)
            headers = {"content-type": "application/json"}
            response = await client.post("/graphql", content=body, headers=headers)
            expected = {"data": {"appendMessages": {"appendedCount": 1, "errors": []}}}
            assert response.json() == expected
            variables = {"id": encode("Message", "default", "s", sequence)}
            read = (await post(client, query=READ, variables=variables)).json()
            stored.append(read["data"]["message"]["toolMetadata"]["rawInput"]["slice"]["text"])
    assert stored == [kept, kept, kept]


def _call(number: int) -> dict[str, Any]:
    """Return the input that appends a tool call whose raw input is to be put in."""
    call = {"toolCallId": f"c{number}", "rawInput": "INPUT"}
    message = {"clientMessageId": f"m{number}", "role": "TOOL", "toolMetadata": call}
    return {"sessionId": encode("Session", "default", "s"), "messages": [message]}


async def test_events_of_a_trusted_subscription_are_streamed(strict: Settings) -> None:
    headers = {"accept": "text/event-stream"}
    async with in_process_over(strict) as client:
        body = {"documentId": sha256(TICKS)}
        answer = await client.post("/graphql", json=body, headers=headers)
        refused = await client.post("/graphql", json={"query": OTHER}, headers=headers)
    assert answer.text.count("event: next\n") == 3
    assert '"code":"DOCUMENT_NOT_TRUSTED"' in refused.text
    assert refused.text.endswith("event: complete\ndata: \n\n")


async def test_trusted_documents_are_executed_over_websocket(
    strict: Settings, run_node: RunNode
) -> None:
    # graphql-ws asks for a query, which may be empty.
    operations = [
        {"query": "", "extensions": persisted(HELLO), "variables": VARIABLES},
        {"query": "", "documentId": sha256(TICKS)},
        {"query": "", "extensions": persisted(OTHER)},
        {"query": OTHER},
        {"query": f"{HELLO}\n", "extensions": persisted(OTHER), "variables": VARIABLES},
        {"query": "", "doc_id": sha256(CHANGE)},
    ]
    async with on_a_port(create_app(strict, schema=SmallSchema())) as host:
        outcomes = await run_node("operations.mjs", f"ws://{host}/graphql", json.dumps(operations))
    hello, ticks, unknown, untrusted, text, change = outcomes
    assert hello == {"results": [GREETED]}
    assert ticks == {"results": [{"data": {"ticks": tick}} for tick in range(3)]}
    assert [errors["errors"][0]["extensions"]["code"] for errors in (unknown, untrusted)] == [
        "PERSISTED_QUERY_NOT_FOUND",
        "DOCUMENT_NOT_TRUSTED",
    ]
    assert text == {"results": [GREETED]}
    assert change == {"results": [{"data": {"change": 1}}]}


async def test_a_socket_needs_no_query_beside_a_hash_and_stays_open(strict: Settings) -> None:
    async with (
        on_a_port(create_app(strict, schema=SmallSchema())) as host,
        open_socket(host) as socket,
    ):
        for payload in ({"documentId": sha256(CHANGE)}, {"extensions": persisted(CHANGE)}):
            await socket.send(type="subscribe", id="1", payload={"query": None, **payload})
            assert (await socket.receive())["type"] == "next"
            assert await socket.receive() == {"id": "1", "type": "complete"}
        await socket.send(type="subscribe", id="1", payload={"documentId": sha256(OTHER)})
        assert (await socket.receive())["type"] == "error"
        await socket.send(type="subscribe", id="1", payload={"variables": {}})
        assert await socket.close_code() == 4400


CLIENTS = ("urql", "apollo", "apollo-lists")
SAID = [{"data": {"hello": "hello é", "again": "hello you"}}, {"data": {"change": 1}}]


@pytest.mark.parametrize("kind", CLIENTS)
async def test_clients_work_as_they_come(
    settings: Settings, tmp_path: Path, run_node: RunNode, kind: str
) -> None:
    """Without a manifest, beside one of other documents, and with one of what they sent."""
    seen: dict[str, dict[str, Any]] = {}
    manifests: dict[str, Any] = {"none": None, "other": {sha256(OTHER): OTHER}, "own": None}
    for name in manifests:
        chosen = settings
        if name == "other":
            chosen = settings_with(tmp_path, manifests["other"])
        elif name == "own":
            sent = [item["query"] for item in seen["other"]["requests"] if item["query"]]
            own = _apollo_manifest() if kind == "apollo-lists" else {sha256(q): q for q in sent}
            chosen = settings_with(tmp_path, own, only=True)
        async with on_a_port(create_app(chosen, schema=SmallSchema())) as host:
            seen[name] = await run_node("persisted.mjs", kind, f"http://{host}/graphql")
        assert [_plain(result) for result in seen[name]["results"]] == SAID
    texts = {
        name: [bool(item["query"]) for item in told["requests"]] for name, told in seen.items()
    }
    assert texts == {
        # After the first answer they know that there is no use in hashes, or are told to go on.
        "none": [False, True, True] if kind != "apollo-lists" else [False, True, False, True],
        "other": [False, True, False, True],
        "own": [False, False],
    }
    assert [item["method"] for item in seen["own"]["requests"]] == ["GET", "POST"]


def _apollo_manifest() -> Any:
    return json.loads((MANIFESTS / "apollo.json").read_text("utf-8"))


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("tool", ["apollo", "graphql_codegen", "gql_tada"])
async def test_clients_send_the_text_where_a_tool_has_hashed_another_form_of_it(
    tmp_path: Path, run_node: RunNode, tool: str, kind: str
) -> None:
    manifest = (MANIFESTS / f"{tool}.json").read_text("utf-8")
    app = create_app(settings_with(tmp_path, manifest, only=True), schema=SmallSchema())
    async with on_a_port(app) as host:
        told = await run_node("persisted.mjs", kind, f"http://{host}/graphql")
    assert [_plain(result) for result in told["results"]] == SAID


def _plain(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the type names that a client adds."""
    data = result.get("data") or {}
    return {**result, "data": {name: data[name] for name in data if name != "__typename"}}


async def test_trusted_documents_are_parsed_and_validated_at_the_start_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "query Projects { projects(first: 1) { nodes { name } } }"
    app = create_app(settings_with(tmp_path, {sha256(text): text}))
    counted: list[str] = []

    def count(name: str, function: Any) -> Any:
        def counting(*arguments: Any, **named: Any) -> Any:
            counted.append(name)
            return function(*arguments, **named)

        return counting

    for target in ("toolfold.schema.caches.parse", "toolfold.schema.caches.validate_document"):
        module, name = target.rsplit(".", 1)
        function = getattr(__import__(module, fromlist=[name]), name)
        monkeypatch.setattr(target, count(name, function))
    async with in_process(app) as client:
        for named in (
            {"extensions": persisted(text)},
            {"documentId": sha256(text)},
            {"query": text},
        ):
            response = await post(client, **named)
            assert response.json() == {"data": {"projects": {"nodes": [{"name": "default"}]}}}
        assert counted == []
        for number in range(300):
            await post(client, query=f"query Q{number} {{ limits {{ maxRows }} }}")
        assert len(counted) == 600
        await post(client, documentId=sha256(text))
    assert len(counted) == 600
