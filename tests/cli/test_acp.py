"""`toolfold acp` between an editor and an agent, each a process of its own."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.acp_conversation import DATA, logs, spoken
from tests.cli.acp_editor import (
    agent_of,
    converse,
    end,
    end_with,
    left_over,
    middle,
    python_agent,
    read,
    record_rest,
    scripted,
    wait_for,
)
from tests.cli.conftest import TOOLFOLD, Run
from tests.cli.serving import serving
from toolfold.settings import Settings

GEMINI = DATA / "acp_gemini.ndjson"
TIMES = {"createdAt", "updatedAt", "startedAt", "endedAt"}


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in TIMES}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def exported(run: Run, *options: object) -> list[list[Any]]:
    """Return every session of a database as its export has it, without times."""
    listed = run("list", "--children", *options).stdout.splitlines()
    ids = sorted(line.split("\t")[0] for line in listed)
    exports = [run("export", one, *options).stdout_bytes for one in ids]
    return [[without_times(orjson.loads(line)) for line in one.splitlines()] for one in exports]


def counts(run: Run) -> list[tuple[str, int]]:
    """Return status and number of messages of every session."""
    document = "{ sessions { nodes { status messageCount } } }"
    nodes = orjson.loads(run("query", document).stdout)["data"]["sessions"]["nodes"]
    return [(node["status"].lower(), node["messageCount"]) for node in nodes]


def imported(run: Run, log: Path, folder: Path) -> list[list[Any]]:
    """Return what an import of a log makes of it in a database of its own."""
    place = ("--data-dir", folder / "imported")
    assert run("import", log, *place).exit_code == 0
    return exported(run, *place)


@pytest.mark.parametrize(
    ("log", "dialect", "is_served"),
    [
        pytest.param(log, dialect, is_served, id=f"{log.name}-{dialect}-{place}")
        for log in logs()
        for dialect in ("sqlite", "postgresql")
        for is_served, place in ((False, "alone"), (True, "beside a server"))
        # Those that were captured are long: each way through is shown by the others.
        if log.parent == DATA or (dialect, is_served) == ("sqlite", False)
    ],
    indirect=["dialect"],
)
def test_every_byte_passes_and_the_session_is_what_an_import_makes_of_it(
    settings: Settings, run: Run, tmp_path: Path, log: Path, *, is_served: bool
) -> None:
    lines = spoken(log)
    with contextlib.ExitStack() as stack:
        if is_served:
            stack.enter_context(serving())
        with agent_of(*scripted(tmp_path, lines)) as process:
            converse(process, lines)
            assert end(process) == (0, b"", b"")
        record_rest(settings, run)
    recorded = exported(run)
    assert recorded
    assert recorded == imported(run, log, tmp_path)
    assert run("doctor").exit_code == 0


def test_what_is_said_can_be_followed_while_the_agent_works(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    lines = spoken(GEMINI)
    half = middle(lines)
    begun = tmp_path / "begun.ndjson"
    begun.write_bytes(b"".join(raw + b"\n" for _, raw in lines[:half]))
    first, last = (len(imported(run, log, tmp_path / log.stem)[0]) - 1 for log in (begun, GEMINI))
    with agent_of(*scripted(tmp_path, lines)) as process:
        converse(process, lines[:half])
        wait_for(lambda: counts(run), [("active", first)])
        converse(process, lines[half:])
        wait_for(lambda: counts(run), [("active", last)])
        assert end(process)[0] == 0
    record_rest(settings, run)
    assert counts(run) == [("completed", last)]


def test_bytes_that_are_no_messages_pass_too_and_leave_nothing(settings: Settings) -> None:
    data = os.urandom(32 * 1024 * 1024)
    with agent_of("cat") as process:
        assert end_with(process, data) == (0, data, b"")
    wait_for(lambda: len(left_over(settings)), 0)


def test_a_message_of_a_hundred_megabytes_passes_and_is_recorded(
    settings: Settings, run: Run
) -> None:
    said = b"x" * 100_000_000
    head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    content = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%b"}}}}'
    line = head + content % said + b"\n"
    with agent_of("cat") as process:
        assert end_with(process, line) == (0, line, b"")
    record_rest(settings, run)
    document = "{ sessions { nodes { messages { nodes { contentSize } } } } }"
    [session] = orjson.loads(run("query", document).stdout)["data"]["sessions"]["nodes"]
    # The editor and the agent have both said it.
    assert [one["contentSize"] for one in session["messages"]["nodes"]] == [200_000_000]


@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_is_the_agent_s(settings: Settings, code: int) -> None:
    with python_agent(f"print('last words'); raise SystemExit({code})") as process:
        assert end(process) == (code, b"last words\n", b"")
    assert settings.data_dir.is_dir()


def test_an_agent_that_dies_by_a_signal_takes_no_byte_with_it(settings: Settings) -> None:
    code = "import os\nos.write(1, b'x' * 50_000)\nos.kill(os.getpid(), 9)"
    with python_agent(code) as process:
        assert end(process) == (-signal.SIGKILL, b"x" * 50_000, b"")
    assert settings.data_dir.is_dir()


@pytest.fixture(params=[signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def taken_signal(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """A signal that new processes do not ignore, as they would one that is ignored here (nohup)."""
    number: signal.Signals = request.param
    before = signal.getsignal(number)
    if before is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
    yield number
    signal.signal(number, before)


@pytest.mark.usefixtures("settings")
def test_a_signal_reaches_the_agent(taken_signal: signal.Signals) -> None:
    # It waits for a signal that may have come before it does.
    code = f"""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {{{int(taken_signal)}}})
os.write(1, b"ready")
signal.sigwait({{{int(taken_signal)}}})
os.write(1, b"stopping")
raise SystemExit(5)
"""
    with python_agent(code) as process:
        assert read(process, 5) == b"ready"
        process.send_signal(taken_signal)
        assert end(process) == (5, b"stopping", b"")


@pytest.mark.usefixtures("settings")
def test_a_signal_that_the_agent_does_not_take_ends_both() -> None:
    with python_agent("print('ready', flush=True)\nimport signal; signal.pause()") as process:
        assert read(process, 6) == b"ready\n"
        process.terminate()
        assert end(process)[0] == -signal.SIGTERM


@pytest.mark.usefixtures("settings")
def test_an_agent_that_closes_its_input_lets_the_editor_know() -> None:
    code = "import os, sys\nos.close(0)\nprint('closed', flush=True)\nsys.stderr.read"
    code += "\nimport signal; signal.pause()"
    with python_agent(code) as process:
        assert read(process, 7) == b"closed\n"
        assert process.stdin is not None
        with pytest.raises(BrokenPipeError):
            process.stdin.writelines(itertools.repeat(b"x" * 4096))


@pytest.mark.usefixtures("settings")
def test_an_editor_that_reads_no_more_lets_the_agent_know() -> None:
    with python_agent("while True: print('x' * 4096, flush=True)") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 1  # Python's, for a pipe that is broken.


@pytest.mark.usefixtures("settings")
def test_what_an_agent_leaves_running_does_not_hold_up_the_end() -> None:
    code = "import subprocess\nprint('bye', flush=True)\nsubprocess.Popen(['sleep', '30'])"
    with python_agent(code, environment={"PYTHONWARNINGS": "ignore"}) as process:
        assert read(process, 4) == b"bye\n"
        assert process.wait(20) == 0


@pytest.mark.usefixtures("settings")
def test_what_else_the_editor_hands_on_is_the_agent_s() -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)  # noqa: FBT003 (its only argument)
    command = (*TOOLFOLD, "acp", "--", sys.executable, "-c", f"import os; os.write({writer}, b'x')")
    subprocess.run(command, close_fds=False, check=True, stdin=subprocess.DEVNULL)  # noqa: S603 (our own)
    os.close(writer)
    assert os.read(reader, 2) == b"x"
    os.close(reader)


def test_an_agent_that_is_not_there_is_one_line(settings: Settings, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no program", encoding="utf-8")
    with agent_of("no-such-agent") as process:
        assert end(process) == (127, b"", b"Error: no-such-agent: No such file or directory.\n")
    with agent_of(text) as process:
        assert end(process) == (126, b"", f"Error: {text}: Permission denied.\n".encode())
    assert left_over(settings) == []


def test_a_command_line_without_an_agent_says_so(run: Run) -> None:
    result = run("acp")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: ")
    assert result.stderr.endswith("Error: There is no AGENT to run.\n")
    assert run("acp", "--record", "--", "cat").exit_code == 2
    assert run("acp", "--project", " ", "--", "cat").exit_code == 1


def test_sessions_go_to_the_project_and_the_folder_that_were_named(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    lines = spoken(GEMINI)
    place = ("--data-dir", tmp_path / "other")
    with agent_of(*scripted(tmp_path, lines), options=(*place, "--project=mine")) as process:
        converse(process, lines)
        assert end(process) == (0, b"", b"")
    record_rest(replace(settings, data_dir=tmp_path / "other"), run, *place)
    assert run("list", "--project", "mine", *place).stdout.count("\n") == 1
    assert (tmp_path / "other").stat().st_mode & 0o777 == 0o700
