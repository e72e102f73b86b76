"""Opening a file for an import: looked at, compared with what is known, and perhaps being read."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio.to_thread
from sqlalchemy import Row

from toolfold.importers import Detection, Importer, detect_by_place
from toolfold.ingest import prior
from toolfold.ingest.batch import Batch, Problem
from toolfold.ingest.gathering import Gatherer
from toolfold.ingest.prior import Prior
from toolfold.ingest.reading import Reading, Step
from toolfold.ingest.reading_process import ReadingProcess
from toolfold.ingest.report import FileReport, FileState, failed, not_imported
from toolfold.ingest.source import Source
from toolfold.store import source
from toolfold.store.engine import Database

_Bytes = tuple[str, bytes, bytes]
"""A format, the digest of a file, and that of its companions."""

_Place = str | Detection | OSError
_Found = Prior | Detection | OSError

_MAX_FILES = 32
_MAX_BYTES = 16_000_000
"""What is looked at at a time: to go to another thread takes longer than to look at a file."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that is worth importing; whoever imports it says at the end that it `is_over`.

    The process reads it, as its file of this number, if there is a number.
    """

    path: Path
    importer: Importer
    source: Source
    is_over: asyncio.Event
    process: ReadingProcess | None = None
    number: int | None = None

    def steps(self) -> Iterator[Step[Batch]]:
        """Yield the steps of the import; blocks, so it is for a thread."""
        process, number = self.process, self.number
        if process is not None and number is not None and process.has_next(number):
            return process.steps(self.importer)
        gatherer = Gatherer(self.importer.name, keeps_raw=True)
        first = self.source.imported_line
        return Reading(self.importer, self.path, gatherer, imported_line=first).steps()


@dataclass(frozen=True, slots=True)
class Asked:
    """A file that is to be imported, by an importer or, if it is None, by the one that is detected.

    If `only` is given, a file of any other format is not asked for after all. `size` is how many
    bytes it has, roughly.
    """

    path: Path
    importer: Importer | None = None
    only: Importer | None = None
    size: int = 0


class Opener:
    """Opens the files of an import, which may be ahead of their being written.

    What is worth reading is given to `process` at once, so they are to be imported in this order.
    """

    def __init__(
        self, database: Database, project_id: str, process: ReadingProcess | None = None
    ) -> None:
        self._database = database
        self._project_id = project_id
        self._process = process
        self._under_way: dict[_Bytes, asyncio.Event] = {}

    async def open(self, path: Path, importer: Importer | None = None) -> Opened | FileReport:
        """Return a file that is worth importing, or the report of one that is not.

        Raises:
            DatabaseError: if the database fails.
        """
        asked = Asked(path, importer)
        (found,) = await self._look_at([asked])
        return await self._compared(asked, found)

    async def open_all(
        self, files: Iterable[Asked]
    ) -> AsyncGenerator[Opened | FileReport | None, None]:
        """Yield for each file what `open` returns, or None if it is not asked for after all.

        Files are looked at many at a time, which for one that is unchanged takes the most time.

        Raises:
            DatabaseError: if the database fails.
        """
        for portion in _portions(files):
            for asked, found in zip(portion, await self._look_at(portion), strict=True):
                if asked.only is None or _is_of(asked.only, found):
                    yield await self._compared(asked, found)
                else:
                    yield None

    async def _look_at(self, files: Sequence[Asked]) -> list[_Found]:
        places = await anyio.to_thread.run_sync(_places_of, files)
        ids = [place for place in places if isinstance(place, str)]
        async with self._database.read(single=True) as connection:
            rows = await source.by_ids(connection, self._project_id, ids)
        return await anyio.to_thread.run_sync(_look_at, files, places, rows)

    async def _compared(self, asked: Asked, found: _Found) -> Opened | FileReport:
        path = asked.path
        if isinstance(found, OSError):
            reason = f"cannot be read: {found.strerror or found}"
            name = asked.importer.name if asked.importer else None
            return failed(path, name, Problem(None, reason))
        if isinstance(found, Detection):
            return not_imported(path, found)
        if found.digest is not None:
            found = await self._beside_copies(found, found.digest)
        if found.is_unchanged:
            sessions = () if found.session_id is None else (found.session_id,)
            return FileReport(path, found.importer.name, FileState.UNCHANGED, sessions=sessions)
        return self._opened(path, found)

    async def _beside_copies(self, found: Prior, digest: bytes) -> Prior:
        """Compare with the files of the same bytes under other paths, such as before a move."""
        before = self._under_way.get((found.importer.name, digest, found.companions))
        if before is not None:
            await before.wait()
        async with self._database.read(single=True) as connection:
            row = await source.by_bytes(connection, self._project_id, digest, found.companions)
        if row is None or row.format != found.importer.name:
            return found
        return replace(found, is_unchanged=True, session_id=row.session_id)

    def _opened(self, path: Path, found: Prior) -> Opened:
        is_over = asyncio.Event()
        self._under_way = {key: one for key, one in self._under_way.items() if not one.is_set()}
        if found.digest is not None:
            self._under_way[found.importer.name, found.digest, found.companions] = is_over
        told = found.source(path)
        number = None
        if self._process is not None:
            first = told.imported_line
            number = self._process.begin(found.importer, path, imported_line=first)
        return Opened(path, found.importer, told, is_over, self._process, number)


def _portions(files: Iterable[Asked]) -> Iterator[list[Asked]]:
    portion: list[Asked] = []
    for asked in files:
        portion.append(asked)
        if len(portion) >= _MAX_FILES or sum(one.size for one in portion) >= _MAX_BYTES:
            yield portion
            portion = []
    if portion:
        yield portion


def _is_of(importer: Importer, found: _Found) -> bool:
    """Say whether a file is of a format; one that cannot be read may be."""
    if isinstance(found, OSError):
        return True
    return found.importer is not None and found.importer.name == importer.name


def _places_of(files: Iterable[Asked]) -> list[_Place]:
    """Return what each is known by as a source, or what it is, if its place tells that."""
    places: list[_Place] = []
    for asked in files:
        try:
            detected = None if asked.importer else detect_by_place(asked.path)
            places.append(detected or prior.source_id_of(asked.path))
        except OSError as error:
            places.append(error)
    return places


def _look_at(
    files: Sequence[Asked], places: Sequence[_Place], rows: Mapping[str, Row[Any]]
) -> list[_Found]:
    found: list[_Found] = []
    for asked, place in zip(files, places, strict=True):
        if not isinstance(place, str):
            found.append(place)
            continue
        try:
            found.append(prior.look(asked.path, asked.importer, rows.get(place)))
        except OSError as error:
            found.append(error)
    return found
