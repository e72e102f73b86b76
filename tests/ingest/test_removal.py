"""A session that was deleted comes back from the file that told of it, whichever else it told."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.builders import PROJECT
from tests.ingest.lines_importer import message, write
from tests.ingest.stored import findings, messages, rows, session
from toolfold.importers import Importer, Transcript
from toolfold.ingest import FileReport, FileState, import_file, lifecycle
from toolfold.store.engine import Database
from toolfold.store.tables import record_table, source_table, told_session_table
from toolfold.transcript import Entry, Record

NAMES = ("one first", "two first", "two odd", "one second")


def _parse(transcript: Transcript) -> Iterator[Entry]:
    """Yield of a line `SESSION NAME` a message of the session, or a record if it is odd."""
    for line in transcript.lines:
        of, name = line.raw.decode().split()
        value = Record(line.raw, "It is odd.") if name == "odd" else message(name)
        yield Entry(of, line.number, value)


IMPORTER = Importer("test-sessions", lambda _sample: True, _parse, lambda _path: ())


@dataclass(frozen=True, slots=True)
class Imported:
    """A file of two sessions that was imported."""

    database: Database
    path: Path

    async def again(self) -> FileReport:
        return await import_file(self.database, PROJECT, self.path, importer=IMPORTER)

    async def remove(self, *names: str) -> None:
        for name in names:
            session_id = (await session(self.database, name))["id"]
            remove = partial(lifecycle.remove, project_id=PROJECT, session_id=session_id)
            await self.database.write(remove)

    async def records(self) -> list[bytes]:
        return [row["raw"] for row in await rows(self.database, record_table)]


@pytest.fixture
async def imported(database: Database, tmp_path: Path) -> Imported:
    made = Imported(database, write(tmp_path / "log", *NAMES))
    assert (await made.again()).added == 3
    assert (await made.again()).state is FileState.UNCHANGED
    return made


@pytest.mark.parametrize(("name", "count"), [("one", 2), ("two", 1)])
async def test_any_session_of_a_file_is_imported_anew(
    imported: Imported, name: str, count: int
) -> None:
    before = await messages(imported.database, "session_id", "sequence", "client_id")
    await imported.remove(name)
    # It may be the other session's.
    assert await imported.records() == [b"two odd"]
    report = await imported.again()
    assert (report.added, report.skipped) == (count, 3 - count)
    assert await messages(imported.database, "session_id", "sequence", "client_id") == before
    assert await imported.records() == [b"two odd"]
    assert (await imported.again()).state is FileState.UNCHANGED
    assert await findings(imported.database) == []


async def test_a_copy_of_the_file_is_imported_too(imported: Imported, tmp_path: Path) -> None:
    await imported.remove("two")
    copy = Imported(imported.database, write(tmp_path / "copy", *NAMES))
    assert (await copy.again()).added == 1


async def test_a_session_told_by_a_later_import_of_the_file_is_imported_anew(
    imported: Imported,
) -> None:
    write(imported.path, *NAMES, "three first")
    assert (await imported.again()).added == 1
    await imported.remove("three")
    assert (await imported.again()).added == 1


async def test_nothing_is_left_of_a_file_when_the_last_of_its_sessions_is_deleted(
    imported: Imported,
) -> None:
    await imported.remove("one", "two")
    for table in (source_table, record_table, told_session_table):
        assert await rows(imported.database, table) == []
    assert (await imported.again()).added == 3
