"""Claude Code's importer on records of the program itself, cut down from captured sessions."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.importers.claude_lines import parse
from toolfold.importers import claude_code
from toolfold.transcript import (
    ContentState,
    Entry,
    Message,
    MessageUsage,
    Record,
    Session,
    ToolCallUpdate,
    ToolKind,
    ToolStatus,
    Usage,
)

DATA = Path(__file__).parent / "data" / "claude"
SESSION = "81f81c4f-b860-4330-8fd1-844f8358829e"
FORK = "9746c3a0-64c8-4011-885a-53bab278df1b"
AGENT = "a8a3634d25370bef9"


@pytest.fixture(scope="module")
def told() -> list[Entry]:
    return parse(DATA / f"{SESSION}.jsonl")


def _messages(told: list[Entry]) -> list[Message]:
    return [entry.value for entry in told if isinstance(entry.value, Message)]


def _result(told: list[Entry], call_end: str) -> ToolCallUpdate:
    (update,) = [
        entry.value
        for entry in told
        if isinstance(entry.value, ToolCallUpdate) and entry.value.tool_call_id.endswith(call_end)
    ]
    return update


def _blocks(update: ToolCallUpdate) -> list[Any]:
    assert isinstance(update.content, list)
    return update.content


def _text(update: ToolCallUpdate) -> str:
    text = _blocks(update)[0]["content"]["text"]
    assert isinstance(text, str)
    return text


def test_every_record_is_understood(told: list[Entry]) -> None:
    assert [entry for entry in told if isinstance(entry.value, Record)] == []
    assert {entry.session for entry in told} == {SESSION}


def test_the_session_is_told_with_its_first_record(told: list[Entry]) -> None:
    created_at = datetime(2026, 11, 30, 17, 9, 47, 923_000, tzinfo=UTC)
    session = Session(
        agent="claude-code", cwd="/home/dev/demo/wc2", git_branch="master", created_at=created_at
    )
    assert told[0] == Entry(SESSION, 3, session)


def test_the_messages_stand_in_the_order_of_the_file(told: list[Entry]) -> None:
    assert [(m.role.value, m.origin, m.content[:24]) for m in _messages(told)][:12] == [
        ("user", None, "Please fix the adder and"),
        ("system", "system", "- claude: Catch-all for "),
        ("system", "system", "- deep-research: Deep re"),
        ("thinking", None, "The user wants the adder"),
        ("assistant", None, "I'll look at the adder a"),
        ("tool", None, ""),
        ("tool", None, ""),
        ("thinking", None, "Check who else uses add("),
        ("tool", None, ""),
        ("assistant", None, "Running the tests to see"),
        ("tool", None, ""),
        ("assistant", None, "The sign is wrong: `a - "),
    ]


def test_two_parallel_reads_keep_what_the_model_saw(told: list[Entry]) -> None:
    assert _text(_result(told, "c4eaf7ca4d03b654d6")).startswith(
        '1\t"""Adds numbers. Überprüfung: 日本語, emoji 🚀, RTL עברית."""\n2\t\n3\t\n4\tdef add('
    )
    assert _text(_result(told, "8af243b44c4ca8bf2e")).startswith("1\timport sys\n2\tsys.path")


def test_the_first_responses_usage_is_that_of_its_last_call(told: list[Entry]) -> None:
    first = [entry for entry in told if isinstance(entry.value, MessageUsage)][:4]
    usage = Usage(1200, 180, 5000, 300)
    assert [(entry.line, entry.value) for entry in first] == [
        (12, MessageUsage("823dc9c2-b668-43b1-94b6-6be126e127ef:0", None)),
        (12, MessageUsage("b36cab4b-c19b-4e3f-b01e-ecbf26084618:0", None)),
        (12, MessageUsage("6e99fad3-6753-4921-ae24-e42bcee8bca1:0", None)),
        (12, MessageUsage("3fa096a0-794d-4ea4-9bb4-a0583331424e:0", usage)),
    ]


def test_the_edit_is_a_diff_and_its_old_file_is_not_stored(told: list[Entry]) -> None:
    update = _result(told, "b884d824bd44e595bdce")
    assert _blocks(update)[1] == {
        "type": "diff",
        "path": "/home/dev/demo/wc2/src/adder.py",
        "oldText": "\n\ndef add(a, b):\n    return a - b\n\n\ndef total(xs):",
        "newText": "\n\ndef add(a, b):\n    return a + b\n\n\ndef total(xs):",
    }
    assert "for x in xs" not in str(update)


def test_the_large_output_is_the_whole_file(told: list[Entry]) -> None:
    update = _result(told, "d384c022aff24e35a2956c")
    path = DATA / SESSION / "tool-results" / "bdt684hhy.txt"
    assert _text(update).encode() == path.read_bytes()
    assert update.content_state is ContentState.COMPLETE


def test_failures_have_their_exit_state(told: list[Entry]) -> None:
    missing, command = _result(told, "954376ac23d7"), _result(told, "4359b0b6ad")
    assert (missing.status, len(_blocks(missing))) == (ToolStatus.FAILED, 1)
    assert (command.status, _blocks(command)[1]) == (
        ToolStatus.FAILED,
        {"type": "terminal", "exitCode": 3},
    )
    assert _text(command) == "Exit code 3\noops\npartial \x1b[1;31mERR\x1b[0m"


def test_the_sub_agents_session_names_the_call_that_began_it(told: list[Entry]) -> None:
    path = DATA / SESSION / "subagents" / f"agent-{AGENT}.jsonl"
    child = parse(path)[0]
    call_id = "toolu_014737bda402814f1cb63d39"
    assert child.session == f"{SESSION}/{AGENT}"
    assert isinstance(child.value, Session)
    assert (child.value.title, child.value.parent, child.value.parent_tool_call_id) == (
        "Survey repo",
        SESSION,
        call_id,
    )
    (call,) = [m.tool_call for m in _messages(told) if m.tool_call and m.tool_call.name == "Agent"]
    assert (call.tool_call_id, call.kind, call.title) == (call_id, ToolKind.THINK, "Survey repo")
    assert _result(told, call_id).status is ToolStatus.FAILED


def test_the_compaction_and_what_follows_it_are_of_the_system(told: list[Entry]) -> None:
    assert [(m.role.value, m.origin, m.content[:20]) for m in _messages(told)][-7:] == [
        ("assistant", "system", "No response requeste"),
        ("system", None, "Conversation compact"),
        ("system", None, "This session is bein"),
        ("user", "system", "<local-command-cavea"),
        ("user", "system", "<command-name>/compa"),
        ("user", "system", "<local-command-stdou"),
        ("system", "system", "NOTES.md\n\n# Notes\n\nn"),
    ]


def test_the_fork_is_a_session_with_its_whole_own_history(told: list[Entry]) -> None:
    fork = parse(DATA / f"{FORK}.jsonl")
    assert {entry.session for entry in fork} == {FORK}
    shared = {m.client_id for m in _messages(told)} & {m.client_id for m in _messages(fork)}
    assert len(shared) == 6
    assert [(m.role.value, m.content[:20]) for m in _messages(fork)][:4] == [
        ("system", "Conversation compact"),
        ("system", "This session is bein"),
        ("assistant", "No response requeste"),
        ("user", "<local-command-cavea"),
    ]


def test_the_companions_are_what_lies_beside() -> None:
    folder = DATA / SESSION
    output = folder / "tool-results" / "bdt684hhy.txt"
    meta = folder / "subagents" / f"agent-{AGENT}.meta.json"
    assert claude_code.companions(DATA / f"{SESSION}.jsonl") == (output,)
    assert claude_code.companions(folder / "subagents" / f"agent-{AGENT}.jsonl") == (meta, output)
    assert claude_code.companions(DATA / f"{FORK}.jsonl") == ()
