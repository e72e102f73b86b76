"""Rows fetched straight from the driver: those of Core, in one hop or one round trip."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import Integer, Text, bindparam, literal, make_url, select, text
from sqlalchemy.exc import DBAPIError

from tests import builders
from tests.statements import statements
from toolfold.errors import DatabaseError
from toolfold.settings import Settings
from toolfold.store import message, postgresql
from toolfold.store.engine import Database
from toolfold.store.fetching import Query, Reading, fetch, run
from toolfold.store.page import PageRequest
from toolfold.store.selection import one_of
from toolfold.store.tables import message_table, project_table
from toolfold.transcript import Message, MessageRole

KEY = (builders.PROJECT, "s")
_column = message_table.c
_of_session = _column.session_id == bindparam("session_id", type_=Text)


@pytest.fixture
async def database(database: Database) -> Database:
    """Three messages, the second of which was repaired."""
    messages = [
        Message(f"m{number}", MessageRole.USER, f"Text {number}", repaired=number == 2)
        for number in (1, 2, 3)
    ]
    await builders.store_session(database, messages, session_id=KEY[1])
    return database


async def test_rows_are_those_of_core(database: Database) -> None:
    async with database.read() as connection:
        keys = [(*KEY, 1), (*KEY, 3)]
        columns = (_column.project_id, _column.session_id, _column.sequence)
        cases: list[tuple[Any, dict[str, Any]]] = [
            (select(message_table).where(_of_session), {"session_id": "s"}),
            (select(message_table).where(_of_session), {"session_id": "absent"}),
            (select(_column.sequence, _column.repaired), {}),
            (select(_column.sequence).where(_column.role.in_(["user", "tool"])), {}),
            (select(_column.sequence).where(_column.role.in_([])), {}),
            (select(_column.sequence).where(one_of(connection, columns, keys)), {}),
            (select(_column.client_id).where(_column.client_id == "a\0b"), {}),
            (select(_column.sequence, message.TEXT).order_by(_column.sequence).limit(2), {}),
        ]
        for statement, parameters in cases:
            found = await fetch(connection, statement, parameters)
            expected = (await connection.execute(statement, parameters)).all()
            assert found == [tuple(row) for row in expected], statement
            assert [row._fields for row in found] == [row._fields for row in expected]
            types = [[type(value) for value in row] for row in found]
            assert types == [[type(value) for value in row] for row in expected]


async def test_a_statement_is_given_other_values_each_time(database: Database) -> None:
    async with database.read() as connection:
        for wanted in (1, 3, 2, 9):
            statement = select(_column.sequence).where(_column.sequence == wanted)
            found = [row.sequence for row in await fetch(connection, statement)]
            assert found == [wanted][: wanted < 4]


async def test_a_statement_that_is_kept_is_given_other_values_each_time(database: Database) -> None:
    seven = literal(7, Integer).label("seven")
    statement = select(_column.sequence, seven).where(
        _column.sequence == bindparam("wanted", type_=Integer), _column.sequence < literal(3)
    )
    async with database.read() as connection:
        for wanted in (1, 3, 2, 1):
            found = await fetch(connection, statement, {"wanted": wanted})
            assert found == [(wanted, 7)][: wanted < 3]


async def test_rows_are_what_is_made_of_them(database: Database) -> None:
    statement = select(_column.sequence, _column.repaired).order_by(_column.sequence)
    async with database.read(single=True) as connection:
        expected = await fetch(connection, statement)
        found = await fetch(connection, statement, None, lambda rows: [[*row] for row in rows])
    assert found == [[*row] for row in expected]
    assert all(type(row[1]) is bool for row in found)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize("single", [False, True])
async def test_a_single_statement_takes_no_transaction_of_sqlite(
    database: Database, *, single: bool
) -> None:
    async with database.read(single=single) as connection:
        await fetch(connection, select(_column.sequence))
        raw = await connection.get_raw_connection()
        assert raw.driver_connection is not None
        assert raw.driver_connection.in_transaction is not single


async def test_a_fetch_is_seen_by_who_listens(database: Database) -> None:
    with statements(database) as seen:
        async with database.read() as connection:
            await fetch(connection, select(project_table.c.id))
    assert len(seen) == 1


async def test_fetches_in_one_transaction_see_one_state(database: Database) -> None:
    async with database.read() as connection:
        before = await fetch(connection, select(project_table.c.id))
        await database.write(lambda core: builders.add_project(core, "later"))
        assert await fetch(connection, select(project_table.c.id)) == before
    async with database.read(single=True) as connection:
        assert len(await fetch(connection, select(project_table.c.id))) == len(before) + 1


@pytest.mark.parametrize("single", [False, True])
async def test_an_error_is_that_of_core(database: Database, *, single: bool) -> None:
    wrong = text("SELECT absent FROM message").columns(_column.sequence)
    async with database.read(single=single) as connection:
        with pytest.raises(DBAPIError) as expected:
            await connection.execute(wrong)
    async with database.read(single=single) as connection:
        with pytest.raises(DBAPIError) as caught:
            await fetch(connection, wrong)
    assert type(caught.value) is type(expected.value)
    assert str(caught.value) == str(expected.value)
    async with database.read(single=single) as connection:
        assert len(await fetch(connection, select(_column.sequence))) == 3


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
@pytest.mark.parametrize("single", [False, True])
async def test_a_connection_that_the_server_ends_is_a_failure_and_replaced(
    database: Database, *, single: bool
) -> None:
    end = text("SELECT pg_terminate_backend(pg_backend_pid())").columns(_column.sequence)
    with pytest.raises(DatabaseError, match=r"^The database failed: "):
        async with database.read(single=single) as connection:
            await fetch(connection, end)
    async with database.read(single=single) as connection:
        assert len(await fetch(connection, select(_column.sequence))) == 3


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_a_connection_that_ended_while_it_rested_is_replaced(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = text("SELECT pg_backend_pid() AS sequence").columns(_column.sequence)
    async with database.read(single=True) as connection:
        ((process,),) = await fetch(connection, own)
        end = text("SELECT pg_terminate_backend(:process, 5000)")
        await database.write(lambda core: core.execute(end, {"process": process}).close())
    # The driver may have noticed; else it has to ask.
    monkeypatch.setattr(postgresql, "RESTED_SECONDS", -1.0)
    async with database.read(single=True) as connection:
        ((now,),) = await fetch(connection, own)
    assert now != process


def after(first: int) -> Reading[tuple[list[Any], list[int]]]:
    """Read one message, then what follows it: the roles of the one, the sequences of the others."""
    of_first = select(_column.sequence, _column.role).where(_column.sequence == first)
    ((sequence, role),) = yield Query(of_first)
    following = select(_column.sequence).where(_column.sequence > bindparam("sequence"))
    found = yield Query(
        following, {"sequence": sequence}, lambda rows: [value for (value,) in rows]
    )
    return [role], found


@pytest.mark.parametrize("is_long", [False, True])
async def test_a_reading_is_sent_rows_or_what_is_made_of_them(
    database: Database, *, is_long: bool
) -> None:
    def lengths() -> Reading[list[int]]:
        query = Query(select(_column.content).order_by(_column.sequence))
        made = yield query._replace(
            make=lambda rows: [len(row[0]) for row in rows], is_long=is_long
        )
        return [*made]

    async with database.read() as connection:
        assert await run(connection, after(1)) == (["user"], [2, 3])
        assert await run(connection, after(3)) == (["user"], [])
        assert await run(connection, lengths()) == [6, 6, 6]


@pytest.mark.parametrize("single", [False, True])
async def test_a_readings_errors_are_those_of_core_and_its_own(
    database: Database, *, single: bool
) -> None:
    wrong = text("SELECT absent FROM message").columns(_column.sequence)

    def reading() -> Reading[None]:
        yield Query(select(_column.sequence))
        yield Query(wrong)

    async with database.read(single=single) as connection:
        with pytest.raises(DBAPIError) as expected:
            await connection.execute(wrong)
    async with database.read(single=single) as connection:
        with pytest.raises(DBAPIError) as caught:
            await run(connection, reading())
    assert type(caught.value) is type(expected.value)
    assert str(caught.value) == str(expected.value)
    async with database.read(single=single) as connection:
        with pytest.raises(ValueError, match="not enough values"):
            await run(connection, after(4))
        assert await run(connection, after(2)) == (["user"], [3])


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_reading_asks_sqlites_thread_once(database: Database, hops: list[None]) -> None:
    async with database.read() as connection:
        await fetch(connection, select(project_table.c.id))
    hops.clear()
    async with database.read() as connection:
        await run(connection, after(1))
    assert len(hops) == 1


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_page_asks_sqlites_thread_once(database: Database, hops: list[None]) -> None:
    for core in (False, True):
        async with database.read() as connection:
            await fetch(connection, select(project_table.c.id))
        hops.clear()
        async with database.read() as connection:
            if core:
                await connection.execute(select(_column.sequence))
            else:
                await message.page(connection, *KEY, PageRequest(first=2), columns=("sequence",))
        assert len(hops) == 1


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("single", "expected"), [(True, 1), (False, 3)])
async def test_a_page_takes_postgresql_few_round_trips(
    database_settings: Settings, *, single: bool, expected: int
) -> None:
    async with counting_proxy(database_settings) as (settings, trips):
        through = await Database.open(settings)
        for _ in range(2):
            before = len(trips)
            async with through.read(single=single) as connection:
                request = PageRequest(first=2)
                page = await message.page(connection, *KEY, request, columns=("sequence",))
        assert [row.sequence for row in page.rows] == [1, 2]
        assert len(trips) - before == expected
        await through.close()


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_postgresql_prepares_a_page_once(database: Database) -> None:
    prepared = text("SELECT statement FROM pg_prepared_statements")
    async with database.read() as connection:
        for _ in range(3):
            await message.page(connection, *KEY, PageRequest(first=2), columns=("sequence",))
        statements = (await connection.execute(prepared)).scalars().all()
    assert len([sql for sql in statements if "FROM message" in sql]) == 1, statements


@contextlib.asynccontextmanager
async def counting_proxy(settings: Settings) -> AsyncIterator[tuple[Settings, list[None]]]:
    """Give settings by which a server is reached, and what grows with each round trip to it."""
    url = make_url(settings.database_url)
    trips: list[None] = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own_reader, own_writer = await asyncio.open_connection(url.host, url.port or 5432)
        answered = True

        async def ask() -> None:
            nonlocal answered
            while data := await reader.read(65_536):
                if answered:
                    trips.append(None)
                answered = False
                own_writer.write(data)
            own_writer.close()

        async def answer() -> None:
            nonlocal answered
            while data := await own_reader.read(65_536):
                answered = True
                writer.write(data)
            writer.close()

        with contextlib.suppress(ConnectionError):
            await asyncio.gather(ask(), answer())

    async with await asyncio.start_server(relay, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        through = url.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)
        yield dataclasses.replace(settings, database_url=through), trips
