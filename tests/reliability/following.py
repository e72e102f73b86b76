"""Clients that follow a session over a WebSocket, and what each was told."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from websockets import Subprotocol
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.commands import Server

UPDATES = """
subscription ($id: ID!, $after: String) {
  sessionUpdates(sessionId: $id, after: $after) {
    __typename
    ... on MessageUpdate {
      cursor
      isNew
      message {
        id sequence revision role createdAt content contentSize
        toolMetadata { id title kind status contentSize contentPreview }
      }
    }
    ... on CaughtUp { cursor }
    ... on SessionChange { cursor }
  }
}
"""
"""What a frontend asks for: all that a list shows, and no tool content."""


@dataclass(slots=True)
class Follower:
    """What one follower was told: of each message the text, and when; `cursor` is the last one."""

    session: str
    texts: list[str] = field(default_factory=list)
    revisions: list[int] = field(default_factory=list)
    told_at: list[float] = field(default_factory=list)
    cursor: str | None = None
    caught_up: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, update: Any, now: float) -> None:
        """Note an update."""
        self.cursor = update["cursor"]
        if update["__typename"] == "CaughtUp":
            self.caught_up.set()
        elif update["__typename"] == "MessageUpdate":
            self.texts.append(update["message"]["content"])
            self.revisions.append(update["message"]["revision"])
            self.told_at.append(now)


@contextlib.asynccontextmanager
async def socket(server: Server, **options: Any) -> AsyncIterator[ClientConnection]:
    """Give a WebSocket that the server has acknowledged."""
    url = f"ws://{server.host}:{server.port}/graphql"
    protocols = [Subprotocol("graphql-transport-ws")]
    async with connect(url, subprotocols=protocols, open_timeout=60, **options) as connection:
        await connection.send('{"type":"connection_init"}')
        assert orjson.loads(await connection.recv())["type"] == "connection_ack"
        yield connection


async def subscribe(
    connection: ClientConnection, document: str = UPDATES, **variables: Any
) -> None:
    """Begin an operation on a socket."""
    payload = {"query": document, "variables": variables}
    await connection.send(
        orjson.dumps({"type": "subscribe", "id": "1", "payload": payload}).decode()
    )


async def updates(connection: ClientConnection) -> AsyncIterator[Any]:
    """Yield the updates of the operation on a socket.

    Raises:
        RuntimeError: if it ends, or an update has errors.
    """
    async for frame in connection:
        message = orjson.loads(frame)
        if message["type"] != "next" or "errors" in message["payload"]:
            raise RuntimeError(f"The subscription failed: {message}")
        yield message["payload"]["data"]["sessionUpdates"]


async def follow(server: Server, follower: Follower) -> None:
    """Follow a session from where the follower is, until cancelled."""
    async with socket(server) as connection:
        await subscribe(connection, id=follower.session, after=follower.cursor)
        async for update in updates(connection):
            follower.take(update, time.perf_counter())
