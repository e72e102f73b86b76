"""Somebody who follows a session and stops reading costs the server their place, no memory.

A subscriber over WebSocket, and one over server-sent events, ask for all content and stop reading.
1 GB passes. For each of them the server holds at most 10 MB more than it held before, and when
they read on, they are told all of it, in order.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from websockets.exceptions import ConnectionClosed

from tests.bench import memory
from tests.bench.client import Client
from tests.bench.commands import Server
from tests.bench.figures import at_most, mebibytes
from tests.builders import text_block
from tests.reliability import following, requests
from tests.reliability.outcome import Outcome
from tests.reliability.processes import logged, serving
from toolfold.settings import Settings

NAME = "slow_reader"
ADDED_BYTES = 10_000_000
_CONTENT_BYTES = 500_000
_RANDOM_BYTES = 40_000
"""What of a content is left when it is compressed."""

_WAIT_SECONDS = 600
_UPDATES = """
subscription ($id: ID!, $after: String) {
  sessionUpdates(sessionId: $id, after: $after, compact: false) {
    __typename
    ... on MessageUpdate { cursor message { sequence toolMetadata { content } } }
    ... on CaughtUp { cursor }
    ... on SessionChange { cursor }
  }
}
"""


@dataclass(frozen=True, slots=True)
class Scale:
    """How many messages of half a megabyte pass while nobody reads, and before that.

    Those before fill the caches of the database, 32 MB at most.
    """

    messages: int
    before: int


SHORT = Scale(messages=60, before=40)
LONG = Scale(messages=2_000, before=900)


def run(settings: Settings, place: Path, scale: Scale) -> Outcome:
    """Stop reading while messages pass, and look at the server's memory."""
    outcome = Outcome()
    with serving(settings, place) as server:
        asyncio.run(_run(server, scale, outcome))
    outcome.faults += filter(None, [logged(place)])
    return outcome


async def _run(server: Server, scale: Scale, outcome: Outcome) -> None:
    (session,) = requests.new_sessions(server.connect(), "large")

    def write(first: int, count: int) -> None:
        with contextlib.closing(server.connect()) as client:
            _write(client, session, first, count)

    async with (
        contextlib.aclosing(_over_socket(server, session)) as ws,
        contextlib.aclosing(_over_events(server, session)) as sse,
    ):
        readers = {"WebSocket": ws, "events": sse}
        # At first both read what comes.
        await asyncio.gather(
            asyncio.to_thread(write, 0, scale.before),
            *(_up_to(reader, scale.before) for reader in readers.values()),
        )
        memory.forget_peak(server.pid)
        before = memory.resident_bytes(server.pid)
        await asyncio.to_thread(write, scale.before, scale.messages)
        after, peak = memory.resident_bytes(server.pid), memory.peak_bytes(server.pid)
        last = scale.before + scale.messages
        for name, reader in readers.items():
            told = await _up_to(reader, last)
            outcome.require(
                told == list(range(scale.before + 1, last + 1)),
                f"{name}: the sequences that were told after are {told}",
            )
    outcome.tell("subscribers that stop reading", "one over WebSocket, one over events")
    outcome.tell("passed", mebibytes(scale.messages * _CONTENT_BYTES))
    outcome.tell("server before", mebibytes(before))
    outcome.tell("server after", mebibytes(after))
    outcome.tell("server at its highest", mebibytes(peak))
    added = (after - before) / len(readers)
    outcome.tell("added for each", mebibytes(added), at_most(added, ADDED_BYTES, "10 MB"))
    outcome.require(added <= ADDED_BYTES, f"The server holds {added:,.0f} bytes more for each.")
    outcome.tell("messages told to each when they read on", scale.messages)


def _write(client: Client, session: str, first: int, count: int) -> None:
    for number in range(first, first + count):
        call = f"call-{number}"
        rng = random.Random(number)  # noqa: S311 (the same texts each time)
        text = rng.randbytes(_RANDOM_BYTES).hex() * (_CONTENT_BYTES // _RANDOM_BYTES // 2)
        content = [text_block(text)]
        new: Any = {
            "clientMessageId": call,
            "role": "TOOL",
            "toolMetadata": {"toolCallId": call, "title": "Run", "content": content},
        }
        requests.append(client, session, [new])


async def _up_to(reader: AsyncIterator[int], last: int) -> list[int]:
    told: list[int] = []
    async with asyncio.timeout(_WAIT_SECONDS):
        while not told or told[-1] < last:
            told.append(await anext(reader))
    return told


async def _over_socket(server: Server, session: str) -> AsyncGenerator[int, None]:
    """Yield the sequences that come over a WebSocket, of which nothing is read unasked.

    The server closes a socket whose client has not answered a ping for 20 s, as one who does not
    read cannot: then another socket goes on at the last cursor.
    """
    cursor = None
    while True:
        with contextlib.suppress(ConnectionClosed):
            # The client takes a frame at a time from the network.
            async with following.socket(
                server, max_queue=1, max_size=None, compression=None, ping_interval=None
            ) as connection:
                await following.subscribe(connection, _UPDATES, id=session, after=cursor)
                async for update in following.updates(connection):
                    cursor = update["cursor"]
                    if sequence := _sequence(update):
                        yield sequence


async def _over_events(server: Server, session: str) -> AsyncGenerator[int, None]:
    """Yield the sequences that come as server-sent events, of which nothing is read unasked."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    body = orjson.dumps({"query": _UPDATES, "variables": {"id": session}})
    head = (
        f"POST /graphql HTTP/1.1\r\nhost: {server.host}:{server.port}\r\n"
        "content-type: application/json\r\naccept: text/event-stream\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    try:
        while await reader.readline() != b"\r\n":
            pass
        # Each event is a chunk.
        while size := int(await reader.readline(), 16):
            event = (await reader.readexactly(size + 2)).decode()
            if event.startswith("event: next"):
                payload = orjson.loads(event.split("data: ", 1)[1])
                if sequence := _sequence(payload["data"]["sessionUpdates"]):
                    yield sequence
    finally:
        writer.close()


def _sequence(update: Any) -> int | None:
    """Return the sequence of an update's message; None if it is of no message."""
    if update["__typename"] != "MessageUpdate":
        return None
    if update["message"]["toolMetadata"]["content"] is None:
        raise RuntimeError("A content was withheld.")
    sequence: int = update["message"]["sequence"]
    return sequence
