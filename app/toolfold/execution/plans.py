"""The selections that are met again and again, and what completes each."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLOutputType

from toolfold.execution.completion import ListCompleter, ObjectCompleter, completer_of
from toolfold.execution.irregular import NotPlainError
from toolfold.execution.planning import Details, condition_variables, plan_object

if TYPE_CHECKING:
    from toolfold.execution.executor import CompilingExecutor

Completer = ObjectCompleter | ListCompleter

OBJECTS_BEFORE = 8
"""How many objects of a selection are left to graphql-core: to generate costs about as much."""

MAX_SELECTIONS = 1_024
MAX_VARIANTS = 64


class Plans:
    """A bounded cache, by the very nodes of a document: parse documents once and keep them."""

    def __init__(self, objects_before: int = OBJECTS_BEFORE) -> None:
        self._objects_before = objects_before
        self._selections: OrderedDict[tuple[Any, ...], _Selection] = OrderedDict()

    def find(
        self, executor: "CompilingExecutor", output_type: Any, details: Details, count: int
    ) -> Completer | None:
        """Return what completes `count` objects of a selection; None if graphql-core is to."""
        key = (output_type, *[id(one.node) for one in details])
        selection = self._selections.get(key)
        if selection is None:
            selection = self._selections[key] = _Selection(executor, output_type, details)
            if len(self._selections) > MAX_SELECTIONS:
                self._selections.popitem(last=False)
        selection.seen += count
        return None if selection.seen < self._objects_before else selection.find(executor)


class _Selection:
    """What is selected at some nodes, in each of the variants that `@skip` and `@include` make."""

    def __init__(
        self, executor: "CompilingExecutor", output_type: GraphQLOutputType, details: Details
    ) -> None:
        self._type = output_type
        # Holding the nodes keeps their ids from becoming those of others.
        self._details = details
        self.seen = 0
        self._variants: dict[tuple[Any, ...], Completer | None] = {}
        self._variables: tuple[str, ...] | None
        try:
            nodes = [one.node for one in details]
            self._variables = condition_variables(nodes, executor.fragments)
        except NotPlainError:
            self._variables = None

    def find(self, executor: "CompilingExecutor") -> Completer | None:
        if self._variables is None:
            return None
        values = executor.variable_values.coerced
        variant = tuple([values.get(name) for name in self._variables])
        try:
            return self._variants[variant]
        except KeyError:
            if len(self._variants) >= MAX_VARIANTS:
                self._variants.clear()
            completer = self._variants[variant] = self._completer(executor)
            return completer

    def _completer(self, executor: "CompilingExecutor") -> Completer | None:
        item = self._type
        while isinstance(item, GraphQLList | GraphQLNonNull):
            item = item.of_type
        try:
            planned = (
                plan_object(executor, item, self._details)
                if isinstance(item, GraphQLObjectType)
                else None
            )
            return completer_of(self._type, self._details, planned)
        except (NotPlainError, GraphQLError):
            # An error is one of a condition that is null; graphql-core tells it when it gets there.
            return None
