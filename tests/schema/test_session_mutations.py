"""Sessions made, changed and deleted through the schema."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.builders import text_block, text_message, tool_message
from tests.ingest.lines_importer import Lines, write
from tests.ingest.stored import contents, ingest, rows, session, state
from tests.schema.conftest import Api
from tests.schema.mutating import assert_sound, mutate, refusals, shown
from toolfold.events import Position
from toolfold.ingest import import_file
from toolfold.schema.global_id import encode, session_key
from toolfold.store.tables import record_table, session_table, source_table
from toolfold.transcript import Session

DEFAULT = encode("Project", "default")
ABSENT = encode("Session", "default", "absent")
SESSION = """
session {
  id title agent status cwd createdAt updatedAt messageCount parentToolCallId
  parent { id } project { name }
}
"""


async def created(api: Api, **given: Any) -> dict[str, Any]:
    payload = await mutate(
        api, "createSession", SESSION, **{"projectId": DEFAULT, "agent": "a", **given}
    )
    assert payload["errors"] == []
    made: dict[str, Any] = payload["session"]
    return made


def key_of(made: dict[str, Any]) -> tuple[str, str]:
    key = session_key(made["id"])
    assert key is not None
    return key


async def test_a_session_is_made_active_with_what_was_said(api: Api) -> None:
    parent = await created(api)
    with api.events.watch_sessions("default") as watch:
        made = await created(
            api, agent="zed", title="T", cwd="/w", parentId=parent["id"], parentToolCallId="c1"
        )
        assert list(watch.take().values()) == [Position(*key_of(made), 0)]
    times = {made.pop("createdAt"), made.pop("updatedAt")}
    assert len(times) == 1
    assert made == {
        "id": made["id"],
        "title": "T",
        "agent": "zed",
        "status": "ACTIVE",
        "cwd": "/w",
        "messageCount": 0,
        "parentToolCallId": "c1",
        "parent": {"id": parent["id"]},
        "project": {"name": "default"},
    }
    assert parent["parent"] is None
    await assert_sound(api)


async def test_a_client_session_id_means_one_session_in_its_project(api: Api) -> None:
    first = await created(api, clientSessionId="mine", title="first")
    again = await created(api, clientSessionId="mine", title="second")
    other = await created(api, clientSessionId="other")
    assert again == first
    assert other["id"] != first["id"]
    project = await mutate(api, "createProject", "project { id }", name="p")
    elsewhere = await created(api, projectId=project["project"]["id"], clientSessionId="mine")
    assert elsewhere["id"] != first["id"]


async def test_a_client_session_id_of_another_agent_shows_the_session_and_says_so(api: Api) -> None:
    first = await created(api, clientSessionId="mine", agent="zed")
    payload = await mutate(
        api, "createSession", SESSION, projectId=DEFAULT, agent="codex", clientSessionId="mine"
    )
    assert payload["session"] == first
    assert shown(payload) == [("InvalidInputError", "input.clientSessionId")]


async def test_of_many_that_make_one_session_all_get_it(api: Api) -> None:
    made = await asyncio.gather(*(created(api, clientSessionId="mine") for _ in range(8)))
    assert len({one["id"] for one in made}) == 1
    assert len(await rows(api.database, session_table)) == 1


async def test_a_change_of_a_session_is_a_revision(api: Api) -> None:
    made = await created(api, title="T")
    with api.events.watch_session(*key_of(made)) as watch:
        changed = await mutate(api, "updateSession", SESSION, id=made["id"], status="ARCHIVED")
        assert list(watch.take().values()) == [Position(*key_of(made), 1)]
        assert (changed["session"]["title"], changed["session"]["status"]) == ("T", "ARCHIVED")
        untitled = await mutate(api, "updateSession", SESSION, id=made["id"], title=None)
        assert list(watch.take().values()) == [Position(*key_of(made), 2)]
        assert (untitled["session"]["title"], untitled["errors"]) == (None, [])
        await mutate(api, "updateSession", SESSION, id=made["id"], status="ARCHIVED")
        assert list(watch.take().values()) == [Position(*key_of(made), 2)]
    await assert_sound(api)


async def test_a_deleted_session_takes_its_children_and_what_only_they_used(api: Api) -> None:
    shared, theirs = [text_block("shared")], [text_block("theirs")]
    await ingest(api.database, tool_message(shared, client_id="m"), session="kept")
    before = await state(api.database)
    await ingest(
        api.database,
        tool_message(shared, client_id="a"),
        tool_message(theirs, client_id="b"),
        text_message("y" * 2_000),
        text_message("x" * 20_000),
        session="parent",
    )
    await ingest(
        api.database,
        Session(parent="parent"),
        tool_message(theirs, client_id="c"),
        session="child",
    )
    await ingest(api.database, Session(parent="child"), text_message(), session="grandchild")
    keys = {
        ("default", (await session(api.database, name))["id"])
        for name in ("parent", "child", "grandchild")
    }
    parent = (await session(api.database, "parent"))["id"]
    assert len(await contents(api.database)) == 3
    with api.events.watch_sessions("default") as watch:
        global_id = encode("Session", "default", parent)
        payload = await mutate(api, "deleteSession", "deletedId", id=global_id)
        assert set(watch.take().values()) == {Position(*key, None) for key in keys}
    assert (payload["deletedId"], payload["errors"]) == (global_id, [])
    assert await state(api.database) == before


async def test_a_deleted_session_can_be_imported_anew(api: Api, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "m1", "no such line", "m2")
    importer = Lines({}).importer()
    report = await import_file(api.database, "default", path, importer=importer)
    (session_id,) = report.sessions
    global_id = encode("Session", "default", session_id)
    assert shown(await mutate(api, "deleteSession", id=global_id)) == []
    for table in (source_table, record_table, session_table):
        assert await rows(api.database, table) == []
    again = await import_file(api.database, "default", path, importer=importer)
    assert (again.sessions, again.added) == (report.sessions, report.added)


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        (
            "createSession",
            {"projectId": encode("Project", "absent"), "agent": "a"},
            ("NotFoundError", "input.projectId"),
        ),
        (
            "createSession",
            {"projectId": DEFAULT, "agent": "a", "parentId": ABSENT},
            ("NotFoundError", "input.parentId"),
        ),
        (
            "createSession",
            {"projectId": DEFAULT, "agent": "a", "parentId": encode("Session", "other", "s")},
            ("NotFoundError", "input.parentId"),
        ),
        (
            "createSession",
            {"projectId": DEFAULT, "agent": " "},
            ("InvalidInputError", "input.agent"),
        ),
        (
            "createSession",
            {"projectId": DEFAULT, "agent": "a", "title": "a\x00b"},
            ("InvalidInputError", "input.title"),
        ),
        (
            "createSession",
            {"projectId": DEFAULT, "agent": "a", "cwd": "/\udfff"},
            ("InvalidInputError", "input.cwd"),
        ),
        (
            "createSession",
            {"projectId": DEFAULT, "agent": "a", "clientSessionId": "x" * 201},
            ("InvalidInputError", "input.clientSessionId"),
        ),
        (
            "createSession",
            {"projectId": DEFAULT, "agent": "a", "title": "x" * 501},
            ("InvalidInputError", "input.title"),
        ),
        ("updateSession", {"id": ABSENT, "title": "t"}, ("NotFoundError", "input.id")),
        ("updateSession", {"id": ABSENT}, ("NotFoundError", "input.id")),
        (
            "updateSession",
            {"id": ABSENT, "status": None},
            ("InvalidInputError", "input.status"),
        ),
        ("deleteSession", {"id": ABSENT}, ("NotFoundError", "input.id")),
        (
            "deleteSession",
            {"id": encode("Session", "default", "a\x00b")},
            ("NotFoundError", "input.id"),
        ),
    ],
)
async def test_what_cannot_be_is_refused_by_type_and_path(
    api: Api, field: str, given: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert await refusals(api, field, **given) == [expected]
