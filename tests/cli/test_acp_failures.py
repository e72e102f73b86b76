"""What keeps `toolfold acp` from recording: the agent and the editor notice none of it."""

import contextlib
import fcntl
import os
import re
import resource
import signal
import sqlite3
import struct
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import orjson
import pytest

from tests.acp_conversation import DATA, Spoken, spoken
from tests.cli.acp_editor import (
    agent_of,
    converse,
    end,
    left_over,
    middle,
    record_rest,
    scripted,
    wait_for,
)
from tests.cli.conftest import Run
from tests.cli.serving import graphql_url, serving
from tests.cli.test_acp import exported, imported
from toolfold.cli import acp_notice
from toolfold.cli.acp_notice import Notice
from toolfold.importers.acp.methods import Side
from toolfold.proxy import places, spool
from toolfold.proxy.frames import FROM_AGENT, TO_AGENT, frame, read_frame
from toolfold.proxy.frames import Run as SpooledRun
from toolfold.proxy.recorder import MODULE
from toolfold.settings import Settings
from toolfold.store import sqlite

LOG = DATA / "acp_gemini.ndjson"
LINES = spoken(LOG)
HALF = middle(LINES)


def spool_of(settings: Settings, lines: list[Spoken], project: str = "default") -> Path:
    """Write a spool, as it is after `toolfold acp` and its recorder have been killed."""
    path, descriptor = spool.create(settings, SpooledRun(project, "agent"))
    os.close(descriptor)
    go_on(path, lines)
    return path


def go_on(path: Path, lines: list[Spoken]) -> None:
    """Write on in a spool that nobody writes."""
    with path.open("ab") as file:
        for side, raw in lines:
            file.write(frame(TO_AGENT if side is Side.CLIENT else FROM_AGENT, raw + b"\n"))


def spooled_bytes(settings: Settings) -> int:
    """Return how many bytes of what went through are in the spools; whoever begins is late."""
    count = 0
    for path in left_over(settings):
        with path.open("rb") as file:
            file.readline()
            count += sum(len(one.data) for one in iter(lambda: read_frame(file), None))
    return count


def recorder_of(path: Path) -> int | None:
    """Return the process that records a spool, None if there is none."""
    wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, spool.RECORDER, 1, 0)
    with path.open("r+b") as file:
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, wanted))
    return None if kind == fcntl.F_UNLCK else int(pid)


def kill_recorder(path: Path) -> None:
    """Kill the process that records a spool, also one that is about to begin."""
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if {MODULE, str(path)} <= set(command.read_text().split("\0")):
                os.kill(int(command.parent.name), signal.SIGKILL)


def test_what_was_spooled_until_the_proxy_was_killed_is_recorded(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    with agent_of(*scripted(tmp_path, LINES)) as process:
        converse(process, LINES[:HALF])
        wait_for(lambda: spooled_bytes(settings), sum(len(raw) + 1 for _, raw in LINES[:HALF]))
        process.kill()
        process.wait(30)
    record_rest(settings, run)
    half = tmp_path / "half.ndjson"
    half.write_bytes(b"".join(raw + b"\n" for _, raw in LINES[:HALF]))
    assert exported(run) == imported(run, half, tmp_path)


@pytest.mark.linux
def test_a_recorder_that_is_killed_is_not_noticed(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    with agent_of(*scripted(tmp_path, LINES)) as process:
        converse(process, LINES[:HALF])
        wait_for(lambda: len(left_over(settings)), 1)
        [path] = left_over(settings)
        wait_for(lambda: recorder_of(path) is not None, expected=True)
        kill_recorder(path)
        converse(process, LINES[HALF:])
        assert end(process) == (0, b"", b"")
    record_rest(settings, run)
    assert exported(run) == imported(run, LOG, tmp_path)


def test_a_server_that_is_killed_midway_is_not_noticed(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    with serving() as (server, _), agent_of(*scripted(tmp_path, LINES)) as process:
        converse(process, LINES[:HALF])
        wait_for(lambda: bool(run("list").stdout), expected=True)
        server.kill()
        converse(process, LINES[HALF:])
        assert end(process) == (0, b"", b"")
    record_rest(settings, run)
    assert exported(run) == imported(run, LOG, tmp_path)
    assert run("doctor").exit_code == 0


@pytest.mark.linux
def test_a_database_that_cannot_be_used_leaves_the_spool_for_the_next_run(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    database = settings.data_dir / sqlite.FILE_NAME
    whole = database.read_bytes()
    database.write_bytes(b"no database at all, but long enough" * 99)
    with agent_of(*scripted(tmp_path, LINES)) as process:
        converse(process, LINES)
        assert end(process) == (0, b"", b"")
        [path] = left_over(settings)
        kill_recorder(path)
        told = run("acp", "--record")
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr.startswith(f"Error: {path}: {database}: ")
    database.write_bytes(whole)
    with agent_of(sys.executable, "-c", "print('other', flush=True)") as process:
        assert end(process) == (0, b"other\n", b"")
    wait_for(lambda: len(left_over(settings)), 0)
    assert exported(run) == imported(run, LOG, tmp_path)


def test_what_keeps_another_process_from_recording_is_told_and_when_it_tries_again(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    database = settings.data_dir / sqlite.FILE_NAME
    whole = database.read_bytes()
    database.write_bytes(b"no database at all, but long enough" * 99)
    with agent_of(*scripted(tmp_path, LINES)) as process:
        converse(process, LINES[:HALF])
        notice = wait_for_notice(settings)
        told = run("acp", "--record")
        [path] = left_over(settings)
        assert (told.exit_code, told.stdout) == (1, "")
        again = f"{notice.again_at.astimezone():%H:%M:%S}"
        assert told.stderr == (
            f"Error: {path}: {notice.reason.rstrip('.')}."
            f" The process that records it tries again at {again}.\n"
        )
        assert str(database) in told.stderr
        log = (places.folder(settings) / places.LOG).read_text(encoding="utf-8")
        assert log.count(f"{path.name}: not recorded yet: {notice.reason}\n") == 1
        database.write_bytes(whole)
        converse(process, LINES[HALF:])
        assert end(process) == (0, b"", b"")
    wait_for(lambda: len(left_over(settings)), 0)
    assert acp_notice.read(path) is None
    assert exported(run) == imported(run, LOG, tmp_path)


def wait_for_notice(settings: Settings) -> Notice:
    """Wait until it is said why the only spool is not recorded, for a while to come."""

    def is_new() -> bool:
        found = [acp_notice.read(path) for path in left_over(settings)]
        return any(one and one.again_at - datetime.now(UTC) > timedelta(seconds=4) for one in found)

    wait_for(is_new, expected=True)
    [path] = left_over(settings)
    notice = acp_notice.read(path)
    assert notice is not None
    return notice


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_what_is_left_over_is_recorded_by_the_server_that_starts(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    spool_of(settings, LINES)
    with serving():
        wait_for(lambda: len(left_over(settings)), 0)
    assert exported(run) == imported(run, LOG, tmp_path)


_DELETE = "mutation ($id: ID!) { deleteSession(input: {id: $id}) { errors { message } } }"


def delete_only_session(run: Run, url: str) -> str:
    """Have a server delete the one session that there is; return the id that `list` shows."""
    session_id: str = run("list").stdout.split("\t")[0]
    found = orjson.loads(run("query", "{ sessions { nodes { id } } }").stdout)
    [variables] = found["data"]["sessions"]["nodes"]
    answer = httpx.post(url, json={"query": _DELETE, "variables": variables})
    assert answer.json() == {"data": {"deleteSession": {"errors": []}}}
    return session_id


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_session_that_is_deleted_meanwhile_stays_deleted_and_is_told_once(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    with serving() as (_, said), agent_of(*scripted(tmp_path, LINES)) as process:
        converse(process, LINES[:HALF])
        wait_for(lambda: bool(run("list").stdout), expected=True)
        session_id = delete_only_session(run, graphql_url(said))
        converse(process, LINES[HALF:])
        assert end(process) == (0, b"", b"")
        wait_for(lambda: len(left_over(settings)), 0)
    assert run("list").stdout == ""
    log = (places.folder(settings) / places.LOG).read_text(encoding="utf-8")
    assert re.findall(r"acp: session (.*) was deleted", log) == [session_id]


@pytest.mark.linux
def test_a_session_that_was_deleted_stays_so_when_another_process_records_the_rest(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    with serving() as (_, said), agent_of(*scripted(tmp_path, LINES)) as process:
        converse(process, LINES[:HALF])
        wait_for(lambda: bool(run("list").stdout), expected=True)
        [path] = left_over(settings)
        kill_recorder(path)
        process.kill()
        process.wait(30)
        delete_only_session(run, graphql_url(said))
    go_on(path, LINES[HALF:])
    told = run("acp", "--record")
    assert (told.exit_code, told.stderr) == (0, "")
    agent = Path(sys.executable).name
    deleted = f"1 session of {agent} deleted meanwhile; there is nothing else to record."
    assert told.stdout.splitlines()[0] == f"{path.name}: {deleted}"
    assert left_over(settings) == []
    assert run("list").stdout == ""


def set_status(settings: Settings, status: str) -> None:
    """Give every session a status."""
    with contextlib.closing(sqlite3.connect(settings.data_dir / sqlite.FILE_NAME)) as database:
        database.execute("UPDATE session SET status = ?", (status,))
        database.commit()


def test_what_an_archived_session_refused_is_recorded_once_it_is_reopened(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    assert run("import", LOG).exit_code == 0
    set_status(settings, "archived")
    spool_of(settings, LINES)
    result = run("acp", "--record")
    assert result.exit_code == 1
    assert "is archived" in result.stderr
    assert len(left_over(settings)) == 1
    set_status(settings, "active")
    record_rest(settings, run)
    assert exported(run) == imported(run, LOG, tmp_path)


def test_a_folder_that_cannot_be_written_to_is_one_line_in_the_agent_s_log(
    settings: Settings, tmp_path: Path
) -> None:
    place = settings.data_dir / sqlite.FILE_NAME
    with agent_of(*scripted(tmp_path, LINES), options=("--data-dir", place)) as process:
        converse(process, LINES)
        code, output, errors = end(process)
    assert (code, output, errors.count(b"\n")) == (0, b"", 1)
    assert errors.startswith(b"toolfold: not all of this could be recorded: [Errno ")


def test_a_setting_that_cannot_be_used_is_one_line_in_the_agent_s_log(tmp_path: Path) -> None:
    command = scripted(tmp_path, LINES)
    with agent_of(*command, environment={"TOOLFOLD_MAX_ROWS": "many"}) as process:
        converse(process, LINES)
        code, output, errors = end(process)
    assert (code, output, errors.count(b"\n")) == (0, b"", 1)
    assert b"TOOLFOLD_MAX_ROWS" in errors
    assert errors.endswith(b"got 'many'.\n")


@pytest.mark.linux
def test_a_disk_that_is_full_loses_nothing_but_what_it_does_not_take(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    command = scripted(tmp_path, LINES)
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = sum(len(raw) for _, raw in LINES[:HALF])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, allowed[1]))
    try:
        with agent_of(*command) as process:
            converse(process, LINES)
            code, output, errors = end(process)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    assert (code, output) == (0, b"")
    assert errors == b"toolfold: not all of this could be recorded: File too large.\n"
    for path in left_over(settings):
        kill_recorder(path)
    record_rest(settings, run)
    [[_, *messages]] = exported(run)
    [[_, *whole]] = imported(run, LOG, tmp_path)
    assert messages
    assert messages[:-1] == whole[: len(messages) - 1]


def test_a_spool_that_cannot_be_read_is_named_and_the_others_are_recorded(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    first = spool_of(settings, LINES)
    other = first.with_name("0.acp")
    other.write_bytes(b'{"toolfoldAcp":99}\n')
    cut = spool_of(settings, LINES, project="mine")
    cut.write_bytes(cut.read_bytes()[:-5])
    result = run("acp", "--record")
    assert result.exit_code == 1
    assert result.stderr == f"Error: {other}: not a spool of this version\n"
    assert result.stdout.splitlines()[:2] == [
        f"{first.name}: 1 session of agent recorded, 40 messages added.",
        f"{cut.name}: 1 session of agent recorded, 40 messages added.",
    ]
    assert left_over(settings) == [other]
    other.unlink()
    assert run("acp", "--record").stdout == "There is nothing left over to record.\n"
    assert exported(run, "--project", "default") == imported(run, LOG, tmp_path)


def test_a_spool_of_an_agent_that_runs_is_left_to_it(settings: Settings, run: Run) -> None:
    with agent_of("cat") as process:
        assert process.stdin is not None
        process.stdin.write(b"x")
        wait_for(lambda: len(left_over(settings)), 1)
        result = run("acp", "--record")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "in use" in result.stdout
        assert len(left_over(settings)) == 1
        assert end(process) == (0, b"x", b"")
