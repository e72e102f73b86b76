"""Who reads when: in the order of asking, each in a state of its own, on both databases."""

import asyncio
import contextlib
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from tests import builders
from toolfold.errors import DatabaseError
from toolfold.settings import Settings
from toolfold.store import postgresql, readers, sqlite
from toolfold.store.engine import Database

COUNTS = {"sqlite": sqlite.READERS, "postgresql": postgresql.READERS}

_COUNT_PROJECTS = text("SELECT count(*) FROM project")


async def counted(database: Database, *, single: bool) -> int:
    async with database.read(single=single) as connection:
        return int((await connection.execute(_COUNT_PROJECTS)).scalar_one())


async def test_readers_have_their_turns_in_the_order_of_asking(database: Database) -> None:
    had_turns = []

    async def read(number: int) -> None:
        async with database.read():
            had_turns.append(number)
            await asyncio.sleep(0)

    async with contextlib.AsyncExitStack() as held:
        for _ in range(COUNTS[database.dialect]):
            await held.enter_async_context(database.read())
        waiting = [asyncio.create_task(read(number)) for number in range(5)]
        await asyncio.sleep(0)
    # The connections have come back, but those who wait have not run yet.
    await read(5)
    await asyncio.gather(*waiting)
    assert had_turns == list(range(6))


async def test_a_reader_is_told_that_all_others_are_still_at_work(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with contextlib.AsyncExitStack() as held:
        for _ in range(COUNTS[database.dialect]):
            await held.enter_async_context(database.read())
        monkeypatch.setattr(readers, "TURN_SECONDS", 0.01)
        with pytest.raises(DatabaseError, match="all its readers are still at work"):
            await counted(database, single=True)
    assert await counted(database, single=True) == 1


async def test_who_gives_up_waiting_takes_no_turn(database: Database) -> None:
    async with contextlib.AsyncExitStack() as held:
        for _ in range(COUNTS[database.dialect]):
            await held.enter_async_context(database.read())
        waiting = [asyncio.create_task(counted(database, single=True)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]
    assert await asyncio.gather(*waiting[1:]) == [1, 1]
    async with contextlib.AsyncExitStack() as held:
        for _ in range(COUNTS[database.dialect]):
            await held.enter_async_context(database.read())


@pytest.mark.parametrize("single", [False, True])
async def test_a_connection_that_is_used_again_sees_what_was_written_since(
    database: Database, *, single: bool
) -> None:
    for number in range(1, 4):
        counts = [
            await counted(database, single=not single),
            await counted(database, single=single),
        ]
        assert counts == [number, number]
        await database.write(partial(builders.add_project, project_id=f"p{number}"))


async def test_a_transaction_sees_one_state_after_a_single_statement_did_not_begin_one(
    database: Database,
) -> None:
    assert await counted(database, single=True) == 1
    async with database.read() as connection:
        before = (await connection.execute(_COUNT_PROJECTS)).scalar_one()
        await database.write(lambda one: builders.add_project(one, "p"))
        assert (await connection.execute(_COUNT_PROJECTS)).scalar_one() == before == 1
    assert await counted(database, single=True) == 2


async def test_a_statement_that_fails_leaves_the_connection_to_the_next(
    database: Database,
) -> None:
    for _ in range(COUNTS[database.dialect] + 1):
        with pytest.raises(Exception, match="nowhere"):
            async with database.read() as connection:
                await connection.execute(text("SELECT 1 FROM nowhere"))
    assert await counted(database, single=False) == 1


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_what_is_in_use_while_the_database_is_closed_ends_with_its_reader(
    database_settings: Settings,
) -> None:
    database = await Database.open(database_settings, create=True)
    async with database.read() as connection:
        raw = await connection.get_raw_connection()
        driver: Any = raw.driver_connection
        await database.close()
        assert (await connection.execute(_COUNT_PROJECTS)).scalar_one() == 1
    with pytest.raises(ValueError, match="no active connection"):
        await driver.execute("SELECT 1")
