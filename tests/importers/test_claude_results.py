"""What the result of a tool call becomes in Claude Code's importer."""

import base64
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.importers.claude_lines import (
    Fields,
    assistant,
    attachment,
    call,
    entries,
    parse,
    result,
    system,
    user,
    values,
    write,
)
from toolfold.importers import claude_code
from toolfold.transcript import (
    UNSET,
    ContentState,
    Message,
    MessageRole,
    ToolCallUpdate,
    ToolLocation,
    ToolStatus,
)

NOW = datetime(2026, 11, 30, 17, 9, 47, 923_000, tzinfo=UTC)
PNG = base64.b64encode(b"\x89PNG").decode()


def _text(content: str) -> Fields:
    return {"type": "content", "content": {"type": "text", "text": content}}


def _update(folder: Path, block: Fields, content: Any, **more: Any) -> ToolCallUpdate:
    """Return what the result of one call becomes."""
    update = values(folder, assistant("a1", block), result("u1", block["id"], content, **more))[-1]
    assert isinstance(update, ToolCallUpdate)
    return update


def _completed(content: list[Any], **more: Any) -> ToolCallUpdate:
    return ToolCallUpdate(
        "t1",
        status=ToolStatus.COMPLETED,
        content=content,
        content_state=ContentState.COMPLETE,
        ended_at=NOW,
        **more,
    )


def _failed(content: list[Any]) -> ToolCallUpdate:
    return ToolCallUpdate(
        "t1",
        status=ToolStatus.FAILED,
        content=content,
        content_state=ContentState.COMPLETE,
        ended_at=NOW,
    )


def test_a_result_updates_its_call_at_its_own_line(tmp_path: Path) -> None:
    told = entries(
        tmp_path,
        assistant("a1", call("t1", "Skill", skill="x")),
        user("p1", "wait"),
        result("u1", "t1", "ok"),
    )
    assert [(entry.line, entry.value) for entry in told][-1] == (3, _completed([_text("ok")]))


def test_results_of_parallel_calls_reach_their_calls_in_any_order(tmp_path: Path) -> None:
    told = values(
        tmp_path,
        assistant("a1", call("t1", "X"), call("t2", "X")),
        result("u2", "t2", "two"),
        assistant("a2", call("t3", "X")),
        user(
            "u3",
            [
                {"type": "tool_result", "tool_use_id": "t3", "content": "three"},
                {"type": "tool_result", "tool_use_id": "t1", "content": "one", "is_error": True},
            ],
        ),
    )
    updates = [value for value in told if isinstance(value, ToolCallUpdate)]
    assert [(u.tool_call_id, u.status, u.content) for u in updates] == [
        ("t2", ToolStatus.COMPLETED, [_text("two")]),
        ("t3", ToolStatus.COMPLETED, [_text("three")]),
        ("t1", ToolStatus.FAILED, [_text("one")]),
    ]


def test_what_the_model_saw_of_a_file_keeps_its_line_numbers(tmp_path: Path) -> None:
    seen = '     1→x = "ü"\n     2→'
    file = {
        "filePath": "/a.py",
        "content": 'x = "ü"\n',
        "numLines": 2,
        "startLine": 1,
        "totalLines": 2,
    }
    update = _update(
        tmp_path,
        call("t1", "Read", file_path="/a.py"),
        seen,
        own_copy={"type": "text", "file": file},
    )
    rest = {"type": "text", "file": {"numLines": 2, "startLine": 1, "totalLines": 2}}
    assert update == _completed([_text(seen)], raw_output=rest)


def test_several_text_blocks_stay_several_and_an_unknown_one_stays_as_it_is(
    tmp_path: Path,
) -> None:
    reference = {"type": "tool_reference", "tool_name": "WebFetch"}
    items = [{"type": "text", "text": "one"}, reference, {"type": "text", "text": "two"}]
    update = _update(tmp_path, call("t1", "ToolSearch"), items)
    assert update == _completed([_text("one"), reference, _text("two")])


@pytest.mark.parametrize("content", ["", [], None])
def test_a_result_without_content_is_an_empty_array(content: Any, tmp_path: Path) -> None:
    assert _update(tmp_path, call("t1", "X"), content) == _completed([])


def test_a_picture_becomes_an_image_block_and_stands_nowhere_else(tmp_path: Path) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    file = {"base64": PNG, "type": "image/png", "originalSize": 4}
    update = _update(
        tmp_path,
        call("t1", "Read", file_path="/a.png"),
        [{"type": "image", "source": source}],
        own_copy={"type": "image", "file": file},
    )
    image = {"type": "image", "mimeType": "image/png", "data": PNG}
    assert update == _completed(
        [{"type": "content", "content": image}],
        raw_output={"type": "image", "file": {"type": "image/png", "originalSize": 4}},
    )


def test_a_picture_elsewhere_keeps_its_address(tmp_path: Path) -> None:
    item = {"type": "image", "source": {"type": "url", "url": "https://x/a.png"}}
    image = {"type": "image", "uri": "https://x/a.png"}
    assert _update(tmp_path, call("t1", "X"), [item]) == _completed(
        [{"type": "content", "content": image}]
    )


def test_a_document_becomes_a_resource(tmp_path: Path) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": PNG}
    item = {"type": "document", "title": "a.pdf", "source": source}
    resource = {"uri": "a.pdf", "mimeType": "application/pdf", "blob": PNG}
    assert _update(tmp_path, call("t1", "X"), [item]) == _completed(
        [{"type": "content", "content": {"type": "resource", "resource": resource}}]
    )


PLAIN = {"stderr": "", "interrupted": False, "isImage": False}


@pytest.mark.parametrize(
    ("content", "more", "code"),
    [
        ("out", {"own_copy": {"stdout": "out", **PLAIN}}, 0),
        ("Exit code 3\noops", {"is_error": True, "own_copy": "Error: Exit code 3\noops"}, 3),
        ("x", {"own_copy": {"stdout": "x", "exitCode": 7}}, 7),
        ("x", {}, None),
        ("Error: gone", {"is_error": True, "own_copy": "Error: gone"}, None),
        ("Exit code 3", {"own_copy": {"stdout": "Exit code 3", **PLAIN}}, 0),
        ("x", {"own_copy": {"stdout": "x", **PLAIN, "interrupted": True}}, None),
        ("x", {"own_copy": {"stdout": "x", "backgroundTaskId": "b1"}}, None),
        ("x", {"own_copy": {"stdout": "x", "returnCodeInterpretation": "No matches"}}, None),
    ],
)
def test_a_shell_command_has_its_exit_code_if_the_record_proves_one(
    content: str, more: dict[str, Any], code: int | None, tmp_path: Path
) -> None:
    update = _update(tmp_path, call("t1", "Bash", command="x"), content, **more)
    terminal = [] if code is None else [{"type": "terminal", "exitCode": code}]
    assert update.content == [_text(content), *terminal]


def test_the_output_of_a_command_is_stored_once_and_its_errors_too(tmp_path: Path) -> None:
    own_copy = {"stdout": "to the model\n", "stderr": "warning: not shown", "isImage": False}
    update = _update(tmp_path, call("t1"), "to the model", own_copy=own_copy)
    assert update == _completed(
        [_text("to the model"), {"type": "terminal", "exitCode": 0}],
        raw_output={"stderr": "warning: not shown", "isImage": False},
    )


def test_a_failure_is_told_once(tmp_path: Path) -> None:
    update = _update(
        tmp_path,
        call("t1", "Edit", file_path="/a", old_string="x", new_string="y"),
        "<tool_use_error>Not read yet.</tool_use_error>",
        is_error=True,
        own_copy="Error: Not read yet.",
    )
    assert update == _failed([_text("<tool_use_error>Not read yet.</tool_use_error>")])


def _edited(**more: Any) -> Fields:
    return {
        "filePath": "/a.py",
        "oldString": "b",
        "newString": "B",
        "originalFile": "a\nb\nc\n",
        "userModified": False,
        **more,
    }


def _diff(old: str | None, new: str, path: str = "/a.py") -> Fields:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def test_an_edit_is_a_diff_for_each_place_of_its_patch(tmp_path: Path) -> None:
    patch = [
        {"oldStart": 1, "newStart": 1, "lines": [" a", "-b", "+B", " c"]},
        {
            "oldStart": 40,
            "newStart": 41,
            "lines": ["+", "-d", " e", "\\ No newline at end of file"],
        },
    ]
    update = _update(
        tmp_path,
        call("t1", "Edit", file_path="/a.py", old_string="b", new_string="B"),
        "Updated.",
        own_copy=_edited(structuredPatch=patch),
    )
    assert update == _completed(
        [_text("Updated."), _diff("a\nb\nc", "a\nB\nc"), _diff("d\ne", "\ne")],
        locations=(ToolLocation("/a.py", 1), ToolLocation("/a.py", 41)),
    )


def test_an_edit_without_a_patch_is_a_diff_of_old_and_new_text(tmp_path: Path) -> None:
    block = call("t1", "Edit", file_path="/a.py", old_string="b", new_string="")
    update = _update(tmp_path, block, "Updated.", own_copy=_edited(structuredPatch=[]))
    assert update.content == [_text("Updated."), _diff("b", "")]
    assert update.locations is UNSET
    assert _update(tmp_path, block, "Updated.").content == [_text("Updated."), _diff("b", "")]


def test_several_edits_without_a_patch_are_a_diff_each(tmp_path: Path) -> None:
    edits = [{"old_string": "a", "new_string": "A"}, {"old_string": "b", "new_string": "B"}]
    block = call("t1", "MultiEdit", file_path="/a.py", edits=edits)
    own_copy = {"filePath": "/a.py", "edits": edits, "originalFileContents": "a\nb\n"}
    update = _update(tmp_path, block, "Applied 2 edits.", own_copy=own_copy)
    assert update == _completed([_text("Applied 2 edits."), _diff("a", "A"), _diff("b", "B")])


def test_a_created_file_is_a_diff_without_old_text(tmp_path: Path) -> None:
    own_copy: Fields = {
        "type": "create",
        "filePath": "/a.py",
        "content": "x\n",
        "structuredPatch": [],
        "originalFile": None,
    }
    block = call("t1", "Write", file_path="/a.py", content="x\n")
    update = _update(tmp_path, block, "Created.", own_copy=own_copy)
    assert update == _completed(
        [_text("Created."), _diff(None, "x\n")], raw_output={"type": "create"}
    )


def test_a_file_written_over_is_a_diff_of_its_patch_alone(tmp_path: Path) -> None:
    own_copy = {
        "type": "update",
        "filePath": "/a.py",
        "content": "a\nB\n",
        "structuredPatch": [{"newStart": 2, "lines": ["-b", "+B"]}],
        "originalFile": "a\nb\n",
    }
    block = call("t1", "Write", file_path="/a.py", content="a\nB\n")
    update = _update(tmp_path, block, "Updated.", own_copy=own_copy)
    assert update.content == [_text("Updated."), _diff("b", "B")]


@pytest.mark.parametrize(
    ("original", "new", "diffs"),
    [
        ("a\n", "b\n", [("a\n", "b\n")]),
        ("", "b", [("", "b")]),
        ("a", "", [("a", "")]),
        ("a", "a", []),
    ],
)
def test_a_file_written_over_without_a_patch_is_a_diff_of_old_and_new_text(
    original: str, new: str, diffs: list[tuple[str, str]], tmp_path: Path
) -> None:
    own_copy = {"type": "update", "content": new, "structuredPatch": [], "originalFile": original}
    block = call("t1", "Write", file_path="/a.py", content=new)
    update = _update(tmp_path, block, "Updated.", own_copy=own_copy)
    assert update.content == [_text("Updated."), *(_diff(*texts) for texts in diffs)]


@pytest.mark.parametrize("mode", ["replace", "insert", "delete"])
def test_a_changed_cell_of_a_notebook_is_a_diff_of_its_source(mode: str, tmp_path: Path) -> None:
    files = {"original_file": '{"cells": ["a"]}', "updated_file": '{"cells": ["b"]}'}
    old, new = "" if mode == "insert" else "a", "" if mode == "delete" else "b"
    own_copy = {"old_source": old, "new_source": new, "edit_mode": mode, **files}
    block = call("t1", "NotebookEdit", notebook_path="/a.py", new_source=new, edit_mode=mode)
    update = _update(tmp_path, block, "Updated.", own_copy=own_copy)
    assert update.content == [_text("Updated."), _diff(old, new)]
    rest = files if new else {"new_source": "", **files}
    assert update.raw_output == rest


@pytest.mark.parametrize(
    ("block", "content", "own_copy", "rest"),
    [
        (
            call("t1", "TodoWrite", todos=[{"content": "a"}]),
            "Modified.",
            {"oldTodos": [], "newTodos": [{"content": "a"}]},
            None,
        ),
        (
            call("t1", "Glob", pattern="*"),
            "/a.py\n/b.py",
            {"filenames": ["/a.py", "/b.py"], "numFiles": 2, "truncated": False},
            {"numFiles": 2, "truncated": False},
        ),
        (
            call("t1", "Grep", pattern="x"),
            "Found 1 line\n" + "x" * 60,
            {"mode": "content", "content": "x" * 60, "numLines": 1},
            {"mode": "content", "numLines": 1},
        ),
        (
            call("t1", "mcp__db__query"),
            [{"type": "text", "text": "rows"}],
            [{"type": "text", "text": "rows"}],
            None,
        ),
        (
            call("t1", "mcp__db__query"),
            "rows",
            [{"type": "text", "text": "other"}],
            [{"type": "text", "text": "other"}],
        ),
        (call("t1", "X"), "shown", "something else", "something else"),
        (
            call("t1", "NotebookEdit", notebook_path="/n"),
            "Updated.",
            {"original_file": "{}", "updated_file": "{ }", "cell_id": "c1"},
            {"original_file": "{}", "updated_file": "{ }", "cell_id": "c1"},
        ),
        *(
            (call("t1", name, id=7), "rows: 15", whole, whole)
            for name in ("mcp__db__query", "Bash", "Task")
            for whole in (
                {"cells": [[1]], "base64": PNG, "structuredPatch": [1], "originalFile": "a"},
                {"file": {"content": "a"}, "original_file": "b", "updated_file": "c", "rows": 3},
                {"tags": ["rows"]},
                "15",
            )
        ),
        (
            call("t1", "mcp__shot__take"),
            [{"type": "text", "text": "taken"}],
            {"isImage": True, "stdout": PNG},
            {"isImage": True, "stdout": PNG},
        ),
        (
            call("t1", "Read", file_path="/a.pdf"),
            "PDF read.",
            {"type": "pdf", "file": {"base64": PNG}},
            {"type": "pdf", "file": {"base64": PNG}},
        ),
        (
            call("t1", "Edit", file_path="/a"),
            "Nothing that a diff could be made of.",
            {"structuredPatch": [{"odd": 1}], "originalFile": "a"},
            {"structuredPatch": [{"odd": 1}], "originalFile": "a"},
        ),
        (
            call("t1", "Edit", file_path="/a", old_string="a", new_string="b"),
            "Updated.",
            {"structuredPatch": [{"odd": 1}], "originalFile": "a"},
            {"structuredPatch": [{"odd": 1}]},
        ),
    ],
)
def test_the_raw_output_is_what_neither_content_nor_input_says(
    block: Fields, content: Any, own_copy: Any, rest: Any, tmp_path: Path
) -> None:
    update = _update(tmp_path, block, content, own_copy=own_copy)
    assert update.raw_output == (UNSET if rest is None else rest)


@pytest.mark.parametrize(
    ("block", "content", "own_copy"),
    [
        (call("t1", "Glob", pattern="*"), "/a", {"filenames": ["/a"], "truncated": True}),
        (call("t1", "Bash"), "a\n\n... [90 lines truncated] ...\n\nz", None),
        (call("t1", "Bash"), "a\n\n... [560 lines truncated] ...", None),
        (call("t1", "Read"), "[Old tool result content cleared]", None),
    ],
)
def test_an_output_that_the_agent_had_cut_says_so(
    block: Fields, content: str, own_copy: Any, tmp_path: Path
) -> None:
    update = _update(tmp_path, block, content, own_copy=own_copy)
    assert update.content_state is ContentState.CUT_BY_AGENT


def test_a_result_without_its_call_in_the_file_is_an_update_all_the_same(tmp_path: Path) -> None:
    update = values(tmp_path, result("u1", "t1", "ok"))[-1]
    assert update == _completed([_text("ok")])


def test_a_call_is_failed_if_the_session_went_on_without_its_result(tmp_path: Path) -> None:
    told = entries(
        tmp_path,
        assistant("a1", call("t1"), call("t2")),
        result("u1", "t1", "ok"),
        user("u2", "[Request interrupted by user]"),
    )
    assert (told[-1].line, told[-1].value) == (
        None,
        ToolCallUpdate("t2", status=ToolStatus.FAILED, content_state=ContentState.NONE_RECORDED),
    )


@pytest.mark.parametrize(
    "injected",
    [
        user("u1", "A reminder.", isMeta=True),
        user("u1", "<system-reminder>A reminder.</system-reminder>"),
        user("u1", "A notice.", origin={"kind": "task-notification"}),
        attachment("u1", type="todo_reminder", content="Todos."),
        system("u1", content="A notice."),
    ],
)
def test_what_the_program_puts_in_does_not_end_the_wait_for_a_result(
    injected: Fields, tmp_path: Path
) -> None:
    told = values(tmp_path, assistant("a1", call("t1")), injected)
    assert [value.client_id for value in told if isinstance(value, Message)] == ["a1:0", "u1:0"]
    assert not [value for value in told if isinstance(value, ToolCallUpdate)]


def test_a_call_is_pending_if_the_session_ends_there(tmp_path: Path) -> None:
    told = values(
        tmp_path,
        assistant("a1", call("t1")),
        assistant("a2", call("t2")),
        result("u1", "t1", "ok"),
        {"type": "mode", "mode": "normal", "sessionId": "5e55"},
    )
    assert [value.tool_call_id for value in told if isinstance(value, ToolCallUpdate)] == ["t1"]


def test_a_call_that_the_server_ran_has_its_result_in_the_same_response(tmp_path: Path) -> None:
    page = {"type": "web_search_result", "title": "T", "url": "https://x"}
    told = values(
        tmp_path,
        assistant(
            "a1",
            {"type": "server_tool_use", "id": "t1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "t1", "content": [page]},
        ),
    )
    message, update = told
    assert isinstance(message, Message)
    assert (message.role, message.client_id) == (MessageRole.TOOL, "a1:0")
    assert update == _completed([page])


# What the agent keeps in files of its own.


def _persisted(path: str) -> str:
    return (
        f"<persisted-output>\nOutput too large (402.6KB). Full output saved to: {path}\n\n"
        "Preview (first 2KB):\nbeginning\n...\n</persisted-output>"
    )


def _with_output(folder: Path, named: str) -> ToolCallUpdate:
    """Return the update of a result whose output is said to be in `named`."""
    own_copy = {
        "stdout": "beginning, and more of it than the model was shown",
        "persistedOutputPath": named,
    }
    lines = [assistant("a1", call("t1")), result("u1", "t1", _persisted(named), own_copy=own_copy)]
    update = parse(write(folder / "5e55.jsonl", lines))[-1].value
    assert isinstance(update, ToolCallUpdate)
    return update


def _first(update: ToolCallUpdate) -> Any:
    assert isinstance(update.content, list)
    return update.content[0]


def _write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("named", ["/home/else/5e55/tool-results/b1.txt", r"C:\x\b1.txt", "b1.txt"])
def test_an_output_in_a_file_is_read_from_the_sessions_own_folder(
    named: str, tmp_path: Path
) -> None:
    output = "beginning, and more of it than the model was shown\r\n" + "ü" * 300_000
    _write(tmp_path / "5e55" / "tool-results" / "b1.txt", output.encode())
    assert _with_output(tmp_path, named) == _completed(
        [_text(output), {"type": "terminal", "exitCode": 0}],
        raw_output={"persistedOutputPath": named},
    )


def test_an_output_whose_file_is_missing_is_its_preview_and_cut(tmp_path: Path) -> None:
    update = _with_output(tmp_path, "/x/b1.txt")
    assert update.content == [_text(_persisted("/x/b1.txt")), {"type": "terminal", "exitCode": 0}]
    assert update.content_state is ContentState.CUT_BY_AGENT
    # What the program kept for itself is longer than the preview.
    assert update.raw_output == {
        "stdout": "beginning, and more of it than the model was shown",
        "persistedOutputPath": "/x/b1.txt",
    }


def test_an_output_that_is_no_utf_8_is_mended_and_marked(tmp_path: Path) -> None:
    _write(tmp_path / "5e55" / "tool-results" / "b1.txt", b"a\xffb")
    update = _with_output(tmp_path, "b1.txt")
    assert _first(update) == _text("a\ufffdb")
    assert update.repaired


@pytest.mark.parametrize("named", ["..", "../../secret.txt", "/secret.txt", "", ".", "a\x00b"])
def test_a_file_outside_the_folder_of_results_is_never_read(named: str, tmp_path: Path) -> None:
    _write(tmp_path / "secret.txt", b"secret")
    _write(tmp_path / "5e55" / "secret.txt", b"secret")
    update = _with_output(tmp_path, named)
    assert update.content_state is ContentState.CUT_BY_AGENT
    assert _first(update) == _text(_persisted(named))


def test_a_link_out_of_the_session_is_never_followed(tmp_path: Path) -> None:
    secret = _write(tmp_path / "elsewhere" / "b1.txt", b"secret")
    results = tmp_path / "5e55" / "tool-results"
    results.mkdir(parents=True)
    (results / "b1.txt").symlink_to(secret)
    assert _with_output(tmp_path, "b1.txt").content_state is ContentState.CUT_BY_AGENT
    (results / "b1.txt").unlink()
    results.rmdir()
    results.symlink_to(secret.parent)
    assert _with_output(tmp_path, "b1.txt").content_state is ContentState.CUT_BY_AGENT
    results.unlink()
    (tmp_path / "5e55").rmdir()
    _write(tmp_path / "other" / "tool-results" / "b1.txt", b"secret")
    (tmp_path / "5e55").symlink_to(tmp_path / "other")
    assert _with_output(tmp_path, "b1.txt").content_state is ContentState.CUT_BY_AGENT


def test_the_folder_that_holds_sessions_may_itself_be_a_link(tmp_path: Path) -> None:
    _write(tmp_path / "real" / "5e55" / "tool-results" / "b1.txt", b"whole")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert _first(_with_output(tmp_path / "link", "b1.txt")) == _text("whole")


def test_companions_are_the_results_beside_a_session_and_no_links(tmp_path: Path) -> None:
    session = write(tmp_path / "5e55.jsonl", [user("u1", "hi")])
    assert claude_code.companions(session) == ()
    results = tmp_path / "5e55" / "tool-results"
    second, first = _write(results / "b2.txt", b"2"), _write(results / "b1.txt", b"1")
    (results / "b3.txt").symlink_to(first)
    _write(tmp_path / "6e66" / "tool-results" / "b9.txt", b"another session's")
    assert claude_code.companions(session) == (first, second)
