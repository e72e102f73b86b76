"""Keyset pages against a list: every combination of ends and sizes, in both directions."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tests import builders
from tests.statements import statements
from toolfold.store import page
from toolfold.store.engine import Database
from toolfold.store.page import Ordering, PageRequest
from toolfold.store.tables import project_table, session_table

SIZES = (0, 1, 2, 4, 9)
KEYS = [("a", 1), ("a", 2), ("a", 4), ("b", 1), ("b", 3), ("d", 2)]
ABSENT_KEYS = [("", 0), ("a", 3), ("c", 1), ("e", 9)]

columns = (session_table.c.updated_at, session_table.c.head_sequence)


def model(keys: Sequence[Any], request: PageRequest) -> tuple[list[Any], bool, bool]:
    """Return the page of an ascending list, and whether it has rows after and before."""
    within = [
        key
        for key in keys
        if (request.after is None or key > request.after)
        and (request.before is None or key < request.before)
    ]
    if request.first is not None:
        shown = within[: request.first]
        place = request.after
        rest = [key for key in keys if place is None or key > place]
    else:
        assert request.last is not None
        shown = within[len(within) - min(request.last, len(within)) :]
        place = request.before
        rest = [key for key in keys if place is not None and key >= place]
    if shown:
        return shown, keys[-1] > shown[-1], keys[0] < shown[0]
    # Of a page without rows, its place is where rows would come: after its beginning, or
    # before its end where it is taken from there.
    return shown, bool(rest), len(rest) < len(keys)


def requests(bounds: Sequence[Any]) -> list[PageRequest]:
    """Return every request of these sizes and bounds."""
    return [
        PageRequest(**{end: size}, after=after, before=before, with_page_info=True)
        for end, size, after, before in itertools.product(
            ("first", "last"), SIZES, (None, *bounds), (None, *bounds)
        )
    ]


async def store(database: Database) -> None:
    """Store a session for each of `KEYS`, in another order, and one that no page has."""
    rows = [
        {
            "project_id": builders.PROJECT,
            "id": f"session-{position}",
            "agent": "other" if position == 6 else "a",
            "status": "completed",
            "created_at": builders.NOW,
            "updated_at": letter,
            "head_sequence": number,
            "message_count": number,
        }
        for position, (letter, number) in enumerate([*KEYS[3:], *KEYS[:3], ("b", 2)])
    ]
    await database.write(lambda connection: connection.execute(insert(session_table), rows).close())


async def read(
    connection: AsyncConnection, request: PageRequest, *, descending: bool = False
) -> tuple[list[Any], bool, bool]:
    selection = select(*columns).where(session_table.c.agent == "a")
    found = await page.read(connection, selection, Ordering(columns, descending), request)
    return [tuple(row) for row in found.rows], found.has_next, found.has_previous


async def test_every_page_is_that_of_a_list(database: Database) -> None:
    await store(database)
    async with database.read() as connection:
        for request in requests([*KEYS[::2], *ABSENT_KEYS]):
            assert await read(connection, request) == model(KEYS, request), request


async def test_a_falling_order_is_the_list_turned_round(database: Database) -> None:
    await store(database)
    async with database.read() as connection:
        for request in requests([KEYS[1], KEYS[4], ABSENT_KEYS[1]]):
            turned = PageRequest(
                first=request.last,
                last=request.first,
                after=request.before,
                before=request.after,
                with_page_info=True,
            )
            shown, has_next, has_previous = model(KEYS, turned)
            found = await read(connection, request, descending=True)
            assert found == (shown[::-1], has_previous, has_next), request


async def test_without_page_info_nothing_is_said_of_the_sides(database: Database) -> None:
    await store(database)
    async with database.read() as connection:
        with statements(database) as seen:
            found = await read(connection, PageRequest(first=2, after=KEYS[0]))
    assert found == (KEYS[1:3], False, False)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("request_", "count"),
    [
        (PageRequest(first=0), 0),
        (PageRequest(last=2), 1),
        (PageRequest(first=2, with_page_info=True), 1),
        (PageRequest(last=2, with_page_info=True), 1),
        (PageRequest(first=2, after=KEYS[0], with_page_info=True), 2),
        (PageRequest(first=2, after=KEYS[0], before=KEYS[3], with_page_info=True), 2),
        (PageRequest(last=1, before=KEYS[4], with_page_info=True), 2),
    ],
)
async def test_a_page_takes_one_statement_and_its_sides_at_most_another(
    database: Database, request_: PageRequest, count: int
) -> None:
    await store(database)
    async with database.read() as connection:
        with statements(database) as seen:
            await read(connection, request_)
    assert len(seen) == count


async def test_an_empty_selection_has_no_sides(database: Database) -> None:
    selection = select(project_table.c.name).where(project_table.c.name == "absent")
    ordering = Ordering((project_table.c.name,))
    async with database.read() as connection:
        for request in requests([("default",)]):
            found = await page.read(connection, selection, ordering, request)
            assert (found.rows, found.has_next, found.has_previous) == ([], False, False)


@pytest.mark.parametrize("ends", [{}, {"first": 1, "last": 1}])
def test_a_page_is_taken_from_one_end(ends: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="first rows or of the last"):
        PageRequest(**ends)
