"""Heavy bytes: the only module that reads the tables `content` and `content_chunk`.

A content is named by its project and the SHA-256 of its bytes (32 bytes). Whatever is read is
verified: the whole against its hash, a part against the checksum of each chunk. Work on bytes is
done off the event loop.
"""

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

import zstandard
from sqlalchemy import Connection, Row, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.errors import CorruptContentError
from toolfold.store.chunks import Layout, corrupt, decode_base64
from toolfold.store.engine import Database
from toolfold.store.fetching import fetch
from toolfold.store.selection import one_of, pick
from toolfold.store.tables import content_chunk_table, content_image_table, content_table

Key = tuple[str, bytes]
"""(project id, SHA-256)."""

Read = Callable[[], AbstractAsyncContextManager[AsyncConnection]]
"""Gives a connection for as long as it is needed."""

CHUNK_SIZE = 256 * 1024
"""Bytes of content in each chunk but the last, before compression."""

_LEVEL = 3
_CHUNKS_AT_ONCE = 16
_CONTENTS_AT_ONCE = 500

_content = content_table.c
_content_key = (_content.project_id, _content.hash)
_contents = select(*pick(_content, ("project_id", "hash", "size", "chunk_size")))
_chunk = content_chunk_table.c
_chunk_key = (_chunk.project_id, _chunk.hash)
_key_of = attrgetter("project_id", "hash")
_chunks = select(*pick(_chunk, ("project_id", "hash", "position", "data")))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verifying one content found: `problem` is None if its bytes are those stored."""

    project_id: str
    digest: bytes
    size: int
    problem: str | None


class _Compressor(threading.local):
    """A compressor for each thread: making one costs as much as to compress a short content."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)


_own = _Compressor()


def compress(data: bytes) -> list[bytes]:
    """Return the frames that hold `data`, to be stored at positions 0, 1, 2; none for no bytes."""
    view = memoryview(data)
    starts = range(0, len(data), CHUNK_SIZE)
    return [_own.compressor.compress(view[start : start + CHUNK_SIZE]) for start in starts]


async def by_hashes(
    connection: AsyncConnection, keys: Collection[Key]
) -> dict[Key, bytes | CorruptContentError]:
    """Return the whole bytes of each key that exists, with one statement per table.

    One that is not what was stored has its error there, so that it does not fail the others.
    """
    if not keys:
        return {}
    of_contents = _contents.where(one_of(connection, _content_key, keys))
    contents = await fetch(connection, of_contents)
    of_chunks = _chunks.where(one_of(connection, _chunk_key, keys))
    ordered = of_chunks.order_by(*_chunk_key, _chunk.position)
    chunks = await fetch(connection, ordered)
    return await asyncio.to_thread(_assemble, contents, chunks)


async def describe(connection: AsyncConnection, project_id: str, digest: bytes) -> Row[Any] | None:
    """Return `size` in bytes, `media_type` and `chunk_size` of a content, None if there is none."""
    statement = select(*pick(_content, ("size", "media_type", "chunk_size"))).where(
        _content.project_id == project_id, _content.hash == digest
    )
    return (await connection.execute(statement)).one_or_none()


async def slice(  # noqa: A001 - it is called as content.slice.
    connection: AsyncConnection, project_id: str, digest: bytes, offset: int, length: int
) -> bytes:
    """Return bytes [offset, offset + length) as far as they exist, reading no other chunks.

    Raises:
        CorruptContentError: if there is no such content, or what is read is damaged.
    """
    layout = await _layout(connection, project_id, digest)
    end = min(offset + length, layout.size)
    if offset >= end:
        return b""
    positions = layout.positions(offset, end)
    statement = select(_chunk.position, _chunk.data).where(
        _chunk.project_id == project_id,
        _chunk.hash == digest,
        _chunk.position.between(positions.start, positions.stop - 1),
    )
    frames = {row.position: row.data for row in await connection.execute(statement)}

    def join() -> bytes:
        pieces = ((n, layout.decompress(n, frames.get(n))) for n in positions)
        return b"".join(layout.part(piece, n, offset, end) for n, piece in pieces)

    return await asyncio.to_thread(join)


def stream(
    database: Database, project_id: str, digest: bytes, start: int = 0, end: int | None = None
) -> AsyncIterator[bytes]:
    """Yield bytes [start, end) in pieces of at most a chunk, each read in its own transaction.

    When all of a content is asked for, its last piece comes only if the whole has its hash.

    Raises:
        CorruptContentError: if there is no such content, or what is read is damaged.
    """
    return _stream(partial(database.read, single=True), (project_id, digest), start, end)


def stream_frames(database: Database, project_id: str, digest: bytes) -> AsyncIterator[bytes]:
    """As `stream`, all of a content, in the zstd frames in which it is stored."""
    return _stream(partial(database.read, single=True), (project_id, digest), frames=True)


def stream_within(
    connection: AsyncConnection, project_id: str, digest: bytes
) -> AsyncIterator[bytes]:
    """As `stream`, all of a content, inside a transaction that the caller holds open."""
    return _stream(lambda: nullcontext(connection), (project_id, digest))


async def image(connection: AsyncConnection, project_id: str, digest: bytes) -> Row[Any] | None:
    """Return where an image stands: a row of `content_image`, None if its bytes are in none.

    `digest` is that of the decoded bytes, `size` their number. The base64 is in the standard
    alphabet without white space, with or without padding.
    """
    statement = select(content_image_table).where(
        content_image_table.c.project_id == project_id, content_image_table.c.hash == digest
    )
    first = statement.order_by(content_image_table.c.content_hash).limit(1)
    return (await connection.execute(first)).one_or_none()


async def stream_image(
    database: Database, image: Row[Any], start: int = 0, end: int | None = None
) -> AsyncIterator[bytes]:
    """Yield bytes [start, end) of an image, decoded while the content that holds it is read.

    Raises:
        CorruptContentError: if what is read is damaged, or is not base64.
    """
    end = image.size if end is None else min(end, image.size)
    # Four characters hold three bytes.
    first = start // 3 * 4
    last = min(image.content_length, -(-end // 3) * 4)
    offset = image.content_offset
    key = (image.project_id, image.content_hash)
    pieces = _stream(partial(database.read, single=True), key, offset + first, offset + last)
    position = start // 3 * 3
    rest = b""
    async for piece in pieces:
        text = rest + piece
        whole = len(text) // 4 * 4
        rest = text[whole:]
        decoded = decode_base64(text[:whole], image.content_hash)
        yield decoded[max(0, start - position) : max(0, end - position)]
        position += len(decoded)
    if rest:
        decoded = decode_base64(rest, image.content_hash)
        yield decoded[max(0, start - position) : max(0, end - position)]


def verify_all(connection: Connection, project_id: str | None = None) -> Iterator[Verdict]:
    """Verify every content, of one project or of all, in order of key; holds a few chunks at once.

    Synchronous, for `doctor`: run it on the connection of a read transaction.
    """
    for contents in _content_batches(connection, project_id):
        ends = (_key_of(contents[0]), _key_of(contents[-1]))
        groups = groupby(_chunks_between(connection, *ends), _key_of)
        key, chunks = next(groups, (None, iter(())))
        for row in contents:
            if key == _key_of(row):
                yield _verdict(row, chunks)
                key, chunks = next(groups, (None, iter(())))
            else:
                yield _verdict(row, ())


async def _stream(
    read: Read, key: Key, start: int = 0, end: int | None = None, *, frames: bool = False
) -> AsyncIterator[bytes]:
    async with read() as connection:
        layout = await _layout(connection, *key)
    end = layout.size if end is None else min(end, layout.size)
    whole = hashlib.sha256() if (start, end) == (0, layout.size) else None
    for position in layout.positions(start, end):
        async with read() as connection:
            frame = await _frame(connection, key, position)
        piece = await asyncio.to_thread(layout.verify, position, frame, whole)
        yield (frame or b"") if frames else layout.part(piece, position, start, end)


async def _layout(connection: AsyncConnection, project_id: str, digest: bytes) -> Layout:
    described = await describe(connection, project_id, digest)
    if described is None:
        raise corrupt(digest, "it is missing")
    return Layout(digest, described.size, described.chunk_size)


async def _frame(connection: AsyncConnection, key: Key, position: int) -> bytes | None:
    statement = select(_chunk.data).where(
        _chunk.project_id == key[0], _chunk.hash == key[1], _chunk.position == position
    )
    return (await connection.execute(statement)).scalar_one_or_none()


def _assemble(
    contents: Sequence[Row[Any]], chunks: Iterable[Row[Any]]
) -> dict[Key, bytes | CorruptContentError]:
    frames = {key: list(rows) for key, rows in groupby(chunks, _key_of)}
    found: dict[Key, bytes | CorruptContentError] = {}
    for row in contents:
        key = _key_of(row)
        try:
            found[key] = b"".join(_verified(row, frames.get(key, ())))
        except CorruptContentError as error:
            found[key] = error
    return found


def _verdict(content: Row[Any], chunks: Iterable[Row[Any]]) -> Verdict:
    problem = None
    try:
        for _ in _verified(content, chunks):
            pass
    except CorruptContentError as error:
        problem = error.message
    return Verdict(content.project_id, content.hash, content.size, problem)


def _verified(content: Row[Any], chunks: Iterable[Row[Any]]) -> Iterator[bytes]:
    layout = Layout(content.hash, content.size, content.chunk_size)
    return layout.verified((chunk.position, chunk.data) for chunk in chunks)


def _content_batches(
    connection: Connection, project_id: str | None
) -> Iterator[Sequence[Row[Any]]]:
    """Yield every content's row, a batch at a time, in order of key."""
    statement = (
        _contents if project_id is None else _contents.where(_content.project_id == project_id)
    )
    after: Key = ("", b"")
    while batch := connection.execute(
        statement.where(tuple_(*_content_key) > tuple_(*after))
        .order_by(*_content_key)
        .limit(_CONTENTS_AT_ONCE)
    ).all():
        yield batch
        after = _key_of(batch[-1])


def _chunks_between(connection: Connection, first: Key, last: Key) -> Iterator[Row[Any]]:
    """Yield the chunks of the contents from one key to another, few at a time, in order."""
    key = (*_chunk_key, _chunk.position)
    after = (*first, -1)
    while batch := connection.execute(
        _chunks.where(tuple_(*key) > tuple_(*after), tuple_(*_chunk_key) <= tuple_(*last))
        .order_by(*key)
        .limit(_CHUNKS_AT_ONCE)
    ).all():
        yield from batch
        after = (*_key_of(batch[-1]), batch[-1].position)
