"""What an operation selects: the look-ahead by which a page reads only its columns.

Works on the parsed document alone, and keeps what it finds for as long as the operation lasts.
`@skip` and `@include` are honoured; type conditions where what is selected decides what is charged,
but not for columns: one that is read for a type that does not turn up costs next to nothing.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar, cast

import strawberry
from graphql import (
    DirectiveNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLIncludeDirective,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSkipDirective,
    InlineFragmentNode,
    NamedTypeNode,
    SelectionNode,
    VariableNode,
    is_abstract_type,
)
from graphql.pyutils import Path

T = TypeVar("T")

RawInfo = GraphQLResolveInfo[Any]
"""graphql-core's info, which holds the document's nodes."""

Fields = dict[str, list[FieldNode]]
"""The field nodes under each response key, in the order in which they are met."""


def raw_info(info: strawberry.Info) -> RawInfo:
    """Return graphql-core's own info, which alone holds the document's nodes."""
    return info._raw_info  # noqa: SLF001 - Strawberry offers no public way to the nodes.


def subfields(nodes: Sequence[FieldNode], info: RawInfo, typename: str | None = None) -> Fields:
    """Return the fields selected below `nodes`, fragments expanded, merged by response key.

    Of an object of type `typename`: those alone that apply to it. They are shared: change nothing.
    """

    def collect() -> Fields:
        found: Fields = {}
        for node in nodes:
            if node.selection_set:
                _collect(node.selection_set.selections, info, found, typename)
        return found

    return remembered(info, nodes, ("subfields", typename), collect)


def remembered(
    info: RawInfo, nodes: Sequence[FieldNode], what: Hashable, find_out: Callable[[], T]
) -> T:
    """Return what was found out about the selection at these nodes, which `what` tells apart.

    It depends on the document alone, and on the variables of its directives.
    """
    place = (what, *map(id, nodes))
    selected: dict[Hashable, T] = info.context.selected
    if place not in selected:
        selected[place] = find_out()
    return selected[place]


def named(fields: Fields, *names: str) -> list[FieldNode]:
    """Return the nodes of `fields` whose field is one of `names`, whatever their aliases."""
    return [node for nodes in fields.values() for node in nodes if node.name.value in names]


def at_place(path: Path | None, info: RawInfo) -> Fields:
    """Return the fields selected in the object at the response path `path`.

    `info` is of one of its fields, and so knows its type.
    """
    keys: list[tuple[str, str | None]] = []
    typename: str | None = info.parent_type.name
    while path is not None:
        if isinstance(path.key, str):
            keys.append((path.key, typename))
            typename = path.typename
        path = path.prev
    fields: Fields = {}
    _collect(info.operation.selection_set.selections, info, fields, typename)
    for key, below in reversed(keys):
        fields = subfields(fields.get(key, ()), info, below)
    return fields


def columns(typename: str, nodes: Sequence[FieldNode], info: RawInfo) -> frozenset[str]:
    """Return the columns that the selection below `nodes`, on type `typename`, reads.

    A field declares its columns, and the type that it shows of the same row, in its metadata:
    see `toolfold.schema.fields`.
    """

    def find_out() -> frozenset[str]:
        return frozenset(_columns(typename, nodes, info))

    return remembered(info, nodes, ("columns", typename), find_out)


def _columns(typename: str, nodes: Sequence[FieldNode], info: RawInfo) -> set[str]:
    object_type = cast("GraphQLObjectType", info.schema.type_map[typename])
    needed: set[str] = set()
    for field_nodes in subfields(nodes, info).values():
        field = object_type.fields.get(field_nodes[0].name.value)
        if field is None or "strawberry-definition" not in field.extensions:
            continue
        metadata = field.extensions["strawberry-definition"].metadata
        needed.update(metadata.get("columns", ()))
        if "view" in metadata:
            needed |= columns(metadata["view"], field_nodes, info)
    return needed


def _collect(
    selections: Iterable[SelectionNode],
    info: RawInfo,
    found: Fields,
    typename: str | None,
    seen: set[str] | None = None,
) -> None:
    seen = set() if seen is None else seen
    for node in selections:
        if not _included(node.directives or (), info.variable_values):
            continue
        if isinstance(node, FieldNode):
            key = node.alias.value if node.alias else node.name.value
            found.setdefault(key, []).append(node)
        elif isinstance(node, InlineFragmentNode):
            if _applies(node.type_condition, typename, info):
                _collect(node.selection_set.selections, info, found, typename, seen)
        elif isinstance(node, FragmentSpreadNode) and node.name.value not in seen:
            seen.add(node.name.value)
            fragment = info.fragments[node.name.value]
            if _applies(fragment.type_condition, typename, info):
                _collect(fragment.selection_set.selections, info, found, typename, seen)


def _applies(condition: NamedTypeNode | None, typename: str | None, info: RawInfo) -> bool:
    if condition is None or typename is None or condition.name.value == typename:
        return True
    wanted = info.schema.type_map[condition.name.value]
    actual = info.schema.type_map[typename]
    return (
        is_abstract_type(wanted)
        and isinstance(actual, GraphQLObjectType)
        and info.schema.is_sub_type(wanted, actual)
    )


def _included(directives: Iterable[DirectiveNode], variables: Any) -> bool:
    for directive in directives:
        name = directive.name.value
        if name not in (GraphQLSkipDirective.name, GraphQLIncludeDirective.name):
            continue
        # Validation has seen to it that there is one: `if`.
        (argument,) = directive.arguments or ()
        condition = argument.value
        truth = (
            variables.get(condition.name.value)
            if isinstance(condition, VariableNode)
            else getattr(condition, "value", None)
        )
        if bool(truth) is (name == GraphQLSkipDirective.name):
            return False
    return True
