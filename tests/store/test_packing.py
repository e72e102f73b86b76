"""Rows of a page come as one value, and are those that the driver gives one by one."""

from typing import Any

import pytest
from sqlalchemy import Integer, LargeBinary, Text, bindparam, column, select, table, text
from sqlalchemy.exc import DBAPIError

from tests import builders
from toolfold.store import message
from toolfold.store.dialect import InterruptibleConnection
from toolfold.store.engine import Database
from toolfold.store.fetching import Query, Reading, fetch, run
from toolfold.store.page import PageRequest
from toolfold.store.tables import message_table, session_table

pytestmark = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)

# Types are SQLite's own, which the columns' say nothing about.
VALUES = """
SELECT * FROM (VALUES
    (1, 'plain', 9223372036854775807), (2, '', -9223372036854775808), (3, NULL, NULL),
    (4, 'say "no" to C:\\new', 0), (5, char(0, 1, 8, 9, 10, 13, 27, 31, 127, 8232), 1),
    (6, char(128512, 233, 65533), 2), (7, '{"a": [1, null]}', 3), (8, '007', 4),
    (9, replace(hex(zeroblob(40000)), '00', 'x'), 5), (10, 12, '12'), (11, 1.5, 0.1),
    (99, 'end', 6)
) AS row LIMIT :most
"""


def values(more: str = "") -> Any:
    """Return a selection of values of every kind, and of what else is given."""
    rows = VALUES.replace("(99", f"{more}(99")
    statement = text(rows).bindparams(bindparam("most", type_=Integer))
    return statement.columns(number=Integer, words=Text, count=Integer)


def page(statement: Any, **parameters: Any) -> Reading[list[Any]]:
    """Read a statement as pages are read."""
    rows: list[Any] = yield Query(statement, parameters, is_page=True)
    return rows


async def both(database: Database, statement: Any) -> tuple[list[Any], list[Any], list[str]]:
    """Return the rows as a page and one by one, and the statements that SQLite ran for the page."""
    async with database.read() as connection:
        raw = (await connection.get_raw_connection()).driver_connection
        assert isinstance(raw, InterruptibleConnection)
        seen: list[str] = []
        await raw.set_trace_callback(seen.append)
        try:
            found = await run(connection, page(statement, most=100))
        finally:
            await raw.set_trace_callback(lambda _: None)
        return found, await fetch(connection, statement, {"most": 100}), seen


async def test_a_page_is_the_rows_that_the_driver_gives(database: Database) -> None:
    found, expected, seen = await both(database, values())
    assert found == expected
    assert len(found) == 12
    assert found[4].words == "\0\x01\b\t\n\r\x1b\x1f\x7f\u2028"
    assert [[type(value) for value in row] for row in found] == [
        [type(value) for value in row] for row in expected
    ]
    assert [row._fields for row in found] == [row._fields for row in expected]
    assert [sql for sql in seen if "json_group_array" in sql] == seen[-1:]


async def test_pages_of_messages_are_read_so(database: Database) -> None:
    await builders.store_session(database, [builders.text_message(), builders.tool_message()])
    async with database.read() as connection:
        raw = (await connection.get_raw_connection()).driver_connection
        assert isinstance(raw, InterruptibleConnection)
        seen: list[str] = []
        await raw.set_trace_callback(seen.append)
        request = PageRequest(first=5)
        columns = ("sequence", "role", "content_preview")
        session = (builders.PROJECT, builders.SESSION)
        found = await message.page(connection, *session, request, columns=columns)
        await raw.set_trace_callback(lambda _: None)
    assert [(row.sequence, row.role) for row in found.rows] == [(1, "user"), (2, "tool")]
    assert [sql for sql in seen if "json_group_array" in sql] == seen[-1:]


async def test_an_empty_page_has_no_rows(database: Database) -> None:
    async with database.read() as connection:
        assert await run(connection, page(values(), most=0)) == []


async def test_rows_that_no_json_holds_are_read_one_by_one(database: Database) -> None:
    found, expected, _ = await both(database, values("(12, x'00ff', 7),"))
    assert found == expected
    assert found[11].words == b"\0\xff"


async def test_columns_of_bytes_or_truths_are_read_one_by_one(database: Database) -> None:
    row = table("project", column("id", Text), column("name", LargeBinary))
    unpacked: list[Any] = [row.select(), select(message_table.c.repaired)]
    for selection in (*unpacked, select(session_table)):
        _, _, seen = await both(database, selection.limit(bindparam("most", type_=Integer)))
        is_packed = any("json_group_array" in sql for sql in seen)
        assert is_packed is (selection not in unpacked), seen


async def test_text_that_is_no_text_is_the_drivers_error(database: Database) -> None:
    wrong = values("(12, CAST(x'41ff' AS TEXT), 7),")
    async with database.read() as connection:
        with pytest.raises(DBAPIError) as expected:
            await fetch(connection, wrong, {"most": 100})
    async with database.read() as connection:
        with pytest.raises(DBAPIError) as caught:
            await run(connection, page(wrong, most=100))
    assert "UTF-8" in str(caught.value)
    assert str(caught.value) == str(expected.value)
