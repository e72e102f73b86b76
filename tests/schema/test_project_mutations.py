"""Projects made, renamed and deleted through the schema."""

import asyncio
from typing import Any

import pytest

from tests import builders
from tests.builders import text_block, text_message, tool_message
from tests.ingest.stored import rows, state
from tests.schema.conftest import Api
from tests.schema.mutating import assert_sound, mutate, refusals, shown
from toolfold.events import Position
from toolfold.schema.global_id import encode
from toolfold.store.tables import metadata, project_table

DEFAULT = encode("Project", "default")
ABSENT = encode("Project", "absent")
PROJECT = "project { id name createdAt }"


async def created(api: Api, name: str) -> str:
    payload = await mutate(api, "createProject", PROJECT, name=name)
    assert payload["errors"] == []
    project_id: str = payload["project"]["id"]
    return project_id


async def test_a_project_is_made_and_found(api: Api) -> None:
    payload = await mutate(api, "createProject", PROJECT, name=" Café ", clientMutationId="7")
    assert (payload["errors"], payload["clientMutationId"]) == ([], "7")
    assert payload["project"]["name"] == "Café"
    document = "query ($id: ID!) { project(id: $id) { id name createdAt } }"
    data = await api.data(document, id=payload["project"]["id"])
    assert data["project"] == payload["project"]


async def test_a_project_is_renamed(api: Api) -> None:
    project_id = await created(api, "a")
    payload = await mutate(api, "updateProject", PROJECT, id=project_id, name="b")
    assert (payload["project"]["name"], payload["errors"]) == ("b", [])
    same = await mutate(api, "updateProject", PROJECT, id=project_id)
    assert same["project"] == payload["project"]
    again = await mutate(api, "updateProject", PROJECT, id=project_id, name="b")
    assert (again["project"]["name"], again["errors"]) == ("b", [])


async def test_a_deleted_project_leaves_no_row(api: Api) -> None:
    kept = await api.store([tool_message([text_block("kept")])])
    before = await state(api.database)
    project_id = await created(api, "gone")
    (key,) = [
        row["id"] for row in await rows(api.database, project_table) if row["id"] != "default"
    ]
    messages = [
        text_message("x" * 20_000),
        text_message("y" * 2_000),
        tool_message([text_block("kept")], raw_input={"a": 1}),
    ]
    await api.store(messages, key="s1", project=key)
    await api.store([text_message()], key="s2", project=key)
    with api.events.watch_sessions(None) as watch:
        payload = await mutate(api, "deleteProject", "deletedId", id=project_id)
        assert set(watch.take().values()) == {Position(key, "s1", None), Position(key, "s2", None)}
    assert (payload["deletedId"], payload["errors"]) == (project_id, [])
    assert await state(api.database) == before
    assert await api.data("query ($id: ID!) { message(id: $id) { id } }", id=kept.message(1))


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("createProject", {"name": "default"}, ("InvalidInputError", "input.name")),
        ("createProject", {"name": " \t"}, ("InvalidInputError", "input.name")),
        ("createProject", {"name": "a\x00b"}, ("InvalidInputError", "input.name")),
        ("createProject", {"name": "a\ud800"}, ("InvalidInputError", "input.name")),
        ("createProject", {"name": "é" * 201}, ("InvalidInputError", "input.name")),
        ("updateProject", {"id": ABSENT, "name": "b"}, ("NotFoundError", "input.id")),
        ("updateProject", {"id": ABSENT}, ("NotFoundError", "input.id")),
        ("updateProject", {"id": "no id"}, ("NotFoundError", "input.id")),
        ("updateProject", {"id": DEFAULT, "name": None}, ("InvalidInputError", "input.name")),
        ("updateProject", {"id": DEFAULT, "name": "b"}, ("InvalidInputError", "input.id")),
        ("deleteProject", {"id": DEFAULT}, ("InvalidInputError", "input.id")),
        ("deleteProject", {"id": ABSENT}, ("NotFoundError", "input.id")),
        ("deleteProject", {"id": encode("Session", "default", "s")}, ("NotFoundError", "input.id")),
        ("deleteProject", {"id": encode("Project", "a\x00b")}, ("NotFoundError", "input.id")),
    ],
)
async def test_what_cannot_be_is_refused_by_type_and_path(
    api: Api, field: str, given: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert await refusals(api, field, **given) == [expected]


async def test_an_absent_project_is_named_by_the_id_that_was_sent(api: Api) -> None:
    payload = await mutate(api, "deleteProject", "deletedId", id=ABSENT)
    (error,) = payload["errors"]
    assert (error["id"], payload["deletedId"]) == (ABSENT, None)


async def test_a_name_that_is_taken_stays_the_others(api: Api) -> None:
    await created(api, "a")
    other = await created(api, "b")
    assert await refusals(api, "updateProject", id=other, name="a") == [
        ("InvalidInputError", "input.name")
    ]


async def test_of_many_that_want_one_name_one_gets_it(api: Api) -> None:
    payloads = await asyncio.gather(
        *(mutate(api, "createProject", PROJECT, name="wanted") for _ in range(8))
    )
    assert len([payload for payload in payloads if payload["project"]]) == 1
    assert [shown(payload) for payload in payloads if payload["errors"]] == [
        [("InvalidInputError", "input.name")]
    ] * 7


async def test_the_mutations_of_one_operation_each_show_what_they_left(api: Api) -> None:
    project_id = await created(api, "a")
    document = """
    mutation ($id: ID!) {
      b: updateProject(input: {id: $id, name: "b"}) { project { name } }
      c: updateProject(input: {id: $id, name: "c"}) { project { name } }
      clash: createProject(input: {name: "c"}) { project { name } errors { path } }
      gone: deleteProject(input: {id: $id}) { deletedId }
    }
    """
    assert await api.data(document, id=project_id) == {
        "b": {"project": {"name": "b"}},
        "c": {"project": {"name": "c"}},
        "clash": {"project": None, "errors": [{"path": ["input", "name"]}]},
        "gone": {"deletedId": project_id},
    }


async def test_an_id_of_the_client_that_is_no_text_is_not_sent_back(api: Api) -> None:
    payload = await mutate(api, "createProject", name="a", clientMutationId="\ud800")
    assert shown(payload) == [("InvalidInputError", "input.clientMutationId")]
    assert payload["clientMutationId"] is None
    assert len(await rows(api.database, project_table)) == 1


async def test_every_table_is_emptied_by_the_deletion_of_a_project(api: Api) -> None:
    await api.database.write(lambda connection: builders.add_project(connection, "p"))
    columns = {table.name: set(table.columns.keys()) for table in metadata.sorted_tables}
    assert [name for name, names in columns.items() if "project_id" not in names] == ["project"]
    assert shown(await mutate(api, "deleteProject", id=encode("Project", "p"))) == []
    await assert_sound(api)
