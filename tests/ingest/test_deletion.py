"""A session that is deleted while it is imported stays deleted until its file brings it back."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.builders import PROJECT
from tests.ingest.lines_importer import message, write
from tests.ingest.stored import findings, ingest, messages, rows, session
from toolfold.importers import Importer, Transcript
from toolfold.ingest import FileReport, FileState, import_file, lifecycle, send_file
from toolfold.ingest.receiving import Receiver, answer
from toolfold.store.engine import Database
from toolfold.store.tables import session_table
from toolfold.transcript import Entry, Session, SessionStatus

Meanwhile = Callable[[], Awaitable[Any]]


def _parse(transcript: Transcript) -> Iterator[Entry]:
    """Yield of a line `SESSION NAME` a message; of `SESSION of:PARENT` whose child it is."""
    for line in transcript.lines:
        of, name = line.raw.decode().split()
        parent = name.removeprefix("of:")
        value = message(name) if parent == name else Session(parent=parent)
        yield Entry(of, line.number, value)


IMPORTER = Importer("test-sessions", lambda _sample: True, _parse, lambda _path: ())


@dataclass
class Importing:
    """Imports of one file, read and written here or sent to be written."""

    database: Database
    path: Path
    monkeypatch: pytest.MonkeyPatch
    is_sent: bool

    def grow(self, *names: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in names)

    async def run(self, path: Path | None = None) -> FileReport:
        given = self.database, PROJECT, path or self.path
        if self.is_sent:
            return await send_file(*given, self._post, importer=IMPORTER)
        return await import_file(*given, importer=IMPORTER)

    async def run_while(self, *, after: int, meanwhile: Meanwhile) -> FileReport:
        """Import; when so many transactions have been committed something happens meanwhile."""
        write_one, count = self.database.write, 0

        async def write_and_count(function: Any) -> Any:
            nonlocal count
            if count == after:
                context.setattr(self.database, "write", write_one)
                await meanwhile()
            count += 1
            return await write_one(function)

        with self.monkeypatch.context() as context:
            context.setattr(self.database, "write", write_and_count)
            report = await self.run()
        assert count > after
        return report

    async def remove(self, name: str) -> str:
        session_id: str = (await session(self.database, name))["id"]
        remove = partial(lifecycle.remove, project_id=PROJECT, session_id=session_id)
        await self.database.write(remove)
        return session_id

    async def stored(self) -> dict[str, list[str]]:
        """Return the messages of each session, both by the agent's own names."""
        assert await findings(self.database) == []
        return {
            row["source_session"]: [
                told["client_id"]
                for told in await messages(self.database, "session_id", "sequence", "client_id")
                if told["session_id"] == row["id"]
            ]
            for row in await rows(self.database, session_table)
        }

    async def _post(self, lines: AsyncIterator[bytes]) -> Any:
        receiver = Receiver(self.database, PROJECT, lambda _counts: None)
        async for piece in lines:
            await receiver.take(piece)
        await receiver.end()
        return orjson.loads(orjson.dumps(answer(receiver.tally)))


@pytest.fixture(params=["here", "sent"])
def importing(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Importing:
    return Importing(database, tmp_path / "log", monkeypatch, request.param == "sent")


def numbered(first: int, last: int) -> list[str]:
    return [f"m{number}" for number in range(first, last + 1)]


def lines(of: str, names: list[str]) -> list[str]:
    return [f"{of} {name}" for name in names]


@pytest.mark.parametrize("after", [1, 3])
async def test_it_is_not_imported_and_comes_back_whole(importing: Importing, after: int) -> None:
    write(importing.path, *lines("one", numbered(1, 3_500)))
    report = await importing.run_while(after=after, meanwhile=partial(importing.remove, "one"))
    assert (report.state, report.added, report.sessions) == (FileState.DELETED, 0, ())
    [problem] = report.problems
    assert "was deleted meanwhile" in problem.reason
    assert await importing.stored() == {}
    report = await importing.run()
    assert (report.state, report.added) == (FileState.IMPORTED, 3_500)
    assert await importing.stored() == {"one": numbered(1, 3_500)}
    assert (await importing.run()).state is FileState.UNCHANGED


async def test_the_files_other_sessions_are_imported(importing: Importing) -> None:
    both = zip(lines("one", numbered(1, 1_500)), lines("two", numbered(1, 1_500)), strict=True)
    write(importing.path, *(line for pair in both for line in pair))
    report = await importing.run_while(after=1, meanwhile=partial(importing.remove, "one"))
    two = (await session(importing.database, "two"))["id"]
    assert (report.state, report.added, report.sessions) == (FileState.IMPORTED, 1_500, (two,))
    assert await importing.stored() == {"two": numbered(1, 1_500)}
    report = await importing.run()
    assert (report.added, report.skipped) == (1_500, 1_500)
    assert await importing.stored() == dict.fromkeys(("one", "two"), numbered(1, 1_500))


async def test_one_that_was_told_whole_comes_back_too(importing: Importing) -> None:
    write(importing.path, *lines("one", ["first"]), *lines("two", numbered(1, 2_500)))
    report = await importing.run_while(after=2, meanwhile=partial(importing.remove, "one"))
    assert (report.state, report.problems) == (FileState.IMPORTED, ())
    assert await importing.stored() == {"two": numbered(1, 2_500)}
    assert (await importing.run()).added == 1
    assert await importing.stored() == {"two": numbered(1, 2_500), "one": ["first"]}


@pytest.mark.parametrize("after", [0, 1, 2])
async def test_what_an_earlier_import_told_is_not_lost(importing: Importing, after: int) -> None:
    write(importing.path, "one m1", "two m1")
    await importing.run()
    importing.grow(*lines("one", numbered(2, 2_500)))
    report = await importing.run_while(after=after, meanwhile=partial(importing.remove, "one"))
    assert report.state is FileState.DELETED
    assert await importing.stored() == {"two": ["m1"]}
    assert (await importing.run()).added == 2_500
    assert await importing.stored() == {"two": ["m1"], "one": numbered(1, 2_500)}


async def test_what_an_earlier_import_told_is_not_lost_though_it_is_told_late(
    importing: Importing,
) -> None:
    write(importing.path, "one m1", "two m1")
    await importing.run()
    importing.grow(*lines("two", numbered(2, 2_500)), "one m2")
    report = await importing.run_while(after=1, meanwhile=partial(importing.remove, "one"))
    assert (report.state, len(report.problems)) == (FileState.IMPORTED, 1)
    assert await importing.stored() == {"two": numbered(1, 2_500)}
    assert (await importing.run()).added == 2
    assert await importing.stored() == {"two": numbered(1, 2_500), "one": ["m1", "m2"]}


async def test_what_it_starts_is_not_imported_either(importing: Importing) -> None:
    write(importing.path, *lines("one", numbered(1, 1_500)), "two of:one", "two m1", "one last")
    report = await importing.run_while(after=1, meanwhile=partial(importing.remove, "one"))
    assert report.state is FileState.DELETED
    assert await importing.stored() == {}
    assert (await importing.run()).added == 1_502
    stored = {row["source_session"]: row for row in await rows(importing.database, session_table)}
    assert stored["two"]["parent_id"] == stored["one"]["id"]


async def test_one_that_another_import_made_anew_is_left_alone(
    importing: Importing, tmp_path: Path
) -> None:
    write(importing.path, *lines("one", numbered(1, 2_500)))
    other = write(tmp_path / "other", "one other")

    async def made_anew() -> None:
        await importing.remove("one")
        await importing.run(other)

    report = await importing.run_while(after=1, meanwhile=made_anew)
    assert report.state is FileState.DELETED
    assert await importing.stored() == {"one": ["other"]}
    assert (await importing.run()).added == 2_500
    assert await importing.stored() == {"one": ["other", *numbered(1, 2_500)]}


async def test_one_that_came_under_an_id_of_its_own_stays_deleted(importing: Importing) -> None:
    under_own_id = Session(id="abc", format=IMPORTER.name)
    await ingest(importing.database, under_own_id, message("before"), session="one")
    write(importing.path, *lines("one", numbered(1, 2_500)))
    report = await importing.run_while(after=1, meanwhile=partial(importing.remove, "one"))
    assert (report.state, report.added, report.sessions) == (FileState.DELETED, 0, ())
    [problem] = report.problems
    assert "abc" in problem.reason
    assert await importing.stored() == {}
    assert (await importing.run()).added == 2_500


async def test_one_that_came_under_an_id_of_its_own_is_imported_anew(importing: Importing) -> None:
    under_own_id = Session(id="abc", format=IMPORTER.name)
    await ingest(importing.database, under_own_id, message("before"), session="one")
    write(importing.path, "one m1")
    assert (await importing.run()).sessions == ("abc",)
    await importing.remove("one")
    assert (await importing.run()).added == 1


async def test_an_archived_one_is_told_as_deleted_too(importing: Importing) -> None:
    await ingest(importing.database, Session(status=SessionStatus.ARCHIVED, format=IMPORTER.name))
    write(importing.path, *lines("s1", numbered(1, 2_500)))
    report = await importing.run_while(after=1, meanwhile=partial(importing.remove, "s1"))
    assert report.state is FileState.DELETED
    assert await importing.stored() == {}
    assert (await importing.run()).added == 2_500
