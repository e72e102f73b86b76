from tests.builders import text_block
from tests.importers.acp_log import S, Store, answered, call, opened, patch, prompt, said, update
from toolfold.transcript import Json, Session, ToolStatus


def by(starter: str, tool: str = "Bash") -> Json:
    """Return the `_meta` by which Claude's adapter tells whose call it is."""
    return {"claudeCode": {"toolName": tool, "parentToolUseId": starter}}


def result(tool_response: Json) -> Json:
    """Return the `_meta` of the record of a result, which does not say whose it is."""
    return {"claudeCode": {"toolResponse": tool_response}}


def test_a_sub_agent_s_calls_are_a_session_of_their_own() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            call("agent", title="Task", kind="think", status="pending"),
            patch("agent", title="Survey repo", rawInput={"prompt": "List the files."}),
            call("ls", title="ls", _meta=by("agent"), status="pending"),
            call("wc", title="wc", _meta=by("agent"), status="pending"),
            patch("wc", _meta=result({"stdout": "7"})),
            patch("wc", status="completed", _meta=by("agent")),
            patch("ls", status="failed", content=[text_block("no")], _meta=by("agent")),
            patch("agent", status="completed", content=[text_block("Two files.")]),
            said("It has two."),
            answered(),
        ]
    )
    child = f"{S}/agent"
    assert store.sessions[child] == Session(
        title="Survey repo", cwd="/work", parent=S, parent_tool_call_id="agent"
    )
    assert store.texts() == [("user", "Go."), ("tool", "Survey repo"), ("assistant", "It has two.")]
    assert store.calls()["agent"].child_session == child
    assert store.texts(child) == [("tool", "ls"), ("tool", "wc")]
    assert store.calls(child)["wc"].raw_output == {"stdout": "7"}
    assert store.calls(child)["ls"].status is ToolStatus.FAILED


def test_a_sub_agent_s_words_go_to_its_session() -> None:
    store = Store().read(
        [
            call("agent", title="Task"),
            update(
                "agent_message_chunk",
                content={"type": "text", "text": "From below."},
                _meta=by("agent"),
            ),
            said("From above."),
        ]
    )
    assert store.texts() == [("tool", "Task"), ("assistant", "From above.")]
    assert store.texts(f"{S}/agent") == [("assistant", "From below.")]


def test_a_sub_agent_may_start_another() -> None:
    store = Store().read(
        [
            call("outer", title="Outer"),
            call("inner", title="Inner", _meta=by("outer", "Agent")),
            call("ls", title="ls", _meta=by("inner")),
            patch("ls", status="completed"),
            patch("inner", status="completed"),
            patch("outer", status="completed"),
        ]
    )
    assert store.texts() == [("tool", "Outer")]
    assert store.texts(f"{S}/outer") == [("tool", "Inner")]
    assert store.texts(f"{S}/inner") == [("tool", "ls")]
    assert store.sessions[f"{S}/inner"].parent == f"{S}/outer"
    assert store.calls(f"{S}/outer")["inner"].child_session == f"{S}/inner"
    assert store.calls(f"{S}/inner")["ls"].status is ToolStatus.COMPLETED


def test_a_sub_agent_s_call_has_failed_when_the_sub_agent_is_done() -> None:
    store = Store().read(
        [
            call("agent"),
            call("ls", _meta=by("agent")),
            patch("agent", status="completed"),
        ]
    )
    assert store.calls(f"{S}/agent")["ls"].status is ToolStatus.FAILED


def test_a_sub_agent_s_call_has_failed_when_the_turn_is_over() -> None:
    store = Store().read(
        [*opened(), prompt("Go."), call("agent"), call("ls", _meta=by("agent")), answered()]
    )
    assert store.calls(f"{S}/agent")["ls"].status is ToolStatus.FAILED
    assert store.calls()["agent"].status is ToolStatus.FAILED


def test_a_sub_agent_goes_on_in_a_later_turn() -> None:
    store = Store().read(
        [
            *opened(),
            prompt("Go."),
            call("agent", status="completed"),
            call("ls", title="ls", _meta=by("agent")),
            answered(),
            prompt("And?"),
            patch("ls", _meta=result({"stdout": "a.py"})),
            patch("ls", status="completed", _meta=by("agent")),
            call("wc", title="wc", _meta=by("agent"), status="completed"),
            answered(),
        ]
    )
    assert store.texts(f"{S}/agent") == [("tool", "ls"), ("tool", "wc")]
    assert store.calls(f"{S}/agent")["ls"].status is ToolStatus.COMPLETED
    assert store.calls(f"{S}/agent")["ls"].raw_output == {"stdout": "a.py"}
    assert store.calls()["agent"].child_session == f"{S}/agent"
    assert store.texts() == [("user", "Go."), ("tool", ""), ("user", "And?")]


def test_calls_of_a_sub_agent_whose_start_is_not_in_the_log_are_kept_apart() -> None:
    store = Store().read([call("ls", title="ls", _meta=by("agent")), said("Hm.")])
    assert store.texts() == [("assistant", "Hm.")]
    assert store.texts(f"{S}/agent") == [("tool", "ls")]
    assert store.sessions[f"{S}/agent"].parent_tool_call_id == "agent"
