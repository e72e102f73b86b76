"""Which chunks hold a content: the rows of `content`, and those of the bases that it rests on."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from toolfold.errors import AppError, NotFoundError
from toolfold.store.by_hash import ByHash
from toolfold.store.chunks import Key, Layout, corrupt
from toolfold.store.fetching import Query, Reading, run
from toolfold.store.selection import one_of, pick
from toolfold.store.tables import content_reference_table, content_table

Bases = Mapping[Key, Row[Any]]
"""The rows of all that some contents rest on, directly or not."""

_AT_ONCE = 500

_column = content_table.c
_key = (_column.project_id, _column.hash)
_DELETED = (
    "This was deleted while it was read. If it is told again, run `toolfold doctor`: it is damaged."
)

_reference_key = (content_reference_table.c.project_id, content_reference_table.c.hash)
_rows = select(
    *pick(_column, ("project_id", "hash", "size", "chunk_size", "base_hash", "base_size"))
)
_by_hash = ByHash(_rows, *_key)


async def describe(connection: AsyncConnection, project_id: str, digest: bytes) -> Row[Any] | None:
    """Return `size` in bytes, `media_type`, `chunk_size`, `base_hash`; None if there is none."""
    names = ("size", "media_type", "chunk_size", "base_hash")
    statement = select(*pick(_column, names)).where(
        _column.project_id == project_id, _column.hash == digest
    )
    return (await connection.execute(statement)).one_or_none()


async def of(connection: AsyncConnection, project_id: str, digest: bytes) -> Layout:
    """Return the layout of a content.

    Raises:
        NotFoundError: if it was deleted.
        CorruptContentError: if it is missing, or what it rests on is.
    """
    key = (project_id, digest)
    contents, bases = await run(connection, read(connection, {key}))
    if not contents:
        raise (await absences(connection, {key}))[key]
    return Layout.of(contents[0], bases)


async def absences(connection: AsyncConnection, keys: Collection[Key]) -> dict[Key, AppError]:
    """Return why contents are not there, in the transaction in which they were looked for.

    What no message uses was deleted, after whoever asks for it had read of it in another
    transaction; what one does use is damage.
    """
    if not keys:
        return {}
    used = select(*_reference_key).where(one_of(connection, _reference_key, keys)).distinct()
    found = {(row.project_id, row.hash) for row in await connection.execute(used)}
    return {
        key: corrupt(key[1], "it is missing") if key in found else NotFoundError(_DELETED)
        for key in keys
    }


def read(
    connection: AsyncConnection, keys: Collection[Key]
) -> Reading[tuple[Sequence[Row[Any]], Bases]]:
    """Read the row of each key that exists, and all that they rest on.

    Most rest on nothing, and that takes no statement.
    """
    contents = yield _by_hash.query(connection, keys)
    statement = _of_bases(connection, contents)
    return contents, {} if statement is None else _by_key((yield Query(statement)))


def batches(
    connection: Connection, project_id: str | None
) -> Iterator[tuple[Sequence[Row[Any]], Bases]]:
    """Yield all contents, some at a time in order of key, with what they rest on."""
    statement = _rows if project_id is None else _rows.where(_column.project_id == project_id)
    after: Key = ("", b"")
    while batch := connection.execute(
        statement.where(tuple_(*_key) > tuple_(*after)).order_by(*_key).limit(_AT_ONCE)
    ).all():
        of_bases = _of_bases(connection, batch)
        found = [] if of_bases is None else connection.execute(of_bases).all()
        yield batch, _by_key(found)
        after = batch[-1].project_id, batch[-1].hash


def _of_bases(
    connection: AsyncConnection | Connection, contents: Sequence[Row[Any]]
) -> Select[Any] | None:
    keys = {(row.project_id, row.base_hash) for row in contents if row.base_hash is not None}
    if not keys:
        return None
    found = _rows.where(one_of(connection, _key, keys)).cte("base", recursive=True)
    below = and_(_column.project_id == found.c.project_id, _column.hash == found.c.base_hash)
    return select(found.union(_rows.join(found, below)))


def _by_key(found: Sequence[Row[Any]]) -> Bases:
    return {(row.project_id, row.hash): row for row in found}
