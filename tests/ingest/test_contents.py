"""Contents: bytes stored once, the images in them, attachments, and who refers to what."""

import base64
import hashlib
from functools import partial
from typing import Any

import pytest

from tests.builders import add_project, text_block
from tests.ingest.stored import contents, findings, ingest, messages, rows, state, sweep
from tests.statements import statements
from toolfold.store.engine import Database
from toolfold.store.tables import (
    attachment_table,
    content_chunk_table,
    content_image_table,
    content_reference_table,
    content_table,
)
from toolfold.transcript import (
    Attachment,
    Json,
    Message,
    MessageRole,
    ToolCall,
    ToolCallUpdate,
    Value,
)


def call(client_id: str, tool_call_id: str, **fields: Any) -> Message:
    return Message(client_id, MessageRole.TOOL, tool_call=ToolCall(tool_call_id, **fields))


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def noise(size: int) -> bytes:
    """Return bytes that do not compress, the same each time."""
    pieces = [sha256(number.to_bytes(4, "big")) for number in range(size // 32 + 1)]
    return b"".join(pieces)[:size]


async def test_a_content_lies_in_slices_of_256_kib(database: Database) -> None:
    text = noise(400_000).hex()
    await ingest(database, call("m1", "c1", raw_output=text))
    [row] = await rows(database, content_table)
    assert row == {
        "project_id": "default",
        "hash": sha256(f'"{text}"'.encode()),
        "size": 800_002,
        "media_type": "application/json",
        "chunk_size": 262_144,
        "base_hash": None,
        "base_size": 0,
        "replaced_at": None,
    }
    assert [row["position"] for row in await rows(database, content_chunk_table)] == [0, 1, 2, 3]
    assert await contents(database) == {row["hash"]: f'"{text}"'.encode()}
    assert await findings(database) == []


async def test_what_the_project_has_is_not_written_again(database: Database) -> None:
    await ingest(database, call("m1", "c1", content=[text_block("same")]))
    with statements(database) as seen:
        await ingest(database, call("m1", "c1", content=[text_block("same")]), session="s2")
    assert not [sql for sql in seen if "content_chunk" in sql]
    assert len(await contents(database)) == 1
    references = await rows(database, content_reference_table, "hash", "sequence", "part")
    assert (
        references
        == [
            {
                "hash": sha256(b'[{"type":"content","content":{"type":"text","text":"same"}}]'),
                "sequence": 1,
                "part": "tool_content",
            }
        ]
        * 2
    )


async def test_a_replaced_content_is_swept_unless_another_uses_it(database: Database) -> None:
    await ingest(
        database,
        call("m1", "c1", content=["shared"], raw_input=["own"]),
        call("m2", "c2", content=["shared"]),
    )
    await ingest(database, ToolCallUpdate("c1", content=["new"], raw_input=["newer"]))
    assert len(await contents(database)) == 4
    await sweep(database)
    assert set((await contents(database)).values()) == {b'["shared"]', b'["new"]', b'["newer"]'}
    await ingest(database, ToolCallUpdate("c2", content=["new"]))
    assert await findings(database) == []
    await sweep(database)
    assert set((await contents(database)).values()) == {b'["new"]', b'["newer"]'}
    assert await findings(database) == []


async def test_one_content_may_be_several_parts_of_a_message(database: Database) -> None:
    await ingest(database, call("m1", "c1", content=["x"], raw_input=["x"], raw_output=["x"]))
    assert len(await contents(database)) == 1
    parts = [row["part"] for row in await rows(database, content_reference_table)]
    assert parts == ["raw_input", "raw_output", "tool_content"]
    await ingest(database, ToolCallUpdate("c1", raw_input=None, content=["y"]))
    parts = [row["part"] for row in await rows(database, content_reference_table)]
    assert sorted(parts) == ["raw_output", "tool_content"]
    assert len(await contents(database)) == 2
    assert await findings(database) == []


async def test_what_updates_in_a_batch_replace_is_never_written(database: Database) -> None:
    await ingest(
        database,
        call("m1", "c1"),
        *(ToolCallUpdate("c1", content=[f"line {number}"]) for number in range(50)),
    )
    assert list((await contents(database)).values()) == [b'["line 49"]']


async def test_images_and_other_bytes_in_a_content_are_found_where_they_stand(
    database: Database,
) -> None:
    picture, sound, page = noise(1_000), noise(2_000), noise(3_001)
    blocks = [
        text_block("before, é"),
        {
            "type": "content",
            "content": {
                "type": "image",
                "data": base64.b64encode(picture).decode(),
                "mimeType": "image/png",
            },
        },
        {"type": "audio", "data": base64.b64encode(sound).decode()},
        {
            "type": "content",
            "content": {
                "type": "resource",
                "resource": {
                    "uri": "file:///a.pdf",
                    "mimeType": "application/pdf",
                    "blob": base64.b64encode(page).decode(),
                },
            },
        },
    ]
    await ingest(database, call("m1", "c1", content=blocks))
    [(digest, stored)] = (await contents(database)).items()
    found = await rows(database, content_image_table)
    assert {(row["hash"], row["size"], row["media_type"]) for row in found} == {
        (sha256(picture), 1_000, "image/png"),
        (sha256(sound), 2_000, "application/octet-stream"),
        (sha256(page), 3_001, "application/pdf"),
    }
    for row in found:
        assert row["content_hash"] == digest
        place = slice(row["content_offset"], row["content_offset"] + row["content_length"])
        assert sha256(base64.b64decode(stored[place])) == row["hash"]
    [message] = await messages(database)
    assert message["tool_content_preview"] == (
        "before, é\n[image/png, 1.0 kB]\n[audio, 2.0 kB]\n[application/pdf, 3.0 kB]"
    )
    assert await findings(database) == []


@pytest.mark.parametrize("kind", ["image", "audio", "resource"])
async def test_images_are_found_in_bytes_that_are_stored_as_another_part_too(
    database: Database, kind: str
) -> None:
    media = {"data": base64.b64encode(noise(50)).decode(), "mimeType": "image/png"}
    block: Json = {"type": kind, **media}
    if kind == "resource":
        block = {"type": kind, "resource": {"uri": "u", "blob": media["data"]}}
    same = [block]
    orders: list[list[Value]] = [
        [call("m1", "c1", content=same, raw_output=same)],
        [call("m1", "c1", raw_output=same), call("m2", "c2", content=same)],
        [call("m1", "c1", content=same), call("m2", "c2", raw_input=same)],
        [call("m1", "c1"), ToolCallUpdate("c1", content=same, raw_output=same)],
    ]
    for number, values in enumerate(orders):
        for apart in (False, True):
            project_id = f"{kind}-{number}-{apart}"
            await database.write(partial(add_project, project_id=project_id))
            for one in [[value] for value in values] if apart else [values]:
                await ingest(database, *one, project_id=project_id)
            found = await rows(database, content_image_table, "project_id", "hash")
            assert {"project_id": project_id, "hash": sha256(noise(50))} in found
            assert await findings(database, project_id) == []


async def test_one_image_twice_in_a_content_is_found_once(database: Database) -> None:
    block = {"type": "image", "data": base64.b64encode(noise(50)).decode(), "mimeType": "image/png"}
    await ingest(database, call("m1", "c1", content=[block, block]))
    assert len(await rows(database, content_image_table)) == 1


async def test_what_is_not_base64_is_no_image(database: Database) -> None:
    blocks = [
        {"type": "image", "data": data, "mimeType": "image/png"}
        for data in ("", "not base64!", "YWJj\nZGVm", "é", 5, None)
    ]
    await ingest(database, call("m1", "c1", content=blocks), call("m2", "c2", content="YWJj"))
    assert await rows(database, content_image_table) == []


async def test_a_replaced_content_takes_its_images_with_it(database: Database) -> None:
    block = {"type": "image", "data": base64.b64encode(noise(50)).decode(), "mimeType": "image/png"}
    await ingest(database, call("m1", "c1", content=[block]))
    await ingest(database, ToolCallUpdate("c1", content=[]))
    await sweep(database)
    assert await rows(database, content_image_table) == []
    assert await findings(database) == []


async def test_attachments_are_contents_of_their_own(database: Database) -> None:
    picture = noise(300_000)
    message = Message(
        "m1",
        MessageRole.USER,
        "Look:",
        attachments=(
            Attachment(picture, "image/png", "a.png"),
            Attachment(b"", "text/plain"),
            Attachment(picture, "image/png", "again\x00.png"),
        ),
    )
    await ingest(database, message)
    [row] = await messages(database)
    assert (row["attachment_count"], row["repaired"]) == (3, True)
    names = ("position", "hash", "size", "mime_type", "name")
    described = [tuple(row.values()) for row in await rows(database, attachment_table, *names)]
    assert described == [
        (0, sha256(picture), 300_000, "image/png", "a.png"),
        (1, sha256(b""), 0, "text/plain", None),
        (2, sha256(picture), 300_000, "image/png", "again\ufffd.png"),
    ]
    assert await contents(database) == {sha256(picture): picture, sha256(b""): b""}
    media_types = [row["media_type"] for row in await rows(database, content_table)]
    assert sorted(media_types) == ["image/png", "text/plain"]
    assert await findings(database) == []
    before = await state(database)
    await ingest(database, message)
    assert await state(database) == before


async def test_attachments_may_come_when_a_message_is_told_again(database: Database) -> None:
    await ingest(database, Message("m1", MessageRole.USER, "Look:"))
    attachments = (Attachment(b"abc", "text/plain"),)
    counts = await ingest(
        database, Message("m1", MessageRole.USER, "Look:", attachments=attachments)
    )
    assert counts.updated == 1
    assert list((await contents(database)).values()) == [b"abc"]
    assert await findings(database) == []


async def test_a_text_that_grows_leaves_no_content_behind(database: Database) -> None:
    for size in (17_000, 18_000, 19_000):
        await ingest(database, Message("m1", MessageRole.USER, "x" * size))
    await sweep(database)
    assert [row["size"] for row in await rows(database, content_table)] == [19_000]
    [row] = await rows(database, content_table)
    assert row["media_type"] == "text/plain; charset=utf-8"
    assert await findings(database) == []


async def test_stored_bytes_are_compressed(database: Database) -> None:
    await ingest(database, call("m1", "c1", content=[text_block(noise(300_000).hex())]))
    stored = sum(len(row["data"]) for row in await rows(database, content_chunk_table))
    assert stored < 350_000
