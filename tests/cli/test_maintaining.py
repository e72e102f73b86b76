import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.builders import text_message, tool_message
from tests.cli.conftest import Run, Store
from tests.cli.serving import serving
from toolfold.settings import Settings
from toolfold.store.sqlite import FILE_NAME


def test_doctor_says_that_a_whole_database_is_whole(run: Run, store: Store) -> None:
    store([text_message(), tool_message(["é"])])
    result = run("doctor")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Checking project default: 1 session.",
        "The database is whole.",
    ]


def test_doctor_names_what_it_finds_and_exits_with_1(run: Run, store: Store) -> None:
    store([text_message()], tool_call_count=4, content_size=9)
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "Checking project default: 1 session.",
        "session-counts: session session-1: tool_call_count is 4, and its messages have 0",
        "session-counts: session session-1: content_size is 9, and its messages have 0",
    ]
    assert result.stderr == "Error: 2 findings: session-counts 2.\n"


def test_doctor_of_a_damaged_file_is_told_and_no_traceback(
    run: Run, store: Store, settings: Settings
) -> None:
    store([tool_message(["x" * 100_000]) for _ in range(5)])
    path = settings.data_dir / FILE_NAME
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[-8_192:] = bytes(8_192)
    path.write_bytes(data)
    result = run("doctor")
    assert result.exit_code == 1
    assert "Error: " in result.stderr


def test_migrate_makes_a_database_and_says_so(run: Run, tmp_path: Path) -> None:
    result = run("migrate", "--data-dir", tmp_path / "new")
    assert (result.exit_code, result.stdout) == (0, "The database is of this version's form.\n")
    assert run("list", "--data-dir", tmp_path / "new").exit_code == 0


@pytest.mark.parametrize(
    "command",
    [["list"], ["show", "a"], ["export", "a"], ["query", "{ limits { maxRows } }"], ["doctor"]],
)
def test_a_database_that_is_not_there_is_one_line_and_is_not_made(
    run: Run, tmp_path: Path, command: list[str]
) -> None:
    result = run(*command, "--data-dir", tmp_path / "none")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("Error: ")
    assert not (tmp_path / "none").exists()


def test_a_database_is_not_migrated_beside_its_server(settings: Settings, run: Run) -> None:
    with serving("--data-dir", settings.data_dir) as (server, _):
        result = run("migrate", "--data-dir", settings.data_dir)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert f"already: process {server.pid}, at http://127.0.0.1:" in result.stderr
