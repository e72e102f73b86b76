"""Content codings: which one an answer has, and that it is of the same bytes."""

import threading
import zlib
from collections.abc import AsyncIterator

import brotli  # type: ignore[import-untyped]  # It has no type stubs.
import httpx
import orjson
import pytest
import zstandard
from sqlalchemy import delete
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.builders import add_content, tool_message
from tests.server.serving import BASE_URL, in_process, on_a_port
from tests.server.small_schema import SmallSchema
from tests.server.stored import CHUNK, Served, blob_url, content_url, incompressible, name_of
from toolfold import stored_json
from toolfold.server import codings, create_app
from toolfold.server.compression import OFF_LOOP_BYTES, CompressionMiddleware
from toolfold.settings import Settings
from toolfold.store import chunks
from toolfold.store.tables import content_chunk_table

CODINGS = ("zstd", "br", "gzip")
TEXT = "word " * 400
JSON_TEXT = orjson.dumps(TEXT)


def decoded(coding: str, data: bytes) -> bytes:
    """Return what coded bytes stand for, by the libraries' own functions."""
    if coding == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    if coding == "br":
        return bytes(brotli.decompress(data))
    return zlib.decompress(data, wbits=31)


async def raw(
    client: httpx.AsyncClient, url: str, coding: str, **headers: str
) -> tuple[httpx.Response, bytes]:
    """Return an answer with its bytes as they came."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with client.stream("GET", url, headers={"accept-encoding": coding, **named}) as response:
        return response, b"".join([piece async for piece in response.aiter_raw()])


def app_of(response: Response) -> Starlette:
    async def answer(_: Request) -> Response:
        return response

    return Starlette(routes=[Route("/", answer)], middleware=[Middleware(CompressionMiddleware)])


def client_of(response: Response) -> httpx.AsyncClient:
    """Return a client of a server that answers once, with this."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app_of(response)), base_url=BASE_URL)


@pytest.mark.parametrize("coding", CODINGS)
async def test_an_answer_of_graphql_goes_out_in_each_coding(
    client: httpx.AsyncClient, coding: str
) -> None:
    query = {"query": "query($n: String!) { hello(name: $n) }", "variables": {"n": TEXT}}
    headers = {"accept-encoding": coding}
    async with client.stream("POST", "/graphql", json=query, headers=headers) as response:
        body = b"".join([piece async for piece in response.aiter_raw()])
    assert response.headers["content-encoding"] == coding
    assert response.headers["content-length"] == str(len(body))
    assert response.headers["vary"] == "Accept, Accept-Encoding"
    assert len(body) < len(TEXT) / 10
    assert orjson.loads(decoded(coding, body)) == {"data": {"hello": f"hello {TEXT}"}}


async def test_a_client_that_accepts_no_coding_gets_the_bytes_and_caches_are_told() -> None:
    for accepted in ("identity", "deflate", "*;q=0"):
        async with client_of(Response(JSON_TEXT, media_type="application/json")) as client:
            response, body = await raw(client, "/", accepted)
        assert body == JSON_TEXT
        assert "content-encoding" not in response.headers
        assert response.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("size", [codings.MIN_BYTES - 1, codings.MIN_BYTES])
async def test_a_body_below_a_kibibyte_stays_as_it_is(size: int) -> None:
    async with client_of(Response(b"1" * size, media_type="application/json")) as client:
        response, _ = await raw(client, "/", "gzip")
    assert ("content-encoding" in response.headers) is (size >= 1024)


@pytest.mark.parametrize(
    "response",
    [
        Response(JSON_TEXT, headers={"content-encoding": "gzip"}, media_type="application/json"),
        Response(JSON_TEXT, headers={"cache-control": "no-transform"}, media_type="text/plain"),
        Response(JSON_TEXT, media_type="image/png"),
        Response(JSON_TEXT),
        Response(JSON_TEXT, 206, media_type="text/plain"),
    ],
)
async def test_what_is_coded_or_must_stay_is_passed_on(response: Response) -> None:
    before = response.headers.get("content-encoding")
    async with client_of(response) as client:
        answer, body = await raw(client, "/", "gzip")
    assert (answer.headers.get("content-encoding"), body) == (before, JSON_TEXT)
    assert answer.headers["content-length"] == str(len(JSON_TEXT))


@pytest.mark.parametrize("coding", CODINGS)
async def test_large_bodies_are_compressed_by_another_thread_and_short_ones_are_not(
    coding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def watched(coding: str, body: bytes) -> bytes:
        threads.append(threading.current_thread())
        return codings.encode_whole(coding, body)

    monkeypatch.setattr("toolfold.server.compression.encode_whole", watched)
    for size in (OFF_LOOP_BYTES - 1, OFF_LOOP_BYTES):
        async with client_of(Response(b"1" * size, media_type="text/plain")) as client:
            _, body = await raw(client, "/", coding)
        assert decoded(coding, body) == b"1" * size
    here = threading.current_thread()
    assert [thread is here for thread in threads] == [True, False]


@pytest.mark.parametrize("coding", CODINGS)
async def test_a_body_in_pieces_is_coded_as_it_comes(coding: str) -> None:
    pieces = [incompressible(size).encode() for size in (1, 300_000, 7, 100_000)] + [b""]

    async def streamed() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async with client_of(StreamingResponse(streamed(), media_type="text/plain")) as client:
        response, body = await raw(client, "/", coding)
    assert "content-length" not in response.headers
    assert decoded(coding, body) == b"".join(pieces)


async def test_events_are_neither_coded_nor_held_back(
    schema: SmallSchema, settings: Settings
) -> None:
    query = {"query": "subscription { ticks }"}
    headers = {"accept": "text/event-stream", "accept-encoding": "zstd, br, gzip"}
    async with in_process(create_app(settings, schema=schema)) as client:
        response = await client.post("/graphql", json=query, headers=headers)
    assert "content-encoding" not in response.headers
    assert response.text.count("event: next\n") == 3


@pytest.mark.parametrize("coding", CODINGS)
async def test_stored_bytes_go_out_in_each_coding_under_a_weak_tag(
    served: Served, coding: str
) -> None:
    value = incompressible(2 * CHUNK + 10)
    stored = stored_json.encode(value)
    await served.store(tool_message(value))
    for url, whole in ((blob_url(stored), stored), (content_url(1), b'{"content":%b}' % stored)):
        plain, plain_body = await raw(served.client, url, "identity")
        response, body = await raw(served.client, url, coding)
        assert plain_body == decoded(coding, body) == whole
        assert response.headers["content-encoding"] == coding
        assert response.headers["etag"] == f"W/{plain.headers['etag']}"
        assert response.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
        assert plain.headers["content-length"] == str(len(whole))
        # httpx decodes what it accepts by itself, and no more than one frame of zstd.
        assert (await served.get(url, accept_encoding=coding)).content == whole


async def test_who_accepts_zstd_gets_a_frame_as_it_is_stored_if_it_is_one(served: Served) -> None:
    short, long = (stored_json.encode("a b c " * (size // 6)) for size in (CHUNK, CHUNK + 6))
    assert len(short) <= CHUNK < len(long)
    await served.store(*(tool_message(orjson.loads(stored)) for stored in (short, long)))
    _, body = await raw(served.client, blob_url(short), "gzip;q=0.5, zstd")
    assert [body] == chunks.compress(short)
    _, body = await raw(served.client, blob_url(long), "zstd")
    assert zstandard.ZstdDecompressor().decompressobj().decompress(body) == long


@pytest.mark.parametrize("coding", CODINGS)
async def test_a_head_says_what_a_get_in_that_coding_would(served: Served, coding: str) -> None:
    await served.store(tool_message(TEXT))
    for url in (blob_url(JSON_TEXT), content_url(1)):
        response, _ = await raw(served.client, url, coding)
        head = await served.client.head(url, headers={"accept-encoding": coding})
        assert head.content == b""
        assert dict(head.headers) == dict(response.headers)


async def test_a_client_that_has_the_bytes_in_any_coding_is_told_so(served: Served) -> None:
    await served.store(tool_message(TEXT))
    for url in (blob_url(JSON_TEXT), content_url(1)):
        strong = (await served.get(url, accept_encoding="identity")).headers["etag"]
        for accepted, etag in (("identity", strong), ("zstd", f"W/{strong}")):
            for known in (strong, f"W/{strong}"):
                again = await served.get(url, accept_encoding=accepted, if_none_match=known)
                assert (again.status_code, again.content) == (304, b"")
                assert again.headers["etag"] == etag
                assert again.headers["vary"] == "Accept-Encoding"
                assert "content-encoding" not in again.headers


async def test_a_range_is_of_the_bytes_as_they_are_and_joins_no_coded_part(
    served: Served,
) -> None:
    await served.store(tool_message(TEXT))
    url = blob_url(JSON_TEXT)
    etag = f'"{name_of(JSON_TEXT)}"'
    for condition in ({}, {"if_range": etag}):
        part, body = await raw(served.client, url, "zstd", range="bytes=5-8", **condition)
        assert (part.status_code, body) == (206, JSON_TEXT[5:9])
        assert "content-encoding" not in part.headers
        assert (part.headers["etag"], part.headers["vary"]) == (etag, "Accept-Encoding")
    whole = await served.get(url, accept_encoding="zstd", range="bytes=5-8", if_range=f"W/{etag}")
    assert (whole.status_code, whole.content) == (200, JSON_TEXT)
    refused = await served.get(url, accept_encoding="zstd", if_match=f"W/{etag}")
    assert refused.status_code == 412


@pytest.mark.parametrize("coding", CODINGS)
async def test_damage_in_a_later_chunk_cuts_the_connection_in_any_coding(
    settings: Settings, coding: str
) -> None:
    stored = stored_json.encode(incompressible(4 * CHUNK))
    app = create_app(settings)
    async with on_a_port(app) as host, httpx.AsyncClient(base_url=f"http://{host}") as client:
        await client.get("/healthz")
        served = Served(client, app)
        await served.store(tool_message(orjson.loads(stored)))
        damage = delete(content_chunk_table).where(content_chunk_table.c.position == 3)
        await served.write(lambda connection: connection.execute(damage))
        with pytest.raises(httpx.RemoteProtocolError):
            await served.get(blob_url(stored), accept_encoding=coding)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_long_content_is_coded_in_flat_memory(served: Served, coding: str) -> None:
    size = 64 * 1024 * 1024
    stored = b"x" * size
    await served.write(lambda connection: add_content(connection, stored, media_type="text/plain"))
    received: list[bytes] = []
    peak = await served.stream(blob_url(stored), received.append, accept_encoding=coding)
    assert decoded(coding, b"".join(received)) == stored
    assert peak < 8 * 1024 * 1024
