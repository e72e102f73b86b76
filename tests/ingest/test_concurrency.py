"""Several imports at once, and memory that does not grow with a file."""

import asyncio
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

from tests.builders import PROJECT, text_block
from tests.ingest.lines_importer import Lines, message, write
from tests.ingest.stored import NOW, contents, findings, ingest, messages, rows, session
from toolfold.ingest import import_file, record
from toolfold.ingest.gathering import Gatherer
from toolfold.ingest.reading import Reading
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.tables import message_table, session_table
from toolfold.transcript import (
    Entry,
    Message,
    MessageRole,
    Session,
    ToolCall,
    ToolCallUpdate,
    Value,
)


def call(client_id: str, tool_call_id: str, **fields: Any) -> Message:
    return Message(client_id, MessageRole.TOOL, tool_call=ToolCall(tool_call_id, **fields))


async def test_two_that_import_one_file_at_once_store_it_once(
    database_settings: Settings, tmp_path: Path
) -> None:
    names = [f"m{number}" for number in range(2_500)]
    values: dict[str, list[Value]] = {
        f"call {number}": [
            call(f"c{number}", f"c{number}"),
            ToolCallUpdate(f"c{number}", content=[text_block(f"shared {number % 7}")]),
        ]
        for number in range(500)
    }
    path = write(tmp_path / "a.jsonl", *names[:1_000], *values, *names[1_000:])
    importer = Lines(values).importer()

    async def run() -> None:
        database = await Database.open(database_settings)
        try:
            report = await import_file(database, PROJECT, path, importer=importer)
            assert (report.error, report.updated) == (None, 0)
        finally:
            await database.close()

    await asyncio.gather(run(), run())
    database = await Database.open(database_settings)
    try:
        stored = await messages(database)
        assert [row["sequence"] for row in stored] == list(range(1, 3_001))
        assert Counter(row["client_id"] for row in stored) == Counter(
            [*names, *(f"c{number}" for number in range(500))]
        )
        assert len(await contents(database)) == 7
        assert await findings(database) == []
    finally:
        await database.close()


async def test_many_that_write_one_session_at_once_number_it_without_a_gap(
    database: Database,
) -> None:
    def batch(writer: int) -> list[Entry]:
        return [
            Entry("s1", None, call(f"{writer}-{n}", f"{writer}-{n}", content=[f"{n % 3}"]))
            for n in range(20)
        ]

    async def write_batch(writer: int) -> int:
        entries = batch(writer % 6)
        counts = await database.write(
            lambda connection: record(connection, PROJECT, entries, format="f", now=NOW)
        )
        return counts.added

    added = await asyncio.gather(*map(write_batch, range(12)))
    assert sum(added) == 120
    assert (await rows(database, message_table, "sequence"))[-1]["sequence"] == 120
    assert await findings(database) == []


async def test_families_that_arrive_at_once_are_joined(database: Database) -> None:
    def family(number: int) -> list[tuple[str, list[Value]]]:
        parent, child = f"parent{number}", f"child{number}"
        return [
            (parent, [call("p", "c1", child_session=child)]),
            (child, [Session(parent=parent), message("m1")]),
        ]

    await asyncio.gather(
        *(
            ingest(database, *values, session=own_id)
            for number in range(6)
            for own_id, values in family(number)
        )
    )
    for number in range(6):
        child = await session(database, f"child{number}")
        assert child["parent_id"] == (await session(database, f"parent{number}"))["id"]
        assert child["parent_tool_call_id"] == "c1"
    assert len(await rows(database, session_table)) == 12


async def test_contents_replaced_and_used_again_at_once_stay_whole(database: Database) -> None:
    await ingest(database, *(call(f"m{n}", f"c{n}", content=["a"]) for n in range(4)))

    async def replace(own_id: str, turn: int) -> None:
        letter = "ab"[turn % 2]
        await ingest(
            database, *(ToolCallUpdate(f"c{n}", content=[letter]) for n in range(4)), session=own_id
        )

    await asyncio.gather(*(replace(f"s{n}", turn) for turn in range(4) for n in (1, 2, 3)))
    assert await findings(database) == []


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(line_count: int) -> int:
        lines = {
            f"m{n}": [call(f"m{n}", f"c{n}", content=[text_block(f"{n} " * 10_000)])]
            for n in range(50)
        }
        names = [f"m{number % 50}" for number in range(line_count)]
        path = write(tmp_path / f"{line_count}.jsonl", *names)
        gatherer = Gatherer("test-lines", keeps_raw=True)
        reading = Reading(Lines(lines).importer(), path, gatherer)
        tracemalloc.start()
        steps = sum(1 for _ in reading.steps())
        _, size = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert steps >= line_count // 200
        return size

    small, large = peak(400), peak(2_000)
    assert large < 1.1 * small
    assert large < 20 * 1024 * 1024
