import contextlib
import hashlib
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, update

from tests.builders import (
    add_content,
    add_project,
    add_session,
    store_session,
    text_message,
    tool_message,
)
from toolfold.settings import Settings
from toolfold.store.doctor import CHECKS, Finding
from toolfold.store.doctor import database as whole_database
from toolfold.store.engine import Database
from toolfold.store.sqlite import FILE_NAME
from toolfold.store.tables import (
    attachment_table,
    content_chunk_table,
    content_image_table,
    content_reference_table,
    message_table,
    message_text_table,
    session_table,
)
from toolfold.transcript import Attachment, Json, Message, Usage

SESSION = "session session-1"


def _messages() -> list[Message]:
    """Return messages with every part that is stored twice: text, call, usage, attachment."""
    files = (Attachment(b"\x00\x01", "application/octet-stream", "two.bin"),)
    return [
        text_message("Häuser", usage=Usage(1, 2, 3, 4), attachments=files),
        tool_message(["é"], raw_input={"a": 1}, raw_output="out"),
        text_message("é" * 9_000),
        text_message("é" * 900),
    ]


async def _findings(database: Database) -> list[Finding]:
    async with database.read() as connection:
        found = [finding async for finding in whole_database.damage(connection)]
        for check in CHECKS.values():
            found += [finding async for finding in check(connection, "default")]
    return found


async def _names_after(database: Database, change: Callable[[Connection], Any]) -> list[str]:
    """Store the messages, change something, and return the names of what is found then."""
    await store_session(database, _messages())
    await database.write(change)
    return [finding.name for finding in await _findings(database)]


def _message_change(at: int, /, **values: Any) -> Callable[[Connection], Any]:
    statement = update(message_table).where(message_table.c.sequence == at).values(values)
    return lambda connection: connection.execute(statement)


def _session_change(**values: Any) -> Callable[[Connection], Any]:
    return lambda connection: connection.execute(update(session_table).values(values))


async def test_a_whole_database_gives_no_finding(database: Database) -> None:
    await store_session(database, _messages())
    await store_session(database, _messages(), session_id="other", parent_id="session-1")
    assert await _findings(database) == []


async def test_an_empty_database_gives_no_finding(database: Database) -> None:
    assert await _findings(database) == []


async def test_a_damaged_chunk_is_found_and_its_content_named(database: Database) -> None:
    await store_session(database, _messages())
    digest = hashlib.sha256('["é"]'.encode()).digest()
    chunk = content_chunk_table.c
    damaged = update(content_chunk_table).where(chunk.hash == digest).values(data=b"not zstd")
    await database.write(lambda connection: connection.execute(damaged))
    (finding,) = await _findings(database)
    assert (finding.name, finding.place) == ("content-damaged", f"content sha256:{digest.hex()}")


async def test_a_missing_chunk_is_found(database: Database) -> None:
    digest = hashlib.sha256(b'"out"').digest()
    gone = delete(content_chunk_table).where(content_chunk_table.c.hash == digest)
    assert await _names_after(database, lambda c: c.execute(gone)) == ["content-damaged"]


async def test_a_chunk_too_many_is_found(database: Database) -> None:
    def change(connection: Connection) -> None:
        row = {"project_id": "default", "hash": hashlib.sha256(b'"out"').digest(), "position": 1}
        connection.execute(insert(content_chunk_table).values(**row, data=b"left over"))

    assert await _names_after(database, change) == ["content-damaged"]


async def test_a_content_that_no_message_uses_is_found(database: Database) -> None:
    def change(connection: Connection) -> None:
        add_content(connection, b"left over")

    assert await _names_after(database, change) == ["content-unused"]


async def test_an_image_that_is_not_where_it_should_be_is_found(database: Database) -> None:
    def change(connection: Connection) -> None:
        place = {"content_offset": 2, "content_length": 4}
        for image in (b"\x00\x00\x00", b"\xff\xff\xff"):
            values = {"hash": hashlib.sha256(image).digest(), "size": 3, "media_type": "image/png"}
            digest = hashlib.sha256(b'["AAAA"]').digest()
            row = {"project_id": "default", "content_hash": digest, **place, **values}
            connection.execute(insert(content_image_table).values(row))

    await store_session(database, [tool_message(["AAAA"])])
    await database.write(change)
    (finding,) = await _findings(database)
    assert finding.name == "content-image"
    assert hashlib.sha256(b"\xff\xff\xff").hexdigest() in finding.detail


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "content", "content": {"type": "audio", "data": "AAAA"}},
        {"type": "resource", "resource": {"uri": "a", "blob": "AAAA"}},
    ],
)
async def test_an_image_that_nothing_leads_to_is_found(database: Database, block: Json) -> None:
    await store_session(database, [tool_message([block], raw_input=[[block]])])
    (finding,) = await _findings(database)
    assert finding.name == "content-image"
    assert hashlib.sha256(b"\x00\x00\x00").hexdigest() in finding.detail


async def test_a_part_without_its_reference_is_found(database: Database) -> None:
    column = content_reference_table.c
    gone = delete(content_reference_table).where(column.part == "raw_input")
    assert await _names_after(database, lambda c: c.execute(gone)) == [
        "content-unused",
        "content-reference",
    ]


async def test_a_reference_without_its_part_is_found(database: Database) -> None:
    change = _message_change(2, raw_output_hash=None, raw_output_size=None)
    assert await _names_after(database, change) == ["content-reference"]


@pytest.mark.parametrize(
    ("sequence", "values"),
    [
        (1, {"content_size": 6}),
        (2, {"raw_input_size": 8}),
        (3, {"content_size": 17_999}),
        (4, {"content_size": 1_801}),
    ],
)
async def test_a_wrong_size_is_found(
    database: Database, sequence: int, values: dict[str, int]
) -> None:
    assert await _names_after(database, _message_change(sequence, **values)) == ["message-size"]


async def test_a_size_without_a_content_is_found(database: Database) -> None:
    change = _message_change(1, raw_output_size=5)
    assert await _names_after(database, change) == ["message-size"]


async def test_a_wrong_size_of_a_tool_content_is_found_in_message_and_session(
    database: Database,
) -> None:
    change = _message_change(2, tool_content_size=5)
    assert await _names_after(database, change) == ["message-size", "session-counts"]


async def test_a_text_that_is_not_stored_is_found(database: Database) -> None:
    await store_session(database, _messages())
    gone = delete(message_text_table)
    await database.write(lambda connection: connection.execute(gone))
    assert await _findings(database) == [
        Finding("message-text", f"{SESSION}, message 4", "its text is not stored")
    ]


@pytest.mark.parametrize("sequence", [1, 3])
async def test_a_text_in_two_places_is_found(database: Database, sequence: int) -> None:
    await store_session(database, _messages())
    moved = update(message_text_table).values(sequence=sequence)
    await database.write(lambda connection: connection.execute(moved))
    assert await _findings(database) == [
        Finding(
            "message-text", f"{SESSION}, message {sequence}", "its text is stored in two places"
        ),
        Finding("message-text", f"{SESSION}, message 4", "its text is not stored"),
    ]


async def test_wrong_attachments_are_found(database: Database) -> None:
    def change(connection: Connection) -> None:
        connection.execute(update(attachment_table).values(size=3))
        _message_change(3, attachment_count=1)(connection)

    names = await _names_after(database, change)
    assert names == ["message-attachments", "message-attachments"]


@pytest.mark.parametrize("state", ["none_recorded", None])
async def test_a_state_that_denies_the_content_is_found(
    database: Database, state: str | None
) -> None:
    change = _message_change(2, tool_content_state=state)
    assert await _names_after(database, change) == ["tool-content-state"]


@pytest.mark.parametrize(
    "values",
    [
        {"tool_call_count": 2},
        {"content_size": 7},
        {"input_tokens": 2},
        {"output_tokens": None},
    ],
)
async def test_a_wrong_count_or_sum_is_found(database: Database, values: dict[str, Any]) -> None:
    assert await _names_after(database, _session_change(**values)) == ["session-counts"]


async def test_what_a_wrong_count_says_names_both_numbers(database: Database) -> None:
    await store_session(database, _messages(), tool_call_count=5)
    assert await _findings(database) == [
        Finding("session-counts", SESSION, "tool_call_count is 5, and its messages have 1")
    ]


async def test_a_gap_in_the_sequence_is_found(database: Database) -> None:
    await store_session(database, [text_message(), text_message()])
    await database.write(_message_change(2, sequence=3))
    names = [finding.name for finding in await _findings(database)]
    assert names == ["session-counts", "session-sequence"]


@pytest.mark.parametrize("revision", [1, 4])
async def test_a_revision_that_is_shared_or_yet_to_come_is_found(
    database: Database, revision: int
) -> None:
    change = _message_change(3, revision=revision)
    assert await _names_after(database, change) == ["session-revision"]


async def test_a_parent_that_does_not_exist_is_found(database: Database) -> None:
    change = _session_change(parent_id="gone")
    assert await _names_after(database, change) == ["session-parent"]


async def test_a_parent_that_is_there_and_not_joined_is_found(database: Database) -> None:
    for session_id, columns in {
        "parent": {"source_session": "p"},
        "child": {"parent_source_session": "p"},
        "waits": {"parent_source_session": "q"},
    }.items():
        source = {"source_format": "claude-code", **columns}
        await store_session(database, (), session_id=session_id, **source)
    assert await _findings(database) == [
        Finding(
            "session-parent",
            "session child",
            "it names the parent parent, and is joined to None",
        )
    ]


async def test_sessions_that_are_each_others_parent_are_found(database: Database) -> None:
    await store_session(database, session_id="a", parent_id="b")
    await store_session(database, session_id="b", parent_id="a")
    assert [finding.detail for finding in await _findings(database)] == [
        "it is its own ancestor"
    ] * 2


async def test_another_projects_faults_are_not_told_of_this_one(database: Database) -> None:
    def store(connection: Connection) -> None:
        add_project(connection, "other")
        add_session(connection, _messages(), project_id="other", tool_call_count=9)
        add_session(connection, _messages())

    await database.write(store)
    assert await _findings(database) == []


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_a_row_without_its_parent_is_found_in_sqlites_file(
    database: Database, database_settings: Settings
) -> None:
    await store_session(database, [text_message()])
    # A connection of another program, which does not enforce foreign keys.
    with contextlib.closing(sqlite3.connect(database_settings.data_dir / FILE_NAME)) as other:
        other.execute("DELETE FROM session")
        other.commit()
    assert await _findings(database) == [
        Finding(
            "database-file", "database", "a row of `message` refers to a missing row of `session`"
        )
    ]
