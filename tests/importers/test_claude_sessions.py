"""Which session a record of Claude Code belongs to, what it is called, and who began it."""

import json
from datetime import UTC, datetime
from pathlib import Path

from tests.importers.claude_lines import (
    Fields,
    assistant,
    call,
    entries,
    parse,
    result,
    text,
    user,
    write,
)
from toolfold.importers import claude_code
from toolfold.transcript import Entry, Message, MessageUsage, Session, ToolCallUpdate

NOW = datetime(2026, 11, 30, 17, 9, 47, 923_000, tzinfo=UTC)


def _session(**more: str | None) -> Session:
    found = {"agent": "claude-code", "cwd": "/home/sam", "git_branch": "main", **more}
    return Session(created_at=NOW, **found)  # type: ignore[arg-type]  # All of these are text.


def _sessions(told: list[Entry]) -> list[tuple[str | None, int | None, Session]]:
    return [
        (entry.session, entry.line, entry.value)
        for entry in told
        if isinstance(entry.value, Session)
    ]


def _of_agent(record: Fields, agent: str = "a1b2") -> Fields:
    return record | {"isSidechain": True, "agentId": agent}


def _meta(path: Path, **meta: str) -> None:
    path.with_suffix(".meta.json").write_text(json.dumps(meta), encoding="utf-8")


def _titles(told: list[Entry]) -> list[tuple[int | None, str | None]]:
    return [(line, session.title) for _, line, session in _sessions(told)]


def test_a_sub_agents_file_is_a_session_of_its_own_begun_by_a_call(tmp_path: Path) -> None:
    path = write(
        tmp_path / "5e55" / "subagents" / "agent-a1b2.jsonl",
        [_of_agent(user("u1", "Survey.")), _of_agent(assistant("a1", text("Surveyed.")))],
    )
    _meta(path, agentType="Explore", description="Survey the repository", toolUseId="t1")
    told = parse(path)
    child = _session(title="Survey the repository", parent="5e55", parent_tool_call_id="t1")
    assert _sessions(told) == [("5e55/a1b2", 1, child)]
    assert {entry.session for entry in told} == {"5e55/a1b2"}
    assert claude_code.companions(path) == (path.with_suffix(".meta.json"),)


def test_a_sub_agents_file_beside_its_sessions_is_read_as_well(tmp_path: Path) -> None:
    persisted = (
        "<persisted-output>\nFull output saved to: /x/b1.txt\n\nPreview\n</persisted-output>"
    )
    path = write(
        tmp_path / "agent-a1b2.jsonl",
        [
            _of_agent(user("u1", "Survey.")),
            _of_agent(assistant("a1", call("t9"))),
            _of_agent(result("u2", "t9", persisted)),
        ],
    )
    output = tmp_path / "5e55" / "tool-results" / "b1.txt"
    output.parent.mkdir(parents=True)
    output.write_text("whole", encoding="utf-8")
    told = parse(path)
    assert _sessions(told) == [("5e55/a1b2", 1, _session(parent="5e55"))]
    (update,) = [entry.value for entry in told if isinstance(entry.value, ToolCallUpdate)]
    assert update.content == [{"type": "content", "content": {"type": "text", "text": "whole"}}]
    assert claude_code.companions(path) == (output,)


def test_results_of_a_sub_agent_in_its_folder_are_those_of_the_session(tmp_path: Path) -> None:
    path = write(
        tmp_path / "5e55" / "subagents" / "agent-a1b2.jsonl", [_of_agent(user("u1", "Survey."))]
    )
    output = tmp_path / "5e55" / "tool-results" / "b1.txt"
    output.parent.mkdir()
    output.write_text("whole", encoding="utf-8")
    assert claude_code.companions(path) == (output,)


def test_a_session_named_like_a_path_finds_no_folder_elsewhere(tmp_path: Path) -> None:
    output = tmp_path / "elsewhere" / "tool-results" / "b1.txt"
    output.parent.mkdir(parents=True)
    output.write_text("secret", encoding="utf-8")
    path = write(
        tmp_path / "folder" / "agent-a1b2.jsonl",
        [_of_agent(user("u1", "x")) | {"sessionId": "../elsewhere"}],
    )
    assert claude_code.companions(path) == ()


def test_damaged_or_missing_facts_of_a_sub_agent_leave_its_call_unknown(tmp_path: Path) -> None:
    for number, meta in enumerate((b"{", b"[]", b'{"toolUseId":5}', b"{}" + b" " * 70_000)):
        path = write(tmp_path / f"agent-{number}.jsonl", [_of_agent(user("u1", "Survey."))])
        path.with_suffix(".meta.json").write_bytes(meta)
        assert _sessions(parse(path)) == [("5e55/a1b2", 1, _session(parent="5e55"))]


def test_a_call_is_told_its_sub_agent_by_its_result(tmp_path: Path) -> None:
    told = entries(
        tmp_path,
        assistant("a1", call("t1", "Agent", prompt="Survey.")),
        result("u1", "t1", "Surveyed.", own_copy={"agentId": "a1b2", "prompt": "Survey."}),
    )
    update = told[-1].value
    assert isinstance(update, ToolCallUpdate)
    assert update.child_session == "5e55/a1b2"


def test_a_call_is_told_its_sub_agent_by_its_first_progress(tmp_path: Path) -> None:
    progress = {"type": "progress", "parentToolUseID": "t1"}
    progress["data"] = {"type": "agent_progress", "agentId": "a1b2"}  # type: ignore[assignment]
    told = entries(
        tmp_path,
        assistant("a1", call("t1", "Agent", prompt="Survey.")),
        user("p1", "") | progress,
        user("p2", "") | progress,
    )
    assert told[2:] == [Entry("5e55", 2, ToolCallUpdate("t1", child_session="5e55/a1b2"))]


def _in_tree(record: Fields, parent: str | None) -> Fields:
    return record | {"isSidechain": True, "parentUuid": parent}


def test_sub_agents_in_their_parents_file_are_found_by_their_prompts(tmp_path: Path) -> None:
    told = entries(
        tmp_path,
        assistant(
            "a1",
            call("t1", "Task", prompt="Survey.", description="Survey it"),
            call("t2", "Task", prompt="Survey."),
            call("t3", "Task", prompt="Fix."),
        ),
        _in_tree(user("r3", "Fix."), None),
        _in_tree(user("r1", "Survey."), None),
        _in_tree(assistant("x1", text("Surveyed.")), "r1"),
        _in_tree(user("r2", [text("Survey.")]), None),
        _in_tree(assistant("x3", text("Fixed.")), "r3"),
        _in_tree(user("w1", "Warmup"), None),
        result("u1", "t1", "Surveyed."),
    )
    assert _sessions(told)[1:] == [
        ("5e55/r3", 2, _session(parent="5e55", parent_tool_call_id="t3")),
        ("5e55/r1", 3, _session(title="Survey it", parent="5e55", parent_tool_call_id="t1")),
        ("5e55/r2", 5, _session(parent="5e55", parent_tool_call_id="t2")),
        ("5e55/w1", 7, _session(parent="5e55")),
    ]
    children = [
        (entry.line, entry.value.tool_call_id, entry.value.child_session)
        for entry in told
        if isinstance(entry.value, ToolCallUpdate)
    ]
    assert children == [
        (2, "t3", "5e55/r3"),
        (3, "t1", "5e55/r1"),
        (5, "t2", "5e55/r2"),
        (8, "t1", "5e55/r1"),
    ]
    said = [(e.session, e.value.client_id) for e in told if isinstance(e.value, Message)]
    assert said[-4:] == [
        ("5e55/r1", "x1:0"),
        ("5e55/r2", "r2:0"),
        ("5e55/r3", "x3:0"),
        ("5e55/w1", "w1:0"),
    ]


def test_usage_of_sub_agents_in_one_file_does_not_mix(tmp_path: Path) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    told = entries(
        tmp_path,
        assistant("a1", text("a"), response="m1", usage=usage),
        _in_tree(assistant("x1", text("x"), response="m2", usage=usage), None),
        assistant("a2", text("b"), response="m1", usage=usage),
    )
    told_usage = [
        (entry.session, entry.value.client_id, entry.value.usage is not None)
        for entry in told
        if isinstance(entry.value, MessageUsage)
    ]
    assert told_usage == [
        ("5e55", "a1:0", False),
        ("5e55", "a2:0", True),
        ("5e55/x1", "x1:0", True),
    ]


def test_two_sessions_in_one_file_are_two_sessions(tmp_path: Path) -> None:
    told = entries(tmp_path, user("u1", "old"), user("u2", "new") | {"sessionId": "6e66"})
    assert _sessions(told) == [("5e55", 1, _session()), ("6e66", 2, _session())]
    assert [entry.session for entry in told] == ["5e55", "5e55", "6e66", "6e66"]


def test_a_parent_that_is_not_in_the_file_is_no_obstacle(tmp_path: Path) -> None:
    told = entries(tmp_path, user("u1", "hi") | {"parentUuid": "gone"})
    assert [entry.session for entry in told] == ["5e55", "5e55"]


def test_a_session_stays_in_the_directory_and_branch_that_it_began_in(tmp_path: Path) -> None:
    records = [
        user("u1", "hi") | {"cwd": "/first", "gitBranch": ""},
        user("u2", "hi") | {"cwd": "/second", "gitBranch": "one"},
        user("u3", "hi") | {"cwd": "/third", "gitBranch": "two"},
    ]
    told = [one.value for one in entries(tmp_path, *records) if isinstance(one.value, Session)]
    assert [(one.cwd, one.git_branch) for one in told] == [("/first", None), (None, "one")]


def test_what_becomes_known_of_a_session_is_told_when_it_does(tmp_path: Path) -> None:
    first = user("u1", "hi") | {"cwd": None, "gitBranch": ""}
    told = entries(tmp_path, first, user("u2", "ho"), user("u3", "hm"))
    assert _sessions(told) == [
        ("5e55", 1, Session(agent="claude-code", created_at=NOW)),
        ("5e55", 2, Session(cwd="/home/sam", git_branch="main")),
    ]


def _titled(kind: str, key: str, title: str) -> Fields:
    return {"type": kind, key: title, "sessionId": "5e55"}


def test_a_session_is_called_as_its_user_said_whatever_else_is_told(tmp_path: Path) -> None:
    told = entries(
        tmp_path,
        _titled("ai-title", "aiTitle", "Greeting"),
        user("u1", "hi"),
        _titled("custom-title", "customTitle", "My talk"),
        _titled("ai-title", "aiTitle", "Greetings"),
        {"type": "summary", "summary": "A greeting", "leafUuid": "u1"},
        _titled("custom-title", "customTitle", "My other talk"),
    )
    assert _titles(told) == [(2, "Greeting"), (3, "My talk"), (6, "My other talk")]


def test_a_summary_names_the_session_that_has_its_message(tmp_path: Path) -> None:
    told = entries(
        tmp_path,
        {"type": "summary", "summary": "Another talk", "leafUuid": "elsewhere"},
        {"type": "summary", "summary": "Beginnings", "leafUuid": "u2"},
        user("u1", "hi"),
        user("u2", "ho"),
        {"type": "summary", "summary": "Greetings", "leafUuid": "u1"},
    )
    assert _titles(told) == [(3, None), (4, "Beginnings"), (5, "Greetings")]


def test_a_file_of_titles_and_bookkeeping_holds_no_session(tmp_path: Path) -> None:
    assert (
        entries(
            tmp_path,
            {"type": "summary", "summary": "Another talk", "leafUuid": "elsewhere"},
            _titled("custom-title", "customTitle", "My talk"),
        )
        == []
    )


def test_times_without_a_zone_are_utc_and_what_is_no_time_is_left_out(tmp_path: Path) -> None:
    told = entries(
        tmp_path,
        user("u1", "hi") | {"timestamp": "2026-11-30T17:09:47.923"},
        user("u2", "hi") | {"timestamp": "yesterday"},
        user("u3", "hi") | {"timestamp": "2026-11-30T18:09:47.923+01:00"},
    )
    assert [entry.value.created_at for entry in told if isinstance(entry.value, Message)] == [
        NOW,
        None,
        NOW,
    ]
