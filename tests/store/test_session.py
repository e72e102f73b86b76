"""Pages, rows and names of sessions."""

from collections.abc import Collection
from typing import Any

import pytest

from tests import builders
from tests.statements import statements
from tests.store.test_page import model, requests
from toolfold.store import layouts, session
from toolfold.store.engine import Database
from toolfold.store.page import PageRequest
from toolfold.store.session import ORDER_FIELDS, SessionFilter, SessionOrder

EARLY = "2026-01-01T00:00:00.000Z"
LATE = "2026-02-01T00:00:00.000Z"
ALL = SessionFilter(include_children=True)

SESSIONS: list[dict[str, Any]] = [
    {"session_id": "a", "updated_at": LATE, "content_size": 3, "title": "Mend the café's door"},
    {
        "session_id": "b",
        "updated_at": EARLY,
        "content_size": 3,
        "title": "100% done",
        "status": "active",
    },
    {
        "session_id": "c",
        "updated_at": LATE,
        "content_size": 1,
        "title": "MEND a_b",
        "agent": "codex",
    },
    {"session_id": "d", "updated_at": EARLY, "content_size": 2, "parent_id": "a"},
    {"session_id": "e", "updated_at": LATE, "content_size": 2, "parent_source_session": "unknown"},
    {"session_id": "f", "updated_at": EARLY, "content_size": 0, "title": "ÉTÉ", "status": "failed"},
    {"session_id": "a", "project_id": "other", "updated_at": EARLY, "content_size": 3},
    {
        "session_id": "g",
        "project_id": "other",
        "updated_at": LATE,
        "content_size": 3,
        "title": "Mend",
    },
]
FILTERS = [
    (SessionFilter(), "a b c f"),
    (ALL, "a b c d e f"),
    (SessionFilter(status=["active", "failed"]), "b f"),
    (SessionFilter(status=[]), ""),
    (SessionFilter(agent="codex"), "c"),
    (SessionFilter(updated_after=EARLY), "a c"),
    (SessionFilter(updated_after="2025-12-31T23:59:59.999Z"), "a b c f"),
    (SessionFilter(title_contains="mend"), "a c"),
    (SessionFilter(title_contains="CAFÉ"), "a"),
    (SessionFilter(title_contains="été"), "f"),
    (SessionFilter(title_contains="0% d"), "b"),
    (SessionFilter(title_contains="%"), "b"),
    (SessionFilter(title_contains="_"), "c"),
    (SessionFilter(title_contains="\\"), ""),
    (SessionFilter(title_contains="mend", agent="codex"), "c"),
    (SessionFilter(parent=("default", "a")), "d"),
    (SessionFilter(parent=("other", "a")), ""),
]


async def store(database: Database) -> None:
    await database.write(lambda connection: builders.add_project(connection, "other"))
    for columns in SESSIONS:
        await builders.store_session(database, **{"created_at": columns["updated_at"], **columns})


async def ids(
    database: Database,
    where: SessionFilter,
    order: SessionOrder = session.LATEST_FIRST,
    project_ids: Collection[str] | None = ("default",),
) -> list[str]:
    request = PageRequest(first=99)
    async with database.read() as connection:
        page = await session.page(
            connection, project_ids, request, order=order, where=where, columns=("id",)
        )
        assert await session.count(connection, project_ids, where) == len(page.rows)
    return [row.id for row in page.rows]


@pytest.mark.parametrize(("where", "expected"), FILTERS)
async def test_a_filter_lets_through_what_it_names(
    database: Database, where: SessionFilter, expected: str
) -> None:
    await store(database)
    order = SessionOrder("created_at", descending=False)
    assert sorted(await ids(database, where, order)) == expected.split()


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (SessionOrder("updated_at", descending=True), "e c a f d b"),
        (SessionOrder("updated_at", descending=False), "b d f a c e"),
        (SessionOrder("created_at", descending=True), "e c a f d b"),
        (SessionOrder("content_size", descending=True), "b a e d c f"),
        (SessionOrder("content_size", descending=False), "f c d e a b"),
        (SessionOrder("message_count", descending=False), "a b c d e f"),
    ],
)
async def test_equal_sessions_follow_their_ids(
    database: Database, order: SessionOrder, expected: str
) -> None:
    await store(database)
    assert await ids(database, ALL, order) == expected.split()


@pytest.mark.parametrize("project_ids", [("default",), ("default", "other"), None])
@pytest.mark.parametrize("field", ["updated_at", "content_size"])
async def test_every_page_is_that_of_a_list(
    database: Database, project_ids: tuple[str, ...] | None, field: str
) -> None:
    await store(database)
    order = SessionOrder(field, descending=False)
    readable = project_ids or ("default", "other")
    keys = sorted(
        (row[field], row.get("project_id", "default"), row["session_id"])
        for row in SESSIONS
        if row.get("project_id", "default") in readable
    )
    async with database.read() as connection:
        for request in requests([keys[1], (keys[2][0], "default", "bb"), keys[-2]]):
            page = await session.page(
                connection, project_ids, request, order=order, where=ALL, columns=order.columns
            )
            found = ([tuple(row) for row in page.rows], page.has_next, page.has_previous)
            assert found == model(keys, request), request


async def test_projects_that_may_not_be_read_are_not_seen(database: Database) -> None:
    await store(database)
    order = SessionOrder("created_at", descending=False)
    assert await ids(database, ALL, order, ("other",)) == ["a", "g"]
    assert await ids(database, ALL, order, ("absent",)) == []
    assert await ids(database, ALL, order, ()) == []
    assert len(await ids(database, ALL, order, None)) == len(SESSIONS)


def test_an_order_is_by_a_column_that_has_one() -> None:
    assert [SessionOrder(field).field for field in ORDER_FIELDS] == list(ORDER_FIELDS)
    with pytest.raises(ValueError, match="not ordered by title"):
        SessionOrder("title")


async def test_sessions_are_found_by_key(database: Database) -> None:
    await store(database)
    keys = {("default", "a"), ("other", "a"), ("other", "b"), ("default", "f")}
    async with database.read() as connection:
        with statements(database) as seen:
            found = await session.by_keys(connection, keys, ("title",))
        none = await session.by_keys(connection, set())
    assert len(seen) == 1
    assert {key: row.title for key, row in found.items()} == {
        ("default", "a"): "Mend the café's door",
        ("other", "a"): None,
        ("default", "f"): "ÉTÉ",
    }
    assert none == {}


async def test_the_session_that_a_call_started_is_found(database: Database) -> None:
    await builders.store_session(database, session_id="parent")
    for child, call, created_at in (
        ("later", "call-1", LATE),
        ("first", "call-1", EARLY),
        ("other", "call-2", LATE),
        ("unknown", None, EARLY),
    ):
        await builders.store_session(
            database,
            session_id=child,
            parent_id="parent",
            parent_tool_call_id=call,
            created_at=created_at,
        )
    keys = {
        ("default", "parent", "call-1"),
        ("default", "parent", "call-2"),
        ("default", "parent", "call-3"),
        ("default", "another", "call-1"),
    }
    async with database.read() as connection:
        with statements(database) as seen:
            found = await session.by_parent_tool_calls(connection, keys, ("id",))
        none = await session.by_parent_tool_calls(connection, set())
    assert len(seen) == 1
    assert {key: row.id for key, row in found.items()} == {
        ("default", "parent", "call-1"): "first",
        ("default", "parent", "call-2"): "other",
    }
    assert none == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("0a1b2c", ["0a1b2c"]),
        ("0a1", ["0a1b2c"]),
        ("0a", ["0a9", "0a1b2c"]),
        ("agent-7", ["same-2", "same-1"]),
        ("agent-7x", ["0a9"]),
        ("agent-", ["same-2", "same-1", "0a9"]),
        ("0A1", []),
        ("%", []),
        ("absent", []),
    ],
)
async def test_a_person_may_name_a_session_by_any_of_its_ids(
    database: Database, name: str, expected: list[str]
) -> None:
    for position, (session_id, source_format, source_session) in enumerate(
        (
            ("0a1b2c", None, None),
            ("0a9", "codex", "agent-7x"),
            ("same-1", "claude-code", "agent-7"),
            ("same-2", "codex", "agent-7"),
        )
    ):
        await builders.store_session(
            database,
            session_id=session_id,
            source_format=source_format,
            source_session=source_session,
            updated_at=f"2026-01-01T00:00:00.00{position}Z",
        )
    async with database.read() as connection:
        found = await session.by_source(connection, ["default"], name, ("id",))
        elsewhere = await session.by_source(connection, ["other"], name, ("id",))
    assert [row.id for row in found] == expected
    assert elsewhere == []


async def test_a_beginning_means_the_session_that_started_any_number_of_others(
    database: Database,
) -> None:
    await builders.store_session(database, session_id="1", source_session="abc")
    for number in range(session.NAMED_LIMIT + 5):
        await builders.store_session(
            database, session_id=f"child-{number}", source_session=f"abc/{number}", parent_id="1"
        )
    async with database.read() as connection:
        found = await session.by_source(connection, None, "ab", ("id",))
    assert [row.id for row in found] == ["1"]


async def test_an_ambiguous_name_is_answered_with_few(database: Database) -> None:
    for number in range(15):
        await builders.store_session(database, session_id=f"same-{number}")
    async with database.read() as connection:
        found = await session.by_source(connection, ["default"], "same", ("id",))
    assert len(found) == session.NAMED_LIMIT


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize("field", ORDER_FIELDS)
async def test_the_order_of_a_projects_sessions_is_that_of_an_index(
    database: Database, field: str
) -> None:
    with statements(database) as seen:
        async with database.read() as connection:
            order = SessionOrder(field)
            request = PageRequest(first=50, after=("", "default", "a"))
            await session.page(connection, ("default",), request, order=order)
    async with database.read() as connection:
        parameters = {str(number): 0 for number in range(seen[0].count("?"))}
        explained = f"EXPLAIN QUERY PLAN {seen[0]}"
        plan = await connection.exec_driver_sql(explained, tuple(parameters.values()))
        steps = [row.detail for row in plan]
    assert steps == [f"SEARCH session USING INDEX ix_session_{field} (project_id=? AND {field}<?)"]


async def test_a_text_with_a_nul_names_nothing(database: Database) -> None:
    await store(database)
    assert await ids(database, SessionFilter(agent="claude\0code")) == []
    assert await ids(database, SessionFilter(title_contains="mend\0")) == []
    async with database.read() as connection:
        assert await session.by_keys(connection, {("default", "a\0"), ("default\0", "a")}) == {}
        assert await session.by_source(connection, ["default"], "a\0") == []
        assert await layouts.describe(connection, "default\0", b"\0") is None
