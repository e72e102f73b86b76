"""Projects, by id and by name."""

import uuid

from sqlalchemy import Connection

from tests import builders
from tests.store.test_page import model, requests
from toolfold.store import project
from toolfold.store.engine import Database
from toolfold.store.page import PageRequest


def add_projects(connection: Connection) -> None:
    """Store a few projects whose ids are in another order than their names."""
    for project_id, name in (("1", "zoo"), ("2", "app"), ("3", "büro")):
        builders.add_project(connection, project_id, name=name)


async def test_every_page_is_that_of_a_list_in_order_of_name(database: Database) -> None:
    await database.write(add_projects)
    keys = [("app", "2"), ("büro", "3"), ("default", "default"), ("zoo", "1")]
    async with database.read() as connection:
        for request in requests([("app", "2"), ("c", "0"), ("default", "default")]):
            page = await project.page(connection, request, columns=project.POSITION_COLUMNS)
            found = ([tuple(row) for row in page.rows], page.has_next, page.has_previous)
            assert found == model(keys, request), request
        assert await project.count(connection) == 4


async def test_projects_that_may_not_be_read_are_not_seen(database: Database) -> None:
    await database.write(add_projects)
    async with database.read() as connection:
        request = PageRequest(first=9)
        page = await project.page(connection, request, project_ids=("1", "default", "absent"))
        assert [row.name for row in page.rows] == ["default", "zoo"]
        assert await project.count(connection, ("1", "default", "absent")) == 2
        assert await project.count(connection, ()) == 0


async def test_projects_are_found_by_id_and_by_name(database: Database) -> None:
    await database.write(add_projects)
    async with database.read() as connection:
        found = await project.by_ids(connection, {"1", "default", "absent"}, ("name",))
        assert {key: row.name for key, row in found.items()} == {"1": "zoo", "default": "default"}
        named = await project.by_name(connection, "app")
        assert named is not None
        assert tuple(named) == ("2", "app", builders.NOW)
        assert await project.by_name(connection, "APP") is None


async def test_a_project_is_made_once_under_a_random_id(database: Database) -> None:
    made = await database.write(lambda connection: project.create(connection, "new"))
    again = await database.write(lambda connection: project.create(connection, "new"))
    default = await database.write(lambda connection: project.create(connection, "default"))
    assert made == again == str(uuid.UUID(made))
    assert default == project.DEFAULT_ID
    async with database.read() as connection:
        row = await project.by_name(connection, "new")
    assert row is not None
    assert len(row.created_at) == len(builders.NOW)
    assert row.created_at.endswith("Z")
