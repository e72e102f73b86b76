import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.importers.acp_log import (
    PATH,
    S,
    Store,
    answered,
    call,
    opened,
    patch,
    prompt,
    request,
    response,
    said,
    update,
)
from toolfold.errors import TranscriptError
from toolfold.transcript import Json, Session, ToolStatus

INITIALIZE = request("initialize", 0, protocolVersion=1, clientCapabilities={})
INITIALIZED = response({"protocolVersion": 1, "agentInfo": {"name": "demo-agent", "version": "3"}})


def test_a_session_has_its_agent_its_folder_and_its_title() -> None:
    store = Store().read(
        [
            INITIALIZE,
            INITIALIZED,
            *opened(),
            update("session_info_update", title="Fix the adder", updatedAt="yesterday"),
            update("session_info_update", title=None, updatedAt="2026-11-30T17:00:00Z"),
            update("session_info_update", updatedAt="2026-11-30T18:00:00"),
        ]
    )
    assert store.sessions == {
        S: Session(
            agent="demo-agent",
            title="Fix the adder",
            cwd="/work",
            updated_at=datetime(2026, 11, 30, 17, tzinfo=UTC),
        ),
    }
    assert store.records == []


def test_lines_before_the_first_message_that_is_understood_are_kept() -> None:
    noise = [{"level": "info"}] * 49
    store = Store().read([*noise, *opened(), prompt("Go on.")])
    assert store.texts() == [("user", "Go on.")]
    assert len(store.records) == 49


def test_a_log_of_messages_that_are_not_known_yet_is_kept_raw() -> None:
    store = Store().read([request("session/levitate", sessionId=S)])
    assert len(store.records) == 1


def test_a_file_without_any_message_of_acp_is_refused() -> None:
    for lines in (1, 51, 500):
        store = Store()
        with pytest.raises(
            TranscriptError, match=r"^/logs/agent\.ndjson:1: not a message of ACP\.$"
        ):
            store.read([{"type": "session_meta", "payload": {}}] * lines)
        assert store.entries == []


def test_updates_before_the_response_that_names_their_session_belong_to_it() -> None:
    ask, tell = opened()
    store = Store().read([ask, said("Hello."), tell, prompt("Go on."), answered()])
    assert store.texts() == [("assistant", "Hello."), ("user", "Go on.")]
    assert store.sessions[S].cwd == "/work"


def test_a_response_answers_the_side_that_asked_when_ids_overlap() -> None:
    permission = request("session/request_permission", 2, sessionId=S, toolCall={}, options=[])
    store = Store().read(
        [
            *opened(),
            prompt("First.", request_id=2),
            permission,
            response({"outcome": {"outcome": "selected", "optionId": "allow"}}, 2),
            said("Done."),
            answered(2, usage={"inputTokens": 7, "outputTokens": 5}),
            prompt("Second.", request_id=3),
            said("Done too."),
        ]
    )
    assert store.texts() == [
        ("user", "First."),
        ("assistant", "Done."),
        ("user", "Second."),
        ("assistant", "Done too."),
    ]
    (usage,) = [message.usage for message in store.messages[S] if message.usage]
    assert (usage.input_tokens, usage.output_tokens) == (7, 5)


def test_a_failed_request_of_the_agent_does_not_end_the_prompt_of_the_same_id() -> None:
    failed = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "No such file"}}
    store = Store().read(
        [
            *opened(),
            prompt("Read it.", request_id=1),
            call("c1", title="Read", status="in_progress"),
            request("fs/read_text_file", 1, sessionId=S, path="/work/a"),
            failed,
            patch("c1", status="completed"),
        ]
    )
    assert store.texts() == [("user", "Read it."), ("tool", "Read")]
    assert store.calls()["c1"].status is ToolStatus.COMPLETED


def test_a_noted_direction_decides_which_request_a_response_answers() -> None:
    def logged(direction: str, message: Json) -> Json:
        return {"ts": "2026-11-30T17:00:00Z", "dir": direction, "msg": message}

    store = Store().read(
        [
            logged("out", prompt("Stop at once.", request_id=1)),
            logged("in", request("terminal/kill", 1, sessionId=S, terminalId="t1")),
            # Both would do; the agent sends it, so it answers the client.
            logged("in", {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "Refused"}}),
            logged("out", response({}, 1)),
        ]
    )
    assert store.texts() == [("user", "Stop at once."), ("system", "Refused")]


def test_a_prompt_answered_with_an_error_ends_with_a_system_message() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "Log in first"}},
        ]
    )
    assert store.texts() == [("user", "Go."), ("system", "Log in first")]


def test_a_logger_s_envelope_gives_messages_their_time() -> None:
    begin = datetime(2026, 11, 30, 17, 9, 47, 447000, tzinfo=UTC)
    end = datetime(2026, 11, 30, 17, 9, 50, tzinfo=UTC)
    store = Store().read(
        [
            {"ts": "2026-11-30T17:09:47.447Z", "dir": ">", "msg": prompt("Go.")},
            {"time": 1796058587.447, "message": call("c1", title="Read")},
            {"timestamp": 1796058590000, "message": patch("c1", status="completed")},
        ]
    )
    asked, tool = store.messages[S]
    assert asked.created_at == begin
    assert tool.created_at == begin
    assert tool.tool_call is not None
    assert (tool.tool_call.started_at, tool.tool_call.ended_at) == (begin, end)
    assert (store.sessions[S].created_at, store.sessions[S].updated_at) == (begin, end)


def test_messages_have_no_time_where_the_log_has_none() -> None:
    store = Store().read([*opened(), prompt("Go."), call("c1"), patch("c1", status="completed")])
    assert [message.created_at for message in store.messages[S]] == [None, None]
    assert store.calls()["c1"].started_at is None


def test_one_log_may_hold_several_sessions_at_once() -> None:
    store = Store().read(
        [
            *opened("a", 0),
            *opened("b", 1),
            prompt("To a.", session="a", request_id=2),
            prompt("To b.", session="b", request_id=3),
            update("agent_message_chunk", "a", content={"type": "text", "text": "A, "}),
            update("agent_message_chunk", "b", content={"type": "text", "text": "B, "}),
            update("agent_message_chunk", "a", content={"type": "text", "text": "said a."}),
            update("agent_message_chunk", "b", content={"type": "text", "text": "said b."}),
        ]
    )
    assert store.texts("a") == [("user", "To a."), ("assistant", "A, said a.")]
    assert store.texts("b") == [("user", "To b."), ("assistant", "B, said b.")]


def test_bare_updates_are_a_log_too() -> None:
    notifications = [
        said("Hello.", role="user_message"),
        call("c1", title="Read"),
        patch("c1", status="completed"),
        said("Done."),
    ]
    expected = [("user", "Hello."), ("tool", "Read"), ("assistant", "Done.")]
    params = [notification["params"] for notification in notifications]
    updates = [one["update"] for one in params]
    assert Store().read(notifications).texts() == expected
    assert Store().read(params).texts() == expected
    nameless = Store().read(updates)
    (session,) = nameless.sessions
    assert nameless.texts(session) == expected
    # Another file's nameless updates are another session.
    assert session not in Store().read(updates, Path("/logs/other.ndjson")).sessions


def test_two_logs_that_begin_amid_a_session_both_count() -> None:
    amid = [prompt("Go on."), said("Yes."), answered()]
    begun = [*opened(), *amid]
    first, second = Path("/logs/first"), Path("/logs/second")
    texts = [("user", "Go on."), ("assistant", "Yes.")]
    assert Store().read(amid, first).read(amid, second).texts() == texts * 2
    assert Store().read(amid, first).read(amid, first).texts() == texts
    assert Store().read(begun, first).read(begun, second).texts() == texts
    # A word before the response that names the session does not make it one that began elsewhere.
    early = [begun[0], said("Hello."), *begun[1:]]
    assert len(Store().read(early, first).read(early, second).texts()) == 3


def test_what_an_agent_alone_has_sent_is_a_log_too() -> None:
    store = Store().read(
        [
            INITIALIZED,
            response({"sessionId": S}, 1),
            said("Hello."),
            answered(2, usage={"inputTokens": 3, "outputTokens": 1}),
        ]
    )
    assert store.sessions == {S: Session(agent="demo-agent")}
    (message,) = store.messages[S]
    assert message.content == "Hello."
    assert message.usage is not None
    assert message.usage.input_tokens == 3
    assert store.records == []


def test_what_is_not_understood_is_kept_raw_and_the_rest_is_read() -> None:
    unknown = update("dream_update", dream="sheep")
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            unknown,
            request("elicitation/create", 9, sessionId=S, message="Which one?"),
            response({"action": "accept"}, 9),
            {"jsonrpc": "2.0", "method": "_vendor/status", "params": {}},
            {"hello": "world"},
            [1, 2],
            update("agent_message_chunk", content="words"),
            update("tool_call", title="no id"),
            said("Done."),
            # Understood, and nothing to show.
            {"jsonrpc": "2.0", "method": "_auth/status_update", "params": {}},
            {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": S}},
            update("usage_update", used=1, size=2),
            update("current_mode_update", currentModeId="plan"),
            update("available_commands_update", availableCommands=[]),
            update("config_option_update", configOptions=[]),
        ]
    )
    assert store.texts() == [("user", "Go."), ("assistant", "Done.")]
    assert store.reasons() == [
        "unknown update dream_update",
        "unknown method elicitation/create",
        "a response to no known request",
        "unknown method _vendor/status",
        "not a message of ACP",
        "the line is not an object",
        "the content is not an object",
        "no toolCallId",
    ]
    assert b"sheep" in store.records[0].raw


def test_damaged_lines_are_mended_or_kept_and_their_messages_flagged() -> None:
    whole = json.dumps(said("One ")).encode()
    chunk = json.dumps(said("half SURROGATE")).encode().replace(b"SURROGATE", rb"\ud83d")
    begun = json.dumps(call("c1")).encode()
    ended = json.dumps(patch("c1", status="completed", rawOutput="BYTE")).encode()
    lines = [whole, chunk, b"not json", begun + ended.replace(b"BYTE", b"\xff")]
    store = Store().read_lines(lines)
    spoken, tool = store.messages[S]
    assert (spoken.content, spoken.repaired) == ("One half \ufffd", True)
    assert tool.tool_call is not None
    assert (tool.tool_call.raw_output, tool.repaired) == ("\ufffd", True)
    assert [record.raw for record in store.records] == [b"not json"]
    assert [repair.reason for repair in store.repairs] == [
        "lone surrogate",
        "two objects on one line",
        "invalid UTF-8",
    ]


def test_lines_never_fall_and_what_the_end_told_has_none() -> None:
    store = Store().read([*opened(), prompt("Go."), said("One "), said("two.")])
    assert [entry.line for entry in store.entries] == [2, 3, None]


def test_a_second_import_names_the_messages_as_the_first_did() -> None:
    log = [said("Hi."), prompt("Go."), said("a"), call("c1"), said("b", "m1"), said("b", None)]
    first, second = Store().read(log), Store().read(log)
    assert first.entries == second.entries
    ids = [message.client_id for message in first.messages[S]]
    assert len(set(ids)) == len(ids) == 6
    assert PATH.name not in "".join(ids)
