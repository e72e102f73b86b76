"""What ingest wrote, read back from the tables by statements of its own."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import zstandard
from sqlalchemy import Table, select

from tests.builders import PROJECT
from toolfold.ingest import Counts, record
from toolfold.store.doctor import CHECKS
from toolfold.store.engine import Database
from toolfold.store.recording import content as recorded
from toolfold.store.tables import (
    content_chunk_table,
    content_table,
    message_table,
    session_table,
)
from toolfold.transcript import Entry, Value

FORMAT = "test-format"
AFTER_ALL = "9999"
"""A time after any that is stored."""

NOW = datetime(2026, 11, 30, 17, 9, 47, 447_000, tzinfo=UTC)
NOW_TEXT = "2026-11-30T17:09:47.447Z"


def at(minutes: int) -> datetime:
    """Return a time on the day before `NOW`: minutes after nine."""
    return datetime(2026, 11, 29, 9, tzinfo=UTC) + timedelta(minutes=minutes)


def at_text(minutes: int) -> str:
    """Return the same time as it is to be stored."""
    return f"2026-11-29T{9 + minutes // 60:02}:{minutes % 60:02}:00.000Z"


async def ingest(
    database: Database, *values: Value, session: str = "s1", project_id: str = PROJECT
) -> Counts:
    """Record values of one session in one transaction."""
    return await ingest_entries(
        database, (Entry(session, None, value) for value in values), project_id=project_id
    )


async def ingest_entries(
    database: Database, entries: Iterable[Entry], project_id: str = PROJECT
) -> Counts:
    """Record entries in one transaction."""
    given = list(entries)
    return await database.write(
        lambda connection: record(connection, project_id, given, format=FORMAT, now=NOW)
    )


async def rows(database: Database, table: Table, *names: str) -> list[dict[str, Any]]:
    """Return the columns `names` (none is all) of every row, in order of the primary key."""
    columns = [table.c[name] for name in names] or list(table.c)
    async with database.read() as connection:
        found = await connection.execute(select(*columns).order_by(*table.primary_key))
        return [dict(row) for row in found.mappings()]


async def messages(database: Database, *names: str) -> list[dict[str, Any]]:
    """Return columns of every message."""
    return await rows(database, message_table, *names)


async def session(database: Database, own_id: str = "s1") -> dict[str, Any]:
    """Return the row of the session that has this id of the agent's own."""
    found = await rows(database, session_table)
    return next(row for row in found if row["source_session"] == own_id)


async def contents(database: Database) -> dict[bytes, bytes]:
    """Return every content by its hash, put together from its chunks and checked."""
    chunks = await rows(database, content_chunk_table)
    found: dict[bytes, bytes] = {}
    stored = await rows(database, content_table)
    for row in stored:
        data = _bytes_of(row["hash"], {one["hash"]: one for one in stored}, chunks)
        assert hashlib.sha256(data).digest() == row["hash"]
        assert len(data) == row["size"]
        found[row["hash"]] = data
    return found


def _bytes_of(
    digest: bytes, stored: dict[bytes, dict[str, Any]], chunks: list[dict[str, Any]]
) -> bytes:
    row = stored[digest]
    pieces = [
        zstandard.ZstdDecompressor().decompress(chunk["data"])
        for chunk in chunks
        if chunk["hash"] == digest
    ]
    assert all(len(piece) == row["chunk_size"] for piece in pieces[:-1])
    beginning = _bytes_of(row["base_hash"], stored, chunks) if row["base_hash"] else b""
    assert len(beginning) >= row["base_size"]
    return beginning[: row["base_size"]] + b"".join(pieces)


async def sweep(database: Database) -> None:
    """Delete what was replaced, as the server does after a while."""
    while await database.write(lambda connection: recorded.sweep(connection, AFTER_ALL)):
        pass


async def part(database: Database, sequence: int, name: str) -> bytes | None:
    """Return the bytes of a heavy part of the only session's message."""
    for row in await messages(database):
        if row["sequence"] == sequence:
            digest = row[f"{name}_hash"]
            data = None if digest is None else (await contents(database))[digest]
            assert row[f"{name}_size"] == (None if data is None else len(data))
            return data
    raise AssertionError(f"There is no message {sequence}.")


async def state(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Return every row of every table, to be compared with another time's."""
    return {
        table.name: await rows(database, table) for table in session_table.metadata.sorted_tables
    }


async def findings(database: Database, project_id: str = PROJECT) -> list[str]:
    """Return what the doctor finds."""
    async with database.read() as connection:
        return [
            f"{finding.name} {finding.place}: {finding.detail}"
            for check in CHECKS.values()
            async for finding in check(connection, project_id)
        ]
