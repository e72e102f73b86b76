"""A Claude Code session imported into a database, at once and while it grows."""

from pathlib import Path

import pytest

from tests.builders import PROJECT
from tests.importers.claude_lines import (
    SESSION,
    Fields,
    assistant,
    call,
    result,
    text,
    thinking,
    usage,
    user,
    write,
)
from tests.ingest.stored import findings, messages, part, session
from toolfold.ingest import FileState, import_file
from toolfold.store.engine import Database

LINES = [
    user("u1", "Go."),
    assistant("a1", thinking(""), response="msg_1", usage=usage(1, 1)),
    assistant("a2", text("One."), response="msg_1", usage=usage(1, 2)),
    assistant("b1", thinking(""), response="msg_2", usage=usage(10, 10)),
    user("u2", "Go on."),
    assistant("c1", call("t1"), response="msg_3", usage=usage(100, 100)),
    assistant("a3", text("Two."), response="msg_1", usage=usage(1, 50)),
    result("u3", "t1", "ok"),
    assistant("b2", text("Three."), response="msg_2", usage=usage(10, 20)),
]


async def tokens(database: Database) -> tuple[int, int]:
    row = await session(database, SESSION)
    return row["input_tokens"], row["output_tokens"]


async def test_usage_counts_once_wherever_the_file_ended_when_it_was_imported(
    database: Database, tmp_path: Path
) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    seen: list[tuple[int | None, int | None]] = []
    for count in range(1, len(LINES) + 1):
        report = await import_file(database, PROJECT, write(path, LINES[:count]))
        assert report.state is FileState.IMPORTED
        seen.append(await tokens(database))
    assert seen == [
        (None, None),
        (1, 1),
        (1, 2),
        (11, 12),
        (11, 12),
        (111, 112),
        (111, 160),
        (111, 160),
        (111, 170),
    ]
    assert await findings(database) == []


async def test_usage_counts_once_when_the_whole_file_is_imported(
    database: Database, tmp_path: Path
) -> None:
    await import_file(database, PROJECT, write(tmp_path / f"{SESSION}.jsonl", LINES))
    assert await tokens(database) == (111, 170)
    hidden, prompt = [
        row for row in await messages(database) if row["client_id"] in ("b1:0", "u2:0")
    ]
    assert (hidden["role"], prompt["role"]) == ("thinking", "user")
    assert await findings(database) == []


@pytest.mark.parametrize("depth", [200, 996, 997, 998, 999])
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_an_input_as_deep_as_can_be_stored_keeps_its_call(
    database: Database, tmp_path: Path, depth: int
) -> None:
    deep = b"[" * depth + b"]" * depth
    line: Fields = assistant("a1", call("t1", "mcp__x__y", deep="DEEP"))
    answer: Fields = result("u1", "t1", "ok", own_copy={"again": "DEEP", "more": ["DEEP"]})
    path = write(tmp_path / f"{SESSION}.jsonl", [line, answer])
    path.write_bytes(path.read_bytes().replace(b'"DEEP"', deep))
    report = await import_file(database, PROJECT, path)
    assert (report.state, report.added) == (FileState.IMPORTED, 1)
    assert await part(database, 1, "raw_input") == b'{"deep":' + deep + b"}"
    assert report.kept_raw == (depth == 999)
