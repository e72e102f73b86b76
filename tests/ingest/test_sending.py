"""Importing through the server that owns the database comes to the same as importing directly."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests import claude_tree
from tests.builders import PROJECT, add_project, text_block
from tests.ingest.lines_importer import Lines, message, write
from tests.ingest.stored import findings, rows
from toolfold.errors import DatabaseError, TranscriptError
from toolfold.importers import Importer
from toolfold.ingest import FileReport, FileState, import_file, send_file
from toolfold.ingest.receiving import Receiver, answer
from toolfold.ingest.sending import Post
from toolfold.store.engine import Database
from toolfold.store.tables import session_table
from toolfold.transcript import (
    Attachment,
    ContentState,
    Message,
    MessageRole,
    MessageUsage,
    Record,
    Repair,
    Session,
    SessionStatus,
    ToolCall,
    ToolCallUpdate,
    ToolKind,
    ToolLocation,
    ToolStatus,
    Usage,
    Value,
)

DATA = Path(__file__).parents[1] / "importers" / "data"
THROUGH = "through"
TIME = datetime(2026, 11, 30, 17, 9, 47, 447_999, tzinfo=timezone(timedelta(hours=2)))


def receiving(database: Database, sent: list[bytes] | None = None) -> Post:
    """Return what a server does with a stream, without HTTP between; `sent` takes its lines."""

    async def post(lines: AsyncIterator[bytes]) -> Any:
        receiver = Receiver(database, THROUGH, lambda _counts: None)
        async for piece in lines:
            if sent is not None:
                sent.append(piece)
            await receiver.take(piece)
        await receiver.end()
        return orjson.loads(orjson.dumps(answer(receiver.tally)))

    return post


async def both(database: Database, path: Path, importer: Importer | None = None) -> FileReport:
    """Import a file directly, and into another project through the server; it is the same."""
    direct = await import_file(database, PROJECT, path, importer=importer)
    through = await send_file(database, THROUGH, path, receiving(database), importer=importer)
    assert through == direct
    assert await stored(database, THROUGH) == await stored(database, PROJECT)
    assert await findings(database, THROUGH) == []
    return through


async def stored(database: Database, project_id: str) -> dict[str, list[dict[str, Any]]]:
    """Return all of a project's rows, but for what tells it from another that is the same."""
    return {
        table.name: [
            {**row, "project_id": None, "imported_at": None, "incarnation": None}
            for row in await rows(database, table)
            if row.get("project_id") == project_id
        ]
        for table in session_table.metadata.sorted_tables
    }


@pytest.fixture(autouse=True)
async def _other_project(database: Database) -> None:
    await database.write(lambda connection: add_project(connection, THROUGH))


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(DATA.rglob("*")) if path.suffix in (".jsonl", ".ndjson")],
    ids=lambda path: path.name[:20],
)
async def test_real_transcripts_become_the_same(database: Database, path: Path) -> None:
    assert (await both(database, path)).state is FileState.IMPORTED
    assert (await both(database, path)).state is FileState.UNCHANGED


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


CALL = ToolCall(
    "c1",
    name="Read",
    title="Read a.py",
    kind=ToolKind.READ,
    status=ToolStatus.IN_PROGRESS,
    locations=(ToolLocation("a.py", 3), ToolLocation("b\x00.py")),
    content=[text_block("é\x00")],
    content_state=ContentState.CUT_BY_AGENT,
    raw_input={"n": 10**40, "deep": deep(500)},
    raw_output=False,
    started_at=TIME,
    ended_at=datetime(2026, 1, 1),  # noqa: DTZ001 (one without a zone)
    child_session="s2",
)
VALUES: dict[str, list[Value]] = {
    "session": [
        Session(
            agent="claude-code",
            title="Title\x00",
            status=SessionStatus.FAILED,
            cwd="/work",
            git_branch="main",
            created_at=TIME,
            updated_at=TIME,
            parent="s0",
            parent_tool_call_id="p1",
            format="codex",
        )
    ],
    "everything": [
        Message(
            "m1",
            MessageRole.TOOL,
            content="text " * 5_000,
            origin="system",
            model="model",
            usage=Usage(1, 2, 3, 4),
            created_at=TIME,
            tool_call=CALL,
            attachments=(Attachment(b"\x00\xff", "image/png", "a.png"), Attachment(b"", "a/b")),
            repaired=True,
        ),
    ],
    "little": [Message("m2", MessageRole.USER)],
    "deep": [
        Message("m4", MessageRole.TOOL, tool_call=ToolCall("c4", content=deep(1_200))),
        ToolCallUpdate("c1", raw_output={"a": deep(1_200)}),
    ],
    "update": [
        ToolCallUpdate(
            "c1",
            name="Write",
            title=None,
            kind=ToolKind.EDIT,
            status=ToolStatus.FAILED,
            locations=None,
            content=None,
            content_state=ContentState.MISSING,
            raw_input=None,
            raw_output=[1.5, {"b": None}],
            started_at=TIME,
            child_session="s3",
            repaired=True,
        ),
        ToolCallUpdate("c9", status=ToolStatus.PENDING, locations=(ToolLocation("a"),)),
    ],
    "usage": [MessageUsage("m2", Usage(5, 6, 7, 8)), MessageUsage("m1", None)],
    "odd": [Record(b"\x00\xff", "not JSON"), Repair("NUL padding"), Record(b"{}", "un\x00known")],
}


@pytest.mark.parametrize("names", [*([name] for name in VALUES), list(VALUES)], ids="-".join)
async def test_every_kind_of_value_becomes_the_same(
    database: Database, tmp_path: Path, names: list[str]
) -> None:
    lines = Lines(VALUES, at_end=[Record(b"last", "cut"), Session(updated_at=TIME)])
    path = write(tmp_path / "a.jsonl", *names)
    assert (await both(database, path, lines.importer())).state is FileState.IMPORTED
    assert (await both(database, path, lines.importer())).state is FileState.UNCHANGED
    write(path, *names, "m9")
    assert (await both(database, path, lines.importer())).added == 1
    write(path, names[0], "m0", *names[1:], "m9")
    assert (await both(database, path, lines.importer())).added == 1


async def test_what_json_cannot_say_is_mended_before_it_is_sent(
    database: Database, tmp_path: Path
) -> None:
    importer = Lines({"lone": [message("m1", "a\ud83d")]}).importer()
    path = write(tmp_path / "a.jsonl", "lone")
    await import_file(database, PROJECT, path, importer=importer)
    await send_file(database, THROUGH, path, receiving(database), importer=importer)
    direct, through = await stored(database, PROJECT), await stored(database, THROUGH)
    assert through["message"] == direct["message"]
    assert [(row["content"], row["repaired"]) for row in through["message"]] == [("a\ufffd", True)]


async def test_a_file_that_fails_half_way_becomes_the_same(
    database: Database, tmp_path: Path
) -> None:
    def fail() -> None:
        raise TranscriptError("it is no transcript after all")

    lines = Lines({"bad": [message("half"), fail]})
    path = write(tmp_path / "a.jsonl", *(f"m{n}" for n in range(2_500)), "bad")
    report = await both(database, path, lines.importer())
    assert (report.state, report.added) == (FileState.FAILED, 2_000)
    assert (await both(database, path, lines.importer())).added == 0


async def test_an_import_that_was_cut_off_goes_on_from_there(
    database: Database, tmp_path: Path
) -> None:
    tree = claude_tree.write(tmp_path / "tree", sessions=1, total_bytes=12_000_000)
    path = max(tree.root.rglob("*.jsonl"), key=lambda file: file.stat().st_size)
    size = path.stat().st_size

    def stop(byte_count: int) -> None:
        if byte_count < size:
            raise InterruptedError

    for _ in range(2):
        with pytest.raises(InterruptedError):
            await send_file(database, THROUGH, path, receiving(database), progress=stop)
    sent: list[bytes] = []
    report = await send_file(database, THROUGH, path, receiving(database, sent))
    assert report.state is FileState.IMPORTED
    assert orjson.loads(sent[0])["source"]["importedLine"] > 0
    await import_file(database, PROJECT, path)
    names = ("session", "message", "content", "record")
    direct, through = await stored(database, PROJECT), await stored(database, THROUGH)
    assert [len(through[name]) for name in names] == [len(direct[name]) for name in names]
    assert await findings(database, THROUGH) == []


@pytest.mark.parametrize("dialect", ["sqlite"])  # The bound is of no database.
async def test_a_source_that_tells_no_place_is_written_all_the_same(
    database: Database, tmp_path: Path
) -> None:
    """Memory has a bound on the server, whatever the importer has read ahead."""
    big = [message(f"big{number}") for number in range(9_000)]
    odd: list[Value] = [Record(b"{}", "unknown")]
    path = write(tmp_path / "a.jsonl", "m1", "big", "odd", "odd")
    report = await both(database, path, Lines({"big": big, "odd": [*odd, *big, *odd]}).importer())
    assert (report.added, report.kept_raw) == (9_001, 4)


async def test_a_server_that_is_gone_ends_the_import_and_one_that_refuses_a_file_does_not(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "m1")
    importer = Lines().importer()

    async def gone(_lines: AsyncIterator[bytes]) -> Any:
        raise DatabaseError("gone")

    async def refuses(_lines: AsyncIterator[bytes]) -> Any:
        raise TranscriptError("too new")

    with pytest.raises(DatabaseError, match="gone"):
        await send_file(database, THROUGH, path, gone, importer=importer)
    report = await send_file(database, THROUGH, path, refuses, importer=importer)
    assert (report.state, report.error) == (FileState.FAILED, f"{path}: too new")
