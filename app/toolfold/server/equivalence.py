"""Which documents ask for the same: what tools and clients change in one on its way.

The text in a manifest is seldom what a client sends when it sends text, as all do over WebSocket
and after an unknown hash. Apollo's manifest has the fragments by name, graphql-codegen's each
selection and argument too; caches add `__typename`, and gql.tada's client joins fragments anew.

Not told apart is what changes nothing but the order of an answer, and of what its budgets are
spent on. In the words of GraphQL's specification: comments and descriptions ("Descriptions"); the
order of arguments ("Arguments Are Unordered"), of an input object's fields ("Input Object Fields
Are Unordered"), and of definitions and variables, which are found by their names; how a text is
quoted ("String Value"); the order of selections, but for those of a mutation itself, whose fields
are executed one after the other ("Normal and Serial Execution"); and selections that stand twice,
which are one ("Field Collection"). The order of directives and of a list's values is significant.
"""

from collections.abc import Callable, Iterable, Sequence

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
)
from graphql.language.ast import QUERY_DOCUMENT_KEYS

_PARTS = {
    kind: tuple(name for name in names if name != "description")
    for kind, names in QUERY_DOCUMENT_KEYS.items()
}
_UNORDERED = frozenset({"definitions", "variable_definitions", "arguments", "fields"})
"""The lists whose order says nothing. What stands twice in one is an error, and stays twice."""

_Form = tuple[str, object, tuple[tuple[int, ...], ...]]
"""What a node is: its kind, its own value, and the numbers of the nodes right below it."""
_Parts = list[tuple[str, Sequence[Node]]]


class EquivalentDocuments:
    """Some documents, and all that ask for the same as one of them.

    Equivalent nodes have the same number. Each is known by the numbers of those right below it,
    so that each is looked at once, however deep it stands.
    """

    def __init__(self, documents: Iterable[DocumentNode]) -> None:
        self._numbers: dict[_Form, int] = {}
        for document in documents:
            _number(document, lambda form: self._numbers.setdefault(form, len(self._numbers)))

    def __contains__(self, document: DocumentNode) -> bool:
        return _number(document, self._numbers.get) is not None


def _number(document: DocumentNode, number_of: Callable[[_Form], int | None]) -> int | None:
    """Return the number of a document; None as soon as something in it has none."""
    serial = _serial(document)
    numbers: dict[int, int] = {}
    for node, parts in reversed(_nodes(document)):
        is_serial = id(node) in serial
        below = tuple(
            _ordered(name, [numbers[id(child)] for child in children], is_serial=is_serial)
            for name, children in parts
        )
        number = number_of((node.kind, is_serial or _own_value(node), below))
        if number is None:
            return None
        numbers[id(node)] = number
    return numbers[id(document)]


def _ordered(name: str, numbers: list[int], *, is_serial: bool) -> tuple[int, ...]:
    if name == "selections":
        return tuple(dict.fromkeys(numbers) if is_serial else sorted(set(numbers)))
    return tuple(sorted(numbers) if name in _UNORDERED else numbers)


def _own_value(node: Node) -> object:
    """Return what a node says itself: an operation its kind; a name or a value, which is text."""
    return getattr(node, "operation" if _PARTS.get(node.kind) else "value", None)


def _nodes(document: DocumentNode) -> list[tuple[Node, _Parts]]:
    """Return all nodes with the nodes right below, each before those."""
    nodes: list[tuple[Node, _Parts]] = [(document, _parts(document))]
    for _, parts in nodes:
        for _, children in parts:
            nodes.extend((child, _parts(child)) for child in children)
    return nodes


def _parts(node: Node) -> _Parts:
    parts = []
    for name in _PARTS.get(node.kind, ()):
        part = getattr(node, name) or ()
        children = (part,) if isinstance(part, Node) else part
        if name == "selections":
            children = [child for child in children if not _is_type_name(child)]
        parts.append((name, children))
    return parts


def _is_type_name(node: Node) -> bool:
    """Say whether this is a bare `__typename`, which gives nothing away that is not public."""
    return (
        isinstance(node, FieldNode)
        and node.name.value == "__typename"
        and not (node.alias or node.arguments or node.directives or node.selection_set)
    )


def _serial(document: DocumentNode) -> set[int]:
    """Return the ids of the selection sets that are executed in order: mutations' own.

    Those of fragments among them are the same selections to whoever executes them.
    """
    fragments = {
        node.name.value: node.selection_set
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }
    waiting: list[SelectionSetNode | None] = [
        node.selection_set
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode) and node.operation is OperationType.MUTATION
    ]
    serial: set[int] = set()
    while waiting:
        selection_set = waiting.pop()
        if selection_set is None or id(selection_set) in serial:
            continue
        serial.add(id(selection_set))
        for node in selection_set.selections:
            if isinstance(node, InlineFragmentNode):
                waiting.append(node.selection_set)
            elif isinstance(node, FragmentSpreadNode):
                waiting.append(fragments.get(node.name.value))
    return serial
