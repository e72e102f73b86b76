"""The schema as a whole: its printed form, introspection, and what refuses a document."""

from pathlib import Path

import pytest
from graphql import get_introspection_query
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection
from strawberry.types import ExecutionResult

from tests.builders import text_message
from tests.schema.conftest import SCHEMA, Api
from toolfold.schema.context import Operation, Resources
from toolfold.store import message

SNAPSHOT = Path(__file__).parents[2] / "schema.graphql"


def test_the_printed_schema_is_the_one_in_the_repository() -> None:
    assert SNAPSHOT.read_text(encoding="utf-8") == SCHEMA.as_str() + "\n", "run `make schema`"


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_the_standard_introspection_query_is_within_every_limit(api: Api) -> None:
    data = await api.data(get_introspection_query(descriptions=True, input_value_deprecation=True))
    assert data["__schema"]["queryType"]["name"] == "Query"


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("{" + "limits { maxRows } " * 700 + "}", "DOCUMENT_TOO_LARGE"),
        ("{" + "a { " * 20 + "b" + "}" * 20 + "}", "DOCUMENT_TOO_LARGE"),
        (
            "{" + "".join(f"x{n}: limits {{ maxRows }} " for n in range(31)) + "}",
            "DOCUMENT_TOO_LARGE",
        ),
        ("{" + "{ a " * 100, "GRAPHQL_PARSE_FAILED"),
        ("{ a" + "{ a " * 600 + "}" * 601, "DOCUMENT_TOO_LARGE"),
        ("{ a" + "{ a " * 150 + "}" * 151, "DOCUMENT_TOO_LARGE"),
        ("{ limits { maxRows } } #" + "x" * 64_000, "DOCUMENT_TOO_LARGE"),
        ('{ node(id: "' + "x" * 64_000 + '") { id } }', "DOCUMENT_TOO_LARGE"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{", "GRAPHQL_PARSE_FAILED"),
    ],
)
async def test_a_document_over_a_limit_never_reaches_execution(
    api: Api, document: str, code: str
) -> None:
    response = await api.run(document)
    assert response["data"] is None
    assert response["errors"][0]["extensions"]["code"] == code


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_fragments_that_multiply_are_refused_before_validation(api: Api) -> None:
    fragments = "".join(
        f"fragment F{n} on ServerLimits {{ ...F{n + 1} ...F{n + 1} }} " for n in range(100)
    )
    document = f"{{ limits {{ ...F0 }} }} {fragments} fragment F100 on ServerLimits {{ maxRows }}"
    response = await api.run(document)
    (error,) = response["errors"]
    assert error["extensions"]["code"] == "DOCUMENT_TOO_LARGE"
    assert "selections" in error["message"]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_operations_that_share_a_context_share_no_state(api: Api) -> None:
    """As over WebSocket, where one context serves a socket."""
    session = await api.store([text_message("x" * 16_000)])
    resources = Resources(api.settings, api.database)
    document = "query ($id: ID!) { message(id: $id) { content } }"
    for context in (resources, Operation.begin(resources)):
        for _ in range(6):
            result = await SCHEMA.execute(document, {"id": session.message(1)}, context)
            assert isinstance(result, ExecutionResult)
            assert result.data == {"message": {"content": "x" * 16_000}}


async def test_an_operation_ends_at_its_deadline_and_the_database_is_free_after_it(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement that would run for minutes stands in for a slow page."""
    slow = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000000) "
        "SELECT count(*) FROM n"
    )

    async def count(connection: AsyncConnection, *_: object) -> int:
        return int((await connection.execute(text(slow))).scalar_one())

    session = await api.store([text_message()])
    monkeypatch.setattr(message, "count", count)
    limited = api.with_settings(query_seconds=1)
    document = "query ($id: ID!) { session(id: $id) { messages { totalCount } } }"
    assert await limited.errors(document, id=session.id) == [(None, "DEADLINE_EXCEEDED")]
    monkeypatch.undo()
    for _ in range(5):
        data = await limited.data(document, id=session.id)
        assert data["session"]["messages"]["totalCount"] == 1


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_the_variables_of_a_query_are_counted_before_they_are_read(api: Api) -> None:
    document = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    response = await api.run(document, ids=["x"] * 10_000)
    (error,) = response["errors"]
    assert error["extensions"]["code"] == "DOCUMENT_TOO_LARGE"
    assert "variables" in error["message"]
    response = await api.run(document, ids=["x"] * 9_000)
    (error,) = response["errors"]
    assert error["extensions"]["argument"] == "ids"


async def test_the_clock_is_looked_at_before_each_list(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of rows are completed without a pause in which a timer could end them."""
    session = await api.store([text_message(), text_message()])
    begin = Operation.begin.__func__  # type: ignore[attr-defined]  # a class method's function

    def begin_late(cls: type[Operation], resources: Resources) -> Operation:
        operation: Operation = begin(cls, resources)
        operation.ends_at = 0.0
        return operation

    monkeypatch.setattr(Operation, "begin", classmethod(begin_late))
    document = "query ($id: ID!) { session(id: $id) { title messages { nodes { id } } } }"
    response = await api.run(document, id=session.id)
    (error,) = response["errors"]
    assert error["extensions"]["code"] == "DEADLINE_EXCEEDED"
    assert error["path"] == ["session", "messages", "nodes"]
