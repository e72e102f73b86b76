"""Sessions that a server under test has stored, and the URLs under which it serves them."""

import asyncio
import base64
import hashlib
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.types import Message as ASGIMessage

from tests.builders import add_session
from toolfold.store.engine import Database
from toolfold.transcript import Message

CHUNK = 256 * 1024


@dataclass(frozen=True)
class Served:
    """A started server, a client of it, and its database."""

    client: httpx.AsyncClient
    app: Starlette

    @property
    def database(self) -> Database:
        database: Database = self.app.state.resources.database
        return database

    async def store(self, *messages: Message) -> None:
        """Store a session `s` of these messages in the project `default`."""
        await self.write(lambda connection: add_session(connection, messages, session_id="s"))

    async def write(self, function: Callable[[Connection], object]) -> None:
        await self.database.write(function)

    async def get(self, url: str, **headers: str) -> httpx.Response:
        """Send a GET with headers, whose names have underscores here."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.get(url, headers=named)

    async def stream(self, url: str, take: Callable[[bytes], object], **headers: str) -> int:
        """Get a URL without a client and pass each part of the body to `take`.

        Returns the peak of memory meanwhile, in bytes: only the server holds anything back.
        """

        async def receive() -> ASGIMessage:
            return await asyncio.Future()

        async def send(message: ASGIMessage) -> None:
            take(message.get("body", b""))

        given = {"host": "localhost", **headers}
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "method": "GET",
            "path": url,
            "query_string": b"",
            "headers": [
                (name.replace("_", "-").encode(), value.encode()) for name, value in given.items()
            ],
        }
        tracemalloc.start()
        try:
            await self.app(scope, receive, send)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def content_url(sequence: object, *, session: str = "s", project: str = "default") -> str:
    return f"/api/projects/{project}/sessions/{session}/messages/{sequence}/tool-content"


def name_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def blob_url(data: bytes, project: str = "default") -> str:
    return f"/api/projects/{project}/blobs/{name_of(data)}"


def incompressible(size: int) -> str:
    """Return text that zstd cannot shrink to nothing."""
    return base64.b64encode(hashlib.shake_128(b"seed").digest(size)).decode()[:size]
