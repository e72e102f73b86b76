"""What a file is beside what was imported of it: whether, and from which line, it is worth reading.

Nothing here asks the database, so that it can be done in a thread.
"""

import hashlib
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Row

from toolfold.importers import Detection, Importer, detect, importer_of
from toolfold.ingest.preparation import mend
from toolfold.ingest.source import Source

_BUFFER_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Prior:
    """What earlier imports make of a file.

    `is_unchanged` says that all of it, and of its companions, was imported. `imported_line` is
    the last line that need not be told again. `companions` is what they are now, `changed_at`
    when the file was last written, never later than now. `digest` is that of all of its bytes if
    nothing was imported of it, as then a file of the same bytes may have been.
    """

    importer: Importer
    source_id: str
    companions: bytes
    changed_at: datetime
    digest: bytes | None = None
    is_unchanged: bool = False
    imported_line: int = 0
    session_id: str | None = None

    def source(self, path: Path) -> Source:
        """Return the file as the source of the import that is worth making."""
        return Source(
            id=self.source_id,
            path=mend(str(path.resolve())),
            format=self.importer.name,
            companions=self.companions,
            changed_at=self.changed_at,
            imported_line=self.imported_line,
            session_id=self.session_id,
        )


def source_id_of(path: Path) -> str:
    """Return what a file is known by as a source."""
    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()


def look(path: Path, importer: Importer | None, row: Row[Any] | None) -> Prior | Detection:
    """Compare a file with `row`, which is what was imported of it; say what it is if no importer.

    What begins as it did when it was imported is of the format that it was then, and need not be
    detected again.

    Raises:
        OSError: if the file cannot be read.
    """
    begins_the_same = row is not None and _digest(path, row.size) == row.digest
    if importer is None and row is not None and row.size and begins_the_same:
        importer = importer_of(row.format)
    if importer is None:
        detected = detect(path)
        if detected.importer is None:
            return detected
        importer = detected.importer
    found = _as_it_is(path, importer)
    if row is None or row.format != importer.name:
        return replace(found.prior, digest=_digest(path, found.size))
    same_companions = row.companions == found.prior.companions
    # Another companion may complete what an earlier line told.
    goes_on = begins_the_same and (same_companions or row.companions is None)
    return replace(
        found.prior,
        is_unchanged=begins_the_same and same_companions and found.size == row.size,
        imported_line=row.line if goes_on else 0,
        session_id=row.session_id,
    )


class _Now(NamedTuple):
    """A file as it is: its size in bytes, and what `Prior` says of it without anything imported."""

    size: int
    prior: Prior


def _as_it_is(path: Path, importer: Importer) -> _Now:
    status = path.stat()
    companions = _companions(importer, path.resolve())
    changed_at = _past(status.st_mtime)
    return _Now(status.st_size, Prior(importer, source_id_of(path), companions, changed_at))


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
    buffer = memoryview(bytearray(min(size, _BUFFER_BYTES)))
    left = size
    with path.open("rb", buffering=0) as file:
        while left and (count := file.readinto(buffer[:left])):
            digest.update(buffer[:count])
            left -= count
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
