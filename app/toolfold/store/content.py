"""Heavy bytes: the only module that reads the tables `content` and `content_chunk`.

A content is named by its project and the SHA-256 of its bytes (32 bytes). Whatever is read is
verified: the whole against its hash, a part against the checksum of each chunk. Work on bytes is
done off the event loop.
"""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from sqlalchemy import Connection, Row, Select, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.errors import CorruptContentError
from toolfold.store import layouts
from toolfold.store.by_hash import ByHash
from toolfold.store.chunks import Key, Layout, Piece, ReadFrame, decode_base64, part
from toolfold.store.engine import Database
from toolfold.store.fetching import Reading, run
from toolfold.store.selection import one_of, pick
from toolfold.store.tables import content_chunk_table, content_image_table

Read = Callable[[], AbstractAsyncContextManager[AsyncConnection]]
"""Gives a connection for as long as it is needed."""

_Frames = dict[tuple[bytes, int], bytes]
"""The frames of chunks, by owner and position."""

_CHUNKS_AT_ONCE = 16

_chunk = content_chunk_table.c
_chunk_key = (_chunk.project_id, _chunk.hash)
_key_of = attrgetter("project_id", "hash")
_place = (*_chunk_key, _chunk.position)
_chunks = select(*pick(_chunk, ("project_id", "hash", "position", "data")))
_by_hash = ByHash(_chunks.order_by(*_place), *_chunk_key)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verifying one content found: `problem` is None if its bytes are those stored."""

    project_id: str
    digest: bytes
    size: int
    problem: str | None


async def by_hashes(
    connection: AsyncConnection, keys: Collection[Key]
) -> dict[Key, bytes | CorruptContentError]:
    """Return the whole bytes of each key that exists, with one statement per table.

    One more finds what contents rest on, if any does. One that is not what was stored has its
    error there, so that it does not fail the others.
    """
    if not keys:
        return {}
    return await run(connection, reading(connection, keys))


async def slice(  # noqa: A001 - it is called as content.slice.
    connection: AsyncConnection, project_id: str, digest: bytes, offset: int, length: int
) -> bytes:
    """Return bytes [offset, offset + length) as far as they exist, reading no other chunks.

    Raises:
        NotFoundError: if it was deleted.
        CorruptContentError: if it is missing, or what is read is damaged.
    """
    layout = await layouts.of(connection, project_id, digest)
    end = min(offset + length, layout.size)
    pieces = layout.between(offset, end) if offset < end else []
    if not pieces:
        return b""
    places = [(project_id, piece.owner, piece.position) for piece in pieces]
    found = await connection.execute(_chunks.where(one_of(connection, _place, places)))
    frames = {(row.hash, row.position): row.data for row in found}

    def join() -> bytes:
        frame_of = _among(frames)
        read = ((piece, layout.read(piece, frame_of(piece))) for piece in pieces)
        return b"".join(part(data, piece, offset, end) for piece, data in read)

    return await asyncio.to_thread(join)


def stream(
    database: Database, project_id: str, digest: bytes, start: int = 0, end: int | None = None
) -> AsyncIterator[bytes]:
    """Yield bytes [start, end) in pieces of at most a chunk, each read in its own transaction.

    When all of a content is asked for, its last piece comes only if the whole has its hash.

    Raises:
        NotFoundError: if it was deleted.
        CorruptContentError: if it is missing, or what is read is damaged.
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
        NotFoundError: if it was deleted.
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
    for contents, bases in layouts.batches(connection, project_id):
        ends = (_key_of(contents[0]), _key_of(contents[-1]))
        groups = groupby(_chunks_between(connection, *ends), _key_of)
        key, chunks = next(groups, (None, iter(())))
        for row in contents:
            if key == _key_of(row):
                yield _verdict(connection, row, bases, chunks)
                key, chunks = next(groups, (None, iter(())))
            else:
                yield _verdict(connection, row, bases, iter(()))


def _verdict(
    connection: Connection, row: Row[Any], bases: layouts.Bases, own: Iterator[Row[Any]]
) -> Verdict:
    """Verify a content, whose own chunks come in order of position: the last of its pieces."""

    def frame_of(piece: Piece) -> bytes | None:
        if piece.owner != row.hash:
            of_base = connection.execute(_of_piece(row.project_id, piece))
            frame: bytes | None = of_base.scalar_one_or_none()
            return frame
        chunk = next(own, None)
        return None if chunk is None or chunk.position != piece.position else chunk.data

    problem = None
    try:
        layout = Layout.of(row, bases)
        for _ in layout.verified(frame_of):
            pass
        layout.require_count(layout.own_count + sum(1 for _ in own))
    except CorruptContentError as error:
        problem = error.message
    return Verdict(row.project_id, row.hash, row.size, problem)


async def _stream(
    read: Read, key: Key, start: int = 0, end: int | None = None, *, frames: bool = False
) -> AsyncIterator[bytes]:
    async with read() as connection:
        layout = await layouts.of(connection, *key)
    end = layout.size if end is None else min(end, layout.size)
    whole = hashlib.sha256() if (start, end) == (0, layout.size) else None
    for piece in layout.between(start, end):
        async with read() as connection:
            frame = (await connection.execute(_of_piece(key[0], piece))).scalar_one_or_none()
            if frame is None:
                # It may have been deleted since.
                await layouts.of(connection, *key)
        data = await asyncio.to_thread(layout.verify, piece, frame, whole)
        yield (frame or b"") if frames else part(data, piece, start, end)


def _of_piece(project_id: str, piece: Piece) -> Select[Any]:
    return select(_chunk.data).where(
        _chunk.project_id == project_id,
        _chunk.hash == piece.owner,
        _chunk.position == piece.position,
    )


def _among(frames: _Frames) -> ReadFrame:
    """Return what finds the frame of a piece by its owner and position."""
    return lambda piece: frames.get((piece.owner, piece.position))


def reading(
    connection: AsyncConnection, keys: Collection[Key]
) -> Reading[dict[Key, bytes | CorruptContentError]]:
    """As `by_hashes`, for what is read together with them."""
    contents, bases = yield from layouts.read(connection, keys)
    query = _by_hash.query(connection, {*keys, *bases})
    assemble = partial(_assemble, contents, bases)
    found: dict[Key, bytes | CorruptContentError] = yield query._replace(
        make=assemble, is_long=True
    )
    return found


def _assemble(
    contents: Sequence[Row[Any]], bases: layouts.Bases, chunks: Iterable[Any]
) -> dict[Key, bytes | CorruptContentError]:
    """Assemble contents of the chunks of them and of all that they rest on, in order of key.

    As long as nothing rests on anything, a content's frames are dropped before the next one's come.
    """
    waiting = {_key_of(row): row for row in contents}
    found: dict[Key, bytes | CorruptContentError] = {}
    if bases:
        frames: dict[str, _Frames] = defaultdict(dict)
        counts: Counter[Key] = Counter()
        for project_id, digest, position, data in chunks:
            frames[project_id][digest, position] = data
            counts[project_id, digest] += 1
        for key, row in waiting.items():
            found[key] = _joined(row, bases, frames[key[0]], counts[key])
        return found
    for key, own in groupby(chunks, itemgetter(0, 1)):
        of_one: _Frames = {(digest, position): data for _, digest, position, data in own}
        if key in waiting:
            found[key] = _joined(waiting.pop(key), bases, of_one, len(of_one))
    for key, row in waiting.items():
        found[key] = _joined(row, bases, {}, 0)
    return found


def _joined(
    row: Row[Any], bases: layouts.Bases, frames: _Frames, count: int
) -> bytes | CorruptContentError:
    """Return the bytes of one content, which has `count` chunks of its own, or what is wrong."""
    try:
        layout = Layout.of(row, bases)
        data = b"".join(layout.verified(_among(frames)))
        layout.require_count(count)
    except CorruptContentError as error:
        return error
    return data


def _chunks_between(connection: Connection, first: Key, last: Key) -> Iterator[Row[Any]]:
    """Yield the chunks of the contents from one key to another, few at a time, in order."""
    after = (*first, -1)
    while batch := connection.execute(
        _chunks.where(tuple_(*_place) > tuple_(*after), tuple_(*_chunk_key) <= tuple_(*last))
        .order_by(*_place)
        .limit(_CHUNKS_AT_ONCE)
    ).all():
        yield from batch
        after = (*_key_of(batch[-1]), batch[-1].position)
