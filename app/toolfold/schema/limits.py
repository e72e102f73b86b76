"""What a document may ask: tokens, depth, aliases and selections.

Checked between parse and validation, because validation's own cost grows faster than the
document. One pass over the document: each fragment is measured once, however often it is
spread, so that the check is linear where what it measures is not.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Self, cast

import strawberry
from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)
from strawberry.extensions import SchemaExtension
from strawberry.types.graphql import OperationType

from toolfold.errors import DocumentLimitError
from toolfold.schema.caches import MAX_CACHED_CHARACTERS
from toolfold.schema.context import Operation
from toolfold.schema.scalars import BigInt
from toolfold.settings import Settings

CHARACTERS_A_TOKEN = 32
"""How long a document may be for each token that it may have."""

MAX_VARIABLE_VALUES = 10_000


@strawberry.type(description="The limits that this server enforces.")
class ServerLimits:
    """The settings that clients meet."""

    compact_mode_default: bool
    compact_budget_bytes: BigInt
    content_budget_bytes: BigInt
    max_slice_bytes: int
    max_rows: int
    max_page_size: int
    max_depth: int
    max_tokens: int
    max_aliases: int
    max_selections: int
    max_batch_messages: int
    max_batch_bytes: BigInt

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that are set."""
        return cls(
            compact_mode_default=settings.compact_mode_default,
            compact_budget_bytes=BigInt(settings.compact_budget_bytes),
            content_budget_bytes=BigInt(settings.content_budget_bytes),
            max_slice_bytes=settings.max_slice_bytes,
            max_rows=settings.max_rows,
            max_page_size=settings.max_page_size,
            max_depth=settings.max_depth,
            max_tokens=settings.max_tokens,
            max_aliases=settings.max_aliases,
            max_selections=settings.max_selections,
            max_batch_messages=settings.max_batch_messages,
            max_batch_bytes=BigInt(settings.max_batch_bytes),
        )


class Measure(NamedTuple):
    """What a selection comes to with its fragments expanded."""

    depth: int = 0
    aliases: int = 0
    selections: int = 0

    def beside(self, other: "Measure") -> "Measure":
        """Return the measure of both in one selection set."""
        return Measure(
            max(self.depth, other.depth),
            self.aliases + other.aliases,
            self.selections + other.selections,
        )


def measure(document: DocumentNode) -> Measure:
    """Return the greatest depth, aliases and selections of a document's operations.

    Fragments that are unknown or spread themselves count nothing: validation refuses them.
    """
    fragments = {
        node.name.value: node
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }
    measured: dict[str, Measure] = {}
    greatest = Measure()
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            operation = _measure_set(node.selection_set, fragments, measured)
            greatest = Measure(*map(max, greatest, operation))
    return greatest


def _measure_set(
    selection_set: SelectionSetNode,
    fragments: dict[str, FragmentDefinitionNode],
    measured: dict[str, Measure],
) -> Measure:
    total = Measure()
    for node in selection_set.selections:
        if isinstance(node, FieldNode):
            inner = Measure()
            if node.selection_set:
                inner = _measure_set(node.selection_set, fragments, measured)
            alias = 1 if node.alias else 0
            found = Measure(inner.depth + 1, inner.aliases + alias, inner.selections + 1)
        elif isinstance(node, FragmentSpreadNode):
            found = _measure_fragment(node.name.value, fragments, measured)
        else:
            inline = cast("InlineFragmentNode", node)
            found = _measure_set(inline.selection_set, fragments, measured)
        total = total.beside(found)
    return total


def _measure_fragment(
    name: str, fragments: dict[str, FragmentDefinitionNode], measured: dict[str, Measure]
) -> Measure:
    if name not in measured:
        measured[name] = Measure()  # What a fragment that spreads itself finds.
        if name in fragments:
            measured[name] = _measure_set(fragments[name].selection_set, fragments, measured)
    return measured[name]


class _Same(NamedTuple):
    """A document as a key: equal to itself alone, so that nothing looks at its nodes."""

    node: DocumentNode

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.node is other.node

    def __hash__(self) -> int:
        return id(self.node)


@lru_cache(maxsize=256)
def _measured(document: _Same) -> Measure:
    return measure(document.node)


def check(document: DocumentNode, settings: Settings, *, is_cached: bool = False) -> None:
    """Check a document against the limits that are set; one from a cache is measured once.

    Raises:
        DocumentLimitError: naming the limit.
    """
    try:
        found = _measured(_Same(document)) if is_cached else measure(document)
    except RecursionError as error:
        raise DocumentLimitError("The document's fragments are nested too deeply.") from error
    for name, value, limit in (
        ("depth", found.depth, settings.max_depth),
        ("number of aliases", found.aliases, settings.max_aliases),
        ("number of selections", found.selections, settings.max_selections),
    ):
        if value > limit:
            raise DocumentLimitError(
                f"The document's {name} is {value}, over the limit of {limit}."
            )


def check_length(text: str, settings: Settings) -> None:
    """Check how long a document's text is, which bounds what the parser has to read.

    Raises:
        DocumentLimitError: if the document is longer than its tokens have need of.
    """
    limit = settings.max_tokens * CHARACTERS_A_TOKEN
    if len(text) > limit:
        raise DocumentLimitError(f"The document has {len(text)} characters, over {limit}.")


def count_values(value: object, limit: int) -> int:
    """Count the values in a JSON value, itself included; stops soon after `limit`."""
    count = 0
    waiting = [value]
    while waiting and count <= limit:
        value = waiting.pop()
        count += 1
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return count


class DocumentLimits(SchemaExtension):
    """Applies the limits to every document, parsed or from a cache."""

    def on_operation(self) -> Iterator[None]:
        """Bound the parser: the length of what it reads, and it stops at a token too many.

        Raises:
            DocumentLimitError: if the document is longer than its tokens have need of.
        """
        settings = cast("Operation", self.execution_context.context).settings
        check_length(self.execution_context.query or "", settings)
        self.execution_context.parse_options["max_tokens"] = settings.max_tokens
        yield

    def on_validate(self) -> Iterator[None]:
        """Measure the document before anything else looks at it."""
        operation = cast("Operation", self.execution_context.context)
        document = cast("DocumentNode", self.execution_context.graphql_document)
        try:
            length = len(self.execution_context.query or "")
            check(document, operation.settings, is_cached=length <= MAX_CACHED_CHARACTERS)
            self._check_variables()
        except DocumentLimitError as error:
            self.execution_context.pre_execution_errors = [
                GraphQLError(error.message, extensions=error.extensions, original_error=error)
            ]
        yield

    def _check_variables(self) -> None:
        # What is written may hold much; what is asked for has no need to.
        context = self.execution_context
        variables = context.variables or {}
        is_query = context.operation_type is OperationType.QUERY
        if is_query and count_values(variables, MAX_VARIABLE_VALUES) > MAX_VARIABLE_VALUES:
            raise DocumentLimitError(
                f"The variables of a query may hold {MAX_VARIABLE_VALUES} values, and hold more."
            )
