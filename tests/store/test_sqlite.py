"""What holds on SQLite alone: the library, the file, and two processes on it."""

import asyncio
import stat
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from tests import builders
from tests.store.opening import opened
from toolfold.errors import DatabaseError
from toolfold.settings import Settings
from toolfold.store import dialect as dialects
from toolfold.store import project, sqlite
from toolfold.store.engine import Database

ADD_PROJECTS = """
import asyncio, sys
from pathlib import Path
from toolfold.settings import Settings
from toolfold.store import project
from toolfold.store.engine import Database

async def main(folder, name):
    print("ready", flush=True)
    sys.stdin.readline()
    database = await Database.open(Settings(data_dir=Path(folder)), create=True)
    for number in range(20):
        await database.write(lambda connection: project.create(connection, f"{name} {number}"))
    await database.close()

asyncio.run(main(*sys.argv[1:]))
"""

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

on_sqlite = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)


@pytest.mark.parametrize(
    ("version", "is_safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 53, 4), True),
        ((4, 0, 0), True),
    ],
)
def test_a_library_that_can_lose_data_is_not_safe(
    version: tuple[int, ...], *, is_safe: bool
) -> None:
    if is_safe:
        sqlite.require_safe_library(version)
    else:
        with pytest.raises(DatabaseError, match=rf"^SQLite {'.'.join(map(str, version))} can lose"):
            sqlite.require_safe_library(version)


def test_without_pysqlite3_the_standard_module_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dialects.import_sqlite().__name__ == "pysqlite3.dbapi2"
    monkeypatch.setitem(sys.modules, "pysqlite3.dbapi2", None)
    assert dialects.import_sqlite().__name__ == "sqlite3.dbapi2"


@on_sqlite
async def test_a_database_is_not_opened_with_an_unsafe_library(
    empty_database_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialects.MODULE, "sqlite_version_info", (3, 40, 1))
    with pytest.raises(DatabaseError, match=r"SQLite 3\.40\.1 can lose committed data"):
        await Database.open(empty_database_settings, create=True)
    assert not empty_database_settings.data_dir.exists()


@on_sqlite
async def test_folder_and_file_are_the_owners_alone(empty_database_settings: Settings) -> None:
    async with opened(empty_database_settings, create=True) as database:
        await database.write(lambda connection: builders.add_project(connection, "a"))
        folder = empty_database_settings.data_dir
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert modes == {"toolfold.db": 0o600, "toolfold.db-shm": 0o600, "toolfold.db-wal": 0o600}
    assert [path.name for path in folder.iterdir()] == ["toolfold.db"]


async def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DatabaseError, match=r"^Cannot make the database .*: .*\.$"):
        await Database.open(Settings(data_dir=tmp_path / "file" / "data"), create=True)


async def test_a_file_that_is_no_database_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "toolfold.db").write_text("This is no database. " * 100, encoding="utf-8")
    with pytest.raises(DatabaseError, match=r"^The database cannot be used: file is not a databa"):
        await Database.open(Settings(data_dir=tmp_path), create=True)


@on_sqlite
async def test_every_connection_is_set_up(database: Database) -> None:
    pragmas = ("synchronous", "foreign_keys", "journal_mode", "busy_timeout", "page_size")
    expected = [2, 1, "wal", 15_000, 8192]
    async with database.read() as connection:
        found = [(await connection.execute(text(f"PRAGMA {name}"))).scalar() for name in pragmas]
        query_only = (await connection.execute(text("PRAGMA query_only"))).scalar()
    assert [*found, query_only] == [*expected, 1]
    found = await database.write(
        lambda connection: [connection.execute(text(f"PRAGMA {name}")).scalar() for name in pragmas]
    )
    assert found == expected


@on_sqlite
async def test_a_file_that_stays_locked_is_told_in_one_line(
    database_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0)
    async with opened(database_settings) as database:
        other = dialects.MODULE.connect(database_settings.data_dir / sqlite.FILE_NAME)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseError, match=r"^The database failed: database is locked$"):
            await database.write(lambda connection: builders.add_project(connection, "a"))
        other.close()
        await database.write(lambda connection: builders.add_project(connection, "a"))


@on_sqlite
async def test_a_statement_that_begins_after_its_cancellation_is_interrupted(
    database: Database,
) -> None:
    loop, taken, cancelled = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    async with database.read() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert isinstance(driver, dialects.InterruptibleConnection)
        raw = driver._connection  # noqa: SLF001 - A statement is run as its thread runs one.

        def begin_late() -> None:
            loop.call_soon_threadsafe(taken.set)
            assert cancelled.wait(timeout=10)
            assert raw is not None
            raw.execute(ENDLESS).fetchall()

        waiting = asyncio.ensure_future(driver._execute(begin_late))  # noqa: SLF001
        await taken.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        cancelled.set()
        async with asyncio.timeout(10):
            assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1


@on_sqlite
async def test_an_error_leaves_no_open_cursor_behind(database: Database) -> None:
    async with database.read() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert isinstance(driver, dialects.InterruptibleConnection)
        # It fails at the second row, when the first has been read.
        rows = "SELECT json(value) FROM (SELECT '1' AS value UNION ALL SELECT '{')"
        with pytest.raises(dialects.MODULE.OperationalError) as caught:
            await driver.read(rows, ())
        places = [place.frame.f_locals for place in caught.traceback]
        cursors = [place["cursor"] for place in places if "cursor" in place]
        assert cursors
        for cursor in cursors:
            with pytest.raises(dialects.MODULE.ProgrammingError, match="closed cursor"):
                cursor.fetchall()


@on_sqlite
async def test_processes_create_and_write_one_file_at_once(
    empty_database_settings: Settings,
) -> None:
    folder = str(empty_database_settings.data_dir)
    pipe = asyncio.subprocess.PIPE
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", ADD_PROJECTS, folder, name, stdin=pipe, stdout=pipe, stderr=pipe
        )
        for name in ("a", "b", "c")
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    ended = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    assert [errors for _, errors in ended] == [b"", b"", b""]
    async with opened(empty_database_settings) as database, database.read() as connection:
        assert await project.count(connection) == 1 + 3 * 20
