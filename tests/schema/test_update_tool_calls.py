"""Tool calls patched through the schema, by ACP's rules."""

import asyncio
from typing import Any

import pytest

from tests.builders import text_block, text_message, tool_message
from tests.ingest.stored import contents, messages, state, sweep
from tests.schema.conftest import Api, StoredSession
from tests.schema.mutating import assert_sound, mutate, refusals, shown
from toolfold.events import Position
from toolfold.schema.global_id import encode
from toolfold.transcript import Json, ToolKind, ToolLocation, ToolStatus

SESSION = encode("Session", "default", "s")
PAYLOAD = """
messages {
  sequence revision role
  toolMetadata {
    toolCallId name title kind status locations { path line } content contentSize contentState
    contentPreview rawInput { json } rawOutput { json }
  }
}
session { contentSize toolCallCount messageCount }
"""
DIFF = {"type": "diff", "path": "/a", "oldText": "a", "newText": "b"}


@pytest.fixture
async def session(api: Api) -> StoredSession:
    """A session with a call of everything, and a text."""
    call = tool_message(
        [DIFF],
        tool_call_id="c1",
        name="Edit",
        title="Edit a",
        kind=ToolKind.EDIT,
        status=ToolStatus.IN_PROGRESS,
        locations=(ToolLocation("/a", 3),),
        raw_input={"path": "/a"},
        raw_output="out",
    )
    return await api.store([call, text_message(client_id="tool:taken")])


async def update(api: Api, *updates: dict[str, Any]) -> dict[str, Any]:
    return await mutate(api, "updateToolCalls", PAYLOAD, sessionId=SESSION, updates=list(updates))


async def changed(api: Api, **patch: Any) -> dict[str, Any]:
    """Return how the call's fields differ after a patch."""
    before = await update(api, {"toolCallId": "c1"})
    after = await update(api, {"toolCallId": "c1", **patch})
    assert (before["errors"], after["errors"]) == ([], [])
    old, new = (payload["messages"][0]["toolMetadata"] for payload in (before, after))
    return {name: value for name, value in new.items() if old[name] != value}


NOTHING = {
    "content": None,
    "contentSize": None,
    "contentState": "NONE_RECORDED",
    "contentPreview": None,
}


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({}, {}),
        ({"status": "COMPLETED"}, {"status": "COMPLETED"}),
        ({"kind": "READ", "title": "T"}, {"kind": "READ", "title": "T"}),
        ({"title": None}, {"title": None}),
        ({"name": None}, {"name": None}),
        ({"locations": []}, {"locations": []}),
        ({"locations": None}, {"locations": []}),
        ({"locations": [{"path": "/b"}]}, {"locations": [{"path": "/b", "line": None}]}),
        ({"content": None}, NOTHING),
        ({"content": []}, {"content": [], "contentSize": 2, "contentPreview": ""}),
        (
            {"content": [text_block("é")]},
            {
                "content": [text_block("é")],
                "contentSize": len('[{"type":"content","content":{"type":"text","text":"é"}}]') + 1,
                "contentPreview": "é",
            },
        ),
        ({"rawInput": None}, {"rawInput": None}),
        ({"rawOutput": {"ok": True}}, {"rawOutput": {"json": {"ok": True}}}),
    ],
    ids=repr,
)
@pytest.mark.usefixtures("session")
async def test_what_is_absent_stays_an_array_replaces_and_null_clears(
    api: Api, patch: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert await changed(api, **patch) == expected
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_patch_is_one_revision_and_one_that_says_nothing_new_is_none(api: Api) -> None:
    with api.events.watch_session("default", "s") as watch:
        patch = {"toolCallId": "c1", "status": "COMPLETED"}
        payload = await update(api, patch, {"toolCallId": "c1", "title": "T"})
        assert list(watch.take().values()) == [Position("default", "s", 3)]
    assert [one["revision"] for one in payload["messages"]] == [3, 3]
    assert [one["sequence"] for one in payload["messages"]] == [1, 1]
    before = await state(api.database)
    again = await update(api, patch)
    assert again["messages"][0] == payload["messages"][0]
    assert await state(api.database) == before


@pytest.mark.usefixtures("session")
async def test_a_content_that_nothing_uses_any_more_is_gone(api: Api) -> None:
    before = await contents(api.database)
    await update(api, {"toolCallId": "c1", "content": [], "rawInput": None, "rawOutput": None})
    # A query that is under way may still ask for what was replaced.
    assert (await contents(api.database)).items() >= before.items()
    await sweep(api.database)
    assert list((await contents(api.database)).values()) == [b"[]"]


@pytest.mark.usefixtures("session")
async def test_a_call_not_yet_seen_is_appended_and_patched_from_then_on(api: Api) -> None:
    payload = await update(
        api,
        {"toolCallId": "new", "title": "T", "content": [text_block("x")]},
        {"toolCallId": "c1", "title": "Z"},
        {"toolCallId": "new", "status": "FAILED"},
    )
    assert [one["sequence"] for one in payload["messages"]] == [3, 1, 3]
    added = payload["messages"][0]
    assert added["role"] == "TOOL"
    assert (added["toolMetadata"]["title"], added["toolMetadata"]["status"]) == ("T", "FAILED")
    assert (payload["session"]["messageCount"], payload["session"]["toolCallCount"]) == (3, 2)
    again = await update(api, {"toolCallId": "new", "kind": "READ"})
    assert again["messages"][0]["sequence"] == 3
    (_, _, row) = await messages(api.database)
    assert row["created_at"] > "2026-"
    await assert_sound(api)


async def test_of_calls_of_one_id_the_latest_is_patched(api: Api) -> None:
    await api.store([tool_message(tool_call_id="c") for _ in range(2)])
    payload = await update(api, {"toolCallId": "c", "title": "T"})
    assert payload["messages"][0]["sequence"] == 2


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ({"toolCallId": "c1", "kind": None}, ("InvalidInputError", "input.updates.1.kind")),
        ({"toolCallId": "c1", "status": None}, ("InvalidInputError", "input.updates.1.status")),
        ({"toolCallId": ""}, ("InvalidInputError", "input.updates.1.toolCallId")),
        ({"toolCallId": "c1", "title": "x" * 501}, ("InvalidInputError", "input.updates.1.title")),
        ({"toolCallId": "c1", "name": "x" * 201}, ("InvalidInputError", "input.updates.1.name")),
        (
            {"toolCallId": "c1", "locations": [{"path": "/a"}, {"path": "x" * 4_097}]},
            ("InvalidInputError", "input.updates.1.locations.1.path"),
        ),
        ({"toolCallId": "taken"}, ("InvalidInputError", "input.updates.1.toolCallId")),
        (
            {"toolCallId": "c1", "content": {"type": "text"}},
            ("InvalidInputError", "input.updates.1.content"),
        ),
        (
            {"toolCallId": "c1", "locations": [{"path": "/a", "line": 0}]},
            ("InvalidInputError", "input.updates.1.locations.0.line"),
        ),
        (
            {"toolCallId": "c1", "title": "\ud800"},
            ("InvalidInputError", "input.updates.1.title"),
        ),
        (
            {"toolCallId": "c1", "rawOutput": ["\ud800"]},
            ("InvalidInputError", "input.updates.1.rawOutput.0"),
        ),
        (
            {"toolCallId": "c1", "content": ["x" * 9 * 1024 * 1024]},
            ("TooLargeError", "input.updates"),
        ),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
@pytest.mark.usefixtures("session")
async def test_what_cannot_be_is_refused_and_no_update_of_its_batch_is_applied(
    api: Api, bad: Json, expected: tuple[str, str]
) -> None:
    updates = [{"toolCallId": "c1", "title": "good"}, bad, {"toolCallId": "new"}]
    assert await refusals(api, "updateToolCalls", sessionId=SESSION, updates=updates) == [expected]


@pytest.mark.usefixtures("session")
async def test_501_updates_are_too_many(api: Api) -> None:
    updates = [{"toolCallId": "c1"}] * 501
    payload = await mutate(api, "updateToolCalls", sessionId=SESSION, updates=updates)
    assert [(e["__typename"], e["size"], e["limit"]) for e in payload["errors"]] == [
        ("TooLargeError", 501, 500)
    ]


async def test_an_unknown_session_is_not_found(api: Api) -> None:
    payload = await update(api, {"toolCallId": "c"})
    assert shown(payload) == [("NotFoundError", "input.sessionId")]
    assert (payload["messages"], payload["session"]) == (None, None)


@pytest.mark.usefixtures("session")
async def test_clients_that_patch_and_append_calls_at_once_lose_nothing(api: Api) -> None:
    async def client(number: int) -> None:
        for turn in range(4):
            updates = [
                {"toolCallId": f"shared-{turn}", "rawInput": {"by": number}},
                {"toolCallId": f"own-{number}", "content": [text_block(f"{turn}")]},
            ]
            payload = await mutate(api, "updateToolCalls", sessionId=SESSION, updates=updates)
            assert payload["errors"] == []

    await asyncio.gather(*map(client, range(6)))
    found = await messages(api.database, "sequence", "tool_call_id")
    assert [row["sequence"] for row in found] == list(range(1, 2 + 4 + 6 + 1))
    assert len({row["tool_call_id"] for row in found}) == 1 + 1 + 4 + 6
    await assert_sound(api)
