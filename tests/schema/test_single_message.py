"""A content that is read ahead, with its message, is answered and charged as one that is not."""

from typing import Any

import pytest
from sqlalchemy import delete

from tests.builders import text_message, tool_message
from tests.schema.conftest import Api, content_of
from tests.statements import statements
from toolfold.schema import single_message
from toolfold.store.tables import content_chunk_table

BELOW = [
    "toolMetadata { content }",
    "id toolMetadata { contentSize other: content contentOmitted { reason size limit } }",
    "toolMetadata { content blocks { __typename } }",
    "toolMetadata { a: content b: content }",
    "toolMetadata { content contentSlice(length: 9) { base64 } }",
    "content toolMetadata { content }",
    "contentSlice(length: 9) { text } toolMetadata { content }",
    "toolMetadata { contentText(length: 9) { text } content }",
    "a: toolMetadata { content } b: toolMetadata { content }",
    "session { title } toolMetadata { content }",
    "toolMetadata { contentSize content @skip(if: true) }",
    "toolMetadata { contentSize rawInput { json } content }",
    "sequence",
]


@pytest.mark.parametrize("below", BELOW)
async def test_the_answer_is_that_of_two_reads(
    api: Api, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents: list[Any] = [content_of(390, "a"), content_of(9_000, "b"), [], None]
    tools = [tool_message(one, raw_input={"a": 1}) for one in contents]
    session = await api.store([text_message("a" * 300), *tools])
    query = f"query ($id: ID!) {{ message(id: $id) {{ {below} }} }}"
    budgets = (65_536, 9_100, 9_000, 8_999, 700, 390, 389, 10)
    for budget in budgets:
        one = api.with_settings(content_budget_bytes=budget)
        for sequence in range(1, len(tools) + 3):
            id_ = session.message(sequence)
            answer = await one.run(query, id=id_)
            with monkeypatch.context() as patch:
                patch.setattr(single_message, "_bytes_ahead", lambda _: None)
                assert await one.run(query, id=id_) == answer


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_plain_content_takes_one_hop(api: Api, hops: list[None]) -> None:
    session = await api.store([tool_message(content_of(390, "a"))])
    query = "query ($id: ID!) { message(id: $id) { role toolMetadata { content } } }"
    id_ = session.message(1)
    await api.data(query, id=id_)
    hops.clear()
    await api.data(query, id=id_)
    assert len(hops) == 1


async def test_what_is_refused_is_not_read(api: Api) -> None:
    session = await api.store([tool_message(content_of(390, "a"))])
    query = "query ($id: ID!) { message(id: $id) { toolMetadata { content } } }"
    one = api.with_settings(content_budget_bytes=389)
    with statements(api.database) as seen:
        data = await one.data(query, id=session.message(1))
    assert data["message"]["toolMetadata"] == {"content": None}
    assert not [sql for sql in seen if "content_chunk" in sql]


async def test_damage_is_told_by_the_field_that_shows_it(api: Api) -> None:
    session = await api.store([tool_message(content_of(390, "a"))])
    await api.database.write(lambda connection: connection.execute(delete(content_chunk_table)))
    query = "query ($id: ID!) { message(id: $id) { role toolMetadata { content } } }"
    for _ in range(2):
        answer = await api.run(query, id=session.message(1))
        assert answer["data"] == {"message": {"role": "TOOL", "toolMetadata": {"content": None}}}
        (error,) = answer["errors"]
        assert error["path"] == ["message", "toolMetadata", "content"]
        assert error["extensions"]["code"] == "CORRUPT_CONTENT"
