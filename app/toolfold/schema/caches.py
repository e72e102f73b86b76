"""Documents parsed and validated once for as long as clients repeat them.

Strawberry's own caches are not used. Its `ParserCache` raises a syntax error where WebSocket
makes a bare `complete` of it; its `ValidationCache` overwrites what other extensions refused,
hashes every node of a document each time, and both keep documents of any length.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from graphql import ASTValidationRule, DocumentNode, GraphQLError, GraphQLSchema, parse
from strawberry.extensions import SchemaExtension
from strawberry.schema.schema import validate_document

MAX_CACHED_CHARACTERS = 32 * 1024
"""A longer document is parsed each time, so that the caches' memory is bounded."""

Rules = tuple[type[ASTValidationRule], ...]


@dataclass(frozen=True, eq=False, slots=True)
class ParsedDocument:
    """A parsed document; equal to itself alone, so that a cache need not look at its nodes."""

    node: DocumentNode


class DocumentCaches:
    """The two caches of one schema, each of at most `size` documents, and those kept for good.

    `parse(query, max_tokens)` and `validate(schema, document, rules)` are `lru_cache` functions.
    The rules must be the same classes each time, or nothing is ever found: make them once.
    """

    def __init__(self, size: int = 256) -> None:
        self.parse = lru_cache(maxsize=size)(_parse)
        self.validate = lru_cache(maxsize=size)(_validate)
        self._kept: dict[str, ParsedDocument] = {}

    def keep(self, query: str, document: DocumentNode) -> None:
        """Use this document for a text from now on; it must have been found valid."""
        self._kept[query] = ParsedDocument(document)

    def kept(self, query: str) -> ParsedDocument | None:
        """Return the document that is kept for a text."""
        return self._kept.get(query)


class CachedDocuments(SchemaExtension):
    """Takes an operation's document, and what is wrong with it, from the caches.

    Pass it as a factory over one `DocumentCaches`. Extensions that refuse documents may stand
    before it or after it.
    """

    def __init__(self, caches: DocumentCaches) -> None:
        self._caches = caches
        self._document: ParsedDocument | None = None
        self._is_kept = False

    def on_parse(self) -> Iterator[None]:
        """Provide the parsed document, unless it has an error.

        A document that cannot be parsed is left to the step that follows, which finds the same
        error and reports it in the way of each transport.
        """
        context = self.execution_context
        kept = self._caches.kept(context.query or "")
        if kept is not None:
            self._document, self._is_kept = kept, True
            context.graphql_document = kept.node
        elif context.query and len(context.query) <= MAX_CACHED_CHARACTERS:
            try:
                self._document = self._caches.parse(
                    context.query, context.parse_options.get("max_tokens")
                )
            except GraphQLError:
                self._document = None
            else:
                context.graphql_document = self._document.node
        yield

    def on_validate(self) -> Iterator[None]:
        """Provide the document's validation errors, unless it is refused already."""
        context = self.execution_context
        if self._document is not None and context.pre_execution_errors is None:
            context.pre_execution_errors = [] if self._is_kept else self._errors(self._document)
        yield

    def _errors(self, document: ParsedDocument) -> list[GraphQLError]:
        context = self.execution_context
        graphql_schema = context.schema._schema  # noqa: SLF001 - Strawberry's only way to it.
        return list(self._caches.validate(graphql_schema, document, context.validation_rules))


def _parse(query: str, max_tokens: int | None) -> ParsedDocument:
    return ParsedDocument(parse(query, max_tokens=max_tokens))


def _validate(
    schema: GraphQLSchema, document: ParsedDocument, rules: Rules
) -> tuple[GraphQLError, ...]:
    return tuple(validate_document(schema, document.node, rules))
