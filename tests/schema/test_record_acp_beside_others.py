"""ACP messages recorded in a session that has messages which are not of the stream."""

from pathlib import Path
from typing import Any

import pytest

from tests.builders import text_block
from tests.ingest.stored import messages
from tests.schema.conftest import Api
from tests.schema.mutating import assert_sound, mutate, shown
from tests.schema.recording import SESSION, call, chunk, notice, patch, record, restarted
from toolfold import export
from toolfold.ingest import import_file
from toolfold.schema.global_id import encode


@pytest.fixture
async def session(api: Api) -> str:
    """A session without messages."""
    return (await api.store([], agent="an agent", cwd="/w")).id


CALLS = """
query ($id: ID!) { session(id: $id) { messages { nodes { role content toolMetadata {
  toolCallId title kind status content
} } } } }
"""


async def _shown_messages(api: Api) -> list[dict[str, Any]]:
    data = await api.data(CALLS, id=SESSION)
    found: list[dict[str, Any]] = data["session"]["messages"]["nodes"]
    return found


async def _append(api: Api, *sent: dict[str, Any]) -> None:
    payload = await mutate(api, "appendMessages", sessionId=SESSION, messages=list(sent))
    assert payload["errors"] == []


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.usefixtures("session")
async def test_messages_that_have_the_ids_of_the_streams_stay_and_the_streams_are_all_there(
    api: Api, *, is_restarted: bool
) -> None:
    await record(api, 0, chunk("a"), call("k"), chunk("b"))
    ids = [row["client_id"] for row in await messages(api.database, "client_id")]
    assert shown(await mutate(api, "deleteSession", id=SESSION)) == []
    await api.store([], agent="an agent", cwd="/w")
    await _append(
        api, *({"clientMessageId": one, "role": "USER", "content": f"mine {one}"} for one in ids)
    )
    sent = [chunk("a"), chunk("A"), call("k"), patch("k", status="completed"), chunk("b")]
    ended = [{"id": 1, "result": {"stopReason": "end_turn", "usage": {"inputTokens": 3}}}]
    for index, update in enumerate([*sent, *ended, chunk("c")]):
        server = restarted(api) if is_restarted else api
        assert (await record(server, index, update))["errors"] == []
    found = await messages(
        api.database, "role", "content", "tool_call_id", "tool_status", "input_tokens"
    )
    assert [tuple(row.values()) for row in found] == [
        *(("user", f"mine {one}", None, None, None) for one in ids),
        ("assistant", "aA", None, None, None),
        ("tool", "", "k", "completed", None),
        ("assistant", "b", None, None, 3),
        ("assistant", "c", None, None, None),
    ]
    await assert_sound(api)


async def test_a_session_that_was_imported_keeps_its_messages_when_a_stream_goes_on_with_it(
    api: Api, session: str, tmp_path: Path
) -> None:
    await record(api, 0, chunk("first"), call("k", title="call"), chunk("second"))
    before = await messages(api.database)
    async with api.database.read() as connection:
        exported = b"".join([piece async for piece in export.stream(connection, "default", "s")])
    assert shown(await mutate(api, "deleteSession", id=session)) == []
    path = tmp_path / "export.jsonl"
    path.write_bytes(exported)
    assert (await import_file(api.database, "default", path)).error is None
    assert [row["content"] for row in await messages(api.database)] == ["first", "", "second"]
    payload = await record(api, 0, chunk("OVERWRITE"), chunk("b"))
    assert payload["errors"] == []
    found = await messages(api.database)
    assert [row["content"] for row in found] == ["first", "", "second", "OVERWRITEb"]
    assert [row["client_id"] for row in found[:3]] == [row["client_id"] for row in before]
    await assert_sound(api)


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize("kind", ["tool_call", "tool_call_update"])
@pytest.mark.usefixtures("session")
async def test_what_a_stream_says_of_a_call_that_was_appended_patches_it(
    api: Api, kind: str, *, is_restarted: bool
) -> None:
    tool: dict[str, Any] = {"toolCallId": "k", "title": "orig", "kind": "READ"}
    tool |= {"status": "IN_PROGRESS", "content": [text_block("keep")]}
    await _append(api, {"clientMessageId": "mine", "role": "TOOL", "toolMetadata": tool})
    steps: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"kind": "edit"}, {"kind": "EDIT"}),
        ({"status": "completed"}, {"status": "COMPLETED"}),
        ({"title": "new"}, {"title": "new"}),
    ]
    for index, (given, expected) in enumerate(steps):
        server = restarted(api) if is_restarted else api
        update = notice({"sessionUpdate": kind, "toolCallId": "k", **given})
        assert (await record(server, index, update))["errors"] == []
        tool |= expected
        (found,) = await _shown_messages(api)
        assert found == {"role": "TOOL", "content": "", "toolMetadata": tool}
    # In a later turn too.
    await record(api, 3, {"method": "session/prompt", "id": 1, "params": {"prompt": []}})
    await record(api, 4, patch("k", content=[text_block("other")]))
    (found,) = await _shown_messages(api)
    assert found["toolMetadata"] == {**tool, "content": [text_block("other")]}
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_call_that_was_patched_before_it_began_is_one_message(api: Api) -> None:
    update = {"toolCallId": "k", "rawInput": {"a": 1}, "content": []}
    payload = await mutate(api, "updateToolCalls", sessionId=SESSION, updates=[update])
    assert payload["errors"] == []
    await record(api, 0, call("k", title="T", kind="edit", content=[text_block("x")]))
    (row,) = await messages(api.database, "tool_title", "tool_kind", "tool_content_preview")
    assert tuple(row.values()) == ("T", "edit", "x")
    await assert_sound(api)


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.usefixtures("session")
async def test_a_sub_agents_session_keeps_what_others_appended_to_it(
    api: Api, *, is_restarted: bool
) -> None:
    inside: dict[str, Any] = {"_meta": {"claudeCode": {"parentToolUseId": "task"}}}
    await record(api, 0, call("task"), chunk("one", **inside))
    found = await messages(api.database, "session_id", "content")
    (own,) = [row for row in found if row["session_id"] != "s"]
    assert own["content"] == "one"
    child = encode("Session", "default", own["session_id"])
    sent = [
        {"clientMessageId": "assistant:0.2", "role": "USER", "content": "mine"},
        {"clientMessageId": "m", "role": "TOOL", "toolMetadata": {"toolCallId": "k"}},
    ]
    payload = await mutate(api, "appendMessages", sessionId=child, messages=sent)
    assert payload["errors"] == []
    updates = [patch("k", title="T", **inside), chunk("tw", **inside), chunk("o", **inside)]
    for index, update in enumerate(updates, 2):
        server = restarted(api) if is_restarted else api
        assert (await record(server, index, update))["errors"] == []
    found = await messages(api.database, "content", "tool_call_id", "tool_title", "session_id")
    assert [tuple(row.values())[:3] for row in found if row["session_id"] != "s"] == [
        ("one", None, None),
        ("mine", None, None),
        ("", "k", "T"),
        ("two", None, None),
    ]
    await assert_sound(api)
