"""Tool contents, blobs and images over HTTP: whole, by range, conditionally, streamed."""

import asyncio
import base64
import contextlib
import hashlib
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, delete, insert
from starlette.applications import Starlette
from starlette.types import Message as ASGIMessage

from tests.builders import add_content, add_project, add_session, text_message, tool_message
from tests.server.serving import in_process, on_a_port
from toolfold import stored_json
from toolfold.server import create_app
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.tables import content_chunk_table, content_image_table
from toolfold.transcript import Attachment, Json, Message

CONTENT: Json = [{"type": "content", "text": "café 😀", "n": 123456789012345678901}]
STORED = '[{"type":"content","text":"café 😀","n":123456789012345678901}]'.encode()
CHUNK = 256 * 1024


@dataclass(frozen=True)
class Served:
    """A started server in process, and its database."""

    client: httpx.AsyncClient
    app: Starlette

    @property
    def database(self) -> Database:
        database: Database = self.app.state.resources.database
        return database

    async def store(self, *messages: Message, project: str = "default", session: str = "s") -> None:
        await self.database.write(
            lambda connection: add_session(
                connection, messages, project_id=project, session_id=session
            )
        )

    async def get(self, url: str, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.get(url, headers=named)


@pytest.fixture
async def served(database_settings: Settings) -> AsyncIterator[Served]:
    app = create_app(database_settings)
    async with in_process(app) as client:
        yield Served(client, app)


def content_url(sequence: object, *, session: str = "s", project: str = "default") -> str:
    return f"/api/projects/{project}/sessions/{session}/messages/{sequence}/tool-content"


def name_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def blob_url(data: bytes, project: str = "default") -> str:
    return f"/api/projects/{project}/blobs/{name_of(data)}"


def incompressible(size: int) -> str:
    """Return text that zstd cannot shrink to nothing."""
    return base64.b64encode(hashlib.shake_128(b"seed").digest(size)).decode()[:size]


async def test_a_tool_calls_content_is_its_stored_bytes_in_an_object(served: Served) -> None:
    await served.store(text_message(), tool_message(CONTENT))
    response = await served.get(content_url(2))
    assert response.status_code == 200
    assert response.content == b'{"content":' + STORED + b"}"
    assert response.headers["content-type"] == "application/json"
    assert response.headers["content-length"] == str(len(STORED) + 12)
    assert response.headers["accept-ranges"] == "bytes"
    assert response.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize(
    ("content", "body"),
    [
        (None, b'{"content":[]}'),
        ([], b'{"content":[]}'),
        ({"a": None}, b'{"content":{"a":null}}'),
        ("text", b'{"content":"text"}'),
        ([None], b'{"content":[null]}'),
    ],
)
async def test_content_of_any_shape_and_none_at_all_is_answered(
    served: Served, content: Json, body: bytes
) -> None:
    await served.store(tool_message(content))
    response = await served.get(content_url(1))
    assert (response.status_code, response.content) == (200, body)


@pytest.mark.parametrize(
    "url",
    [
        content_url(2),
        content_url(3),
        content_url(1, session="other"),
        content_url(1, project="other"),
        content_url(0),
        content_url("01"),
        content_url("-1"),
        content_url("1.0"),
        content_url("one"),
        content_url("%D9%A1"),
        content_url("2147483648"),
        content_url("9" * 30),
        content_url("1%00"),
        content_url(1, session="s%00"),
        content_url(1, project="default%00"),
        content_url(1, project="%FF"),
        content_url(""),
    ],
)
async def test_what_is_no_tool_call_of_that_session_is_not_found(served: Served, url: str) -> None:
    await served.database.write(lambda connection: add_project(connection, "other"))
    await served.store(tool_message(CONTENT), text_message())
    assert (await served.get(content_url(1))).status_code == 200
    response = await served.get(url)
    assert response.status_code == 404
    assert response.json()["errors"][0]["extensions"] == {"code": "NOT_FOUND"}


async def test_a_head_says_what_a_get_would_and_reads_no_content(served: Served) -> None:
    await served.store(tool_message(CONTENT))
    await served.database.write(lambda connection: connection.execute(delete(content_chunk_table)))
    for url, size in ((content_url(1), len(STORED) + 12), (blob_url(STORED), len(STORED))):
        response = await served.client.head(url, headers={"range": "bytes=0-1"})
        assert (response.status_code, response.content) == (200, b"")
        assert response.headers["content-length"] == str(size)
        assert response.headers["etag"].startswith('"')


async def test_every_range_of_a_tool_calls_content_is_that_part_of_the_whole(
    served: Served,
) -> None:
    await served.store(tool_message(["é"]), tool_message(None))
    for url, whole in (
        (content_url(1), '{"content":["é"]}'.encode()),
        (content_url(2), b'{"content":[]}'),
    ):
        for first in range(len(whole)):
            for last in range(first, len(whole)):
                response = await served.get(url, range=f"bytes={first}-{last}")
                assert response.status_code == 206
                assert response.content == whole[first : last + 1]
                expected = f"bytes {first}-{last}/{len(whole)}"
                assert response.headers["content-range"] == expected


async def test_ranges_of_a_blob_cross_its_chunks(served: Served) -> None:
    stored = stored_json.encode(incompressible(2 * CHUNK + 10))
    await served.store(tool_message(incompressible(2 * CHUNK + 10)))
    for asked, part in (
        (f"bytes={CHUNK - 3}-{CHUNK + 2}", stored[CHUNK - 3 : CHUNK + 3]),
        (f"bytes={CHUNK}-{2 * CHUNK - 1}", stored[CHUNK : 2 * CHUNK]),
        (f"bytes={CHUNK - 1}-", stored[CHUNK - 1 :]),
        ("bytes=-5", stored[-5:]),
        ("bytes=0-0", stored[:1]),
    ):
        response = await served.get(blob_url(stored), range=asked)
        assert (response.status_code, response.content) == (206, part)
        assert response.headers["content-length"] == str(len(part))
    whole = await served.get(blob_url(stored), range="bytes=0-1,5-6")
    assert (whole.status_code, whole.content) == (200, stored)
    assert "content-range" not in whole.headers


async def test_a_range_beyond_the_end_is_refused_with_the_size(served: Served) -> None:
    await served.store(tool_message(CONTENT))
    response = await served.get(blob_url(STORED), range=f"bytes={len(STORED)}-")
    assert response.status_code == 416
    assert response.headers["content-range"] == f"bytes */{len(STORED)}"
    assert response.json()["errors"][0]["extensions"] == {"code": "RANGE_NOT_SATISFIABLE"}


async def test_bytes_that_the_client_has_are_not_sent_again(served: Served) -> None:
    await served.store(tool_message(CONTENT), tool_message(None))
    for url in (content_url(1), content_url(2), blob_url(STORED)):
        first = await served.get(url)
        etag = first.headers["etag"]
        again = await served.get(url, if_none_match=f'"other", W/{etag}')
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == etag
        assert again.headers["cache-control"] == first.headers["cache-control"]
        assert "content-length" not in again.headers
        assert (await served.get(url, if_none_match='"other"')).status_code == 200
        assert (await served.get(url, if_match='"other"')).status_code == 412
        part = await served.get(url, if_range=etag, range="bytes=1-1")
        assert (part.status_code, part.headers["etag"]) == (206, etag)
        whole = await served.get(url, if_range='"other"', range="bytes=1-1")
        assert (whole.status_code, whole.content) == (200, first.content)


async def test_etags_are_of_the_bytes_and_of_how_they_are_shown(served: Served) -> None:
    await served.store(tool_message(CONTENT), tool_message(CONTENT), tool_message([]))
    urls = [content_url(1), content_url(2), content_url(3), blob_url(STORED)]
    same, again, other, blob = [(await served.get(url)).headers["etag"] for url in urls]
    assert same == again
    assert blob == f'"{name_of(STORED)}"'
    assert len({same, other, blob}) == 3


async def test_a_blob_is_its_stored_bytes_to_be_kept_for_good(served: Served) -> None:
    await served.store(tool_message(CONTENT))
    response = await served.get(blob_url(STORED))
    assert (response.status_code, response.content) == (200, STORED)
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "private, max-age=31536000, immutable"


async def test_a_blob_of_no_bytes_has_none(served: Served) -> None:
    await served.store(text_message(attachments=(Attachment(b"", "text/plain"),)))
    response = await served.get(blob_url(b""))
    assert (response.status_code, response.content) == (200, b"")
    assert (await served.get(blob_url(b""), range="bytes=0-")).status_code == 416


@pytest.mark.parametrize(
    "name",
    [
        name_of(b"nothing stored"),
        name_of(STORED).removeprefix("sha256:"),
        name_of(STORED).upper(),
        name_of(STORED).replace("sha256", "sha1"),
        name_of(STORED) + "0",
        name_of(STORED)[:-1],
        "sha256:" + "g" * 64,
        "sha256:",
    ],
)
async def test_a_hash_is_found_only_as_it_is_printed(served: Served, name: str) -> None:
    await served.store(tool_message(CONTENT))
    response = await served.get(f"/api/projects/default/blobs/{name}")
    assert response.status_code == 404


async def test_a_blob_of_another_project_is_not_found(served: Served) -> None:
    await served.database.write(lambda connection: add_project(connection, "other"))
    await served.store(tool_message(CONTENT))
    for project in ("other", "default%00", "nowhere"):
        assert (await served.get(blob_url(STORED, project))).status_code == 404


@pytest.mark.parametrize(
    ("media_type", "content_type"),
    [
        ("image/png", "image/png"),
        ("IMAGE/PNG; x=1", "image/png"),
        ("audio/mpeg", "audio/mpeg"),
        ("text/plain", "text/plain; charset=utf-8"),
    ],
)
async def test_what_holds_no_script_may_be_shown(
    served: Served, media_type: str, content_type: str
) -> None:
    await served.store(text_message(attachments=(Attachment(b"bytes", media_type),)))
    response = await served.get(blob_url(b"bytes"))
    assert response.headers["content-type"] == content_type
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "content-disposition" not in response.headers


@pytest.mark.parametrize(
    ("media_type", "content_type"),
    [
        ("text/html", "text/html; charset=utf-8"),
        ("image/svg+xml", "image/svg+xml"),
        ("application/xhtml+xml", "application/xhtml+xml"),
        ("application/pdf", "application/pdf"),
        ("text/javascript", "text/javascript; charset=utf-8"),
        ("", "application/octet-stream"),
        ("image/png\r\nset-cookie: a=b", "application/octet-stream"),
        ("image", "application/octet-stream"),
        ("imäge/png", "application/octet-stream"),
    ],
)
async def test_what_may_hold_a_script_is_only_downloaded(
    served: Served, media_type: str, content_type: str
) -> None:
    await served.store(text_message(attachments=(Attachment(b"<script>", media_type),)))
    response = await served.get(blob_url(b"<script>"))
    assert response.content == b"<script>"
    assert response.headers["content-type"] == content_type
    assert response.headers["content-disposition"] == "attachment"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("size", [1, 2, 3, 4, 200_000, 3 * CHUNK])
async def test_an_image_inside_a_content_is_served_as_its_bytes(served: Served, size: int) -> None:
    image = hashlib.shake_128(b"image").digest(size)
    text = base64.b64encode(image)
    data = b'[{"type":"image","data":"' + text + b'"}]'

    def store(connection: Connection) -> None:
        row = {
            "project_id": "default",
            "hash": hashlib.sha256(image).digest(),
            "size": size,
            "media_type": "image/png",
            "content_hash": add_content(connection, data),
            "content_offset": data.index(text),
            "content_length": len(text),
        }
        connection.execute(insert(content_image_table).values(row))

    await served.database.write(store)
    response = await served.get(blob_url(image))
    assert (response.status_code, response.content) == (200, image)
    assert response.headers["content-type"] == "image/png"
    assert response.headers["content-length"] == str(size)
    assert response.headers["etag"] == f'"{name_of(image)}"'
    for first, last in _ends(size):
        part = await served.get(blob_url(image), range=f"bytes={first}-{last}")
        assert (part.status_code, part.content) == (206, image[first : last + 1])


def _ends(size: int) -> Sequence[tuple[int, int]]:
    """Return ranges that begin and end at every place in a group of base64."""
    middle = size // 2
    places = sorted({0, size - 1, *range(max(middle - 3, 0), min(middle + 3, size))})
    return [(first, last) for first in places for last in places if first <= last]


async def test_damaged_bytes_are_an_error_and_never_half_an_answer(served: Served) -> None:
    await served.store(tool_message(CONTENT))
    await served.database.write(lambda connection: connection.execute(delete(content_chunk_table)))
    for url in (content_url(1), blob_url(STORED)):
        response = await served.get(url)
        assert response.status_code == 500
        assert response.json()["errors"][0]["extensions"] == {"code": "CORRUPT_CONTENT"}


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
        await served.database.write(lambda connection: connection.execute(damage))
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(content_url(1))
        assert (await client.get("/healthz")).status_code == 200
    (logged,) = [record for record in caplog.records if record.name.startswith("toolfold")]
    assert logged.getMessage().startswith("A request failed: request ")
    assert value[:40] not in caplog.text


async def test_a_long_content_is_streamed_in_flat_memory(served: Served) -> None:
    """The client here holds nothing back, so that only the server's memory is seen."""
    size = 64 * 1024 * 1024
    await served.database.write(
        lambda connection: add_content(connection, b"x" * size, media_type="text/plain")
    )
    url = blob_url(b"x" * size)
    received = 0

    async def receive() -> ASGIMessage:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: ASGIMessage) -> None:
        nonlocal received
        received += len(message.get("body", b""))

    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "method": "GET",
        "path": url,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    tracemalloc.start()
    try:
        await served.app(scope, receive, send)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert received == size
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
