"""Writes that share a commit on SQLite: each for itself, and none before it is on disk."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, select, text
from sqlalchemy.exc import IntegrityError

from tests import builders
from toolfold.errors import DiskFullError
from toolfold.store import sqlite_writer
from toolfold.store.engine import Database
from toolfold.store.tables import project_table

pytestmark = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)

Write = Callable[[Connection], Any]


def adding(name: str) -> Callable[[Connection], int]:
    """Return a write that stores a project and says how many there are then."""

    def add(connection: Connection) -> int:
        builders.add_project(connection, name)
        count = select(func.count()).select_from(project_table)
        return connection.execute(count).scalar_one()

    return add


async def stored(database: Database) -> set[str]:
    async with database.read() as connection:
        names = await connection.execute(select(project_table.c.name))
        return set(names.scalars()) - {"default"}


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a group take in what waits, however slow the machine is."""
    monkeypatch.setattr(sqlite_writer, "GROUP_SECONDS", 60)


@pytest.fixture
def commits(database: Database) -> Iterator[list[None]]:
    """What is added to for each commit of a write, before it."""
    seen: list[None] = []

    def note(_connection: Connection) -> None:
        seen.append(None)

    _, writer = database.engines
    event.listen(writer, "commit", note)
    yield seen
    event.remove(writer, "commit", note)


async def asked_at_once(database: Database, *writes: Write) -> list[asyncio.Future[Any]]:
    """Ask for writes while one is under way, so that they wait together; it goes on then."""
    release, begun = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold(_connection: Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        assert release.wait(timeout=60)

    holding = asyncio.ensure_future(database.write(hold))
    await begun.wait()
    asked: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(database.write(write)) for write in writes
    ]
    # They are in the queue when each has been given its turn.
    await asyncio.sleep(0)
    release.set()
    await holding
    return asked


async def settled(asked: Sequence[asyncio.Future[Any]]) -> list[Any]:
    """Return results, and for what failed the error's class."""
    results = await asyncio.gather(*asked, return_exceptions=True)
    return [type(one) if isinstance(one, BaseException) else one for one in results]


async def test_what_waits_shares_a_commit_and_is_written_in_order(
    database: Database, commits: list[None]
) -> None:
    asked = await asked_at_once(database, *(adding(f"{n}") for n in range(20)))
    assert await settled(asked) == list(range(2, 22))
    assert len(commits) == 1
    assert await stored(database) == {f"{n}" for n in range(20)}


async def test_a_write_that_waits_for_no_other_has_a_transaction_without_a_savepoint(
    database: Database, commits: list[None]
) -> None:
    statements: list[str] = []
    _, writer = database.engines

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement.split(maxsplit=1)[0])

    event.listen(writer, "before_cursor_execute", note)
    for name in "ab":
        await database.write(adding(name))
    assert statements == ["INSERT", "SELECT"] * 2
    assert len(commits) == 2


@pytest.mark.parametrize("place", [0, 1, 3])
async def test_one_that_fails_takes_back_its_own_work_alone(
    database: Database, commits: list[None], place: int
) -> None:
    def fail(connection: Connection) -> None:
        adding("of the one that fails")(connection)
        raise LookupError

    writes: list[Write] = [adding("a"), adding("b"), adding("c")]
    writes.insert(place, fail)
    expected: list[Any] = [2, 3, 4]
    expected.insert(place, LookupError)
    assert await settled(await asked_at_once(database, *writes)) == expected
    assert await stored(database) == {"a", "b", "c"}
    assert len(commits) == 1


async def test_the_first_of_a_group_fails_for_itself(
    database: Database, commits: list[None]
) -> None:
    def fail(_connection: Connection) -> None:
        raise LookupError

    assert await settled(
        [asyncio.ensure_future(database.write(write)) for write in (fail, adding("a"))]
    ) == [LookupError, 2]
    assert len(commits) == 1


async def test_no_one_is_answered_before_the_commit(database: Database) -> None:
    asked: list[asyncio.Future[Any]] = []
    done_before: list[int] = []
    _, writer = database.engines

    def look(_connection: Connection) -> None:
        done_before.append(sum(one.done() for one in asked))

    event.listen(writer, "commit", look)
    found: dict[str, set[str]] = {}

    async def write(name: str) -> None:
        await database.write(adding(name))
        found[name] = await stored(database)

    asked += [asyncio.ensure_future(write(name)) for name in "abc"]
    await asyncio.gather(*asked)
    assert done_before[0] == 0
    # They were written in the order in which they were asked for.
    assert all(found[name] >= set("abc"[: n + 1]) for n, name in enumerate("abc"))


async def test_callers_that_are_cancelled_in_the_queue_cancel_nothing(database: Database) -> None:
    release, begun = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold(_connection: Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        assert release.wait(timeout=60)

    def fail(_connection: Connection) -> None:
        raise LookupError

    holding = asyncio.ensure_future(database.write(hold))
    await begun.wait()
    asked = [asyncio.ensure_future(database.write(w)) for w in (adding("a"), fail, adding("b"))]
    await asyncio.sleep(0)
    for one in asked:
        one.cancel()
    assert await settled(asked) == [asyncio.CancelledError] * 3
    release.set()
    await holding
    await database.write(adding("c"))
    assert await stored(database) == {"a", "b", "c"}


async def test_a_commit_that_fails_for_one_is_made_for_each_of_the_others(
    database: Database, commits: list[None]
) -> None:
    def break_reference(connection: Connection) -> None:
        connection.execute(text("PRAGMA defer_foreign_keys = ON"))
        builders.add_session(connection, project_id="absent")

    asked = await asked_at_once(database, adding("a"), break_reference, adding("b"))
    assert await settled(asked) == [2, IntegrityError, 3]
    assert await stored(database) == {"a", "b"}
    # Of the group, of the one that held it up, of a, of the broken one, of b.
    assert len(commits) == 5


async def test_a_transaction_that_the_library_took_back_is_made_anew_for_the_others(
    database: Database,
) -> None:
    def lose(connection: Connection) -> None:
        connection.exec_driver_sql("ROLLBACK")
        raise LookupError

    asked = await asked_at_once(database, adding("a"), lose, adding("b"))
    assert await settled(asked) == [2, LookupError, 3]
    assert await stored(database) == {"a", "b"}


async def test_what_does_not_fit_the_disk_is_told_and_what_does_is_written(
    database: Database,
) -> None:
    """A limit to the file's pages stands in for a full disk."""

    def limit(connection: Connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 20}")

    await database.write(limit)
    asked = await asked_at_once(database, adding("a"), adding("b" * 1_000_000), adding("c"))
    assert await settled(asked) == [2, DiskFullError, 3]
    assert await stored(database) == {"a", "c"}
    await database.write(
        lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 1000000").close()
    )
    await database.write(adding("b" * 1_000_000))
    assert len(await stored(database)) == 3


async def test_a_group_is_no_longer_than_its_limit(
    database: Database, commits: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "MAX_GROUP", 4)
    asked = await asked_at_once(database, *(adding(f"{n}") for n in range(9)))
    assert await settled(asked) == list(range(2, 11))
    # The one that held them up is the first of ten.
    assert len(commits) == 3


async def test_many_clients_at_once_lose_nothing(database: Database) -> None:
    async def client(number: int) -> None:
        for turn in range(10):
            name = f"{number} {turn}"
            writing: Awaitable[int] = database.write(adding(name))
            assert await writing > turn
            assert name in await stored(database)

    await asyncio.gather(*map(client, range(16)))
    assert len(await stored(database)) == 160
