"""A conversation that is told while it goes on becomes what its log would."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.acp_conversation import DATA, Spoken, logs, spoken
from tests.builders import PROJECT, add_project
from tests.importers.acp_log import answered, call, opened, patch, prompt, said, update
from tests.ingest.stored import findings, rows, session
from toolfold.importers.acp.methods import Side
from toolfold.importers.jsonl import Checkpoint, Line
from toolfold.ingest import import_file, lifecycle
from toolfold.ingest.live_log import LiveTelling
from toolfold.ingest.receiving import Receiver
from toolfold.ingest.source import Source
from toolfold.store.engine import Database
from toolfold.store.tables import (
    message_table,
    record_table,
    session_table,
    source_table,
    told_session_table,
)
from toolfold.transcript import Json

WHOLE = "whole"
START = datetime(2026, 11, 30, 9, tzinfo=UTC)
PACKETS = 17
"""How many packets a conversation takes; a prime number, to cut at odd places."""


def time_of(number: int) -> datetime:
    return START + timedelta(seconds=number)


def source(imported_line: int, source_id: str) -> Source:
    empty = hashlib.sha256().digest()
    return Source(source_id, "/spool", "acp", empty, START, imported_line, is_live=True)


class Telling:
    """A conversation on its way into the database, packet by packet."""

    def __init__(
        self, database: Database, imported_line: int = 0, source_id: str = "0" * 64
    ) -> None:
        self.deleted: set[str] = set()
        self._database = database
        self._telling = LiveTelling(Path("/spool"), source(imported_line, source_id))

    def hear(self, lines: Sequence[Spoken], first: int = 1) -> None:
        for number, (side, raw) in enumerate(lines, start=first):
            self._telling.hear(Line(number, raw, terminated=True), side.name, time_of(number))

    async def write(self, line: int, *, is_end: bool = False) -> None:
        if is_end:
            self._telling.end()
        else:
            self._telling.show()
        digest = hashlib.sha256(str(line).encode()).digest()
        receiver = Receiver(self._database, PROJECT, lambda _counts: None)
        for piece in self._telling.take(Checkpoint(line, line, digest), is_end=is_end):
            await receiver.take(piece)
        await receiver.end()
        self.deleted |= receiver.tally.deleted


async def import_whole(database: Database, folder: Path, lines: Sequence[Spoken]) -> None:
    """Import the same conversation as a log that says who said what when."""
    log = folder / "log.ndjson"
    with log.open("wb") as file:
        for number, (side, raw) in enumerate(lines, start=1):
            head = json.dumps({"ts": time_of(number).isoformat(), "dir": side.name})
            file.write(head[:-1].encode() + b', "message": ' + raw + b"}\n")
    await database.write(lambda connection: add_project(connection, WHOLE))
    await import_file(database, WHOLE, log)


async def stored(database: Database, project_id: str) -> list[list[dict[str, Any]]]:
    """Return a project's sessions and messages, but for what tells two writings of them apart."""
    incidental = ("project_id", "revision", "head_revision", "incarnation")
    return [
        [
            {name: value for name, value in row.items() if name not in incidental}
            for row in await rows(database, table)
            if row["project_id"] == project_id
        ]
        for table in (session_table, message_table)
    ]


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.name)
async def test_a_conversation_becomes_what_its_log_does(
    database: Database, tmp_path: Path, log: Path
) -> None:
    lines = spoken(log)
    step = len(lines) // PACKETS
    telling = Telling(database)
    for start in range(0, len(lines), step):
        telling.hear(lines[start : start + step], start + 1)
        await telling.write(min(start + step, len(lines)))
    await telling.write(len(lines), is_end=True)
    await import_whole(database, tmp_path, lines)
    recorded = await stored(database, PROJECT)
    assert recorded[1]
    assert recorded == await stored(database, WHOLE)
    assert await findings(database) == []


@pytest.mark.parametrize("log", sorted(DATA.glob("acp_*")), ids=lambda log: log.name)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_whoever_begins_anew_completes_what_another_began(
    database: Database, tmp_path: Path, log: Path
) -> None:
    lines = spoken(log)
    imported = 0
    for end in (len(lines) // 3, 2 * len(lines) // 3, len(lines)):
        telling = Telling(database, imported_line=imported)
        telling.hear(lines[:end])
        await telling.write(end)
        imported = end
    await telling.write(len(lines), is_end=True)
    await import_whole(database, tmp_path, lines)
    assert await stored(database, PROJECT) == await stored(database, WHOLE)


def conversation(*messages: Json) -> list[Spoken]:
    return [(Side.AGENT, json.dumps(message).encode()) for message in messages]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_what_is_open_is_seen_and_its_session_is_active(database: Database) -> None:
    begun = conversation(*opened(), prompt("Go."), call("c1", title="make"), said("On "))
    telling = Telling(database)
    telling.hear(begun)
    await telling.write(5)
    [row] = await rows(database, session_table, "status", "title", "message_count")
    assert row == {"status": "active", "title": "Go.", "message_count": 3}
    goes_on = conversation(said("it."), patch("c1", status="completed"), answered())
    telling.hear(goes_on, 6)
    await telling.write(8)
    seen = await rows(database, message_table, "role", "content", "tool_status")
    assert [(one["role"], one["content"], one["tool_status"]) for one in seen] == [
        ("user", "Go.", None),
        ("tool", "", "completed"),
        ("assistant", "On it.", None),
    ]
    await telling.write(8, is_end=True)
    [row] = await rows(database, session_table, "status")
    assert row == {"status": "completed"}


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_of_plans_in_a_row_the_last_counts_and_a_history_that_is_told_again_adds_nothing(
    database: Database, tmp_path: Path
) -> None:
    plans = [
        update("plan", entries=[{"content": content, "priority": "medium", "status": "pending"}])
        for content in ("A long plan, which is given up.", "Short.")
    ]
    history = [
        {"jsonrpc": "2.0", "id": 5, "method": "session/load", "params": {"sessionId": "session-1"}},
        said("Go", role="user_message"),
        said(".", role="user_message"),
        said("Done."),
        {"jsonrpc": "2.0", "id": 5, "result": {}},
    ]
    turn = [*opened(), prompt("Go."), *plans, said("Done."), answered()]
    lines = conversation(*turn, *history, prompt("More.", request_id=6))
    telling = Telling(database)
    for number, line in enumerate(lines, start=1):
        telling.hear([line], number)
        await telling.write(number)
    await telling.write(len(lines), is_end=True)
    await import_whole(database, tmp_path, lines)
    recorded = await stored(database, PROJECT)
    assert [row["content"] for row in recorded[1]] == ["Go.", "[pending] Short.", "Done.", "More."]
    assert recorded == await stored(database, WHOLE)


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_what_is_no_message_is_kept_raw_once(database: Database) -> None:
    lines = [*conversation(*opened()), (Side.AGENT, b"npm warn: old"), (Side.AGENT, b'{"a":1}')]
    for _ in range(2):
        telling = Telling(database)
        telling.hear(lines)
        await telling.write(4)
    kept = await rows(database, record_table, "line", "raw", "reason")
    assert [(row["line"], row["raw"], row["reason"]) for row in kept] == [
        (3, b"npm warn: old", "not JSON"),
        (4, b'{"a":1}', "not a message of ACP"),
    ]


async def remove(database: Database, own_id: str) -> str:
    """Delete the session that the agent knows by this id; return its own."""
    session_id: str = (await session(database, own_id))["id"]
    await database.write(partial(lifecycle.remove, project_id=PROJECT, session_id=session_id))
    return session_id


async def texts(database: Database) -> list[tuple[str, str]]:
    """Return the agent's own id of each message's session, and the message's text."""
    names = {row["id"]: row["source_session"] for row in await rows(database, session_table)}
    stored = await rows(database, message_table, "session_id", "content")
    return sorted((names[row["session_id"]], row["content"]) for row in stored)


TWO = conversation(
    *opened("one"),
    *opened("two", request_id=2),
    prompt("First.", session="one", request_id=3),
    prompt("Other.", session="two", request_id=4),
    answered(3),
    answered(4),
)
MORE = conversation(
    prompt("Again.", session="one", request_id=5),
    prompt("On.", session="two", request_id=6),
    answered(5),
    answered(6),
)


@pytest.mark.parametrize("begins_anew", [False, True])
async def test_a_session_that_is_deleted_while_it_is_told_stays_deleted(
    database: Database, *, begins_anew: bool
) -> None:
    telling = Telling(database)
    telling.hear(TWO)
    await telling.write(len(TWO))
    assert telling.deleted == set()
    gone = await remove(database, "one")
    if begins_anew:
        telling = Telling(database, imported_line=len(TWO))
        telling.hear(TWO)
    telling.hear(MORE, len(TWO) + 1)
    await telling.write(len(TWO) + len(MORE))
    await telling.write(len(TWO) + len(MORE), is_end=True)
    assert telling.deleted == {gone}
    assert await texts(database) == [("two", "On."), ("two", "Other.")]
    [row] = await rows(database, session_table, "status")
    assert row == {"status": "completed"}
    assert await findings(database) == []


async def test_the_only_session_of_a_telling_stays_deleted_and_its_raw_records_go(
    database: Database,
) -> None:
    lines = [*TWO[:2], TWO[4], (Side.AGENT, b"npm warn: old"), TWO[6]]
    telling = Telling(database)
    telling.hear(lines)
    await telling.write(len(lines))
    await remove(database, "one")
    assert await rows(database, record_table) == []
    telling = Telling(database)
    telling.hear([*lines, MORE[0]])
    await telling.write(len(lines) + 1, is_end=True)
    assert await rows(database, session_table) == []
    assert await rows(database, message_table) == []


async def test_what_a_deleted_session_starts_is_not_told_either(database: Database) -> None:
    lines = spoken(DATA / "acp_claude.ndjson")
    cut = next(number for number, (_, raw) in enumerate(lines) if b"toolu" in raw)
    telling = Telling(database)
    telling.hear(lines[:cut])
    await telling.write(cut)
    [row] = await rows(database, session_table, "source_session")
    await remove(database, row["source_session"])
    telling.hear(lines[cut:], cut + 1)
    await telling.write(len(lines), is_end=True)
    assert await rows(database, session_table) == []
    assert len(telling.deleted) > 1


async def test_another_telling_of_the_same_session_brings_it_back_and_is_left_alone(
    database: Database,
) -> None:
    telling = Telling(database)
    telling.hear(TWO)
    await telling.write(len(TWO))
    await remove(database, "one")
    other = Telling(database, source_id="1" * 64)
    other.hear([*TWO[:2], TWO[4], TWO[6]])
    await other.write(4)
    telling.hear(MORE, len(TWO) + 1)
    await telling.write(len(TWO) + len(MORE), is_end=True)
    assert await texts(database) == [("one", "First."), ("two", "On."), ("two", "Other.")]


async def test_nothing_is_left_of_a_telling_that_has_ended_when_its_sessions_are_deleted(
    database: Database,
) -> None:
    telling = Telling(database)
    telling.hear(TWO)
    await telling.write(len(TWO))
    await remove(database, "one")
    await telling.write(len(TWO), is_end=True)
    await remove(database, "two")
    for table in (source_table, told_session_table, record_table):
        assert await rows(database, table) == []
