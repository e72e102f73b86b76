"""Processes on one database tell each other's followers; here each is a `Database` of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import delete, text

from tests.builders import text_message
from tests.schema.following import write
from toolfold import relay
from toolfold.events import Events, Position, SessionKey, Watch
from toolfold.relay import positions_in, relaying, telling, texts
from toolfold.settings import Settings
from toolfold.store import exchange
from toolfold.store.engine import Database
from toolfold.store.exchange import MAX_TEXT_BYTES
from toolfold.store.tables import message_table, session_table


@dataclass(slots=True)
class Process:
    """What one process has open."""

    database: Database
    events: Events

    async def write(self, session: str = "s") -> SessionKey:
        """Write a message to a session, publish, and return the session's key."""
        counts = await write(self.database, self.events, text_message(), session=session)
        return "default", counts.sessions[0].session_id

    async def write_in_silence(self, session: str = "s") -> SessionKey:
        """Write a message without a word to the others, as an older program would."""
        counts = await write(self.database, Events(), text_message(), session=session)
        return "default", counts.sessions[0].session_id


@contextlib.asynccontextmanager
async def process(settings: Settings) -> AsyncIterator[Process]:
    database = await Database.open(settings)
    events = Events()
    async with relaying(database, events):
        yield Process(database, events)
    await database.close()


@pytest.fixture
async def here(database_settings: Settings) -> AsyncIterator[Process]:
    async with process(database_settings) as one:
        yield one


@pytest.fixture
async def elsewhere(database_settings: Settings) -> AsyncIterator[Process]:
    async with process(database_settings) as other:
        yield other


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "SQLITE_SECONDS", 0.01)
    monkeypatch.setattr(exchange, "POSTGRESQL_SECONDS", 0.01)
    monkeypatch.setattr(relay, "RETRY_SECONDS", 0.01)


@pytest.fixture
def never_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "POSTGRESQL_SECONDS", 3_600)


async def told(watch: Watch, expected: Position) -> list[Position]:
    """Return what is told until `expected` is, in order."""
    seen: list[Position] = []
    async with asyncio.timeout(20):
        while expected not in seen:
            await watch.news()
            seen += watch.take().values()
    return seen


@pytest.mark.usefixtures("never_looks")
async def test_what_one_process_publishes_is_told_in_the_other(
    here: Process, elsewhere: Process
) -> None:
    key = await elsewhere.write()
    with here.events.watch_session(*key) as watch, here.events.watch_sessions(None) as all_:
        for revision in range(2, 5):
            await elsewhere.write()
            await told(watch, Position(*key, revision))
        assert await told(all_, Position(*key, 4))


@pytest.mark.usefixtures("never_looks")
async def test_a_process_that_follows_nothing_tells_all_by_its_end(
    here: Process, database: Database
) -> None:
    key = await here.write()
    with here.events.watch_sessions(None) as watch:
        async with telling(database) as events:
            for number in range(3):
                await write(database, events, text_message(), session=f"s{number}")
            counts = await write(database, events, text_message())
        seen = await told(watch, Position(*key, 2))
    assert counts.sessions[0].session_id == key[1]
    assert len({position.key for position in seen}) == 4


@pytest.mark.usefixtures("looks_often")
async def test_what_nobody_told_is_found_by_looking(here: Process, elsewhere: Process) -> None:
    key = await elsewhere.write()
    with here.events.watch_session(*key) as watch:
        for revision in range(2, 5):
            await elsewhere.write_in_silence()
            await told(watch, Position(*key, revision))


@pytest.mark.usefixtures("looks_often")
async def test_a_list_is_told_what_is_new_and_not_what_was_there(
    here: Process, elsewhere: Process
) -> None:
    old = [await elsewhere.write_in_silence(f"old {number}") for number in range(5)]
    with here.events.watch_sessions("default") as watch:
        with here.events.watch_session(*old[0]) as probe:
            # Who has just begun to follow a session is told where it is: by a look at the list too.
            await told(probe, Position(*old[0], 1))
        assert watch.take().keys() == {old[0]}
        first = await elsewhere.write_in_silence("new")
        second = await elsewhere.write_in_silence("old 3")
        seen = await told(watch, Position(*second, 2))
        assert {position.key for position in seen} == {first, second}


@pytest.mark.usefixtures("looks_often")
async def test_a_deletion_is_found_by_looking(here: Process, elsewhere: Process) -> None:
    key = await elsewhere.write()
    with here.events.watch_session(*key) as watch:
        await told(watch, Position(*key, 1))

        def remove(connection: Any) -> None:
            connection.execute(delete(message_table))
            connection.execute(delete(session_table))

        await elsewhere.database.write(remove)
        assert await told(watch, Position(*key, None))


@pytest.mark.usefixtures("looks_often")
@pytest.mark.parametrize("dialect", ["postgresql"])
async def test_a_connection_that_breaks_is_made_again(
    here: Process, elsewhere: Process, caplog: pytest.LogCaptureFixture
) -> None:
    key = await elsewhere.write()
    listeners = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify%' OR query = 'SELECT 1')"
    )
    with here.events.watch_session(*key) as watch:
        async with here.database.read() as connection:
            ended = (await connection.execute(listeners)).all()
        assert ended
        await elsewhere.write()
        await told(watch, Position(*key, 2))
    assert "Positions are not carried" in caplog.text


def test_positions_are_carried_whole_however_many() -> None:
    positions = [Position("default", str(number), number) for number in range(1, 2_000)]
    positions.append(Position("q", "é/ 'x'", None))
    carried = list(texts(positions))
    assert len(carried) > 1
    assert max(len(text.encode()) for text in carried) <= MAX_TEXT_BYTES
    assert [position for text in carried for position in positions_in(text)] == positions


def test_a_position_that_is_too_long_is_left_out() -> None:
    short = Position("p", "s", 1)
    (carried,) = texts([Position("p", "x" * 8_000, 1), short])
    assert positions_in(carried) == [short]


@pytest.mark.parametrize("text", ["", "1", "[1]", '[["a"]]', "{"])
def test_a_text_that_holds_no_positions_is_passed_over(text: str) -> None:
    assert positions_in(text) == []
