"""Trusted documents: asked for by their hash, parsed and validated once at the server's start.

A request names one as GraphQL over HTTP's appendix on persisted documents says (`documentId`,
`sha256:` and the hash), or as Apollo and urql do (`extensions.persistedQuery`), or as Relay's
guide does (`doc_id`). Nothing is registered while the server runs: anybody could fill its memory.
Therefore a text that comes with a hash is taken for what it says, and nobody looks at the hash:
tools compute it from another text than the one that their clients send.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    parse,
    specified_rules,
)
from strawberry.schema import BaseSchema
from strawberry.schema.schema import validate_document

from toolfold.errors import (
    DocumentHashError,
    DocumentLimitError,
    NoTrustedDocumentsError,
    SettingsError,
    UnknownDocumentError,
    UntrustedDocumentError,
)
from toolfold.schema.caches import DocumentCaches
from toolfold.schema.limits import check, check_length
from toolfold.server.equivalence import EquivalentDocuments
from toolfold.server.manifest import HASH, manifest_error, read_manifest
from toolfold.settings import Settings

ID_PARAMETERS = ("documentId", "doc_id")

# What clients know these errors by.
_NOT_FOUND = "PersistedQueryNotFound"
_NOT_SUPPORTED = "PersistedQueryNotSupported"

_CACHED_VERDICTS = 64
"""The texts are those that clients repeat, and none is longer than the limits allow."""

_NOT_TRUSTED = "This server executes trusted documents only, and this is none of them."


class TrustedDocuments:
    """The documents of a manifest by their SHA-256 in hexadecimal.

    If there is `is_trusted`, it says which texts may be executed; else any may.
    """

    def __init__(
        self,
        documents: Mapping[str, str],
        mutations: frozenset[str],
        is_trusted: Callable[[str], bool] | None = None,
    ) -> None:
        self._documents = documents
        self.mutations = mutations
        """The hashes of the documents that can change something."""
        self._is_trusted = is_trusted

    def text(self, parameters: Mapping[str, Any]) -> str | None:
        """Return the text of the document that a request asks for; None if it names none.

        Raises:
            DocumentHashError: if there is no such document, or its hash is not as it should be.
            UntrustedDocumentError: for a text that is not to be executed.
        """
        query: str | None = parameters.get("query")
        if not query:
            digest = digest_in(parameters)
            return None if digest is None else self._by_digest(digest)
        if self._is_trusted is not None and not self._is_trusted(query):
            raise UntrustedDocumentError(_NOT_TRUSTED)
        return query

    def is_mutation(self, parameters: object) -> bool:
        """Say whether a request names by its hash a document that can change something."""
        if not self.mutations or not isinstance(parameters, dict):
            return False
        try:
            return digest_in(parameters) in self.mutations
        except DocumentHashError:
            return False

    def _by_digest(self, digest: str) -> str:
        document = self._documents.get(digest)
        if document is not None:
            return document
        if self._documents or self._is_trusted is not None:
            raise UnknownDocumentError(_NOT_FOUND)
        raise NoTrustedDocumentsError(_NOT_SUPPORTED)


def load(settings: Settings, schema: BaseSchema, caches: DocumentCaches) -> TrustedDocuments:
    """Return the documents of the manifest that is set, which `caches` keep for good.

    Raises:
        SettingsError: naming file and entry, for what could not be executed when asked for.
    """
    if not settings.trusted_documents:
        if settings.trusted_documents_only:
            raise SettingsError("TOOLFOLD_TRUSTED_DOCUMENTS_ONLY needs a manifest of documents.")
        return TrustedDocuments({}, frozenset())
    path = Path(settings.trusted_documents).expanduser()
    texts = read_manifest(path)
    documents = {}
    for digest, text in texts.items():
        try:
            documents[digest] = _valid(text, settings, schema)
        except (GraphQLError, DocumentLimitError) as error:
            raise manifest_error(path, error.message.rstrip("."), digest) from error
        caches.keep(text, documents[digest])
    mutations = frozenset(
        digest for digest, document in documents.items() if _changes_something(document)
    )
    is_trusted = None
    if settings.trusted_documents_only:
        is_trusted = _judge(texts.values(), documents.values(), settings)
    return TrustedDocuments(texts, mutations, is_trusted)


def _judge(
    texts: Collection[str], documents: Iterable[DocumentNode], settings: Settings
) -> Callable[[str], bool]:
    """Return what says whether a text asks for the same as one of the documents."""
    verbatim = frozenset(texts)
    equivalent = EquivalentDocuments(documents)

    @lru_cache(maxsize=_CACHED_VERDICTS)
    def is_equivalent(query: str) -> bool:
        try:
            return _within_limits(query, settings) in equivalent
        except (GraphQLError, DocumentLimitError):
            return False

    return lambda query: query in verbatim or is_equivalent(query)


def names_document(parameters: Mapping[str, Any]) -> bool:
    """Say whether a request names its document by something else than its text."""
    return bool(_names(parameters))


def digest_in(parameters: Mapping[str, Any]) -> str | None:
    """Return the SHA-256 in lower-case hexadecimal by which a request names its document.

    Raises:
        DocumentHashError: if it is of another form, or two that are given differ.
    """
    named = _names(parameters)
    if not named:
        return None
    digests = {_digest(name) for name in named}
    if len(digests) > 1:
        raise DocumentHashError("The request names two documents.")
    return digests.pop()


def _names(parameters: Mapping[str, Any]) -> list[object]:
    """Return whatever a request gives as its document's name."""
    names = [parameters[name] for name in ID_PARAMETERS if parameters.get(name) is not None]
    extensions = parameters.get("extensions")
    persisted = extensions.get("persistedQuery") if isinstance(extensions, dict) else None
    if isinstance(persisted, dict) and persisted.get("version") == 1:
        names.append(persisted.get("sha256Hash"))
    elif persisted is not None:
        names.append(None)
    return names


def _digest(name: object) -> str:
    """Return the hash in a document's name; a name of another kind is no trusted document's.

    Raises:
        DocumentHashError: if it is no text.
        UnknownDocumentError: if it is no SHA-256.
    """
    if not isinstance(name, str):
        raise DocumentHashError("A document's hash must be text, and `persistedQuery` version 1.")
    match = HASH.fullmatch(name)
    if match is None:
        raise UnknownDocumentError(_NOT_FOUND)
    return match[1].lower()


def _within_limits(text: str, settings: Settings) -> DocumentNode:
    """Return the document of a text.

    Raises:
        GraphQLError: if it is no GraphQL.
        DocumentLimitError: if it is over a limit.
    """
    check_length(text, settings)
    document = parse(text, max_tokens=settings.max_tokens)
    check(document, settings)
    return document


def _valid(text: str, settings: Settings, schema: BaseSchema) -> DocumentNode:
    """Return the document of a text, which the schema can execute.

    Raises:
        GraphQLError: if it cannot.
        DocumentLimitError: if it is over a limit.
    """
    document = _within_limits(text, settings)
    graphql_schema = schema._schema  # type: ignore[attr-defined]  # noqa: SLF001 - Strawberry's only way to it.
    errors = validate_document(graphql_schema, document, tuple(specified_rules))
    if errors:
        raise errors[0]
    return document


def _changes_something(document: DocumentNode) -> bool:
    return any(
        isinstance(node, OperationDefinitionNode) and node.operation is OperationType.MUTATION
        for node in document.definitions
    )
