import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toolfold.cli.database_place import url_without_password
from toolfold.cli.options import command_with
from toolfold.settings import Settings

URL = "postgresql://me:secret@localhost/history"
SHOWN = "postgresql://me@localhost/history"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, SHOWN),
        (f"{URL}?password=secret&passfile=secret&ssl=require", f"{SHOWN}?ssl=require"),
        ("postgresql://me:sec@ret@localhost/history", None),
        ("secret", None),
        ("postgresql://me:secret@localhost:port/history", None),
    ],
)
def test_no_part_of_a_password_is_shown(url: str, shown: str | None) -> None:
    assert url_without_password(url) == shown


def test_a_database_that_cannot_be_used_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x" / "toolfold.db"
    path.parent.mkdir()
    path.write_bytes(b"no database at all, but long enough" * 99)
    for command in ("list", "migrate", "doctor", "serve"):
        result = run(command, "--data-dir", path.parent)
        reason = "The database cannot be used: file is not a database"
        assert (result.exit_code, result.stderr) == (1, f"Error: {path}: {reason}\n")
    absent = run("list", "--data-dir", tmp_path / "absent")
    assert absent.stderr.count(str(tmp_path / "absent" / "toolfold.db")) == 1


def test_a_folder_that_cannot_be_written_is_told_with_what_to_do(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "x"
    assert run("migrate", "--data-dir", folder).exit_code == 0
    # To root, under whom tests may run, every folder is writable: a folder is in the way instead.
    (folder / "toolfold.db-wal").unlink(missing_ok=True)
    (folder / "toolfold.db-wal").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (folder, os.W_OK))
    result = run("list", "--data-dir", folder)
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {folder}/toolfold.db: The database cannot be used: unable to open database file."
        f" SQLite writes beside the file even to read: make {folder} writable.\n"
    )


@pytest.mark.parametrize(
    ("environment", "settings", "hint"),
    [
        ({}, Settings(), "toolfold list"),
        ({}, Settings(port=1), "toolfold list"),
        ({}, Settings(data_dir=Path("/x y")), "toolfold list --data-dir '/x y'"),
        ({}, Settings(database_url=URL), f"toolfold list --database-url {SHOWN}"),
        ({"TOOLFOLD_DATABASE_URL": URL}, Settings(database_url=URL), "toolfold list"),
        (
            {"TOOLFOLD_DATABASE_URL": "postgresql://other/x"},
            Settings(database_url=URL),
            f"toolfold list --database-url {SHOWN}",
        ),
        (
            {"TOOLFOLD_DATABASE_URL": URL},
            Settings(),
            f"toolfold list --data-dir {Settings().data_dir}",
        ),
        (
            {"TOOLFOLD_DATA_DIR": "/x"},
            Settings(),
            f"toolfold list --data-dir {Settings().data_dir}",
        ),
        ({"TOOLFOLD_DATA_DIR": "/x"}, Settings(data_dir=Path("/x")), "toolfold list --data-dir /x"),
    ],
)
def test_a_hint_leads_to_the_same_database(
    environment: dict[str, str], settings: Settings, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TOOLFOLD_DATABASE_URL", "TOOLFOLD_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert command_with(settings, "list") == hint
