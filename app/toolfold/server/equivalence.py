"""Which documents ask for the same: what tools and clients change in one on its way.

The text in a manifest is seldom what a client sends when it sends text, as all do over WebSocket
and after an unknown hash. Apollo's manifest has the fragments by name, graphql-codegen's each
selection and argument too; caches add `__typename`, and gql.tada's client joins fragments anew.
"""

import dataclasses
from typing import Any, TypeVar

from graphql import DocumentNode, FieldNode, Node, Visitor, print_ast, visit

N = TypeVar("N", bound=Node)

_UNORDERED = ("definitions", "variable_definitions", "selections", "arguments", "fields")
"""The lists of a document whose order says nothing, but for that of the answer."""


def form_of(document: DocumentNode) -> str:
    """Return a text that is the same for all documents that ask for the same.

    Not told apart are white space and comments, the order of definitions, fields and arguments,
    what stands twice, and `__typename`. A form is for comparing alone: it may be no GraphQL.
    """
    return print_ast(visit(document, _Ordering()))


class _Ordering(Visitor):
    """Puts the lists of each node in one order, innermost first."""

    def leave(self, node: Node, *_: Any) -> Node | None:
        """Return the node with its lists in order; None, which keeps it, if it has none."""
        lists = {
            name: _in_order(items) for name in _UNORDERED if (items := getattr(node, name, None))
        }
        # A dataclass, as all nodes are, which their decorator hides from type checkers.
        changed: Any = node
        return dataclasses.replace(changed, **lists) if lists else None


def _in_order(nodes: tuple[N, ...]) -> tuple[N, ...]:
    printed = {print_ast(node): node for node in nodes if not _is_type_name(node)}
    return tuple(printed[text] for text in sorted(printed))


def _is_type_name(node: Node) -> bool:
    """Say whether this is a bare `__typename`, which gives nothing away that is not public."""
    return (
        isinstance(node, FieldNode)
        and node.name.value == "__typename"
        and not node.alias
        and not node.directives
    )
