import base64
import os
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from tests.builders import add_project, add_session, store_session, text_message, tool_message
from toolfold import export, sample, stored_json
from toolfold.errors import CorruptContentError, NotFoundError, TranscriptError
from toolfold.importers import Transcript, detect, toolfold_export
from toolfold.importers.jsonl import LineReader
from toolfold.ingest import FileState, import_file, record
from toolfold.store import session
from toolfold.store.engine import Database
from toolfold.store.page import PageRequest
from toolfold.store.session import SessionFilter
from toolfold.transcript import (
    Attachment,
    ContentState,
    Entry,
    Json,
    Message,
    MessageRole,
    Record,
    Repair,
    Session,
    SessionStatus,
    ToolCall,
    ToolKind,
    ToolLocation,
    ToolStatus,
    Usage,
)

HEADER = (
    b'{"toolfold":1,"session":{"id":"session-1","agent":"claude-code","status":"completed",'
    b'"createdAt":"2026-11-30T17:09:47.447Z","updatedAt":"2026-11-30T17:09:47.447Z"}}\n'
)
NOW = b'"2026-11-30T17:09:47.447Z"'


async def _exported(
    database: Database, session_id: str = "session-1", project_id: str = "default"
) -> bytes:
    async with database.read() as connection:
        pieces = export.stream(connection, project_id, session_id)
        return b"".join([piece async for piece in pieces])


async def test_a_session_is_a_header_and_a_line_for_each_message(database: Database) -> None:
    call = tool_message(
        [{"type": "content", "text": "café"}],
        client_id="b",
        tool_call_id="call-1",
        kind=ToolKind.READ,
        locations=(ToolLocation("a.py", 3), ToolLocation("b.py")),
        raw_input={"path": "a.py"},
    )
    await store_session(database, [text_message("Grüße!", client_id="a"), call])
    assert await _exported(database) == (
        HEADER + b'{"message":{"sequence":1,"clientId":"a","role":"user","createdAt":' + NOW
        + b',"content":"Gr\xc3\xbc\xc3\x9fe!"}}\n'
        + b'{"message":{"sequence":2,"clientId":"b","role":"tool","createdAt":' + NOW
        + b',"toolCall":{"toolCallId":"call-1","kind":"read","status":"completed","startedAt":'
        + NOW + b',"endedAt":' + NOW + b',"contentState":"complete",'
        + b'"locations":[{"path":"a.py","line":3},{"path":"b.py","line":null}],'
        + b'"content":[{"type":"content","text":"caf\xc3\xa9"}],"rawInput":{"path":"a.py"}}}}\n'
    )  # fmt: skip


async def test_every_fact_of_a_session_is_in_the_header(database: Database) -> None:
    await store_session(
        database,
        title="Fix",
        cwd="/w",
        git_branch="main",
        source_format="claude-code",
        source_session="own",
        parent_source_session="above",
        parent_tool_call_id="call-9",
        status="archived",
        created_at="2026-01-01T00:00:00.000Z",
    )
    header = orjson.loads(await _exported(database))
    assert header == {
        "toolfold": 1,
        "session": {
            "id": "session-1",
            "format": "claude-code",
            "sourceSession": "own",
            "agent": "claude-code",
            "title": "Fix",
            "status": "archived",
            "cwd": "/w",
            "gitBranch": "main",
            "parent": "above",
            "parentToolCallId": "call-9",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-11-30T17:09:47.447Z",
        },
    }


async def test_what_a_message_has_beside_its_text_is_in_its_line(database: Database) -> None:
    message = text_message(
        "Hi",
        MessageRole.ASSISTANT,
        client_id="a",
        origin="system",
        model="m",
        usage=Usage(1, 2, 3, 4),
        repaired=True,
        attachments=(Attachment(b"\x00\x01", "image/png", "a.png"), Attachment(b"", "text/plain")),
    )
    await store_session(database, [message])
    line = orjson.loads((await _exported(database)).splitlines()[1])
    assert line["message"] == {
        "sequence": 1,
        "clientId": "a",
        "role": "assistant",
        "origin": "system",
        "model": "m",
        "createdAt": "2026-11-30T17:09:47.447Z",
        "repaired": True,
        "usage": {
            "inputTokens": 1,
            "outputTokens": 2,
            "cacheReadTokens": 3,
            "cacheCreationTokens": 4,
        },
        "content": "Hi",
        "attachments": [
            {"mimeType": "image/png", "name": "a.png", "data": "AAE="},
            {"mimeType": "text/plain", "data": ""},
        ],
    }


@pytest.mark.parametrize(
    "content",
    [
        [],
        "a string",
        {"an": "object"},
        [None, 10**30, 1.5, -0.0, {"type": "hologram"}],
        ["\x01\u2028\U0001f600 \x7f"],
    ],
)
async def test_stored_json_goes_out_byte_for_byte(database: Database, content: Json) -> None:
    await store_session(database, [tool_message(content, raw_output=content)])
    exported = await _exported(database)
    stored = stored_json.encode(content)
    assert b',"content":' + stored + b',"rawOutput":' + stored + b"}}}\n" in exported


async def test_long_text_and_files_go_out_whole_whatever_the_chunks_cut(
    database: Database,
) -> None:
    # Characters of three bytes and a size that is no multiple of three: no chunk ends between.
    text = '"€\n' * 200_000
    data = os.urandom(700_001)
    attachments = (Attachment(data, "application/octet-stream"),)
    shorter = text_message(text[:2_000])
    await store_session(database, [text_message(text, attachments=attachments), shorter])
    message, other = (
        orjson.loads(line)["message"] for line in (await _exported(database)).splitlines()[1:]
    )
    assert message["content"] == text
    assert other["content"] == text[:2_000]
    assert base64.b64decode(message["attachments"][0]["data"]) == data


async def test_more_messages_than_are_read_at_once_all_go_out(database: Database) -> None:
    count = 2 * export.PAGE_SIZE + 1
    await store_session(database, [text_message(str(n)) for n in range(count)])
    lines = (await _exported(database)).splitlines()[1:]
    assert [orjson.loads(line)["message"]["sequence"] for line in lines] == [*range(1, count + 1)]


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_memory_does_not_grow_with_a_content(database: Database) -> None:
    content = ["x" * 30_000_000]
    await store_session(database, [tool_message(content)])
    async with database.read() as connection:
        tracemalloc.start()
        size = 0
        async for piece in export.stream(connection, "default", "session-1"):
            size += len(piece)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert size > 30_000_000
    assert peak < 3_000_000


async def test_an_absent_session_and_one_of_another_project_are_not_found(
    database: Database,
) -> None:
    await database.write(lambda connection: add_project(connection, "other"))
    await database.write(lambda c: add_session(c, project_id="other", session_id="theirs"))
    for session_id in ("absent", "theirs"):
        with pytest.raises(NotFoundError):
            await _exported(database, session_id)


def _parsed(tmp_path: Path, *lines: bytes) -> list[Entry]:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(lines))
    return list(toolfold_export.parse(Transcript(path, LineReader(path))))


def _header(**facts: object) -> bytes:
    session = {"id": "1", "agent": "a", "status": "completed", **facts}
    return orjson.dumps({"toolfold": 1, "session": session}) + b"\n"


def _line(**facts: object) -> bytes:
    return orjson.dumps({"message": {"clientId": "m", "role": "user", **facts}}) + b"\n"


def test_an_export_is_recognised_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "anything.bin"
    path.write_bytes(HEADER)
    detected = detect(path).importer
    assert detected is not None
    assert detected.name == "toolfold"
    assert not toolfold_export.accepts([])
    assert not toolfold_export.accepts([{"toolfold": 1}])


def test_a_header_becomes_a_session_told_again_with_its_status_at_the_end(tmp_path: Path) -> None:
    first, last = _parsed(
        tmp_path,
        _header(
            format="claude-code",
            sourceSession="own",
            title="Fix",
            status="archived",
            cwd="/w",
            gitBranch="main",
            parent="above",
            parentToolCallId="call-9",
            createdAt="2026-11-30T17:09:47.447Z",
        ),
    )
    assert isinstance(last.value, Session)
    assert (first.session, first.line, last.session, last.line) == ("own", 1, "own", None)
    assert last.value == Session(
        agent="a",
        title="Fix",
        status=SessionStatus.ARCHIVED,
        cwd="/w",
        git_branch="main",
        created_at=last.value.created_at,
        parent="above",
        parent_tool_call_id="call-9",
        id="1",
        format="claude-code",
    )
    assert str(last.value.created_at) == "2026-11-30 17:09:47.447000+00:00"
    assert isinstance(first.value, Session)
    assert (first.value.status, first.value.id) == (None, "1")


def test_a_session_that_no_agent_named_goes_by_its_id(tmp_path: Path) -> None:
    assert [entry.session for entry in _parsed(tmp_path, _header())] == ["1", "1"]


def test_joined_exports_are_one_session_after_the_other(tmp_path: Path) -> None:
    entries = _parsed(tmp_path, _header(id="1"), _line(), _header(id="2"), _line())
    assert [(entry.session, type(entry.value).__name__) for entry in entries] == [
        ("1", "Session"),
        ("1", "Message"),
        ("1", "Session"),
        ("2", "Session"),
        ("2", "Message"),
        ("2", "Session"),
    ]


def test_a_line_becomes_the_message_that_it_was(tmp_path: Path) -> None:
    line = _line(
        sequence=1,
        role="tool",
        content="Hi",
        origin="system",
        model="m",
        repaired=True,
        usage={
            "inputTokens": 1,
            "outputTokens": 2,
            "cacheReadTokens": 3,
            "cacheCreationTokens": 4,
        },
        attachments=[{"mimeType": "image/png", "name": "a.png", "data": "AAE="}],
        toolCall={
            "toolCallId": "call-1",
            "name": "Read",
            "title": "a.py",
            "kind": "read",
            "status": "failed",
            "locations": [{"path": "a.py", "line": 3}],
            "contentState": "cut_by_agent",
            "childSession": "sub",
            "content": [],
            "rawInput": {"path": "a.py"},
            "rawOutput": False,
        },
    )
    _, entry, _ = _parsed(tmp_path, _header(), line)
    assert entry == Entry(
        "1",
        2,
        Message(
            client_id="m",
            role=MessageRole.TOOL,
            content="Hi",
            origin="system",
            model="m",
            usage=Usage(1, 2, 3, 4),
            tool_call=ToolCall(
                tool_call_id="call-1",
                name="Read",
                title="a.py",
                kind=ToolKind.READ,
                status=ToolStatus.FAILED,
                locations=(ToolLocation("a.py", 3),),
                content=[],
                content_state=ContentState.CUT_BY_AGENT,
                raw_input={"path": "a.py"},
                raw_output=False,
                child_session="sub",
            ),
            attachments=(Attachment(b"\x00\x01", "image/png", "a.png"),),
            repaired=True,
        ),
    )


def test_json_as_deep_as_is_stored_comes_back(tmp_path: Path) -> None:
    value: Json = []
    for _ in range(stored_json.MAX_DEPTH - 1):
        value = [value]
    line = b'{"message":{"clientId":"m","role":"tool","toolCall":{"toolCallId":"c","kind":"other",'
    line += b'"status":"completed","content":' + stored_json.encode(value) + b"}}}\n"
    _, entry, _ = _parsed(tmp_path, _header(), line)
    assert isinstance(entry.value, Message)
    assert entry.value.tool_call is not None
    assert stored_json.encode(entry.value.tool_call.content) == b"[" * 1_000 + b"]" * 1_000


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"clientId": None}, "`clientId` is missing"),
        ({"clientId": 5}, "`clientId` is not of its type"),
        ({"role": "nobody"}, "'nobody' is not a valid MessageRole"),
        ({"createdAt": "yesterday"}, "Invalid isoformat string: 'yesterday'"),
        ({"createdAt": "2026-11-30T17:09:47"}, "`createdAt` has no time zone"),
        ({"usage": 5}, "an object is missing"),
        ({"toolCall": {}}, "`toolCallId` is missing"),
        ({"attachments": [{"mimeType": "a/b", "data": "?"}]}, None),
    ],
)
def test_a_line_that_is_no_message_is_kept_raw_and_the_next_one_is_read(
    tmp_path: Path, facts: dict[str, object], reason: str | None
) -> None:
    bad = _line(**facts)
    _, kept, message, _ = _parsed(tmp_path, _header(), bad, _line())
    assert isinstance(kept.value, Record)
    assert (kept.line, kept.value.raw) == (2, bad.removesuffix(b"\n"))
    assert kept.value.reason.startswith("not an exported message")
    assert reason is None or kept.value.reason == f"not an exported message: {reason}"
    assert isinstance(message.value, Message)


def test_lines_that_another_hand_damaged_are_mended_as_in_any_transcript(tmp_path: Path) -> None:
    lone = b'{"message":{"clientId":"m","role":"user","content":"\\ud83d"}}\n'
    entries = _parsed(tmp_path, _header(), b"\n", lone, b'{"message":{"clientId"')
    assert [type(entry.value) for entry in entries] == [Session, Repair, Message, Repair, Session]
    message = entries[2].value
    assert isinstance(message, Message)
    assert (message.content, message.repaired) == ("\ufffd", True)


BAD_ID = "`id` must be 1 to 200 characters without a slash or a control character."


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            b'{"toolfold":2,"session":{"id":"1","agent":"a","status":"completed"}}',
            "this is an export of version 2, and this Toolfold reads version 1. Upgrade Toolfold.",
        ),
        (
            b'{"toolfold":1,"session":{"id":"1","status":"completed"}}',
            "the session of this export is damaged: `agent` is missing.",
        ),
        *(
            (
                b'{"toolfold":1,"session":{"id":"%b","agent":"a","status":"completed"}}' % name,
                "the session of this export is damaged: " + BAD_ID,
            )
            for name in (b"a/b", b"/", b"", b"a\\u0000", b"a\\n", b"i" * 201)
        ),
    ],
)
def test_a_header_that_cannot_be_used_names_file_and_line(
    tmp_path: Path, header: bytes, message: str
) -> None:
    with pytest.raises(TranscriptError) as caught:
        _parsed(tmp_path, _header(), header + b"\n")
    assert caught.value.message == f"{tmp_path / 'session.jsonl'}:2: {message}"


async def test_a_damaged_content_ends_an_export_with_an_error(database: Database) -> None:
    await store_session(database, [tool_message(["gone"])])
    await database.write(lambda connection: connection.exec_driver_sql("DELETE FROM content_chunk"))
    with pytest.raises(CorruptContentError):
        await _exported(database)


async def test_what_import_takes_back_exports_the_same_bytes(
    database: Database, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    await database.write(lambda connection: add_project(connection, "copy"))
    await database.write(
        lambda c: record(c, "default", sample.entries(), format=sample.FORMAT, now=now)
    )
    async with database.read() as connection:
        everything = SessionFilter(include_children=True)
        page = await session.page(
            connection, ["default"], PageRequest(first=10), where=everything, columns=("id",)
        )
    assert len(page.rows) == 2
    for row in page.rows:
        path = tmp_path / f"{row.id}.jsonl"
        path.write_bytes(await _exported(database, row.id))
        report = await import_file(database, "copy", path)
        assert (report.state, report.kept_raw, report.problems) == (FileState.IMPORTED, 0, ())
    for row in page.rows:
        exported = await _exported(database, row.id, project_id="copy")
        assert exported == (tmp_path / f"{row.id}.jsonl").read_bytes()


async def test_a_copy_is_joined_to_its_parent_as_the_original_is(
    database: Database, tmp_path: Path
) -> None:
    await database.write(lambda connection: add_project(connection, "copy"))
    for number, header in enumerate(
        (
            _header(id="2", format="f", sourceSession="sub", parent="main"),
            _header(id="1", format="f", sourceSession="main"),
        )
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(header)
        await import_file(database, "copy", path)
    async with database.read() as connection:
        found = await session.by_keys(connection, [("copy", "2")], ("parent_id",))
    assert found["copy", "2"].parent_id == "1"


async def test_a_session_that_a_client_made_stays_one(database: Database, tmp_path: Path) -> None:
    await database.write(lambda connection: add_project(connection, "copy"))
    await store_session(database, [text_message("Hi", client_id="a")], title="T", status="archived")
    path = tmp_path / "session.jsonl"
    path.write_bytes(await _exported(database))
    await import_file(database, "copy", path)
    assert await _exported(database, project_id="copy") == path.read_bytes()
    async with database.read() as connection:
        found = await session.by_keys(
            connection, [("copy", "session-1")], ("source_format", "source_session", "status")
        )
    assert tuple(found["copy", "session-1"])[:3] == (None, None, "archived")
