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
