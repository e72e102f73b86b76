"""Opening, reading and writing a database: the same on both kinds."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, insert, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from tests import builders
from tests.statements import statements
from tests.store.opening import opened
from toolfold.errors import DatabaseError, DiskFullError
from toolfold.settings import Settings
from toolfold.store import engine, project, sqlite
from toolfold.store.engine import Database
from toolfold.store.fetching import fetch
from toolfold.store.tables import project_table

ENDLESS = text(
    "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)"
    " SELECT max(n) FROM number"
)


async def names(connection: AsyncConnection) -> list[str]:
    """Return the names of all projects, in their order."""
    statement = select(project_table.c.name).order_by(project_table.c.name)
    return list((await connection.execute(statement)).scalars())


async def stored_names(database: Database) -> list[str]:
    async with database.read() as connection:
        return await names(connection)


def adding(name: str) -> Callable[[Connection], None]:
    """Return a write that stores a project of this name."""
    return lambda connection: builders.add_project(connection, name)


async def test_an_empty_database_is_made_ready_with_the_default_project(
    empty_database_settings: Settings, dialect: str
) -> None:
    async with opened(empty_database_settings, create=True) as database:
        async with database.read() as connection:
            page = await project.by_ids(connection, {"default"}, ("id", "name"))
        assert [tuple(row) for row in page.values()] == [("default", "default")]
        assert database.dialect == dialect


async def test_an_empty_database_is_refused_unless_it_may_be_made_ready(
    empty_database_settings: Settings,
) -> None:
    with pytest.raises(DatabaseError, match="toolfold serve") as caught:
        await Database.open(empty_database_settings)
    assert "\n" not in caught.value.message
    assert not (empty_database_settings.data_dir / sqlite.FILE_NAME).exists()


async def test_many_may_make_the_database_ready_at_once(empty_database_settings: Settings) -> None:
    async def open_and_close() -> list[str]:
        async with opened(empty_database_settings, create=True) as database:
            return await stored_names(database)

    assert await asyncio.gather(*(open_and_close() for _ in range(6))) == [["default"]] * 6


async def test_a_database_of_something_else_is_refused(database_settings: Settings) -> None:
    async with opened(database_settings) as database:
        await database.write(lambda connection: _execute(connection, "DROP TABLE alembic_version"))
    with pytest.raises(DatabaseError, match="something other than Toolfold"):
        await Database.open(database_settings, create=True)
    with pytest.raises(DatabaseError, match="something other than Toolfold"):
        await engine.migrate(database_settings)


async def test_a_write_is_answered_after_its_commit(database: Database) -> None:
    assert await database.write(lambda connection: (adding("a")(connection), 42)[1]) == 42
    assert await stored_names(database) == ["a", "default"]


async def test_a_write_that_raises_leaves_nothing(database: Database) -> None:
    def fail(connection: Connection) -> None:
        adding("a")(connection)
        raise LookupError

    with pytest.raises(LookupError):
        await database.write(fail)
    assert await stored_names(database) == ["default"]


async def test_a_wrong_statement_stays_a_bug(database: Database) -> None:
    with pytest.raises(IntegrityError):
        await database.write(adding("default"))


async def test_writes_that_read_first_do_not_overtake_each_other(database: Database) -> None:
    def count(connection: Connection) -> None:
        name = connection.execute(select(project_table.c.name)).scalar_one()
        number = 0 if name == "default" else int(name)
        connection.execute(update(project_table).values(name=str(number + 1)))

    await asyncio.gather(*(database.write(count) for _ in range(8)))
    assert await stored_names(database) == ["8"]


async def test_a_write_outlives_the_caller_who_was_cancelled(database: Database) -> None:
    running = asyncio.get_running_loop().create_future()
    cancelled = threading.Event()
    loop = asyncio.get_running_loop()

    def write(connection: Connection) -> None:
        adding("a")(connection)
        loop.call_soon_threadsafe(running.set_result, None)
        if database.dialect == "sqlite":
            assert cancelled.wait(timeout=10)

    caller = asyncio.create_task(database.write(write))
    await running
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    cancelled.set()
    await database.write(adding("b"))
    assert await stored_names(database) == ["a", "b", "default"]


async def test_closing_waits_for_the_writes_that_were_asked_for(
    database_settings: Settings,
) -> None:
    async with opened(database_settings) as database:
        callers = [asyncio.create_task(database.write(adding(name))) for name in "ab"]
        await asyncio.sleep(0)
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
    async with opened(database_settings) as database:
        assert await stored_names(database) == ["a", "b", "default"]


async def test_a_reader_cannot_write(database: Database) -> None:
    statement = insert(project_table).values(id="a", name="a", created_at=builders.NOW)
    with pytest.raises((DatabaseError, DBAPIError), match=r"read-?only"):
        async with database.read() as connection:
            await connection.execute(statement)
    assert await stored_names(database) == ["default"]


async def test_a_read_sees_one_state_of_the_database(database: Database) -> None:
    async with database.read() as connection:
        before = await names(connection)
        await database.write(adding("a"))
        assert await names(connection) == before == ["default"]
    assert await stored_names(database) == ["a", "default"]


async def test_a_cancelled_read_interrupts_its_statement(database: Database) -> None:
    # More often than there are connections, so that one which stays busy would be missed.
    for _ in range(12):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02), database.read() as connection:
                await connection.execute(ENDLESS)
    assert await stored_names(database) == ["default"]


async def test_a_failed_statement_leaves_the_connection_usable(database: Database) -> None:
    for _ in range(12):
        with pytest.raises((DatabaseError, DBAPIError)):
            async with database.read() as connection:
                await connection.execute(text("SELECT absent FROM nowhere"))
    assert await stored_names(database) == ["default"]


async def test_statements_are_seen_where_they_reach_the_driver(database: Database) -> None:
    with statements(database) as seen:
        await stored_names(database)
        await database.write(adding("a"))
    assert [sql.split()[0] for sql in seen] == ["SELECT", "INSERT"]
    await stored_names(database)
    assert len(seen) == 2


async def test_an_error_of_the_callers_own_passes_through(database: Database) -> None:
    with pytest.raises(FileNotFoundError):
        async with database.read():
            raise FileNotFoundError


def _execute(connection: Connection, statement: str) -> None:
    connection.execute(text(statement))


FULL = {
    # No file may grow beyond what it is, as on a disk without room.
    "sqlite": (
        "PRAGMA max_page_count=1",
        "INSERT INTO project VALUES (hex(randomblob(99999)), '', '')",
    ),
    "postgresql": (
        "SELECT 1",
        "DO $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$",
    ),
}


async def test_a_full_disk_is_named_and_leaves_the_database_as_it_was(
    database: Database, dialect: str
) -> None:
    before, write = FULL[dialect]

    def fill(connection: Connection) -> None:
        builders.add_project(connection, "beside")
        connection.exec_driver_sql(before)
        connection.exec_driver_sql(write)

    with pytest.raises(DiskFullError) as refused:
        await database.write(fill)
    assert refused.value.message.startswith("The database's disk is full: nothing of this")
    assert await stored_names(database) == ["default"]


async def test_rows_that_are_fetched_for_a_cancelled_task_end_as_cancelled(
    database: Database,
) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3), database.read() as connection:
            await fetch(connection, ENDLESS)
    assert await stored_names(database) == ["default"]
