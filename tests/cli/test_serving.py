import hashlib
import json
import shlex
import signal
import socket
from pathlib import Path

import httpx
import pytest

from tests.builders import text_message, tool_message
from tests.cli.conftest import Run, Store
from tests.cli.serving import graphql_url, serving
from toolfold.settings import Settings
from toolfold.transcript import ToolKind


def test_what_serve_says_to_try_works(settings: Settings, store: Store) -> None:
    store([text_message(), tool_message(["é"], kind=ToolKind.EXECUTE)])
    with serving("--data-dir", settings.data_dir) as (_, lines):
        curls = [shlex.split(line) for line in lines if line.startswith("curl")]
        answers = [
            httpx.post(words[2], json=json.loads(words[-1]), trust_env=False).json()
            for words in curls
        ]
    assert len(curls) == 3
    assert all("errors" not in answer for answer in answers)
    assert '"content": ["é"]' in json.dumps(answers[2], ensure_ascii=False)
    assert lines[-1] == f"toolfold import ~/.claude/projects --data-dir {settings.data_dir}"


def test_an_empty_database_is_set_up_and_ctrl_c_ends_without_a_traceback(tmp_path: Path) -> None:
    with serving("--data-dir", tmp_path / "new") as (server, lines):
        query = {"query": "{ projects { nodes { name } } }"}
        answer = httpx.post(graphql_url(lines), json=query, trust_env=False).json()
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=30)
    assert answer == {"data": {"projects": {"nodes": [{"name": "default"}]}}}
    assert (server.returncode, errors) == (0, b"")


def test_only_this_machine_can_reach_it(settings: Settings) -> None:
    with serving("--data-dir", settings.data_dir) as (_, lines):
        port = int(graphql_url(lines).split(":")[2].split("/")[0])
        with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.2", port)):
            pass


def test_a_port_that_is_in_use_is_one_line(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        result = run("serve", "--port", port)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: Port {port} is in use: stop what uses it, or choose another with --port.\n"
    )


def test_a_database_that_cannot_be_used_is_one_line_before_anything_is_served(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "toolfold.db").write_bytes(b"no database at all, but long enough" * 99)
    result = run("serve", "--data-dir", tmp_path / "broken", "--port", 0)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("Error: ")


def test_a_manifest_that_cannot_be_used_is_one_line_and_makes_no_database(
    run: Run, tmp_path: Path
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"Page": "{ limits { maxRows } }"}', encoding="utf-8")
    folder = tmp_path / "not made"
    result = run("serve", "--data-dir", folder, "--port", 0, "--trusted-documents", manifest)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(
        f"Error: The manifest of trusted documents {manifest}, entry 'Page'"
    )
    assert not folder.exists()


def test_a_server_may_execute_the_documents_of_its_manifest_alone(
    settings: Settings, tmp_path: Path
) -> None:
    text = "{ limits { maxRows } }"
    digest = hashlib.sha256(text.encode()).hexdigest()
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({digest: text}), encoding="utf-8")
    options = ("--trusted-documents", manifest, "--trusted-documents-only")
    with serving("--data-dir", settings.data_dir, *options) as (_, lines):
        url = graphql_url(lines)
        trusted = httpx.post(url, json={"documentId": digest}).json()
        other = httpx.post(url, json={"query": "{ limits { maxDepth } }"}).json()
    assert trusted == {"data": {"limits": {"maxRows": 20_000}}}
    assert other["errors"][0]["extensions"] == {"code": "DOCUMENT_NOT_TRUSTED"}


def test_a_second_server_of_the_same_file_is_one_line(settings: Settings, run: Run) -> None:
    with serving("--data-dir", settings.data_dir) as (server, lines):
        result = run("serve", "--data-dir", settings.data_dir, "--port", 0)
        assert run("list", "--data-dir", settings.data_dir).exit_code == 0
        assert run("doctor", "--data-dir", settings.data_dir).exit_code == 0
        url = graphql_url(lines).removesuffix("/graphql")
        server.kill()
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: A server owns {settings.data_dir / 'toolfold.db'} already:"
        f" process {server.pid}, at {url}.\n"
    )
    # One that was killed is no obstacle.
    with serving("--data-dir", settings.data_dir):
        pass


@pytest.mark.parametrize("dialect", ["postgresql"])
def test_postgresql_has_as_many_servers_as_one_likes(settings: Settings) -> None:
    arguments = ("--database-url", settings.database_url)
    with serving(*arguments) as (_, one), serving(*arguments) as (_, other):
        assert graphql_url(one) != graphql_url(other)
