"""How SQLite finds what it is asked for: by keys and indexes, never going through a project."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.builders import PROJECT, text_block
from tests.ingest.lines_importer import Lines, message, write
from tests.ingest.stored import ingest, ingest_entries, sweep
from tests.statements import statements
from toolfold.ingest import FileState, import_file
from toolfold.store import session
from toolfold.store.engine import Database
from toolfold.store.page import PageRequest
from toolfold.store.session import SessionFilter
from toolfold.store.tables import metadata
from toolfold.transcript import (
    Attachment,
    Entry,
    Message,
    MessageRole,
    MessageUsage,
    Record,
    Session,
    ToolCall,
    ToolCallUpdate,
    Usage,
)

pytestmark = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)

IMAGE = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
WHOLE_PROJECT = re.compile(rf"^SCAN ({'|'.join(metadata.tables)})\b|\(project_id=\?\)$")


def call(client_id: str, tool_call_id: str, **fields: Any) -> Message:
    return Message(client_id, MessageRole.TOOL, tool_call=ToolCall(tool_call_id, **fields))


async def steps(database: Database, seen: list[str]) -> list[str]:
    """Return the steps in which SQLite executes each statement, with the statement's beginning."""
    found = []
    async with database.read() as connection:
        for sql in dict.fromkeys(seen):
            plan = await connection.exec_driver_sql(
                f"EXPLAIN QUERY PLAN {sql}", (None,) * sql.count("?")
            )
            found += [f"{row.detail}  {sql.splitlines()[0][:60]}" for row in plan]
    return found


async def test_an_import_goes_through_no_whole_project(database: Database, tmp_path: Path) -> None:
    with statements(database) as seen:
        await _import_everything(database, tmp_path)
        await sweep(database)
    found = await steps(database, seen)
    assert [step for step in found if WHOLE_PROJECT.search(step.split("  ")[0])] == []
    assert any("ix_message_child_source_session" in step for step in found)
    assert any("ix_session_awaited_parent" in step for step in found)
    assert any("ix_content_image_content" in step for step in found)
    assert any("ix_source_digest" in step for step in found)


async def test_the_children_of_a_session_are_found_by_their_index(database: Database) -> None:
    of_parent = SessionFilter(parent=(PROJECT, "s1"))
    with statements(database) as seen:
        async with database.read() as connection:
            await session.page(connection, [PROJECT], PageRequest(first=5), where=of_parent)
            await session.by_parent_tool_calls(connection, [(PROJECT, "s1", "c1")])
    found = await steps(database, seen)
    assert ["ix_session_parent" in step for step in found if " session " in step] == [True, True]


async def _import_everything(database: Database, folder: Path) -> None:
    """Write, tell again, change, remove and join all that an import can."""
    file = Attachment(b"file", "text/plain")
    told = Message("m1", MessageRole.USER, "Hi", attachments=(file,), usage=Usage(1, 2, 3, 4))
    await ingest(database, Session(parent="parent"), told, session="child")
    await ingest(database, call("m1", "c1", content=[IMAGE], child_session="child"))
    await ingest(database, Session(title="The parent"), message("m1"), session="parent")
    await ingest(database, ToolCallUpdate("c1", content=[text_block("x" * 5_000)]))
    await ingest(database, Message("m2", MessageRole.USER, "x" * 5_000))
    await ingest(database, Message("m2", MessageRole.USER, "x" * 50_000))
    await ingest_entries(database, [Entry("child", 1, MessageUsage("m1", None))])
    lines = Lines({"odd": [Record(b"?", "odd")]})
    path = write(folder / "a.jsonl", "m1", "odd")
    for state in (FileState.IMPORTED, FileState.UNCHANGED):
        report = await import_file(database, PROJECT, path, importer=lines.importer())
        assert report.state is state
        path = path.rename(folder / "b.jsonl")
    path.write_text("m1\nodd\nm2\n", encoding="utf-8")
    await import_file(database, PROJECT, path, importer=lines.importer())
