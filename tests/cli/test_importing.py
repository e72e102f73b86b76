import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import Connection, func, select

from tests import claude_tree
from tests.cli.conftest import Run
from tests.cli.serving import serving
from tests.cli.terminal import on_terminal, screen
from toolfold.cli import importing as cli_importing
from toolfold.ingest import lifecycle, projects
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.tables import message_table, session_table

CORPUS = os.environ.get("TOOLFOLD_CORPUS")


def _write(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (line if isinstance(line, bytes) else orjson.dumps(line) for line in lines)
    path.write_bytes(b"".join(line + b"\n" for line in text))
    return path


def _user(text: str, *, session: str = "s1", uuid: str = "u1") -> dict[str, object]:
    """Return the line of a Claude Code session in which a user says something."""
    return {
        "type": "user",
        "uuid": uuid,
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": session,
        "timestamp": "2026-11-30T17:09:47.447Z",
        "cwd": "/work",
        "message": {"role": "user", "content": text},
    }


CODEX = {"type": "session_meta", "timestamp": "2026-11-30T17:09:47.447Z", "payload": {"id": "1"}}


def _count(run: Run, what: str = "totalCount") -> int:
    document = "{ sessions(filter: {includeChildren: true}) { totalCount nodes { messageCount } } }"
    sessions = orjson.loads(run("query", document).stdout)["data"]["sessions"]
    if what == "totalCount":
        return int(sessions["totalCount"])
    return sum(node["messageCount"] for node in sessions["nodes"])


def test_every_file_of_a_folder_is_told_with_what_became_of_it(run: Run, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    session = _write(tree / "b.jsonl", _user("Hi"), _user("Bye", uuid="u2"))
    codex = _write(tree / "c.jsonl", CODEX)
    readme = tree / "a.md"
    readme.write_text("# Hello", encoding="utf-8")
    (tree / "z.jsonl").symlink_to("gone")
    result = run("import", tree)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:-1] == [
        f"{readme}: not a transcript",
        f"{session}: claude-code, 2 messages added",
        f"{codex}: Codex rollout, a format that is not supported yet",
        f"Failed: {tree / 'z.jsonl'}: cannot be read: no such file or directory",
        "4 files:",
        "       1  imported",
        "       1  of a format that is not supported yet: Codex rollout (1)",
        "       1  not transcripts",
        "       1  failed",
        "2 messages added.",
    ]
    assert result.stdout.splitlines()[-1].startswith("To see the sessions: toolfold list")


def test_importing_again_adds_nothing_and_a_longer_file_adds_what_is_new(
    run: Run, tmp_path: Path
) -> None:
    path = _write(tmp_path / "s.jsonl", _user("Hi"))
    run("import", path)
    again = run("import", path)
    assert again.exit_code == 0
    assert again.stdout.splitlines()[:4] == [
        f"{path}: unchanged",
        "1 file:",
        "       1  unchanged since the last import",
        "0 messages added.",
    ]
    _write(path, _user("Hi"), _user("Bye", uuid="u2"))
    longer = run("import", path).stdout.splitlines()
    assert longer[0] == f"{path}: claude-code, 1 message added, 1 there before"
    assert _count(run, "messageCount") == 2


def test_what_was_mended_or_kept_raw_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    lone = orjson.dumps(_user("Hi", uuid="u2")).replace(b"Hi", b"\\ud83d")
    path = _write(tmp_path / "s.jsonl", _user("Hi"), b"{ not JSON", lone)
    lines = run("import", path).stdout.splitlines()
    assert lines[:3] == [
        f"{path}: claude-code, 2 messages added, 1 repaired, 1 record not understood and kept raw",
        "    line 2: not JSON",
        "    line 3: lone surrogate",
    ]


def test_a_file_with_many_problems_tells_the_first_and_counts_the_rest(
    run: Run, tmp_path: Path
) -> None:
    path = _write(tmp_path / "s.jsonl", _user("Hi"), *[b"{ not JSON"] * 9)
    lines = run("import", path).stdout.splitlines()
    assert lines[1:7] == [
        *(f"    line {number}: not JSON" for number in range(2, 7)),
        "    and 4 more",
    ]


def test_names_that_are_no_text_or_steer_a_terminal_are_told_harmlessly(
    run: Run, tmp_path: Path
) -> None:
    _write(tmp_path / "tree" / os.fsdecode(b"\xff.jsonl"), _user("Hi"))
    _write(tmp_path / "tree" / "\x1b[2Jnote.txt", b"Hello")
    result = run("import", tmp_path / "tree")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"{tmp_path}/tree/ [2Jnote.txt: not a transcript"
    assert lines[1] == f"{tmp_path}/tree/?.jsonl: claude-code, 1 message added"
    named = run("import", tmp_path / "tree" / "\x1b[2Jnote.txt")
    assert named.stderr == f"Error: {tmp_path}/tree/ [2Jnote.txt: is not a transcript.\n"


def test_a_path_that_does_not_exist_is_one_line_and_nothing_is_imported(
    run: Run, tmp_path: Path
) -> None:
    path = _write(tmp_path / "s.jsonl", _user("Hi"))
    result = run("import", path, tmp_path / "gone")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {tmp_path / 'gone'}: does not exist.\n"
    assert _count(run) == 0


def test_a_named_file_that_cannot_be_imported_is_one_line_and_the_rest_is_imported(
    run: Run, tmp_path: Path
) -> None:
    tool_results = tmp_path / "s1" / "tool-results"
    session = _write(tmp_path / "s1.jsonl", _user("Hi"))
    newer = {"toolfold": 9, "session": {"id": "1"}}
    reasons = {
        _write(tmp_path / "c.jsonl", CODEX): "Codex rollout is a format that is not supported yet.",
        _write(tmp_path / "note.txt", b"Hello"): "is not a transcript.",
        _write(tool_results / "x.txt", b"out"): "belongs to a session: import that session's file.",
        _write(tmp_path / "e.jsonl", newer): (
            "1: this is an export of version 9, and this Toolfold reads version 1."
            " Upgrade Toolfold."
        ),
    }
    result = run("import", *reasons, session)
    assert result.exit_code == 1
    told = result.stderr.replace("e.jsonl:1:", "e.jsonl: 1:").splitlines()
    assert told == [f"Error: {path}: {reason}" for path, reason in reasons.items()]
    assert f"{session}: claude-code, 1 message added" in result.stdout


def test_the_order_of_the_paths_does_not_change_the_exit_code(run: Run, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    _write(tree / "s.jsonl", _user("Hi"))
    plain = _write(tree / "plain.json", {"a": 1})
    for order in ([tree, plain], [plain, tree]):
        result = run("import", *order)
        assert (result.exit_code, result.stderr) == (1, f"Error: {plain}: is not a transcript.\n")
    assert run("import", tree).exit_code == 0


def test_an_empty_path_is_one_line_and_nothing_is_imported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path / "here" / "s.jsonl", _user("Hi"))
    monkeypatch.chdir(path.parent)
    for paths in ([""], [path, ""]):
        result = run("import", *paths)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == "Error: A PATH is empty: it names no file.\n"
    assert _count(run) == 0


def test_a_folder_without_any_transcript_is_told_with_exit_code_1(run: Run, tmp_path: Path) -> None:
    _write(tmp_path / "tree" / "note.txt", b"Hello")
    result = run("import", tmp_path / "tree")
    assert result.exit_code == 1
    assert result.stderr == "Error: There is no transcript to import.\n"


def test_hidden_names_are_passed_by_and_told(run: Run, tmp_path: Path) -> None:
    _write(tmp_path / ".claude" / "s.jsonl", _user("Hi"))
    _write(tmp_path / ".claude" / ".git" / "config", b"x")
    result = run("import", tmp_path / ".claude")
    assert result.exit_code == 0
    assert "1 hidden name passed by: .git." in result.stdout.splitlines()


def test_a_project_is_made_and_has_its_own_sessions(run: Run, tmp_path: Path) -> None:
    path = _write(tmp_path / "s.jsonl", _user("Hi"))
    run("import", path)
    other = run("import", path, "--project", "Other")
    assert f"{path}: claude-code, 1 message added" in other.stdout
    assert run("import", path, "--project", "Other").stdout.startswith(f"{path}: unchanged\n")
    listed = [line.split("\t")[1] for line in run("list").stdout.splitlines()]
    assert sorted(listed) == ["Other", "default"]


def test_a_project_without_a_name_is_refused(run: Run, tmp_path: Path) -> None:
    result = run("import", tmp_path, "--project", " ")
    assert (result.exit_code, result.stderr) == (1, "Error: A project's name cannot be blank.\n")


def test_a_format_takes_its_files_of_a_folder_alone(run: Run, tmp_path: Path) -> None:
    session = _write(tmp_path / "tree" / "s.jsonl", _user("Hi"))
    _write(tmp_path / "tree" / "c.jsonl", CODEX)
    result = run("import", tmp_path / "tree", "--format", "claude-code")
    assert result.stdout.splitlines()[:5] == [
        f"{session}: claude-code, 1 message added",
        "2 files:",
        "       1  imported",
        "       1  of other formats, and passed by",
        "1 message added.",
    ]
    other = run("import", tmp_path / "tree", "--format", "acp")
    assert (other.exit_code, other.stderr) == (1, "Error: There is no transcript to import.\n")


@pytest.mark.parametrize("lines", [1, 30, 60])
@pytest.mark.parametrize(
    ("format_name", "reason"),
    [("acp", "not a message of ACP."), ("claude-code", "not a record of Claude Code.")],
)
def test_a_file_of_another_format_than_the_one_asked_for_is_one_line(
    run: Run, tmp_path: Path, format_name: str, reason: str, lines: int
) -> None:
    path = _write(tmp_path / "c.jsonl", *[CODEX] * lines)
    result = run("import", path, "--format", format_name)
    assert (result.exit_code, result.stderr) == (1, f"Error: {path}:1: {reason}\n")
    assert _count(run) == 0


def test_a_format_that_does_not_exist_is_refused_with_those_that_do(
    run: Run, tmp_path: Path
) -> None:
    result = run("import", tmp_path, "--format", "word")
    assert result.exit_code == 2
    assert "claude-code" in result.stderr


def test_a_folder_of_many_sessions_is_imported_whole_in_any_order(run: Run, tmp_path: Path) -> None:
    tree = claude_tree.write(tmp_path / "projects", sessions=7, total_bytes=2_000_000)
    assert tree.companions
    backwards = sorted(tree.transcripts, reverse=True)
    result = run("import", *backwards)
    assert result.exit_code == 0
    assert f"{tree.message_count:,} messages added." in result.stdout.splitlines()
    assert _count(run) == len(tree.transcripts)
    assert _count(run, "messageCount") == tree.message_count
    children = "{ sessions { nodes { children { nodes { parentToolCallId } } } } }"
    nodes = orjson.loads(run("query", children).stdout)["data"]["sessions"]["nodes"]
    found = [child for node in nodes for child in node["children"]["nodes"]]
    assert len(found) == len([path for path in tree.transcripts if "subagents" in path.parts])
    assert all(child["parentToolCallId"] for child in found)
    assert run("doctor").exit_code == 0


def test_all_of_a_folder_is_the_same_from_a_folder_that_moved(run: Run, tmp_path: Path) -> None:
    tree = claude_tree.write(tmp_path / "projects", sessions=3, total_bytes=200_000)
    run("import", tree.root)
    shutil.move(tree.root, tmp_path / "moved")
    result = run("import", tmp_path / "moved").stdout
    assert f"{len(tree.transcripts):>8,}  unchanged since the last import" in result
    assert _count(run, "messageCount") == tree.message_count


def test_on_a_terminal_what_is_unchanged_is_only_counted(
    settings: Settings, tmp_path: Path
) -> None:
    path = _write(tmp_path / "s.jsonl", _user("Hi"))
    command = ("import", path, "--data-dir", settings.data_dir)
    first = screen(on_terminal(*command))
    assert f"{path}: claude-code, 1 message added" in first.replace("\n", "")
    second = screen(on_terminal(*command))
    assert f"{path}: unchanged" not in second.replace("\n", "")
    assert "       1  unchanged since the last import\n" in second


@pytest.mark.skipif(CORPUS is None, reason="TOOLFOLD_CORPUS names no folder of transcripts")
def test_the_corpus_is_accounted_for_file_by_file_and_adds_nothing_the_second_time(
    run: Run,
) -> None:
    root = Path(str(CORPUS))
    files = [path for path in root.rglob("*") if path.is_file()]
    first = run("import", root)
    assert first.exit_code == 0
    lines = first.stdout.splitlines()
    assert {str(path) for path in files} == {
        line.partition(": ")[0] for line in lines if line.startswith(str(root))
    }
    assert not [line for line in lines if line.startswith("Failed")]
    assert f"{len(files)} files:" in lines
    second = run("import", root)
    assert second.exit_code == 0
    assert "0 messages added." in second.stdout.splitlines()
    assert run("doctor").exit_code == 0


def test_ctrl_c_during_a_files_last_write_counts_the_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _write(tmp_path / "1.jsonl", _user("Hi"))
    second = _write(tmp_path / "2.jsonl", _user("Hi", session="s2"))
    write = Database.write

    async def interrupted(database: Database, function: Callable[[Connection], Any]) -> Any:
        before = await _message_count(database)
        result = await write(database, function)
        if await _message_count(database) > before:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(0)
        return result

    monkeypatch.setattr(Database, "write", interrupted)
    result = run("import", first, second)
    assert result.exit_code == 130
    assert result.stdout.splitlines() == [
        f"{first}: claude-code, 1 message added",
        "1 file:",
        "       1  imported",
        "1 message added.",
    ]
    assert result.stderr.splitlines()[-1] == "Stopped."
    assert _count(run, "messageCount") == 1


def test_a_session_that_is_deleted_meanwhile_is_told_and_comes_back_whole(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path / "a.jsonl", *(_user("Hi", uuid=f"u{n}") for n in range(5)))
    write = Database.write

    async def deleting(database: Database, function: Callable[[Connection], Any]) -> Any:
        result = await write(database, function)
        if await _message_count(database):
            context.setattr(Database, "write", write)
            async with database.read() as connection:
                session_id = (await connection.execute(select(session_table.c.id))).scalar_one()
            remove = partial(lifecycle.remove, project_id="default", session_id=session_id)
            removed.extend(await write(database, remove))
        return result

    removed: list[str] = []
    with monkeypatch.context() as context:
        context.setattr("toolfold.ingest.gathering.MAX_ENTRIES", 2)
        context.setattr(Database, "write", deleting)
        result = run("import", path)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:5] == [
        f"{path}: claude-code, deleted while it was imported; import it again to have it",
        f"    Session {removed[0]} was deleted meanwhile; the rest of it is left out.",
        "1 file:",
        "       1  deleted while they were imported",
        "0 messages added.",
    ]
    assert _count(run) == 0
    assert "5 messages added" in run("import", path).stdout
    assert _count(run, "messageCount") == 5


async def _message_count(database: Database) -> int:
    async with database.read() as connection:
        statement = select(func.count()).select_from(message_table)
        return int((await connection.execute(statement)).scalar_one())


@pytest.mark.parametrize("is_served", [False, True])
def test_a_project_that_is_deleted_meanwhile_is_told_by_its_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_served: bool
) -> None:
    path = _write(tmp_path / "a.jsonl", _user("Hi"))

    def deleting(importing: Callable[..., Any]) -> Callable[..., Any]:
        async def delete_first(
            database: Database, project_id: str, *rest: Any, **given: Any
        ) -> Any:
            await database.write(partial(projects.remove, project_id=project_id))
            return await importing(database, project_id, *rest, **given)

        return delete_first

    for name in ("import_file", "send_file"):
        monkeypatch.setattr(cli_importing, name, deleting(getattr(cli_importing, name)))
    with serving() if is_served else contextlib.nullcontext():
        result = run("import", path, path, "--project", "mine")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: The project 'mine' was deleted meanwhile, with all that it had.\n",
    )
    assert _count(run) == 0
