"""Stored bytes and images by their hash: as what they are served, and what browsers may show."""

import base64
import hashlib
from collections.abc import Sequence

import pytest
from sqlalchemy import Connection, insert

from tests.builders import add_content, add_project, text_message, tool_message
from tests.server.stored import CHUNK, Served, blob_url, incompressible, name_of
from toolfold import stored_json
from toolfold.store.tables import content_image_table
from toolfold.transcript import Attachment

CONTENT = [{"type": "content", "text": "café"}]
STORED = '[{"type":"content","text":"café"}]'.encode()


async def test_a_blob_is_its_stored_bytes_to_be_kept_for_good(served: Served) -> None:
    await served.store(tool_message(CONTENT))
    response = await served.get(blob_url(STORED))
    assert (response.status_code, response.content) == (200, STORED)
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "private, max-age=31536000, immutable"


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
    await served.write(lambda connection: add_project(connection, "other"))
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

    await served.write(store)
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
