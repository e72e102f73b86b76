"""Pages, rows and counts of a session's messages."""

import itertools
import re
from collections.abc import Collection, Sequence
from typing import Any

import pytest
from sqlalchemy import text

from tests import builders
from tests.builders import text_block, text_message, tool_message
from tests.statements import statements
from tests.store.test_page import model, requests
from toolfold.store import dialect as dialects
from toolfold.store import message
from toolfold.store.engine import Database
from toolfold.store.message import Around, MessageFilter
from toolfold.store.page import PageRequest
from toolfold.transcript import Message, MessageRole, ToolKind, ToolStatus

OUTPUT = [text_block("x" * 100)]
MESSAGES = [
    text_message("Hello."),
    text_message("Let me see.", MessageRole.THINKING),
    tool_message(OUTPUT, name="Read", kind=ToolKind.READ),
    tool_message(name="Bash", kind=ToolKind.EXECUTE, status=ToolStatus.FAILED),
    text_message("y" * 200, MessageRole.ASSISTANT),
    tool_message(OUTPUT, name="Read", kind=ToolKind.READ, status=ToolStatus.PENDING),
    text_message("Thanks."),
]
FILTERS: list[tuple[MessageFilter, list[int]]] = [
    (MessageFilter(), [1, 2, 3, 4, 5, 6, 7]),
    (MessageFilter(roles=["user", "assistant"]), [1, 5, 7]),
    (MessageFilter(roles=[]), []),
    (MessageFilter(roles=[MessageRole.TOOL]), [3, 4, 6]),
    (MessageFilter(tool_kinds=["read"]), [3, 6]),
    (MessageFilter(tool_names=["Bash", "Absent"]), [4]),
    (MessageFilter(tool_status=["failed", "pending"]), [4, 6]),
    (MessageFilter(tool_kinds=["read"], tool_status=["completed"]), [3]),
    (MessageFilter(min_content_size=0), [1, 2, 3, 4, 5, 6, 7]),
    (MessageFilter(min_content_size=100), [3, 5, 6]),
    (MessageFilter(roles=["tool"], min_content_size=100), [3, 6]),
    (MessageFilter(min_content_size=2**53 - 1), []),
]


async def sequences(
    database: Database, request: PageRequest, where: MessageFilter = message.ALL
) -> tuple[list[int], bool, bool]:
    async with database.read() as connection:
        page = await message.page(
            connection,
            builders.PROJECT,
            builders.SESSION,
            request,
            columns=("sequence",),
            where=where,
        )
    return [row.sequence for row in page.rows], page.has_next, page.has_previous


async def store_others(database: Database) -> None:
    """Store messages that no page of the session under test may show."""
    await builders.store_session(database, MESSAGES, session_id="session-0")
    await builders.store_session(database, MESSAGES, session_id="session-2")
    await database.write(lambda connection: builders.add_project(connection, "other"))
    await builders.store_session(database, MESSAGES, project_id="other")


@pytest.mark.parametrize(("where", "expected"), FILTERS)
async def test_a_filter_lets_through_what_it_names(
    database: Database, where: MessageFilter, expected: list[int]
) -> None:
    await store_others(database)
    await builders.store_session(database, MESSAGES)
    request = PageRequest(first=9, with_page_info=True)
    assert await sequences(database, request, where) == (expected, False, False)
    async with database.read() as connection:
        found = await message.count(connection, builders.PROJECT, builders.SESSION, where)
    assert found == len(expected)


@pytest.mark.parametrize(("where", "expected"), [FILTERS[0], FILTERS[3]])
async def test_every_page_is_that_of_a_list(
    database: Database, where: MessageFilter, expected: list[int]
) -> None:
    await store_others(database)
    await builders.store_session(database, MESSAGES)
    keys = [(sequence,) for sequence in expected]
    for request in requests([(0,), (1,), (4,), (7,), (9,)]):
        shown, has_next, has_previous = model(keys, request)
        found = await sequences(database, request, where)
        assert found == ([sequence for (sequence,) in shown], has_next, has_previous), request


async def test_a_cursor_may_hold_any_integer(database: Database) -> None:
    await builders.store_session(database, MESSAGES)
    for huge in (2**31, 2**63, 2**200):
        none = await sequences(database, PageRequest(first=9, after=(huge,)))
        all_ = await sequences(database, PageRequest(last=9, after=(-huge,), before=(huge,)))
        assert (none[0], all_[0]) == ([], [1, 2, 3, 4, 5, 6, 7])


async def test_messages_that_arrive_meanwhile_are_neither_repeated_nor_missed(
    database: Database,
) -> None:
    await builders.store_session(database, MESSAGES)
    shown, _, _ = await sequences(database, PageRequest(first=5))
    late = text(
        "INSERT INTO message (project_id, session_id, sequence, revision, client_id, role,"
        " created_at, repaired, attachment_count, content_size, content)"
        " SELECT project_id, session_id, 8, 8, 'late', role, created_at, repaired,"
        " attachment_count, content_size, content FROM message WHERE sequence = 7"
    )
    await database.write(lambda connection: connection.execute(late).close())
    rest, has_next, has_previous = await sequences(
        database, PageRequest(first=5, after=(shown[-1],), with_page_info=True)
    )
    assert (shown + rest, has_next, has_previous) == (list(range(1, 9)), False, True)


def around_model(keys: Sequence[int], around: Around) -> list[int]:
    """Return the `size` keys that lie nearest to the middle, as far as there are that many."""
    preceding = [key for key in keys if key < around.sequence]
    start = len(preceding) - around.size // 2
    start = max(0, min(start, len(keys) - around.size))
    return list(keys[start : start + around.size])


@pytest.mark.parametrize(("where", "expected"), [FILTERS[0], FILTERS[1], FILTERS[2]])
async def test_a_page_is_centred_on_a_message(
    database: Database, where: MessageFilter, expected: list[int]
) -> None:
    await store_others(database)
    await builders.store_session(database, MESSAGES)
    key = (builders.PROJECT, builders.SESSION)
    async with database.read() as connection:
        for sequence, size in itertools.product(range(10), range(9)):
            around = Around(sequence, size, with_page_info=True)
            page = await message.page_around(
                connection, *key, around, columns=("sequence",), where=where
            )
            shown = around_model(expected, around)
            assert [row.sequence for row in page.rows] == shown, around
            if shown:
                assert page.has_next == (shown[-1] != expected[-1]), around
                assert page.has_previous == (shown[0] != expected[0]), around


async def test_a_row_has_the_columns_asked_for_in_their_order(database: Database) -> None:
    await builders.store_session(database, MESSAGES[:1])
    names = ("role", "content_preview", "sequence", "content", "tool_call_id")
    async with database.read() as connection:
        key = (builders.PROJECT, builders.SESSION)
        page = await message.page(connection, *key, PageRequest(first=1), columns=names)
        every = await message.page(connection, *key, PageRequest(first=1), columns=message.COLUMNS)
    assert [tuple(row) for row in page.rows] == [("user", "Hello.", 1, "Hello.", None)]
    assert [row._fields for row in page.rows] == [names]
    assert [row._fields for row in every.rows] == [message.COLUMNS]


@pytest.mark.parametrize(
    ("content", "preview"),
    [
        ("", ""),
        ("é" * 281, "é" * 280),
        ("語" * 341, "語" * 280),
        ("語" * 342, "語" * 280),
        ("語" * 6_000, "語" * 280),
    ],
)
async def test_every_text_has_a_preview(database: Database, content: str, preview: str) -> None:
    await builders.store_session(database, [text_message(content)])
    async with database.read() as connection:
        key = (builders.PROJECT, builders.SESSION, 1)
        found = await message.by_keys(connection, {key}, ("content_preview",))
    assert [row.content_preview for row in found.values()] == [preview]


async def test_a_page_without_texts_reads_no_table_but_its_own(database: Database) -> None:
    await builders.store_session(database, [*MESSAGES, text_message("z" * 20_000)])
    light = [name for name in message.COLUMNS if name != "content"]
    with statements(database) as seen:
        await sequences(database, PageRequest(first=9, after=(1,), with_page_info=True))
        async with database.read() as connection:
            key = (builders.PROJECT, builders.SESSION)
            await message.page(connection, *key, PageRequest(first=9), columns=light)
            await message.page_around(connection, *key, Around(2, 4), columns=light)
            await message.by_keys(connection, {(*key, 1)}, light)
            await message.count(connection, *key, MessageFilter(min_content_size=5))
    assert {table for sql in seen for table in _tables(sql)} == {"message"}


async def test_a_page_with_texts_is_one_statement(database: Database) -> None:
    texts = ["", "é" * 500, "é" * 600, "é" * 8_192, "é" * 8_193]
    await builders.store_session(database, [text_message(text) for text in texts])
    async with database.read() as connection:
        with statements(database) as seen:
            page = await message.page(
                connection,
                builders.PROJECT,
                builders.SESSION,
                PageRequest(first=9),
                columns=message.COLUMNS,
            )
    assert [row.content for row in page.rows] == [*texts[:4], None]
    assert [_tables(sql) for sql in seen] == [["message_text", "message"]]


def _tables(sql: str) -> list[str]:
    # PostgreSQL's `unnest(...)` is none.
    return re.findall(r"(?:FROM|JOIN)\s+(\w+)\b(?!\()", sql)


async def test_rows_are_found_by_key_in_one_statement(database: Database) -> None:
    await store_others(database)
    await builders.store_session(database, MESSAGES)
    keys = {
        (builders.PROJECT, builders.SESSION, 2),
        (builders.PROJECT, "session-2", 7),
        ("other", builders.SESSION, 1),
        ("other", "session-2", 1),
        (builders.PROJECT, builders.SESSION, 8),
    }
    async with database.read() as connection:
        with statements(database) as seen:
            found = await message.by_keys(connection, keys, ("content", "sequence"))
    assert len(seen) == 1
    assert {key: row.content for key, row in found.items()} == {
        (builders.PROJECT, builders.SESSION, 2): "Let me see.",
        (builders.PROJECT, "session-2", 7): "Thanks.",
        ("other", builders.SESSION, 1): "Hello.",
    }


async def test_a_thousand_keys_are_one_statement(database: Database) -> None:
    await builders.store_session(database, MESSAGES)
    keys: Collection[message.Key] = [
        (builders.PROJECT, f"session-{number % 500}", number) for number in range(1_000)
    ]
    async with database.read() as connection:
        with statements(database) as seen:
            found = await message.by_keys(connection, keys)
        none = await message.by_keys(connection, ())
    assert len(seen) == 1
    assert set(found) == {(builders.PROJECT, builders.SESSION, 1)}
    assert none == {}


async def test_a_session_that_is_not_there_has_no_messages(database: Database) -> None:
    async with database.read() as connection:
        assert await message.count(connection, builders.PROJECT, "absent") == 0
    assert await sequences(database, PageRequest(first=1)) == ([], False, False)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_page_far_down_costs_what_the_first_one_costs(database: Database) -> None:
    await builders.store_session(
        database, [Message(f"m{n}", MessageRole.USER) for n in range(5_000)]
    )
    first = await instructions(database, PageRequest(first=50, with_page_info=True))
    deep = await instructions(database, PageRequest(first=50, after=(4_900,)))
    last = await instructions(database, PageRequest(last=50))
    assert deep <= 1.1 * first
    assert last <= 1.1 * first


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_a_page_is_found_by_its_key_before_there_are_statistics(database: Database) -> None:
    await builders.store_session(
        database, [Message(f"m{n}", MessageRole.USER) for n in range(3_000)]
    )
    request = PageRequest(first=50, after=(2_900,))
    with statements(database) as seen:
        await sequences(database, request)
    async with database.read() as connection:
        parameters = (builders.PROJECT, builders.SESSION, 2_900, 50)
        plan = await connection.exec_driver_sql(f"EXPLAIN {seen[0]}", parameters)
        steps = [row[0].strip() for row in plan]
    assert [step.split(" on ")[0] for step in steps if " on " in step] == [
        "->  Index Only Scan using pk_message"
    ]
    assert not [step for step in steps if "Sort" in step]


async def instructions(database: Database, request: PageRequest) -> int:
    """Return how many instructions of its virtual machine SQLite takes for a page."""
    count = itertools.count()
    async with database.read() as connection:
        raw = (await connection.get_raw_connection()).driver_connection
        assert isinstance(raw, dialects.InterruptibleConnection)
        await raw.set_progress_handler(lambda: next(count) and 0, 1)
        await message.page(
            connection, builders.PROJECT, builders.SESSION, request, columns=message.COLUMNS
        )
        await raw.set_progress_handler(_nothing, 0)
    return next(count)


def _nothing() -> Any:
    return None
