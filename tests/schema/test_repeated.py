"""A query that is asked again is answered as the first time, by whichever way."""

import asyncio
from typing import Any

import orjson
import pytest
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types.graphql import OperationType

from tests.builders import text_message, tool_message
from tests.schema.conftest import Api, content_of
from toolfold.errors import AppError
from toolfold.schema import build_schema
from toolfold.schema.events import EventExecutor, EventSchema
from toolfold.schema.repeated import MAX_QUERIES
from toolfold.store import session as session_store

PAGE = """
query Page($id: ID!, $first: Int, $compact: Boolean, $more: Boolean = false) {
  session(id: $id) {
    messages(first: $first, compact: $compact) {
      nodes {
        id
        content @include(if: $more)
        toolMetadata { contentSize content contentOmitted { reason } }
      }
    }
  }
}
query Limits { limits { maxRows } }
"""

ALWAYS = PAGE.replace(", $more: Boolean = false", "").replace("@include(if: $more)", "")
"""As PAGE, of which the same is selected whatever the variables are."""

VARIABLES: list[dict[str, Any]] = [
    {},
    {"first": 2},
    {"first": 2, "more": True},
    {"compact": False},
    {"first": -1},
    {"first": 1_001},
    {"first": "two"},
    {"first": 2**31},
    {"id": None},
    {"id": "nonsense"},
    {"absent": 1},
    {"absent": [0] * 10_000},
    {"compact": "yes"},
]


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Collect of each execution whether Strawberry was passed by."""
    ways: list[bool] = []
    again = EventSchema._execute_again  # noqa: SLF001 - what tells the two ways apart.

    async def tell(self: Any, *args: Any) -> Any:
        ways.append(True)
        return await again(self, *args)

    monkeypatch.setattr(EventSchema, "_execute_again", tell)
    return ways


async def answers(
    schema: EventSchema,
    api: Api,
    variables: dict[str, Any],
    name: str | None = "Page",
    document: str = PAGE,
) -> Any:
    result = await schema.execute(
        document, variables, context_value=api.resources, operation_name=name
    )
    errors = [error.formatted for error in result.errors or ()]
    for error in errors:
        error.get("extensions", {}).pop("requestId", None)
    return orjson.dumps(result.data), errors, result.extensions or {}


@pytest.mark.parametrize("document", [PAGE, ALWAYS])
@pytest.mark.parametrize("variables", VARIABLES)
async def test_it_is_answered_as_the_first_time(
    api: Api, variables: dict[str, Any], document: str, executed: list[bool]
) -> None:
    big = tool_message(content_of(70_000, "b"))
    session = await api.store([text_message("a"), tool_message(content_of(390, "a")), big])
    own, standard = build_schema(), build_schema()
    standard.documents = None
    given = {"id": session.id, **variables}
    expected = await answers(standard, api, given, document=document)
    for _ in range(2):
        await answers(own, api, {"id": session.id, "first": 1}, document=document)
    assert executed == [True]
    assert await answers(own, api, given, document=document) == expected
    assert await answers(own, api, given, document=document) == expected
    too_many = "absent" in variables and isinstance(variables["absent"], list)
    assert executed == [True] * (1 if too_many else 3)


async def test_what_fails_meanwhile_is_told_as_the_first_time(
    api: Api, monkeypatch: pytest.MonkeyPatch, executed: list[bool]
) -> None:
    session = await api.store([text_message("a")])
    own, standard = build_schema(), build_schema()
    standard.documents = None
    hurried = api.with_settings(query_seconds=1)
    for one in (api, hurried):
        await answers(own, one, {"id": session.id})
        for stand_in in (fails, never_ends):
            if stand_in is never_ends and one is api:
                continue
            with monkeypatch.context() as patch:
                patch.setattr(session_store, "with_page", stand_in)
                expected = await answers(standard, one, {"id": session.id})
                assert expected[1]
                assert await answers(own, one, {"id": session.id}) == expected
        own = build_schema()
    assert executed == [True] * 3


async def fails(*_: Any, **__: Any) -> Any:
    raise KeyError("nobody expected this")


async def never_ends(*_: Any, **__: Any) -> Any:
    await asyncio.sleep(60)


async def test_an_executor_that_fails_is_masked(
    api: Api, monkeypatch: pytest.MonkeyPatch, executed: list[bool]
) -> None:
    own, standard = build_schema(), build_schema()
    standard.documents = None
    await answers(own, api, {}, "Limits")

    def fail(*_: Any) -> None:
        raise KeyError("nobody expected this")

    monkeypatch.setattr(EventExecutor, "execute_operation", fail)
    expected = await answers(standard, api, {}, "Limits")
    assert expected[1][0]["extensions"]["code"] == AppError.code
    assert await answers(own, api, {}, "Limits") == expected
    assert executed == [True]


async def test_it_is_checked_again_under_other_settings_and_names(
    api: Api, executed: list[bool]
) -> None:
    schema = build_schema()
    await answers(schema, api, {}, "Limits")
    for strict, name in ((api.with_settings(max_depth=1), "Limits"), (api, None), (api, "None")):
        try:
            (_, errors, *_) = await answers(schema, strict, {}, name)
        except CannotGetOperationTypeError as error:
            errors = [error]
        assert errors
    for allowed in (OperationType.MUTATION, OperationType.SUBSCRIPTION):
        with pytest.raises(InvalidOperationTypeError):
            await schema.execute(
                PAGE,
                context_value=api.resources,
                operation_name="Limits",
                allowed_operation_types={allowed},
            )
    assert executed == []


async def test_mutations_and_what_failed_are_not_remembered(api: Api, executed: list[bool]) -> None:
    schema = build_schema()
    mutation = 'mutation { createProject(input: {name: "p"}) { project { id } } }'
    for document in (mutation, "{ limits { maxRow } }", "{ limits "):
        for _ in range(2):
            await schema.execute(document, context_value=api.resources)
    assert executed == []


async def test_no_more_queries_are_remembered_than_there_is_room_for(
    api: Api, executed: list[bool]
) -> None:
    schema = build_schema()
    documents = [f"{{ a{number}: limits {{ maxRows }} }}" for number in range(MAX_QUERIES + 1)]
    for document in documents:
        await schema.execute(document, context_value=api.resources)
    await schema.execute(documents[0], context_value=api.resources)
    assert executed == []
    await schema.execute(documents[-1], context_value=api.resources)
    assert executed == [True]
