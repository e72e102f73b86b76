"""A session's own row: its identity, its title, and what it repeats of its messages."""

import uuid
from typing import Any

import pytest

from tests.builders import PROJECT, text_block
from tests.ingest.stored import (
    FORMAT,
    NOW_TEXT,
    at,
    at_text,
    findings,
    ingest,
    ingest_entries,
    messages,
    rows,
    session,
    state,
)
from toolfold.errors import ArchivedSessionError
from toolfold.events import Position
from toolfold.store.engine import Database
from toolfold.store.tables import session_table
from toolfold.transcript import (
    Entry,
    Message,
    MessageRole,
    Session,
    SessionStatus,
    ToolCall,
    ToolCallUpdate,
    Usage,
    Value,
)


def user(client_id: str, content: str = "Hello.", **fields: Any) -> Message:
    return Message(client_id, MessageRole.USER, content, **fields)


def call(client_id: str, tool_call_id: str, **fields: Any) -> Message:
    return Message(client_id, MessageRole.TOOL, tool_call=ToolCall(tool_call_id, **fields))


async def test_every_field_of_a_session_is_in_its_row(database: Database) -> None:
    await ingest(
        database,
        Session(
            agent="claude-code",
            title="The title",
            cwd="/home/sam",
            git_branch="main",
            created_at=at(0),
            updated_at=at(90),
            parent="p1",
            parent_tool_call_id="c7",
        ),
        user("m1", created_at=at(1), usage=Usage(1, 2, 3, 4)),
        call("m2", "c1", content=[text_block("é")], started_at=at(2), ended_at=at(3)),
        Message(
            "m3", MessageRole.ASSISTANT, "Done.", created_at=at(4), usage=Usage(10, 20, 30, 40)
        ),
    )
    row = await session(database)
    assert uuid.UUID(row.pop("id")).version == 5
    assert row.pop("incarnation")
    assert row == {
        "project_id": "default",
        "title": "The title",
        "agent": "claude-code",
        "status": "completed",
        "cwd": "/home/sam",
        "git_branch": "main",
        "source_format": FORMAT,
        "source_session": "s1",
        "parent_source_session": "p1",
        "parent_id": None,
        "parent_tool_call_id": "c7",
        "created_at": at_text(0),
        "updated_at": at_text(90),
        "head_sequence": 3,
        "head_revision": 3,
        "message_count": 3,
        "tool_call_count": 1,
        "content_size": len('[{"type":"content","content":{"type":"text","text":"é"}}]') + 1,
        "input_tokens": 11,
        "output_tokens": 22,
        "cache_read_tokens": 33,
        "cache_creation_tokens": 44,
    }


async def test_a_session_has_the_same_id_wherever_it_is_imported(database: Database) -> None:
    await ingest(database, user("m1"), session="s1")
    await ingest(database, user("m1"), session="s2")
    first, second = await session(database, "s1"), await session(database, "s2")
    assert first["id"] != second["id"]
    await database.write(
        lambda connection: connection.exec_driver_sql(
            "INSERT INTO project (id, name, created_at) VALUES ('other', 'other', 'then')"
        )
    )
    await ingest(database, user("m1"), session="s1", project_id="other")
    ids = [row["id"] for row in await rows(database, session_table) if row["project_id"] == "other"]
    assert ids == [first["id"]]


async def test_an_exported_session_keeps_its_id_and_format(database: Database) -> None:
    await ingest(database, Session(id="abc", format="codex"), user("m1"), session="own-id")
    await ingest(database, Session(id="made-by-client"), user("m1"), session="made-by-client")
    names = ("id", "source_format", "source_session", "agent")
    assert await rows(database, session_table, *names) == [
        {"id": "abc", "source_format": "codex", "source_session": "own-id", "agent": "codex"},
        {
            "id": "made-by-client",
            "source_format": None,
            "source_session": None,
            "agent": FORMAT,
        },
    ]


async def test_one_session_of_a_source_is_one_whatever_id_it_came_under(
    database: Database,
) -> None:
    await ingest(database, Session(id="abc", format=FORMAT), user("m1"))
    await ingest(database, user("m1"), user("m2"))
    assert [row["id"] for row in await rows(database, session_table)] == ["abc"]
    assert [row["client_id"] for row in await messages(database)] == ["m1", "m2"]


async def test_what_is_not_said_again_of_a_session_is_kept(database: Database) -> None:
    await ingest(database, Session(agent="a", title="T", cwd="/x", created_at=at(5)))
    await ingest(database, Session(git_branch="b"))
    await ingest(database, Session(cwd="/y", created_at=at(3), updated_at=at(8)))
    row = await session(database)
    assert (row["agent"], row["title"], row["cwd"], row["git_branch"]) == ("a", "T", "/x", "b")
    assert (row["created_at"], row["updated_at"]) == (at_text(3), at_text(8))


async def test_a_change_of_the_session_alone_is_a_revision_of_it(database: Database) -> None:
    await ingest(database, Session(title="Before"), user("m1"))
    counts = await ingest(database, Session(title="After"))
    assert counts.sessions[0].head_revision == 2
    assert (await session(database))["head_revision"] == 2
    await ingest(database, Session(title="After"))
    assert (await session(database))["head_revision"] == 2
    assert await findings(database) == []


async def test_saying_the_same_of_a_session_writes_nothing(database: Database) -> None:
    said = Session(agent="a", title="T", cwd="/x", created_at=at(5), updated_at=at(6))
    await ingest(database, said, user("m1", created_at=at(5)))
    before = await state(database)
    await ingest(database, said, user("m1", created_at=at(5)))
    assert await state(database) == before


async def test_a_session_lasts_from_its_earliest_to_its_latest_time(database: Database) -> None:
    await ingest(
        database,
        user("m1", created_at=at(10)),
        call("m2", "c1", started_at=at(11), ended_at=at(30)),
        user("m3", created_at=at(20)),
    )
    row = await session(database)
    assert (row["created_at"], row["updated_at"]) == (at_text(10), at_text(30))
    await ingest(database, ToolCallUpdate("c1", ended_at=at(40)))
    assert (await session(database))["updated_at"] == at_text(40)


async def test_a_session_without_any_time_is_of_now(database: Database) -> None:
    await ingest(database, Session(agent="a"))
    row = await session(database)
    assert (row["created_at"], row["updated_at"]) == (NOW_TEXT, NOW_TEXT)


async def test_a_session_without_a_title_has_its_first_users_first_line(
    database: Database,
) -> None:
    cases: list[tuple[list[Message], str | None]] = [
        ([user("m1", "Fix the bug\nin a.py")], "Fix the bug"),
        ([user("m1", "\n  \n\tIndented  \nrest")], "Indented"),
        ([user("m1", "w" * 80)], "w" * 80),
        ([user("m1", "w" * 90)], "w" * 79 + "…"),
        ([user("m1", "x" * 79 + " y")], "x" * 79 + "…"),
        ([user("m1", "x" * 70 + " 3, 4 results")], "x" * 70 + " 3, 4…"),
        ([user("m1", "x" * 20 + " " + "y" * 90)], "x" * 20 + " " + "y" * 58 + "…"),
        ([user("m1", "<injected>", origin="system"), user("m2", "Mine")], "Mine"),
        ([Message("m1", MessageRole.ASSISTANT, "Hi."), user("m2", "Mine")], "Mine"),
        ([user("m1", ""), user("m2", " \n"), user("m3", "Third")], "Third"),
        ([user("m1", "Long " * 5_000)], ("Long " * 16).rstrip() + "…"),
        ([user("m1", "", origin="system")], None),
    ]
    for number, (texts, title) in enumerate(cases):
        await ingest(database, *texts, session=f"s{number}")
        assert (await session(database, f"s{number}"))["title"] == title


async def test_the_agents_own_title_counts_whenever_it_comes(database: Database) -> None:
    await ingest(database, user("m1", "First words"))
    await ingest(database, user("m2", "Later words"))
    assert (await session(database))["title"] == "First words"
    await ingest(database, Session(title="Own"), user("m3"))
    assert (await session(database))["title"] == "Own"
    await ingest(database, Session(agent="a"), user("m4"))
    assert (await session(database))["title"] == "Own"


async def test_a_title_taken_from_a_text_grows_with_it(database: Database) -> None:
    await ingest(database, user("m1", "Fix th"))
    await ingest(database, user("m1", "Fix the bug"))
    assert (await session(database))["title"] == "Fix the bug"
    await ingest(database, user("m1", "Fix the bug " + "now " * 20))
    assert (await session(database))["title"] == "Fix the bug " + "now " * 16 + "now…"


async def test_a_title_that_a_person_gave_outlasts_another_import(database: Database) -> None:
    words = user("m1", "Fix the bug " + "now " * 20)
    await ingest(database, words)
    await ingest(database, Session(title="Mine"))
    await ingest(database, words, user("m2", "And another"))
    assert (await session(database))["title"] == "Mine"


async def test_the_sums_follow_every_change(database: Database) -> None:
    await ingest(database, call("m1", "c1", content=["x" * 96]), call("m2", "c2"))
    assert (await session(database))["content_size"] == 100
    await ingest(database, ToolCallUpdate("c1", content=["x"]), ToolCallUpdate("c2", content=[]))
    row = await session(database)
    assert (row["content_size"], row["tool_call_count"], row["head_revision"]) == (7, 2, 4)
    await ingest(database, ToolCallUpdate("c1", content=None))
    assert (await session(database))["content_size"] == 2
    assert await findings(database) == []


async def test_a_session_without_usage_has_no_sums_of_tokens(database: Database) -> None:
    await ingest(database, user("m1"))
    assert (await session(database))["input_tokens"] is None
    await ingest(database, user("m2", usage=Usage()))
    assert (await session(database))["input_tokens"] == 0


async def test_an_import_reopens_a_completed_session_and_keeps_a_failed_one(
    database: Database,
) -> None:
    await ingest(database, user("m1"), session="s1")
    await ingest(database, Session(status=SessionStatus.FAILED), user("m1"), session="s2")
    for own_id in ("s1", "s2"):
        assert (await ingest(database, user("m2"), session=own_id)).added == 1
    assert (await session(database, "s1"))["status"] == "completed"
    assert (await session(database, "s2"))["status"] == "failed"


async def test_an_archived_session_refuses_and_the_others_are_written(database: Database) -> None:
    await ingest(database, user("m1"), Session(status=SessionStatus.ARCHIVED), session="archived")
    before = await session(database, "archived")
    counts = await ingest_entries(
        database,
        [
            Entry("archived", 1, user("m1")),
            Entry("archived", 2, call("m2", "c1", content=["never stored"])),
            Entry("open", 3, user("m1")),
        ],
    )
    assert (counts.added, counts.skipped) == (1, 0)
    refused, written = counts.sessions
    assert isinstance(refused.refusal, ArchivedSessionError)
    assert before["id"] in str(refused.refusal)
    assert (refused.added, written.added, written.refusal) == (0, 1, None)
    assert await session(database, "archived") == before
    assert await findings(database) == []


async def test_counts_tell_where_each_session_stands(database: Database) -> None:
    await ingest(database, call("m1", "c1"), user("m2"), session="b")
    counts = await ingest_entries(
        database,
        [
            Entry("b", 1, user("m2")),
            Entry("b", 1, ToolCallUpdate("c1", title="T")),
            Entry("a", 2, user("m1")),
            Entry("b", 3, user("m3")),
        ],
    )
    b, a = counts.sessions
    assert (b.session_id, a.session_id) == (
        (await session(database, "b"))["id"],
        (await session(database, "a"))["id"],
    )
    assert (b.head_before, b.head_sequence, b.head_revision) == (2, 3, 4)
    assert (b.added, b.updated, b.skipped) == (1, (1,), 1)
    assert (a.head_before, a.head_sequence, a.head_revision) == (0, 1, 1)


PARENT = [call("p1", "c1", child_session="child"), call("p2", "c2")]
CHILD = [user("m1", "The task")]
NAMING_CHILD: list[Value] = [Session(parent="parent"), *CHILD]
KNOWING_CHILD: list[Value] = [Session(parent="parent", parent_tool_call_id="c1"), *CHILD]


@pytest.mark.parametrize("order", ["parent first", "child first"])
@pytest.mark.parametrize("child", [CHILD, NAMING_CHILD, KNOWING_CHILD], ids=["", "names", "knows"])
async def test_a_child_is_joined_to_the_call_that_started_it_in_either_order(
    database: Database, order: str, child: list[Any]
) -> None:
    values: dict[str, list[Any]] = {"parent": PARENT, "child": child}
    for own_id in sorted(values, reverse=order == "parent first"):
        await ingest(database, *values[own_id], session=own_id)
    row = await session(database, "child")
    assert row["parent_id"] == (await session(database, "parent"))["id"]
    assert (row["parent_source_session"], row["parent_tool_call_id"]) == ("parent", "c1")
    assert await findings(database) == []


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (CHILD, PARENT),
        (NAMING_CHILD, [user("m1")]),
        (CHILD, [call("p1", "c1"), ToolCallUpdate("c1", child_session="child")]),
    ],
    ids=["a call names it", "it names its parent", "an update names it"],
)
async def test_that_a_child_is_joined_is_a_change_of_it(
    database: Database, child: list[Any], parent: list[Any]
) -> None:
    before = await ingest(database, *child, session="child")
    counts = await ingest(database, *parent, session="parent")
    row = await session(database, "child")
    assert row["head_revision"] == before.sessions[0].head_revision + 1
    assert Position(PROJECT, row["id"], row["head_revision"]) in counts.positions(PROJECT)
    again = await ingest(database, *parent, session="parent")
    assert (await session(database, "child"))["head_revision"] == row["head_revision"]
    assert again.joined == {}


async def test_a_stored_child_in_its_parents_batch_is_where_the_batch_left_it(
    database: Database,
) -> None:
    await ingest(database, *CHILD, session="child")
    counts = await ingest_entries(
        database,
        [Entry("child", 2, user("m2")), *(Entry("parent", None, value) for value in PARENT)],
    )
    row = await session(database, "child")
    assert counts.sessions[0].head_revision == row["head_revision"] == 3
    assert row["parent_tool_call_id"] == "c1"
    assert await findings(database) == []


@pytest.mark.parametrize("order", ["parent first", "child first", "together"])
async def test_a_child_that_no_call_names_is_joined_to_the_parent_that_it_names(
    database: Database, order: str
) -> None:
    entries = {
        "parent": [Entry("parent", None, user("m1"))],
        "child": [Entry("child", None, value) for value in KNOWING_CHILD],
    }
    if order == "together":
        await ingest_entries(database, entries["parent"] + entries["child"])
    else:
        for own_id in sorted(entries, reverse=order == "parent first"):
            await ingest_entries(database, entries[own_id])
    row = await session(database, "child")
    assert row["parent_id"] == (await session(database, "parent"))["id"]
    assert row["parent_tool_call_id"] == "c1"


async def test_a_later_update_of_the_call_joins_the_child(database: Database) -> None:
    await ingest(database, *CHILD, session="child")
    await ingest(database, call("p1", "c1"), session="parent")
    assert (await session(database, "child"))["parent_id"] is None
    await ingest(database, ToolCallUpdate("c1", child_session="child"), session="parent")
    row = await session(database, "child")
    assert row["parent_id"] == (await session(database, "parent"))["id"]
    assert row["parent_tool_call_id"] == "c1"


async def test_sessions_of_other_formats_are_no_family(database: Database) -> None:
    await ingest(database, Session(id="p", format="other"), *PARENT, session="parent")
    await ingest(database, *NAMING_CHILD, session="child")
    assert (await session(database, "child"))["parent_id"] is None
    assert await findings(database) == []


async def test_no_session_becomes_its_own_ancestor(database: Database) -> None:
    await ingest(database, Session(parent="s1"), user("m1"), session="s1")
    await ingest(database, Session(parent="b"), user("m1"), session="a")
    await ingest(database, Session(parent="c"), user("m1"), session="b")
    await ingest(database, Session(parent="a"), call("m1", "c1", child_session="c"), session="c")
    assert await findings(database) == []
    parents = {
        row["source_session"]: row["parent_id"] for row in await rows(database, session_table)
    }
    assert parents["s1"] is None
    assert len([own_id for own_id in "abc" if parents[own_id] is None]) == 1
