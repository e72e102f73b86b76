import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests import claude_tree
from tests.builders import text_message
from tests.cli.conftest import TOOLFOLD, Run, Store, process
from toolfold.cli.commands import program
from toolfold.events import Events, SessionKey
from toolfold.relay import relaying
from toolfold.settings import Settings
from toolfold.store import exchange
from toolfold.store.engine import Database


def test_toolfold_alone_and_every_command_explain_themselves(run: Run) -> None:
    assert "Commands:" in run("--help").output
    context = click.Context(program)
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
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
    for command in ("list", "migrate", "sample", "doctor"):
        result = run(command, "--database-url", "postgresql://nobody:secret@127.0.0.1:1/none")
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        place = "Error: postgresql://nobody@127.0.0.1:1/none: The database cannot be used: "
        assert result.stderr.startswith(place)


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


def test_the_sample_says_where_it_is_in_a_browser(run: Run) -> None:
    (address,) = re.findall(r"http://127\.0\.0\.1:7878/sessions/(\S+)", run("sample").stdout)
    answer = run("query", f'{{ session(id: "{address}") {{ messageCount }} }}')
    assert json.loads(answer.stdout) == {"data": {"session": {"messageCount": 400}}}


@pytest.mark.parametrize("dialect", ["postgresql"])
def test_a_server_hears_of_what_a_command_wrote(
    run: Run, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = claude_tree.write(tmp_path / "tree", sessions=1, total_bytes=10_000)

    async def hears(*arguments: object, sessions: int) -> None:
        database = await Database.open(settings)
        events = Events()
        seen: set[SessionKey] = set()
        async with relaying(database, events), asyncio.timeout(60):
            with events.watch_sessions(None) as watch:
                await asyncio.to_thread(run, *arguments)
                while len(seen) < sessions:
                    await watch.news()
                    seen.update(watch.take())
        await database.close()

    monkeypatch.setattr(exchange, "POSTGRESQL_SECONDS", 3_600)
    asyncio.run(hears("import", tree.root, sessions=len(tree.transcripts)))
    asyncio.run(hears("sample", sessions=2))


def test_the_list_of_commands_says_the_first_sentence_of_each(run: Run) -> None:
    listed = run("--help").stdout.partition("Commands:")[2].splitlines()[1:]
    context = click.Context(program)
    for line, name in zip(listed, program.list_commands(context), strict=True):
        command = program.get_command(context, name)
        assert command is not None
        assert line.split() == [name, *str(command.help).split("\n\n")[0].split()]


def test_a_command_loads_no_other_one() -> None:
    code = (
        "import sys\n"
        "from toolfold.cli.commands import program\n"
        "program(sys.argv[1:], standalone_mode=False)\n"
        "print('uvicorn' in sys.modules)"
    )
    arguments = [sys.executable, "-c", code, "list", "--help"]
    done = subprocess.run(arguments, capture_output=True, check=True)  # noqa: S603 (our own)
    assert done.stdout.endswith(b"False\n")


NOT_TEXT = os.fsdecode(b"a\xff")


@pytest.mark.parametrize(
    "command",
    [
        ["list", "--project", NOT_TEXT],
        ["list", "--database-url", f"postgresql://{NOT_TEXT}"],
        ["import", "/", "--project", NOT_TEXT],
        ["show", NOT_TEXT],
        ["show", "s", "--project", NOT_TEXT],
        ["export", NOT_TEXT],
        ["query", NOT_TEXT],
        ["query", "{ limits { maxRows } }", "--variables", NOT_TEXT],
    ],
)
def test_an_argument_that_is_no_text_is_one_line(run: Run, command: list[str]) -> None:
    result = run(*command)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("Error: An argument is not UTF-8 text: ")
    assert result.stderr.endswith("a\\xff.\n")


def test_files_may_have_names_that_are_no_text(run: Run, store: Store, tmp_path: Path) -> None:
    store()
    path = tmp_path / NOT_TEXT
    assert run("export", "session-1", "--output", path).exit_code == 0
    assert run("import", path, "--data-dir", tmp_path / f"{NOT_TEXT}-data").exit_code == 0
    assert run("list", "--data-dir", tmp_path / f"{NOT_TEXT}-data").stdout.count("\n") == 1
    absent = run("import", tmp_path / f"{NOT_TEXT}-absent")
    assert absent.stderr == f"Error: {tmp_path}/a?-absent: does not exist.\n"


COMMANDS = [
    *(["--help"], ["list"], ["schema"], ["export", "session-1"]),
    *(["query", "{ limits { maxRows } }"], ["serve", "--port", "0"]),
]


@pytest.mark.linux
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_output_that_cannot_be_written_is_one_line(store: Store, command: list[str]) -> None:
    store([text_message("Hi")])
    with Path("/dev/full").open("wb") as full, process(*command, stdout=full.fileno()) as started:
        _, errors = started.communicate(timeout=60)
    assert started.returncode == 1
    assert errors == b"Error: The output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_reader_that_has_gone_away_gets_no_traceback(store: Store, command: list[str]) -> None:
    store([text_message("Hi")])
    ours, theirs = os.pipe()
    os.close(ours)
    with process(*command, stdout=theirs) as started:
        os.close(theirs)
        _, errors = started.communicate(timeout=60)
    assert (started.returncode, errors) == (1, b"")


@pytest.mark.parametrize(
    ("command", "code"),
    [("list", 0), ("schema", 0), ("show session-1", 0), ("export session-1", 0), ("query -", 1)],
)
def test_streams_that_the_shell_closed_do_not_stop_a_command(
    store: Store, command: str, code: int
) -> None:
    store([text_message("Hi")])
    shell = ["sh", "-c", f'"$@" {command} <&- >&-', "sh", *TOOLFOLD]
    done = subprocess.run(shell, capture_output=True, check=False)  # noqa: S603 (our own)
    expected = b"" if code == 0 else b"Error: The document is empty.\n"
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", expected)


@pytest.mark.parametrize("module", ["click", "toolfold.cli.program", "sqlalchemy", "strawberry"])
def test_ctrl_c_while_modules_are_imported_ends_as_it_does_later(module: str) -> None:
    code = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from toolfold.cli import main\n"
        "main()"
    )
    command = [sys.executable, "-c", code, "list"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 (our own)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"Stopped.\n")
