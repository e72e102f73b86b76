import os
from pathlib import Path

import click
import pytest

from tests import claude_tree
from tests.cli.conftest import Run, Store, process
from toolfold.cli import main
from toolfold.settings import Settings


def test_toolfold_alone_and_every_command_explain_themselves(run: Run) -> None:
    assert "Commands:" in run("--help").output
    for name, command in main.commands.items():
        assert command.help, name
        result = run(name, "--help")
        assert (result.exit_code, result.stderr) == (0, "")
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help, (name, parameter.name)


def test_the_list_of_commands_fits_a_terminal(run: Run) -> None:
    assert "..." not in run("--help").output.partition("Commands:")[2]


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").stdout == "toolfold, version 0.1.0\n"


def test_a_setting_that_cannot_be_used_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLFOLD_PORT", "many")
    result = run("list")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: TOOLFOLD_PORT must be a whole number: got 'many'.\n"


def test_an_option_counts_more_than_the_environment(
    run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLFOLD_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert run("list").exit_code == 1
    assert run("list", "--data-dir", settings.data_dir).exit_code == 0


@pytest.mark.parametrize("option", ["--data-dir", "--database-url"])
@pytest.mark.parametrize("command", ["list", "migrate"])
def test_an_option_that_is_empty_is_one_line(run: Run, command: str, option: str) -> None:
    result = run(command, option, "")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {option} is empty.\n"


def test_a_home_folder_is_understood(run: Run, tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path)}
    assert run("migrate", "--data-dir", "~/data", env=environment).exit_code == 0
    assert (tmp_path / "data").is_dir()


def test_a_server_that_does_not_answer_is_one_line(run: Run) -> None:
    result = run("list", "--database-url", "postgresql://nobody@127.0.0.1:1/none")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)


def test_characters_that_the_output_does_not_have_do_not_stop_a_command(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(title="Zürich ⛅")
    monkeypatch.setenv("PYTHONIOENCODING", "iso-8859-1")
    with process("list") as listing:
        output, errors = listing.communicate(timeout=60)
    assert (listing.returncode, errors) == (0, b"")
    assert output.endswith(b"\tZ\xfcrich ?\n")


@pytest.mark.parametrize("dialect", ["postgresql"])
def test_commands_work_on_postgresql(run: Run, tmp_path: Path) -> None:
    tree = claude_tree.write(tmp_path / "tree", sessions=2, total_bytes=100_000)
    assert f"{tree.message_count} messages added." in run("import", tree.root).stdout
    assert run("sample").exit_code == 0
    assert len(run("list", "--children").stdout.splitlines()) == len(tree.transcripts) + 2
    assert run("export", "sample").stdout.count("\n") == 401
    assert run("show", "sample").exit_code == 0
    assert run("migrate").exit_code == 0
    assert run("doctor").exit_code == 0
