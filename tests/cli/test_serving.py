import contextlib
import hashlib
import json
import shlex
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.builders import text_message, tool_message
from tests.cli.conftest import Run, Store
from tests.cli.serving import graphql_url, serving
from toolfold.settings import Settings
from toolfold.transcript import ToolKind

PROTOCOL = Subprotocol("graphql-transport-ws")


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


def test_what_serve_says_of_the_viewer_is_so(settings: Settings) -> None:
    with serving("--data-dir", settings.data_dir) as (_, lines):
        url = graphql_url(lines).removesuffix("/graphql")
        told = {
            f"See your sessions at {url}, and try queries at {url}/graphiql.": 200,
            f"The viewer is not built: {url} says how to build it.": 503,
        }
        for page in ("", "/graphiql"):
            assert httpx.get(url + page, trust_env=False).status_code == told[lines[1]]


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


FOLLOW = """
subscription ($session: ID!, $after: String) {
  sessionUpdates(sessionId: $session, after: $after) {
    __typename
    ... on MessageUpdate { cursor message { sequence } }
    ... on CaughtUp { cursor }
  }
}
"""


def events(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """Yield the updates in a stream of server-sent events, until it ends."""
    for line in response.iter_lines():
        assert line != "event: complete"
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))["data"]["sessionUpdates"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_follows_a_session_is_let_go_at_the_end_and_comes_back(
    settings: Settings, store: Store, run: Run, number: signal.Signals
) -> None:
    store([text_message()])
    [session] = json.loads(run("query", "{ sessions { nodes { id } } }").stdout)["data"][
        "sessions"
    ]["nodes"]
    asked: dict[str, Any] = {"query": FOLLOW, "variables": {"session": session["id"]}}
    stream: dict[str, Any] = {
        "headers": {"accept": "text/event-stream"},
        "timeout": 30,
        "trust_env": False,
    }
    with serving("--data-dir", settings.data_dir) as (server, lines):
        url = graphql_url(lines)
        with (
            httpx.stream("POST", url, json=asked, **stream) as response,
            connect("ws" + url.removeprefix("http"), subprotocols=[PROTOCOL]) as socket,
        ):
            socket.send(json.dumps({"type": "connection_init"}))
            socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": asked}))
            told = events(response)
            assert [next(told)["__typename"] for _ in range(2)] == ["MessageUpdate", "CaughtUp"]
            assert [json.loads(socket.recv())["type"] for _ in range(3)] == [
                "connection_ack",
                "next",
                "next",
            ]
            server.send_signal(number)
            assert list(told) == []
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv()
        _, errors = server.communicate(timeout=30)
    assert (server.returncode, errors) == (0, b"")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012  # The service restarts.


@contextlib.contextmanager
def being_sent(url: str, size: int) -> Iterator[socket.socket]:
    """Give the connection of an import of so many bytes that the server waits for."""
    place = urlsplit(url)
    head = f"POST /api/projects/default/import HTTP/1.1\r\nhost: {place.netloc}\r\n"
    head += f"expect: 100-continue\r\ncontent-length: {size}\r\n\r\n"
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        yield connection


def answer_of(connection: socket.socket) -> tuple[int, Any]:
    """Return the status and the JSON of an answer that the connection ends with."""
    head, _, body = b"".join(iter(lambda: connection.recv(65_536), b"")).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def test_a_request_in_progress_is_answered_before_the_end(
    settings: Settings, store: Store, run: Run
) -> None:
    store([text_message()])
    [name] = [line.split("\t")[0] for line in run("list").stdout.splitlines()]
    lines = run("export", name).stdout_bytes
    with serving("--data-dir", settings.data_dir) as (server, said):
        with being_sent(graphql_url(said), len(lines)) as connection:
            server.send_signal(signal.SIGTERM)
            connection.sendall(lines)
            status, answer = answer_of(connection)
        _, errors = server.communicate(timeout=30)
    assert (status, answer["skipped"]) == (200, 1)
    assert (server.returncode, errors) == (0, b"")


def test_a_request_that_is_not_waited_for_at_the_end_is_told_so(settings: Settings) -> None:
    with serving("--data-dir", settings.data_dir) as (server, said):
        with being_sent(graphql_url(said), 1) as connection:
            server.send_signal(signal.SIGTERM)
            status, answer = answer_of(connection)
        _, errors = server.communicate(timeout=30)
    assert (status, answer["errors"][0]["extensions"]) == (504, {"code": "DEADLINE_EXCEEDED"})
    assert server.returncode == 0
    assert b"Traceback" not in errors
