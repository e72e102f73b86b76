"""Commands as processes of their own: interrupted, and beside each other."""

import signal
import subprocess
from pathlib import Path

import httpx
import orjson
import pytest

from tests import claude_tree
from tests.cli.conftest import Run, process
from tests.cli.serving import graphql_url, serving
from toolfold.settings import Settings

COUNTS = "{ sessions(filter: {includeChildren: true}) { nodes { messageCount } } }"


def _messages(answer: object) -> int:
    assert isinstance(answer, dict)
    assert "errors" not in answer
    return sum(node["messageCount"] for node in answer["data"]["sessions"]["nodes"])


def _finish(started: "subprocess.Popen[bytes]") -> str:
    output, errors = started.communicate(timeout=120)
    assert (started.returncode, errors) == (0, b"")
    return output.decode()


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
