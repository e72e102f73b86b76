"""Parts that grow call by call: what is written of them, and that it is what the whole is."""

import hashlib
import itertools
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from tests.builders import add_project, store_session
from tests.ingest.stored import contents, findings, messages, rows, sweep
from toolfold.importers import IMPORTERS
from toolfold.ingest import acp_stream, growth, import_file
from toolfold.ingest.acp_stream import Streams
from toolfold.ingest.growth import LEVEL_BYTES, shared_bytes
from toolfold.settings import Settings
from toolfold.store import content
from toolfold.store.chunks import compress
from toolfold.store.engine import Database
from toolfold.store.recording import content as recorded
from toolfold.store.recording.content import Base, Content
from toolfold.store.tables import content_table
from toolfold.transcript import Json

PAGE_BYTES = 8192
CALL_PAGES = 26
"""What a call may write of SQLite's log, in pages: one for each row and index that it touches."""

OF_PARTS = (
    "content_size",
    "content_hash",
    "content",
    "content_preview",
    "tool_content_size",
    "tool_content_hash",
    "tool_content_preview",
    "tool_content_state",
    "raw_output_size",
    "raw_output_hash",
)


def said(piece: str, _whole: str) -> Json:
    content_block = {"type": "text", "text": piece}
    return {"sessionUpdate": "agent_message_chunk", "content": content_block}


def called(**given_fields: Any) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "c", **given_fields}


def printed(piece: str, _whole: str) -> Json:
    return called(_meta={"terminal_output_delta": {"terminal_id": "t", "data": piece}})


def restated(_piece: str, whole: str) -> Json:
    block = {"type": "content", "content": {"type": "text", "text": whole}}
    return called(content=[block, {"type": "diff", "path": "/a", "newText": "b"}])


def returned(_piece: str, whole: str) -> Json:
    return called(rawOutput={"stdout": whole, "code": None})


WAYS = {"text": said, "terminal": printed, "content": restated, "raw output": returned}


def noise(count: int, seed: int) -> str:
    """Return text that zstd leaves half of, with a line's end."""
    return random.Random(seed).randbytes(count // 2).hex() + "\n"  # noqa: S311 - no secret.


def updates_of(way: str, pieces: list[str]) -> list[Json]:
    """Return the updates that tell a text piece by piece, each in its way."""
    wholes = itertools.accumulate(pieces)
    return [WAYS[way](piece, whole) for piece, whole in zip(pieces, wholes, strict=True)]


class Written:
    """What reaches the database: bytes of contents, and of SQLite's log (0 on PostgreSQL)."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self.heavy = 0

    @property
    def log(self) -> int:
        return self._log.stat().st_size if self._log.exists() else 0

    def count(self, _c: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("INSERT INTO content_chunk"):
            rows_given = parameters if isinstance(parameters, list) else [parameters]
            self.heavy += sum(len(row[-1]) for row in rows_given)


@pytest.fixture
async def written(database: Database, database_settings: Settings) -> AsyncIterator[Written]:
    """Count what is written while the test runs; the log is not copied into the file meanwhile."""
    await store_session(database, [], session_id="s")
    if database.dialect == "sqlite":
        await database.write(
            lambda connection: connection.exec_driver_sql("PRAGMA wal_autocheckpoint=0").close()
        )
    found = Written(database_settings.data_dir / "toolfold.db-wal")
    for engine in database.engines:
        event.listen(engine, "before_cursor_execute", found.count)
    yield found
    for engine in database.engines:
        event.remove(engine, "before_cursor_execute", found.count)


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_written_of_a_growing_part_grows_as_the_part_does(
    database: Database, written: Written, way: str
) -> None:
    half = 60
    pieces = [noise(1_500, number) for number in range(2 * half)]
    streams = Streams()
    log = [written.log]
    heavy = [0]
    for index, update in enumerate(updates_of(way, pieces)):
        await streams.record(database, ("default", "s"), index, [update])
        if index in (half - 1, 2 * half - 1):
            log.append(written.log)
            heavy.append(written.heavy)
    assert 0 < heavy[2] <= 2 * half * LEVEL_BYTES + 8 * sum(map(len, pieces))
    # Twice for the pieces, and a little more: levels are merged, and the first 16 KiB of a text are
    # no content. The square of the length would make it 4 times.
    assert heavy[2] <= 3 * heavy[1]
    # What is told again whole is kept as it was told, too.
    if way in ("text", "terminal"):
        assert log[2] - log[0] <= 2 * half * CALL_PAGES * PAGE_BYTES
        assert log[2] - log[0] <= 2.4 * (log[1] - log[0])
    assert await findings(database) == []
    await sweep(database)
    assert await findings(database) == []
    stored = [row["size"] for row in await rows(database, content_table)]
    assert len(stored) <= 6
    whole = "".join(pieces).encode()
    (data,) = (data for data in (await contents(database)).values() if len(data) == max(stored))
    assert whole.replace(b"\n", b"") in data.replace(b"\\n", b"").replace(b"\n", b"")


async def test_a_grown_content_is_read_whole_in_parts_and_as_a_stream(database: Database) -> None:
    await store_session(database, [], session_id="s")
    streams = Streams()
    pieces = [noise(6_000, number) for number in range(30)]
    for index, update in enumerate(updates_of("text", pieces)):
        await streams.record(database, ("default", "s"), index, [update])
    whole = "".join(pieces).encode()
    (message,) = await messages(database)
    key = ("default", message["content_hash"])
    owners = [row for row in await rows(database, content_table) if row["base_hash"]]
    assert owners
    places = sorted({0, 1, len(whole), *(row["base_size"] for row in owners)})
    async with database.read() as connection:
        assert await content.by_hashes(connection, {key}) == {key: whole}
        for start, end in itertools.combinations(places, 2):
            found = await content.slice(connection, *key, start, end - start)
            assert found == whole[start:end]
    assert b"".join([piece async for piece in content.stream(database, *key)]) == whole


@pytest.mark.parametrize("is_forgotten", [False, True])
async def test_a_part_goes_on_growing_when_what_was_remembered_is_lost(
    database: Database, monkeypatch: pytest.MonkeyPatch, *, is_forgotten: bool
) -> None:
    await store_session(database, [], session_id="s")
    if is_forgotten:
        monkeypatch.setattr(acp_stream, "MAX_GROWTH_BYTES", 0)
    streams = Streams()
    pieces = [noise(10_000, number) for number in range(8)]
    for index, update in enumerate(updates_of("terminal", pieces)):
        await streams.record(database, ("default", "s"), index, [update])
        if not is_forgotten and index == 4:
            streams = Streams()
    bases = [row["base_hash"] for row in await rows(database, content_table)]
    assert any(bases) is not is_forgotten
    assert await findings(database) == []


async def test_a_content_whose_base_is_gone_is_stored_whole(database: Database) -> None:
    data = b"".join(noise(1_000, number).encode() for number in range(300))
    digest = hashlib.sha256(data).digest()
    base = Base(b"\0" * 32, 300_000)
    frames = tuple(compress(data, base.size))
    grown = Content(digest, len(data), "text/plain", frames, base=base, data=data)
    await database.write(lambda connection: recorded.add_missing(connection, "default", [grown]))
    async with database.read() as connection:
        key = ("default", digest)
        assert await content.by_hashes(connection, {key}) == {key: data}


numbers = itertools.count()
CHARACTERS = st.sampled_from(["a", "b ", "\n", '"', "é", "✓", "\\", "😀", "word "])


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    told=st.lists(
        st.tuples(
            st.sampled_from(["terminal", "content", "raw output", "text"]),
            st.lists(CHARACTERS, min_size=1, max_size=40).map("".join),
        ),
        min_size=1,
        max_size=16,
    ),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=10),
)
async def test_a_stream_in_any_batches_is_what_its_log_is_imported_as(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: list[tuple[str, str]],
    sizes: list[int],
) -> None:
    for name, value in (("MIN_BYTES", 40), ("LEVEL_BYTES", 16), ("TAIL_BYTES", 12)):
        monkeypatch.setattr(growth, name, value)
    # Each example has a project of its own.
    project = f"p{next(numbers)}"
    await database.write(lambda connection: add_project(connection, project))
    await store_session(database, [], project_id=project, session_id="s")
    updates = [
        # A message's text becomes a content beyond 16 KiB.
        WAYS[way](piece * 200 if way == "text" else piece, whole)
        for (way, piece), whole in zip(
            told, itertools.accumulate(piece for _, piece in told), strict=True
        )
    ]
    streams, first = Streams(), 0
    for size in itertools.cycle(sizes):
        if first >= len(updates):
            break
        await streams.record(database, (project, "s"), first, updates[first : first + size])
        first += size
    log = tmp_path / f"{project}.ndjson"
    log.write_bytes(b"".join(map(_notice, updates)))
    importer = next(one for one in IMPORTERS if one.name == "acp")
    report = await import_file(database, project, log, importer=importer)
    assert report.error is None
    found = await messages(database, "project_id", "session_id", *OF_PARTS)
    live: list[dict[str, Any]] = []
    imported: list[dict[str, Any]] = []
    for row in found:
        if row.pop("project_id") == project:
            (live if row.pop("session_id") == "s" else imported).append(row)
    assert live == imported
    assert await findings(database, project) == []


def _notice(update: Json) -> bytes:
    params = {"sessionId": "own", "update": update}
    return orjson.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}) + b"\n"


@given(st.binary(max_size=50), st.binary(max_size=50), st.binary(max_size=50))
def test_shared_bytes_are_those_before_the_first_that_differs(
    beginning: bytes, one: bytes, other: bytes
) -> None:
    first, second = beginning + one, beginning + other
    expected = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        expected += 1
    assert shared_bytes(first, second) == expected
