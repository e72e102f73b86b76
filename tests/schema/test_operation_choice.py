"""Which operation of a document is executed."""

import pytest
from strawberry.types import ExecutionResult

from tests.schema.conftest import SCHEMA, Api
from toolfold.schema.context import Resources

DOCUMENT = "query A { limits { maxRows } } query B { limits { maxDepth } }"


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_none_of_several_operations_is_executed_unless_it_is_named(api: Api) -> None:
    resources = Resources(api.settings, api.database)
    for _ in range(2):
        assert await api.errors(DOCUMENT) == [(None, "GRAPHQL_VALIDATION_FAILED")]
        stream = await SCHEMA.stream(DOCUMENT, context_value=resources)
        (streamed,) = [result async for result in stream]
        assert isinstance(streamed, ExecutionResult)
        assert [error.message for error in streamed.errors or []] == [
            "The document has several operations: name one in `operationName`."
        ]
    named = await SCHEMA.execute(DOCUMENT, context_value=resources, operation_name="B")
    assert isinstance(named, ExecutionResult)
    assert named.data == {"limits": {"maxDepth": 15}}


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize("document", ["{ limits { maxDepth } }", "query A { limits { maxDepth } }"])
async def test_the_only_operation_needs_no_name(api: Api, document: str) -> None:
    assert await api.data(document) == {"limits": {"maxDepth": 15}}
