"""What becomes of an ACP log in the database: imported again, while it grows, and beside others."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import PROJECT, add_project
from tests.importers.acp_log import (
    S,
    answered,
    call,
    opened,
    patch,
    prompt,
    request,
    response,
    said,
)
from tests.ingest.stored import findings, rows
from toolfold.ingest import FileState, import_file
from toolfold.store.engine import Database
from toolfold.store.tables import message_table, record_table, session_table
from toolfold.transcript import Json

DATA = Path(__file__).parent / "data"
WHOLE = "whole"
"""The project into which the same log is imported at once."""

STEP = 19
"""Lines by which a log grows between two imports; a prime number, to end at odd places."""


async def stored(database: Database, project_id: str) -> list[dict[str, Any]]:
    """Return a project's messages without what depends on when and how often they were written."""
    incidental = ("project_id", "revision", "created_at")
    return [
        {name: value for name, value in row.items() if name not in incidental}
        for row in await rows(database, message_table)
        if row["project_id"] == project_id
    ]


def write(path: Path, *messages: Json) -> Path:
    path.write_text("".join(f"{json.dumps(message)}\n" for message in messages), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
async def test_a_log_that_grows_becomes_what_it_is_as_a_whole(
    database: Database, tmp_path: Path, name: str
) -> None:
    log = DATA / f"acp_{name}.ndjson"
    lines = log.read_bytes().splitlines(keepends=True)
    growing = tmp_path / "growing"
    for end in range(STEP, len(lines), STEP):
        # The last line is half written.
        growing.write_bytes(b"".join(lines[:end]) + lines[end][: len(lines[end]) // 2])
        report = await import_file(database, PROJECT, growing)
        assert report.state is FileState.IMPORTED
    growing.write_bytes(b"".join(lines))
    await import_file(database, PROJECT, growing)
    await database.write(lambda connection: add_project(connection, WHOLE))
    await import_file(database, WHOLE, log)
    assert await stored(database, PROJECT) == await stored(database, WHOLE)
    assert await findings(database) == []


async def test_a_second_import_adds_nothing(database: Database, tmp_path: Path) -> None:
    log = DATA / "acp_claude.ndjson"
    first = await import_file(database, PROJECT, log)
    again = await import_file(database, PROJECT, log)
    other = tmp_path / "other"
    other.write_bytes(log.read_bytes() + b'{"unknown":1}\n')
    elsewhere = await import_file(database, PROJECT, other)
    # 29 of the session itself, 3 of its sub-agent.
    assert (first.added, first.updated, first.kept_raw, first.problems) == (32, 0, 0, ())
    assert (again.state, again.added) == (FileState.UNCHANGED, 0)
    assert (elsewhere.added, elsewhere.updated, elsewhere.skipped) == (0, 0, 32)
    assert [row["line"] for row in await rows(database, record_table)] == [237]


async def test_a_sub_agent_s_session_is_a_child_of_its_call(database: Database) -> None:
    await import_file(database, PROJECT, DATA / "acp_claude.ndjson")
    names = ("id", "title", "parent_id", "parent_tool_call_id", "message_count")
    sessions = await rows(database, session_table, *names)
    (parent,) = (row for row in sessions if row["parent_id"] is None)
    (child,) = (row for row in sessions if row["parent_id"] is not None)
    assert parent["title"] == "Please fix the adder and run the tests. Ünïcödé ✓"
    assert child["title"] == "Survey repo"
    assert (child["parent_id"], child["parent_tool_call_id"]) == (
        parent["id"],
        "toolu_01cb088f0b95154e208b18db",
    )
    assert (parent["message_count"], child["message_count"]) == (29, 3)


async def test_a_history_that_a_second_log_tells_again_adds_nothing(
    database: Database, tmp_path: Path
) -> None:
    terminal = {"type": "terminal", "terminalId": "c1"}
    delta = {"terminal_output_delta": {"data": "ok", "terminal_id": "c1"}}
    first = write(
        tmp_path / "first",
        *opened(),
        prompt("Run it."),
        call("c1", title="make", content=[terminal]),
        patch("c1", status="completed", _meta=delta),
        said("It ran."),
        answered(),
    )
    second = write(
        tmp_path / "second",
        request("session/load", 0, sessionId=S, cwd="/work", mcpServers=[]),
        said("Run it.", role="user_message"),
        call("c1", title="make", content=[terminal], status="completed"),
        said("It ran."),
        response({}, 0),
        prompt("Again."),
    )
    await import_file(database, PROJECT, first)
    before = await stored(database, PROJECT)
    report = await import_file(database, PROJECT, second)
    assert (report.added, report.updated, report.skipped) == (1, 0, 3)
    assert (await stored(database, PROJECT))[:3] == before
    assert await findings(database) == []


@pytest.mark.parametrize("depth", [300, 900, 1_000])
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_an_input_as_deep_as_can_be_stored_keeps_its_call(
    database: Database, tmp_path: Path, depth: int
) -> None:
    deep = "[" * depth + "]" * depth
    content = [{"type": "text", "text": "x", "deep": "DEEP"}]
    log = [
        *opened(),
        prompt("Go."),
        call("c1", rawInput="DEEP", content=content),
        patch("c1", rawInput="DEEP", rawOutput="DEEP", content=content, status="completed"),
        patch("c1", rawInput="DEEP", rawOutput="DEEP", content=content, status="completed"),
        answered(),
        request("session/load", 7, sessionId=S, cwd="/work", mcpServers=[]),
        prompt("Go."),
        call("c1", rawInput="DEEP", rawOutput="DEEP", content=content, status="completed"),
        response({}, 7),
    ]
    path = write(tmp_path / "a.ndjson", *log)
    path.write_text(path.read_text(encoding="utf-8").replace('"DEEP"', deep), encoding="utf-8")
    report = await import_file(database, PROJECT, path)
    assert report.error is None
    [row] = [row for row in await rows(database, message_table) if row["tool_call_id"]]
    assert (row["raw_input_size"], row["raw_output_size"]) == (2 * depth, 2 * depth)
    assert (row["tool_content_size"] is None) == (depth == 1_000)
