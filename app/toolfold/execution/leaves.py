"""Leaf values in generated code: what is of the exact type expected goes out as it is.

Anything else is served as graphql-core serves it, by the type's own serializer, or is irregular.
"""

from typing import Any

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLLeafType,
    GraphQLString,
)

from toolfold.execution.irregular import checked
from toolfold.execution.names import Names
from toolfold.execution.plain import PassedThrough

_MAX_ENUM_VALUES = 256


def leaf_expression(leaf_type: GraphQLLeafType, value: str, names: Names) -> str:
    """Return the expression that serves the local variable `value`, which is not null."""
    if isinstance(leaf_type, GraphQLEnumType):
        return f"{names.of(EnumNames(leaf_type), 'enum')}[{value}]"
    test = _exact(leaf_type, value, names)
    serialize = names.of(checked(leaf_type.coerce_output_value), "serialize")
    otherwise = f"{serialize}({value})"
    return otherwise if test is None else f"({value} if {test} else {otherwise})"


def _exact(leaf_type: Any, value: str, names: Names) -> str | None:
    """Return the test of a value that is served as it is; None if there is no such test."""
    if leaf_type is GraphQLString or leaf_type is GraphQLID:
        return f"type({value}) is str"
    if leaf_type is GraphQLInt:
        return f"type({value}) is int and -2147483648 <= {value} <= 2147483647"
    if leaf_type is GraphQLBoolean:
        return f"type({value}) is bool"
    if leaf_type is GraphQLFloat:
        return f"type({value}) is float and {value} - {value} == 0"
    serializer = leaf_type.coerce_output_value
    if not isinstance(serializer, PassedThrough):
        return None
    test = f"type({value}) is {names.of(serializer.kind, 'kind')}"
    if serializer.bound is not None:
        test += f" and {-serializer.bound} <= {value} <= {serializer.bound}"
    return test


class EnumNames(dict[Any, str]):
    """The served names of an enum's values, as they are met."""

    def __init__(self, enum_type: GraphQLEnumType) -> None:
        super().__init__()
        self._serialize = checked(enum_type.coerce_output_value)

    def __missing__(self, value: Any) -> str:
        name: str = self._serialize(value)
        if len(self) < _MAX_ENUM_VALUES:
            self[value] = name
        return name
