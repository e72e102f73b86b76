"""What the records of one Claude Code session become, but for tool calls' results."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.importers.claude_lines import (
    assistant,
    attachment,
    call,
    entries,
    parse,
    result,
    system,
    text,
    thinking,
    usage,
    user,
    values,
    write,
)
from toolfold.errors import TranscriptError
from toolfold.transcript import (
    Attachment,
    Entry,
    Message,
    MessageRole,
    MessageUsage,
    Record,
    Repair,
    Session,
    ToolCall,
    ToolKind,
    ToolLocation,
    ToolStatus,
    Usage,
    Value,
)

NOW = datetime(2026, 11, 30, 17, 9, 47, 923_000, tzinfo=UTC)
PNG = base64.b64encode(b"\x89PNG").decode()


def _message(client_id: str, role: MessageRole, content: str, **more: Any) -> Message:
    return Message(client_id, role, content, created_at=NOW, **more)


def _user(client_id: str, content: str, **more: Any) -> Message:
    return _message(client_id, MessageRole.USER, content, **more)


def _said(client_id: str, content: str, **more: Any) -> Message:
    return _message(client_id, MessageRole.ASSISTANT, content, model="claude-x", **more)


def test_a_session_comes_first_with_what_its_first_record_says(tmp_path: Path) -> None:
    assert entries(tmp_path, user("u1", "Grüße")) == [
        Entry(
            "5e55",
            1,
            Session(agent="claude-code", cwd="/home/sam", git_branch="main", created_at=NOW),
        ),
        Entry("5e55", 1, _user("u1:0", "Grüße")),
    ]


def test_a_response_in_several_lines_is_its_parts_in_order_and_counts_once(tmp_path: Path) -> None:
    lines = [
        assistant("a1", thinking("Hm."), usage=usage(9, 1)),
        assistant("a2", text("Look."), usage=usage(10, 2, 30, 4)),
        assistant("a3", call("t1", command="ls"), usage=usage(10, 7, 30, 4)),
        assistant("b1", text("Done."), response="msg_2", usage=usage(20, 5)),
    ]
    tool_call = ToolCall(
        "t1",
        name="Bash",
        title="ls",
        kind=ToolKind.EXECUTE,
        status=ToolStatus.PENDING,
        raw_input={"command": "ls"},
        started_at=NOW,
    )
    told = [(entry.line, entry.value) for entry in entries(tmp_path, *lines)][1:]
    assert told[:-1] == [
        (1, _message("a1:0", MessageRole.THINKING, "Hm.", model="claude-x")),
        (2, _said("a2:0", "Look.")),
        (3, _message("a3:0", MessageRole.TOOL, "", model="claude-x", tool_call=tool_call)),
        (4, MessageUsage("a1:0", None)),
        (4, MessageUsage("a2:0", None)),
        (4, MessageUsage("a3:0", Usage(10, 7, 30, 4))),
        (4, _said("b1:0", "Done.")),
        (None, MessageUsage("b1:0", Usage(20, 5, 0, 0))),
    ]


def test_several_blocks_of_one_line_are_a_message_each(tmp_path: Path) -> None:
    line = assistant("a1", text("One."), text("Two."), usage=usage(1, 2))
    assert values(tmp_path, line) == [
        _said("a1:0", "One."),
        _said("a1:1", "Two."),
        MessageUsage("a1:0", None),
        MessageUsage("a1:1", Usage(1, 2)),
    ]


def test_results_between_the_lines_of_a_response_do_not_end_it(tmp_path: Path) -> None:
    told = values(
        tmp_path,
        assistant("a1", call("t1"), usage=usage(1, 1)),
        result("u1", "t1", "ok"),
        assistant("a2", call("t2"), usage=usage(1, 9)),
        result("u2", "t2", "ok"),
    )
    assert [value for value in told if isinstance(value, MessageUsage)] == [
        MessageUsage("a1:0", None),
        MessageUsage("a2:0", Usage(1, 9)),
    ]


def last_usage(told: Sequence[Value]) -> dict[str, Usage | None]:
    """Return the usage that each message has in the end."""
    return {value.client_id: value.usage for value in told if isinstance(value, MessageUsage)}


def test_a_response_that_comes_back_later_counts_once_as_given_last(tmp_path: Path) -> None:
    lines = [
        assistant("a1", text("One."), response="msg_1", usage=usage(1, 1)),
        assistant("b1", text("Two."), response="msg_2", usage=usage(2, 2)),
        assistant("a2", text("More."), response="msg_1", usage=usage(1, 50)),
        assistant("c1", text("Three."), response="msg_3"),
        assistant("a3", thinking(""), response="msg_1", usage=usage(1, 60)),
        assistant("b2", text("Four."), response="msg_2"),
    ]
    told = values(tmp_path, *lines)
    assert last_usage(told) == {"a1:0": None, "a2:0": Usage(1, 60), "b1:0": Usage(2, 2)}
    assert [value.content for value in told if isinstance(value, Message)] == [
        "One.",
        "Two.",
        "More.",
        "Three.",
        "Four.",
    ]


def test_thinking_without_text_is_no_message_and_its_usage_is_the_responses(
    tmp_path: Path,
) -> None:
    told = values(
        tmp_path,
        assistant("a1", thinking(""), usage=usage(1, 2)),
        assistant("a2", {"type": "redacted_thinking", "data": "c2ln"}, usage=usage(1, 3)),
        assistant("a3", text("Hi."), usage=usage(1, 4)),
    )
    assert told == [
        _said("a3:0", "Hi."),
        # It was told if the file ended after it when it was imported before.
        MessageUsage("a1:0", None),
        MessageUsage("a3:0", Usage(1, 4)),
    ]


@pytest.mark.parametrize(
    "after",
    [
        user("u1", "[Request interrupted by user]"),
        user("u1", "Go on."),
        system("u1", subtype="compact_boundary", content="Compacted."),
        assistant("u1", text("Next."), response="msg_2"),
    ],
)
def test_hidden_thinking_that_is_a_whole_response_stands_where_it_was(
    after: dict[str, Any], tmp_path: Path
) -> None:
    first = assistant("a1", thinking(""), usage=usage(1, 2))
    hidden = _message("a1:0", MessageRole.THINKING, "", model="claude-x")
    assert values(tmp_path, first) == [hidden, MessageUsage("a1:0", Usage(1, 2))]
    told = values(tmp_path, first, after)
    assert told[0] == hidden
    assert [value.client_id for value in told if isinstance(value, Message)] == ["a1:0", "u1:0"]
    assert last_usage(told) == {"a1:0": Usage(1, 2)}
    more = assistant("a2", text("Hi."), usage=usage(1, 3))
    assert last_usage(values(tmp_path, first, after, more)) == {
        "a1:0": None,
        "a2:0": Usage(1, 3),
    }


@pytest.mark.parametrize(
    "content",
    [
        "<command-name>/compact</command-name>\n  <command-message>compact</command-message>",
        "<local-command-stdout>Compacted </local-command-stdout>",
        "<system-reminder>\nRemember.\n</system-reminder>\n<system-reminder>And.</system-reminder>",
        "<bash-input>ls</bash-input>",
        "<task-notification><status>completed</status></task-notification>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_the_program_wrote_in_the_users_place_is_of_the_system(
    content: str, tmp_path: Path
) -> None:
    assert values(tmp_path, user("u1", content)) == [_user("u1:0", content, origin="system")]


@pytest.mark.parametrize(
    "content",
    [
        "What does <system-reminder> mean?",
        "<system-reminder>x</system-reminder> but I say no",
        "<command-name>/init",
        "[Request interrupted by user] is what I read",
        "<html></html>",
    ],
)
def test_what_only_quotes_the_program_is_the_users(content: str, tmp_path: Path) -> None:
    assert values(tmp_path, user("u1", content)) == [_user("u1:0", content)]


def test_a_reminder_beside_a_prompt_is_a_message_of_its_own(tmp_path: Path) -> None:
    reminder = "<system-reminder>Mind CLAUDE.md.</system-reminder>"
    assert values(tmp_path, user("u1", [text(reminder), text("Go on.")])) == [
        _user("u1:0", reminder, origin="system"),
        _user("u1:1", "Go on."),
    ]


def test_meta_and_notifications_are_of_the_system(tmp_path: Path) -> None:
    assert values(
        tmp_path,
        user("u1", "Continue.", isMeta=True),
        user("u2", "A task ended.", origin={"kind": "task-notification"}),
        user("u3", "Mine.", origin={"kind": "human"}),
    ) == [
        _user("u1:0", "Continue.", origin="system"),
        _user("u2:0", "A task ended.", origin="system"),
        _user("u3:0", "Mine."),
    ]


def test_the_same_prompt_twice_is_two_messages(tmp_path: Path) -> None:
    assert values(tmp_path, user("u1", "Again."), user("u2", "Again.")) == [
        _user("u1:0", "Again."),
        _user("u2:0", "Again."),
    ]


def _image(data: str = PNG) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


def test_pictures_and_documents_of_a_prompt_are_its_attachments(tmp_path: Path) -> None:
    document = {
        "type": "document",
        "title": "plan.txt",
        "source": {"type": "text", "media_type": "text/plain", "data": "Zuerst: ü"},
    }
    reminder = text("<system-reminder>x</system-reminder>")
    told = values(tmp_path, user("u1", [reminder, _image(), text("Look."), document]))
    assert told == [
        _user("u1:0", "<system-reminder>x</system-reminder>", origin="system"),
        _user(
            "u1:2",
            "Look.",
            attachments=(
                Attachment(b"\x89PNG", "image/png"),
                Attachment("Zuerst: ü".encode(), "text/plain", "plan.txt"),
            ),
        ),
    ]


def test_pictures_without_a_text_are_a_message(tmp_path: Path) -> None:
    assert values(tmp_path, user("u1", [_image()])) == [
        _user("u1:1", "", attachments=(Attachment(b"\x89PNG", "image/png"),))
    ]


def test_a_damaged_picture_keeps_its_record_and_the_text_beside_it(tmp_path: Path) -> None:
    prompt, kept = values(tmp_path, user("u1", [_image("not base64"), text("Look.")]))[::-1]
    assert prompt == _user("u1:1", "Look.")
    assert isinstance(kept, Record)
    assert kept.reason == "user: a file that is not base64"
    assert b'"not base64"' in kept.raw


def test_a_compaction_is_a_boundary_and_a_summary_of_the_system(tmp_path: Path) -> None:
    boundary = system("s1", subtype="compact_boundary", content="Conversation compacted")
    summary = user("u1", "The story so far.", isCompactSummary=True)
    assert values(tmp_path, boundary, summary) == [
        _message("s1:0", MessageRole.SYSTEM, "Conversation compacted"),
        _message("u1:0", MessageRole.SYSTEM, "The story so far."),
    ]


def test_other_notices_are_of_the_system(tmp_path: Path) -> None:
    overloaded = {"status": 529, "message": "Overloaded"}
    assert values(
        tmp_path,
        system("s1", subtype="local_command", content="<command-name>/model</command-name>"),
        system("s2", subtype="api_error", error=overloaded, retryAttempt=1),
    ) == [
        _message(
            "s1:0",
            MessageRole.SYSTEM,
            "<command-name>/model</command-name>",
            origin="system",
        ),
        _message(
            "s2:0",
            MessageRole.SYSTEM,
            'API error: {"status":529,"message":"Overloaded"}',
            origin="system",
        ),
    ]


def test_what_the_program_says_in_the_models_place_is_of_the_system(tmp_path: Path) -> None:
    line = assistant(
        "a1",
        text("API Error: 401"),
        model="<synthetic>",
        usage=usage(0, 0),
        isApiErrorMessage=True,
    )
    said = _message("a1:0", MessageRole.ASSISTANT, "API Error: 401", origin="system")
    assert values(tmp_path, line) == [said]


def test_attached_files_and_lists_are_of_the_system(tmp_path: Path) -> None:
    file = {"filePath": "/home/sam/a.py", "content": "x = 1\n", "numLines": 1}
    told = values(
        tmp_path,
        attachment(
            "f1",
            type="file",
            filename="/home/sam/a.py",
            displayPath="a.py",
            content={"type": "text", "file": file},
        ),
        attachment("f2", type="skill_listing", content="- verify: Check.", skillCount=1),
        attachment("f3", type="agent_listing_delta", addedLines=["- a", "- b"], removedTypes=[]),
        attachment("f4", type="date_change", newDate="2026-12-01"),
        attachment(
            "f5",
            type="file",
            filename="/home/sam/a.png",
            content={"type": "image", "file": {"base64": PNG, "type": "image/png"}},
        ),
    )
    picture = Attachment(b"\x89PNG", "image/png", "/home/sam/a.png")
    assert told == [
        _message("f1:0", MessageRole.SYSTEM, "a.py\n\nx = 1\n", origin="system"),
        _message("f2:0", MessageRole.SYSTEM, "- verify: Check.", origin="system"),
        _message("f3:0", MessageRole.SYSTEM, "- a\n- b", origin="system"),
        _message(
            "f4:0",
            MessageRole.SYSTEM,
            '{"type":"date_change","newDate":"2026-12-01"}',
            origin="system",
        ),
        _message(
            "f5:0", MessageRole.SYSTEM, "/home/sam/a.png", origin="system", attachments=(picture,)
        ),
    ]


def test_a_prompt_typed_while_the_agent_worked_is_the_users(tmp_path: Path) -> None:
    human = {"kind": "human"}
    told = values(
        tmp_path,
        attachment("q1", type="queued_command", prompt="Stop.", commandMode="prompt", origin=human),
        attachment("q2", type="queued_command", prompt=[text("See."), _image()]),
        attachment("q3", type="queued_command", prompt="x", commandMode="task-notification"),
    )
    assert told == [
        _user("q1:0", "Stop."),
        _user("q2:0", "See.", attachments=(Attachment(b"\x89PNG", "image/png"),)),
        _message(
            "q3:0",
            MessageRole.SYSTEM,
            '{"type":"queued_command","prompt":"x","commandMode":"task-notification"}',
            origin="system",
        ),
    ]


def test_bookkeeping_is_understood_and_yields_nothing(tmp_path: Path) -> None:
    assert values(
        tmp_path,
        user("u0", "hi"),
        {"type": "mode", "mode": "normal", "sessionId": "5e55"},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "5e55"},
        {"type": "last-prompt", "lastPrompt": "hi", "leafUuid": "u0", "sessionId": "5e55"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {"type": "permission-mode", "permissionMode": "plan", "sessionId": "5e55"},
        system("s1", subtype="turn_duration", durationMs=5),
        system("s2", subtype="stop_hook_summary", hookCount=1),
        attachment("f1", type="task_reminder", content=[], itemCount=0),
        user("p1", "") | {"type": "progress", "data": {"type": "hook_progress"}},
    ) == [_user("u0:0", "hi")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type":"hologram","sessionId":"5e55"}', "unknown record hologram"),
        (b'["a list"]', "unknown record"),
        (b'{"type":"user","message":{"content":"no id"}}', "unknown record user"),
        (b"not json", "not JSON"),
    ],
)
def test_a_record_of_an_unknown_type_is_kept_raw(line: bytes, reason: str, tmp_path: Path) -> None:
    told = entries(tmp_path, user("u1", "hi"), line)
    assert told[-1] == Entry(None, 2, Record(line, reason))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (user("u1", None), "user: content is neither text nor a list"),
        (user("u1", "x") | {"message": "x"}, "user: no object at message"),
        (user("u1", [{"type": "scent"}]), "user: unknown block scent"),
        (user("u1", [{"type": "text"}]), "user: a text block without text"),
        (user("u1", [{"type": "tool_result"}]), "user: a tool result without the id of its call"),
        (assistant("a1", {"type": "scent"}), "assistant: unknown block scent"),
        (assistant("a1", {"type": "text", "text": 5}), "assistant: a block without text"),
        (assistant("a1", {"type": "tool_use"}), "assistant: a tool call without id or name"),
        (system("s1", subtype="prophecy"), "system: unknown notice prophecy"),
        (attachment("f1") | {"attachment": 5}, "attachment: no object at attachment"),
    ],
)
def test_a_record_of_a_surprising_shape_is_kept_raw_once(
    record: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    (kept,) = values(tmp_path, record)
    assert isinstance(kept, Record)
    assert kept.reason == reason
    assert record["uuid"].encode() in kept.raw


def test_what_was_understood_beside_a_surprise_is_not_lost(tmp_path: Path) -> None:
    line = assistant("a1", {"type": "scent"}, text("Hi."), {"type": "sound"})
    kept, said = values(tmp_path, line)
    assert isinstance(kept, Record)
    assert said == _said("a1:1", "Hi.")


def test_a_record_that_was_there_before_is_kept_raw_and_changes_nothing(tmp_path: Path) -> None:
    told = entries(tmp_path, user("u1", "hi"), user("u1", "hi"))
    assert [type(entry.value) for entry in told] == [Session, Message, Record]


def test_repairs_are_told_and_mark_the_message(tmp_path: Path) -> None:
    glued = (
        b'{"type":"user","uuid":"u1","sessionId":"5e55","message":{"content":"a\\ud83d"}}'
        b'{"type":"user","uuid":"u2","sessionId":"5e55","message":{"content":"b"}}'
    )
    told = entries(tmp_path, b"\xef\xbb\xbf" + glued, b"", b'{"type":"user","uu')
    assert [(entry.line, entry.value) for entry in told if entry.session is None] == [
        (1, Repair("byte order mark")),
        (1, Repair("lone surrogate")),
        (1, Repair("two objects on one line")),
        (3, Record(b'{"type":"user","uu', "not JSON")),
    ]
    assert [entry.value for entry in told if isinstance(entry.value, Message)] == [
        Message("u1:0", MessageRole.USER, "a\ufffd", repaired=True),
        Message("u2:0", MessageRole.USER, "b"),
    ]


def test_a_last_line_that_is_still_being_written_is_left_for_the_next_time(tmp_path: Path) -> None:
    path = write(tmp_path / "5e55.jsonl", [user("u1", "hi"), user("u2", "more")])
    path.write_bytes(path.read_bytes()[:-9])
    assert [(entry.line, entry.value) for entry in parse(path)][1:] == [
        (1, _user("u1:0", "hi")),
        (2, Repair("cut last line")),
    ]


def test_a_file_of_another_format_is_refused_at_its_first_line(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"5e55\.jsonl:1: not a record of Claude Code\."):
        entries(tmp_path, b'{"type":"session_meta"}', b"{}")


def test_a_file_of_another_format_is_refused_before_much_of_it_is_kept(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r":1: "):
        entries(tmp_path, *[b"{}"] * 21, user("u1", "hi"))


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "title", "locations"),
    [
        ("Read", {"file_path": "/a", "offset": 40}, ToolKind.READ, "/a", [("/a", 40)]),
        ("Edit", {"file_path": "/a", "old_string": "x"}, ToolKind.EDIT, "/a", [("/a", None)]),
        ("Write", {"file_path": "/a", "content": ""}, ToolKind.EDIT, "/a", [("/a", None)]),
        ("NotebookEdit", {"notebook_path": "/n"}, ToolKind.EDIT, "/n", [("/n", None)]),
        ("Bash", {"command": "ls", "description": "List"}, ToolKind.EXECUTE, "List", []),
        ("Bash", {"command": "\n cat <<E\nx\nE"}, ToolKind.EXECUTE, "cat <<E", []),
        ("Grep", {"pattern": "a.c", "path": "/src"}, ToolKind.SEARCH, "a.c", [("/src", None)]),
        ("Glob", {"pattern": "*.py"}, ToolKind.SEARCH, "*.py", []),
        ("WebFetch", {"url": "https://x", "prompt": "?"}, ToolKind.FETCH, "https://x", []),
        ("WebSearch", {"query": "q"}, ToolKind.FETCH, "q", []),
        ("Task", {"description": "Survey", "prompt": "p"}, ToolKind.THINK, "Survey", []),
        ("TaskCreate", {"subject": "Fix", "description": "d"}, ToolKind.THINK, "Fix", []),
        ("TodoWrite", {"todos": []}, ToolKind.THINK, "TodoWrite", []),
        ("ExitPlanMode", {"plan": "p"}, ToolKind.SWITCH_MODE, "ExitPlanMode", []),
        ("mcp__db__query", {"sql": "x"}, ToolKind.OTHER, "mcp__db__query", []),
        ("Bash", {"command": "x" * 300}, ToolKind.EXECUTE, "x" * 199 + "…", []),
        ("m" * 300, {}, ToolKind.OTHER, "m" * 199 + "…", []),
    ],
)
def test_a_call_is_told_in_the_protocols_terms(
    name: str,
    arguments: dict[str, Any],
    kind: ToolKind,
    title: str,
    locations: list[tuple[str, int | None]],
    tmp_path: Path,
) -> None:
    (message,) = values(tmp_path, assistant("a1", call("t1", name, **arguments)))
    assert isinstance(message, Message)
    assert message.tool_call == ToolCall(
        "t1",
        name=name,
        title=title,
        kind=kind,
        status=ToolStatus.PENDING,
        locations=tuple(ToolLocation(path, line) for path, line in locations),
        raw_input=arguments,
        started_at=NOW,
    )
