"""What is left to graphql-core, and what is not."""

import asyncio
import gc
import logging
import time
import weakref
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import strawberry

from tests.builders import text_message, tool_message
from tests.schema.conftest import Api, content_of
from toolfold.execution.executor import CompilingExecutor
from toolfold.execution.plans import Plans
from toolfold.loaders import Loaders
from toolfold.schema import build_schema
from toolfold.schema.context import Operation, Resources
from toolfold.schema.events import EventExecutor
from toolfold.settings import Settings
from toolfold.store.engine import Database

PAGE = """
query ($id: ID!, $first: Int, $withTool: Boolean = true) {
  session(id: $id) { messages(first: $first, compact: false) {
    pageInfo { hasNextPage endCursor }
    edges { cursor node { id role } }
    nodes {
      ...Light
      content
      toolMetadata @include(if: $withTool) {
        id kind title locations { path } contentPreview(maxChars: 9)
        content blocks { ... on TextBlock { text } } rawInput { size json }
        childSession { id }
      }
    }
  } }
}
fragment Light on Message { id sequence role at: createdAt session { title } }
"""


@pytest.fixture
def api(database: Database) -> Api:
    """The schema over a fresh database."""
    return Api(database, Settings())


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the names of the fields that graphql-core executes, beginning with no plan."""
    names: list[str] = []
    execute_field = EventExecutor.execute_field

    def execute_and_tell(self: Any, parent_type: Any, source: Any, details: Any, *more: Any) -> Any:
        names.append(f"{parent_type.name}.{details[0].node.name.value}")
        return execute_field(self, parent_type, source, details, *more)

    monkeypatch.setattr(EventExecutor, "execute_field", execute_and_tell)
    monkeypatch.setattr(EventExecutor, "plans", Plans())
    return names


async def test_what_an_operation_has_read_goes_with_it(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await api.store([tool_message(content_of(80, "a"))])
    await api.data(PAGE, id=session.id)
    seen: list[weakref.ref[Loaders]] = []
    begin = Operation.begin

    def begin_and_tell(resources: Resources) -> Operation:
        operation = begin(resources)
        seen.append(weakref.ref(operation.loaders))
        return operation

    monkeypatch.setattr(Operation, "begin", begin_and_tell)
    gc.collect()
    gc.disable()
    try:
        await api.data(PAGE, id=session.id)
        # What has just called back still holds it.
        await asyncio.sleep(0)
        assert [loaders() for loaders in seen] == [None]
    finally:
        gc.enable()


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_no_field_of_a_row_is_left_to_graphql_core(api: Api, executed: list[str]) -> None:
    session = await api.store(
        [text_message("a"), *(tool_message(content_of(80, f"{n}")) for n in range(20))]
    )
    data = await api.data(PAGE, id=session.id)
    nodes = data["session"]["messages"]["nodes"]
    assert len(nodes) == 21
    assert nodes[20]["toolMetadata"]["content"] == content_of(80, "19")
    assert nodes[20]["session"] == {"title": None}
    assert set(executed) == {
        "Query.session",
        "Session.messages",
        *(f"MessageConnection.{name}" for name in ("pageInfo", "edges", "nodes")),
        *(f"PageInfo.{name}" for name in ("hasNextPage", "endCursor")),
    }


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_an_object_that_is_met_often_is_completed_alike(
    api: Api, executed: list[str]
) -> None:
    session = await api.store([tool_message(content_of(80))])
    document = "query ($id: ID!) { message(id: $id) { id toolMetadata { content } } }"
    answers = [await api.run(document, id=session.message(1)) for _ in range(20)]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["data"]["message"]["toolMetadata"] == {"content": content_of(80)}
    executed.clear()
    await api.run(document, id=session.message(1))
    assert executed == ["Query.message"]


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_a_selection_is_completed_by_its_variables(api: Api, executed: list[str]) -> None:
    session = await api.store([tool_message(content_of(80)) for _ in range(20)])
    for _ in range(2):
        for with_tool in (True, False):
            data = await api.data(PAGE, id=session.id, withTool=with_tool)
            nodes = data["session"]["messages"]["nodes"]
            assert all(("toolMetadata" in node) is with_tool for node in nodes)
    assert "Message.id" not in executed


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_a_long_list_ends_when_its_time_is_up(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await api.store([text_message(str(number)) for number in range(600)])
    document = """query ($id: ID!) { session(id: $id) { messages(first: 600) {
      nodes { id contentPreview } } } }"""
    await api.data(document, id=session.id)
    looks = 0
    monotonic = time.monotonic

    def late() -> float:
        nonlocal looks
        looks += 1
        # The first two looks are before the list and at its first stretch.
        return monotonic() + (1_000 if looks > 2 else 0)

    monkeypatch.setattr("toolfold.schema.events.time.monotonic", late)
    response = await api.run(document, id=session.id)
    assert [error["extensions"]["code"] for error in response["errors"]] == ["DEADLINE_EXCEEDED"]


@strawberry.type
class Counted:
    """What a subscription tells."""

    number: int


@strawberry.type
class Counter:
    """A subscription of a hundred events."""

    @strawberry.subscription
    async def counted(self) -> AsyncGenerator[Counted, None]:
        for number in range(100):
            yield Counted(number=number)


async def test_a_subscription_remembers_nothing_of_its_events() -> None:
    remembered: list[int] = []

    class Executor(CompilingExecutor):
        plans = Plans(objects_before=1_000)

        def build_per_event_executor(self, payload: Any) -> Any:
            remembered.append(len(self._relevant_sub_fields))
            return super().build_per_event_executor(payload)

    schema = strawberry.Schema(Counted, subscription=Counter, execution_context_class=Executor)
    results = await schema.subscribe("subscription { counted { number } }")
    numbers = [result.data["counted"]["number"] async for result in results if result.data]
    assert numbers == list(range(100))
    assert set(remembered) == {0}


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_generated_code_can_be_read_in_the_log(
    database: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventExecutor, "plans", Plans(objects_before=1))
    resources = Resources(Settings(), database)
    with caplog.at_level(logging.DEBUG, "toolfold.execution"):
        await build_schema().execute("{ limits { maxRows } }", context_value=resources)
    assert "row.max_rows" in caplog.text
