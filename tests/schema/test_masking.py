"""What clients see of errors, whichever way an operation is executed."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import strawberry
from graphql import GraphQLError
from sqlalchemy import literal, select, text
from strawberry.extensions import SchemaExtension
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionResult

from tests.schema.conftest import Api
from toolfold.errors import BadUserInputError
from toolfold.schema.masking import MaskedSchema
from toolfold.schema.scalars import SCALARS, DateTime
from toolfold.store import project

UNTOLD = "words that no client may read"
MASKED = "Internal error."
NAMED = 'query ($name: String = "a") { named(name: $name) }'
AT = "query ($time: DateTime!) { at(time: $time) }"


@strawberry.type
class Item:
    @strawberry.field
    def broken(self) -> str | None:
        raise KeyError(UNTOLD)


@strawberry.type
class Query:
    @strawberry.field
    def hello(self) -> str:
        return "hello"

    @strawberry.field
    def at(self, time: DateTime) -> DateTime:
        return time

    @strawberry.field
    def items(self) -> list[Item]:
        return [Item(), Item(), Item()]

    @strawberry.field
    def nothing(self) -> str:
        return None  # type: ignore[return-value]  # The mistake that is meant.

    @strawberry.field
    def refused(self) -> str | None:
        raise BadUserInputError("first must not be negative.", argument="first")

    @strawberry.field
    def too_large(self) -> int | None:
        return 2**40

    @strawberry.field
    def named(self, name: str = "a") -> str | None:
        return name


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def ticks(self) -> AsyncIterator[int]:
        yield 0
        raise ValueError(UNTOLD)


class FailsBeforeExecution(SchemaExtension):
    def on_execute(self) -> Iterator[None]:
        raise ValueError(UNTOLD)
        yield


def schema(*extensions: type[SchemaExtension]) -> MaskedSchema:
    config = StrawberryConfig(scalar_map=SCALARS)
    return MaskedSchema(Query, subscription=Subscription, extensions=extensions, config=config)


async def executed(document: str, **variables: Any) -> ExecutionResult:
    result = await schema().execute(document, variables)
    assert isinstance(result, ExecutionResult)
    return result


async def streamed(document: str, *extensions: type[SchemaExtension]) -> list[list[GraphQLError]]:
    """Return the errors of each result that a streaming transport sends."""
    results = await schema(*extensions).stream(document)
    return [result.errors or [] async for result in results if isinstance(result, ExecutionResult)]


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


async def test_what_no_one_expected_is_masked_and_logged_once_under_one_request_id(
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = await executed("{ hello items { broken } }")
    assert result.data == {"hello": "hello", "items": [{"broken": None}] * 3}
    errors = [error.formatted for error in result.errors or []]
    (request_id,) = {error["extensions"]["requestId"] for error in errors}
    assert errors == [
        {
            "message": MASKED,
            "locations": [{"line": 1, "column": 17}],
            "path": ["items", position, "broken"],
            "extensions": {"code": "INTERNAL", "requestId": request_id},
        }
        for position in range(3)
    ]
    (record,) = caplog.records
    assert request_id in record.getMessage()
    assert vars(record)["request_id"] == request_id
    assert record.exc_info
    assert record.exc_info[0] is KeyError


async def test_two_operations_have_two_request_ids() -> None:
    ids = set()
    for _ in range(2):
        errors = (await executed("{ items { broken } }")).errors or []
        ids |= {(error.extensions or {})["requestId"] for error in errors}
    assert len(ids) == 2


@pytest.mark.parametrize("document", ["{ nothing }", "{ tooLarge }"])
async def test_a_value_that_the_schema_does_not_allow_is_no_clients_business(
    document: str, caplog: pytest.LogCaptureFixture
) -> None:
    (error,) = (await executed(document)).errors or []
    assert error.message == MASKED
    assert len(logged(caplog)) == 1


@pytest.mark.parametrize(
    ("document", "variables", "message", "code"),
    [
        ("{ refused }", {}, "first must not be negative.", "BAD_USER_INPUT"),
        (NAMED, {"name": None}, "Argument 'name'", "BAD_USER_INPUT"),
        ("{", {}, "Syntax Error: Expected Name, found <EOF>.", "GRAPHQL_PARSE_FAILED"),
        (
            "{ other }",
            {},
            "Cannot query field 'other' on type 'Query'.",
            "GRAPHQL_VALIDATION_FAILED",
        ),
        ('{ at(time: "now") }', {}, "an RFC 3339 text", "GRAPHQL_VALIDATION_FAILED"),
        (AT, {"time": "now"}, "an RFC 3339 text", "BAD_USER_INPUT"),
        (AT, {}, "non-null type 'DateTime!'", "BAD_USER_INPUT"),
    ],
)
async def test_what_a_client_can_mend_is_told_with_a_code_and_not_logged(
    document: str,
    variables: dict[str, Any],
    message: str,
    code: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (error,) = (await executed(document, **variables)).errors or []
    assert message in error.message
    assert (error.extensions or {})["code"] == code
    assert logged(caplog) == []


async def test_an_event_is_masked_as_an_answer_is(caplog: pytest.LogCaptureFixture) -> None:
    first, (error,) = await streamed("subscription { ticks }")
    assert first == []
    assert error.message == MASKED
    assert len(logged(caplog)) == 1


@pytest.mark.parametrize("document", ["{ items { broken } }", "{ nothing }"])
async def test_a_query_over_a_stream_is_masked(
    document: str, caplog: pytest.LogCaptureFixture
) -> None:
    (errors,) = await streamed(document)
    assert {error.message for error in errors} == {MASKED}
    assert len(logged(caplog)) == 1


async def test_what_an_extension_raises_is_masked(caplog: pytest.LogCaptureFixture) -> None:
    result = await schema(FailsBeforeExecution).execute("{ hello }")
    assert isinstance(result, ExecutionResult)
    for errors in (
        result.errors or [],
        *await streamed("{ hello }", FailsBeforeExecution),
        *await streamed("subscription { ticks }", FailsBeforeExecution),
    ):
        assert [error.message for error in errors] == [MASKED]
    assert len(logged(caplog)) == 3


async def test_no_value_of_a_statement_that_fails_is_logged(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(connection: Any, *_: Any, **__: Any) -> None:
        await connection.execute(select(literal(UNTOLD)).select_from(text("no_such_table")))

    monkeypatch.setattr(project, "page", fail)
    response = await api.run("{ projects { nodes { id } } }")
    (error,) = response["errors"]
    assert UNTOLD not in str(response)
    assert error["extensions"]["code"] in ("INTERNAL", "DATABASE")
    assert UNTOLD not in caplog.text
