"""From a selection to a plan: each field of an object type, in order, with how it is read.

A plan depends on the schema, the document and the variables of `@skip` and `@include` alone, on
no value that is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import (
    BooleanValueNode,
    FieldNode,
    GraphQLField,
    GraphQLIncludeDirective,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSkipDirective,
    IntValueNode,
    SelectionNode,
    StringValueNode,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
)
from graphql.execution.collect_fields import FieldDetails, FragmentDetails
from graphql.execution.values import get_argument_values
from graphql.language import FragmentSpreadNode, VariableNode
from strawberry.types.arguments import convert_arguments
from strawberry.types.field import StrawberryField
from strawberry.types.fields.resolver import StrawberryResolver

from toolfold.execution import plain
from toolfold.execution.irregular import NotPlainError

if TYPE_CHECKING:
    from toolfold.execution.executor import CompilingExecutor

Details = list[FieldDetails]
"""The nodes of one response key, as graphql-core collects them."""

_CONDITIONS = (GraphQLSkipDirective.name, GraphQLIncludeDirective.name)


@dataclass(frozen=True, slots=True)
class TypeName:
    """Reads `__typename`."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """Reads by a field's resolver.

    `parent` and `info` name the parameters that take the object and the info; None where the
    resolver takes none.
    """

    field: StrawberryField
    definition: GraphQLField
    parent_type: GraphQLObjectType
    nodes: list[FieldNode]
    resolver: StrawberryResolver[Any]
    cut: plain.Cut | None = None

    @property
    def function(self) -> Any:
        """What is called."""
        return self.resolver.wrapped_func

    @property
    def parent(self) -> str | None:
        """The parameter that takes the object."""
        of = self.resolver
        parameter = of.self_parameter or of.parent_parameter or of.root_parameter
        return None if parameter is None else parameter.name

    @property
    def takes_parent_first(self) -> bool:
        """Whether the object can be given by its place, which is cheaper than by name."""
        return next(iter(self.resolver.signature.parameters), None) == self.parent

    @property
    def info(self) -> str | None:
        """The parameter that takes the info."""
        parameter = self.resolver.info_parameter
        return None if parameter is None else parameter.name

    @property
    def with_arguments(self) -> bool:
        """Whether the field takes any."""
        return bool(self.definition.args)

    @property
    def with_variables(self) -> bool:
        """Whether what is given for its arguments depends on variables."""
        return any(
            not isinstance(given.value, IntValueNode | StringValueNode | BooleanValueNode)
            for given in self.nodes[0].arguments or ()
        )

    def arguments(self, executor: "CompilingExecutor") -> dict[str, Any]:
        """Return the arguments as the resolver takes them.

        Raises:
            GraphQLError: for a variable that is no value of its argument.
        """
        given = get_argument_values(self.definition, self.nodes[0], executor.variable_values)
        schema = executor.strawberry_schema
        return convert_arguments(
            given,
            self.field.arguments,
            scalar_registry=schema.schema_converter.scalar_registry,
            config=schema.config,
        )


Reading = TypeName | Call | plain.Column | plain.Function | plain.View


@dataclass(frozen=True, slots=True, eq=False)
class PlannedField:
    """One key of the response: how its value is read, and of what type it is.

    `object` is the plan of what is selected below it, where the type is an object type.
    `ordered` if reading it may have an effect, so that fields must be read in their order.
    """

    key: str
    parent_type: GraphQLObjectType
    reading: Reading
    type: GraphQLOutputType
    details: Details
    object: "PlannedObject | None"
    ordered: bool


@dataclass(frozen=True, slots=True, eq=False)
class PlannedObject:
    """What is selected of an object of `type`."""

    type: GraphQLObjectType
    fields: Sequence[PlannedField]

    @property
    def ordered(self) -> bool:
        """Whether reading any of the fields may have an effect."""
        return any(field.ordered for field in self.fields)


def plan_object(
    executor: "CompilingExecutor", object_type: GraphQLObjectType, details: Details
) -> PlannedObject:
    """Return the plan of what `details` select of an object type.

    Raises:
        NotPlainError: if one of the fields can only be read by graphql-core.
    """
    collected = executor.collect_subfields(object_type, details)
    if collected.new_defer_usages:
        raise NotPlainError
    return PlannedObject(
        object_type,
        [
            _plan_field(executor, object_type, key, below)
            for key, below in collected.grouped_field_set.items()
        ],
    )


def _plan_field(
    executor: "CompilingExecutor", parent_type: GraphQLObjectType, key: str, details: Details
) -> PlannedField:
    first = details[0]
    if any(one.defer_usage or one.fragment_variable_values for one in details):
        raise NotPlainError
    definition = executor.schema.get_field(parent_type, first.node.name.value)
    if definition is None:
        raise NotPlainError
    reading: Reading
    if first.node.name.value == "__typename":
        reading = TypeName()
    else:
        reading = _reading(parent_type, definition, [one.node for one in details])
    named = get_named_type(definition.type)
    below = plan_object(executor, named, details) if isinstance(named, GraphQLObjectType) else None
    if below is None and not is_leaf_type(named) and not is_abstract_type(named):
        raise NotPlainError
    with_info = isinstance(reading, Call) and reading.info is not None
    # Which fields an abstract type's objects have is known when they are there.
    ordered = with_info or is_abstract_type(named) or (below is not None and below.ordered)
    return PlannedField(key, parent_type, reading, definition.type, details, below, ordered)


def _reading(
    parent_type: GraphQLObjectType, definition: GraphQLField, nodes: list[FieldNode]
) -> Reading:
    field: StrawberryField | None = definition.extensions.get("strawberry-definition")
    if field is None or field.extensions or field.is_async:
        raise NotPlainError
    word = field.metadata.get(plain.KEY)
    if isinstance(word, plain.Column | plain.Function | plain.View):
        return word
    resolver = field.base_resolver
    if resolver is None:
        if field.default_resolver is not getattr:
            raise NotPlainError
        return plain.Column(field.python_name)
    if resolver.info_parameter is not None and not isinstance(word, plain.Repeatable):
        raise NotPlainError
    cut = word if isinstance(word, plain.Cut) else None
    return Call(field, definition, parent_type, nodes, resolver, cut)


def condition_variables(
    nodes: Sequence[SelectionNode], fragments: dict[str, FragmentDetails]
) -> tuple[str, ...]:
    """Return the variables on which it depends what is selected at `nodes` and below.

    Raises:
        NotPlainError: if that depends on anything else than `@skip` and `@include`.
    """
    found: dict[str, None] = {}
    waiting: list[Any] = list(nodes)
    seen: set[str] = set()
    while waiting:
        node = waiting.pop()
        for directive in node.directives or ():
            if directive.name.value not in _CONDITIONS:
                raise NotPlainError
            for argument in directive.arguments or ():
                if isinstance(argument.value, VariableNode):
                    found[argument.value.name.value] = None
        if isinstance(node, FragmentSpreadNode):
            name = node.name.value
            if name not in seen and name in fragments:
                seen.add(name)
                waiting.extend(fragments[name].definition.selection_set.selections)
        elif node.selection_set is not None:
            waiting.extend(node.selection_set.selections)
    return tuple(found)
