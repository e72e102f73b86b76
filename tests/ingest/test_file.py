"""Importing a file: what is read, what is written, and what is told of it."""

import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from tests.builders import PROJECT, text_block
from tests.ingest.lines_importer import Lines, message, write
from tests.ingest.stored import at, at_text, findings, messages, rows, session, state
from tests.statements import statements
from toolfold import stored_json
from toolfold.errors import TranscriptError
from toolfold.events import Events, Position
from toolfold.importers import Importer, Transcript
from toolfold.ingest import FileReport, FileState, Problem, import_file
from toolfold.ingest.preparation import timestamp
from toolfold.store.engine import Database
from toolfold.store.tables import record_table, session_table, source_table
from toolfold.transcript import (
    Entry,
    Message,
    MessageRole,
    MessageUsage,
    Record,
    Repair,
    Session,
    SessionStatus,
    ToolCall,
    ToolCallUpdate,
    ToolLocation,
    ToolStatus,
    Usage,
    Value,
)


async def run(database: Database, path: Path, lines: Lines, **options: Any) -> FileReport:
    return await import_file(database, PROJECT, path, importer=lines.importer(), **options)


async def client_ids(database: Database) -> list[str]:
    return [row["client_id"] for row in await messages(database)]


def counts(report: FileReport) -> tuple[int, int, int]:
    return report.added, report.updated, report.skipped


CONTENT = "a transcript's words"


def fail() -> None:
    raise TranscriptError("it is no transcript after all")


def crash() -> None:
    int(CONTENT)


def numbered(first: int, last: int) -> list[str]:
    return [f"m{number}" for number in range(first, last + 1)]


def call(client_id: str, tool_call_id: str, **fields: Any) -> Message:
    return Message(client_id, MessageRole.TOOL, tool_call=ToolCall(tool_call_id, **fields))


async def test_an_import_stores_a_file_and_how_far_it_was_read(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "m2", "m3")
    seen: list[int] = []
    report = await run(database, path, Lines(), progress=seen.append)
    stored = await session(database)
    assert report == FileReport(
        path, "test-lines", FileState.IMPORTED, added=3, bytes=9, sessions=(stored["id"],)
    )
    assert seen == [9]
    assert await client_ids(database) == ["m1", "m2", "m3"]
    [source] = await rows(database, source_table)
    assert source.pop("imported_at") >= stored["created_at"]
    assert source == {
        "project_id": "default",
        "id": hashlib.sha256(str(path).encode()).hexdigest(),
        "path": str(path),
        "format": "test-lines",
        "session_id": stored["id"],
        "size": 9,
        "digest": hashlib.sha256(b"m1\nm2\nm3\n").digest(),
        "line": 3,
        "companions": hashlib.sha256(b"").digest(),
        "is_live": False,
    }
    assert await findings(database) == []


async def test_what_an_import_wrote_is_told_after_the_commit(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "m2")
    events = Events()
    with events.watch_sessions(PROJECT) as watch:
        report = await run(database, path, Lines(), events=events)
        [session_id] = report.sessions
        assert watch.take() == {(PROJECT, session_id): Position(PROJECT, session_id, 2)}
        await run(database, path, Lines(), events=events)
        assert not watch.has_news


@pytest.mark.parametrize("end", ["\n", ""])
async def test_an_unchanged_file_is_neither_parsed_nor_written(
    database: Database, tmp_path: Path, end: str
) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "m2", end=end)
    first = await run(database, path, Lines())
    before = await state(database)
    lines = Lines()
    with statements(database) as seen:
        report = await run(database, path, lines)
    assert report == FileReport(path, "test-lines", FileState.UNCHANGED, sessions=first.sessions)
    assert lines.parsed == 0
    assert all(sql.startswith("SELECT") for sql in seen)
    assert await state(database) == before


@pytest.mark.parametrize(
    ("changed_at", "time"),
    [
        (datetime(2020, 5, 1, 8, 30, tzinfo=UTC), "2020-05-01T08:30:00.000Z"),
        (datetime(1969, 12, 31, tzinfo=UTC), "1969-12-31T00:00:00.000Z"),
    ],
)
async def test_what_has_no_time_has_that_of_the_files_last_change(
    database: Database, tmp_path: Path, changed_at: datetime, time: str
) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "m2")
    os.utime(path, (changed_at.timestamp(),) * 2)
    await run(database, path, Lines())
    assert [row["created_at"] for row in await messages(database)] == [time, time]
    row = await session(database)
    assert (row["created_at"], row["updated_at"]) == (time, time)
    [imported] = await rows(database, source_table, "imported_at")
    assert imported["imported_at"] > time


@pytest.mark.parametrize("seconds", [2**40, 2**33])
async def test_no_time_is_yet_to_come(database: Database, tmp_path: Path, seconds: int) -> None:
    path = write(tmp_path / "a.jsonl", "m1")
    os.utime(path, (seconds, seconds))
    before = timestamp(datetime.now(UTC))
    await run(database, path, Lines())
    [row] = await messages(database)
    assert before <= row["created_at"] <= timestamp(datetime.now(UTC))


async def test_a_time_that_is_told_is_not_that_of_the_file(
    database: Database, tmp_path: Path
) -> None:
    lines = Lines({"told": [Message("told", MessageRole.USER, "Hi.", created_at=at(1))]})
    path = write(tmp_path / "a.jsonl", "m1", "told", "m2")
    os.utime(path, (0, 0))
    await run(database, path, lines)
    assert [row["created_at"] for row in await messages(database)] == [
        "1970-01-01T00:00:00.000Z",
        at_text(1),
        at_text(1),
    ]


async def test_of_a_file_that_grew_only_new_lines_reach_the_database(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", *numbered(1, 1_500))
    await run(database, path, Lines())
    write(path, *numbered(1, 1_503))
    with statements(database) as seen:
        report = await run(database, path, Lines())
    assert counts(report) == (3, 0, 1_500)
    assert (await client_ids(database))[-4:] == ["m1500", "m1501", "m1502", "m1503"]
    assert len([sql for sql in seen if sql.startswith("INSERT INTO message")]) == 1
    assert (await run(database, path, Lines())).state is FileState.UNCHANGED
    assert await findings(database) == []


async def test_a_last_line_without_an_end_is_read_again_when_the_file_grows(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "m2", end="")
    lines = Lines({"m2": [message("m2", "Hel")], "m2 grown": [message("m2", "Hello")]})
    assert counts(await run(database, path, lines)) == (2, 0, 0)
    write(path, "m1", "m2 grown", "m3")
    assert counts(await run(database, path, lines)) == (1, 1, 1)
    assert [row["content"] for row in await messages(database)] == ["m1", "Hello", "m3"]


async def test_what_only_the_end_tells_is_compared_each_time(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "call")
    values: dict[str, list[Value]] = {"call": [call("m1", "c1", status=ToolStatus.PENDING)]}
    given_up = ToolCallUpdate("c1", status=ToolStatus.FAILED)
    await run(database, path, Lines(values, at_end=[given_up]))
    assert [row["tool_status"] for row in await messages(database)] == ["failed"]
    write(path, "call", "m2")
    assert counts(await run(database, path, Lines(values, at_end=[given_up]))) == (1, 0, 1)
    values["result"] = [ToolCallUpdate("c1", status=ToolStatus.COMPLETED, content=[])]
    write(path, "call", "m2", "result")
    assert counts(await run(database, path, Lines(values))) == (0, 1, 1)
    assert (await messages(database))[0]["tool_status"] == "completed"


async def test_a_file_that_changed_is_compared_message_by_message(
    database: Database, tmp_path: Path
) -> None:
    values: dict[str, list[Value]] = {
        "call": [call("c", "c1", status=ToolStatus.PENDING)],
        "result": [ToolCallUpdate("c1", status=ToolStatus.COMPLETED, content=[text_block("42")])],
    }
    path = write(tmp_path / "a.jsonl", "m1", "call", *numbered(2, 2_500), "result")
    await run(database, path, Lines(values))
    stored = await messages(database)
    write(path, "new", "call", "m1", *numbered(2, 2_500), "result")
    assert counts(await run(database, path, Lines(values))) == (1, 0, 2_501)
    assert (await messages(database))[:-1] == stored
    assert (await messages(database))[-1]["client_id"] == "new"
    assert (await run(database, path, Lines(values))).state is FileState.UNCHANGED
    assert await findings(database) == []


async def test_a_file_that_became_shorter_takes_nothing_away(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "m2", "m3")
    await run(database, path, Lines())
    write(path, "m1")
    assert counts(await run(database, path, Lines())) == (0, 0, 1)
    assert await client_ids(database) == ["m1", "m2", "m3"]
    assert (await run(database, path, Lines())).state is FileState.UNCHANGED


async def test_a_file_that_was_moved_or_copied_is_unchanged(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "m2", end="")
    first = await run(database, path, Lines())
    (tmp_path / "elsewhere").mkdir()
    moved = path.rename(tmp_path / "elsewhere" / "b.jsonl")
    before = await state(database)
    lines = Lines()
    report = await run(database, moved, lines)
    assert (report.state, report.sessions) == (FileState.UNCHANGED, first.sessions)
    assert lines.parsed == 0
    assert await state(database) == before
    write(moved, "m1", "m2", "m3")
    assert counts(await run(database, moved, Lines())) == (1, 0, 2)


async def test_another_companion_makes_a_file_worth_reading_again(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "call", "result")
    output = tmp_path / "output.txt"

    def companions(_path: Path) -> tuple[Path, ...]:
        return (output,) if output.exists() else ()

    values: dict[str, list[Value]] = {
        "call": [call("m1", "c1")],
        "result": [ToolCallUpdate("c1", content=["cut"])],
    }
    await run(database, path, Lines(values, companions=companions))
    output.write_text("all of it", encoding="utf-8")
    values["result"] = [ToolCallUpdate("c1", content=["all of it"])]
    report = await run(database, path, Lines(values, companions=companions))
    assert (report.state, counts(report)) == (FileState.IMPORTED, (0, 1, 0))
    report = await run(database, path, Lines(values, companions=companions))
    assert report.state is FileState.UNCHANGED


async def test_updates_of_what_the_same_import_added_are_no_updates(
    database: Database, tmp_path: Path
) -> None:
    values: dict[str, list[Value]] = {
        "call": [call("c", "c1")],
        "result": [ToolCallUpdate("c1", content=[])],
    }
    path = write(tmp_path / "a.jsonl", "call", *numbered(1, 2_500), "result")
    assert counts(await run(database, path, Lines(values))) == (2_501, 0, 0)
    [row] = [row for row in await messages(database) if row["client_id"] == "c"]
    assert row["tool_content_size"] == 2


async def test_a_message_updated_in_several_batches_counts_once(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "call")
    values: dict[str, list[Value]] = {"call": [call("c", "c1")]}
    await run(database, path, Lines(values))
    values |= {name: [ToolCallUpdate("c1", content=[name])] for name in ("one", "two")}
    write(path, "call", "one", *numbered(1, 2_500), "two")
    assert counts(await run(database, path, Lines(values))) == (2_500, 1, 0)


async def test_an_import_that_was_cut_off_goes_on_from_there(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", *numbered(1, 3_500))

    def stop(byte_count: int) -> None:
        raise InterruptedError(byte_count)

    with pytest.raises(InterruptedError):
        await run(database, path, Lines(), progress=stop)
    [source] = await rows(database, source_table)
    assert source["companions"] is None
    assert source["line"] == len(await messages(database)) < 3_500
    data = path.read_bytes()[: source["size"]]
    assert (data.count(b"\n"), data[-1:]) == (source["line"], b"\n")
    assert hashlib.sha256(data).digest() == source["digest"]

    report = await run(database, path, Lines())
    assert counts(report) == (3_500 - source["line"], 0, source["line"])
    assert await client_ids(database) == numbered(1, 3_500)
    assert await findings(database) == []


async def test_whose_session_it_is_is_known_though_its_line_is_passed_by(
    database: Database, tmp_path: Path
) -> None:
    header: dict[str, list[Value]] = {"header": [Session(id="abc", format="codex")]}
    path = write(tmp_path / "a.jsonl", "header", "m1")
    await run(database, path, Lines(header))
    write(path, "header", "m1", "m2")
    assert counts(await run(database, path, Lines(header))) == (1, 0, 1)
    assert {row["session_id"] for row in await messages(database)} == {"abc"}
    assert len(await messages(database)) == 2


async def test_a_file_that_fails_half_way_keeps_its_whole_batches(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", *numbered(1, 2_500), "bad", "m2501")
    report = await run(database, path, Lines({"bad": [message("half"), fail]}))
    assert report.state is FileState.FAILED
    assert report.error == f"{path}:2501: it is no transcript after all"
    assert report.problems == ((2_501, "it is no transcript after all"),)
    kept = await client_ids(database)
    assert kept == numbered(1, len(kept))
    assert (report.added, len(kept) % 1_000) == (len(kept), 0)
    again = await run(database, path, Lines({"bad": [fail]}))
    assert (again.state, again.added) == (FileState.FAILED, 0)
    mended = await run(database, path, Lines({"bad": [message("half")]}))
    assert (mended.state, mended.added) == (FileState.IMPORTED, 2_502 - len(kept))
    assert await client_ids(database) == [*numbered(1, 2_500), "half", "m2501"]
    assert await findings(database) == []


async def test_a_file_that_fails_at_once_leaves_nothing(database: Database, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "bad")
    before = await state(database)
    report = await run(database, path, Lines({"bad": [fail]}))
    assert (report.state, report.added, report.sessions) == (FileState.FAILED, 0, ())
    assert await state(database) == before


async def test_an_importers_mistake_is_told_without_the_transcripts_words(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "bad")
    report = await run(database, path, Lines({"bad": [crash]}))
    assert report.error == f"{path}:2: the importer failed (ValueError)"
    [logged] = caplog.records
    assert (logged.getMessage(), vars(logged)["error"]) == ("importer failed", "ValueError")
    assert "lines_importer" in vars(logged)["where"]
    assert CONTENT not in str(vars(logged))


async def test_a_batch_that_cannot_be_written_is_a_file_that_failed(
    database: Database,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail_to_write(*_given: Any, **_options: Any) -> None:
        raise OverflowError(CONTENT)

    path = write(tmp_path / "a.jsonl", "m1")
    with monkeypatch.context() as patched:
        patched.setattr("toolfold.ingest.file.write_part", fail_to_write)
        report = await run(database, path, Lines())
    assert report == FileReport(
        path,
        "test-lines",
        FileState.FAILED,
        problems=(Problem(None, "cannot be written (OverflowError)"),),
        error=f"{path}: cannot be written (OverflowError)",
    )
    [logged] = caplog.records
    assert vars(logged)["error"] == "OverflowError"
    assert CONTENT not in str(vars(logged))
    assert await messages(database) == []
    assert counts(await run(database, path, Lines())) == (1, 0, 0)


async def test_a_file_that_cannot_be_read_is_told_in_one_line(
    database: Database, tmp_path: Path
) -> None:
    for path in (tmp_path / "absent.jsonl", tmp_path):
        report = await import_file(database, PROJECT, path)
        assert report.state is FileState.FAILED
        assert report.error is not None
        assert report.error.startswith(f"{path}: cannot be read: ")


async def test_a_file_of_no_format_that_is_imported_is_told_as_what_it_is(
    database: Database, tmp_path: Path
) -> None:
    text = write(tmp_path / "notes.jsonl", "Dear diary,")
    assert await import_file(database, PROJECT, text) == FileReport(
        text, None, FileState.NOT_A_TRANSCRIPT
    )
    codex = write(tmp_path / "a.txt", '{"timestamp":"","type":"session_meta","payload":{}}')
    report = await import_file(database, PROJECT, codex)
    assert report == FileReport(codex, "Codex rollout", FileState.NOT_SUPPORTED)


async def test_records_are_kept_raw_with_their_line(database: Database, tmp_path: Path) -> None:
    lines = Lines(
        {
            "odd": [
                Record(b"\x00\xff", "not JSON"),
                message("between"),
                Record(b"{}", "un\x00known"),
            ],
            "mended": [Repair("NUL padding"), message("m2")],
        },
        at_end=[Record(b"last", "cut")],
    )
    path = write(tmp_path / "a.jsonl", "m1", "odd", "mended")
    report = await run(database, path, lines)
    assert (report.kept_raw, report.repaired, report.added) == (3, 1, 3)
    assert report.problems == (
        (2, "not JSON"),
        (2, "un\x00known"),
        (3, "NUL padding"),
        (None, "cut"),
    )
    names = ("line", "position", "reason", "raw")
    assert [tuple(row.values()) for row in await rows(database, record_table, *names)] == [
        (0, 0, "cut", b"last"),
        (2, 0, "not JSON", b"\x00\xff"),
        (2, 1, "un\ufffdknown", b"{}"),
    ]


async def test_records_of_lines_that_are_read_again_are_kept_once(
    database: Database, tmp_path: Path
) -> None:
    odd: list[Value] = [Record(b"{}", "unknown")]
    lines = Lines({"odd": odd, "cut": [Record(b"cu", "not JSON")]}, at_end=odd)
    path = write(tmp_path / "a.jsonl", "odd", "cut", end="")
    assert (await run(database, path, lines)).kept_raw == 3
    write(path, "odd", "cut short", "odd")
    report = await run(database, path, lines)
    assert (report.kept_raw, report.added) == (2, 1)
    kept = [row["line"] for row in await rows(database, record_table)]
    assert kept == [0, 1, 3]
    write(path, "changed", "odd")
    await run(database, path, lines)
    kept = [row["line"] for row in await rows(database, record_table)]
    assert kept == [0, 2]


async def test_what_is_nested_too_deep_is_kept_raw_and_the_message_stays(
    database: Database, tmp_path: Path
) -> None:
    deep: Any = []
    for _ in range(1_000):
        deep = [deep]
    lines = Lines(
        {
            "content": [call("m1", "c1", content=deep, title="Deep")],
            "update": [ToolCallUpdate("c1", raw_output={"a": deep})],
        }
    )
    report = await run(database, write(tmp_path / "a.jsonl", "content", "update"), lines)
    assert (report.added, report.kept_raw) == (1, 2)
    [row] = await messages(database)
    assert (row["tool_title"], row["tool_content_state"]) == ("Deep", "missing")
    assert (row["tool_content_hash"], row["raw_output_hash"]) == (None, None)
    names = ("line", "reason", "raw")
    assert [tuple(row.values()) for row in await rows(database, record_table, *names)] == [
        (1, "nested deeper than 1,000 levels", b"[" * 1_001 + b"]" * 1_001),
        (2, "nested deeper than 1,000 levels", b'{"a":' + b"[" * 1_001 + b"]" * 1_001 + b"}"),
    ]
    assert await findings(database) == []


async def test_a_line_is_never_cut_in_two(database: Database, tmp_path: Path) -> None:
    big = [message(f"big{number}") for number in range(3_000)]
    path = write(tmp_path / "a.jsonl", "m1", "big", "m2")
    stops: list[int] = []
    report = await run(database, path, Lines({"big": big}), progress=stops.append)
    assert report.added == 3_002
    assert stops == [7, 10]


async def test_batches_are_cut_by_bytes_too(database: Database, tmp_path: Path) -> None:
    heavy = {f"m{n}": [message(f"m{n}", f"{n}" * 1_500_000)] for n in range(1, 8)}
    path = write(tmp_path / "a.jsonl", *numbered(1, 7))
    stops: list[int] = []
    await run(database, path, Lines(heavy), progress=stops.append)
    assert stops == [9, 18, 21]


async def test_a_batch_is_not_cut_where_the_importer_has_read_ahead(
    database: Database, tmp_path: Path
) -> None:
    def parse(transcript: Transcript) -> Iterator[Entry]:
        held = [Entry("s1", line.number, message(line.raw.decode())) for line in transcript.lines]
        yield from held

    path = write(tmp_path / "a.jsonl", *numbered(1, 2_500))
    stops: list[int] = []
    importer = Importer("ahead", lambda _sample: True, parse)
    await import_file(database, PROJECT, path, importer=importer, progress=stops.append)
    assert stops == [path.stat().st_size]


async def test_texts_too_long_for_a_row_are_cut_there_and_kept_whole_elsewhere(
    database: Database, tmp_path: Path
) -> None:
    command, path = "é" * 2_000_000, "/" * 5_000
    places = tuple(ToolLocation(f"/{number}", number) for number in range(1_001))
    values: dict[str, list[Value]] = {
        "in input": [call("a", "c1", title=command, raw_input={"command": command})],
        "nowhere": [
            call("b", "c2", name="n" * 201, title="t" * 500, locations=places),
            ToolCallUpdate("c2", title=command),
        ],
        "session": [Session(title="s" * 501, cwd=path, git_branch="b" * 501, agent="a" * 201)],
        "message": [Message("m", MessageRole.USER, "Hi.", origin="o" * 201, model="m" * 201)],
        "paths": [call("c", "c3", locations=(ToolLocation(path, 1), *[ToolLocation(path)] * 19))],
    }
    report = await run(database, write(tmp_path / "a.jsonl", *values, "plain"), Lines(values))
    kept = {(row["line"], row["raw"]) for row in await rows(database, record_table)}
    listed = stored_json.encode([{"path": place.path, "line": place.line} for place in places])
    every = stored_json.encode([{"path": path, "line": n} for n in [1, *[None] * 19]])
    assert kept == {
        (2, b"n" * 201),
        (2, listed),
        (2, command.encode()),
        *((3, text.encode()) for text in ("s" * 501, path, "b" * 501, "a" * 201)),
        *((4, text.encode()) for text in ("o" * 201, "m" * 201)),
        (5, path.encode()),
        (5, every),
    }
    assert {problem.line for problem in report.problems} == {2, 3, 4, 5}
    one, two, message_row, three, _ = await messages(database)
    assert one["tool_title"] == two["tool_title"] == "é" * 499 + "…"
    assert two["tool_name"] == "n" * 199 + "…"
    assert two["tool_locations"].encode() == stored_json.encode(
        [{"path": f"/{number}", "line": number} for number in range(1_000)]
    )
    assert (message_row["origin"], message_row["model"]) == ("o" * 199 + "…", "m" * 199 + "…")
    assert len(three["tool_locations"]) < 70_000
    stored = await session(database)
    assert (stored["title"], stored["cwd"]) == ("s" * 499 + "…", "/" * 4_095 + "…")
    assert (stored["git_branch"], stored["agent"]) == ("b" * 499 + "…", "a" * 199 + "…")


async def test_ids_too_long_for_an_index_stay_different_and_find_each_other(
    database: Database, tmp_path: Path
) -> None:
    common = "é" * 1_000_000
    values: dict[str, list[Value]] = {
        "calls": [
            call(f"{common}1", f"{common}1", child_session=f"{common}1"),
            call(f"{common}2", f"{common}2"),
        ],
        "updates": [
            ToolCallUpdate(f"{common}1", title="one"),
            MessageUsage(f"{common}2", Usage(7)),
        ],
    }
    path = write(tmp_path / "a.jsonl", *values)
    assert counts(await run(database, path, Lines(values))) == (2, 0, 0)
    one, two = await messages(database)
    assert one["client_id"] != two["client_id"]
    assert {len(row[name]) for row in (one, two) for name in ("client_id", "tool_call_id")} == {200}
    assert one["child_source_session"] == one["tool_call_id"]
    assert (one["tool_title"], two["input_tokens"]) == ("one", 7)
    child = Lines({"child": [message("m")]}, session=f"{common}1")
    report = await run(database, write(tmp_path / "b.jsonl", "child"), child)
    [joined] = [row for row in await rows(database, session_table) if row["parent_id"]]
    assert report.sessions == (joined["id"],)
    assert joined["parent_tool_call_id"] == one["tool_call_id"]
    assert counts(await run(database, write(path, *values, "more"), Lines(values))) == (1, 0, 2)
    assert await findings(database) == []


async def test_an_archived_session_is_told_once_and_takes_its_file_when_it_is_reopened(
    database: Database, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", "m1")
    archive = Lines({"m1": [message("m1"), Session(status=SessionStatus.ARCHIVED)]})
    await run(database, path, archive)
    assert (await session(database))["status"] == "archived"
    write(path, "m1", *numbered(2, 2_500))
    report = await run(database, path, Lines())
    assert report.state is FileState.IMPORTED
    assert counts(report)[:2] == (0, 0)
    [problem] = report.problems
    assert "is archived" in problem.reason
    assert await client_ids(database) == ["m1"]
    reopen = update(session_table).values(status="active")
    await database.write(lambda connection: connection.execute(reopen) and None)
    report = await run(database, path, Lines())
    assert counts(report)[:2] == (2_499, 0)
    assert (await run(database, path, Lines())).state is FileState.UNCHANGED


async def test_a_transaction_that_runs_again_writes_the_same(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_once = database.write

    async def write_twice(function: Any) -> Any:
        def roll_back(connection: Any) -> None:
            with connection.begin_nested() as savepoint:
                function(connection)
                savepoint.rollback()

        await write_once(roll_back)
        return await write_once(function)

    monkeypatch.setattr(database, "write", write_twice)
    odd = Record(b"{}", "unknown")
    values: dict[str, list[Value]] = {
        "call": [call("c", "c1", content=["x"]), odd],
        "odd": [odd],
    }
    path = write(tmp_path / "a.jsonl", "m1", "call", "odd")
    assert counts(await run(database, path, Lines(values))) == (2, 0, 0)
    values["result"] = [ToolCallUpdate("c1", content=["y"])]
    write(path, "m1", "call", "odd", "result")
    assert counts(await run(database, path, Lines(values))) == (0, 1, 1)
    assert [row["revision"] for row in await messages(database)] == [1, 3]
    assert await findings(database) == []
