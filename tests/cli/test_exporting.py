import os
import stat
from pathlib import Path

import pytest

from tests.builders import text_message, tool_message
from tests.cli.conftest import Run, Store, process
from toolfold.settings import Settings


@pytest.fixture(autouse=True)
def _session(store: Store) -> None:
    store([text_message("Grüße"), tool_message(["x" * 300_000])])


def test_a_session_goes_to_standard_output_as_it_goes_to_a_file(run: Run, tmp_path: Path) -> None:
    to_output = run("export", "session-1")
    to_file = run("export", "session-1", "--output", tmp_path / "out.jsonl")
    written = (tmp_path / "out.jsonl").read_bytes()
    assert written == to_output.stdout_bytes
    assert written.count(b"\n") == 3
    assert to_file.stdout == ""
    assert to_file.stderr == f"{tmp_path / 'out.jsonl'}: 300.6 kB written.\n"


def test_a_file_is_left_as_it_was_if_the_export_fails(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("before", encoding="utf-8")
    result = run("export", "none", "--output", path)
    assert result.exit_code == 1
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.glob("out*")) == [path]


def test_a_file_that_cannot_be_written_is_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "absent" / "out.jsonl"
    result = run("export", "session-1", "--output", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {path}: cannot be written: No such file or directory.\n"


def test_a_reader_that_goes_away_gets_no_traceback(settings: Settings) -> None:
    command = ["export", "session-1", "--data-dir", settings.data_dir]
    with process(*command) as exporting:
        assert exporting.stdout is not None
        assert exporting.stdout.read(10) == b'{"toolfold'
        exporting.stdout.close()
        assert exporting.stderr is not None
        assert exporting.stderr.read() == b""


def test_a_file_that_cannot_be_written_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    result = run("export", "session-1", "--output", tmp_path / "loop")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["loop"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "--output names no file: it is empty."),
        (".", ".: is a folder; --output takes a file."),
        ("/", "/: is a folder; --output takes a file."),
        ("absent/", "absent/: is a folder; --output takes a file."),
    ],
)
def test_a_name_that_is_no_files_is_one_line(run: Run, name: str, message: str) -> None:
    result = run("export", "session-1", "--output", name)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"Error: {message}\n")


@pytest.mark.parametrize("session", ["session-1", "none"])
def test_no_other_file_of_the_folder_is_touched(run: Run, tmp_path: Path, session: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out.jsonl.partial").write_text("mine", encoding="utf-8")
    run("export", session, "--output", folder / "out.jsonl")
    (folder / "out.jsonl").unlink(missing_ok=True)
    left = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert left == {"out.jsonl.partial": "mine"}


def test_a_link_stays_and_its_target_is_written_with_the_permissions_it_had(
    run: Run, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.write_text("before", encoding="utf-8")
    target.chmod(0o640)
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "dangling").symlink_to("made")
    assert run("export", "session-1", "--output", tmp_path / "link").exit_code == 0
    assert run("export", "session-1", "--output", tmp_path / "dangling").exit_code == 0
    assert (tmp_path / "link").readlink() == Path("target")
    assert (tmp_path / "dangling").readlink() == Path("made")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_bytes() == run("export", "session-1").stdout_bytes
    assert (tmp_path / "made").read_bytes() == target.read_bytes()


def test_a_pipe_is_written_to(run: Run, settings: Settings, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    command = ("export", "session-1", "--data-dir", settings.data_dir)
    with process(*command, "--output", tmp_path / "pipe") as exporting:
        written = (tmp_path / "pipe").read_bytes()
        exporting.communicate(timeout=60)
    assert exporting.returncode == 0
    assert written == run("export", "session-1").stdout_bytes
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.linux
@pytest.mark.parametrize("session", ["session-1", "none"])
def test_a_device_is_left_where_it_is(run: Run, tmp_path: Path, session: str) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    device = Path("/dev/full").stat()
    result = run("export", session, "--output", tmp_path / "full")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    if session == "session-1":
        reason = "cannot be written: No space left on device."
        assert result.stderr == f"Error: {tmp_path / 'full'}: {reason}\n"
    assert Path("/dev/full").stat().st_rdev == device.st_rdev
    assert (tmp_path / "full").readlink() == Path("/dev/full")
