"""Where a session's bytes are: sizes by tool, and the largest outputs."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import event, update

from tests import builders
from tests.builders import text_block, text_message, tool_message
from tests.store.opening import opened
from toolfold import stored_json
from toolfold.settings import MAX_BIG_INT, Settings
from toolfold.store import breakdown
from toolfold.store.breakdown import Breakdown, OutputSizes, ToolSizes
from toolfold.store.engine import Database
from toolfold.store.tables import message_table
from toolfold.transcript import Json, ToolKind

KEY = (builders.PROJECT, builders.SESSION)


def size(value: Json) -> int:
    return len(stored_json.encode(value))


async def read(database: Database, limit: int = 10) -> Breakdown:
    async with database.read() as connection:
        return await breakdown.of_session(connection, KEY, limit)


async def test_sizes_add_up_by_tool_and_the_heaviest_comes_first(database: Database) -> None:
    small, large = [text_block("x")], [text_block("é" * 500)]
    await builders.store_session(
        database,
        [
            text_message("y" * 5_000),
            tool_message(small, name="Read", kind=ToolKind.READ, raw_input={"path": "a"}),
            tool_message(large, name="Bash", kind=ToolKind.EXECUTE, raw_output={"exit": 0}),
            tool_message(small, name="Read", kind=ToolKind.READ),
            tool_message(kind=ToolKind.EXECUTE),
            tool_message(small, kind=ToolKind.EXECUTE),
        ],
    )
    found = await read(database)
    assert found.tools == [
        ToolSizes("Bash", "execute", 1, size(large), 0, size({"exit": 0})),
        ToolSizes("Read", "read", 2, 2 * size(small), size({"path": "a"}), 0),
        ToolSizes(None, "execute", 2, size(small), 0, 0),
    ]
    assert found.tool_count == 3


async def test_one_name_with_two_kinds_is_two_tools(database: Database) -> None:
    calls = [tool_message(name="run", kind=kind) for kind in (ToolKind.READ, ToolKind.EDIT)]
    await builders.store_session(database, [*calls, tool_message(name="go")])
    found = await read(database)
    # Nothing was recorded of any of them: they follow their names and kinds.
    assert [(tool.name, tool.kind) for tool in found.tools] == [
        ("go", "other"),
        ("run", "edit"),
        ("run", "read"),
    ]
    assert found.largest_outputs == []


async def test_outputs_are_ranked_by_content_and_raw_output_together(database: Database) -> None:
    outputs: list[tuple[Json, Json]] = [
        ([text_block("a" * 100)], None),
        ([text_block("b" * 90)], "c" * 20),
        (None, "d" * 200),
        (None, None),
        ([text_block("e" * 100)], None),
    ]
    calls = [
        tool_message(content, raw_output=raw, tool_call_id=f"call-{n}", title=f"Call {n}")
        for n, (content, raw) in enumerate(outputs, start=1)
    ]
    await builders.store_session(database, calls)
    expected = [
        OutputSizes(
            (*KEY, n),
            f"call-{n}",
            None,
            f"Call {n}",
            "other",
            0 if content is None else size(content),
            0 if raw is None else size(raw),
        )
        for n, (content, raw) in enumerate(outputs, start=1)
    ]
    ranked = [expected[place - 1] for place in (3, 2, 1, 5)]
    assert (await read(database)).largest_outputs == ranked
    assert (await read(database, 2)).largest_outputs == ranked[:2]


async def test_a_limit_cuts_the_tools_and_all_are_counted(database: Database) -> None:
    calls = [tool_message([text_block("x" * n)], name=f"tool-{n}") for n in range(20)]
    await builders.store_session(database, calls)
    found = await read(database, 3)
    assert [tool.name for tool in found.tools] == ["tool-19", "tool-18", "tool-17"]
    assert found.tool_count == 20


async def test_a_session_without_calls_and_one_that_is_absent_have_nothing(
    database: Database,
) -> None:
    nothing = Breakdown([], 0, [])
    assert await read(database) == nothing
    await builders.store_session(database, [text_message()])
    await builders.store_session(database, [tool_message([])], session_id="other")
    assert await read(database) == nothing


async def test_sums_of_sizes_no_number_can_hold_are_the_greatest_that_is_told(
    database: Database,
) -> None:
    await builders.store_session(database, [tool_message([]), tool_message([])])
    await database.write(
        lambda connection: connection.execute(
            update(message_table).values(tool_content_size=2**62, raw_output_size=2**61)
        )
    )
    (tool,) = (await read(database)).tools
    sizes = (tool.content_size, tool.raw_output_size)
    assert sizes == (MAX_BIG_INT, MAX_BIG_INT)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_sqlite_reads_the_rows_of_the_session_where_they_lie(
    database: Database, database_settings: Settings
) -> None:
    calls = [tool_message([text_block(f"{n}")]) for n in range(500)]
    await builders.store_session(database, calls)
    # With statistics, it has a choice.
    await database.write(lambda connection: connection.exec_driver_sql("ANALYZE"))
    async with opened(database_settings) as again:
        steps = [step[-1] for step in await plan(again, "EXPLAIN QUERY PLAN")]
    # Once for the tools and once for the outputs; no index stands between.
    assert [step for step in steps if "message" in step] == [
        "SEARCH message USING PRIMARY KEY (project_id=? AND session_id=? AND sequence>?)"
    ] * 2


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_postgresql_finds_the_rows_of_the_session_by_an_index(database: Database) -> None:
    for number in range(60):
        messages = [tool_message([text_block(f"{n}")]) for n in range(40)]
        await builders.store_session(database, messages, session_id=f"session-{number}")
    await database.write(lambda connection: connection.exec_driver_sql("ANALYZE message"))
    steps = [step for (step,) in await plan(database, "EXPLAIN")]
    scans = [step.strip() for step in steps if "Scan" in step and "message" in step]
    assert scans
    assert not [step for step in scans if "Seq Scan on message" in step]


async def plan(database: Database, explain: str) -> Sequence[Any]:
    """Return how the database reads a breakdown: the rows that `explain` answers."""
    seen: list[tuple[str, Any]] = []

    def collect(_connection: Any, _cursor: Any, sql: str, parameters: Any, *_: Any) -> None:
        seen.append((sql, parameters))

    async with database.read() as connection:
        event.listen(connection.sync_connection, "before_cursor_execute", collect)
        await breakdown.of_session(connection, KEY, 10)
        event.remove(connection.sync_connection, "before_cursor_execute", collect)
        ((statement, parameters),) = seen
        return (await connection.exec_driver_sql(f"{explain} {statement}", parameters)).all()
