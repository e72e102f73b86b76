"""One document executed by graphql-core's executor and by another, and what differs."""

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any, cast

import orjson
import strawberry
from graphql import DocumentNode, ExecutionResult, execute, parse
from strawberry.execution import optimized_is_awaitable
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from tests.execution.documents import Documents
from tests.execution.values import Values
from toolfold.schema.blocks import ToolContentBlock
from toolfold.schema.context import Operation, Resources
from toolfold.schema.guard import Ledger
from toolfold.schema.message import Message, MessageConnection
from toolfold.schema.node import Node
from toolfold.schema.project import Project
from toolfold.schema.scalars import SCALARS
from toolfold.schema.session import Session, SessionConnection
from toolfold.schema.subscription import SessionUpdate
from toolfold.schema.tool_metadata import ToolMetadata
from toolfold.settings import Settings

SETTINGS = Settings(compact_budget_bytes=4_096, content_budget_bytes=200_000, max_rows=60)


@strawberry.type
class Query:
    """The real types, each at a root that takes what it is given."""

    connection: MessageConnection | None
    rows: list[Message] | None
    message: Message | None
    nodes: list[Node | None] | None
    updates: list[SessionUpdate] | None
    update: SessionUpdate | None
    sessions: SessionConnection | None
    blocks: list[ToolContentBlock] | None


def schema_under(executor: Any) -> strawberry.Schema:
    """Return the schema that documents are executed over."""
    return strawberry.Schema(
        Query,
        types=[Session, Message, ToolMetadata, Project],
        config=StrawberryConfig(scalar_map=SCALARS),
        execution_context_class=executor,
    )


class Counting(StrawberryGraphQLCoreExecutionContext):
    """graphql-core's executor, which counts the fields that it executes."""

    executed = 0

    def execute_field(self, *args: Any) -> Any:
        """Execute a field."""
        type(self).executed += 1
        return super().execute_field(*args)


STANDARD = schema_under(Counting)


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What an execution came to: the response's bytes, and what the guard was charged.

    `errors` by the place that is null for them. Of a place that several failed below, which of
    them came before it was null is a matter of when each was waited for, and nobody's promise. So
    is whether blocks that came below it were charged.
    """

    data: bytes
    errors: dict[str, set[str]]
    ledger: dict[str, int]

    def is_as(self, other: "Outcome") -> bool:
        """Say whether the other is the same answer."""
        uncertain = {"rows_used"} if self.errors else set[str]()
        return (
            self.data == other.data
            and all(
                self.ledger[name] == other.ledger[name] for name in self.ledger.keys() - uncertain
            )
            and list(self.errors) == list(other.errors)
            and all(self.errors[place] & other.errors[place] for place in self.errors)
        )


async def outcome(schema: strawberry.Schema, document: DocumentNode, seed: int) -> Outcome:
    """Execute a document over the values of a seed, with variables of the same seed."""
    values = Values(seed)
    operation = Operation(
        Resources(SETTINGS, cast("Any", None)), Ledger(SETTINGS), cast("Any", values.loaders())
    )
    result = execute(
        schema._schema,  # noqa: SLF001 - nothing of Strawberry's own stands between.
        document,
        root_value=values.roots(),
        context_value=operation,
        variable_values=_variables(seed),
        executor_class=schema.execution_context_class,
        is_awaitable=cast("Any", optimized_is_awaitable),
    )
    if inspect.isawaitable(result):
        result = await result
    assert isinstance(result, ExecutionResult)
    ledger = operation.ledger
    charged = {name: getattr(ledger, name) for name in _CHARGED}
    errors: dict[str, set[str]] = {}
    for error in result.errors or ():
        place = _null_place(result.data, error.path or [])
        errors.setdefault(place, set()).add(str(error.formatted))
    data = orjson.dumps(result.data, default=lambda value: repr(type(value)))
    return Outcome(data, dict(sorted(errors.items())), charged)


def _null_place(data: Any, path: Sequence[str | int]) -> str:
    """Return the place on an error's path that is null in the data."""
    place = []
    for key in path:
        if data is None:
            break
        data = data[key]
        place.append(key)
    return str(place)


def _variables(seed: int) -> dict[str, Any]:
    given: dict[str, Any] = {"a": bool(seed & 1), "b": bool(seed & 2)}
    if seed & 4:
        given["c"] = None if seed & 64 else bool(seed & 8)
    if seed & 16:
        given["n"] = 281 if seed & 32 else 3
    return given


_CHARGED = (
    "compact_used", "hard_used", "rows_used", "requested_bytes", "delivered_bytes",
    "omitted_count", "heavy_asked",
)  # fmt: skip


@dataclasses.dataclass(slots=True)
class Compared:
    """What comparing documents found."""

    documents: int = 0
    with_errors: int = 0
    differences: list[str] = dataclasses.field(default_factory=list)
    standard_fields: int = 0
    compiled_fields: int = 0
    """How many fields graphql-core executed under either executor."""


async def compare(
    executor: Any, *, documents: int, seed: int = 1, stop_at_difference: bool = False
) -> Compared:
    """Execute random documents, each over random values twice, under both executors."""

    class Counted(executor):  # type: ignore[misc]
        plans = executor.plans.__class__(objects_before=1)
        executed = 0

        def execute_field(self, *args: Any) -> Any:
            type(self).executed += 1
            return super().execute_field(*args)

    compiled = schema_under(Counted)
    found = Compared()
    before = Counting.executed
    source = zip(range(documents), Documents(STANDARD._schema, seed), strict=False)  # noqa: SLF001
    for number, text in source:
        document = parse(text)
        found.documents += 1
        for values in (seed * 1_000_000 + number * 2, seed * 1_000_000 + number * 2 + 1):
            wanted = await outcome(STANDARD, document, values)
            got = await outcome(compiled, document, values)
            found.with_errors += bool(wanted.errors)
            if not got.is_as(wanted):
                found.differences.append(f"{text}\nseed {values}\n{wanted}\n{got}")
                if stop_at_difference:
                    return found
    found.standard_fields = Counting.executed - before
    found.compiled_fields = Counted.executed
    return found
