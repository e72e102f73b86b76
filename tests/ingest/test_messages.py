"""Messages as they are recorded: once each, in their order, and changed only by a difference."""

import dataclasses
import json
from typing import Any

import pytest

from tests.builders import text_block
from tests.ingest.stored import (
    NOW_TEXT,
    at,
    at_text,
    contents,
    findings,
    ingest,
    messages,
    part,
    rows,
    session,
    state,
    sweep,
)
from toolfold.errors import InvalidJsonError, TranscriptError
from toolfold.store.engine import Database
from toolfold.store.tables import content_reference_table, message_text_table
from toolfold.transcript import (
    ContentState,
    Message,
    MessageRole,
    MessageUsage,
    Record,
    ToolCall,
    ToolCallUpdate,
    ToolKind,
    ToolLocation,
    ToolStatus,
    Usage,
)

PENDING = ToolStatus.PENDING


def user(client_id: str, content: str = "Hello.", **fields: Any) -> Message:
    return Message(client_id, MessageRole.USER, content, **fields)


def call(client_id: str, tool_call_id: str = "c1", **fields: Any) -> Message:
    return Message(client_id, MessageRole.TOOL, tool_call=ToolCall(tool_call_id, **fields))


async def test_every_field_of_a_message_is_in_its_row(database: Database) -> None:
    message = Message(
        "m1",
        MessageRole.TOOL,
        "Let me look.",
        origin="system",
        model="model-1",
        usage=Usage(1, 2, 3, 4),
        created_at=at(0),
        tool_call=ToolCall(
            "c1",
            name="Read",
            title="Read a.py",
            kind=ToolKind.READ,
            status=ToolStatus.FAILED,
            locations=(ToolLocation("/src/é.py", 7), ToolLocation("/src")),
            content=[text_block("café")],
            raw_input={"path": "/src"},
            raw_output="gone",
            started_at=at(1),
            ended_at=at(2),
            child_session="child",
        ),
        repaired=True,
    )
    await ingest(database, message)
    [row] = await messages(database)
    del row["tool_content_hash"], row["raw_input_hash"], row["raw_output_hash"]
    stored = (await session(database))["id"]
    assert row == {
        "project_id": "default",
        "session_id": stored,
        "sequence": 1,
        "revision": 1,
        "client_id": "m1",
        "client_digest": None,
        "role": "tool",
        "origin": "system",
        "model": "model-1",
        "created_at": at_text(0),
        "repaired": True,
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_tokens": 3,
        "cache_creation_tokens": 4,
        "attachment_count": 0,
        "tool_call_id": "c1",
        "tool_name": "Read",
        "tool_title": "Read a.py",
        "tool_kind": "read",
        "tool_status": "failed",
        "tool_locations": '[{"path":"/src/é.py","line":7},{"path":"/src","line":null}]',
        "tool_started_at": at_text(1),
        "tool_ended_at": at_text(2),
        "child_source_session": "child",
        "tool_content_size": len('[{"type":"content","content":{"type":"text","text":"café"}}]')
        + 1,
        "tool_content_state": "complete",
        "tool_content_preview": "café",
        "raw_input_size": 15,
        "raw_output_size": 6,
        "content_size": 12,
        "content_hash": None,
        "content_preview": None,
        "content": "Let me look.",
    }
    assert await part(database, 1, "tool_content") == (
        '[{"type":"content","content":{"type":"text","text":"café"}}]'.encode()
    )
    assert await part(database, 1, "raw_input") == b'{"path":"/src"}'
    assert await part(database, 1, "raw_output") == b'"gone"'
    assert await findings(database) == []


async def test_messages_are_numbered_without_a_gap_over_batches(database: Database) -> None:
    await ingest(database, user("m1"), user("m2"))
    counts = await ingest(database, user("m3"), user("m1"), user("m4"))
    assert (counts.added, counts.updated, counts.skipped) == (2, 0, 1)
    assert await messages(database, "sequence", "client_id", "revision") == [
        {"sequence": 1, "client_id": "m1", "revision": 1},
        {"sequence": 2, "client_id": "m2", "revision": 2},
        {"sequence": 3, "client_id": "m3", "revision": 3},
        {"sequence": 4, "client_id": "m4", "revision": 4},
    ]


async def test_the_same_values_again_change_no_row(database: Database) -> None:
    values = (
        user("m1", "x" * 20_000),
        call("m2", content=[text_block("done")], raw_input={"a": 1}),
        ToolCallUpdate("c1", status=ToolStatus.FAILED, content=[text_block("failed")]),
        MessageUsage("m1", Usage(1)),
    )
    await ingest(database, *values)
    before = await state(database)
    for again in (values, values[:1], values[1:], values[2:], values[3:]):
        counts = await ingest(database, *again)
        assert (counts.added, counts.updated) == (0, 0)
    assert await state(database) == before


async def test_equal_texts_are_two_messages_and_equal_contents_one_content(
    database: Database,
) -> None:
    await ingest(
        database,
        user("m1", "again"),
        user("m2", "again"),
        call("m3", "c1", content=[text_block("same")]),
        call("m4", "c2", content=[text_block("same")]),
    )
    assert [row["content"] for row in await messages(database)] == ["again", "again", "", ""]
    assert len(await contents(database)) == 1
    assert len(await rows(database, content_reference_table)) == 2


@pytest.mark.parametrize("batches", ["one", "two"])
async def test_an_update_patches_a_call_in_the_same_batch_or_a_later_one(
    database: Database, batches: str
) -> None:
    message = call("m1", status=PENDING, title="Read File", raw_input={}, started_at=at(0))
    update = ToolCallUpdate(
        "c1",
        status=ToolStatus.COMPLETED,
        content=[text_block("42")],
        raw_output={"n": 42},
        ended_at=at(3),
    )
    if batches == "one":
        await ingest(database, message, update)
    else:
        await ingest(database, message)
        counts = await ingest(database, update)
        assert (counts.added, counts.updated) == (0, 1)
    [row] = await messages(database)
    assert row["revision"] == (1 if batches == "one" else 2)
    assert (row["tool_status"], row["tool_title"]) == ("completed", "Read File")
    assert (row["tool_started_at"], row["tool_ended_at"]) == (at_text(0), at_text(3))
    assert row["tool_content_preview"] == "42"
    assert await part(database, 1, "raw_input") == b"{}"
    assert await part(database, 1, "raw_output") == b'{"n":42}'
    assert await findings(database) == []


async def test_absent_keeps_an_array_replaces_and_null_clears(database: Database) -> None:
    await ingest(
        database,
        call(
            "m1",
            title="Title",
            locations=(ToolLocation("/a"),),
            content=[text_block("old")],
            raw_input={"a": 1},
            raw_output=[1],
        ),
    )
    await ingest(database, ToolCallUpdate("c1", name="Bash"))
    [row] = await messages(database)
    assert (row["tool_name"], row["tool_title"], row["raw_input_size"]) == ("Bash", "Title", 7)

    await ingest(database, ToolCallUpdate("c1", content=[], locations=()))
    [row] = await messages(database)
    assert (row["tool_content_size"], row["tool_content_state"]) == (2, "complete")
    assert row["tool_locations"] == "[]"
    assert await part(database, 1, "tool_content") == b"[]"

    await ingest(
        database,
        ToolCallUpdate(
            "c1", title=None, content=None, raw_input=None, raw_output=None, locations=None
        ),
    )
    [row] = await messages(database)
    assert row["tool_title"] is None
    assert row["tool_content_preview"] is None
    assert row["tool_content_state"] == "none_recorded"
    assert {row[f"{name}_hash"] for name in ("tool_content", "raw_input", "raw_output")} == {None}
    assert {row[f"{name}_size"] for name in ("tool_content", "raw_input", "raw_output")} == {None}
    await sweep(database)
    assert await contents(database) == {}
    assert row["revision"] == 4
    assert await findings(database) == []


async def test_an_update_that_changes_nothing_writes_nothing(database: Database) -> None:
    await ingest(database, call("m1", content=[text_block("done")], title="T"))
    before = await state(database)
    counts = await ingest(
        database,
        ToolCallUpdate("c1"),
        ToolCallUpdate("c1", title="T", status=ToolStatus.COMPLETED, kind=ToolKind.OTHER),
        ToolCallUpdate("c1", content=[text_block("done")]),
        MessageUsage("nobody", Usage(1)),
    )
    assert (counts.added, counts.updated, counts.skipped) == (0, 0, 0)
    assert await state(database) == before


async def test_updates_of_one_call_in_one_batch_count_as_one_change(database: Database) -> None:
    await ingest(database, call("m1", status=PENDING))
    counts = await ingest(
        database,
        ToolCallUpdate("c1", content=[text_block("1")]),
        ToolCallUpdate("c1", content=[text_block("1 2")]),
        ToolCallUpdate("c1", content=[text_block("1 2 3")], status=ToolStatus.COMPLETED),
    )
    assert counts.updated == 1
    [row] = await messages(database)
    assert (row["revision"], row["tool_content_preview"]) == (2, "1 2 3")
    assert list((await contents(database)).values()) == [
        b'[{"type":"content","content":{"type":"text","text":"1 2 3"}}]'
    ]


async def test_an_update_of_an_unknown_call_appends_a_message(database: Database) -> None:
    await ingest(database, user("m1", created_at=at(5)))
    update = ToolCallUpdate("c9", title="Found late", status=ToolStatus.IN_PROGRESS)
    assert (await ingest(database, update)).added == 1
    assert (await ingest(database, update)).added == 0
    _, row = await messages(database)
    assert (row["role"], row["tool_call_id"], row["tool_title"]) == ("tool", "c9", "Found late")
    assert (row["tool_status"], row["created_at"]) == ("in_progress", at_text(5))
    assert await findings(database) == []


async def test_an_update_goes_to_the_latest_of_several_calls_of_one_id(database: Database) -> None:
    await ingest(database, call("m1", "toolu_01", status=PENDING), call("m2", "toolu_01"))
    await ingest(database, ToolCallUpdate("toolu_01", title="later"))
    assert [row["tool_title"] for row in await messages(database)] == [None, "later"]


@pytest.mark.parametrize("part_name", ["tool_content", "raw_input", "raw_output"])
async def test_any_json_is_kept_as_it_is(database: Database, part_name: str) -> None:
    name = "content" if part_name == "tool_content" else part_name
    values: list[Any] = [0, False, "", "text", {}, {"a": [None]}, [None], [[]], 1.5, 2**70]
    calls = [call(f"m{n}", f"c{n}", **{name: value}) for n, value in enumerate(values)]
    await ingest(database, *calls)
    stored = [b"0", b"false", b'""', b'"text"', b"{}", b'{"a":[null]}', b"[null]", b"[[]]", b"1.5"]
    stored.append(b"1180591620717411303424")
    for sequence, data in enumerate(stored, start=1):
        assert await part(database, sequence, part_name) == data
    assert await findings(database) == []


@pytest.mark.parametrize(
    ("content", "given", "state_stored"),
    [
        (None, None, "none_recorded"),
        ([], None, "complete"),
        ([text_block("a")], ContentState.CUT_BY_AGENT, "cut_by_agent"),
        (None, ContentState.MISSING, "missing"),
        (None, ContentState.COMPLETE, "none_recorded"),
        ([], ContentState.NONE_RECORDED, "complete"),
    ],
)
async def test_the_state_of_a_content_agrees_with_whether_there_is_one(
    database: Database, content: Any, given: ContentState | None, state_stored: str
) -> None:
    await ingest(database, call("m1", content=content, content_state=given))
    [row] = await messages(database)
    assert row["tool_content_state"] == state_stored
    assert await findings(database) == []


async def test_an_update_may_say_the_state_of_a_content_alone(database: Database) -> None:
    await ingest(database, call("m1", content=[text_block("cut")]), call("m2", "c2"))
    await ingest(
        database,
        ToolCallUpdate("c1", content_state=ContentState.CUT_BY_AGENT),
        ToolCallUpdate("c2", content_state=ContentState.MISSING),
    )
    assert [row["tool_content_state"] for row in await messages(database)] == [
        "cut_by_agent",
        "missing",
    ]


@pytest.mark.parametrize(
    ("text", "place", "preview"),
    [
        ("", "row", None),
        ("é" * 512, "row", None),
        ("é" * 512 + "x", "table", "é" * 280),
        ("é" * 8_192, "table", "é" * 280),
        ("é" * 8_192 + "x", "content", "é" * 280),
        ("x" * 700_000, "content", "x" * 280),
    ],
)
async def test_a_text_is_stored_where_its_size_belongs(
    database: Database, text: str, place: str, preview: str | None
) -> None:
    await ingest(database, user("m1", text))
    [row] = await messages(database)
    assert row["content_size"] == len(text.encode())
    assert row["content_preview"] == preview
    assert (row["content_hash"] is None) == (place != "content")
    apart = [row["text"] for row in await rows(database, message_text_table)]
    contained = list((await contents(database)).values())
    assert ([row["content"]], apart, contained) == {
        "row": ([text], [], []),
        "table": ([None], [text], []),
        "content": ([None], [], [text.encode()]),
    }[place]
    assert await findings(database) == []


async def test_a_message_that_has_grown_since_is_stored_in_its_longer_form(
    database: Database,
) -> None:
    await ingest(database, user("m1", "Hel"))
    counts = await ingest(database, user("m1", "Hello, world."))
    assert (counts.added, counts.updated, counts.skipped) == (0, 1, 0)
    await ingest(database, user("m1", "Hello"))
    [row] = await messages(database)
    assert (row["content"], row["content_size"], row["revision"]) == ("Hello, world.", 13, 2)
    await ingest(database, user("m1", "x" * 5_000))
    assert await rows(database, message_text_table, "sequence", "text") == [
        {"sequence": 1, "text": "x" * 5_000}
    ]
    await ingest(database, user("m1", "y" * 20_000))
    assert await part(database, 1, "content") == b"y" * 20_000
    assert await rows(database, message_text_table) == []
    assert await findings(database) == []


async def test_a_text_stays_where_it_is_when_something_else_changes(database: Database) -> None:
    told = call("m1", status=PENDING)
    await ingest(database, dataclasses.replace(told, content="x" * 5_000))
    await ingest(database, ToolCallUpdate("c1", status=ToolStatus.COMPLETED))
    [row] = await messages(database, "tool_status", "content", "content_preview", "content_size")
    assert row == {
        "tool_status": "completed",
        "content": None,
        "content_preview": "x" * 280,
        "content_size": 5_000,
    }
    assert await rows(database, message_text_table, "text") == [{"text": "x" * 5_000}]
    assert await findings(database) == []


async def test_a_message_told_again_takes_nothing_back(database: Database) -> None:
    first = call("m1", status=PENDING, title="Read File", started_at=at(0))
    await ingest(database, first)
    await ingest(
        database,
        ToolCallUpdate("c1", status=ToolStatus.COMPLETED, title="Read a.py", content=[]),
        MessageUsage("m1", Usage(5)),
    )
    before = await state(database)
    counts = await ingest(database, first)
    assert (counts.updated, counts.skipped) == (0, 1)
    assert await state(database) == before


async def test_a_message_told_again_may_have_come_further(database: Database) -> None:
    await ingest(database, call("m1", status=PENDING, title="Read File", raw_input={"a": 1}))
    done = call("m1", content=[text_block("done")], ended_at=at(2))
    counts = await ingest(database, done)
    assert counts.updated == 1
    [row] = await messages(database)
    assert (row["tool_status"], row["tool_title"]) == ("completed", "Read File")
    assert (row["tool_content_preview"], row["tool_ended_at"]) == ("done", at_text(2))
    assert await part(database, 1, "raw_input") == b'{"a":1}'


async def test_a_message_told_twice_in_a_batch_is_one(database: Database) -> None:
    counts = await ingest(
        database,
        call("m1", status=PENDING),
        ToolCallUpdate("c1", title="T"),
        call("m1", content=[text_block("done")]),
        user("m2", "Hi"),
        user("m2", "Hi there"),
    )
    assert counts.added == 2
    one, two = await messages(database)
    assert (one["tool_title"], one["tool_content_preview"]) == ("T", "done")
    assert two["content"] == "Hi there"


async def test_a_usage_replaces_an_earlier_one_and_null_takes_it_back(database: Database) -> None:
    await ingest(database, user("m1"), user("m2"), MessageUsage("m1", Usage(1, 10, 100, 1_000)))
    await ingest(database, MessageUsage("m1", Usage(2, 20, 200, 2_000)))
    assert (await session(database))["output_tokens"] == 20
    await ingest(database, MessageUsage("m1", None), MessageUsage("m2", Usage(3, 30, 300, 3_000)))
    stored = await session(database)
    assert [stored[name] for name in ("input_tokens", "output_tokens")] == [3, 30]
    assert [row["output_tokens"] for row in await messages(database)] == [None, 30]
    await ingest(database, MessageUsage("m2", None))
    assert (await session(database))["input_tokens"] is None
    assert await findings(database) == []


async def test_a_message_without_a_time_takes_that_of_the_one_before_it(
    database: Database,
) -> None:
    await ingest(database, user("m1"), user("m2", created_at=at(1)), user("m3"))
    await ingest(database, user("m4"), user("m5", created_at=at(2)))
    assert [row["created_at"] for row in await messages(database)] == [
        NOW_TEXT,
        at_text(1),
        at_text(1),
        at_text(1),
        at_text(2),
    ]


async def test_nul_and_lone_surrogates_in_texts_become_replacement_characters(
    database: Database,
) -> None:
    await ingest(
        database,
        Message(
            "m\x001",
            MessageRole.TOOL,
            "a\x00b\ud83dc",
            model="m\x00",
            tool_call=ToolCall("c\x001", title="t\ud800", locations=(ToolLocation("/\x00"),)),
        ),
        user("m2", "clean 😀"),
    )
    dirty, clean = await messages(database)
    assert (dirty["client_id"], dirty["content"], dirty["model"]) == (
        "m\ufffd1",
        "a\ufffdb\ufffdc",
        "m\ufffd",
    )
    assert (dirty["tool_call_id"], dirty["tool_title"]) == ("c\ufffd1", "t\ufffd")
    assert dirty["tool_locations"] == '[{"path":"/\ufffd","line":null}]'
    assert (dirty["repaired"], clean["repaired"]) == (True, False)
    await ingest(database, ToolCallUpdate("c\x001", name="found"))
    assert [row["tool_name"] for row in await messages(database)] == ["found", None]


async def test_a_nul_in_json_is_kept_and_a_lone_surrogate_repaired(database: Database) -> None:
    await ingest(
        database,
        call("m1", "c1", content=[text_block("a\x00b")]),
        call("m2", "c2", content=["\ud83d", float("nan")]),
        call("m3", "c3", status=PENDING),
        ToolCallUpdate("c3", raw_output={"k\udc00": 1}),
    )
    one, two, three = await messages(database)
    assert (one["repaired"], one["tool_content_preview"]) == (False, "a\ufffdb")
    assert (two["repaired"], two["tool_content_preview"]) == (True, "\ufffd\nnull")
    assert three["repaired"]
    assert await part(database, 1, "tool_content") == (
        rb'[{"type":"content","content":{"type":"text","text":"a\u0000b"}}]'
    )
    assert await part(database, 2, "tool_content") == '["\ufffd",null]'.encode()
    assert await part(database, 3, "raw_output") == '{"k\ufffd":1}'.encode()


async def test_what_can_only_be_kept_raw_is_refused_without_a_file(database: Database) -> None:
    deep: Any = []
    for _ in range(1_001):
        deep = [deep]
    with pytest.raises(InvalidJsonError):
        await ingest(database, user("m1"), call("m2", content=deep))
    with pytest.raises(TranscriptError):
        await ingest(database, user("m1"), Record(b"{}", "not understood"))
    assert await messages(database) == []


async def test_numbers_of_tokens_beyond_reason_are_kept_in_range(database: Database) -> None:
    await ingest(database, user("m1", usage=Usage(10**30, -5)))
    [row] = await messages(database)
    assert (row["input_tokens"], row["output_tokens"]) == (2**53 - 1, 0)


async def test_sums_of_tokens_beyond_reason_are_kept_in_range(database: Database) -> None:
    huge = Usage(2**70, 2**52, 3, 0)
    told = [user(f"m{number}", usage=huge) for number in range(2_000)]
    await ingest(database, *told)
    await ingest(database, *[user(f"n{number}", usage=huge) for number in range(2_000)])
    assert await sums(database) == (2**53 - 1, 2**53 - 1, 12_000, 0)
    assert await findings(database) == []
    plain = [MessageUsage(row["client_id"], Usage(1, 1, 1)) for row in await messages(database)]
    await ingest(database, *plain)
    assert await sums(database) == (4_000, 4_000, 4_000, 0)
    assert await findings(database) == []


async def sums(database: Database) -> tuple[int, ...]:
    row = await session(database)
    return tuple(
        row[name]
        for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
    )


@pytest.mark.parametrize(
    ("line", "stored"),
    [(2**31 - 1, 2**31 - 1), (0, 0), (2**31, None), (10**30, None), (-1, None), (None, None)],
)
async def test_a_line_that_no_file_has_is_null(
    database: Database, line: int | None, stored: int | None
) -> None:
    place = (ToolLocation("a.py", line),)
    await ingest(database, call("m1", "c1", locations=place))
    await ingest(database, call("m2", "c2"), ToolCallUpdate("c2", locations=place))
    for row in await messages(database, "tool_locations"):
        assert json.loads(row["tool_locations"]) == [{"path": "a.py", "line": stored}]
