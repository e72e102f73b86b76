"""Long and damaged contents over HTTP: flat memory, no half answers, no connection held."""

import asyncio
import contextlib
from typing import Any

import httpx
import pytest
from sqlalchemy import delete

from tests.builders import add_content, tool_message
from tests.server.serving import on_a_port
from tests.server.stored import CHUNK, Served, blob_url, content_url, incompressible
from toolfold.ingest import lifecycle
from toolfold.server import create_app
from toolfold.settings import Settings
from toolfold.store import layouts
from toolfold.store.tables import content_chunk_table

CONTENT = [{"type": "content", "text": "café"}]
STORED = '[{"type":"content","text":"café"}]'.encode()


async def test_damaged_bytes_are_an_error_and_never_half_an_answer(served: Served) -> None:
    await served.store(tool_message(CONTENT))
    await served.write(lambda connection: connection.execute(delete(content_chunk_table)))
    for url in (content_url(1), blob_url(STORED)):
        response = await served.get(url)
        assert response.status_code == 500
        assert response.json()["errors"][0]["extensions"] == {"code": "CORRUPT_CONTENT"}


async def test_what_is_deleted_before_its_first_byte_is_not_found(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A shorter one is read together with its message.
    await served.store(tool_message(incompressible(2 * CHUNK)))
    find = layouts.of

    async def delete_first(*arguments: Any) -> Any:
        await served.write(lambda connection: lifecycle.remove(connection, "default", "s"))
        return await find(*arguments)

    monkeypatch.setattr(layouts, "of", delete_first)
    response = await served.get(content_url(1))
    assert response.status_code == 404
    assert response.json()["errors"][0]["extensions"] == {"code": "NOT_FOUND"}


async def test_damage_in_a_later_chunk_cuts_the_connection_and_is_logged_once(
    database_settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    value = incompressible(4 * CHUNK)
    app = create_app(database_settings)
    async with on_a_port(app) as host, httpx.AsyncClient(base_url=f"http://{host}") as client:
        served = Served(client, app)
        await client.get("/healthz")
        await served.store(tool_message(value))
        damage = delete(content_chunk_table).where(content_chunk_table.c.position == 3)
        await served.write(lambda connection: connection.execute(damage))
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(content_url(1))
        assert (await client.get("/healthz")).status_code == 200
    (logged,) = [record for record in caplog.records if record.name.startswith("toolfold")]
    assert logged.getMessage().startswith("A request failed: request ")
    assert "Exception in ASGI application" not in caplog.text
    assert value[:40] not in caplog.text


async def test_a_long_content_is_streamed_in_flat_memory(served: Served) -> None:
    """The client here holds nothing back, so that only the server's memory is seen."""
    size = 64 * 1024 * 1024
    await served.write(
        lambda connection: add_content(connection, b"x" * size, media_type="text/plain")
    )
    received: list[int] = []
    url = blob_url(b"x" * size)
    peak = await served.stream(url, lambda part: received.append(len(part)))
    assert sum(received) == size
    assert peak < 8 * 1024 * 1024


async def test_slow_readers_hold_no_connection_to_the_database(
    database_settings: Settings,
) -> None:
    """Many more readers than connections begin to read, and none of them goes on."""
    app = create_app(database_settings)
    async with on_a_port(app) as host, httpx.AsyncClient(base_url=f"http://{host}") as client:
        await client.get("/healthz")
        stored = b"x" * 16 * 1024 * 1024
        await Served(client, app).database.write(lambda connection: add_content(connection, stored))
        request = f"GET {blob_url(stored)} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()
        name, port = host.split(":")
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(20):
                reader, writer = await asyncio.open_connection(name, int(port))
                stack.callback(writer.close)
                writer.write(request)
                assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
            async with asyncio.timeout(10):
                assert (await client.get("/readyz")).status_code == 200
