"""What holds on PostgreSQL alone: URLs, versions, conflicts between transactions."""

import asyncio
import dataclasses

import pytest
from sqlalchemy import Connection, make_url, text

from tests import builders
from toolfold.errors import DatabaseError
from toolfold.settings import Settings
from toolfold.store import postgresql
from toolfold.store.engine import Database

CONFLICT = "DO $$ BEGIN RAISE EXCEPTION 'in conflict' USING ERRCODE = '{code}'; END $$"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("postgresql://me@host/name", "postgresql+asyncpg://me@host/name"),
        ("postgresql+asyncpg://me@host:1/name", "postgresql+asyncpg://me@host:1/name"),
        ("postgresql://host/name?sslmode=require", "postgresql+asyncpg://host/name?ssl=require"),
    ],
)
def test_a_url_is_read_with_its_driver(given: str, used: str) -> None:
    assert postgresql.parse_url(given) == make_url(used)


@pytest.mark.parametrize("url", ["mysql://me:secret@host/name", "sqlite:///file", "secret"])
def test_another_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(DatabaseError, match=r"^TOOLFOLD_DATABASE_URL ") as caught:
        postgresql.parse_url(url)
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("version", ["15.0", "15.20 (Debian 15.20-0+deb12u1)", "18beta1", "20.1"])
def test_a_server_of_15_or_later_serves(version: str) -> None:
    postgresql.require_version(version)


@pytest.mark.parametrize("version", ["14.19", "9.6.24", "10.0"])
def test_an_older_server_is_refused(version: str) -> None:
    with pytest.raises(DatabaseError, match=f"^PostgreSQL {version} is too old: 15 or later"):
        postgresql.require_version(version)


async def test_a_server_that_does_not_answer_is_told_in_one_line() -> None:
    settings = Settings(database_url="postgresql://postgres:secret@127.0.0.1:1/name")
    with pytest.raises(
        DatabaseError, match=r"^The database cannot be used: .*Connect call failed"
    ) as caught:
        await Database.open(settings)
    assert "\n" not in caught.value.message
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_a_database_that_is_not_there_is_told_in_one_line(
    database_settings: Settings,
) -> None:
    url = make_url(database_settings.database_url).set(database="toolfold_absent")
    settings = dataclasses.replace(
        database_settings, database_url=url.render_as_string(hide_password=False)
    )
    with pytest.raises(DatabaseError, match=r'"toolfold_absent" does not exist$'):
        await Database.open(settings, create=True)


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_a_parameter_that_is_not_known_is_told(database_settings: Settings) -> None:
    url = f"{database_settings.database_url}?colour=blue"
    settings = dataclasses.replace(database_settings, database_url=url)
    with pytest.raises(DatabaseError, match=r"^TOOLFOLD_DATABASE_URL cannot be used: .*colour"):
        await Database.open(settings)


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
@pytest.mark.parametrize("code", ["40001", "40P01", "23503", "23505"])
async def test_a_transaction_in_conflict_is_run_again(database: Database, code: str) -> None:
    attempts: list[int] = []

    def write(connection: Connection) -> str:
        attempts.append(len(attempts))
        if len(attempts) < 3:
            connection.execute(text(CONFLICT.format(code=code)))
        return "done"

    assert await database.write(write) == "done"
    assert len(attempts) == 3


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_a_conflict_without_end_is_told(database: Database) -> None:
    attempts: list[int] = []

    def write(connection: Connection) -> None:
        attempts.append(len(attempts))
        connection.execute(text(CONFLICT.format(code="40001")))

    with pytest.raises(DatabaseError, match=r"^The database failed: .*in conflict$"):
        await database.write(write)
    assert len(attempts) == postgresql.ATTEMPTS


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_a_connection_that_the_server_ended_is_replaced(database: Database) -> None:
    end = text("SELECT pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(DatabaseError, match=r"^The database failed: "):
        async with database.read() as connection:
            await connection.execute(end)
    async with database.read() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar() == 1


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_a_transaction_run_again_runs_alone(database: Database) -> None:
    attempts: list[int] = []
    other = asyncio.Event()

    async def write_beside() -> None:
        await database.write(lambda connection: builders.add_project(connection, "beside"))
        other.set()

    def write(connection: Connection) -> bool:
        attempts.append(len(attempts))
        if len(attempts) == 1:
            connection.execute(text(CONFLICT.format(code="40001")))
        beside.append(asyncio.ensure_future(write_beside()))
        # The other waits for its lock while this one asks the server something else.
        for _ in range(20):
            connection.execute(text("SELECT 1"))
        return other.is_set()

    beside: list[asyncio.Future[None]] = []
    assert await database.write(write) is False
    await beside[0]
    assert other.is_set()


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
async def test_many_new_rows_are_found_by_their_key_at_once(
    empty_database_settings: Settings,
) -> None:
    database = await Database.open(empty_database_settings, create=True)
    await builders.store_session(database, [builders.text_message("a" * 500) for _ in range(1_000)])
    await database.close()
    database = await Database.open(empty_database_settings)
    async with database.read() as connection:
        plan = await connection.execute(
            text(
                "EXPLAIN SELECT 1 FROM message"
                " WHERE project_id = :project AND session_id = :session AND sequence = 3"
            ),
            {"project": builders.PROJECT, "session": builders.SESSION},
        )
        steps = [step for (step,) in plan]
    await database.close()
    assert "using pk_message on message" in steps[0]
