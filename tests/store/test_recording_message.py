"""Messages as they are written: each text in one place, whatever became of it."""

import pytest
from sqlalchemy import Connection

from tests import builders
from tests.ingest.stored import findings
from toolfold.store import message
from toolfold.store.engine import Database
from toolfold.store.page import PageRequest
from toolfold.store.recording import content
from toolfold.store.recording import message as recording
from toolfold.store.recording.content import Reference

KEY = (builders.PROJECT, builders.SESSION)


@pytest.mark.parametrize(
    "lengths",
    [
        (500, 5_000, 20_000, 5_000, 500),
        (500, 20_000, 500),
        (5_000, 6_000),
        (1_024, 1_025, 1_024),
        (16_384, 16_385, 16_384),
    ],
)
async def test_a_text_moves_with_its_size(database: Database, lengths: tuple[int, ...]) -> None:
    others = [builders.text_message("o" * 3_000), builders.text_message("short")]
    await builders.store_session(database, [builders.text_message(client_id="m1"), *others])
    for length in lengths:
        await _replace(database, "z" * length)
        async with database.read() as connection:
            page = await message.page(
                connection,
                *KEY,
                PageRequest(first=9),
                columns=("content", "content_preview", "content_size"),
            )
        assert [tuple(row) for row in page.rows] == [
            ("z" * length if length <= 16_384 else None, "z" * 280, length),
            ("o" * 3_000, "o" * 280, 3_000),
            ("short", "short", 5),
        ]
        assert await findings(database) == []


async def test_a_text_is_found_wherever_it_is_stored(database: Database) -> None:
    texts = {f"m{length}": "z" * length for length in (0, 500, 5_000, 20_000)}
    told = [builders.text_message(text, client_id=name) for name, text in texts.items()]
    await builders.store_session(database, told)
    found = await database.write(
        lambda connection: recording.by_client_ids(connection, *KEY, texts)
    )
    assert {name: row["content"] for name, row in found.items()} == {**texts, "m20000": None}


async def _replace(database: Database, text: str) -> None:
    """Give the message `m1` a text; a long one is a content."""

    def change(connection: Connection) -> None:
        row = recording.by_client_ids(connection, *KEY, ["m1"])["m1"]
        digest = None
        if len(text) > builders.TEXT_BYTES:
            digest = builders.add_content(connection, text.encode())
            content.refer(connection, builders.PROJECT, [_reference(digest)])
        values = {
            "content_size": len(text),
            "content_hash": digest,
            "content_preview": text[:280],
            "content": None if digest else text,
        }
        recording.replace(connection, [{**row, **values}])
        if row["content_hash"] is not None:
            content.release(
                connection, builders.PROJECT, [_reference(row["content_hash"])], builders.NOW
            )

    await database.write(change)


def _reference(digest: bytes) -> Reference:
    return Reference(digest, builders.SESSION, 1, "content")
