"""A page of messages that is read ahead, with its session, is the page that would be read."""

from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.builders import text_message, tool_message
from tests.schema.conftest import Api
from tests.statements import statements
from toolfold.errors import DatabaseError
from toolfold.schema import session_messages
from toolfold.schema.global_id import encode
from toolfold.store import session as session_store

PAGES = [
    "messages { nodes { id } }",
    "messages(first: 2) { pageInfo { hasNextPage endCursor } nodes { sequence role } }",
    "messages(last: 2, compact: false) { edges { cursor node { toolMetadata { content } } } }",
    "messages(first: $first) { totalCount nodes { contentPreview(maxChars: 2) } }",
    "messages(first: $first, after: $after) { nodes { sequence } }",
    "messages(first: $first, after: $after) { pageInfo { hasPreviousPage } nodes { sequence } }",
    "messages(last: $first, before: $after) { nodes { sequence } }",
    "messages(first: 0) { pageInfo { hasNextPage } }",
    "messages(first: -1) { nodes { id } }",
    "messages(first: 2, last: 2) { nodes { id } }",
    'messages(after: "nonsense") { nodes { id } }',
    "messages(after: null) { nodes { sequence } }",
    "messages(aroundSequence: 2, first: 2) { nodes { sequence } }",
    "messages(filter: {roles: [TOOL]}) { nodes { sequence } }",
    "messages @skip(if: true) { nodes { id } }",
    "a: messages(first: 1) { nodes { id } } b: messages(first: 2) { nodes { id } }",
    "children { nodes { id } } messages(first: 1) { nodes { session { title } } }",
]


@pytest.mark.parametrize("below", PAGES)
async def test_the_answer_is_that_of_two_reads(
    api: Api, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [name for name in ("first", "after") if f"${name}" in below]
    kinds = {"first": "Int", "after": "String"}
    variables = ", ".join(["$id: ID!", *(f"${name}: {kinds[name]}" for name in names)])
    query = f"query ({variables}) {{ session(id: $id) {{ id title {below} }} }}"
    session = await api.store([text_message("a"), tool_message(["x"]), text_message("c")])
    first = await api.data(
        "query ($id: ID!) { session(id: $id) { messages(first: 1) { pageInfo { endCursor } } } }",
        id=session.id,
    )
    cursor = first["session"]["messages"]["pageInfo"]["endCursor"]
    given = {name: {"first": 2, "after": cursor}[name] for name in names}
    for one in (api, api.with_settings(max_rows=1), api.with_settings(max_rows=3)):
        for id_ in (session.id, encode("Session", "default", "absent")):
            answer = await one.run(query, id=id_, **given)
            with monkeypatch.context() as patch:
                patch.setattr(session_messages, "_ahead", lambda *_: None)
                assert await one.run(query, id=id_, **given) == answer


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("{{ session(id: {id}) {{ messages {{ nodes {{ id }} }} }} }}", 1),
        ("{{ session(id: {id}) {{ title }} }}", 0),
        ("{{ session(id: {id}) {{ messages(filter: {{}}) {{ nodes {{ id }} }} }} }}", 0),
        ("{{ a: session(id: {id}) {{ messages {{ nodes {{ id }} }} }} limits {{ maxRows }} }}", 0),
    ],
)
async def test_one_plain_page_below_the_only_field_is_read_ahead(
    api: Api, monkeypatch: pytest.MonkeyPatch, query: str, expected: int
) -> None:
    session = await api.store([text_message("a")])
    met: list[object] = []
    with_page = session_store.with_page

    async def tell(connection: AsyncConnection, *given: Any) -> Any:
        met.append(given)
        return await with_page(connection, *given)

    monkeypatch.setattr(session_store, "with_page", tell)
    with statements(api.database) as seen:
        await api.data(query.format(id=f'"{session.id}"'))
    assert len(met) == expected
    assert len(seen) == 1 + ("messages" in query)


async def test_a_session_that_is_not_there_is_one_statement(api: Api) -> None:
    query = "query ($id: ID!) { session(id: $id) { messages { nodes { id } } } }"
    with statements(api.database) as seen:
        data = await api.data(query, id=encode("Session", "default", "absent"))
    assert data == {"session": None}
    assert len(seen) == 1


async def test_a_page_that_cannot_be_read_is_told_at_its_own_field(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await api.store([text_message("a")])

    async def fail(*_: Any) -> Any:
        raise DatabaseError("The page is damaged.")

    monkeypatch.setattr(session_store, "with_page", fail)
    monkeypatch.setattr("toolfold.store.message.page", lambda *_, **__: fail())
    query = "query ($id: ID!) { session(id: $id) { title messages { nodes { id } } } }"
    assert await api.errors(query, id=session.id) == [(["session", "messages"], DatabaseError.code)]
