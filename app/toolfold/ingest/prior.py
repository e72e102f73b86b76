"""What is known of a file before it is read: whether, and from which line, it is worth reading."""

import hashlib
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio.to_thread
from sqlalchemy import Row

from toolfold.importers import Importer
from toolfold.ingest.preparation import mend
from toolfold.ingest.source import Source
from toolfold.store import source
from toolfold.store.engine import Database


@dataclass(frozen=True, slots=True)
class Prior:
    """What earlier imports make of a file.

    `is_unchanged` says that all of it, and of its companions, was imported. `imported_line` is
    the last line that need not be told again. `companions` is what they are now, `changed_at`
    when the file was last written, never later than now.
    """

    source_id: str
    companions: bytes
    changed_at: datetime
    is_unchanged: bool = False
    imported_line: int = 0
    session_id: str | None = None

    def source(self, path: Path, importer: Importer) -> Source:
        """Return the file as the source of the import that is worth making."""
        return Source(
            id=self.source_id,
            path=mend(str(path.resolve())),
            format=importer.name,
            companions=self.companions,
            changed_at=self.changed_at,
            imported_line=self.imported_line,
            session_id=self.session_id,
        )


@dataclass(frozen=True, slots=True)
class _Now:
    """A file as it is: its source's id, its size in bytes, and what `Prior` says of it."""

    source_id: str
    size: int
    companions: bytes
    changed_at: datetime


async def look_up(database: Database, project_id: str, path: Path, importer: Importer) -> Prior:
    """Compare a file with what was imported of it, or of a file of the same bytes.

    Raises:
        OSError: if the file cannot be read.
    """
    now = await anyio.to_thread.run_sync(_look_at, path, importer)
    prior = Prior(now.source_id, now.companions, now.changed_at)
    async with database.read() as connection:
        row = await source.by_id(connection, project_id, now.source_id)
    if row is None or row.format != importer.name:
        row = await _copy(database, project_id, path, now)
        if row is not None and row.format == importer.name:
            return replace(prior, is_unchanged=True, session_id=row.session_id)
        return prior
    begins_the_same = await anyio.to_thread.run_sync(_digest, path, row.size) == row.digest
    return _compared(prior, row, now, begins_the_same=begins_the_same)


def _compared(prior: Prior, row: Row[Any], now: _Now, *, begins_the_same: bool) -> Prior:
    was_ended = row.companions is not None
    same_companions = row.companions == now.companions
    # Another companion may complete what an earlier line told.
    goes_on = begins_the_same and (same_companions or not was_ended)
    return replace(
        prior,
        is_unchanged=begins_the_same and same_companions and now.size == row.size,
        imported_line=row.line if goes_on else 0,
        session_id=row.session_id,
    )


async def _copy(database: Database, project_id: str, path: Path, now: _Now) -> Row[Any] | None:
    """Return the source of the same bytes under another path, such as before the file moved."""
    digest = await anyio.to_thread.run_sync(_digest, path, now.size)
    async with database.read() as connection:
        return await source.by_bytes(connection, project_id, digest, now.companions)


def _look_at(path: Path, importer: Importer) -> _Now:
    whole_path = path.resolve()
    status = path.stat()
    return _Now(
        source_id=hashlib.sha256(os.fsencode(whole_path)).hexdigest(),
        size=status.st_size,
        companions=_companions(importer, whole_path),
        changed_at=_past(status.st_mtime),
    )


def _past(seconds: float) -> datetime:
    """Return the time so many seconds after 1970; now, if that is yet to come or is no time."""
    now = datetime.now(UTC)
    try:
        return min(now, datetime.fromtimestamp(seconds, UTC))
    except (OSError, OverflowError, ValueError):
        return now


def _digest(path: Path, size: int) -> bytes:
    """Return the SHA-256 of a file's first `size` bytes, or of all if it has fewer."""
    digest = hashlib.sha256()
    left = size
    with path.open("rb") as file:
        while left and (piece := file.read(min(left, 1024 * 1024))):
            digest.update(piece)
            left -= len(piece)
    return digest.digest()


def _companions(importer: Importer, path: Path) -> bytes:
    """Return the SHA-256 over the names and sizes of the files that are read with a transcript.

    Names are told from the transcript's folder, so that they are the same when all are moved.
    """
    digest = hashlib.sha256()
    for companion in importer.companions(path):
        name = os.path.relpath(companion.resolve(), path.parent)
        digest.update(b"%b\0%d\0" % (os.fsencode(name), companion.stat().st_size))
    return digest.digest()
