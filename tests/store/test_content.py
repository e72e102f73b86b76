"""Heavy bytes: read whole, in parts, as a stream, as an image, and verified."""

import base64
import hashlib
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, update

from tests import builders
from tests.statements import statements
from tests.store.test_chunks import SIZE, noise
from toolfold.errors import CorruptContentError, NotFoundError
from toolfold.store import content, layouts
from toolfold.store.chunks import CHUNK_SIZE, compress
from toolfold.store.engine import Database
from toolfold.store.tables import content_chunk_table, content_image_table, content_table

BODIES = [b"", b"6", b"[null]", noise(SIZE - 1), noise(SIZE), noise(SIZE + 1), noise(3 * SIZE + 5)]
LARGE = noise(3 * SIZE + 5)
ABSENT = hashlib.sha256(b"absent").digest()


async def store(database: Database, *bodies: bytes, project_id: str = "default") -> list[bytes]:
    """Store contents and return their hashes."""

    def add(connection: Connection) -> list[bytes]:
        return [builders.add_content(connection, body, project_id=project_id) for body in bodies]

    return await database.write(add)


async def add_project(database: Database, project_id: str) -> None:
    await database.write(lambda connection: builders.add_project(connection, project_id))


async def damage(database: Database, digest: bytes, position: int, data: bytes | None) -> None:
    """Replace a chunk of a content, or remove it."""
    table = content_chunk_table
    place = (table.c.hash == digest, table.c.position == position)
    statement = (
        delete(table).where(*place)
        if data is None
        else update(table).where(*place).values(data=data)
    )
    await database.write(lambda connection: connection.execute(statement).close())


async def joined(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


async def test_whole_contents_are_read_with_one_statement_per_table(database: Database) -> None:
    await add_project(database, "other")
    here = await store(database, *BODIES)
    there = await store(database, LARGE, b"elsewhere", project_id="other")
    keys = [*(("default", digest) for digest in here), ("default", there[1]), ("other", there[0])]
    keys += [("other", here[2]), ("absent", here[2]), ("default", ABSENT)]
    async with database.read() as connection:
        with statements(database) as seen:
            found = await content.by_hashes(connection, keys)
    tables = [sql.partition("FROM ")[2].split()[0] for sql in seen]
    assert tables == ["content", "content_chunk"]
    assert found == {
        **{("default", digest): body for digest, body in zip(here, BODIES, strict=True)},
        ("other", there[0]): LARGE,
    }


async def test_no_keys_are_no_statement(database: Database) -> None:
    async with database.read() as connection:
        with statements(database) as seen:
            assert await content.by_hashes(connection, []) == {}
    assert seen == []


async def test_a_thousand_contents_are_two_statements(database: Database) -> None:
    bodies = [str(number).encode() for number in range(1_000)]
    digests = await store(database, *bodies)
    async with database.read() as connection:
        with statements(database) as seen:
            found = await content.by_hashes(connection, [("default", digest) for digest in digests])
    assert len(seen) == 2
    assert {key[1]: body for key, body in found.items()} == dict(zip(digests, bodies, strict=True))


@pytest.mark.parametrize(
    ("position", "data", "problem"),
    [
        (1, None, "chunk 1 is missing"),
        (0, b"garbage", "chunk 0 cannot be decompressed"),
        (0, compress(LARGE[::-1])[0], "its bytes have another hash"),
    ],
)
async def test_damage_is_told_by_the_hash(
    database: Database, position: int, data: bytes | None, problem: str
) -> None:
    [digest, intact] = await store(database, LARGE, b"intact")
    await damage(database, digest, position, data)
    message = f"The stored content sha256:{digest.hex()} is damaged: {problem}."
    async with database.read() as connection:
        found = await content.by_hashes(connection, [("default", intact), ("default", digest)])
    assert found["default", intact] == b"intact"
    error = found["default", digest]
    assert isinstance(error, CorruptContentError)
    assert error.message == message
    with pytest.raises(CorruptContentError) as caught:
        await joined(content.stream(database, "default", digest))
    assert caught.value.message == message
    verdicts = await verdicts_of(database)
    assert [verdict.problem for verdict in verdicts if verdict.problem] == [message]
    assert {verdict.digest for verdict in verdicts} == {digest, intact}


async def test_a_content_is_described(database: Database) -> None:
    [digest] = await store(database, LARGE)
    async with database.read() as connection:
        described = await layouts.describe(connection, "default", digest)
        assert described is not None
        assert tuple(described) == (len(LARGE), "application/json", CHUNK_SIZE, None)
        assert await layouts.describe(connection, "default", ABSENT) is None
        assert await layouts.describe(connection, "other", digest) is None


PLACES = (0, 1, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 3 * SIZE, 3 * SIZE + 4, 3 * SIZE + 5, 9 * SIZE)


async def test_a_slice_is_that_of_the_bytes(database: Database) -> None:
    [digest] = await store(database, LARGE)
    async with database.read() as connection:
        for offset, length in itertools.product(PLACES, (0, 1, 2, SIZE, SIZE + 1, 9 * SIZE)):
            found = await content.slice(connection, "default", digest, offset, length)
            assert found == LARGE[offset : offset + length], (offset, length)


async def test_a_slice_reads_only_its_chunks(database: Database) -> None:
    [digest] = await store(database, LARGE)
    await damage(database, digest, 0, b"garbage")
    await damage(database, digest, 2, None)
    async with database.read() as connection:
        assert (
            await content.slice(connection, "default", digest, SIZE, SIZE) == LARGE[SIZE : 2 * SIZE]
        )
        for offset, length, problem in (
            (SIZE - 1, 2, "chunk 0 cannot be decompressed"),
            (SIZE, SIZE + 1, "chunk 2 is missing"),
        ):
            with pytest.raises(CorruptContentError, match=problem):
                await content.slice(connection, "default", digest, offset, length)


async def test_what_is_not_there_and_that_nothing_uses_was_deleted(database: Database) -> None:
    async with database.read() as connection:
        with pytest.raises(NotFoundError, match="deleted while it was read"):
            await content.slice(connection, "default", ABSENT, 0, 1)
    with pytest.raises(NotFoundError, match="deleted while it was read"):
        await joined(content.stream(database, "default", ABSENT))


async def test_what_is_deleted_between_two_pieces_of_a_stream_is_not_found(
    database: Database,
) -> None:
    [digest] = await store(database, LARGE)
    stream = content.stream(database, "default", digest)
    assert await anext(stream) == LARGE[:SIZE]

    def remove(connection: Connection) -> None:
        for table in (content_chunk_table, content_table):
            connection.execute(delete(table).where(table.c.hash == digest))

    await database.write(remove)
    with pytest.raises(NotFoundError, match="deleted while it was read"):
        await anext(stream)


async def test_a_stream_is_the_bytes_from_start_to_end(database: Database) -> None:
    [digest, empty] = await store(database, LARGE, b"")
    for start, end in itertools.combinations_with_replacement(PLACES, 2):
        found = await joined(content.stream(database, "default", digest, start, end))
        assert found == LARGE[start:end], (start, end)
    assert await joined(content.stream(database, "default", digest)) == LARGE
    assert await joined(content.stream(database, "default", empty)) == b""


async def test_a_stream_holds_one_chunk_at_a_time(database: Database) -> None:
    [digest] = await store(database, LARGE)
    with statements(database) as seen:
        pieces = [piece async for piece in content.stream(database, "default", digest, 1)]
    assert [len(piece) for piece in pieces] == [SIZE - 1, SIZE, SIZE, 5]
    assert len(seen) == 1 + 4


async def test_a_stream_may_lie_within_a_transaction(database: Database) -> None:
    [digest] = await store(database, LARGE)
    async with database.read() as connection:
        assert await joined(content.stream_within(connection, "default", digest)) == LARGE


async def test_the_last_piece_of_a_damaged_stream_does_not_come(database: Database) -> None:
    [digest] = await store(database, LARGE)
    await damage(database, digest, 0, compress(LARGE[::-1])[0])
    pieces = content.stream(database, "default", digest)
    for _ in range(3):
        assert len(await anext(pieces)) == SIZE
    with pytest.raises(CorruptContentError, match="another hash"):
        await anext(pieces)


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 200_001, 400_000])
async def test_an_image_is_decoded_from_any_byte_to_any(
    database: Database, size: int, *, padded: bool
) -> None:
    picture = noise(size)
    text = base64.b64encode(picture)
    text = text if padded else text.rstrip(b"=")
    row = await store_image(database, b'[{"type":"image","data":"', text, b'"}]', picture)
    assert await joined(content.stream_image(database, row)) == picture
    places = [place for place in (0, 1, 2, 3, 4, 196_608, 196_613, size - 1, size) if place >= 0]
    for start, end in itertools.combinations_with_replacement(sorted(places), 2):
        found = await joined(content.stream_image(database, row, start, end))
        assert found == picture[start:end], (start, end)


async def test_an_image_that_is_no_base64_is_damage(database: Database) -> None:
    row = await store_image(database, b'"', b"====", b'"', b"\x00\x01\x02")
    with pytest.raises(CorruptContentError, match="an image in it is not base64"):
        await joined(content.stream_image(database, row))


async def test_an_image_that_is_not_there_is_none(database: Database) -> None:
    async with database.read() as connection:
        assert await content.image(connection, "default", ABSENT) is None


async def store_image(
    database: Database, before: bytes, text: bytes, after: bytes, picture: bytes
) -> Any:
    """Store a content with an image in it, and return where the image stands."""
    [holder] = await store(database, before + text + after)
    values = {
        "project_id": "default",
        "hash": hashlib.sha256(picture).digest(),
        "size": len(picture),
        "media_type": "image/png",
        "content_hash": holder,
        "content_offset": len(before),
        "content_length": len(text),
    }
    statement = insert(content_image_table).values(values)
    await database.write(lambda connection: connection.execute(statement).close())
    async with database.read() as connection:
        row = await content.image(connection, "default", hashlib.sha256(picture).digest())
    assert row is not None
    assert row._asdict() == values
    return row


async def verdicts_of(database: Database, project_id: str | None = None) -> list[content.Verdict]:
    async with database.read() as connection:
        return await connection.run_sync(lambda sync: list(content.verify_all(sync, project_id)))


async def test_every_content_of_every_project_is_verified(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layouts, "_AT_ONCE", 3)
    monkeypatch.setattr(content, "_CHUNKS_AT_ONCE", 2)
    await add_project(database, "other")
    here = await store(database, *BODIES)
    there = await store(database, LARGE, b"elsewhere", project_id="other")
    expected = sorted(
        [("default", digest, len(body)) for digest, body in zip(here, BODIES, strict=True)]
        + [("other", there[0], len(LARGE)), ("other", there[1], 9)]
    )
    found = await verdicts_of(database)
    assert [(one.project_id, one.digest, one.size) for one in found] == expected
    assert {one.problem for one in found} == {None}
    assert [one.digest for one in await verdicts_of(database, "other")] == sorted(there)
    assert await verdicts_of(database, "absent") == []


async def test_each_damaged_content_is_found_among_the_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layouts, "_AT_ONCE", 3)
    monkeypatch.setattr(content, "_CHUNKS_AT_ONCE", 2)
    digests = await store(database, *BODIES)
    await damage(database, digests[2], 0, None)
    await damage(database, digests[6], 1, None)
    await damage(database, digests[4], 0, compress(BODIES[4][::-1])[0])
    problems = {one.digest: one.problem for one in await verdicts_of(database) if one.problem}
    assert {
        digest: problem.partition(" is damaged: ")[2] for digest, problem in problems.items()
    } == {
        digests[2]: "chunk 0 is missing.",
        digests[6]: "chunk 1 is missing.",
        digests[4]: "its bytes have another hash.",
    }


async def test_a_content_without_any_chunk_is_damaged(database: Database) -> None:
    [digest] = await store(database, b"[null]")
    statement = update(content_table).values(size=0)
    await database.write(lambda connection: connection.execute(statement).close())
    assert [one.problem is None for one in await verdicts_of(database)] == [False]
    async with database.read() as connection:
        found = await content.by_hashes(connection, [("default", digest)])
    assert isinstance(found["default", digest], CorruptContentError)
