"""ACP messages recorded through the schema, as the importer would read them from a log."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from tests.builders import text_block
from tests.ingest.stored import findings, messages, rows
from tests.schema.conftest import Api
from tests.schema.mutating import assert_sound, mutate, refusals, shown
from tests.schema.recording import PAYLOAD, SESSION, call, chunk, notice, patch, record, restarted
from toolfold.events import Position
from toolfold.importers import IMPORTERS
from toolfold.importers.acp.outbox import Told
from toolfold.importers.acp.turn import Moment
from toolfold.importers.acp.updates import SessionUpdates
from toolfold.ingest import acp_state, acp_stream, import_file
from toolfold.schema.global_id import encode, session_key
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.tables import record_table, session_table, source_table
from toolfold.transcript import Json

LOGS = Path(__file__).parents[1] / "importers" / "data"


@pytest.fixture
async def session(api: Api) -> str:
    """A session without messages."""
    return (await api.store([], agent="an agent", cwd="/w")).id


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.usefixtures("session")
async def test_a_text_grows_as_it_is_spoken_and_is_one_message(
    api: Api, *, is_restarted: bool
) -> None:
    words = ["One", " two", " three.", "x" * 600, "y" * 600, "z" * 20_000]
    with api.events.watch_session("default", "s") as watch:
        for index, word in enumerate(words):
            server = restarted(api) if is_restarted else api
            payload = await record(server, index, chunk(word))
            assert (payload["nextIndex"], payload["errors"]) == (index + 1, [])
            assert payload["session"]["messageCount"] == 1
            document = "query ($id: ID!) { message(id: $id) { revision role content } }"
            data = await api.data(document, id=encode("Message", "default", "s", 1))
            assert data["message"] == {
                "revision": index + 1,
                "role": "ASSISTANT",
                "content": "".join(words[: index + 1]),
            }
            assert list(watch.take().values()) == [Position("default", "s", index + 1)]
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_each_update_may_be_bare_in_its_parameters_or_in_its_notification(api: Api) -> None:
    whole = chunk("a")
    payload = await record(
        api, 0, whole, whole["params"], whole["params"]["update"], {"log": whole}
    )
    assert payload["errors"] == []
    assert [row["content"] for row in await messages(api.database)] == ["aaaa"]


@pytest.mark.usefixtures("session")
async def test_what_was_recorded_is_not_recorded_again_and_a_gap_is_a_conflict(api: Api) -> None:
    updates = [chunk(letter) for letter in "abcdef"]
    for server in (api, restarted(api)):
        await record(server, 0, *updates[:3])
        assert (await record(server, 0, *updates[:3]))["nextIndex"] == 3
        assert (await record(server, 1, *updates[1:2]))["nextIndex"] == 3
        payload = await record(server, 4, *updates[4:])
        assert shown(payload) == [("ConflictError", "input.fromIndex")]
        assert (payload["nextIndex"], payload["errors"][0]["currentSequence"]) == (3, 3)
        assert payload["session"] is None
    assert [row["content"] for row in await messages(api.database)] == ["abc"]
    assert (await record(api, 1, *updates[1:]))["nextIndex"] == 6
    assert [row["content"] for row in await messages(api.database)] == ["abcdef"]
    assert (await record(api, 6))["nextIndex"] == 6


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.usefixtures("session")
async def test_a_calls_updates_patch_it_while_it_runs(api: Api, *, is_restarted: bool) -> None:
    diff = {"type": "diff", "path": "/a", "oldText": "a", "newText": "b"}
    document = """
    query ($id: ID!) { message(id: $id) { toolMetadata {
      status title kind content rawInput { json } locations { path }
    } } }
    """
    steps: list[tuple[Json, dict[str, Any]]] = [
        (
            call("c", title="T", kind="edit", rawInput={"a": 1}),
            {"status": "PENDING", "title": "T", "kind": "EDIT", "content": None},
        ),
        (patch("c", status="in_progress", content=[diff]), {"status": "IN_PROGRESS"}),
        (patch("c", locations=[{"path": "/a"}]), {"content": [diff]}),
        (patch("c", title=None, rawInput=None), {"title": None, "rawInput": None}),
        (patch("c", status="completed"), {"status": "COMPLETED", "content": [diff]}),
        (patch("c", content=[]), {"content": [], "locations": [{"path": "/a"}]}),
    ]
    for index, (update, expected) in enumerate(steps):
        server = restarted(api) if is_restarted else api
        assert (await record(server, index, update))["errors"] == []
        data = await api.data(document, id=encode("Message", "default", "s", 1))
        found = data["message"]["toolMetadata"]
        assert {name: found[name] for name in expected} == expected
    assert len(await messages(api.database)) == 1
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_prompt_and_its_response_tell_where_a_turn_begins_and_ends(api: Api) -> None:
    prompt = {"method": "session/prompt", "id": 1, "params": {"prompt": [_text("Go.")]}}
    usage = {"inputTokens": 3, "outputTokens": 4}
    ended = {"id": 1, "result": {"stopReason": "end_turn", "usage": usage}}
    payload = await record(api, 0, prompt, call("c"), chunk("Done."), ended)
    assert payload["session"]["title"] == "Go."
    found = await messages(api.database, "role", "tool_status", "input_tokens")
    assert [tuple(row.values()) for row in found] == [
        ("user", None, None),
        ("tool", "failed", None),
        ("assistant", None, 3),
    ]
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_what_is_not_understood_is_kept_as_it_came(api: Api) -> None:
    strange = [
        notice({"sessionUpdate": "dream_update", "of": 2**70}),
        {"jsonrpc": "2.0", "method": "session/dance", "params": {}},
        {"nothing": None},
    ]
    payload = await record(api, 0, chunk("a"), *strange, chunk("b"))
    assert (payload["nextIndex"], payload["errors"]) == (5, [])
    assert [row["content"] for row in await messages(api.database)] == ["ab"]
    (kept,) = await rows(api.database, record_table)
    lines = zstandard.decompress(kept["raw"]).split(b"\n")
    # Python's own reader keeps long integers.
    assert [json.loads(line) for line in lines[2:5]] == strange


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize("name", ["acp_claude", "acp_codex", "acp_gemini"])
async def test_a_session_recorded_live_is_the_one_that_its_log_is_imported_as(
    api: Api, name: str, size: int
) -> None:
    path = LOGS / f"{name}.ndjson"
    importer = next(one for one in IMPORTERS if one.name == "acp")
    report = await import_file(api.database, "default", path, importer=importer)
    own_ids = {row["source_session"] for row in await rows(api.database, session_table)}
    assert report.error is None
    for own_id in sorted(own_ids):
        if "/" not in own_id:
            await _compare_live(api, path, own_id, size)


async def _compare_live(api: Api, path: Path, own_id: str, size: int) -> None:
    made = await mutate(
        api,
        "createSession",
        "session { id }",
        projectId=encode("Project", "default"),
        agent="a",
        clientSessionId=own_id,
    )
    live_id = made["session"]["id"]
    sent = _of_session(path, own_id)
    for first in range(0, len(sent), size):
        payload = await record(api, first, *sent[first : first + size], sessionId=live_id)
        assert payload["errors"] == []
    imported, live = await _account(api, own_id), await _account(api, _key(live_id))
    assert live == imported
    assert await findings(api.database) == []


def _of_session(path: Path, own_id: str) -> list[Json]:
    """Return the messages of a log that a recorder of this session hands on."""
    asked: set[Any] = set()
    found: list[Json] = []
    for line in path.read_bytes().splitlines():
        logged = orjson.loads(line)
        inner = [one for one in logged.values() if isinstance(one, dict) and "jsonrpc" in one]
        message = inner[0] if inner else logged
        params = message.get("params") or {}
        method = message.get("method", "")
        if params.get("sessionId") == own_id and method in (
            "session/update",
            "session/prompt",
            "session/request_permission",
        ):
            if method == "session/prompt":
                asked.add(message["id"])
            found.append(message)
        elif "stopReason" in (message.get("result") or {}) and message["id"] in asked:
            asked.discard(message["id"])
            found.append(message)
    return found


async def _account(api: Api, own_id: str) -> list[list[dict[str, Any]]]:
    """Return the messages of a session and of its sub-agents, but for what is of the recording."""
    ids = {
        row["id"]: row["source_session"].removeprefix(own_id)
        for row in await rows(api.database, session_table)
        if row["source_session"] and row["source_session"].split("/")[0] == own_id
    }
    apart = ("project_id", "session_id", "revision", "created_at", "client_digest")
    times = ("tool_started_at", "tool_ended_at", "child_source_session")
    found = await messages(api.database)
    return [
        [
            {key: value for key, value in row.items() if key not in (*apart, *times)}
            for row in found
            if row["session_id"] == session_id
        ]
        for session_id in sorted(ids, key=lambda one: ids[one])
    ]


def _key(global_id: str) -> str:
    key = session_key(global_id)
    assert key is not None
    return key[1]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


@pytest.mark.usefixtures("session")
async def test_a_sub_agents_messages_are_a_session_of_its_own(api: Api) -> None:
    meta: Json = {"claudeCode": {"parentToolUseId": "task"}}
    await record(api, 0, call("task", title="Survey"))
    await record(restarted(api), 1, chunk("inside", _meta=meta), patch("task", status="completed"))
    document = """
    query ($id: ID!) { session(id: $id) { children { nodes {
      title agent cwd status parentToolCallId parent { id } messages { nodes { content } }
    } } messages { nodes { toolMetadata { childSession { title } } } } } }
    """
    data = await api.data(document, id=SESSION)
    assert data["session"]["children"]["nodes"] == [
        {
            "title": "Survey",
            "agent": "an agent",
            "cwd": "/w",
            "status": "ACTIVE",
            "parentToolCallId": "task",
            "parent": {"id": SESSION},
            "messages": {"nodes": [{"content": "inside"}]},
        }
    ]
    (node,) = data["session"]["messages"]["nodes"]
    assert node["toolMetadata"]["childSession"] == {"title": "Survey"}
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_completed_session_is_reopened_and_an_archived_one_refuses(api: Api) -> None:
    await mutate(api, "updateSession", id=SESSION, status="COMPLETED")
    assert (await record(api, 0, chunk("a")))["session"]["status"] == "ACTIVE"
    await mutate(api, "updateSession", id=SESSION, status="ARCHIVED")
    for first, updates in ((1, [chunk("b")]), (0, [chunk("a")])):
        given = {"sessionId": SESSION, "fromIndex": first, "updates": updates}
        assert await refusals(api, "recordAcpUpdates", **given) == [
            ("InvalidInputError", "input.sessionId")
        ]
    await mutate(api, "updateSession", id=SESSION, status="ACTIVE")
    assert (await record(api, 1, chunk("b")))["nextIndex"] == 2
    assert [row["content"] for row in await messages(api.database)] == ["ab"]


def nested(levels: int) -> Json:
    """Return a message of this many levels of objects."""
    value: Json = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@pytest.mark.usefixtures("session")
async def test_a_message_may_be_nested_to_1000_levels(api: Api) -> None:
    payload = await record(api, 0, nested(1_000), chunk("a"))
    assert (payload["nextIndex"], payload["errors"]) == (2, [])
    assert (await record(restarted(api), 2, chunk("b")))["nextIndex"] == 3


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"sessionId": encode("Session", "default", "x")}, ("NotFoundError", "input.sessionId")),
        ({"fromIndex": -1}, ("InvalidInputError", "input.fromIndex")),
        ({"updates": [{}, "text"]}, ("InvalidInputError", "input.updates.1")),
        (
            {"updates": [chunk("\ud800")]},
            ("InvalidInputError", "input.updates.0.params.update.content.text"),
        ),
        ({"updates": [{"n": float("nan")}]}, ("InvalidInputError", "input.updates.0.n")),
        (
            {"updates": [chunk("a"), {"b": "\ud800"}, {"c": "\ud800"}]},
            ("InvalidInputError", "input.updates.1.b"),
        ),
        (
            {"updates": [chunk("a"), nested(1_001), nested(1_001)]},
            ("InvalidInputError", "input.updates.1"),
        ),
        ({"updates": [chunk("a")] * 501}, ("TooLargeError", "input.updates")),
        ({"updates": [chunk("x" * 9 * 1024 * 1024)]}, ("TooLargeError", "input.updates")),
        ({"fromIndex": 1}, ("ConflictError", "input.fromIndex")),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
@pytest.mark.usefixtures("session")
async def test_what_cannot_be_is_refused_and_nothing_is_recorded(
    api: Api, given: dict[str, Any], expected: tuple[str, str]
) -> None:
    asked = {"sessionId": SESSION, "fromIndex": 0, "updates": [chunk("a")], **given}
    assert await refusals(api, "recordAcpUpdates", **asked) == [expected]


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        {"fromIndex": 5},
        {"fromIndex": -1},
        {"updates": ["text"]},
        {"updates": [chunk("\ud800")]},
        {"updates": [chunk("a")] * 501},
        {"updates": [chunk("x" * 9 * 1024 * 1024)]},
        {"clientMutationId": "\ud800"},
        {"status": "ARCHIVED"},
    ],
)
@pytest.mark.usefixtures("session")
async def test_a_refusal_tells_the_next_index_whatever_was_refused(
    api: Api, given: dict[str, Any], *, is_restarted: bool
) -> None:
    await record(api, 0, chunk("a"), chunk("b"))
    asked = {"sessionId": SESSION, "fromIndex": 2, "updates": [chunk("c")], **given}
    if status := asked.pop("status", None):
        await mutate(api, "updateSession", id=SESSION, status=status)
    server = restarted(api) if is_restarted else api
    payload = await mutate(server, "recordAcpUpdates", PAYLOAD, **asked)
    assert (len(payload["errors"]), payload["nextIndex"]) == (1, 2)
    assert payload["session"] is None


@pytest.mark.parametrize(
    "session_id",
    [
        encode("Session", "default", "absent"),
        encode("Session", "default", "\x00"),
        encode("Project", "default"),
        "\ud800",
        "",
    ],
)
async def test_where_there_is_no_session_the_next_index_is_0(api: Api, session_id: str) -> None:
    payload = await record(api, 1, chunk("a"), sessionId=session_id)
    assert (len(payload["errors"]), payload["nextIndex"]) == (1, 0)


@pytest.mark.usefixtures("session")
async def test_a_nul_is_mended_and_told(api: Api) -> None:
    await record(api, 0, chunk("a\x00b"), call("c", content=[text_block("\x00")]))
    found = await messages(api.database, "content", "repaired", "tool_content_preview")
    assert [tuple(row.values()) for row in found] == [
        ("a\ufffdb", True, None),
        ("", False, "\ufffd"),
    ]


@pytest.mark.usefixtures("session")
async def test_many_that_send_the_same_stream_record_it_once(api: Api) -> None:
    updates = [chunk(f"{n} ") for n in range(12)]

    async def client(first: int) -> None:
        for index in range(0, 12, 3):
            await record(api, max(0, index - first), *updates[max(0, index - first) : index + 3])

    await asyncio.gather(*map(client, range(4)))
    (row,) = await messages(api.database)
    assert row["content"] == "".join(f"{n} " for n in range(12))
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_streams_that_are_forgotten_go_on_where_they_were(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acp_stream, "MAX_STATES", 1)
    other = (await api.store([], key="other")).id
    for index in range(4):
        for session_id in (SESSION, other, encode("Session", "default", "absent")):
            payload = await record(api, index, chunk(f"{index}"), sessionId=session_id)
            assert (payload["errors"] == []) is (session_id in (SESSION, other))
    assert [row["content"] for row in await messages(api.database)] == ["0123", "0123"]


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
@pytest.mark.usefixtures("session")
async def test_a_stream_goes_on_through_another_server(
    api: Api, database_settings: Settings
) -> None:
    other = await Database.open(database_settings)
    try:
        servers = [api, Api(other, api.settings)]
        for index in range(6):
            payload = await record(servers[index % 2], index, chunk(f"{index}"))
            assert payload["errors"] == []
        sent = [chunk(f"{index}") for index in range(6, 9)]
        await asyncio.gather(*(record(server, 6, *sent) for server in servers))
    finally:
        await other.close()
    assert [row["content"] for row in await messages(api.database)] == ["012345678"]
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_write_that_fails_leaves_the_stream_where_it_was(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await record(api, 0, chunk("a"))
    write = Database.write

    async def fail(*_: Any) -> None:
        raise OSError

    monkeypatch.setattr(Database, "write", fail)
    document = """
    mutation ($input: RecordAcpUpdatesInput!) { recordAcpUpdates(input: $input) { nextIndex } }
    """
    given = {"sessionId": SESSION, "fromIndex": 1, "updates": [chunk("b")]}
    assert [code for _, code in await api.errors(document, input=given)] == ["INTERNAL"]
    monkeypatch.setattr(Database, "write", write)
    assert (await record(api, 1, chunk("b"), chunk("c")))["nextIndex"] == 3
    assert [row["content"] for row in await messages(api.database)] == ["abc"]


@pytest.mark.usefixtures("session")
async def test_a_deleted_session_takes_its_stream_along(api: Api) -> None:
    await record(api, 0, chunk("a"))
    assert shown(await mutate(api, "deleteSession", id=SESSION)) == []
    assert await rows(api.database, source_table) == await rows(api.database, record_table) == []
    await api.store([])
    assert (await record(api, 0, chunk("b")))["nextIndex"] == 1
    assert [row["content"] for row in await messages(api.database)] == ["b"]


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_a_session_made_again_through_another_server_is_not_the_one_before(
    api: Api, count: int
) -> None:
    made = {"projectId": encode("Project", "default"), "agent": "a", "clientSessionId": "again"}
    other = restarted(api)
    create = ("createSession", "session { id }")
    session_id = (await mutate(api, *create, **made))["session"]["id"]
    await record(api, 0, chunk("OLD1 "), chunk("OLD2 "), sessionId=session_id)
    assert shown(await mutate(other, "deleteSession", id=session_id)) == []
    assert (await mutate(other, *create, **made))["session"]["id"] == session_id
    sent = [chunk(f"NEW{number} ") for number in range(4)]
    await record(other, 0, *sent[:count], sessionId=session_id)
    payload = await record(api, count, *sent[count:], sessionId=session_id)
    assert (payload["nextIndex"], payload["errors"]) == (4, [])
    assert [row["content"] for row in await messages(api.database)] == ["NEW0 NEW1 NEW2 NEW3 "]
    await assert_sound(api)


async def test_a_session_made_again_in_the_midst_of_a_write_is_not_the_one_before(
    api: Api, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await record(api, 0, chunk("OLD1 "), chunk("OLD2 "))
    other = restarted(api)
    write = Database.write

    async def overtaken(self: Database, job: Any) -> Any:
        monkeypatch.setattr(Database, "write", write)
        assert shown(await mutate(other, "deleteSession", id=session)) == []
        await api.store([])
        await record(other, 0, chunk("NEW1 "), chunk("NEW2 "))
        return await write(self, job)

    monkeypatch.setattr(Database, "write", overtaken)
    assert (await record(api, 2, chunk("NEW3")))["nextIndex"] == 3
    assert [row["content"] for row in await messages(api.database)] == ["NEW1 NEW2 NEW3"]
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_long_stream_is_taken_up_again_without_a_connection_and_shown_once(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"{number} " for number in range(230)]
    for index, word in enumerate(words):
        await record(api, index, chunk(word))
    read, held = Database.read, 0
    held_while_taken: list[int] = []
    shown_after: list[int] = []

    @asynccontextmanager
    async def counted(self: Database, **given: Any) -> AsyncIterator[Any]:
        nonlocal held
        async with read(self, **given) as connection:
            held += 1
            try:
                yield connection
            finally:
                held -= 1

    class Counting(SessionUpdates):
        def update(self, update: Json, moment: Moment) -> list[Told]:
            held_while_taken.append(held)
            return super().update(update, moment)

        def show(self) -> list[Told]:
            shown_after.append(len(held_while_taken))
            return super().show()

    monkeypatch.setattr(Database, "read", counted)
    monkeypatch.setattr(acp_state, "SessionUpdates", Counting)
    assert (await record(restarted(api), 230, chunk("end")))["nextIndex"] == 231
    assert held_while_taken == [0] * 231
    assert shown_after == [230, 231]
    assert [row["content"] for row in await messages(api.database)] == ["".join(words) + "end"]
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_state_outlives_a_refusal_and_takes_only_what_another_server_recorded(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = restarted(api)
    for index in range(6):
        await record(other, index, chunk(f"{index}"))
    taken: list[Json] = []

    class Counting(SessionUpdates):
        def update(self, update: Json, moment: Moment) -> list[Told]:
            taken.append(update)
            return super().update(update, moment)

    monkeypatch.setattr(acp_state, "SessionUpdates", Counting)
    assert (await record(api, 6, chunk("6")))["nextIndex"] == 7
    assert len(taken) == 7
    assert shown(await record(api, 9, chunk("9"))) == [("ConflictError", "input.fromIndex")]
    await mutate(api, "updateSession", id=SESSION, status="ARCHIVED")
    assert shown(await record(api, 7, chunk("7"))) == [("InvalidInputError", "input.sessionId")]
    await mutate(api, "updateSession", id=SESSION, status="ACTIVE")
    assert len(taken) == 7
    await record(other, 7, chunk("7"), call("c"), chunk("8"))
    assert (await record(api, 10, chunk("9")))["nextIndex"] == 11
    assert len(taken) == 7 + 3 + 1
    found = await messages(api.database)
    assert [row["content"] for row in found] == ["01234567", "", "89"]
    await assert_sound(api)
