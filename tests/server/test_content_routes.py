"""Tool contents over HTTP: whole, by range, conditionally."""

import pytest
from sqlalchemy import delete

from tests.builders import add_project, text_message, tool_message
from tests.server.stored import CHUNK, Served, blob_url, content_url, incompressible, name_of
from toolfold.store.tables import content_chunk_table
from toolfold.transcript import Json

CONTENT: Json = [{"type": "content", "text": "café 😀", "n": 123456789012345678901}]
STORED = '[{"type":"content","text":"café 😀","n":123456789012345678901}]'.encode()


async def test_a_tool_calls_content_is_its_stored_bytes_in_an_object(served: Served) -> None:
    await served.store(text_message(), tool_message(CONTENT))
    response = await served.get(content_url(2))
    assert response.status_code == 200
    assert response.content == b'{"content":' + STORED + b"}"
    assert response.headers["content-type"] == "application/json"
    assert response.headers["content-length"] == str(len(STORED) + 12)
    assert response.headers["accept-ranges"] == "bytes"
    assert response.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_content_of_one_chunk_is_read_with_its_message(
    served: Served, hops: list[None]
) -> None:
    await served.store(tool_message(CONTENT), tool_message(incompressible(2 * CHUNK)))
    await served.get(content_url(1))
    hops.clear()
    first = await served.get(content_url(1))
    assert len(hops) == 1
    assert first.content == b'{"content":' + STORED + b"}"
    await served.get(content_url(1), if_none_match=first.headers["etag"])
    assert len(hops) == 2
    # A longer one is never in memory whole.
    await served.get(content_url(2))
    assert len(hops) > 4


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
    await served.write(lambda connection: add_project(connection, "other"))
    await served.store(tool_message(CONTENT), text_message())
    assert (await served.get(content_url(1))).status_code == 200
    response = await served.get(url)
    assert response.status_code == 404
    assert response.json()["errors"][0]["extensions"] == {"code": "NOT_FOUND"}


async def test_a_head_says_what_a_get_would_and_reads_no_content(served: Served) -> None:
    await served.store(tool_message(CONTENT))
    await served.write(lambda connection: connection.execute(delete(content_chunk_table)))
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
