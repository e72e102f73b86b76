"""Queries that are asked again: executed without what was found out about them before.

Of a query that was executed without an error under the same settings, it is known that its
document can be parsed, is within the limits, valid, and which operation of it is meant. What
Strawberry and the extensions do to find that out takes as long as to read fifty messages, so here
a query goes to graphql-core at once. What depends on the request stays: how many values its
variables hold, its own state, its deadline, what its errors show, and its extensions.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    BREAK,
    DirectiveNode,
    DocumentNode,
    GraphQLError,
    VariableNode,
    Visitor,
    execute,
    get_operation_ast,
    visit,
)
from graphql import OperationType as OperationTypeNode
from strawberry.execution import optimized_is_awaitable
from strawberry.types import ExecutionResult
from strawberry.types.graphql import OperationType

from toolfold.schema.caches import MAX_CACHED_CHARACTERS, DocumentCaches
from toolfold.schema.context import Operation, Resources, extensions_of
from toolfold.schema.deadline import stopped
from toolfold.schema.limits import MAX_VARIABLE_VALUES, count_values
from toolfold.schema.masking import MaskedSchema
from toolfold.settings import Settings

MAX_QUERIES = 256

_is_awaitable: Any = optimized_is_awaitable


@dataclass(frozen=True, slots=True)
class _Known:
    """The document of a query, and the settings under which it was executed.

    `selected` is what its operations found out about their selection, if that is always the same.
    """

    document: DocumentNode
    settings: Settings
    selected: dict[tuple[Any, ...], Any] | None

    def begin(self, resources: Resources) -> Operation:
        """Return the state of an operation that asks this again."""
        operation = Operation.begin(resources)
        if self.selected is not None:
            operation.selected = self.selected
        return operation


class _Conditions(Visitor):
    """Looks for a variable on which it depends what is selected."""

    found = False

    def enter_directive(self, node: DirectiveNode, *_: Any) -> Any:
        self.found |= any(isinstance(one.value, VariableNode) for one in node.arguments or ())
        return BREAK if self.found else None


class RepeatingSchema(MaskedSchema):
    """A schema that remembers queries; its `documents` are where its extensions find theirs."""

    documents: DocumentCaches | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known: OrderedDict[tuple[str, str | None], _Known] = OrderedDict()

    async def execute(  # noqa: PLR0917 - Strawberry's.
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any = None,
        root_value: Any = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,
    ) -> ExecutionResult:
        """Execute an operation; its result is that of Strawberry, by whichever way."""
        resources = (
            context_value.resources if isinstance(context_value, Operation) else context_value
        )
        known = self._known.get((query or "", operation_name))
        if (
            known is not None
            and isinstance(resources, Resources)
            and known.settings is resources.settings
            and (allowed_operation_types is None or OperationType.QUERY in allowed_operation_types)
            and count_values(variable_values, MAX_VARIABLE_VALUES) <= MAX_VARIABLE_VALUES
        ):
            given = (root_value, variable_values, operation_name, operation_extensions)
            return await self._execute_again(known, known.begin(resources), *given)
        result = await super().execute(
            query,
            variable_values,
            context_value,
            root_value,
            operation_name,
            allowed_operation_types,
            operation_extensions,
        )
        if query and isinstance(resources, Resources) and not result.errors:
            self._remember(query, operation_name, resources.settings)
        return result

    def _remember(self, query: str, operation_name: str | None, settings: Settings) -> None:
        document = self._document(query, settings)
        operation = None if document is None else get_operation_ast(document, operation_name)
        if document is None or operation is None:
            return
        if operation.operation is OperationTypeNode.QUERY:
            conditions = _Conditions()
            visit(document, conditions)
            selected: dict[tuple[Any, ...], Any] | None = None if conditions.found else {}
            self._known[query, operation_name] = _Known(document, settings, selected)
            if len(self._known) > MAX_QUERIES:
                self._known.popitem(last=False)

    def _document(self, query: str, settings: Settings) -> DocumentNode | None:
        if self.documents is None:
            return None
        kept = self.documents.kept(query)
        if kept is None and len(query) <= MAX_CACHED_CHARACTERS:
            kept = self.documents.parse(query, settings.max_tokens)
        return None if kept is None else kept.node

    async def _execute_again(
        self,
        known: _Known,
        operation: Operation,
        root_value: Any,
        variables: dict[str, Any] | None,
        operation_name: str | None,
        operation_extensions: dict[str, Any] | None,
    ) -> ExecutionResult:
        given: dict[str, Any] = {
            "root_value": root_value,
            "variable_values": variables,
            "operation_name": operation_name,
            "operation_extensions": operation_extensions,
        }
        try:
            found = await self._executed(known.document, operation, given)
        except Exception as error:  # noqa: BLE001 - As Strawberry does, and masked here.
            told = (
                error
                if isinstance(error, GraphQLError)
                else GraphQLError(str(error), original_error=error)
            )
            result = ExecutionResult(data=None, errors=[told])
            self.mask(result.errors or [], is_executed=False)
        else:
            result = ExecutionResult(data=found.data, errors=found.errors)
            self.mask(result.errors or [], is_executed=True)
        finally:
            operation.end()
        result.extensions = extensions_of(operation)
        return result

    async def _executed(
        self, document: DocumentNode, operation: Operation, given: Mapping[str, Any]
    ) -> Any:
        seconds = operation.settings.query_seconds
        try:
            async with asyncio.timeout(seconds):
                result: Any = execute(
                    self._schema,
                    document,
                    context_value=operation,
                    executor_class=self.execution_context_class,
                    is_awaitable=_is_awaitable,
                    **given,
                )
                return await result if _is_awaitable(result) else result
        except TimeoutError as error:
            raise stopped(seconds) from error
