"""Commands as tests run them: in process, or as a process of their own where that matters."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.builders import store_session
from toolfold.cli.commands import program
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.transcript import Message

Run = Callable[..., Result]
Store = Callable[..., None]
TOOLFOLD = (sys.executable, "-c", "from toolfold.cli import main; main()")
"""The console script, whatever is on the path."""


@pytest.fixture
def dialect() -> str:
    """Run tests of commands on SQLite; a test that names a dialect chooses for itself."""
    return "sqlite"


@pytest.fixture
def settings(database_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings of an empty database, and make the environment say the same."""
    for name in list(os.environ):
        if name.startswith(("TOOLFOLD_", "CHAT_COMPACT")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TOOLFOLD_DATA_DIR", str(database_settings.data_dir))
    monkeypatch.setenv("TOOLFOLD_DATABASE_URL", database_settings.database_url)
    return database_settings


@pytest.fixture
def run(settings: Settings) -> Run:  # noqa: ARG001 (it sets the environment)
    """Run a command in process; its result has `exit_code`, `stdout` and `stderr`."""

    def run(*arguments: object, **options: Any) -> Result:
        result = CliRunner().invoke(program, [str(argument) for argument in arguments], **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def store(settings: Settings) -> Store:
    """Store a session of these messages."""

    def store(messages: Sequence[Message] = (), **columns: Any) -> None:
        async def write() -> None:
            database = await Database.open(settings)
            await store_session(database, messages, **columns)
            await database.close()

        asyncio.run(write())

    return store


def process(
    *arguments: object,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    toolfold: Sequence[str] = TOOLFOLD,
) -> "subprocess.Popen[bytes]":
    """Start a command as a process of its own; close its pipes by using it in a `with`."""
    command = [*toolfold, *map(str, arguments)]
    return subprocess.Popen(command, stdout=stdout, stderr=stderr)  # noqa: S603 (our own)
