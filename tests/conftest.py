"""Fixtures for every test: a fresh database of either kind, and the event loop that tests use.

A test that asks for `database` or `database_settings` runs once on SQLite and once on PostgreSQL,
which is at TOOLFOLD_TEST_DATABASE_URL, else at 127.0.0.1:5432 for the user postgres. Where none
answers, the tests on it are left out and the summary says so; in CI that is an error.
"""

import asyncio
import dataclasses
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import postgresql
from tests.left_out import leave_out, line
from tests.reliability import small_disk
from toolfold.settings import Settings
from toolfold.store import dialect as dialects
from toolfold.store import engine, sqlite
from toolfold.store.engine import Database

DIALECTS = ("sqlite", "postgresql")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks of tests that need what only Linux has, and only its root may."""
    config.addinivalue_line("markers", "linux: needs what Linux has in /proc and /dev.")
    config.addinivalue_line("markers", "small_disk: mounts a disk of its own.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests on what this machine lacks, except in CI."""
    on_postgresql = [item for item in items if _dialect_of(item) == "postgresql"]
    if on_postgresql and (problem := postgresql.problem()):
        leave_out(config, items, on_postgresql, f"PostgreSQL ({problem})")
    on_linux = [item for item in items if item.get_closest_marker("linux")]
    if on_linux and not Path("/proc/thread-self/io").exists():
        leave_out(config, items, on_linux, "Linux")
    on_small_disk = [item for item in items if item.get_closest_marker("small_disk")]
    if on_small_disk and (problem := small_disk.problem()):
        leave_out(config, items, on_small_disk, f"to mount ({problem})")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say in one line what was left out."""
    if told := line(config):
        terminalreporter.write_line(told)


@pytest.fixture
def hops(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """What grows with each hop to a thread of SQLite's."""
    hops: list[None] = []
    execute = dialects.InterruptibleConnection._execute  # noqa: SLF001 - what every hop goes through.

    async def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        hops.append(None)
        return await execute(self, *args, **kwargs)

    monkeypatch.setattr(dialects.InterruptibleConnection, "_execute", counted)
    return hops


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, which SQLAlchemy needs."""
    return "asyncio"


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    """Return which database the test runs on; parametrize it to choose."""
    name: str = request.param
    return name


@pytest.fixture
def empty_database_settings(dialect: str, tmp_path: Path) -> Iterator[Settings]:
    """Return settings that name a database without any table: on SQLite, no file yet."""
    settings = Settings(data_dir=tmp_path / "empty")
    if dialect == "sqlite":
        yield settings
        return
    with postgresql.new_database() as url:
        yield dataclasses.replace(settings, database_url=url)


@pytest.fixture
def database_settings(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Settings]:
    """Return settings that name a database of the current schema, with no session."""
    settings = Settings(data_dir=tmp_path / "data")
    if dialect == "sqlite":
        settings.data_dir.mkdir(mode=0o700)
        shutil.copy(request.getfixturevalue("_sqlite_template"), settings.data_dir)
        yield settings
        return
    pool: postgresql.Pool = request.getfixturevalue("_postgresql_pool")
    with pool.database() as url:
        yield dataclasses.replace(settings, database_url=url)


@pytest.fixture
async def database(database_settings: Settings) -> AsyncIterator[Database]:
    """Open a database of the current schema, with no session."""
    database = await Database.open(database_settings)
    yield database
    await database.close()


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = Settings(data_dir=tmp_path_factory.mktemp("template"))
    asyncio.run(engine.migrate(settings))
    return settings.data_dir / sqlite.FILE_NAME


@pytest.fixture(scope="session")
def _postgresql_pool() -> Iterator[postgresql.Pool]:
    pool = postgresql.Pool()
    yield pool
    pool.close()


def _dialect_of(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get("dialect")
