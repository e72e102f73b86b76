"""Clients that vanish in the middle of what they asked leave nothing behind.

500 clients send a query, a mutation or a subscription, and are gone (their socket is reset) before
or while it is answered. Afterwards twice as many queries as the pool has connections are answered
at once, the process holds no more open files than before, and on PostgreSQL no connection is in a
transaction.
"""

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # It has no type stubs.
import httpx
import orjson

from tests.bench.client import Client
from tests.bench.commands import Server
from tests.reliability import following, requests
from tests.reliability.outcome import Outcome
from tests.reliability.processes import doctor, logged, serving
from toolfold.settings import Settings
from toolfold.store import dialect, postgresql, sqlite

NAME = "vanishing"
_MESSAGES = 100
_CONTENT_BYTES = 20_000
_SETTLE_SECONDS = 30
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of no time: closing resets the connection."""

_QUERY = """
query ($id: ID!) {
  session(id: $id) {
    messages(first: 100, compact: false) { nodes { sequence content contentPreview } }
  }
}
"""


@dataclass(frozen=True, slots=True)
class Scale:
    """How many clients vanish, and how many are there at the same time."""

    clients: int
    at_once: int


SHORT = Scale(clients=50, at_once=25)
LONG = Scale(clients=500, at_once=50)


def run(settings: Settings, place: Path, scale: Scale) -> Outcome:
    """Let clients vanish, and look for what they left."""
    outcome = Outcome()
    # What graphql-core had begun for a task that is cancelled is never awaited: Python says so.
    with serving(settings, place, PYTHONWARNINGS="ignore:coroutine:RuntimeWarning") as server:
        client = server.connect()
        (session,) = requests.new_sessions(client, "read")
        _fill(client, session)
        asyncio.run(_at_once(server, session, _pool_size(settings) * 2))
        before = _open_files(server)
        asyncio.run(_vanish(server, session, scale))
        answered = asyncio.run(_at_once(server, session, _pool_size(settings) * 2))
        allowed = before + _pool_size(settings)
        after = asyncio.run(_settled(lambda: _open_files(server), allowed))
        held = asyncio.run(_settled(lambda: _held(settings), 0))
    outcome.tell("clients that vanished", scale.clients)
    outcome.tell("queries answered at once, twice the pool", answered)
    outcome.tell("open files before, after", f"{before}, {after}")
    outcome.require(after <= allowed, f"{after} files are open, where {before} were before.")
    outcome.tell("connections in a transaction", held)
    outcome.require(held == 0, "A connection is still in a transaction.")
    outcome.faults += filter(None, [doctor(settings), logged(place)])
    return outcome


def _fill(client: Client, session: str) -> None:
    texts = [f"{number} {'x' * _CONTENT_BYTES}" for number in range(_MESSAGES)]
    for start in range(0, _MESSAGES, 50):
        new: list[Any] = [
            {"clientMessageId": text.split(" ")[0], "role": "USER", "content": text}
            for text in texts[start : start + 50]
        ]
        requests.append(client, session, new)


async def _vanish(server: Server, session: str, scale: Scale) -> None:
    places = asyncio.Semaphore(scale.at_once)
    bodies = list(_bodies(session, scale.clients))

    async def one(number: int) -> None:
        rng = random.Random(number)  # noqa: S311 (the same each time)
        async with places:
            if number % 5 == 0:
                await _vanish_from_socket(server, session, rng)
            else:
                await _vanish_from_request(server, bodies[number], rng)

    async with asyncio.TaskGroup() as group:
        for number in range(scale.clients):
            group.create_task(one(number))


def _bodies(session: str, count: int) -> Iterator[bytes]:
    """Yield bodies of requests: of ten, eight read and two write."""
    for number in range(count):
        variables: dict[str, Any] = {"id": session}
        document = _QUERY
        if number % 5 == 1:
            document = requests.APPEND
            new = {"clientMessageId": f"gone-{number}", "role": "USER", "content": "Gone."}
            variables = {"input": {"sessionId": session, "messages": [new]}}
        yield orjson.dumps({"query": document, "variables": variables})


async def _vanish_from_request(server: Server, body: bytes, rng: random.Random) -> None:
    """Send a request, and reset the connection some time before the answer's end."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    head = (
        f"POST /graphql HTTP/1.1\r\nhost: {server.host}:{server.port}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    # Some go in the middle of what they say, some as soon as the answer begins.
    sent = head.encode() + body
    writer.write(sent[: len(sent) // 2] if rng.random() < 0.1 else sent)
    await writer.drain()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(reader.read(1), rng.uniform(0, 0.3))
    _reset(writer.get_extra_info("socket"))
    writer.transport.abort()


async def _vanish_from_socket(server: Server, session: str, rng: random.Random) -> None:
    """Subscribe, take a few updates at most, and reset the connection."""
    async with following.socket(server) as connection:
        await following.subscribe(connection, id=session)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(rng.uniform(0, 0.3)):
                async for _ in following.updates(connection):
                    pass
        _reset(connection.transport.get_extra_info("socket"))
        connection.transport.abort()


def _reset(connection: Any) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


async def _at_once(server: Server, session: str, count: int) -> int:
    """Return how many of so many queries at once were answered as they should be."""
    body = {"query": _QUERY, "variables": {"id": session}}
    url = f"http://{server.host}:{server.port}/graphql"
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(trust_env=False, limits=limits, timeout=120) as client:
        answers = await asyncio.gather(*(client.post(url, json=body) for _ in range(count)))
    for answer in answers:
        if "errors" in answer.json():
            raise RuntimeError(f"A query failed: {answer.json()['errors']}")
    return len(answers)


async def _settled(count: Callable[[], int], at_most: int) -> int:
    """Return a number once it is small enough, or as it is after a while."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SETTLE_SECONDS):
            while await asyncio.to_thread(count) > at_most:  # noqa: ASYNC110 (it is another process's)
                await asyncio.sleep(0.1)
    return await asyncio.to_thread(count)


def _open_files(server: Server) -> int:
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


def _held(settings: Settings) -> int:
    """Return how many connections are in a transaction; on SQLite, whether there is any."""
    if settings.database_url:
        return asyncio.run(_held_in_postgresql(settings.database_url))
    connection = dialect.MODULE.connect(settings.data_dir / sqlite.FILE_NAME)
    try:
        ((is_busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return int(is_busy)


async def _held_in_postgresql(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        held: int = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
    finally:
        await connection.close()
    return held


def _pool_size(settings: Settings) -> int:
    return postgresql.READERS if settings.database_url else sqlite.READERS
