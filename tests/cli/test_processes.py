"""Commands as processes of their own: interrupted, and beside each other."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import orjson
import pytest
from click.testing import Result

from tests import claude_tree
from tests.cli.conftest import Run, process
from tests.cli.serving import graphql_url, serving
from toolfold.settings import Settings
from toolfold.store.engine import Database

COUNTS = "{ sessions(filter: {includeChildren: true}) { nodes { messageCount } } }"


def _messages(answer: object) -> int:
    assert isinstance(answer, dict)
    assert "errors" not in answer
    return sum(node["messageCount"] for node in answer["data"]["sessions"]["nodes"])


def _finish(started: "subprocess.Popen[bytes]") -> str:
    output, errors = started.communicate(timeout=120)
    assert (started.returncode, errors) == (0, b"")
    return output.decode()


@pytest.mark.parametrize("module", ["importing", "sampling"])
def test_a_command_that_runs_no_document_does_not_load_the_schema(module: str) -> None:
    code = (
        f"import sys, toolfold.cli.{module}\nprint({{'graphql', 'strawberry'}} & {{*sys.modules}})"
    )
    done = subprocess.run(  # noqa: S603 (our own)
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True
    )
    assert done.stdout == b"set()\n"


def test_ctrl_c_ends_after_the_running_batch_and_the_next_run_completes(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    tree = claude_tree.write(tmp_path / "tree", sessions=8, total_bytes=12_000_000)
    with process("import", tree.root, "--data-dir", settings.data_dir) as importing:
        assert importing.stdout is not None
        for line in importing.stdout:
            if b"added" in line:
                break
        importing.send_signal(signal.SIGINT)
        output, errors = importing.communicate(timeout=120)
    assert importing.returncode == 130
    assert errors.decode().splitlines() == [
        "What was imported stays; the same command goes on from there.",
        "Stopped.",
    ]
    assert b" messages added.\n" in output
    stored = _messages(orjson.loads(run("query", COUNTS).stdout))
    assert 0 < stored < tree.message_count
    assert run("doctor").exit_code == 0
    assert run("import", tree.root).exit_code == 0
    assert _messages(orjson.loads(run("query", COUNTS).stdout)) == tree.message_count
    assert run("doctor").exit_code == 0


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_imports_beside_each_other_and_a_server_lose_nothing(run: Run, tmp_path: Path) -> None:
    trees = [
        claude_tree.write(tmp_path / name, sessions=4, total_bytes=2_000_000, seed=seed)
        for seed, name in enumerate("ab")
    ]
    # The processes have their database from the environment, as `run` has.
    with serving() as (_, lines), process("import", trees[0].root) as one:
        with process("import", trees[1].root) as other:
            url = graphql_url(lines)
            seen = [0]
            while one.poll() is None or other.poll() is None:
                answer = httpx.post(url, json={"query": COUNTS}, trust_env=False).json()
                seen.append(_messages(answer))
            _finish(other)
        _finish(one)
        last = httpx.post(url, json={"query": COUNTS}, trust_env=False).json()
    assert seen == sorted(seen)
    expected = sum(tree.message_count for tree in trees)
    assert _messages(last) == expected
    assert _messages(orjson.loads(run("query", COUNTS).stdout)) == expected
    assert run("doctor").exit_code == 0


def test_an_import_beside_a_server_goes_through_it_and_tells_the_same(
    settings: Settings, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = claude_tree.write(tmp_path / "tree", sessions=3, total_bytes=1_500_000)
    with (tree.transcripts[0]).open("ab") as transcript:
        transcript.write(b"{ not JSON\n")
    (tree.root / "note.txt").write_text("Hello", encoding="utf-8")
    direct = [run("import", tree.root, "--data-dir", tmp_path / "direct") for _ in range(2)]

    async def write(*_arguments: object) -> None:
        raise AssertionError("The server alone writes.")

    with serving("--data-dir", settings.data_dir), monkeypatch.context() as patched:
        patched.setattr(Database, "write", write)
        patched.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        through = [run("import", tree.root) for _ in range(2)]
        other = run("import", tree.transcripts[1], "--project", "other")
        long = run("import", tree.transcripts[1], "--project", "x" * 10_000)
    assert [_told(result) for result in through] == [_told(result) for result in direct]
    assert "unchanged since the last import" in through[1].stdout
    assert (long.exit_code, long.stderr.count("\n")) == (1, 1)
    assert (other.exit_code, run("list", "--project", "other").stdout.count("\n")) == (0, 1)
    assert run("doctor").exit_code == 0


def _told(result: Result) -> tuple[int, str, list[str]]:
    """Return all that an import told but where the sessions can be seen."""
    return result.exit_code, result.stderr, result.stdout.splitlines()[:-1]


def test_an_import_whose_server_is_killed_ends_with_one_line_and_the_next_run_completes(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    tree = claude_tree.write(tmp_path / "tree", sessions=8, total_bytes=12_000_000)
    with (
        serving("--data-dir", settings.data_dir) as (server, _),
        process("import", tree.root, "--data-dir", settings.data_dir) as importing,
    ):
        assert importing.stdout is not None
        for line in importing.stdout:
            if b"added" in line:
                break
        server.kill()
        _, errors = importing.communicate(timeout=120)
    assert importing.returncode == 1
    assert errors.decode() == (
        f"Error: The server of {settings.data_dir / 'toolfold.db'}, through which this imports,"
        " is gone: the same command goes on from there.\n"
    )
    assert 0 < _messages(orjson.loads(run("query", COUNTS).stdout)) < tree.message_count
    assert run("doctor").exit_code == 0
    assert run("import", tree.root).exit_code == 0
    assert _messages(orjson.loads(run("query", COUNTS).stdout)) == tree.message_count
    assert run("doctor").exit_code == 0


def test_a_client_that_is_killed_leaves_whole_batches_and_the_next_run_completes(
    settings: Settings, run: Run, tmp_path: Path
) -> None:
    tree = claude_tree.write(tmp_path / "tree", sessions=4, total_bytes=8_000_000)
    with serving("--data-dir", settings.data_dir):
        with process("import", tree.root, "--data-dir", settings.data_dir) as importing:
            assert importing.stdout is not None
            importing.stdout.readline()
            importing.kill()
        assert run("doctor").exit_code == 0
        assert run("import", tree.root).exit_code == 0
        assert _messages(orjson.loads(run("query", COUNTS).stdout)) == tree.message_count
    assert run("doctor").exit_code == 0


def test_a_reader_of_an_import_that_goes_away_gets_no_traceback(
    settings: Settings, tmp_path: Path
) -> None:
    tree = claude_tree.write(tmp_path / "tree", sessions=4, total_bytes=1_000_000)
    with process("import", tree.root, "--data-dir", settings.data_dir) as importing:
        assert importing.stdout is not None
        importing.stdout.readline()
        importing.stdout.close()
        assert importing.stderr is not None
        assert b"Traceback" not in importing.stderr.read()
