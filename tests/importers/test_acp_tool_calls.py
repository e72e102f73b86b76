import pytest

from tests.builders import text_block
from tests.importers.acp_log import (
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
from toolfold.importers.acp.turn_calls import MAX_ENDED
from toolfold.transcript import (
    ContentState,
    Json,
    Message,
    MessageRole,
    ToolCall,
    ToolCallUpdate,
    ToolKind,
    ToolLocation,
    ToolStatus,
)

DIFF = {"type": "diff", "path": "/work/a.py", "oldText": "-", "newText": "+"}


def test_a_call_is_told_at_first_sight_and_again_when_it_ends() -> None:
    begun = call(
        "c1", title="Edit", kind="edit", status="pending", rawInput={}, content=[], locations=[]
    )
    known = patch(
        "c1",
        title="Edit a.py",
        rawInput={"path": "/work/a.py"},
        locations=[{"path": "/work/a.py", "line": 7}, {"path": "/work/b.py"}],
        content=[DIFF],
    )
    ended = patch("c1", status="completed", rawOutput="ok")
    store = Store().read([begun, known, ended, said("Done.")])
    assert [entry.line for entry in store.entries] == [1, 1, 3, None]
    assert [entry.value for entry in store.entries[1:-1]] == [
        Message(
            "tool:c1",
            MessageRole.TOOL,
            tool_call=ToolCall(
                "c1",
                title="Edit",
                kind=ToolKind.EDIT,
                status=ToolStatus.PENDING,
                content=[],
                raw_input={},
            ),
        ),
        ToolCallUpdate(
            "c1",
            title="Edit a.py",
            status=ToolStatus.COMPLETED,
            locations=(ToolLocation("/work/a.py", 7), ToolLocation("/work/b.py")),
            content=[DIFF],
            raw_input={"path": "/work/a.py"},
            raw_output="ok",
        ),
    ]


def test_an_absent_field_keeps_an_array_replaces_and_null_clears() -> None:
    begun = call(
        "c1",
        title="Read",
        kind="read",
        rawInput={"a": 1},
        rawOutput=1,
        content=[DIFF],
        locations=[{"path": "/a"}],
    )

    def patched(**values: Json) -> ToolCall:
        return Store().read([begun, patch("c1", status="completed", **values)]).calls()["c1"]

    kept = patched()
    assert (kept.title, kept.kind, kept.content) == ("Read", ToolKind.READ, [DIFF])
    assert (kept.raw_input, kept.raw_output, kept.locations) == ({"a": 1}, 1, (ToolLocation("/a"),))
    emptied = patched(content=[], locations=[])
    assert (emptied.content, emptied.locations) == ([], ())
    cleared = patched(title=None, content=None, rawInput=None, rawOutput=None, locations=None)
    assert (cleared.title, cleared.content, cleared.locations) == (None, None, ())
    assert (cleared.raw_input, cleared.raw_output) == (None, None)
    assert patched(kind=None).kind is ToolKind.READ


def test_a_null_status_keeps_the_status() -> None:
    store = Store().read([call("c1", status="in_progress"), patch("c1", status=None)])
    assert store.calls()["c1"].status is ToolStatus.IN_PROGRESS


@pytest.mark.parametrize(
    ("recorded", "status"),
    [
        ("cancelled", ToolStatus.FAILED),
        ("failed", ToolStatus.FAILED),
        ("paused", ToolStatus.IN_PROGRESS),
        ("dreaming", ToolStatus.PENDING),
    ],
)
def test_open_enums_are_accepted(recorded: str, status: ToolStatus) -> None:
    store = Store().read([call("c1", kind="dream"), patch("c1", status=recorded)])
    assert store.calls()["c1"].status is status
    assert store.calls()["c1"].kind is ToolKind.OTHER


def test_a_last_update_without_content_keeps_the_earlier_diff() -> None:
    store = Store().read(
        [call("c1", content=[]), patch("c1", content=[DIFF]), patch("c1", status="completed")]
    )
    assert store.calls()["c1"].content == [DIFF]


def test_cumulative_content_replaces() -> None:
    store = Store().read(
        [
            call("c1", status="in_progress"),
            patch("c1", kind="execute", title="ls", content=[text_block("a\n")]),
            patch("c1", kind="execute", title="ls", content=[text_block("a\nb\n")]),
            patch("c1", status="completed", content=[text_block("a\nb\nc\n")]),
        ]
    )
    assert store.calls()["c1"].content == [text_block("a\nb\nc\n")]


def test_content_that_is_no_array_is_kept_as_it_is() -> None:
    store = Store().read(
        [call("c1", content={"odd": 1}), call("c2", content="text"), call("c3", content=[None, 3])]
    )
    assert [one.content for one in store.calls().values()] == [{"odd": 1}, "text", [None, 3]]


def test_a_call_that_has_ended_can_still_be_patched() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            call("c1", title="Edit", content=[DIFF], rawInput={"a": 1}),
            patch("c1", status="completed"),
            patch("c1", title="Edited", rawOutput="late"),
            answered(),
            prompt("Go on."),
            patch("c1", content=[text_block("later still")], status="completed"),
        ]
    )
    assert store.texts() == [("user", "Go."), ("tool", "Edited"), ("user", "Go on.")]
    edited = store.calls()["c1"]
    assert (edited.raw_input, edited.raw_output) == ({"a": 1}, "late")
    assert edited.content == [text_block("later still")]
    assert edited.status is ToolStatus.COMPLETED


def test_a_call_that_ended_long_ago_can_still_be_patched() -> None:
    others = [call(f"c{n}", status="completed") for n in range(MAX_ENDED + 1)]
    begun = call("first", title="Read", status="completed", content=[DIFF])
    store = Store().read([begun, *others, patch("first", title="Read a.py")])
    assert len(store.messages[S]) == MAX_ENDED + 2
    first = store.calls()["first"]
    assert (first.title, first.content, first.status) == (
        "Read a.py",
        [DIFF],
        ToolStatus.COMPLETED,
    )


def test_an_update_for_an_unknown_call_appends_it() -> None:
    store = Store().read([said("Hm."), patch("c9", title="Read", kind="read", content=[])])
    assert store.texts() == [("assistant", "Hm."), ("tool", "Read")]
    unknown = store.calls()["c9"]
    assert (unknown.status, unknown.kind, unknown.content) == (
        ToolStatus.PENDING,
        ToolKind.READ,
        [],
    )


def test_a_permission_request_s_call_is_a_patch_too() -> None:
    asked = {"toolCallId": "c1", "title": "rm -r build", "rawInput": {"command": "rm -r build"}}
    store = Store().read(
        [
            call("c1", title="Terminal", kind="execute", rawInput={}),
            request("session/request_permission", 7, sessionId=S, toolCall=asked, options=[]),
            request(
                "session/request_permission",
                8,
                sessionId=S,
                title="May I?",
                subject={"type": "tool_call", "toolCall": {"toolCallId": "c2", "title": "New"}},
            ),
            patch("c1", status="completed"),
        ]
    )
    assert store.texts() == [("tool", "rm -r build"), ("tool", "New")]
    assert store.calls()["c1"].raw_input == {"command": "rm -r build"}


def test_a_call_without_a_result_is_pending_where_the_session_ends() -> None:
    store = Store().read([*opened(), prompt("Go."), call("c1"), said("Waiting.")])
    assert store.calls()["c1"].status is ToolStatus.PENDING
    running = Store().read([call("c1", status="in_progress"), patch("c1", content=[DIFF])])
    assert running.calls()["c1"].status is ToolStatus.IN_PROGRESS
    assert running.calls()["c1"].content == [DIFF]


def test_a_call_without_a_result_has_failed_when_its_turn_is_over() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            call("c1", status="pending", content=[]),
            call("c2", status="in_progress", content=[DIFF]),
            answered(stopReason="cancelled"),
        ]
    )
    empty, partial = store.calls().values()
    assert (empty.status, empty.content_state) == (ToolStatus.FAILED, ContentState.NONE_RECORDED)
    assert empty.content is None
    assert (partial.status, partial.content_state) == (ToolStatus.FAILED, None)
    assert partial.content == [DIFF]


def test_where_no_prompt_was_logged_the_user_s_next_message_ends_the_turn() -> None:
    store = Store().read(
        [
            said("Go.", role="user_message"),
            call("c1"),
            said("Never mind.", role="user_message"),
            said("All right."),
        ]
    )
    assert store.calls()["c1"].status is ToolStatus.FAILED


def test_an_update_alone_does_not_say_that_a_call_was_left_without_a_result() -> None:
    unknown = patch("c1", title="Of an earlier turn")
    store = Store().read([*opened(), prompt("Go."), unknown, patch("c2"), answered()])
    assert {one.status for one in store.calls().values()} == {ToolStatus.PENDING}


def test_in_version_2_a_call_may_run_on_until_the_next_prompt() -> None:
    begun = [
        *opened(),
        prompt("Go."),
        response({"messageId": "u1"}, 1),
        patch("c1", status="in_progress"),
        update("state_update", state="idle"),
    ]
    assert Store().read(begun).calls()["c1"].status is ToolStatus.IN_PROGRESS
    assert Store().read([*begun, prompt("And?")]).calls()["c1"].status is ToolStatus.FAILED


def test_a_call_after_the_turn_s_end_has_failed_at_the_next_prompt() -> None:
    store = Store().read([*opened(), prompt("Go."), answered(), call("c1"), prompt("And?")])
    assert store.calls()["c1"].status is ToolStatus.FAILED


def test_a_prompt_to_an_agent_at_work_fails_nothing() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go.", request_id=1),
            call("c1", title="Build", content=[text_block("half")]),
            prompt("And test.", request_id=2),
            patch("c1", status="completed", content=[text_block("whole")]),
            answered(1),
        ]
    )
    assert store.texts() == [("user", "Go."), ("tool", "Build"), ("user", "And test.")]
    assert store.calls()["c1"].content == [text_block("whole")]
    assert store.calls()["c1"].status is ToolStatus.COMPLETED


def test_version_2_appends_blocks_one_by_one() -> None:
    store = Store().read(
        [
            update("tool_call_update", toolCallId="c1", title="Search", status="in_progress"),
            update("tool_call_content_chunk", toolCallId="c1", content=text_block("one")),
            update("tool_call_content_chunk", toolCallId="c1", content=text_block("two")),
            patch("c1", status="completed"),
            update("tool_call_content_chunk", toolCallId="c1", content=text_block("too late")),
        ]
    )
    searched = store.calls()["c1"]
    assert searched.content == [text_block("one"), text_block("two")]
    assert searched.status is ToolStatus.COMPLETED
    assert store.reasons() == ["content for a tool call that has ended"]
